"""cond, switch, while_loop, scan, map, fori_loop: values, nesting, what they capture, errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import staticad as sad
from staticad_schema.errors import (
    DTypeError,
    ExecutionError,
    GraphError,
    ShapeError,
    StaticadError,
    UsageError,
)


def run(fetches: Any, feeds: Any = None, **more: Any) -> Any:
    graph = (fetches[0] if isinstance(fetches, list) else fetches).graph
    with sad.Session(graph, device="numpy") as session:
        return session.run(fetches, feeds, **more)


# ---------------------------------------------------------------- values and nesting


class Pair(NamedTuple):
    a: Any
    b: Any


def test_operands_and_results_are_nested() -> None:
    with sad.Graph():
        p = sad.placeholder("bool", (), name="p")
        x = sad.constant([1.0, 2.0])
        given = {"u": (x, [x * 2]), "v": Pair(x, x + 1)}
        made = sad.cond(
            p,
            lambda t: {"sum": t["u"][0] + t["u"][1][0], "pair": t["v"]},
            lambda t: {"pair": Pair(t["v"].b, t["v"].a), "sum": t["u"][0]},
            given,
        )
    assert list(made) == ["sum", "pair"]
    assert isinstance(made["pair"], Pair)
    yes = run([made["sum"], made["pair"].a], {p: True})
    no = run([made["sum"], made["pair"].a], {p: False})
    np.testing.assert_array_equal(yes, [[3.0, 6.0], [1.0, 2.0]])
    np.testing.assert_array_equal(no, [[1.0, 2.0], [2.0, 3.0]])


def test_what_is_outside_is_captured_also_in_nested_bodies() -> None:
    with sad.Graph():
        w = sad.variable([2.0, 3.0], name="w")
        n = sad.placeholder("int64", (), name="n")
        xs = sad.placeholder("float32", ("steps", 2), name="xs")
        offset = sad.exp(xs[0, 0] * 0)

        def step(carry: Any, x: Any) -> Any:
            grown = sad.while_loop(
                lambda c, k: k < n, lambda c, k: (c * w + offset, k + 1), (carry, 0)
            )[0]
            picked = sad.cond(sad.sum(x) > 0, lambda: grown + x, lambda: grown - w)
            return picked, (picked, x * offset)

        last, (ys, zs) = sad.scan(step, sad.zeros(2), xs)
    rows = np.array([[1.0, 2.0], [-1.0, -2.0], [0.5, 0.25]], np.float32)
    found = run([last, ys, zs], {n: 2, xs: rows})
    c, w0 = np.zeros(2), np.array([2.0, 3.0])
    expected = []
    for x in rows:
        for _ in range(2):
            c = c * w0 + 1.0
        c = c + x if x.sum() > 0 else c - w0
        expected.append(c)
    np.testing.assert_allclose(found[0], expected[-1])
    np.testing.assert_allclose(found[1], expected)
    np.testing.assert_array_equal(found[2], rows)


def test_only_the_taken_branch_runs_also_with_what_is_read_from_outside() -> None:
    with sad.Graph():
        p = sad.placeholder("bool", (), name="p")
        x = sad.placeholder("float32", (2,), name="x")
        y = sad.cond(p, lambda: sad.assert_(x > 5, "taken", x), lambda: x)  # noqa: PT009
    np.testing.assert_array_equal(run(y, {p: False, x: [1, 2]}), [1, 2])
    with pytest.raises(ExecutionError, match="taken"):
        run(y, {p: True, x: [1, 2]})


@pytest.mark.parametrize("length", [0, 1, 4])
def test_lengths_may_be_symbols_and_zero(length: int) -> None:
    with sad.Graph():
        xs = sad.placeholder("float64", ("n", 2), name="xs")
        n = xs.shape[0]
        total, sums = sad.scan(lambda c, x: (c + x, c), sad.zeros(2, "float64"), xs, reverse=True)
        squares = sad.map(lambda x: x * x, xs)
        twos, _ = sad.scan(lambda c, _: (c * 2, None), 1.0, length=n)
        count = sad.fori_loop(0, n, lambda i, c: c + i, 0)
        sizes, _ = sad.scan(lambda c, _: (c + sad.zeros(n) + 1, None), sad.zeros(n), length=n)
    rows = np.arange(2.0 * length).reshape(length, 2)
    found = run([total, sums, squares, twos, count, sizes], {xs: rows})
    np.testing.assert_array_equal(found[0], rows.sum(0))
    behind = rows[::-1].cumsum(0)[::-1] - rows
    np.testing.assert_array_equal(found[1], behind)
    np.testing.assert_array_equal(found[2], rows * rows)
    assert found[3] == 2.0**length
    assert found[4] == length * (length - 1) // 2
    np.testing.assert_array_equal(found[5], np.full(length, float(length)))


@pytest.mark.parametrize(("lower", "upper"), [(0, 5), (3, 3), (4, 2), (-2, 2)])
@pytest.mark.parametrize("known", [True, False])
def test_fori_loop_is_a_range(lower: int, upper: int, known: bool) -> None:
    with sad.Graph():
        a, b = sad.placeholder("int64", (), name="a"), sad.placeholder("int64", (), name="b")
        first, end = (lower, upper) if known else (a, b)
        total, last = sad.fori_loop(first, end, lambda i, c: (c[0] + i * i, i), (a * 0 + b * 0, 99))
    found = run([total, last], {a: lower, b: upper})
    assert found[0] == sum(i * i for i in range(lower, upper))
    assert found[1] == (upper - 1 if upper > lower else 99)


@pytest.mark.parametrize("most", [0, 2, 50])
def test_a_loop_ends_after_the_most_iterations(most: int) -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        y = sad.while_loop(lambda c: c < 100, lambda c: c * 2, x, max_iterations=most)
    assert run(y, {x: 1.0}) == min(2.0**most, 128.0)


def test_a_search_in_a_body_is_its_own() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n",), name="x")
        before = sad.sum(x[x > 0])
        p = sad.placeholder("bool", (), name="p")
        y = sad.cond(p, lambda: sad.sum(x[x > 0]), lambda: sad.sum(x[x < 0]))
        z = sad.sum(x[x < 0]) + sad.cond(p, lambda v: sad.sum(v), lambda v: v[0], x[x > 0])
    found = run([before, y, z], {x: [1.0, -2.0, 3.0], p: True})
    np.testing.assert_array_equal(found, [4.0, 4.0, 2.0])


# ---------------------------------------------------------------- random numbers


def test_each_iteration_draws_numbers_of_its_own() -> None:
    def build(extra: bool) -> tuple[Any, Any]:
        with sad.Graph(seed=1):
            if extra:
                sad.constant(3.0) * 2
            first = sad.random.uniform((2,))
            _, ys = sad.scan(lambda c, _: (c, sad.random.uniform((2,)) + 0 * c), 0.0, length=3)
            other = sad.scan(lambda c, _: (c, sad.random.uniform((2,))), 0.0, length=3)[1]
        return [first, ys, other], run([first, ys, other], step=3)

    _, found = build(False)
    numbers = np.concatenate([found[0][None], found[1], found[2]])
    assert len(np.unique(numbers)) == numbers.size
    fetches, again = build(True)
    for a, b in zip(found, again, strict=True):
        np.testing.assert_array_equal(a, b)
    with sad.Session(fetches[0].graph, device="numpy") as session:
        assert (session.run(fetches[1]) != session.run(fetches[1])).all()


# ---------------------------------------------------------------- errors


def test_writes_in_a_body_are_refused_with_both_lines() -> None:
    with sad.Graph() as graph:
        v = sad.variable(1.0, name="v")
        nodes = len(graph.nodes)
        with pytest.raises(GraphError, match="writes a variable") as caught:
            sad.cond(True, lambda: v.assign(2.0), lambda: v)
        assert "test_loops.py" in str(caught.value.site)
        assert "test_loops.py" in str(caught.value.found)
        assert len(graph.nodes) <= nodes + 1
        write = v.assign(2.0)
        for build in (lambda: write + 1, lambda: sad.after(v * 1, write)):
            with pytest.raises(GraphError, match="depends on an effect outside") as caught:
                sad.cond(True, build, lambda: v * 1)
            assert "assign" in str(caught.value.found)
            assert "test_loops.py" in str(caught.value.found)
            assert "test_loops.py" in str(caught.value.site)


def test_variables_and_placeholders_are_made_outside() -> None:
    with sad.Graph() as graph:
        for build, part in (
            (lambda x: sad.nn.dense(x, 2), "declares a variable"),
            (lambda x: x + sad.placeholder("float32", (), name="p"), "has a placeholder"),
        ):
            with pytest.raises(GraphError, match=part):
                sad.map(build, sad.zeros((3, 2)))
        assert not graph.variables
        assert not graph.functions
        sad.placeholder("float32", (), name="p")


def test_tensors_of_a_body_stay_in_it() -> None:
    kept: list[Any] = []
    with sad.Graph() as graph:
        x = sad.constant(2.0)

        def keep(factor: float) -> Any:
            kept.append(x * factor)
            return kept[-1] / (factor - 5)

        sad.cond(True, lambda: keep(3), lambda: x)
        assert kept[0].graph is not graph
        assert kept[0].node.op == "multiply"
        with pytest.raises(GraphError, match="two graphs"):
            x + kept[0]
        with pytest.raises(ZeroDivisionError):
            sad.cond(True, lambda: keep(5) / (1 // 0), lambda: x)
        with pytest.raises(GraphError, match="two graphs"):
            x + kept[1]
        assert kept[1].node.op == "multiply"


def test_two_graphs_do_not_mix() -> None:
    with sad.Graph():
        other = sad.constant(1.0)
    with sad.Graph():
        x = sad.constant(1.0)
        with pytest.raises(GraphError, match="two graphs"):
            sad.cond(True, lambda: x + other, lambda: x)
        with pytest.raises(GraphError, match="two graphs"):
            sad.cond(True, lambda: other, lambda: x)
        with pytest.raises(GraphError, match="two graphs"):
            sad.while_loop(lambda a, b: a < b, lambda a, b: (a, b), (x, other))


BAD: dict[str, tuple[Any, type[StaticadError], str]] = {
    "a predicate that is no bool": (
        lambda x: sad.cond(x[0], lambda: x, lambda: x), DTypeError, "compare it"
    ),
    "a predicate that is no scalar": (
        lambda x: sad.cond(x > 0, lambda: x, lambda: x), ShapeError, "sad.where"
    ),
    "no function": (lambda x: sad.cond(True, x, lambda: x), UsageError, "true_fn is no function"),
    "branches of other structure": (
        lambda x: sad.cond(True, lambda: (x, x), lambda: {"a": x}), UsageError, "nested in another"
    ),
    "branches of other dtypes": (
        lambda x: sad.cond(True, lambda: x, lambda: x > 0), ShapeError, "different types"
    ),
    "branches without results": (
        lambda x: sad.cond(True, lambda: (), lambda: ()), UsageError, "returns nothing"
    ),
    "an index that is no integer": (
        lambda x: sad.switch(x[0], [lambda: x]), DTypeError, "no integer"
    ),
    "nothing to choose from": (lambda x: sad.switch(0, []), UsageError, "nothing to choose"),
    "a condition that is no bool": (
        lambda x: sad.while_loop(lambda c: c[0], lambda c: c, x), DTypeError, "compare it"
    ),
    "a condition that is no scalar": (
        lambda x: sad.while_loop(lambda c: c > 0, lambda c: c, x), ShapeError, "sad.any"
    ),
    "a carry that changes its dtype": (
        lambda x: sad.while_loop(lambda c: c[0] > 0, lambda c: c > 0, x), DTypeError, "float32[3]"
    ),
    "a carry that changes its shape": (
        lambda x: sad.scan(lambda c, _: (c[:2], None), x, length=3), ShapeError, "float32[2]"
    ),
    "a carry that changes its structure": (
        lambda x: sad.scan(lambda c, _: ((c, c), None), x, length=3), UsageError, "(*, *)"
    ),
    "an empty carry": (lambda x: sad.while_loop(lambda: True, lambda: (), ()), UsageError, "empty"),
    "a step that gives one thing": (
        lambda x: sad.scan(lambda c, e: c, x, x), UsageError, "two things"
    ),
    "no length": (lambda x: sad.scan(lambda c, e: (c, e), x), UsageError, "nothing says how many"),
    "two lengths": (
        lambda x: sad.scan(lambda c, e: (c, e[0]), 0.0, (x, x[:2])), ShapeError, "another length"
    ),
    "a sequence that is a scalar": (
        lambda x: sad.map(lambda e: e, x[0]), ShapeError, "at least one axis"
    ),
    "a map of nothing": (lambda x: sad.map(lambda e: None, x), UsageError, "returns nothing"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_mistakes_are_told_and_leave_no_trace(kind: str) -> None:
    build, error, part = BAD[kind]
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
        with pytest.raises(error) as caught:
            build(x)
        assert part in str(caught.value)
        assert "test_loops.py" in str(caught.value)
        assert graph.tracing is None
        y = x + 1
    np.testing.assert_array_equal(run(y, {x: [1, 2, 3]}), [2, 3, 4])


# ---------------------------------------------------------------- files, scale


def test_bodies_survive_a_file(tmp_path: Any) -> None:
    with sad.Graph(seed=1) as graph:
        xs = sad.placeholder("float32", ("n", 2), name="xs")
        last, ys = sad.scan(
            lambda c, x: (sad.cond(x[0] > 1, lambda: c + x, lambda: c * 2), c),
            sad.random.normal((2,)), xs, name="walk",
        )  # fmt: skip
        sad.identity(last, name="last")
        sad.identity(ys, name="ys")
    graph.save(tmp_path / "walk.sad")
    feeds = {"xs": np.arange(6.0, dtype=np.float32).reshape(3, 2)}
    with sad.Session(graph, device="numpy") as session:
        expected = session.run(["last", "ys"], feeds, step=2)
    with sad.Session(sad.load(tmp_path / "walk.sad"), device="numpy") as session:
        found = session.run(["last", "ys"], feeds, step=2)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_the_size_of_a_graph_does_not_depend_on_the_length() -> None:
    def nodes(length: int) -> int:
        with sad.Graph() as graph:
            sad.scan(lambda c, _: (sad.sin(c), None), 0.5, length=length)
        return len(graph.nodes)

    assert nodes(10) == nodes(100_000)


def test_l8_sixty_nested_bodies(tmp_path: Any) -> None:
    def nest(x: Any, depth: int) -> Any:
        if not depth:
            return x + 1
        return sad.cond(x > 0, lambda: nest(x, depth - 1), lambda: x)

    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        sad.identity(nest(x, 60), name="y")
    graph.save(tmp_path / "deep.sad")
    with sad.Session(sad.load(tmp_path / "deep.sad"), device="numpy") as session:
        assert session.run("y", {"x": 1.0}) == 2.0
        assert session.run("y", {"x": -1.0}) == -1.0


def test_a_thousand_choices() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        p = x > 0
        y = x
        for _ in range(1_000):
            y = sad.cond(p, lambda y=y: y + 1, lambda y=y: y - 1)
    assert run(y, {x: 1.0}) == 1001.0
