"""Singular values, inverses, ranks, conditions: values against NumPy's, derivatives at different,
equal and zero values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

from ...cases.running import grad, value
from .differences import check_derivatives, random, rotated

SHAPES = [(3, 2), (2, 3), (3, 3), (2, 4, 3), (1, 1), (0, 2), (3, 0), (0, 0), (0, 2, 3)]
DTYPES = ["float32", "float64", "complex64", "complex128"]
LOW = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, -1.0], [0.0, 2.0, 4.0]])


def onto(columns: Any) -> Any:
    """The projection to the span of orthonormal columns."""
    return columns @ sad.conj(columns.mT)


def _numpy_lstsq(a: Array, b: Array) -> Any:
    return np.linalg.lstsq(a, b)


# ------------------------------------------------------------------ values


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
def test_singular_values_and_vectors(shape: tuple[int, ...], dtype: str, full: bool) -> None:
    x = random(*shape, dtype=dtype)
    u, s, vh = value(lambda x: sad.linalg.svd(x, full_matrices=full), x)
    expected = np.linalg.svd(x, full_matrices=full)
    for found, known in zip((u, s, vh), expected, strict=True):
        assert (found.dtype, found.shape) == (known.dtype, known.shape)
    tolerance = 64 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(s, expected.S, atol=tolerance)
    k = s.shape[-1]
    again = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
    np.testing.assert_allclose(again, x, atol=tolerance)
    np.testing.assert_allclose(value(sad.linalg.svdvals, x), s, atol=tolerance)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pseudo_inverses(shape: tuple[int, ...], dtype: str) -> None:
    x = random(*shape, dtype=dtype)
    found = value(sad.linalg.pinv, x)
    assert found.dtype == x.dtype
    assert found.shape == (*shape[:-2], shape[-1], shape[-2])
    if x.size:
        tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-13
        np.testing.assert_allclose(found, np.linalg.pinv(x), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("symbolic", [False, True])
def test_tolerances(symbolic: bool) -> None:
    x = np.stack([np.diag([1.0, 1e-3]), np.diag([1.0, 1e-17]), np.zeros((2, 2))])
    with sad.Graph() as graph:
        point = sad.placeholder("float64", (None, "n", None) if symbolic else x.shape)
        rank = sad.linalg.matrix_rank
        each = np.array([1e-2, 1e-20, 0.1])
        results = [
            rank(point), rank(point, rtol=0.1), rank(point, rtol=each), rank(point, 1e-18),
            rank(point, tol=each), sad.linalg.pinv(point), sad.linalg.pinv(point, rtol=each),
        ]  # fmt: skip
    *ranks, usual, given = sad.Session(graph).run(results, {point: x})
    np.testing.assert_array_equal(ranks, [[2, 1, 0], [1, 1, 0], [1, 2, 0], [2, 2, 0], [1, 2, 0]])
    assert ranks[0].dtype == np.int64
    np.testing.assert_allclose(usual, [np.diag([1, 1e3]), np.diag([1, 0]), np.zeros((2, 2))])
    np.testing.assert_allclose(given, [np.diag([1, 0]), np.diag([1, 1e17]), np.zeros((2, 2))])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("a", "b"),
    [((5, 3), (5, 2)), ((5, 3), (5,)), ((3, 3), (3, 1)), ((2, 4), (2, 3)), ((3, 1), (3,))],
)
def test_least_squares(a: tuple[int, ...], b: tuple[int, ...], dtype: str) -> None:
    left, right = random(*a, dtype=dtype), random(*b, dtype=dtype, seed=1)
    found: Any = value(lambda a, b: sad.linalg.lstsq(a, b), left, right)
    x, residuals, rank, s = _numpy_lstsq(left, right)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    for ours, theirs in zip((found.x, found.s), (x, s), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    assert found.rank == rank
    if residuals.size:
        np.testing.assert_allclose(
            found.residuals, residuals.reshape(b[1:]), rtol=tolerance, atol=tolerance
        )
    else:
        np.testing.assert_allclose(found.residuals, np.zeros(b[1:]), atol=tolerance)


def test_least_squares_of_stacks_and_lost_rank() -> None:
    a = np.stack([LOW, LOW + random(4, 3)])
    b = random(4, 2)
    found: Any = value(lambda a, b: sad.linalg.lstsq(a, b), a, b)
    for k in range(2):
        x, _, rank, s = _numpy_lstsq(a[k], b)
        np.testing.assert_allclose(found.x[k], x, atol=1e-13)
        np.testing.assert_allclose(found.s[k], s, atol=1e-14)
        np.testing.assert_allclose(found.residuals[k], ((b - a[k] @ x) ** 2).sum(0), atol=1e-13)
        assert found.rank[k] == rank
    assert value(lambda a, b: sad.linalg.lstsq(a, b, 0.9).rank, a, b).tolist() == [1, 1]


@pytest.mark.parametrize("degree", [6, 10, 14])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_what_fits_is_met_also_by_matrices_of_bad_condition(degree: int, dtype: str) -> None:
    points = np.linspace(0, 1, 40).astype(dtype)
    a = np.vander(points, degree)
    b = a @ random(degree, dtype=dtype)
    found: Any = value(lambda a, b: sad.linalg.lstsq(a, b), a, b)
    size = np.linalg.norm(a) * np.linalg.norm(found.x)
    assert np.linalg.norm(a @ found.x - b) < 1e-14 * size
    assert found.residuals < (1e-14 * size) ** 2
    # What does not fit is no further away than by LAPACK.
    b = np.cos(5 * points)
    found = value(lambda a, b: sad.linalg.lstsq(a, b), a, b)
    apart = np.linalg.norm(a @ np.linalg.lstsq(a, b)[0] - b)
    np.testing.assert_allclose(np.linalg.norm(a @ found.x - b), apart, rtol=1e-4)
    np.testing.assert_allclose(found.residuals, apart**2, rtol=1e-4)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_conditions(p: Any, dtype: str) -> None:
    x = random(2, 3, 3, dtype=dtype)
    found = value(lambda x: sad.linalg.cond(x, p), x)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.linalg.cond(x, p), rtol=1e-12)
    check_derivatives(lambda x: sad.linalg.cond(x, p), x, h=1e-4, rtol=1e-6)


def test_conditions_of_singular_matrices() -> None:
    x = np.stack([np.diag([3.0, 0]), np.zeros((2, 2)), np.full((2, 2), np.nan)])
    np.testing.assert_array_equal(value(sad.linalg.cond, x), [np.inf, np.inf, np.nan])
    assert value(sad.linalg.cond, LOW.T[:, :2]) > 1e15
    np.testing.assert_array_equal(value(lambda x: sad.linalg.cond(x, -2), x[:1]), [0])


@pytest.mark.parametrize("p", [1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_a_singular_matrix_has_an_infinite_condition_by_any_norm(p: Any) -> None:
    regular = random(3, 3)
    x = np.stack([regular, np.diag([1.0, 0, 0]), np.ones((3, 3)), np.diag([2.0, 0, 1])])
    cond = lambda x: sad.linalg.cond(x, p)  # noqa: E731
    found = value(cond, x)
    np.testing.assert_allclose(found[0], np.linalg.cond(regular, p), rtol=1e-12)
    np.testing.assert_array_equal(found[1:], np.inf)
    slope = grad(cond, x)
    np.testing.assert_allclose(slope[0], grad(cond, regular), rtol=1e-12)
    np.testing.assert_array_equal(slope[1:], 0)


@pytest.mark.parametrize("p", [None, 1, "fro"])
def test_nothing_has_no_condition(p: Any) -> None:
    with pytest.raises(sad.ShapeError, match="without elements has no condition"):
        value(lambda x: sad.linalg.cond(x, p), np.zeros((2, 0, 0)))


@pytest.mark.parametrize("ord", [2, -2, "nuc"])
@pytest.mark.parametrize("shape", [(3, 2), (2, 4, 3), (1, 1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_by_singular_values(ord: Any, shape: tuple[int, ...], dtype: str) -> None:
    x = random(*shape, dtype=dtype)
    for keepdims in (False, True):
        found = value(lambda x: sad.linalg.matrix_norm(x, keepdims=keepdims, ord=ord), x)  # noqa: B023
        expected = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    wide = np.moveaxis(x, -1, 0)
    found = value(lambda x: sad.linalg.norm(x, ord, (-1, 0), True), wide)
    np.testing.assert_allclose(found, np.linalg.norm(wide, ord, (-1, 0), True), rtol=1e-5)
    if dtype in ("float64", "complex128"):
        check_derivatives(lambda x: sad.linalg.matrix_norm(x, ord=ord), x)


def test_norms_of_zero_are_flat_and_ties_share() -> None:
    for ord in (2, -2, "nuc"):
        zero = grad(lambda x: sad.linalg.matrix_norm(x, ord=ord), np.zeros((2, 3)))  # noqa: B023
        np.testing.assert_array_equal(zero, np.zeros((2, 3)))
    for ord in (2, -2):
        tied = grad(lambda x: sad.linalg.matrix_norm(x, ord=ord), 2 * np.eye(3))  # noqa: B023
        np.testing.assert_allclose(tied, np.eye(3) / 3, atol=1e-15)
    assert value(lambda x: sad.linalg.matrix_norm(x, ord="nuc"), np.zeros((0, 3))) == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_compute_in_single_precision(dtype: str) -> None:
    with sad.Graph() as graph:
        x = sad.constant(random(3, 2).astype(np.float16)).astype(dtype)
        b = sad.constant(random(3).astype(np.float16)).astype(dtype)
        u, s, vh = sad.linalg.svd(x, full_matrices=False)
        solution, residuals, rank, values = sad.linalg.lstsq(x, b)
        found = [
            u, s, vh, sad.linalg.svdvals(x), sad.linalg.pinv(x), solution, residuals, values,
            sad.linalg.cond(x), sad.linalg.matrix_norm(x, ord=2), *sad.linalg.qr(x),
        ]  # fmt: skip
        (dx,) = sad.gradients(sad.sum(solution), x)
    assert {t.dtype.name for t in (*found, dx)} == {dtype}
    session = sad.Session(graph)
    assert session.run(rank) == 2
    wide = session.run(x).astype(np.float32)
    np.testing.assert_array_equal(
        session.run(s), np.linalg.svd(wide, compute_uv=False).astype(session.run(s).dtype)
    )
    with sad.Graph() as graph:
        names = [
            sad.linalg.svdvals(sad.constant(wide).astype(dtype), name="a"),
            sad.linalg.pinv(sad.constant(wide).astype(dtype), name="b"),
        ]
    assert [graph[n].dtype.name for n in ("a", "b")] == [dtype] * 2 == [n.dtype.name for n in names]


# ------------------------------------------------------------------ derivatives


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 3), (2, 4, 2), (2, 5), (1, 1)])
@pytest.mark.parametrize("full", [True, False])
def test_derivatives_of_vectors(shape: tuple[int, ...], dtype: str, full: bool) -> None:
    x = random(*shape, dtype=dtype)
    m, n = shape[-2:]
    k = min(m, n)
    left, both, right = (random(*sizes, dtype=dtype, seed=2) for sizes in ((m, m), (m, n), (n, n)))

    def loss(x: Any) -> Any:
        u, s, vh = sad.linalg.svd(x, full_matrices=full)
        v = sad.conj(vh.mT)
        turned = (u[..., :k] * sad.sqrt(s).astype(u.dtype)[..., None, :]) @ vh[..., :k, :]
        total = sad.sum(sad.real(both * turned), axis=(-2, -1)) + sad.sum(s**3, axis=-1)
        for weights, w in ((left, u), (right, v)):
            for columns in (w[..., :1], w[..., k:]):
                total = total + sad.sum(sad.real(weights * onto(columns)), axis=(-2, -1))
        return total

    check_derivatives(loss, x, h=3e-4, rtol=1e-7)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_equal_singular_values(dtype: str) -> None:
    """The sum of all, and what does not tell the equal ones apart, are smooth there."""
    square = rotated([2, 2, 5], dtype) @ np.linalg.qr(random(3, 3, dtype=dtype))[0]
    tall = np.vstack([square, np.zeros((1, 3), dtype)])
    for x in (np.eye(3).astype(dtype), square, tall, np.ascontiguousarray(tall.T)):
        check_derivatives(sad.linalg.svdvals, x)
    check_derivatives(lambda x: sad.linalg.svdvals(x)[:1] ** 3, square)
    check_derivatives(lambda x: sad.linalg.svdvals(x)[1:], tall)
    weights = random(3, 3, dtype=dtype, seed=3)

    def polar(x: Any) -> Any:
        u, _, vh = sad.linalg.svd(x)
        return weights * (u @ vh)

    check_derivatives(polar, square)
    check_derivatives(polar, np.eye(3).astype(dtype))

    def part(x: Any) -> Any:
        u, _, vh = sad.linalg.svd(x, full_matrices=False)
        return weights * (u[:3, 1:] @ vh[1:])

    check_derivatives(part, square)
    check_derivatives(part, np.vstack([square, np.zeros((2, 3))]))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 3)])
def test_derivatives_are_finite_where_values_are_zero(shape: tuple[int, int], dtype: str) -> None:
    weights = random(5, 5, dtype=dtype, seed=3)
    m, n = shape
    for x in (np.zeros(shape, dtype), np.ones(shape, dtype), np.eye(*shape, dtype=dtype)):
        for full in (True, False):
            with sad.Graph() as graph:
                point = sad.placeholder(dtype, shape)
                u, s, vh = sad.linalg.svd(point, full_matrices=full)
                y = sad.sum(s) + sum(
                    sad.sum(sad.real(w * weights[: w.shape[0], : w.shape[1]])) for w in (u, vh)
                )
                (g,) = sad.gradients(y, point)
                along = sad.constant(weights[:m, :n])
                seconds = [
                    sad.gradients(g, point, [along])[0], sad.jvp(g, point, along)[0],
                    sad.jvp(sad.jvp(y, point, along)[0], point, along)[0],
                ]  # fmt: skip
                (nuclear,) = sad.gradients(sad.sum(sad.linalg.svdvals(point)), point)
            for found in sad.Session(graph).run([y, g, *seconds, nuclear], {point: x}):
                assert np.isfinite(found).all()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 3), (2, 4, 2), (1, 1)])
def test_derivatives_of_pseudo_inverses(shape: tuple[int, ...], dtype: str) -> None:
    x = random(*shape, dtype=dtype, seed=9)
    weights = random(*shape[:-2], shape[-1], shape[-2], dtype=dtype, seed=3)
    check_derivatives(lambda x: weights * sad.linalg.pinv(x), x, h=1e-4, rtol=1e-7)
    # Equal singular values do not matter.
    same = np.broadcast_to(np.eye(shape[-2], shape[-1]), shape).astype(dtype)
    check_derivatives(lambda x: weights * sad.linalg.pinv(x), same)


def test_the_derivative_of_a_pseudo_inverse_keeps_the_rank() -> None:
    """Along matrices of the same rank it is that of the pseudo-inverse."""
    left, right = random(4, 2), random(2, 3)
    weights = random(3, 4, seed=1)

    def loss(left: Any, right: Any) -> Any:
        return sad.sum(weights * sad.linalg.pinv(left @ right, rtol=1e-10))

    check_derivatives(lambda x: loss(x, right), left, h=1e-4, rtol=1e-7)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (2, 4), (3, 3)])
def test_derivatives_of_least_squares(shape: tuple[int, int], dtype: str) -> None:
    a, b = random(*shape, dtype=dtype), random(shape[0], 2, dtype=dtype, seed=1)
    weights = random(shape[1], 2, dtype=dtype, seed=3)
    check_derivatives(lambda a: weights * sad.linalg.lstsq(a, b).x, a, h=1e-4, rtol=1e-6)
    check_derivatives(lambda b: weights * sad.abs(sad.linalg.lstsq(a, b).x) ** 2, b)
    if shape[0] > shape[1]:  # Otherwise they are rounding.
        check_derivatives(lambda a: sad.linalg.lstsq(a, b).residuals, a, h=1e-4, rtol=1e-6)


@pytest.mark.parametrize("full", [True, False])
def test_sizes_that_runs_know(full: bool) -> None:
    """One graph serves tall, square and wide matrices, derivatives included."""
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("m", "n"))
        u, s, vh = sad.linalg.svd(x, full_matrices=full)
        q, r = sad.linalg.qr(x, "complete" if full else "reduced")
        inverse = sad.linalg.pinv(x)
        y = (
            sad.sum(s**2) + sad.sum(u[:, :1] ** 2 * 3) + sad.sum(vh[:1] ** 2)
            + sad.sum(inverse) + sad.sum(r**2) + sad.sum(q[:1, :1] ** 2)
        )  # fmt: skip
        (g,) = sad.gradients(y, x)
        (gg,) = sad.gradients(sad.sum(g * g), x)
    session = sad.Session(graph)
    for m, n in ((4, 2), (2, 4), (3, 3), (1, 1), (1, 3)):
        at = random(m, n)
        v = random(m, n, seed=1)
        first, second = session.run([g, gg], {x: at})
        h = 1e-5
        ahead, behind = (session.run([y, g], {x: at + k * h * v}) for k in (1, -1))
        np.testing.assert_allclose(
            np.sum(first * v), (ahead[0] - behind[0]) / (2 * h), rtol=1e-6, atol=1e-6
        )
        change = np.sum(ahead[1] ** 2) - np.sum(behind[1] ** 2)
        np.testing.assert_allclose(np.sum(second * v), change / (2 * h), rtol=1e-5, atol=1e-5)


def test_a_missing_convergence_names_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = np.linalg.svd

    def fails(x: Array, **options: Any) -> Any:
        if (x[..., 0, 0] == 7).any():
            raise np.linalg.LinAlgError("SVD did not converge")
        return usual(x, **options)

    monkeypatch.setattr(np.linalg, "svd", fails)
    x = np.ones((3, 2, 4))
    x[2] = 7
    functions: list[Any] = [sad.linalg.svd, sad.linalg.svdvals, sad.linalg.pinv]
    for function in functions:
        with sad.Graph() as graph:
            y = function(sad.placeholder("float64", (None, 2, 4), name="x"))
        with pytest.raises(sad.ExecutionError, match=r"did not converge[\s\S]*\[2\]"):
            sad.Session(graph).run(y, {"x": x})
