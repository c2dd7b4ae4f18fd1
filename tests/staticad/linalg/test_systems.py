"""Systems of equations, factors and determinants: values of SciPy and NumPy, and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import staticad as sad
from staticad_executor.interpret import interpret
from staticad_schema.types import NAMES

from ...cases.running import Array, build, value
from ..running import apply

DTYPES = ["float32", "float64", "complex64", "complex128"]
TRANS: list[Any] = [0, 1, 2, "N", "T", "C"]


def random(*shape: int, dtype: str = "float64", seed: int = 0) -> Array:
    rng = np.random.default_rng([seed, *shape])
    x: Any = rng.normal(size=shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.normal(size=shape)
    return np.asarray(x, dtype)


def regular(*shape: int, dtype: str = "float64", seed: int = 0) -> Array:
    x = random(*shape, dtype=dtype, seed=seed)
    return np.asarray(x + 3 * np.eye(shape[-1]), dtype)


def positive(*shape: int, dtype: str = "float64") -> Array:
    x = random(*shape, dtype=dtype)
    return np.asarray(x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1]), dtype)


def close(found: Array, expected: Array, dtype: str) -> None:
    assert (found.dtype, found.shape) == (np.dtype(dtype), expected.shape)
    single = dtype in ("float32", "complex64")
    np.testing.assert_allclose(found, expected, rtol=2e-4 if single else 1e-11, atol=1e-5 if single
                               else 1e-12)  # fmt: skip


# ------------------------------------------------------------------ values

STACKS = [
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((4, 3, 3), (3,)),
    ((4, 3, 3), (4, 3, 2)),
    ((4, 3, 3), (3, 2)),
    ((3, 3), (4, 3, 2)),
    ((2, 1, 3, 3), (4, 3, 2)),
    ((50, 3, 3), (50, 3, 1)),
    ((40, 40), (40, 40)),
    ((1, 1), (1,)),
    ((0, 0), (0, 2)),
    ((0, 3, 3), (3,)),
    ((2, 3, 3), (2, 3, 0)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b"), STACKS)
def test_solve(a: tuple[int, ...], b: tuple[int, ...], dtype: str) -> None:
    x, y = regular(*a, dtype=dtype), random(*b, dtype=dtype)
    expected = np.linalg.solve(x, y)
    close(value(sad.linalg.solve, x, y), expected, dtype)
    close(apply(sad.linalg.solve, x, y, symbolic=True), expected, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 5, 30])
@pytest.mark.parametrize("stack", [(), (3,), (2, 1), (40,), (0,)])
def test_inverses_and_determinants(stack: tuple[int, ...], size: int, dtype: str) -> None:
    x = regular(*stack, size, size, dtype=dtype)
    close(value(sad.linalg.inv, x), np.linalg.inv(x), dtype)
    close(value(sad.linalg.det, x), np.linalg.det(x), dtype)
    sign, logarithm = value(sad.linalg.slogdet, x)
    right = np.linalg.slogdet(x)
    close(sign, right[0], dtype)
    close(logarithm, right[1], np.empty(0, dtype).real.dtype.name)
    hermitian = positive(*stack, size, size, dtype=dtype)
    close(value(sad.linalg.cholesky, hermitian), np.linalg.cholesky(hermitian), dtype)
    upper = value(lambda x: sad.linalg.cholesky(x, upper=True), hermitian)
    close(upper, np.conj(np.swapaxes(np.linalg.cholesky(hermitian), -1, -2)), dtype)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("trans", TRANS)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_solve_triangular(trans: Any, lower: bool, unit: bool, dtype: str) -> None:
    a = regular(3, 3, dtype=dtype)
    for b in (random(3, dtype=dtype), random(3, 2, dtype=dtype)):
        found = value(lambda a, b: sad.linalg.solve_triangular(a, b, trans, lower, unit), a, b)
        close(found, linalg.solve_triangular(a, b, trans, lower, unit), dtype)
    # From the right:  x op(a) = b.
    part = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(part, 1)
    matrix = {0: part, 1: part.T, 2: part.conj().T}["NTC".index(trans) if trans in ("N", "T", "C")
                                                   else trans]  # fmt: skip

    def from_right(a: Any, b: Any) -> Any:
        return sad.linalg.solve_triangular(a, b, trans, lower, unit, left=False)

    for b in (random(3, dtype=dtype), random(2, 3, dtype=dtype), random(4, 2, 3, dtype=dtype)):
        x = value(from_right, a, b)
        np.testing.assert_allclose(x @ matrix, b, rtol=1e-12, atol=1e-13)


def test_the_other_triangle_is_not_read() -> None:
    a = np.array([[2.0, np.nan], [1.0, 4.0]])
    found = value(lambda a: sad.linalg.solve_triangular(a, [2.0, 9.0], lower=True), a)
    np.testing.assert_array_equal(found, [1, 2])
    graph, (x,), y = build(
        lambda a: sad.linalg.solve_triangular(a, [2.0, 9.0], lower=True), (a,), "float64"
    )
    (slope,) = sad.gradients(sad.sum(y), x)
    with sad.Session(graph) as session:
        slope = session.run(slope, {x: a})
    assert slope[0, 1] == 0
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_factors_solve(lower: bool, dtype: str) -> None:
    for stack in ((), (3,), (40,)):
        a = positive(*stack, 3, 3, dtype=dtype)
        for b in (random(3, dtype=dtype), random(*stack, 3, 2, dtype=dtype)):
            found = value(
                lambda a, b: sad.linalg.cho_solve(sad.linalg.cho_factor(a, lower), b), a, b
            )
            close(found, np.linalg.solve(a, b), dtype)
    factor = sad.Graph().placeholder(dtype, (3, 3))
    assert sad.linalg.cho_factor(factor, lower).lower is lower


LU_STACKS = [*STACKS, ((2, 1, 3, 3), (1, 4, 3, 2)), ((3, 3), (2, 2, 3, 1))]


@pytest.mark.parametrize("trans", TRANS)
@pytest.mark.parametrize(("a", "b"), LU_STACKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_lu_factors_solve(a: tuple[int, ...], b: tuple[int, ...], dtype: str, trans: Any) -> None:
    x, y = regular(*a, dtype=dtype), random(*b, dtype=dtype)
    x[..., ::-1, :] = x.copy()
    lu, permutation, found = value(
        lambda x, y: (*(f := sad.linalg.lu_factor(x)), sad.linalg.lu_solve(f, y, trans)), x, y
    )
    lower = np.tril(lu, -1) + np.eye(a[-1], dtype=dtype)
    close(lower @ np.triu(lu), np.take_along_axis(x, permutation[..., None], -2), dtype)
    matrix = x if trans in (0, "N") else np.swapaxes(x, -1, -2)
    matrix = np.conj(matrix) if trans in (2, "C") else matrix
    right = y[:, None] if y.ndim == 1 else y
    expected = np.linalg.solve(matrix, right)
    close(found, expected[..., 0] if y.ndim == 1 else expected, dtype)


def test_lu_factors_are_those_of_scipy() -> None:
    x = random(5, 5)
    lu, swaps = linalg.lu_factor(x)
    order = list(range(5))
    for i, j in enumerate(swaps):
        order[i], order[j] = order[j], order[i]
    found: Any = value(sad.linalg.lu_factor, x)
    np.testing.assert_allclose(found.lu, lu, rtol=1e-13)
    assert found.permutation.tolist() == order


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 3), (40, 3, 4), (0, 3), (3, 0),
                                   (1, 1), (0, 2, 2), (40, 40)])  # fmt: skip
def test_lu(shape: tuple[int, ...], dtype: str) -> None:
    a = random(*shape, dtype=dtype)
    tolerance = 1e-5 if dtype in ("float32", "complex64") else 1e-13
    p, lower, upper = value(sad.linalg.lu, a)
    assert p.dtype == lower.dtype == upper.dtype == a.dtype
    if a.size:
        for found, right in zip((p, lower, upper), linalg.lu(a), strict=True):
            assert found.shape == right.shape
            np.testing.assert_allclose(found, right, atol=tolerance * 10)
    np.testing.assert_allclose(p @ lower @ upper, a, atol=tolerance)
    joined, again = value(lambda a: sad.linalg.lu(a, permute_l=True), a)
    np.testing.assert_array_equal(joined, p @ lower)
    np.testing.assert_array_equal(again, upper)
    indices, lower, upper = value(lambda a: sad.linalg.lu(a, p_indices=True), a)
    assert indices.dtype == np.int64
    rows = np.take_along_axis(lower, indices[..., None], -2)
    np.testing.assert_array_equal(rows, joined)


def test_structured_matrices() -> None:
    for columns, rows in (((3,), (4,)), ((1,), (1,)), ((3,), (1,)), ((1,), (3,))):
        c, r = random(*columns, dtype="complex128"), random(*rows, dtype="complex128", seed=1)
        found = value(sad.linalg.toeplitz, c, r)
        np.testing.assert_array_equal(found, linalg.toeplitz(c, r))
        np.testing.assert_array_equal(apply(sad.linalg.toeplitz, c, r, symbolic=True), found)
        np.testing.assert_array_equal(value(sad.linalg.toeplitz, c), linalg.toeplitz(c))
    stack = value(sad.linalg.toeplitz, random(2, 3), random(4))
    np.testing.assert_array_equal(stack[1], linalg.toeplitz(random(2, 3)[1], random(4)))
    blocks = [random(2, 3), random(3), random(0, 2), np.array(2.0), random(1, 1)]
    found = value(sad.linalg.block_diag, *blocks)
    np.testing.assert_array_equal(found, linalg.block_diag(*blocks))
    np.testing.assert_array_equal(apply(sad.linalg.block_diag, *blocks, symbolic=True), found)
    stacks = value(sad.linalg.block_diag, random(4, 2, 2), random(3, 1))
    assert stacks.shape == (4, 5, 3)
    np.testing.assert_array_equal(stacks[2], linalg.block_diag(random(4, 2, 2)[2], random(3, 1)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_compute_in_float32(dtype: str) -> None:
    a, b = positive(3, 3).astype(NAMES[dtype]), random(3, 2).astype(NAMES[dtype])
    wide = a.astype(np.float32)
    for function in (sad.linalg.inv, sad.linalg.det, sad.linalg.cholesky):
        found = value(function, a)
        assert found.dtype == a.dtype
        np.testing.assert_array_equal(found, value(function, wide).astype(a.dtype))
    right = value(sad.linalg.solve, wide, b.astype(np.float32)).astype(a.dtype)
    np.testing.assert_array_equal(value(sad.linalg.solve, a, b), right)


def test_integers_count_as_float32() -> None:
    found = value(sad.linalg.solve, np.array([[2, 1], [1, 3]]), np.array([3, 5]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [0.8, 1.4], rtol=1e-6)
    assert value(sad.linalg.det, np.eye(3, dtype=bool)) == 1


def test_values_that_are_not_finite_stay_so() -> None:
    a = np.array([[1.0, np.nan], [0.0, 2.0]])
    assert np.isnan(value(sad.linalg.det, a))
    assert np.isnan(value(sad.linalg.inv, a)).any()
    assert np.isnan(value(sad.linalg.slogdet, a)[1])


# ------------------------------------------------------------------ derivatives

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "solve": (sad.linalg.solve, ((3, 3), (3, 2))),
    "solve a vector": (sad.linalg.solve, ((2, 3, 3), (3,))),
    "solve stacks": (sad.linalg.solve, ((2, 1, 3, 3), (4, 3, 1))),
    "inv": (sad.linalg.inv, ((2, 3, 3),)),
    "det": (sad.linalg.det, ((2, 3, 3),)),
    "slogdet": (lambda a: sad.linalg.slogdet(a).logabsdet, ((2, 3, 3),)),
    "phase": (lambda a: sad.linalg.slogdet(a).sign * sad.sum(a), ((2, 3, 3),)),
    "cholesky": (lambda a: sad.linalg.cholesky(gram(a)), ((2, 3, 3),)),
    "upper": (lambda a: sad.linalg.cholesky(gram(a), upper=True), ((3, 3),)),
    "cho_solve": (
        lambda a, b: sad.linalg.cho_solve(sad.linalg.cho_factor(gram(a)), b),
        ((3, 3), (3, 2)),
    ),
    "cho_solve lower": (
        lambda a, b: sad.linalg.cho_solve(sad.linalg.cho_factor(gram(a), lower=True), b),
        ((3, 3), (3, 2)),
    ),
    **{
        f"lu_solve {trans}": (
            lambda a, b, trans=trans: sad.linalg.lu_solve(sad.linalg.lu_factor(a), b, trans),
            ((2, 3, 3), (3, 2)),
        )
        for trans in "NTC"
    },
    **{
        f"solve_triangular {trans} {left}": (
            lambda a, b, trans=trans, left=left: sad.linalg.solve_triangular(
                a, b, trans, left=left
            ),
            ((2, 3, 3), (3, 3)),
        )
        for trans in "NTC"
        for left in (False, True)
    },
    "solve_triangular unit": (
        lambda a, b: sad.linalg.solve_triangular(a, b, lower=True, unit_diagonal=True),
        ((3, 3), (3,)),
    ),
    **{
        f"lu {shape}": (
            lambda a: sad.concat([sad.ravel(x) for x in sad.linalg.lu(a)[1:]]),
            (shape,),
        )
        for shape in ((3, 3), (2, 5, 3), (3, 5))
    },
    "toeplitz": (sad.linalg.toeplitz, ((2, 3), (4,))),
    "hermitian toeplitz": (sad.linalg.toeplitz, ((3,),)),
    "block_diag": (sad.linalg.block_diag, ((2, 2), (3,), (4, 1, 2))),
}


def gram(a: Any) -> Any:
    return a @ sad.conj(a.mT) + 0.5 * np.eye(a.shape[-1])


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_differences(name: str, dtype: str, symbolic: bool) -> None:
    function, shapes = FUNCTIONS[name]
    arrays = [random(*s, dtype=dtype, seed=k) for k, s in enumerate(shapes)]
    if arrays[0].ndim > 1:
        # Far from singular matrices, of which differences of fourth order tell little.
        arrays[0] = 0.4 * arrays[0] + 2 * np.eye(*arrays[0].shape[-2:])
    with sad.Graph():
        xs = [
            sad.placeholder(dtype, tuple(f"n{k}{i}" if symbolic and i < len(s) - 2 else n
                                         for i, n in enumerate(s)))
            for k, s in enumerate(shapes)
        ]  # fmt: skip
        y = function(*xs)
        y = y * y
    sad.testing.check_gradients(y, xs, dict(zip(xs, arrays, strict=True)), order=2, step=2e-4)


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5)])
def test_lu_of_unknown_shape(shape: tuple[int, int]) -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("m", "n"))
        _, lower, upper = sad.linalg.lu(x)
        y = sad.sum(lower**3) + sad.sum(upper**3)
    sad.testing.check_gradients(y, x, {x: regular(5, 5)[: shape[0], : shape[1]]}, order=2)


def test_lu_of_a_last_pivot_of_zero() -> None:
    singular = np.array([[1.0, 2.0, 5.0], [4.0, 1.0, 2.0], [6.0, 5.0, 12.0]])
    for shape in ((3, 3), (2, 3)):
        a = singular if shape == (3, 3) else np.array([[1.0, 2.0, 4.0], [3.0, 6.0, 5.0]])
        with sad.Graph():
            x = sad.placeholder("float64", shape)
            _, lower, upper = sad.linalg.lu(x)
            y = sad.sum(lower**3) + sad.sum(upper**3)
        sad.testing.check_gradients(y, x, {x: a}, order=2)


# ------------------------------------------------------------------ factors are shared


def test_a_matrix_is_factorised_once() -> None:
    with sad.Graph() as graph:
        a = sad.placeholder("float64", (5, 5), name="a")
        b = sad.placeholder("float64", (5,), name="b")
        x = sad.linalg.solve(a, b)
        loss = sad.sum(x * x) + sad.linalg.slogdet(a).logabsdet
        da, db = sad.gradients(loss, [a, b])
        (second,) = sad.gradients(sad.sum(da * da), a)
    with sad.Session(graph) as session:
        text = str(session.explain([loss, da, db, second]))
    assert sum(line.split()[:1] == ["lu"] or " lu " in line for line in text.splitlines()) == 1


def test_plans_and_interpretation_agree() -> None:
    a, b = regular(4, 3, 3), random(3)
    with sad.Graph() as graph:
        x, y = sad.placeholder("float64", a.shape), sad.placeholder("float64", b.shape)
        z = sad.linalg.solve(x, y)
        fetches = [z, *sad.gradients(sad.sum(z * z), [x, y]), sad.linalg.det(x)]
    with sad.Session(graph) as session:
        found = session.run(fetches, {x: a, y: b})
    feeds = {x.id: a, y.id: b}
    for one, other in zip(
        found, interpret(graph, [f.id for f in fetches], (), feeds, {}, 0).values, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-14)
