"""Linear equations by products: against NumPy and SciPy, and their derivatives to order three."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg

import staticad as sad
from staticad import linalg

RNG = np.random.default_rng(2)


def regular(n: int) -> Any:
    """A matrix far from symmetric, of a moderate condition."""
    return RNG.normal(size=(n, n)) / np.sqrt(n) + 3 * np.eye(n)


def positive(n: int) -> Any:
    """A symmetric matrix with eigenvalues above 0."""
    m = RNG.normal(size=(n, n))
    return m @ m.T / n + np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
@pytest.mark.parametrize("method", ["cg", "gmres"])
def test_solutions_are_numpys(method: str, n: int) -> None:
    a = positive(n) if method == "cg" else regular(n)
    b = RNG.normal(size=n)
    solve = getattr(linalg, method)
    with sad.Graph() as graph:
        m, right = sad.constant(a), sad.placeholder("float64", (n,), name="b")
        exact = solve(m, right, rtol=1e-12)
        begun = solve(m, right, x0=right, rtol=1e-12)
        loose = solve(lambda v: m @ v, right, rtol=1e-2)
    with sad.Session(graph) as session:
        found, same, near = session.run([exact, begun, loose], {right: b})
        nothing = session.run([exact, loose], {right: np.zeros(n)})
    expected = np.linalg.solve(a, b)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(same, expected, rtol=1e-9, atol=1e-10)
    assert np.linalg.norm(a @ near - b) <= 1.01e-2 * np.linalg.norm(b)
    for x in nothing:
        np.testing.assert_array_equal(x, np.zeros(n))


def test_restarts_go_on_as_scipys() -> None:
    n = 200
    a, b = regular(n), RNG.normal(size=n)
    with sad.Graph() as graph:
        x = sad.linalg.gmres(sad.constant(a), sad.constant(b), rtol=1e-10, restart=8)
    found = sad.Session(graph).run(x)
    expected, info = scipy.sparse.linalg.gmres(a, b, rtol=1e-10, restart=8)
    assert info == 0
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("method", ["cg", "gmres"])
def test_derivatives_to_order_three(method: str) -> None:
    n = 4
    a = positive(n) if method == "cg" else regular(n)
    solve = getattr(linalg, method)
    with sad.Graph():
        m = sad.placeholder("float64", (n, n), name="m")
        b = sad.placeholder("float64", (n,), name="b")
        # Symmetric wherever it is moved to.
        product = (m + m.T) / 2 if method == "cg" else m
        x = solve(product, b, rtol=1e-14)
    sad.check_gradients(x, [m, b], {m: a, b: RNG.normal(size=n)}, order=3, projections=1)


def test_the_gradient_is_that_of_solve() -> None:
    a, b = regular(6), RNG.normal(size=6)
    with sad.Graph() as graph:
        m = sad.placeholder("float64", (6, 6), name="m")
        right = sad.placeholder("float64", (6,), name="b")
        pair = []
        for x in (sad.linalg.gmres(m, right, rtol=1e-14), sad.linalg.solve(m, right)):
            loss = sad.sum(x**3)
            pair.append([loss, *sad.gradients(loss, [m, right]), sad.hessian(loss, right)])
    with sad.Session(graph) as session:
        krylov, direct = session.run(pair, {m: a, right: b})
    for found, expected in zip(krylov, direct, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_products_without_a_matrix_of_nested_unknowns() -> None:
    # (I - h Laplacian) u = f on a grid, beside an unknown of another shape.
    with sad.Graph() as graph:
        h = sad.placeholder("float64", (), name="h")
        f = sad.placeholder("float64", (8, 8), name="f")

        def product(z: Any) -> Any:
            u = z["u"]
            near = sad.roll(u, 1, 0) + sad.roll(u, -1, 0) + sad.roll(u, 1, 1) + sad.roll(u, -1, 1)
            return {"u": u - h * (near - 4 * u), "s": 2.0 * z["s"]}

        b = {"s": sad.ones(3, dtype="float64"), "u": f}
        found = sad.linalg.cg(product, b, rtol=1e-13)
        (slope,) = sad.gradients(sad.sum(found["u"] * f), h)
    at = RNG.normal(size=(8, 8))
    k = 2 * np.pi * np.fft.fftfreq(8)
    symbol = (2 - 2 * np.cos(k))[:, None] + (2 - 2 * np.cos(k))
    with sad.Session(graph) as session:
        values, g = session.run([found, slope], {h: 0.7, f: at})
    spectrum = np.fft.fft2(at)
    np.testing.assert_allclose(
        values["u"], np.fft.ifft2(spectrum / (1 + 0.7 * symbol)).real, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_array_equal(values["s"], [0.5] * 3)
    expected = -np.sum(np.abs(spectrum) ** 2 * symbol / (1 + 0.7 * symbol) ** 2) / 64
    assert g == pytest.approx(expected, rel=1e-11)


def test_what_does_not_converge_fails() -> None:
    with sad.Graph() as graph:
        b = sad.constant([1.0, -1.0], dtype="float64")
        failing = {
            "gmres": sad.linalg.gmres(sad.ones((2, 2), dtype="float64"), b),
            "cg": sad.linalg.cg(sad.constant(positive(2)), b, max_iterations=1, rtol=1e-15),
        }
    with sad.Session(graph) as session:
        for name, x in failing.items():
            with pytest.raises(sad.ExecutionError, match=f"{name} did not converge"):
                session.run(x)


def test_what_is_refused() -> None:
    with sad.Graph():
        m, b = sad.eye(2), sad.ones(2)
        with pytest.raises(sad.ShapeError, match="a matrix times what is no vector"):
            sad.linalg.cg(m, m)
        with pytest.raises(sad.UsageError, match="b is empty"):
            sad.linalg.cg(m, [])
        with pytest.raises(sad.DTypeError, match="one floating dtype"):
            sad.linalg.cg(m.astype("complex64"), b.astype("complex64"))
        with pytest.raises(sad.ArgumentError, match="restart"):
            sad.linalg.gmres(m, b, restart=0)
        with pytest.raises(sad.ShapeError, match="x0 is of another type"):
            sad.linalg.gmres(m, b, sad.ones(3))
