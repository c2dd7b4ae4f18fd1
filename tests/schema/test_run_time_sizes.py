"""Sizes that a run finds, in graphs, bodies and files: each is found once, before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema import codec
from staticad_schema.dims import symbol
from staticad_schema.errors import FormatError
from staticad_schema.graph import Function, Graph
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.text import from_text, to_text
from staticad_schema.types import FLOAT32
from tests.executor.planning import same_bits
from tests.executor.test_run_time_sizes import DATA, agree, chained, differentiated
from tests.lines import line_ahead
from tests.schema.test_hostile import within_a_second


def test_what_is_given_has_sizes_of_its_own() -> None:
    with sad.Graph() as graph:
        c = sad.constant([1.0, 0.0, 2.0])
        y = c[c > 0]
        with pytest.raises(sad.ShapeError, match="cannot be given to it") as caught:
            sad.placeholder("float64", y.shape, name="p")
        assert "nonzero" in str(caught.value)
        with pytest.raises(sad.ShapeError, match="cannot be given to it"):
            sad.variable(y, name="v")
        v = sad.variable(y, name="w", shape=("k",))
    assert sad.Session(graph).run(v * 2).tolist() == [2, 4]


def test_symbols_are_new_where_names_are_taken() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("hits", "hits_1"), name="x")
        (rows, _) = sad.nonzero(x, name="hits")
        assert str(rows.shape[0]) == "hits_2"
        p = sad.placeholder("float64", (None,), name="hits_2_0")
        q = sad.placeholder("float64", (None, None), name="hits_2")
        assert len({str(size) for t in (x, rows, p, q) for size in t.shape}) == 6


# ---------------------------------------------------------------- bodies


def test_each_call_of_a_body_finds_a_size_of_its_own() -> None:
    with sad.Graph() as graph:
        x, y = (sad.placeholder("float64", (s,), name=s) for s in "xy")
        inner = graph.define("inner", lambda a: sad.sum(a[a > 0] ** 2), ("float64", ("m",)))
        outer = graph.define(
            "outer",
            lambda a: inner(a) + inner(a * a) + sad.max(sad.sort(a[a < 0])),
            ("float64", ("m",)),
        )
        called = outer(x) * inner(y) + outer(y)

        def plain(a: Any) -> Any:
            return sad.sum(a[a > 0] ** 2)

        def wide(a: Any) -> Any:
            return plain(a) + plain(a * a) + sad.max(sad.sort(a[a < 0]))

        written = wide(x) * plain(y) + wide(y)
        fetches = []
        for value in (called, written):
            first = sad.gradients(value, [x, y])
            fetches += [value, *first, *sad.gradients(sad.sum(first[0] ** 2), [x, y])]
            fetches += sad.jvp(value, [x, y])
    feeds = {x: DATA[:9], y: DATA[9:30]}
    found = agree(graph, fetches, feeds)
    half = len(found) // 2
    for a, b in zip(found[:half], found[half:], strict=True):
        assert np.allclose(a, b, rtol=1e-12)


def test_a_body_may_call_its_size_as_its_caller_does() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        node = graph.append(OPS["nonzero"], [(x > 0).id], {"count": symbol("nonzero_3")})
        (places,) = node.outputs
        body = graph.define("body", lambda a: sad.sum(a[a > 0.5]), ("float64", ("m",)))
        positive = x[graph.handle(places)]
        value = body(x) + sad.sum(positive * sad.zeros(positive.shape)) + body(positive)
    assert graph.run_time.finders.keys() & graph.functions["body"].body.run_time.finders.keys()
    (found,) = agree(graph, [value], {x: DATA})
    assert found == pytest.approx(2 * DATA[DATA > 0.5].sum())


def test_a_body_returns_no_size_that_it_finds() -> None:
    with sad.Graph() as graph:
        where = line_ahead(2)
        with pytest.raises(sad.ShapeError, match="whose size each run finds") as caught:
            graph.define("positive", lambda a: a[a > 0], ("float64", ("m",)))
        assert where in str(caught.value)
        x = sad.placeholder("float64", ("n",), name="x")
        (count,) = x[x > 0].shape
        body = graph.define("body", lambda a: sad.sum(a) + sad.sum(sad.ones(count)), x)
        with pytest.raises(sad.ShapeError, match="that a run of its caller finds"):
            body(x)


# ---------------------------------------------------------------- files


def test_files_and_text_keep_what_is_found() -> None:
    with sad.Graph(seed=0) as graph:
        x, y = (sad.placeholder("float64", ("n",), name=name) for name in "xy")
        fetches = chained(x, y) + differentiated(x, y)
    names = [graph.value_name(f.id) for f in fetches]
    expected = agree(graph, fetches, {x: DATA, y: DATA})
    data = codec.encode(graph)
    loaded: sad.Graph = codec.decode(data, sad.Graph)
    assert codec.encode(loaded) == data
    text = to_text(graph)
    assert to_text(from_text(text)) == text
    for other in (loaded, from_text(text)):
        assert other.run_time.finders == graph.run_time.finders
        with sad.Session(other, rewrites=("exact",)) as session:
            for a, b in zip(session.run(names, {"x": DATA, "y": DATA}), expected, strict=True):
                assert same_bits(a, b)
    # What is built upon a loaded graph gets symbols of its own.
    with loaded:
        again = loaded["x"][loaded["x"] > 0]
    assert str(again.shape[0]) not in graph.run_time.finders


LINES = [
    '%0 = placeholder(dtype=float64, shape=(<n>,)) : float64[n]  name="x"',
    "%1 = nonzero(%0, count=<k>) : int64[k]",
    "%2 = iota(shape=(<k>,), axis=0, dtype=int64) : int64[k]",
]


def hostile(*lines: str) -> str:
    """The text of a graph of these lines."""
    with sad.Graph() as graph:
        sad.placeholder("float64", ("n",), name="x")
    head, _, tail = to_text(graph).partition("%0 = ")
    _, _, rest = tail.partition("\n")
    return head + "\n".join(lines) + "\n" + rest


def test_a_graph_that_finds_a_size_is_read() -> None:
    assert from_text(hostile(*LINES)).run_time.finders == {"k": 1}


@pytest.mark.parametrize(
    "lines",
    [
        # Used before it is found.
        [LINES[0], LINES[2].replace("%2", "%1"), LINES[1].replace("%1", "%2")],
        # Found twice.
        [LINES[0], LINES[1], LINES[1].replace("%1", "%2")],
        # Of a placeholder too, before and behind.
        [LINES[0], LINES[1].replace("<k>", "<n>").replace("[k]", "[n]")],
        [*LINES[:2], LINES[0].replace("%0", "%2").replace('"x"', '"y"').replace("n", "k")],
        # No symbol at all.
        [LINES[0], LINES[1].replace("<k>", "3").replace("[k]", "[3]")],
        [LINES[0], LINES[1].replace("<k>", "<2*k>").replace("[k]", "[2*k]")],
        [LINES[0], LINES[1].replace("count=<k>", "count=None")],
    ],
)
def test_sizes_that_are_not_found_once_are_refused(lines: list[str]) -> None:
    with pytest.raises(FormatError):
        from_text(hostile(*lines))


def test_nodes_appended_wrongly_are_refused() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        for taken in (symbol("n"), symbol("m") * 2, 3):
            with pytest.raises(sad.ShapeError, match="no symbol of its own"):
                graph.append(OPS["nonzero"], [x.id], {"count": taken})
        graph.append(OPS["nonzero"], [x.id], {"count": symbol("m")})
        with pytest.raises(sad.ShapeError, match="no symbol of its own"):
            graph.append(OPS["nonzero"], [x.id], {"count": symbol("m")})


# ---------------------------------------------------------------- many of them


def many_bodies(count: int, inner: bool) -> Graph:
    """Bodies that each call the one before, and find a size (inner); or a graph that finds one
    and calls the last of them as often."""
    graph = Graph()
    whole = {"dtype": FLOAT32, "shape": (4,)}
    for k in range(count):
        body = Graph()
        body.functions = graph.functions
        x = y = body.append(OPS["parameter"], (), {"index": 0, **whole}).start
        if k:
            y = body.append(OPS["call"], (x,), {"function": FunctionRef(f"f{k - 1}")}).start
        if inner:
            body.append(OPS["nonzero"], (x,), {"count": symbol("n")})
        graph.add_function(Function(f"f{k}", body, (x,), (y,)))
    x = graph.append(OPS["placeholder"], (), whole).start
    graph.append(OPS["nonzero"], (x,), {"count": symbol("m")})
    for _ in range(1 if inner else count):
        graph.append(OPS["call"], (x,), {"function": FunctionRef(f"f{count - 1}")})
    return graph


@pytest.mark.parametrize("inner", [False, True])
def test_bodies_that_call_one_another_are_checked_once_each(inner: bool) -> None:
    graph = many_bodies(3000, inner)
    with within_a_second():
        data = codec.encode(graph)
    with within_a_second():
        codec.decode(data)


def test_a_size_that_is_found_is_open_in_no_body_however_deep() -> None:
    body = Graph()
    x = body.append(OPS["parameter"], (), {"index": 0, "dtype": FLOAT32, "shape": (4,)}).start
    body.append(OPS["iota"], (), {"shape": (symbol("m"),), "axis": 0, "dtype": np.dtype(np.int64)})
    for inner in (False, True):
        graph = many_bodies(5, inner)
        graph.functions["f0"] = Function("f0", body, (x,), (x,))
        with pytest.raises(sad.ShapeError, match="its caller finds"):
            codec.encode(graph)
        # Another size that is found: what was clear may be so no longer.
        graph.append(OPS["nonzero"], (0,), {"count": symbol("k")})
        with pytest.raises(sad.ShapeError, match="'m' in 'f0'"):
            graph.append(OPS["call"], (0,), {"function": FunctionRef("f4")})


def test_many_sizes_of_one_name_are_counted_on() -> None:
    with within_a_second(), sad.Graph() as graph:
        for _ in range(3000):
            graph.append(
                OPS["iota"],
                (),
                {"shape": (graph.new_size("n"),), "axis": 0, "dtype": np.dtype(np.int64)},
            )
    assert str(graph.types[-1].shape[0]) == "n_2999"


def test_a_chain_of_many_finders_runs() -> None:
    count = 300
    with sad.Graph() as graph:
        x = y = sad.placeholder("float64", ("n",), name="x")
        for k in range(count):
            y = y[y > k]
    with sad.Session(graph) as session:
        assert session.run(y, {x: np.arange(400.0)}).tolist() == list(range(count, 400))
