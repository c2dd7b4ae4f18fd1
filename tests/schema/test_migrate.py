"""Versions of the format: the steps between them, and files of each that load for ever.

`STATICAD_UPDATE_GOLDEN=1 pytest tests/schema/test_migrate.py` writes the files of the present
version anew.  That is right only until the version is released: afterwards a change needs a
new version and a step in `migrate.MIGRATIONS`.
"""

import os
from pathlib import Path

import pytest

from staticad_schema import FORMAT, FormatError, Graph, decode, encode, load, migrate, save, to_text
from staticad_schema.graph_pb2 import Graph as GraphMessage
from staticad_schema.op import OPS, registry_digest, registry_lines
from tests.schema import samples
from tests.schema.samples import add, assert_same_graph, placeholder

COMPAT = Path(__file__).parents[1] / "compat"
UPDATE = os.environ.get("STATICAD_UPDATE_GOLDEN") == "1"
ADVICE = """
The signature of a registered op has changed, so files of format {version} would be misread.
Add one to FORMAT in schema/staticad_schema/migrate.py, enter a step in MIGRATIONS that makes
the new version of the old, and run STATICAD_UPDATE_GOLDEN=1 pytest tests/schema/test_migrate.py.
"""


def kept(name: str, text: str) -> str:
    """The committed text; written first if goldens are being updated."""
    path = COMPAT / name
    if UPDATE:
        path.write_text(text, encoding="utf-8", newline="\n")
    return path.read_bytes().decode()


def test_the_registry_is_that_of_the_format() -> None:
    text = "\n".join([registry_digest(), *registry_lines(), ""])
    assert kept(f"registry-{FORMAT}.txt", text) == text, ADVICE.format(version=FORMAT)


@pytest.fixture(scope="module", autouse=True)
def files_of_this_version() -> None:
    """The files of the present version, written anew if goldens are being updated."""
    if UPDATE:
        save(samples.everything(), COMPAT / f"everything-{FORMAT}.sad", external=1000)
        kept(f"everything-{FORMAT}.txt", to_text(samples.everything()))


@pytest.mark.parametrize("version", range(1, FORMAT + 1))
def test_files_of_every_version_load(version: int) -> None:
    graph = load(COMPAT / f"everything-{version}.sad")
    text = (COMPAT / f"everything-{version}.txt").read_bytes().decode()
    if version == FORMAT:
        assert to_text(graph) == text
        assert_same_graph(graph, samples.everything())
    else:
        assert len(graph.nodes) > 0


def test_every_version_has_a_step_to_the_next() -> None:
    assert set(migrate.MIGRATIONS) == set(range(1, FORMAT))


def rename_op(message: GraphMessage) -> GraphMessage:
    """Version 2 of a fake future calls "absolute_value" what version 3 calls "negative"."""
    changed = GraphMessage()
    changed.CopyFrom(message)
    names = ["negative" if s == "absolute_value" else s for s in message.strings]
    del changed.strings[:]
    changed.strings.extend(names)
    return changed


def keep(message: GraphMessage) -> GraphMessage:
    return message


def test_L11_L14_an_old_file_is_brought_up_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph()
    add(graph, "negative", placeholder(graph, 2))
    monkeypatch.setitem(OPS, "absolute_value", OPS["negative"])
    graph.nodes[1] = graph.nodes[1]._replace(op="absolute_value")
    old = encode(graph)
    monkeypatch.undo()
    with pytest.raises(FormatError, match="absolute_value"):
        decode(old)
    monkeypatch.setattr(migrate, "FORMAT", 3)
    monkeypatch.setattr(migrate, "MIGRATIONS", {1: keep, 2: rename_op})
    loaded = decode(old)
    assert loaded.nodes[1].op == "negative"
    # What is written is of the new version, which an older reader refuses.
    new = encode(loaded)
    monkeypatch.undo()
    with pytest.raises(FormatError, match="newer") as caught:
        decode(new)
    assert "format 3" in str(caught.value)
    assert "format 1 or older" in str(caught.value)


def test_steps_are_applied_in_order() -> None:
    seen = []

    def step(number: int) -> migrate.Step:
        def apply(message: GraphMessage) -> GraphMessage:
            seen.append(number)
            return message

        return apply

    migrate.upgrade(GraphMessage(), 2, 5, {n: step(n) for n in range(1, 5)})
    assert seen == [2, 3, 4]


@pytest.mark.parametrize("version", [0, 4])
def test_a_version_that_is_none_is_refused(version: int) -> None:
    with pytest.raises(FormatError):
        migrate.upgrade(GraphMessage(), version, 3, {})
