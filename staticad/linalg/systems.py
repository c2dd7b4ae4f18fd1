"""Systems of linear equations, of any regular matrix, a triangle, or factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from staticad_schema.errors import DTypeError, UsageError
from staticad_schema.ops.checks import check_equal_shapes
from staticad_schema.ops.lu import rows_in_order
from staticad_schema.ops.matrices import at_or_below, check_matrix, check_square, identity_like
from staticad_schema.ops.pointwise import conjugated
from staticad_schema.ops.triangular import system
from staticad_schema.sites import asking
from staticad_schema.types import INTEGER, WIDENED, DType

from .. import methods
from ..building import build, part, renamed
from ..operands import Operand, result, tensor
from ..options import choice, flag
from ..tensor import Tensor
from .precision import precise, precise_pair, rounded

Transposition = Literal[0, 1, 2, "N", "T", "C"]
TRANSPOSITIONS = (0, 1, 2, "N", "T", "C")


def solve(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """x in a @ x = b, of each square matrix of a stack.

    a: [..., n, n].  b: a vector [n], or matrices [..., n, k], whose columns are solved for one by
    one; stacks broadcast.  Integers count as float32, half floats compute in it.  A plan factorises
    a matrix once, for all that is solved with it, derivatives included.

    Raises ShapeError for a matrix that is not square or b of other rows; the run raises
    ExecutionError for a singular matrix, and says which one of the stack.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.linalg.solve([[3.0, 1.0], [1.0, 2.0]], [9.0, 8.0])
    >>> sad.Session(graph).run(x)
    array([2., 3.], dtype=float32)
    """
    with asking("solve", name):
        matrix, right, dtype = precise_pair("solve", a, b)
        return _solved(matrix, right, lambda x, label: _regular(matrix, x, label), dtype, name)


def inv(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The inverse of each square matrix of a stack.

    To solve equations `solve` is faster, and loses fewer digits.  Raises ShapeError for a matrix
    that is not square; the run raises ExecutionError for a singular one.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.inv([[2.0, 0.0], [0.0, 4.0]])
    >>> sad.Session(graph).run(y)
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    with asking("inv", name):
        matrix, dtype = precise("inv", x)
        check_square(matrix.type)
        unit = identity_like(matrix)
        return _finished(lambda label: _regular(matrix, unit, label), dtype, name)


def _regular(a: Any, b: Any, name: str | None) -> Any:
    return build("solve", (a, b), {"adjoint": False, "strict": True}, label=name)


def _finished(make: Callable[[str | None], Any], dtype: DType, name: str | None) -> Tensor:
    """What `make` builds under a name, in the dtype of the result."""
    if dtype in WIDENED:
        return rounded(make(part(name, "precise")), dtype, name)
    return result(make(name))


def _solved(a: Any, b: Any, solution: Callable[..., Any], dtype: DType, name: str | None) -> Tensor:
    """The solution for a matrix b, or for a vector as one."""
    if b.type.ndim != 1:
        return _finished(lambda label: solution(b, label), dtype, name)
    check_matrix(a.type, "the matrix")
    column = solution(methods.reshape(b, (*b.type.shape, 1)), part(name, "column"))
    shape = column.type.shape[:-1]
    return _finished(lambda label: methods.reshape(column, shape, label), dtype, name)


def solve_triangular(
    a: Operand,
    b: Operand,
    trans: Transposition = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    *,
    left: bool = True,
    name: str | None = None,
) -> Tensor:
    """x in a @ x = b, of triangular matrices, as `scipy.linalg.solve_triangular`.

    a: [..., n, n], of which the upper triangle (`lower`: the lower one) is read, and if
    `unit_diagonal` its diagonal counts as ones.  b: a vector [n], or matrices [..., n, k].
    trans: 0 or "N" solves a @ x = b, 1 or "T" with the transpose of a, 2 or "C" with its conjugate
    transpose.  left=False solves x @ a = b instead, of b [..., k, n].

    Raises ShapeError for shapes that do not fit; the run raises ExecutionError for a 0 on the
    diagonal.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.linalg.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0], lower=True)
    >>> sad.Session(graph).run(x)
    array([1., 2.], dtype=float32)
    """
    with asking("solve_triangular", name):
        matrix, right, dtype = precise_pair("solve_triangular", a, b)
        how = choice("trans", trans, TRANSPOSITIONS)
        below, unit = flag("lower", lower), flag("unit_diagonal", unit_diagonal)
        transposed, conjugate = how in (1, 2, "T", "C"), how in (2, "C")
        from_left = flag("left", left)
        if not from_left:
            transposed = not transposed

        def solution(x: Any, label: str | None) -> Any:
            return _triangular(matrix, x, below, unit, transposed, conjugate, label)

        if from_left or right.type.ndim == 1:
            return _solved(matrix, right, solution, dtype, name)
        check_matrix(right.type, "the right-hand side")
        rows = solution(methods.matrix_transpose(right), part(name, "rows"))
        return _finished(lambda label: methods.matrix_transpose(rows, label), dtype, name)


def _triangular(
    a: Any,
    b: Any,
    lower: bool,
    unit: bool,
    transposed: bool,
    conjugate: bool,
    name: str | None = None,
) -> Any:
    if transposed != conjugate:
        a = conjugated(a)
    how = {"lower": lower, "adjoint": transposed, "unit_diagonal": unit, "strict": True}
    return build("solve_triangular", (a, b), how, label=name)


class LUFactor(NamedTuple):
    """What `lu_factor` finds: two triangles in one matrix, and the order of the rows."""

    lu: Tensor
    permutation: Tensor


def lu_factor(a: Operand, *, name: str | None = None) -> LUFactor:
    """(lu, permutation) of each square matrix of a stack: what `lu_solve` is given.

    a: [..., n, n].  lu [..., n, n] has u on and above its diagonal, below it l, whose diagonal of
    ones is left out; permutation [..., n] are int64 indices: a[permutation] = l @ u.  As
    `scipy.linalg.lu_factor`, which has swaps of rows in place of the permutation.

    Raises ShapeError for a matrix that is not square.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     factor = sad.linalg.lu_factor([[1.0, 2.0], [2.0, 8.0]])
    ...     x = sad.linalg.lu_solve(factor, [5.0, 18.0])
    >>> sad.Session(graph).run([factor.lu, x])
    [array([[ 2. ,  8. ],
           [ 0.5, -2. ]], dtype=float32), array([1., 2.], dtype=float32)]
    """
    with asking("lu_factor", name):
        matrix, dtype = precise("lu_factor", a)
        check_square(matrix.type)
        lower, upper, permutation, _ = build("lu", (matrix,))
        packed = build("where", (at_or_below(lower, -1), lower, upper))
        return LUFactor(rounded(packed, dtype, name), result(permutation))


def lu_solve(
    lu_and_permutation: tuple[Operand, Operand],
    b: Operand,
    trans: Transposition = 0,
    *,
    name: str | None = None,
) -> Tensor:
    """x in a @ x = b, given the factors of a: what `lu_factor` returns.

    b: a vector [n], or matrices [..., n, k]; stacks broadcast.  trans: 0 or "N" solves a @ x = b,
    1 or "T" with the transpose of a, 2 or "C" with its conjugate transpose.

    Raises ShapeError for shapes that do not fit; the run raises ExecutionError for a singular
    matrix.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     factor = sad.linalg.lu_factor(sad.constant([[1.0, 2.0], [2.0, 8.0]]))
    ...     x = sad.linalg.lu_solve(factor, [5.0, 18.0], "T")
    >>> sad.Session(graph).run(x)
    array([1., 2.], dtype=float32)
    """
    with asking("lu_solve", name):
        given: Any = lu_and_permutation
        if not isinstance(given, tuple) or len(given) != 2:
            raise UsageError(
                "not the factors of a matrix",
                expected="a pair: the factors, and the permutation of the rows",
                found=f"{given!r:.80}, a {type(given).__name__}",
                hint="lu_solve(lu_factor(a), b)",
            )
        factors, right, dtype = precise_pair("lu_solve", given[0], b)
        permutation: Any = tensor("lu_solve", given[1], factors.graph)
        if permutation.type.kind not in INTEGER:
            raise DTypeError("no permutation", expected="integers", found=permutation.describe())
        size = check_square(factors.type, "the factors")
        check_equal_shapes(
            permutation.type.shape, (*factors.type.shape[:-2], size), "the permutation"
        )
        how = choice("trans", trans, TRANSPOSITIONS)
        transposed, conjugate = how in (1, 2, "T", "C"), how in (2, "C")

        def triangle(x: Any, lower: bool, label: str | None = None) -> Any:
            return _triangular(factors, x, lower, lower, transposed, conjugate, label)

        def solution(x: Any, label: str | None) -> Any:
            system(factors.type, x.type)
            if transposed:
                mixed = triangle(triangle(x, False, part(label, "upper")), True)
                return renamed(rows_in_order(mixed, permutation, back=True), label)
            return triangle(triangle(rows_in_order(x, permutation), True), False, label)

        return _solved(factors, right, solution, dtype, name)


class CholeskyFactor(NamedTuple):
    """A triangular factor, and whether it is a lower one: what `cho_factor` finds."""

    factor: Tensor
    lower: bool


def cho_factor(a: Operand, lower: bool = False, *, name: str | None = None) -> CholeskyFactor:
    """The Cholesky factor of a, and `lower`: what `cho_solve` is given.

    As `scipy.linalg.cho_factor`, but the other triangle of the factor is 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     factor = sad.linalg.cho_factor([[4.0, 2.0], [2.0, 5.0]], lower=True)
    ...     x = sad.linalg.cho_solve(factor, [8.0, 12.0])
    >>> sad.Session(graph).run([factor.factor, x])
    [array([[2., 0.],
           [1., 2.]], dtype=float32), array([1., 2.], dtype=float32)]
    """
    with asking("cho_factor", name):
        below = flag("lower", lower)
        return CholeskyFactor(cholesky_factor("cho_factor", a, below, name), below)


def cholesky_factor(asked: str, x: Operand, lower: bool, name: str | None) -> Tensor:
    """The lower triangular factor, or its conjugate transpose."""
    a, dtype = precise(asked, x)
    check_square(a.type)
    if lower:
        return _finished(lambda label: build("cholesky", (a,), label=label), dtype, name)
    factor = build("cholesky", (a,), label=part(name, "lower"))
    upper = conjugated(methods.matrix_transpose(factor))
    return _finished(lambda label: renamed(upper, label), dtype, name)


def cho_solve(c_and_lower: tuple[Operand, bool], b: Operand, *, name: str | None = None) -> Tensor:
    """x in a @ x = b, given the Cholesky factor of a: what `cho_factor` returns.

    c_and_lower: a triangular factor c [..., n, n], and whether it is a lower one, with a =
    c @ conj(c.mT), or an upper one, with a = conj(c.mT) @ c.  b: a vector [n], or [..., n, k].

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     c = sad.linalg.cholesky(sad.constant([[4.0, 2.0], [2.0, 5.0]]))
    ...     x = sad.linalg.cho_solve((c, True), [8.0, 12.0])
    >>> sad.Session(graph).run(x)
    array([1., 2.], dtype=float32)
    """
    with asking("cho_solve", name):
        given: Any = c_and_lower
        if not isinstance(given, tuple) or len(given) != 2:
            raise UsageError(
                "not a Cholesky factor",
                expected="a pair: the factor, and whether it is a lower one",
                found=f"{given!r:.80}, a {type(given).__name__}",
                hint="cho_solve((factor, True), b)",
            )
        factor, right, dtype = precise_pair("cho_solve", given[0], b)
        below = flag("lower", given[1])

        def solution(x: Any, label: str | None) -> Any:
            system(factor.type, x.type)
            # First by the lower factor, which may be the adjoint of the given one.
            half = _triangular(factor, x, below, False, not below, not below, part(label, "half"))
            return _triangular(factor, half, below, False, below, below, label)

        return _solved(factor, right, solution, dtype, name)
