"""G1, G2, G9, G12: systems of equations, Cholesky factors, determinants; extended to batches,
complex numbers, dtypes and second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import Array, build, grad, grads, value

A = np.array([[4.0, 1.0], [1.0, 3.0]])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
COFACTORS = np.array([[4.0, -2.0], [-2.0, 1.0]])


def hessian_product(f: Callable[..., Any], x: Array, v: Array) -> Array:
    """The gradient of <the gradient of the sum of f, v>."""
    graph, (point,), y = build(f, (x,), x.dtype.name)
    (first,) = sad.gradients(sad.sum(y), point)
    (second,) = sad.gradients(first, point, graph.constant(v), unconnected="zero")
    with sad.Session(graph) as session:
        found: Array = session.run(second, {point: x})
    return found


def symmetric(x: Array) -> Array:
    return np.asarray((x + np.conj(np.swapaxes(x, -1, -2))) / 2)


# ------------------------------------------------------------------ G1


def by_inverse(a: Any) -> Any:
    return sad.linalg.trace(sad.linalg.inv(a))


def by_cholesky(a: Any) -> Any:
    factor = sad.linalg.cholesky(a)
    half = sad.linalg.solve_triangular(factor, np.eye(a.shape[-1]).astype(a.dtype), lower=True)
    return sad.sum(sad.real(half * sad.conj(half)), axis=(-2, -1))


def by_cho_solve(a: Any) -> Any:
    factor = sad.linalg.cho_factor(a)
    return sad.linalg.trace(sad.linalg.cho_solve(factor, np.eye(a.shape[-1]).astype(a.dtype)))


ROUTES = [by_inverse, by_cholesky, by_cho_solve]


@pytest.mark.parametrize("route", ROUTES)
def test_G1_routes_to_the_trace_of_an_inverse(route: Callable[..., Any]) -> None:
    found = grad(route, A)
    np.testing.assert_allclose(found, -np.linalg.inv(A) @ np.linalg.inv(A), rtol=1e-14)
    np.testing.assert_allclose(found, [[-0.0826446, 0.0578512], [0.0578512, -0.1404959]], atol=1e-7)
    single = grad(route, A.astype("float32"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, found, rtol=1e-5)
    stack = np.stack([A, 2 * A, A + np.eye(2)])
    inverse = np.linalg.inv(stack)
    np.testing.assert_allclose(grad(route, stack), -inverse @ inverse, rtol=1e-13)


@pytest.mark.parametrize("route", ROUTES)
def test_G1_to_second_order(route: Callable[..., Any]) -> None:
    inverse = np.linalg.inv(A)
    v = symmetric(np.random.default_rng(0).normal(size=(2, 2)))
    # The derivative of -(A^-2) along v.
    right = inverse @ v @ inverse @ inverse + inverse @ inverse @ v @ inverse
    np.testing.assert_allclose(hessian_product(route, A, v), right, rtol=1e-13)


@pytest.mark.parametrize("route", ROUTES)
def test_G1_of_hermitian_matrices(route: Callable[..., Any]) -> None:
    a = np.array([[4.0, 1 - 2j], [1 + 2j, 5.0]])
    inverse = np.linalg.inv(a)

    def real(x: Any) -> Any:
        return sad.real(route(x))

    np.testing.assert_allclose(grad(real, a), -inverse @ inverse, rtol=1e-13)


# ------------------------------------------------------------------ G2


def test_G2_upper_factor_has_the_symmetric_gradient() -> None:
    right = [[0.206344, 0.174622], [0.174622, 0.301511]]
    for upper in (False, True):
        found = grad(lambda x, upper=upper: sad.linalg.cholesky(x, upper=upper), A)
        np.testing.assert_allclose(found, right, atol=5e-7)
        assert (found == found.T).all()
    stack = grad(lambda x: sad.linalg.cholesky(x, upper=True), np.stack([A, A]))
    np.testing.assert_allclose(stack, np.stack([right, right]), atol=5e-7)


def test_G2_only_the_symmetric_part_counts() -> None:
    skew = np.array([[0.0, 0.7], [-0.7, 0.0]])
    for upper in (False, True):

        def f(x: Any, upper: bool = upper) -> Any:
            return sad.linalg.cholesky(x, upper=upper)

        np.testing.assert_allclose(value(f, A + skew), value(f, A), rtol=1e-15)
        np.testing.assert_allclose(hessian_product(f, A, skew), 0, atol=1e-15)
        second = hessian_product(f, A, A)
        assert (second == second.T).all()


def test_G2_of_complex_matrices() -> None:
    a = np.array([[4.0, 1 - 2j], [1 + 2j, 5.0]])
    upper = value(lambda x: sad.linalg.cholesky(x, upper=True), a)
    np.testing.assert_allclose(upper.conj().T @ upper, a, rtol=1e-15)
    found = grad(lambda x: sad.abs(sad.linalg.cholesky(x, upper=True)), a)
    np.testing.assert_allclose(found, found.conj().T, rtol=1e-15)


# ------------------------------------------------------------------ G9


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_G9_determinant_of_a_singular_matrix(dtype: str) -> None:
    def f(x: Any) -> Any:
        return sad.real(sad.linalg.det(x))

    a = SINGULAR.astype(dtype)
    assert value(sad.linalg.det, a) == 0
    found = grad(f, a)
    assert found.dtype == a.dtype
    np.testing.assert_allclose(found, COFACTORS, atol=1e-6 if dtype in ("float32", "complex64")
                               else 1e-14)  # fmt: skip
    assert (grad(f, np.zeros((3, 3), dtype)) == 0).all()
    stack = np.stack([a, np.eye(2, dtype=dtype), np.zeros((2, 2), dtype)])
    np.testing.assert_allclose(
        grad(f, stack), np.stack([COFACTORS, np.eye(2), np.zeros((2, 2))]), atol=1e-6
    )


@pytest.mark.parametrize("values", [(3, 2, 1, 0), (3, 2, 0, 0), (3, 0, 0, 0), (0, 0, 0, 0)])
def test_G9_to_third_order(values: tuple[float, ...]) -> None:
    rng = np.random.default_rng(1)
    u, v = (np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(2))
    a = u @ np.diag(np.array(values, float)) @ v
    p, q, r = rng.normal(size=(3, 4, 4))
    graph, (x,), y = build(sad.linalg.det, (a,), "float64")
    slopes = [y]
    for direction in (p, q, r):
        (slope,) = sad.gradients(slopes[-1], x)
        slopes.append(sad.sum(slope * direction))
    with sad.Session(graph) as session:
        found = session.run(slopes, {x: a})

    # A polynomial of degree 4 in three steps: its mixed coefficients, by differences of 1.
    def at(*steps: int) -> float:
        moved = a + sum(s * d for s, d in zip(steps, (p, q, r), strict=True))
        return float(np.linalg.det(moved))

    grid = np.array([[[at(i, j, k) for k in NODES] for j in NODES] for i in NODES])
    right = [
        grid[2, 2, 2],
        np.einsum("i,i", SLOPE, grid[:, 2, 2]),
        np.einsum("i,j,ij", SLOPE, SLOPE, grid[:, :, 2]),
        np.einsum("i,j,k,ijk", SLOPE, SLOPE, SLOPE, grid),
    ]
    np.testing.assert_allclose(found, right, atol=1e-11)


# Differences that are exact for polynomials of degree 4.
NODES = (-2, -1, 0, 1, 2)
SLOPE = np.array([1, -8, 0, 8, -1]) / 12


def test_G9_logarithm_at_a_singular_matrix() -> None:
    stack = np.stack([A, SINGULAR])
    sign, logarithm = value(sad.linalg.slogdet, stack)
    np.testing.assert_allclose(sign, [1, 0])
    np.testing.assert_allclose(logarithm, [np.log(11), -np.inf])

    def known(x: Any) -> Any:
        found = sad.linalg.slogdet(x).logabsdet
        return sad.where(sad.isfinite(found), found, 0.0)

    right = np.stack([np.linalg.inv(A), np.zeros((2, 2))])
    np.testing.assert_allclose(grad(known, stack), right, rtol=1e-15)
    v = np.random.default_rng(2).normal(size=(2, 2, 2))
    inverse = np.linalg.inv(A).T
    right = np.stack([-inverse @ v[0].T @ inverse, np.zeros((2, 2))])
    np.testing.assert_allclose(hessian_product(known, stack, v), right, rtol=1e-14)
    assert not np.isfinite(grad(lambda x: sad.linalg.slogdet(x).logabsdet, SINGULAR)).all()


# ------------------------------------------------------------------ G12


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_G12_sign_of_the_gradient_of_a_solution(dtype: str) -> None:
    a, b = np.array([[-1.0]], dtype), np.array([[-1.0]], dtype)

    def f(a: Any, b: Any) -> Any:
        return sad.real(sad.linalg.solve(a, b))

    assert value(f, a, b) == 1
    da, db = grads(f, a, b)
    assert (da.item(), db.item()) == (1, -1)
    da, db = grads(f, np.array([[[-1.0]], [[2.0]]], dtype), b)
    np.testing.assert_allclose(da, np.array([[[1.0]], [[0.25]]]))
    np.testing.assert_allclose(db, [[-0.5]])


def test_G12_second_order() -> None:
    # x = b / a: the second derivative in a is 2 b / a**3.
    found = hessian_product(
        lambda a: sad.linalg.solve(a, [[-1.0]]), np.array([[-1.0]]), np.ones((1, 1))
    )
    np.testing.assert_allclose(found, [[2.0]])
