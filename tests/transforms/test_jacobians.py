"""Matrices of derivatives: both modes, all rows at once or in a loop, against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import staticad as sad

Mode = Literal["forward", "reverse"]
MODES: tuple[Mode, ...] = ("forward", "reverse")
AT = np.array([0.3, -1.2, 0.8, 1.7])
M = np.array([[2.0, 1.0, 0.0, 0.3], [0.5, -1.0, 0.2, 0.0], [0.1, 0.4, 3.0, -0.7]])

MAPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "elementwise": (lambda x: sad.sin(x) * x, lambda a: np.diag(np.cos(a) * a + np.sin(a))),
    "matrix": (lambda x: M @ x, lambda a: M),
    "scalar": (lambda x: sad.sum(x**3), lambda a: 3 * a**2),
    "outer": (
        lambda x: sad.outer(x, x),
        lambda a: np.einsum("ik,j->ijk", np.eye(4), a) + np.einsum("jk,i->ijk", np.eye(4), a),
    ),
    "softmax": (
        sad.nn.softmax,
        lambda a: (lambda p: np.diag(p) - np.outer(p, p))(np.exp(a) / np.exp(a).sum()),
    ),
    "gather": (lambda x: x[[0, 0, 2]] ** 2, lambda a: 2 * np.eye(4)[[0, 0, 2]] * a),
    "sort": (sad.sort, lambda a: np.eye(4)[np.argsort(a)]),
    "scan": (
        lambda x: sad.scan(lambda c, e: (c * e, c * e), sad.ones((), dtype="float64"), x)[1],
        lambda a: np.tril(np.cumprod(a)[:, None] / a),
    ),
    "cond": (
        lambda x: sad.cond(x[0] > 0, lambda: x * 2.0, lambda: x),
        lambda a: 2 * np.eye(4),
    ),
    "while": (
        lambda x: sad.while_loop(lambda v, k: k < 3, lambda v, k: (v * v, k + 1), (x, 0))[0],
        lambda a: np.diag(8 * a**7),
    ),
    "inverse": (
        lambda x: sad.linalg.inv(sad.reshape(x, (2, 2))),
        lambda a: (
            lambda b: -np.einsum("ik,lj->ijkl", b, b).reshape(2, 2, 4)
        )(np.linalg.inv(a.reshape(2, 2))),
    ),
    "constant": (lambda x: sad.zeros((2,), dtype="float64") + 0 * x[0], lambda a: np.zeros((2, 4))),
}  # fmt: skip


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MAPS)
def test_jacobians_are_closed_forms(name: str, mode: Mode, one_by_one: bool) -> None:
    function, expected = MAPS[name]
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (4,), name="x")
        y = function(x)
        found = sad.jacobian(y, x, mode=mode, one_by_one=one_by_one)
    assert found.shape == (*y.shape, 4)
    with sad.Session(graph, device="numpy") as session:
        matrix = session.run(found, {x: AT})
    np.testing.assert_allclose(matrix, expected(AT), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_jacobians_of_sizes_that_the_run_tells(mode: Mode) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 2), name="x")
        y = sad.sum(x, axis=1) ** 2
        found = sad.jacobian(y, x, mode=mode)
        looped = sad.jacobian(y, x, mode=mode, one_by_one=True)
    with sad.Session(graph) as session:
        for n in (3, 1, 0):
            at = np.arange(2.0 * n).reshape(n, 2)
            expected = np.zeros((n, n, 2))
            expected[np.arange(n), np.arange(n)] = 2 * at.sum(1, keepdims=True)
            for matrix in session.run([found, looped], {x: at}):
                np.testing.assert_allclose(matrix, expected, rtol=1e-14)


def test_the_number_of_nodes_does_not_depend_on_the_sizes() -> None:
    counts = set()
    for n in (400, 1600):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", (n,), name="x")
            y = sad.tanh(x @ sad.ones((n, n), dtype="float64")) * x
            before = len(graph.nodes)
            for one_by_one in (False, True):
                for mode in MODES:
                    sad.jacobian(y, x, mode=mode, one_by_one=one_by_one)
            sad.hessian(sad.sum(y), x)
            counts.add(len(graph.nodes) - before)
    assert len(counts) == 1


def test_auto_takes_the_mode_of_fewer_products() -> None:
    def ops(n: int, m: int, mode: Literal["auto", "forward", "reverse"]) -> list[str]:
        with sad.Graph() as graph:
            x = sad.placeholder("float64", (n,), name="x")
            y = sad.tanh(sad.placeholder("float64", (n, m), name="w").T @ x)
            before = len(graph.nodes)
            assert sad.jacobian(y, x, mode=mode).shape == (m, n)
            return [node.op for node in graph.nodes[before:]]

    assert ops(30, 70, "auto") == ops(30, 70, "forward") != ops(30, 70, "reverse")
    assert ops(40, 40, "auto") == ops(40, 40, "forward")
    assert ops(70, 30, "auto") == ops(70, 30, "reverse") != ops(70, 30, "forward")


def test_jacobians_of_nests_and_intermediate_results() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (2,), name="x")
        hidden = x * 3.0
        scale = sad.placeholder("float64", (), name="scale")
        ys = (hidden * scale, [sad.sum(hidden)])
        found = sad.jacobian(ys, {"hidden": hidden, "scale": scale})
    assert isinstance(found, tuple)
    with sad.Session(graph) as session:
        (first, [second]) = session.run(found, {x: [1.0, 2.0], scale: 5.0})
    np.testing.assert_array_equal(first["hidden"], 5 * np.eye(2))
    np.testing.assert_array_equal(first["scale"], [3.0, 6.0])
    np.testing.assert_array_equal(second["hidden"], [1.0, 1.0])
    np.testing.assert_array_equal(second["scale"], 0.0)


def test_complex_ys_of_real_xs() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        spectrum = sad.fft.fft(x)
        found = sad.jacobian(spectrum, x)
        with pytest.raises(sad.GradientError, match="no matrix of numbers"):
            sad.jacobian(spectrum, x, mode="reverse")
        with pytest.raises(sad.GradientError, match="no matrix of numbers"):
            sad.jacobian(sad.abs(spectrum), spectrum)
    with sad.Session(graph) as session:
        matrix = session.run(found, {x: [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(matrix, np.fft.fft(np.eye(3)), atol=1e-15)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_hessians_are_closed_forms(one_by_one: bool) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (4,), name="x")
        w = sad.placeholder("float64", (4,), name="w")
        y = sad.sum(sad.exp(x * w))
        rows = sad.hessian(y, [x, w], one_by_one=one_by_one)
    v = np.array([0.4, 0.1, -1.0, 0.2])
    with sad.Session(graph) as session:
        ((xx, xw), (wx, ww)) = session.run(rows, {x: AT, w: v})
    e = np.exp(AT * v)
    np.testing.assert_allclose(xx, np.diag(v * v * e), rtol=1e-14)
    np.testing.assert_allclose(ww, np.diag(AT * AT * e), rtol=1e-14)
    np.testing.assert_allclose(xw, np.diag((1 + AT * v) * e), rtol=1e-13)
    np.testing.assert_allclose(wx, xw.T, rtol=1e-14)


def test_jacobians_are_differentiated_again() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        y = sad.stack([x[0] * x[1] ** 2, sad.exp(x[2]) * x[0]])
        norms = [
            sad.sum(sad.jacobian(y, x, mode=mode, one_by_one=one) ** 2)
            for mode in MODES
            for one in (False, True)
        ]
        reports = [
            sad.check_gradients(norm, x, {x: np.array([0.5, -1.0, 0.3])}, order=2) for norm in norms
        ]
    assert all(report.worst.agrees for report in reports)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_laplacian_and_divergence_of_points(one_by_one: bool) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 3), name="x")
        value = sad.exp(x[:, 0]) * sad.sin(x[:, 1]) + x[:, 2] ** 3
        field = sad.stack([x[:, 0] ** 2, x[:, 0] * x[:, 1], sad.sin(x[:, 2])], axis=-1)
        found = sad.laplacian(value, x, one_by_one=one_by_one)
        flow = sad.divergence(field, x, one_by_one=one_by_one)
        (slope,) = sad.gradients(value, x)
        same = sad.divergence(slope, x)
    at = np.random.default_rng(0).normal(size=(6, 3))
    a, c = at[:, 0], at[:, 2]
    with sad.Session(graph) as session:
        got = session.run([found, flow, same], {x: at})
    np.testing.assert_allclose(got[0], 6 * c, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(got[1], 2 * a + a + np.cos(c), rtol=1e-13)
    np.testing.assert_allclose(got[2], got[0], rtol=1e-13, atol=1e-13)


def test_the_laplacian_at_one_point_is_the_trace_of_the_hessian() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (4,), name="x")
        y = sad.prod(x) + sad.logsumexp(x)
        pair = [sad.laplacian(y, x), sad.trace(sad.hessian(y, x))]
    with sad.Session(graph) as session:
        left, right = session.run(pair, {x: AT})
    assert left == pytest.approx(right, rel=1e-13)


def test_harmonic_functions_have_no_laplacian() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 2), name="x")
        y = sad.exp(x[:, 0]) * sad.cos(x[:, 1])
        found = sad.laplacian(y, x)
    with sad.Session(graph) as session:
        at = np.random.default_rng(1).normal(size=(50, 2))
        np.testing.assert_allclose(session.run(found, {x: at}), 0, atol=1e-14)


def test_fields_of_other_shapes_are_refused() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (4, 2), name="x")
        with pytest.raises(sad.ShapeError, match="do not belong to points"):
            sad.laplacian(sad.sum(x), x)
        with pytest.raises(sad.ShapeError, match="do not belong to points"):
            sad.divergence(sad.sum(x, axis=1), x)
        with pytest.raises(sad.GradientError, match="complex fields"):
            sad.divergence(sad.complex(x, x), x)
        with pytest.raises(sad.ArgumentError, match="not a mode"):
            sad.jacobian(x, x, mode="backward")  # type: ignore[arg-type]
        with pytest.raises(sad.GradientError, match="xs is empty"):
            sad.jacobian(x, [])


def test_rules_and_functions_are_entered_for_all_rows_at_once() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (4,), name="x")
        ruled = sad.custom_gradient(sad.sin)(lambda x, y, g: g * sad.cos(x))
        called = sad.function(lambda x: ruled(x) * x)
        y = called(called(x))
        before = len(graph.nodes)
        found = [sad.jacobian(y, x, mode=mode) for mode in MODES]
        assert not any(node.op in ("scan", "call") for node in graph.nodes[before:])
        plain = sad.jacobian(sad.sin(sad.sin(x) * x) * (sad.sin(x) * x), x)
    with sad.Session(graph) as session:
        forward, reverse, expected = session.run([*found, plain], {x: AT})
    np.testing.assert_allclose(forward, expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(reverse, expected, rtol=1e-13, atol=1e-15)


def test_H9_second_derivatives_through_a_fold() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        a = sad.placeholder("float64", (3, 3), name="a")
        whole, _ = sad.scan(lambda c, _: (c @ (x * a), None), sad.eye(3, dtype="float64"), length=3)
        cost = sad.trace(whole)
        (da,) = sad.gradients(cost, a)
        rows = sad.jacobian(da, x)
        columns = sad.jacobian(sad.jacobian(cost, x), a)
    with sad.Session(graph) as session:
        values = session.run([cost, da, sad.sum(rows), rows, columns], {x: 1.0, a: np.ones((3, 3))})
    assert values[0] == 27
    np.testing.assert_array_equal(values[1], np.full((3, 3), 9.0))
    assert values[2] == 243
    np.testing.assert_array_equal(values[3], values[4])


def test_H14_second_derivatives_of_a_product() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        y = sad.prod(x)
        first, second = sad.jacobian(y, x), sad.hessian(y, x)
    with sad.Session(graph) as session:
        g, h = session.run([first, second], {x: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(g, [6.0, 3.0, 2.0])
    np.testing.assert_array_equal(h, [[0.0, 3.0, 2.0], [3.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    np.testing.assert_array_equal(h.sum(0), [5.0, 4.0, 3.0])


def test_H15_the_hessian_of_a_selection_counts_every_use() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        second = sad.hessian(sad.sum(x[[0, 2, 2, 2]] ** 2), x)
    with sad.Session(graph) as session:
        np.testing.assert_array_equal(
            session.run(second, {x: [1.0, 2.0, 3.0]}), np.diag([2.0, 0.0, 6.0])
        )
