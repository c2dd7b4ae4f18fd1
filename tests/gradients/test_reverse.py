"""The reverse walk: what it connects, how it adds up, what it costs, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.gradients import reverse
from staticad.gradients.cone import cone
from tests.lines import line_ahead


def evaluate(fetches: Any, feeds: Any = None) -> Any:
    first = fetches
    while isinstance(first, list | tuple):
        first = first[0]
    with sad.Session(first.graph) as session:
        return session.run(fetches, feeds)


def test_product_rule_and_repeated_xs() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = sad.placeholder("float64", (), name="y")
        dx, dy, again = sad.gradients(x * y + x, [x, y, x])
    assert [float(v) for v in evaluate([dx, dy, again], {x: 2.0, y: 5.0})] == [6.0, 2.0, 6.0]


def test_gradients_of_gradients_of_gradients() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        orders = [sad.exp(-(x**2))]
        for _ in range(4):
            orders += sad.gradients(orders[-1], x)
    values = [float(v) for v in evaluate(orders, {x: 0.0})]
    assert values == [1.0, 0.0, -2.0, 0.0, 12.0]


def test_value_used_many_times_adds_its_cotangents() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="x")
        (dx,) = sad.gradients(x + x * x + x * x * x, x)
    np.testing.assert_array_equal(evaluate(dx, {x: [1.0, 2.0]}), [6.0, 17.0])


def test_broadcast_operand_gets_the_sum() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("n", 3), name="x")
        b = sad.placeholder("float64", (3,), name="b")
        c = sad.placeholder("float64", ("n", 1), name="c")
        db, dc = sad.gradients(x * b * c, [b, c])
    assert db.shape == (3,)
    x_ = np.arange(6.0).reshape(2, 3)
    got = evaluate([db, dc], {x: x_, b: [1.0, 2.0, 3.0], c: [[1.0], [2.0]]})
    np.testing.assert_array_equal(got[0], (x_ * [[1.0], [2.0]]).sum(0))
    np.testing.assert_array_equal(got[1], (x_ * [1.0, 2.0, 3.0]).sum(1, keepdims=True))


def test_symbolic_dims_that_turn_out_one_are_summed() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("n",), name="x")
        y = sad.placeholder("float64", ("m",), name="y")
        dx, dy = sad.gradients(sad.sum(x * y), [x, y])
    got = evaluate([dx, dy], {x: [2.0], y: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(got[0], [6.0])
    np.testing.assert_array_equal(got[1], [2.0, 2.0, 2.0])
    got = evaluate([dx, dy], {x: [1.0, 2.0], y: [3.0, 4.0]})
    np.testing.assert_array_equal(got[0], [3.0, 4.0])


def test_H4_y_is_one_of_xs_and_xs_may_be_empty() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        assert sad.gradients(x, []) == []
        (dx,) = sad.gradients(x, x)
    np.testing.assert_array_equal(evaluate(dx, {x: np.zeros(3)}), np.ones(3))


def test_H5_grad_ys_scale_and_ys_may_depend_on_each_other() -> None:
    with sad.Graph():
        a = sad.placeholder("float64", (2,), name="a")
        b = sad.placeholder("float64", (2,), name="b")
        c = 2.0 * a + b
        da, db = sad.gradients(c, [a, b], grad_ys=np.array([4.0, 7.0]))
        both = sad.gradients([c, c * c], a, grad_ys=[None, np.array([1.0, 0.0])])
    feeds = {a: [1.0, 1.0], b: [0.5, 0.5]}
    got = evaluate([da, db, *both], feeds)
    np.testing.assert_array_equal(got[0], [8.0, 14.0])
    np.testing.assert_array_equal(got[1], [4.0, 7.0])
    np.testing.assert_array_equal(got[2], [2.0 + 2 * 2.5 * 2, 2.0])


def test_H7_one_side_equals_the_full_run() -> None:
    with sad.Graph():
        a = sad.placeholder("float64", (2,), name="a")
        b = sad.placeholder("float64", (2,), name="b")
        pairs = [
            (sad.gradients(y, [a, b])[1], sad.gradients(y, b)[0])
            for y in (a * b, a + b, a / b, sad.atan2(a, b))
        ]
    for full, alone in evaluate(pairs, {a: [1.5, -2.0], b: [0.25, 3.0]}):
        np.testing.assert_array_equal(full, alone)


def test_wrt_an_intermediate_and_stop_gradients() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        h = x * x
        y = h * x
        dh, dx = sad.gradients(y, [h, x])
        (partial,) = sad.gradients(y, x, stop_gradients=h)
        (cut,) = sad.gradients(sad.stop_gradient(h) * x, x)
    got = [float(v) for v in evaluate([dh, dx, partial, cut], {x: 3.0})]
    assert got == [3.0, 27.0, 9.0, 9.0]


def test_variables_are_xs() -> None:
    with sad.Graph():
        v = sad.variable(np.array([1.0, 2.0]), name="v")
        (dv,) = sad.gradients(sad.sum(v * v), v)
    np.testing.assert_array_equal(evaluate(dv), [2.0, 4.0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_N1_every_gradient_has_the_dtype_of_its_x(dtype: str) -> None:
    with sad.Graph():
        x = sad.placeholder(dtype, (3,), name="x")
        y = (x**2 + x / 2 + x * np.sqrt(4.0)) / np.float64(3.0)
        (dx,) = sad.gradients(y, x)
    assert y.dtype == dx.dtype == x.dtype
    assert evaluate(dx, {x: np.ones(3)}).dtype == x.dtype


def test_unconnected_policies() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.placeholder("float32", ("n",), name="y")
        out = sad.sum(y)
        assert sad.gradients(out, x, unconnected="none") == [None]
        (zero,) = sad.gradients(out, x, unconnected="zero")
        line = line_ahead(2)
        with pytest.raises(sad.GradientError, match="'x'") as caught:
            sad.gradients(out, x)
    assert line in str(caught.value)
    np.testing.assert_array_equal(evaluate(zero, {x: [1.0, 2.0], y: [0.0, 0.0]}), [0.0, 0.0])


def test_H2_a_look_alike_node_is_named() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        x2 = sad.multiply(x, 2.0, name="mine")
        y = sad.multiply(x, 2.0, name="other") * 4.0
        with pytest.raises(sad.GradientError, match="'other'"):
            sad.gradients(y, x2)


def test_integers_are_refused() -> None:
    with sad.Graph():
        i = sad.placeholder("int32", (), name="i")
        x = sad.placeholder("float32", (), name="x")
        with pytest.raises(sad.GradientError, match="int32 is not differentiable"):
            sad.gradients(x * i, i)
        with pytest.raises(sad.GradientError, match="int32 is not differentiable"):
            sad.gradients(i, x)


def test_H25_relu_of_integers_has_no_gradient() -> None:
    with sad.Graph():
        i = sad.placeholder("int8", (3,), name="bytes")
        with pytest.raises(sad.GradientError, match="relu"):
            sad.gradients(sad.nn.relu(i), i)


def test_H17_integer_edges_are_pruned() -> None:
    with sad.Graph():
        i = sad.placeholder("int64", (3,), name="i")
        x = sad.placeholder("float32", (3,), name="x")
        (dx,) = sad.gradients(sad.take(x, i) * i, x)
    np.testing.assert_array_equal(evaluate(dx, {x: np.ones(3), i: [2, 2, 0]}), [0.0, 0.0, 4.0])


def test_D10_gradient_through_indices_is_not_there() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3,), name="x")
        table = sad.placeholder("float32", (3,), name="table")
        picked = sad.take(table, sad.astype(x, "int32"))
        with pytest.raises(sad.GradientError, match="cast"):
            sad.gradients(picked, x)


def test_two_graphs_are_refused() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
    with sad.Graph():
        y = sad.placeholder("float32", (), name="y")
    with pytest.raises(sad.GraphError, match="two graphs"):
        sad.gradients(y, x)


def test_a_grad_y_of_another_shape_is_refused() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3,), name="x")
        line = line_ahead(2)
        with pytest.raises(sad.GradientError, match="grad_y") as caught:
            sad.gradients(x * x, x, grad_ys=np.ones(4, np.float32))
    assert line in str(caught.value)


def test_gradient_nodes_know_their_forward_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        forward = line_ahead(1)
        y = sad.sin(x)
        here = line_ahead(1)
        (dx,) = sad.gradients(y, x)
        (ddx,) = sad.gradients(dx, x)
    assert here in str(dx.site)
    assert forward in str(graph.site(dx.node.forward_site))
    assert forward in str(graph.site(ddx.node.forward_site))


def test_J9_a_thousand_small_gradients_in_a_large_graph_visit_what_they_touch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visits = []

    def counted(*args: Any) -> Any:
        part = cone(*args)
        visits.append(len(part.nodes))
        return part

    monkeypatch.setattr(reverse, "cone", counted)
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        chain = [x]
        for _ in range(100_000):
            chain.append(sad.sin(chain[-1]))
        for k in range(0, 100_000, 100):
            sad.gradients(chain[k + 10], chain[k])
    # The ten nodes between, and the node of x itself.
    assert visits == [11] * 1000


def test_J8_a_diamond_chain_is_linear() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        y = x
        for _ in range(60):
            y = y + 0.5 * y
        (dx,) = sad.gradients(y, x)
        assert len(graph.nodes) < 400
    np.testing.assert_allclose(evaluate(dx, {x: 1.0}), 1.5**60, rtol=1e-13)


def test_complex_gradient_is_a_descent_direction() -> None:
    with sad.Graph():
        z = sad.placeholder("complex128", (2,), name="z")
        y = sad.sum(sad.abs(z * z) + sad.real(z))
        (dz,) = sad.gradients(y, z)
    point = np.array([1.0 + 2.0j, -0.5 + 0.25j])
    # |z^2| = z conj(z), whose gradient d/dx + i d/dy is 2 z.
    np.testing.assert_allclose(evaluate(dz, {z: point}), 2 * point + 1.0, rtol=1e-14)


def test_H19_dropped_entries_get_no_gradient_whatever_their_value() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3,), name="x")
        keep = sad.placeholder("bool", (3,), name="keep")
        (dx,) = sad.gradients(sad.where(keep, x, 0.0), x)
    got = evaluate(dx, {x: [0.0, 0.0, 1.0], keep: [False, True, False]})
    np.testing.assert_array_equal(got, [0.0, 1.0, 0.0])


def test_gradient_through_a_called_function() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        cube = graph.define("cube", lambda t: t * t * t, x)
        y = cube(x)
        (dx,) = sad.gradients(y, x)
        (ddx,) = sad.gradients(dx, x)
    got = evaluate([y, dx, ddx], {x: [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(got[0], [1.0, 8.0, 27.0])
    np.testing.assert_allclose(got[1], [3.0, 12.0, 27.0])
    np.testing.assert_allclose(got[2], [6.0, 12.0, 18.0])
