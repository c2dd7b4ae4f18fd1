"""The exception tree and the four parts of a message."""

import difflib
import inspect
import pickle

import pytest

from staticad_schema import Site, StaticadError, errors
from staticad_schema.errors import MOST_COMPARED, near_miss, shown

TREE = {
    "GraphError": (StaticadError,),
    "DTypeError": (errors.GraphError, TypeError),
    "ShapeError": (errors.GraphError, ValueError),
    "ArgumentError": (errors.GraphError, ValueError),
    "UsageError": (errors.GraphError, TypeError),
    "UnknownNameError": (errors.GraphError, KeyError),
    "GradientError": (StaticadError, ValueError),
    "FormatError": (StaticadError, ValueError),
    "PlanError": (StaticadError, ValueError),
    "FeedTypeError": (errors.PlanError, TypeError),
    "UnknownFetchError": (errors.PlanError, KeyError),
    "ExecutionError": (StaticadError, RuntimeError),
    "CancelledError": (errors.ExecutionError,),
    "ConnectionLostError": (errors.ExecutionError,),
    "AccessError": (errors.ExecutionError,),
    "LimitError": (errors.ExecutionError,),
}
CLASSES = [
    c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, StaticadError)
]


def test_the_tree_is_complete() -> None:
    assert {c.__name__ for c in CLASSES} == {"StaticadError", *TREE}


@pytest.mark.parametrize("name", TREE)
def test_the_tree(name: str) -> None:
    assert getattr(errors, name).__bases__ == TREE[name]
    assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("cls", CLASSES)
def test_a_message_has_four_parts_and_survives_a_process(cls: type[StaticadError]) -> None:
    error = cls(
        "shapes do not fit",
        asked="matmul 'scores'",
        expected="(2, 3)",
        found="(3, 2)",
        site=Site("model.py", 7, "build"),
        forward_site=Site("model.py", 3, "layer"),
        hint="transpose one",
    )
    text = str(error)
    assert text.split("\n") == [
        "matmul 'scores': shapes do not fit",
        "  expected: (2, 3)",
        "  found:    (3, 2)",
        "  at:       model.py:7, in build",
        "  forward:  model.py:3, in layer",
        "  hint:     transpose one",
    ]
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert type(copy) is cls
    assert str(copy) == text


def test_what_is_known_already_stays() -> None:
    error = StaticadError("no", asked="add", site=Site("a.py", 1, "f"))
    error.locate(asked="later", site=Site("b.py", 2, "g"), forward_site=Site("c.py", 3, "h"))
    assert str(error) == "add: no\n  at:       a.py:1, in f"
    assert "b.py:2" in str(StaticadError("no").locate(site=Site("b.py", 2, "g")))


def test_names_in_a_line_of_text() -> None:
    for plain in ("a", "größe ∇", "layer 1/x:0", "it's"):
        assert shown(plain) == plain
    for name in ("", "\n", "a\x1b[2J", "\u202eabc", "a\u2028b"):
        assert shown(name) == repr(name)
    assert str(Site("a\n.py", 3, "f\x07")) == r"'a\n.py':3, in 'f\x07'"


def test_near_misses() -> None:
    assert near_miss("lables", ["labels", "images"]) == "did you mean 'labels'?"
    assert near_miss("zzz", ["labels", "images"]) is None


def test_a_near_miss_among_very_many_names_is_found_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    compare = difflib.get_close_matches

    def counting(word: str, possibilities: list[str], n: int, cutoff: float) -> list[str]:
        looked_at.append(len(list(possibilities)))
        return compare(word, possibilities, n, cutoff)

    monkeypatch.setattr(difflib, "get_close_matches", counting)
    names = [f"layer{k}/weights" for k in range(50_000)] + ["labels"]
    assert near_miss("lables", names) == "did you mean 'labels'?"
    assert looked_at == [MOST_COMPARED]
