"""Scopes in which ops have other gradients: which nodes, which attributes, how often, in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.errors import UnknownNameError, UsageError


def run(fetches: Any, feeds: Any = None) -> Any:
    first = fetches[0] if isinstance(fetches, list) else fetches
    with sad.Session(first.graph, device="numpy") as session:
        return session.run(fetches, feeds or {})


def guided(x: Any, y: Any, g: Any) -> Any:
    return sad.nn.relu(g) * (x > 0)


def test_ops_in_a_scope_have_other_gradients() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
        with sad.override_gradients({"relu": guided}):
            y = sad.nn.relu(x, name="y")
            with sad.override_gradients({"relu": lambda x, y, g: g * 10.0}):
                inner = sad.nn.relu(x)
        plain = sad.nn.relu(x)
        seeds = [np.array([1, -1, 1], np.float32)]
        found = [sad.gradients(v, x, seeds)[0] for v in (y, graph["y"], inner, plain)]
    values = run([y, *found], {x: [1.0, 2.0, -3.0]})
    np.testing.assert_array_equal(values[0], [1, 2, 0])
    for value, expected in zip(
        values[1:], ([1, 0, 0], [1, 0, 0], [10, -10, 10], [1, -1, 0]), strict=True
    ):
        np.testing.assert_array_equal(value, expected)


def test_an_override_is_told_attributes_that_it_names() -> None:
    def rule(x: Any, out: Any, g: Any, *, axis: Any) -> Any:
        return sad.zeros(x.shape) + 7.0 + axis[0]

    with sad.Graph():
        x = sad.placeholder("float32", (2, 3), name="x")
        rules: dict[str, Any] = {"sum": rule, "matmul": lambda a, b, y, g: (None, b * 2.0)}
        with sad.override_gradients(rules):
            total = sad.sum(x, axis=1)
            b = sad.placeholder("float32", (3, 1), name="b")
            product = x @ b
            # What derivatives are made of is not overridden.
            (dx,) = sad.gradients(total, x)
            (db,) = sad.gradients(product, b)
            (none,) = sad.gradients(product, x, unconnected="zero")
    found = run([dx, db, none], {x: np.ones((2, 3)), b: np.ones((3, 1))})
    np.testing.assert_array_equal(found[0], np.full((2, 3), 8.0))
    np.testing.assert_array_equal(found[1], np.full((3, 1), 2.0))
    np.testing.assert_array_equal(found[2], np.zeros((2, 3)))


def test_what_cannot_be_overridden() -> None:
    rule = lambda x, y, g: g  # noqa: E731
    with (
        pytest.raises(UnknownNameError, match="no such op") as error,
        sad.override_gradients({"rleu": rule}),
    ):
        pass
    assert "relu" in str(error.value)
    for name in ("constant", "placeholder", "scan", "assign"):
        with (
            pytest.raises(UsageError, match="no gradient to override"),
            sad.override_gradients({name: rule}),
        ):
            pass
    with pytest.raises(UsageError, match="no mapping"), sad.override_gradients([rule]):  # type: ignore[arg-type]
        pass
    with pytest.raises(UsageError, match="no function"), sad.override_gradients({"relu": 3}):  # type: ignore[dict-item]
        pass


def straight_through(x: Any, y: Any, g: Any) -> Any:
    return g


@pytest.mark.parametrize("op", ["floor", "ceil", "round", "trunc", "sign"])
def test_steps_that_let_gradients_through(op: str) -> None:
    """Of y = step(x) * x the derivative is step(x) + x, and its own is 1 + 1."""
    at = np.array([0.6, -1.2, 3.0])
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        with sad.override_gradients({op: straight_through}):
            y = getattr(sad, op)(x, name="step")
        total = sad.sum(y * x)
        (first,) = sad.gradients(total, x)
        (second,) = sad.gradients(sad.sum(first), x)
        (forwards,) = sad.jvp(total, x, [np.ones(3)])
    found = run([y, first, second, forwards], {x: at})
    step = getattr(np, op)(at)
    np.testing.assert_array_equal(found[0], step)
    np.testing.assert_array_equal(found[1], step + at)
    np.testing.assert_array_equal(found[2], np.full(3, 2.0))
    np.testing.assert_allclose(found[3], np.sum(step + at), rtol=1e-15)


def test_nodes_of_integers_stay_as_they_are() -> None:
    rules: dict[str, Any] = {
        "multiply": lambda a, b, y, g: (g * b * 10.0, g * a * 10.0),
        "take": lambda x, indices, y, g: (sad.zeros_like(x) + sad.sum(g), None),
        "cast": lambda x, y, g: g,
    }
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        k = sad.placeholder("int64", (3,), name="k")
        with sad.override_gradients(rules):
            product = sad.multiply(k, 2, name="product")
            picked = sad.take(product, k)
            halves = x.astype("int32")
            y = x * 3.0 + sad.take(x, k)
        assert [graph["product"].node.op, picked.node.op, halves.node.op] == [
            "multiply",
            "take",
            "cast",
        ]
        (dx,) = sad.gradients(sad.sum(y), x)
    found = run([product, picked, halves, dx], {x: [1.5, 2.5, 3.5], k: [2, 0, 1]})
    assert [v.tolist() for v in found] == [[4, 0, 2], [2, 4, 0], [1, 2, 3], [33, 33, 33]]


def test_a_rule_is_stored_once_for_each_type_and_attribute() -> None:
    def rule(x: Any, y: Any, g: Any, *, axis: Any) -> Any:
        return sad.zeros_like(x) + sad.sum(g) * (axis[0] + 1.0)

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (2, 2), name="x")
        with sad.override_gradients({"sum": rule, "sin": lambda x, y, g: g * sad.cos(x) * 2.0}):
            y = x
            for _ in range(1000):
                y = sad.sin(y)
            over = [sad.sum(x, axis=0), sad.sum(x, axis=1), sad.sum(x + 1.0, axis=0)]
        slopes = [sad.gradients(v, x)[0] for v in over]
        (deep,) = sad.gradients(y, x)
    assert len(graph.functions) == 3
    found = run([*slopes, deep], {x: np.zeros((2, 2))})
    for slope, expected in zip(found[:3], (2, 4, 2), strict=True):
        np.testing.assert_array_equal(slope, np.full((2, 2), float(expected)))
    np.testing.assert_array_equal(found[3], np.full((2, 2), 2.0**1000))


def test_scopes_reach_into_bodies_and_not_into_rules() -> None:
    """A rule that is written in the op that it is for goes by the op's own derivative."""
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        with sad.override_gradients({"exp": lambda x, y, g: g * sad.exp(x) * 10.0}):
            scanned, _ = sad.scan(lambda c, _: (sad.exp(c), None), x, length=2)
            chosen = sad.cond(x < 1, sad.exp, lambda v: v, x)
            called = graph.define("body", sad.exp, ("float64", ()))(x)
        fetches = []
        for y in (scanned, chosen, called):
            (first,) = sad.gradients(y, x)
            fetches += [first, *sad.jvp(y, x), *sad.gradients(first, x)]
    found = run(fetches, {x: 0.0})
    # Of exp(exp(x)): 100 e**u u with u = exp(x), whose derivative by x is 100 (u * u + u) e**u,
    # since what the rule calls has its own derivative; but u comes from an op of the scope.
    e = np.e
    np.testing.assert_allclose(found[:2], [100 * e, 100 * e], rtol=1e-15)
    np.testing.assert_allclose(found[2], 100 * e * 11, rtol=1e-15)
    assert found[3:] == [10, 10, 10, 10, 10, 10]


def test_an_override_is_in_the_file(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        with sad.override_gradients({"round": straight_through}):
            sad.round(x, name="y")
    graph.save(tmp_path / "rounded.sad")
    loaded = sad.load(tmp_path / "rounded.sad")
    (dx,) = sad.gradients(sad.sum(loaded["y"] ** 2), loaded["x"])
    np.testing.assert_array_equal(run(dx, {"x": [0.6, 1.2, -3.3]}), [2, 2, -6])


def test_what_has_no_gradient_is_told_where_it_is_built() -> None:
    rule = lambda *args: args[-1]  # noqa: E731
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        with sad.override_gradients({"less": rule}):
            with pytest.raises(UsageError, match="less has no gradient to override") as error:
                sad.less(x, 1.0)
            sad.less(x.astype("int32"), 1)
    assert "test_overrides.py" in str(error.value)


def test_a_keyword_that_is_no_attribute() -> None:
    def rule(x: Any, y: Any, g: Any, *, axes: Any) -> Any:
        return g

    with (
        pytest.raises(UnknownNameError, match="sum has no such attribute") as error,
        sad.override_gradients({"sum": rule}),
    ):
        pass
    assert "did you mean 'axis'?" in str(error.value)
    with (
        pytest.raises(UnknownNameError, match="there are none"),
        sad.override_gradients({"sin": rule}),
    ):
        pass


def test_a_scope_ends_also_by_an_error() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        with pytest.raises(ZeroDivisionError), sad.override_gradients({"sin": straight_through}):
            raise ZeroDivisionError
        assert sad.sin(x).node.op == "sin"
