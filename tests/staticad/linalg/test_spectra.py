"""Eigenvalues and eigenvectors: values against NumPy's, derivatives at different and equal ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

from ...cases.running import grad, value
from .differences import check_derivatives, hermitian, random, rotated

SHAPES = [(3, 3), (2, 4, 4), (2, 1, 3, 3), (1, 1), (0, 0), (0, 2, 2), (3, 0, 0)]
DTYPES = ["float32", "float64", "complex64", "complex128"]


def composed(values: Any, vectors: Any, f: Any = sad.identity) -> Any:
    """f of a symmetric matrix, in its eigenvectors."""
    changed = f(values).astype(vectors.dtype)[..., None, :]
    return (vectors * changed) @ sad.conj(vectors.mT)


# ------------------------------------------------------------------ values


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_symmetric_matrices(shape: tuple[int, ...], dtype: str) -> None:
    x = hermitian(*shape, dtype=dtype)
    values, vectors = value(sad.linalg.eigh, x)
    expected = np.linalg.eigh(x)
    tolerance = 32 * float(np.finfo(dtype).eps)
    assert (values.dtype, vectors.dtype) == (expected[0].dtype, expected[1].dtype)
    np.testing.assert_allclose(values, expected[0], atol=tolerance)
    assert vectors.shape == x.shape
    again = (vectors * values[..., None, :]) @ np.conj(vectors.swapaxes(-1, -2))
    np.testing.assert_allclose(again, x, atol=4 * tolerance)
    alone = value(sad.linalg.eigvalsh, x)
    assert alone.dtype == values.dtype
    np.testing.assert_allclose(alone, values, atol=tolerance)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_square_matrix(shape: tuple[int, ...], dtype: str) -> None:
    x = random(*shape, dtype=dtype)
    values, vectors = value(sad.linalg.eig, x)
    wide = np.dtype("complex128" if dtype in ("float64", "complex128") else "complex64")
    assert values.dtype == vectors.dtype == wide
    tolerance = 256 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(x @ vectors, vectors * values[..., None, :], atol=tolerance)
    np.testing.assert_allclose(value(sad.linalg.eigvals, x), values)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), 1, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_compute_in_single_precision(dtype: str) -> None:
    x = hermitian(3, 3, dtype="float32").astype(np.float16)
    half = sad.Graph()
    with half:
        y = sad.constant(x).astype(dtype)
        values, vectors = sad.linalg.eigh(y)
        found = [values, vectors, sad.linalg.eigvalsh(y), sad.linalg.eig(y)[0]]
    wide = np.linalg.eigvalsh(sad.Session(half).run(y).astype("float32"))
    results = sad.Session(half).run(found)
    assert [r.dtype.name for r in results] == [dtype] * 3 + ["complex64"]
    np.testing.assert_array_equal(results[0], wide.astype(results[0].dtype))
    np.testing.assert_array_equal(results[2], results[0])


@pytest.mark.parametrize("triangle", ["L", "U"])
def test_one_triangle_is_read(triangle: Any) -> None:
    x = random(2, 3, 3, dtype="complex128")
    found = value(lambda x: sad.linalg.eigvalsh(x, triangle), x)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(x, triangle), atol=1e-14)
    values, _ = value(lambda x: sad.linalg.eigh(x, UPLO=triangle), x)
    np.testing.assert_allclose(values, found, atol=1e-14)
    slope = grad(lambda x: sad.linalg.eigvalsh(x, triangle)[..., 0], x)
    ignored = np.triu(slope, 1) if triangle == "L" else np.tril(slope, -1)
    assert not ignored.any()
    check_derivatives(lambda x: sad.linalg.eigvalsh(x, triangle)[..., 0], x)


def test_integers_count_as_single_precision() -> None:
    found = value(sad.linalg.eigvalsh, np.array([[2, 1], [1, 2]]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [1, 3], rtol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "function",
    [sad.linalg.eigvalsh, sad.linalg.eigvals, lambda x: sad.linalg.eigh(x).eigenvectors],
)
def test_what_is_not_finite_spoils_its_own_matrix(function: Any, bad: float) -> None:
    x = np.stack([np.eye(2), np.array([[bad, 1], [1, 2]]), 2 * np.eye(2)])
    found = value(function, x)
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(found[::2], value(function, x[::2]))


# ------------------------------------------------------------------ derivatives


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (1, 1)])
def test_derivatives_of_symmetric_matrices(shape: tuple[int, ...], dtype: str) -> None:
    x = hermitian(*shape, dtype=dtype)
    weights = random(*shape, dtype=dtype, seed=3)
    check_derivatives(lambda x: sad.linalg.eigvalsh(x) ** 3, x)
    check_derivatives(lambda x: sad.abs(sad.linalg.eigh(x).eigenvectors) ** 2 * weights.real, x)

    def function(x: Any) -> Any:
        return composed(*sad.linalg.eigh(x), sad.tanh) * weights

    check_derivatives(function, x)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (1, 1)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_any_square_matrix(shape: tuple[int, ...], dtype: str) -> None:
    x = random(*shape, dtype=dtype, seed=4)
    weights = random(*shape, dtype="complex128", seed=3)

    def values(x: Any) -> Any:
        w = sad.linalg.eigvals(x)
        return sad.sum(sad.abs(w) ** 4, axis=-1) + sad.sum(sad.imag(w**3) ** 2, axis=-1)

    def vectors(x: Any) -> Any:
        w, v = sad.linalg.eig(x)
        # In the basis of vectors, and with their lengths.
        turned = (v * sad.sin(w)[..., None, :]) @ sad.linalg.inv(v)
        return turned * weights + sad.abs(v) ** 2 * sad.abs(w[..., None, :])

    check_derivatives(values, x, h=1e-4, rtol=1e-6)
    check_derivatives(vectors, x, h=1e-4, rtol=1e-6)


def test_a_real_matrix_has_a_real_gradient_through_complex_pairs() -> None:
    def turns(x: Any) -> Any:
        return sad.abs(sad.imag(sad.linalg.eigvals(x)))

    x = np.array([[0.0, -2.0], [3.0, 0.0]])
    found = grad(turns, x)
    assert found.dtype == np.float64
    # Both are the root of -x[0, 1] x[1, 0].
    np.testing.assert_allclose(found, [[0, -3 / 6**0.5], [2 / 6**0.5, 0]], atol=1e-15)


EQUAL = [
    np.eye(3), np.zeros((3, 3)), np.diag([2.0, 2, 5]), np.diag([-1.0, 3, 3]), rotated([2, 2, 5]),
    rotated([1, 1, 1, 4], "complex128"), rotated([-1, 3, 3], "complex128"),
]  # fmt: skip


@pytest.mark.parametrize("x", EQUAL)
def test_derivatives_are_finite_at_equal_eigenvalues(x: Array) -> None:
    weights = random(*x.shape, dtype=x.dtype.name, seed=3)

    def loss(x: Any) -> Any:
        values, vectors = sad.linalg.eigh(x)
        w, v = sad.linalg.eig(x)
        return sad.concat(
            [
                sad.reshape(sad.real(part), (-1,))
                for part in (sad.exp(values), vectors * weights, v * weights, w**2)
            ]
        )

    with sad.Graph() as graph:
        point = sad.placeholder(x.dtype, x.shape)
        y = sad.sum(loss(point))
        (g,) = sad.gradients(y, point)
        along = sad.constant(weights)
        seconds = [
            sad.gradients(g, point, [along])[0], sad.jvp(g, point, along)[0],
            sad.jvp(sad.jvp(y, point, along)[0], point, along)[0],
        ]  # fmt: skip
    for found in sad.Session(graph).run([y, g, *seconds], {point: x}):
        assert np.isfinite(found).all()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_functions_that_do_not_tell_equal_eigenvalues_apart(dtype: str) -> None:
    x = rotated([2, 2, 5, 7], dtype)
    weights = random(4, 4, dtype=dtype, seed=3)
    check_derivatives(lambda x: sad.linalg.eigvalsh(x)[:2], x)
    check_derivatives(lambda x: sad.linalg.eigvalsh(x)[2:] ** 2, x)

    def onto(x: Any) -> Any:
        _, vectors = sad.linalg.eigh(x)
        return weights * (vectors[:, :2] @ sad.conj(vectors[:, :2].mT))

    check_derivatives(onto, x)


def test_the_limit_between_equal_eigenvalues_is_taken_as_zero() -> None:
    """As documented: the second derivative of sum(w**2) at I is 2 along x, not along others."""
    with sad.Graph() as graph:
        x = sad.constant(np.eye(2))
        (g,) = sad.gradients(sad.sum(sad.linalg.eigvalsh(x) ** 2), x)
        inside, across = np.diag([1.0, -3.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
        curves = [sad.gradients(g, x, [sad.constant(v)])[0] for v in (inside, across)]
    found = sad.Session(graph).run(curves)
    np.testing.assert_allclose(found[0], 2 * inside)
    np.testing.assert_allclose(found[1], 0 * across)


def test_a_missing_convergence_names_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = np.linalg.eigh

    def fails(x: Array) -> Any:
        if (x[..., 0, 0] == 7).any():
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return usual(x)

    monkeypatch.setattr(np.linalg, "eigh", fails)
    x = np.ones((2, 3, 2, 2))
    x[1, 0] = 7
    with sad.Graph() as graph:
        y = sad.linalg.eigh(sad.placeholder("float64", (2, 3, 2, 2), name="x"), name="modes")
    with pytest.raises(sad.ExecutionError, match=r"did not converge[\s\S]*\[1, 0\]") as caught:
        sad.Session(graph).run(y, {"x": x})
    assert "modes" in str(caught.value)
    assert "test_spectra.py" in str(caught.value)
