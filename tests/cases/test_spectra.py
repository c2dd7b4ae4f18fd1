"""Cases of eigenvalues, singular values and orthonormal columns: equal values, sizes, shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

DTYPES = ("float32", "float64", "complex64", "complex128")


def derivatives(f: Any, x: Array, direction: Array) -> tuple[Array, list[Array]]:
    """The gradient of the sum of f, and its derivative along a direction, backwards over it and
    forwards."""
    with sad.Graph() as graph:
        point, along = (sad.placeholder(x.dtype, (None, *x.shape[1:])) for _ in range(2))
        y = sad.sum(sad.real(f(point)))
        (first,) = sad.gradients(y, point)
        (back,) = sad.gradients(first, point, [along], unconnected="zero")
        (on,) = sad.jvp(first, point, along)
    with sad.Session(graph) as session:
        slope, *curves = session.run([first, back, on], {point: x, along: direction})
    return slope, curves


def stacked(x: Any, dtype: str) -> Array:
    """Twice the same matrix, and three times it."""
    return np.stack([x, 3 * np.asarray(x)]).astype(dtype)


def direction(*shape: int, dtype: str) -> Array:
    rng = np.random.default_rng(5)
    values: Any = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return np.asarray(values).astype(dtype)


def tolerance(dtype: str) -> float:
    return 64 * float(np.finfo(dtype).eps)


# ------------------------------------------------------------------ eigenvalues


@pytest.mark.parametrize("dtype", DTYPES)
def test_sum_of_equal_eigenvalues_G4(dtype: str) -> None:
    rotation = np.linalg.qr(direction(3, 3, dtype=dtype))[0]
    equal = rotation @ np.diag([2, 2, 5]) @ rotation.conj().T
    for matrix in (np.eye(3), np.zeros((3, 3)), equal, np.diag([1.0, 1, 4])):
        x = stacked(matrix, dtype)
        v = direction(*x.shape, dtype=dtype)
        slope, curves = derivatives(sad.linalg.eigvalsh, x, v)
        assert slope.dtype == np.dtype(dtype)
        np.testing.assert_allclose(slope, np.stack([np.eye(3)] * 2), atol=tolerance(dtype))
        for curve in curves:
            np.testing.assert_allclose(curve, np.zeros(x.shape), atol=tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("f", "slope_at_1"), [(sad.exp, np.e), (sad.log, 1.0), (sad.square, 2.0), (sad.sqrt, 0.5)]
)
def test_trace_of_a_function_of_the_identity_G4(dtype: str, f: Any, slope_at_1: float) -> None:
    def trace(x: Any) -> Any:
        values, vectors = sad.linalg.eigh(x)
        changed = f(values).astype(vectors.dtype)[..., None, :]
        return sad.linalg.trace((vectors * changed) @ sad.conj(vectors.mT))

    x = np.stack([np.eye(4)] * 2).astype(dtype)
    slope, curves = derivatives(trace, x, direction(*x.shape, dtype=dtype))
    np.testing.assert_allclose(slope, slope_at_1 * np.stack([np.eye(4)] * 2), atol=tolerance(dtype))
    for curve in curves:
        assert np.isfinite(curve).all()


# ------------------------------------------------------------------ singular values


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("scale", [1e200, 1e-200, 1.0, 1e307, 1e-305])
def test_squares_of_singular_values_leave_the_range_G6(dtype: str, scale: float) -> None:
    matrix = np.diag([scale, 2 * scale]).astype(dtype)
    x = np.stack([matrix, matrix[::-1]])
    v = direction(*x.shape, dtype=dtype)
    slope, curves = derivatives(sad.linalg.svdvals, x, v)
    np.testing.assert_allclose(slope, x / np.abs(x).max(-1, keepdims=True), atol=1e-15)
    # Of unitary factors of a small matrix the derivative is as large as 1 / scale.
    _, expected = derivatives(sad.linalg.svdvals, x / scale, v)
    for curve, unit in zip(curves, expected, strict=True):
        np.testing.assert_allclose(curve * scale, unit, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_squares_in_single_precision_G6(dtype: str, scale: float) -> None:
    x = np.diag([scale, 2 * scale]).astype(dtype)[None]
    slope, curves = derivatives(sad.linalg.svdvals, x, direction(*x.shape, dtype=dtype))
    np.testing.assert_allclose(slope, np.eye(2)[None], atol=1e-6)
    assert all(np.isfinite(curve).all() for curve in curves)


# ------------------------------------------------------------------ orthonormal columns


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    ("shape", "mode"),
    [
        ((2, 3), "reduced"), ((2, 3), "complete"), ((1, 4), "reduced"), ((3, 3), "reduced"),
        ((3, 2), "reduced"), ((5, 2), "complete"), ((3, 2), "complete"),
    ],
)  # fmt: skip
def test_columns_of_matrices_of_any_shape_G7(dtype: str, shape: tuple[int, int], mode: Any) -> None:
    """What depends on the spans, not on signs or bases, of a wide, tall or completed matrix."""
    weights = direction(max(shape), max(shape), dtype=dtype)
    k = min(shape)

    def loss(x: Any) -> Any:
        q, r = sad.linalg.qr(x, mode=mode)
        m, n = shape
        onto = q[..., :, :k] @ sad.conj(q[..., :, :k].mT)
        beyond = q[..., :, k:] @ sad.conj(q[..., :, k:].mT)
        square = sad.conj(r.mT) @ r
        sizes = sad.abs(r) ** 2
        rows = np.arange(1.0, r.shape[-2] + 1)[:, None]
        return (
            sad.sum(sad.real(weights[:m, :m] * (onto - 2 * beyond)), axis=(-2, -1))
            + sad.sum(sad.real(weights[:n, :n] * square), axis=(-2, -1))
            + sad.sum(sizes * rows, axis=(-2, -1))
        )

    x = direction(2, *shape, dtype=dtype)
    v, w = direction(2, 2, *shape, dtype=dtype)
    slope, curves = derivatives(loss, x, v)
    h = 1e-5
    ahead, behind = (derivatives(loss, x + s * h * w, v)[0] for s in (1, -1))
    change = (ahead - behind) / (2 * h)
    assert np.isfinite(slope).all()
    for curve in curves:
        np.testing.assert_allclose(
            np.vdot(curve, w).real, np.vdot(change, v).real, rtol=1e-6, atol=1e-7
        )
    values = []
    for s in (1, -1):
        with sad.Graph() as graph:
            y = sad.sum(loss(sad.constant(x + s * h * w)))
        values.append(float(sad.Session(graph).run(y)))
    np.testing.assert_allclose(
        np.vdot(slope, w).real, (values[0] - values[1]) / (2 * h), rtol=1e-7, atol=1e-7
    )
