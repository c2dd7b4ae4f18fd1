"""Powers, exponentials, roots and logarithms of matrices: values against SciPy's, derivatives also
where eigenvalues are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg

import staticad as sad
from staticad_schema.op import OPS
from staticad_schema.types import Array

from ...cases.running import value
from .differences import check_derivatives, positive, random, rotated

SHAPES = [(3, 3), (2, 4, 4), (1, 1), (0, 0), (0, 2, 2)]
DTYPES = ["float32", "float64", "complex64", "complex128"]
FUNCTIONS = ("sqrtm", "logm")


def symmetric(f: Any, weights: Array) -> Any:
    """A weighted f of the part of x that is its own adjoint."""

    def loss(x: Any) -> Any:
        return weights * f((x + sad.conj(x.mT)) / 2)

    return loss


def single(dtype: str) -> bool:
    return dtype in ("float32", "complex64")


# ------------------------------------------------------------------ values


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials(shape: tuple[int, ...], dtype: str) -> None:
    x = random(*shape, dtype=dtype)
    found = value(sad.linalg.expm, x)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, linalg.expm(x), rtol=1e-5 if single(dtype) else 1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_roots_and_logarithms(name: str, shape: tuple[int, ...], dtype: str) -> None:
    x = positive(*shape, dtype=dtype).astype(dtype)
    found = value(getattr(sad.linalg, name), x)
    assert (found.dtype, found.shape) == (x.dtype, x.shape)
    # There is one such matrix that is its own adjoint (and of the roots, positive).
    np.testing.assert_array_equal(found, np.conj(found.swapaxes(-1, -2)))
    if name == "sqrtm":
        assert (np.linalg.eigvalsh(found) > 0).all()
    back = linalg.expm(found) if name == "logm" else found @ found
    tolerance = 1e-4 if single(dtype) else 1e-13
    np.testing.assert_allclose(back, x, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 7, 10])
@pytest.mark.parametrize("dtype", [*DTYPES, "int32"])
def test_powers(n: int, dtype: str) -> None:
    x = np.round(2 * random(2, 3, 3, dtype="complex64" if "complex" in dtype else "float32"))
    x = (x + 5 * np.eye(3)).astype(dtype)
    found = value(lambda x: sad.linalg.matrix_power(x, n), x)
    wide = x.astype("float64") if dtype in ("float32", "int32") else x.astype("complex128")
    wide = wide if dtype != "float64" else x
    expected = np.linalg.matrix_power(wide, n)
    assert found.dtype == (x.dtype if n >= 0 or dtype != "int32" else np.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_powers_of_sizes_that_runs_know() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("stack", "n", "n"))
        powers = [sad.linalg.matrix_power(x, n) for n in (0, 1, 5, -2)]
        (dx,) = sad.gradients(powers[2], x)
    for shape in ((2, 3, 3), (1, 1, 1), (0, 2, 2), (2, 0, 0)):
        at = random(*shape)
        *found, slope = sad.Session(graph).run([*powers, dx], {x: at})
        for n, y in zip((0, 1, 5, -2), found, strict=True):
            assert y.shape == shape
            np.testing.assert_allclose(y, np.linalg.matrix_power(at, n), rtol=1e-10, atol=1e-12)
        assert slope.shape == shape


def test_what_is_not_finite_spoils_its_own_matrix() -> None:
    for name in ("expm", *FUNCTIONS):
        for bad in (np.nan, np.inf):
            x = np.stack([np.eye(2), [[bad, 0.5], [0.5, 2]], 2 * np.eye(2)])
            found = value(getattr(sad.linalg, name), x)
            assert np.isnan(found[1]).all()
            np.testing.assert_array_equal(found[::2], value(getattr(sad.linalg, name), x[::2]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_compute_in_single_precision(dtype: str) -> None:
    with sad.Graph() as graph:
        x = sad.constant(positive(3, 3).astype(np.float16)).astype(dtype)
        found = [getattr(sad.linalg, name)(x, name=name) for name in ("expm", *FUNCTIONS)]
        (dx,) = sad.gradients(sad.sum(found[0]), x)
    assert {t.dtype.name for t in (*found, dx)} == {dtype}
    wide, result = sad.Session(graph).run([x, "expm"])
    np.testing.assert_array_equal(result, linalg.expm(wide.astype(np.float32)).astype(result.dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("n", [-3, -1, 0, 1, 5])
def test_powers_of_half_floats_are_rounded_once(dtype: str, n: int) -> None:
    with sad.Graph() as graph:
        x = sad.constant(positive(3, 3).astype(np.float16)).astype(dtype)
        y = sad.linalg.matrix_power(x, n, name="power")
        (dx,) = sad.gradients(sad.sum(y), x, unconnected="zero")
    assert (y.dtype.name, dx.dtype.name) == (dtype, dtype)
    wide, power = sad.Session(graph).run([x, "power"])
    exact = np.linalg.matrix_power(wide.astype(np.float64), n)
    step = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
    np.testing.assert_allclose(power.astype(np.float64), exact, rtol=1.02 * step, atol=1e-3 * step)


# ------------------------------------------------------------------ derivatives


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (1, 1)])
def test_derivatives_at_random_matrices(shape: tuple[int, ...], dtype: str) -> None:
    weights = random(*shape, dtype=dtype, seed=3)
    x = random(*shape, dtype=dtype)
    check_derivatives(lambda x: weights * sad.linalg.expm(x), x)
    for name in FUNCTIONS:
        f = symmetric(getattr(sad.linalg, name), weights)
        check_derivatives(f, positive(*shape, dtype=dtype), h=1e-4, rtol=1e-7)
    for n in (-2, 3):
        check_derivatives(lambda x: weights * sad.linalg.matrix_power(x, n), x, h=1e-4, rtol=1e-6)  # noqa: B023


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_at_equal_eigenvalues(dtype: str) -> None:
    """Exact to the second order, the terms between equal eigenvalues included."""
    weights = random(3, 3, dtype=dtype, seed=3)
    for x in (np.eye(3).astype(dtype), 2 * np.eye(3).astype(dtype), rotated([2, 2, 5], dtype)):
        check_derivatives(lambda x: weights * sad.linalg.expm(x), x, rtol=1e-8)
        for name in FUNCTIONS:
            check_derivatives(symmetric(getattr(sad.linalg, name), weights), x, rtol=1e-8)
    zero = np.zeros((3, 3), dtype)
    jordan = np.eye(3, k=1).astype(dtype)
    for x in (zero, jordan, 3 * np.eye(3).astype(dtype) + jordan):
        check_derivatives(lambda x: weights * sad.linalg.expm(x), x)


@pytest.mark.parametrize("name", ["expm", *FUNCTIONS])
def test_third_derivatives_at_the_identity(name: str) -> None:
    """Along I they are those of the function of a number."""
    third = {"expm": np.e, "sqrtm": 3 / 8, "logm": 2.0}[name]
    with sad.Graph() as graph:
        t = sad.constant(np.array(1.0))
        y = sad.linalg.trace(getattr(sad.linalg, name)(t * np.eye(3)))
        for _ in range(3):
            (y,) = sad.gradients(y, t)
    np.testing.assert_allclose(sad.Session(graph).run(y), 3 * third, rtol=1e-11)


def test_long_cotangents_lose_no_digits() -> None:
    """The derivative is linear in what comes back, whatever its length."""
    x, seed = random(3, 3), random(3, 3, seed=1)
    with sad.Graph() as graph:
        point, given = (sad.placeholder("float64", (3, 3)) for _ in range(2))
        y = sad.linalg.expm(point)
        (g,) = sad.gradients(y, point, [given])
        (t,) = sad.jvp(y, point, given)
    session = sad.Session(graph)
    usual = session.run([g, t], {point: x, given: seed})
    for scale in (1e-300, 1e-20, 1e20, 1e300):
        found = session.run([g, t], {point: x, given: scale * seed})
        for a, b in zip(found, usual, strict=True):
            np.testing.assert_allclose(a / scale, b, rtol=1e-13)
    for zeros in session.run([g, t], {point: x, given: 0 * seed}):
        np.testing.assert_array_equal(zeros, np.zeros((3, 3)))
    np.testing.assert_allclose(usual[1], linalg.expm_frechet(x, seed)[1], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_roots_of_singular_matrices(dtype: str) -> None:
    """The infinite slope between eigenvalues of 0 counts as 0; between others it is right."""
    x = rotated([0, 0, 4], dtype)
    root = value(sad.linalg.sqrtm, x)
    np.testing.assert_allclose(root, x / 2, atol=1e-7)
    exact = np.diag([0.0, 0, 4]).astype(dtype)
    along = random(3, 3, dtype=dtype)
    with sad.Graph() as graph:
        point = sad.constant(exact)
        y = sad.linalg.sqrtm(point)
        (slope,) = sad.gradients(sad.sum(sad.real(along * y)), point)
        (second,) = sad.gradients(sad.sum(sad.real(along * slope)), point)
        (zero,) = sad.gradients(
            sad.sum(sad.real(sad.linalg.sqrtm(sad.zeros_like(point) * point))), point
        )
    slope_, second_, zero_ = sad.Session(graph).run([slope, second, zero])
    seed = np.conj(along)
    seed = (seed + np.conj(seed.T)) / 2
    np.testing.assert_allclose(slope_[2], seed[2] / [2, 2, 4], atol=1e-14)
    np.testing.assert_array_equal(slope_[:2, :2], np.zeros((2, 2)))
    assert np.isfinite(second_).all()
    assert np.isfinite(zero_).all()


def test_helpers_of_the_derivatives_solve_their_equations() -> None:
    x, c = positive(3, 3), random(3, 3, seed=2)
    y = OPS["lyapunov"].numpy(x, c)  # type: ignore[misc]
    np.testing.assert_allclose(x @ y + y @ x, c, atol=1e-13)
    e = OPS["expm_inverse_slope"].numpy(x, c)  # type: ignore[misc]
    np.testing.assert_allclose(linalg.expm_frechet(x, e)[1], c, atol=1e-13)


# ------------------------------------------------------------------ mistakes of runs


@pytest.mark.parametrize(
    ("name", "matrix", "found"),
    [
        ("sqrtm", [[1.0, 2.0], [2.0, 1.0]], "not positive semidefinite"),
        ("sqrtm", [[1.0, 2.0], [0.0, 1.0]], "not its own adjoint"),
        ("logm", [[1.0, 0.0], [0.0, 0.0]], "not positive definite"),
        ("logm", [[0.0, -1.0], [1.0, 0.0]], "not its own adjoint"),
    ],
)
def test_matrices_without_a_root_or_logarithm(name: str, matrix: Any, found: str) -> None:
    x = np.stack([np.eye(2), matrix])[None]
    with sad.Graph() as graph:
        y = getattr(sad.linalg, name)(sad.placeholder("float64", x.shape, name="x"), name="f")
    with pytest.raises(sad.ExecutionError, match=rf"{found}[\s\S]*\[0, 1\]") as caught:
        sad.Session(graph).run(y, {"x": x})
    assert "'f'" in str(caught.value)
    assert "test_matrix_functions.py" in str(caught.value)
