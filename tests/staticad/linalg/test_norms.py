"""Norms against NumPy's, and at what over- or underflows, is 0, tied, infinite or NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import NAMES, Array

from ...cases.running import build, grad, value

INF, NAN = np.inf, np.nan
ORDERS = [2, 1, 0, INF, -INF, 3, 1.5, 0.5, -1, -2.5, 4]


def slopes_and_curves(f: Any, x: Array, direction: Array) -> tuple[Array, Array]:
    """The gradient of the sum of f, and its derivative along a direction."""
    graph, (point,), y = build(f, (x,), x.dtype.name)
    (first,) = sad.gradients(sad.sum(y), point)
    given = graph.constant(direction)
    (second,) = sad.gradients(first, point, given, unconnected="zero")
    with sad.Session(graph) as session:
        slope, curve = session.run([first, second], {point: x})
    return slope, curve


@pytest.mark.parametrize("ord", ORDERS)
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1, (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_vector_norm(ord: float, axis: Any, keepdims: bool) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    found = value(lambda x: sad.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord), x)
    expected = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("ord", [o for o in ORDERS if o])
def test_derivatives_of_vector_norms(ord: float) -> None:
    x = np.random.default_rng(1).normal(size=(2, 5))

    def f(x: Any) -> Any:
        return sad.linalg.vector_norm(x, axis=1, ord=ord) ** 2

    rng = np.random.default_rng(2)
    v, w = rng.normal(size=(2, *x.shape))
    slope, curve = slopes_and_curves(f, x, v)
    h = 1e-6
    ahead, behind = (value(f, x + s * h * w).sum() for s in (1, -1))
    np.testing.assert_allclose(np.sum(slope * w), (ahead - behind) / (2 * h), rtol=1e-7)
    ahead, behind = (np.sum(v * grad(f, x + s * h * w)) for s in (1, -1))
    np.testing.assert_allclose(np.sum(curve * w), (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "int8", "bool"])
@pytest.mark.parametrize("ord", [2, 1, 0, INF, 3])
def test_dtypes(dtype: str, ord: float) -> None:
    x = np.array([3, 0, 1]).astype(NAMES[dtype])
    found = value(lambda x: sad.linalg.vector_norm(x, ord=ord), x)
    expected = {"complex64": "float32", "int8": "float32", "bool": "float32"}.get(dtype, dtype)
    assert found.dtype.name == expected
    exact = np.linalg.vector_norm(np.abs(x.astype(complex)), ord=ord)
    np.testing.assert_allclose(float(found), exact, rtol=5e-3)


@pytest.mark.parametrize("ord", [o for o in ORDERS if o])
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_neither_over_nor_underflows(ord: float, scale: float) -> None:
    x = np.array([3.0, -4.0, 1.0])

    def f(x: Any) -> Any:
        return sad.linalg.vector_norm(x, ord=ord)

    np.testing.assert_allclose(value(f, scale * x), scale * value(f, x), rtol=1e-13)
    np.testing.assert_allclose(grad(f, scale * x), grad(f, x), rtol=1e-12)
    assert grad(f, x).any()


@pytest.mark.parametrize("ord", ORDERS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
def test_at_zero_derivatives_are_0(ord: float, dtype: str) -> None:
    x = np.zeros((2, 3), dtype)

    def f(x: Any) -> Any:
        return sad.linalg.vector_norm(x, axis=1, ord=ord)

    np.testing.assert_array_equal(value(f, x), [0, 0])
    if ord:
        slope, curve = slopes_and_curves(f, x, np.ones_like(x))
        np.testing.assert_array_equal(slope, x)
        np.testing.assert_array_equal(curve, x)


@pytest.mark.parametrize("ord", [2, 1, 3, 1.5, 0.5, 4])
def test_an_element_of_zero_among_others_has_slope_0(ord: float) -> None:
    x = np.array([3.0, 0.0, -4.0])
    slope, curve = slopes_and_curves(lambda x: sad.linalg.vector_norm(x, ord=ord), x, np.ones(3))
    assert slope[1] == 0
    expected = np.abs(x[[0, 2]]) ** (ord - 1) * np.sign(x[[0, 2]])
    expected *= np.linalg.norm(x[[0, 2]], ord) ** (1 - ord)
    np.testing.assert_allclose(slope[[0, 2]], expected, rtol=1e-13)
    assert np.isfinite(curve).all()


def test_a_zero_decides_norms_of_negative_order() -> None:
    x = np.array([3.0, 0.0, -4.0])
    for ord in (-1, -2, -INF):
        slope, curve = slopes_and_curves(
            lambda x, ord=ord: sad.linalg.vector_norm(x, ord=ord), x, np.ones(3)
        )
        assert value(lambda x, ord=ord: sad.linalg.vector_norm(x, ord=ord), x) == 0
        np.testing.assert_array_equal(slope, np.zeros(3))
        np.testing.assert_array_equal(curve, np.zeros(3))


def test_ties_share_the_gradient_of_the_largest() -> None:
    x = [3.0, -3.0, 1.0]
    found = grad(lambda x: sad.linalg.vector_norm(x, ord=INF), x)
    np.testing.assert_array_equal(found, [0.5, -0.5, 0])
    found = grad(lambda x: sad.linalg.vector_norm(x, ord=-INF), [3.0, -1.0, 1.0])
    np.testing.assert_array_equal(found, [0, -0.5, 0.5])


@pytest.mark.parametrize("ord", [2, 1, 3, 0.5, INF])
def test_infinity_and_nan(ord: float) -> None:
    x = np.array([[INF, 1], [-INF, INF], [NAN, 1], [NAN, INF]])
    found = value(lambda x: sad.linalg.vector_norm(x, axis=1, ord=ord), x)
    np.testing.assert_array_equal(found, [INF, INF, NAN, NAN])


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("ord", [2, 1, 0, 3, INF])
def test_of_nothing(ord: float, symbolic: bool) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("m", "n") if symbolic else (2, 0))
        y = sad.linalg.vector_norm(x, axis=1, ord=ord)
        (dx,) = sad.gradients(sad.sum(y), x, unconnected="zero")
    with sad.Session(graph) as session:
        found, slope = session.run([y, dx], {x: np.zeros((2, 0))})
    np.testing.assert_array_equal(found, [0, 0])
    assert slope.shape == (2, 0)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3)])
@pytest.mark.parametrize("ord", [1, 2, INF, "fro", "nuc"])
def test_of_matrices_without_elements(ord: Any, shape: tuple[int, ...], symbolic: bool) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (None,) * len(shape) if symbolic else shape)
        y = sad.linalg.matrix_norm(x, ord=ord)
        (dx,) = sad.gradients(sad.sum(y), x)
    with sad.Session(graph) as session:
        found, slope = session.run([y, dx], {x: np.zeros(shape)})
    np.testing.assert_array_equal(found, np.zeros(shape[:-2]))
    assert slope.shape == shape


@pytest.mark.parametrize("ord", [-INF, -1, -2])
def test_nothing_has_no_smallest(ord: float) -> None:
    with pytest.raises(sad.ShapeError, match="no identity"):
        value(lambda x: sad.linalg.matrix_norm(x, ord=ord), np.zeros((0, 0)))


@pytest.mark.parametrize("ord", ["fro", 1, -1, INF, -INF])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_matrix_norm(ord: Any, keepdims: bool, dtype: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5, 3, 4)).astype(dtype)
    if dtype == "complex128":
        x = x + 1j * rng.normal(size=x.shape)
    found = value(lambda x: sad.linalg.matrix_norm(x, ord=ord, keepdims=keepdims), x)
    np.testing.assert_allclose(
        found, np.linalg.matrix_norm(x, ord=ord, keepdims=keepdims), rtol=1e-13
    )
    transposed = value(lambda x: sad.linalg.norm(x, ord, (2, 1), keepdims), x)
    np.testing.assert_allclose(transposed, np.linalg.norm(x, ord, (2, 1), keepdims), rtol=1e-13)
    assert grad(lambda x: sad.linalg.matrix_norm(x, ord=ord), x).shape == x.shape


def test_matrix_norms_at_ties_and_zeros() -> None:
    x = np.array([[1.0, -1.0], [2.0, 2.0]])
    found = grad(lambda x: sad.linalg.matrix_norm(x, ord=1), x)
    np.testing.assert_array_equal(found, [[0.5, -0.5], [0.5, 0.5]])
    for ord in ("fro", 1, INF):
        found = grad(lambda x, ord=ord: sad.linalg.matrix_norm(x, ord=ord), np.zeros((2, 2)))
        np.testing.assert_array_equal(found, np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("shape", "ord", "axis"),
    [
        ((3,), None, None),
        ((2, 3), None, None),
        ((2, 3, 4), None, None),
        ((3,), 1, None),
        ((2, 3), 1, None),
        ((2, 3), 1, 0),
        ((2, 3, 4), INF, (0, 2)),
        ((2, 3, 4), None, (0, 2)),
        ((2, 3, 4), None, (1,)),
        ((), None, None),
    ],
)
def test_norm_is_that_of_numpy(shape: tuple[int, ...], ord: Any, axis: Any) -> None:
    x = np.random.default_rng(4).normal(size=shape)
    found = value(lambda x: sad.linalg.norm(x, ord, axis), x)
    np.testing.assert_allclose(found, np.linalg.norm(x, ord, axis), rtol=1e-14)


def test_symbolic_sizes() -> None:
    x = np.random.default_rng(5).normal(size=(2, 3))
    with sad.Graph() as graph:
        point = sad.placeholder("float64", ("a", "b"))
        norms = {o: sad.linalg.vector_norm(point, axis=0, ord=o) for o in ORDERS}
        fro = sad.linalg.matrix_norm(point, ord=1, keepdims=True)
        slopes = [sad.gradients(norms[o], point)[0] for o in ORDERS if o]
    with sad.Session(graph) as session:
        found, one, grads = session.run([norms, fro, slopes], {point: x})
        for o in ORDERS:
            np.testing.assert_allclose(found[o], np.linalg.vector_norm(x, axis=0, ord=o))
        np.testing.assert_allclose(one, np.linalg.norm(x, 1, (0, 1), True))
        # Of degree 1: Euler's theorem.
        for o, slope in zip([o for o in ORDERS if o], grads, strict=True):
            np.testing.assert_allclose(np.sum(slope * x), np.sum(found[o]), err_msg=str(o))


@pytest.mark.parametrize("size", [3, "n"])
@pytest.mark.parametrize("order", [-2, -1, 0.5, 3])
def test_powers_of_the_infinite_of_zeros_and_of_nothing(order: float, size: Any) -> None:
    inf = math.inf
    rows: list[list[float]] = [[inf, inf, -inf], [inf, 1, 2], [0, 1, 2], [0, 0, 0], [3, 1, 0]]
    rows += [[], [5e-324] * 3] if size == "n" else []
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (size,))
        y = sad.linalg.vector_norm(x, ord=order)
        (dx,) = sad.gradients(y, x)
    with sad.Session(graph) as session:
        for row in rows:
            found, slope = session.run([y, dx], {x: row})
            with np.errstate(all="ignore"):
                right = float(np.linalg.norm(np.array(row), order))
            if row[:1] == [5e-324]:
                right = row[0] * 3 ** (1 / order)
            np.testing.assert_allclose(found, right, err_msg=str(row))
            assert not np.isnan(slope).any() or np.isinf(row).any()
