"""Graph <-> bytes: exact, reproducible, and what a graph may not be."""

import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from staticad_schema import (
    OPS,
    ArgumentError,
    FormatError,
    Graph,
    VariableSpec,
    decode,
    encode,
    load,
    save,
    symbol,
    verify,
)
from staticad_schema.graph_pb2 import File
from staticad_schema.graph_pb2 import Graph as GraphMessage
from staticad_schema.types import BFLOAT16, FLOAT32
from tests.schema import samples
from tests.schema.samples import ARRAYS, add, assert_same_graph, placeholder, same

ROOT = Path(__file__).parents[2]


def test_everything_survives() -> None:
    graph = samples.everything()
    loaded = decode(encode(graph))
    assert_same_graph(graph, loaded)
    assert encode(loaded) == encode(graph)


@pytest.mark.parametrize("name", ARRAYS)
def test_L13_constants_keep_dtype_and_bits(name: str, tmp_path: Path) -> None:
    graph = Graph()
    graph.constant(ARRAYS[name])
    assert same(decode(encode(graph)).nodes[0].attributes["value"], ARRAYS[name])
    # The same through the sidecar, whatever the size.
    save(graph, tmp_path / "g.sad", external=-1)
    found = load(tmp_path / "g.sad").nodes[0].attributes["value"]
    assert same(found, ARRAYS[name])
    assert not found.flags.writeable


def message_of(data: bytes) -> GraphMessage:
    return GraphMessage.FromString(File.FromString(data).graph)


def test_L1_L3_bfloat16_is_written_with_its_own_bits() -> None:
    graph = Graph()
    graph.constant(np.array([0.25, 0.5, 1, 2], BFLOAT16))
    data = message_of(encode(graph)).applications[0].attributes[0].value.array.data
    assert np.frombuffer(data, "<u2").tolist() == [0x3E80, 0x3F00, 0x3F80, 0x4000]
    assert decode(encode(graph)).nodes[0].attributes["value"].tolist() == [0.25, 0.5, 1, 2]


def test_L4_the_file_is_little_endian_whatever_the_array_was() -> None:
    graph = Graph()
    graph.constant(np.array([1.5, -2], ">f4"))
    data = message_of(encode(graph)).applications[0].attributes[0].value.array.data
    assert data == np.array([1.5, -2], "<f4").tobytes()


def test_L9_any_text_is_a_name() -> None:
    graph = Graph()
    for name in samples.NAMES:
        placeholder(graph, name=name)
    loaded = decode(encode(graph))
    assert [node.name for node in loaded.nodes] == samples.NAMES
    for index, name in enumerate(samples.NAMES):
        assert loaded.find(name) == index
        assert loaded.value(name) == index


def test_symbolic_dimensions_survive() -> None:
    graph = Graph()
    for name in (*samples.NAMES, "min", "floordiv", "²"):
        if name:
            placeholder(graph, 2 * symbol(name) + 1, symbol("a") // 3)
    assert decode(encode(graph)).types == graph.types


def test_L8_sixty_nested_bodies() -> None:
    graph = samples.nested(60)
    assert_same_graph(graph, decode(encode(graph)))


def test_a_long_chain_survives_the_default_recursion_limit() -> None:
    graph = samples.chain(100_000)
    data = encode(graph)
    assert decode(data).nodes == graph.nodes
    # Wiring is a few bytes a node.
    assert len(data) < 4 * len(graph.nodes)


def test_equal_attributes_are_written_once_but_never_merged() -> None:
    graph = Graph()
    for value in (0.0, -0.0, 1.0):
        graph.constant(np.array(value, np.float32))
    x = placeholder(graph, 2)
    for value in (0.0, -0.0, 0.0, 1.0):
        add(graph, "pad", x, widths=((1, 1),), value=value)
    pads = [str(n.attributes["value"]) for n in decode(encode(graph)).nodes if n.op == "pad"]
    assert pads == ["0.0", "-0.0", "0.0", "1.0"]
    assert sum(a.input_count for a in message_of(encode(graph)).applications) == 3


def test_a_graph_class_makes_the_graph_and_its_bodies() -> None:
    class Mine(Graph):
        pass

    loaded = decode(encode(samples.everything()), Mine)
    assert type(loaded) is Mine
    assert loaded.seed == -7
    assert type(loaded.functions["body"].body) is Mine


def test_sites_can_be_left_out() -> None:
    graph = samples.small()
    assert b"build" in encode(graph)
    data = encode(graph, sites="none")
    assert b"build" not in data
    assert decode(data).site(decode(data).nodes[2].site) is None
    with pytest.raises(ArgumentError, match="relative"):
        encode(graph, sites="absolute")  # type: ignore[arg-type]


PROGRAM = """
import hashlib
from staticad_schema import encode, to_text
from tests.schema.samples import everything
graph = everything()
print(hashlib.sha256(encode(graph) + to_text(graph).encode()).hexdigest())
"""


def test_bytes_do_not_depend_on_the_hash_seed() -> None:
    path = os.pathsep.join([str(ROOT), str(ROOT / "schema")])
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(digests) == 1


def test_attributes_are_written_in_the_order_of_their_names() -> None:
    message = message_of(encode(samples.everything()))
    found = [[message.strings[a.name] for a in e.attributes] for e in message.applications]
    assert all(names == sorted(names) for names in found)
    # Which is not the order of all signatures.
    assert any(
        list(OPS[message.strings[e.op]].parameters) != names
        for e, names in zip(message.applications, found, strict=True)
    )


def test_a_loaded_graph_grows() -> None:
    graph = decode(encode(samples.small()))
    node = graph.append(OPS["negative"], (graph.value("y"),), name="z")
    assert decode(encode(graph)).nodes[-1] == node


def test_verify_says_what_is_there(tmp_path: Path) -> None:
    save(samples.everything(), tmp_path / "g.sad", external=1000)
    found = verify(tmp_path / "g.sad")
    assert (found.format, found.functions, found.variables, found.signatures) == (1, 1, 1, 2)
    assert found.nodes == len(samples.everything().nodes) + 2
    assert found.size == (tmp_path / "g.sad").stat().st_size
    assert found.sidecar is not None
    assert found.sidecar.size == (tmp_path / found.sidecar.file).stat().st_size


def test_the_frame_is_as_documented() -> None:
    file = File.FromString(encode(samples.small()))
    assert (file.format, file.node_count) == (1, 3)
    assert file.crc32 == zlib.crc32(file.graph)


def test_L14_a_newer_file_is_refused_with_both_numbers() -> None:
    data = File(format=9, node_count=0, graph=b"").SerializeToString()
    with pytest.raises(FormatError) as caught:
        decode(data)
    assert "format 9" in str(caught.value)
    assert "format 1 " in str(caught.value)


def wrong_graphs() -> dict[str, Graph]:
    """Graphs that no builder makes: they must not become files that do not load."""
    graphs = {}
    graphs["two nodes of one name"] = graph = Graph()
    placeholder(graph, name="x")
    placeholder(graph, name="x")
    graphs["a write of no variable"] = graph = Graph()
    add(graph, "assign", placeholder(graph), variable="w")
    graphs["a variable of another type"] = graph = Graph()
    value = placeholder(graph, 2)
    add(graph, "variable", variable="w", dtype=FLOAT32, shape=(3,))
    graph.add_variable(VariableSpec("w", graph.types[1], value, True, 1))
    graphs["a name that is not Unicode"] = graph = Graph()
    placeholder(graph, name="\ud800")
    graphs["a seed that is too large"] = Graph(seed=1 << 64)
    graphs["a dimension that is too long"] = graph = Graph()
    placeholder(graph, symbol("n" * 2000))
    graphs["a parameter outside a body"] = graph = Graph()
    add(graph, "parameter", index=0, dtype=FLOAT32, shape=())
    return graphs


@pytest.mark.parametrize("what", wrong_graphs())
def test_what_would_not_load_is_not_saved(what: str, tmp_path: Path) -> None:
    graph = wrong_graphs()[what]
    with pytest.raises(FormatError):
        encode(graph)
    with pytest.raises(FormatError):
        save(graph, tmp_path / "g.sad")
    assert list(tmp_path.iterdir()) == []
