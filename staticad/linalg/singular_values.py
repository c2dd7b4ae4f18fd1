"""Singular values and vectors; inverses, ranks and conditions by means of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from staticad_schema.dims import Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.ops.checks import agree, check_broadcast
from staticad_schema.ops.matrices import check_matrix, check_square, identity_like
from staticad_schema.ops.spectral import as_column
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.sites import asking
from staticad_schema.types import INT64, REAL_OF, DType

from .. import methods
from ..building import build, part, renamed
from ..numbers import is_real
from ..operands import Operand, result, tensor, tensors
from ..options import flag
from ..tensor import Tensor
from .norms import largest, matrix_norm
from .precision import applied, precise, rounded


class SVD(NamedTuple):
    """Orthonormal columns, values in descending order, orthonormal rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def svd(x: Operand, /, full_matrices: bool = True, *, name: str | None = None) -> SVD:
    """(U, S, Vh) with x = U * S @ Vh, of each matrix of a stack, as `numpy.linalg.svd`.

    x: [..., m, n], and k the smaller one of m and n.  S [..., k] is real and descends.  U [..., m,
    m] has orthonormal columns, Vh [..., n, n] orthonormal rows; full_matrices=False leaves the
    first k of them.  Integers count as float32, half floats compute in it; matrices that are not
    finite have NaN.

    The sign of a pair of vectors, of complex ones the phase, is LAPACK's, and so is the basis of
    what full_matrices adds: what is computed from vectors should not depend on it.  Terms of
    derivatives that divide by the difference of equal values, or by a value of 0, count as 0.  So
    second derivatives of sum(f(S)) lack what equal values do to each other, and those of vectors
    what several values of 0 do.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     U, S, Vh = sad.linalg.svd(sad.constant([[0.0, 2.0], [3.0, 0.0]]))
    >>> sad.Session(graph).run([S, sad.abs(U)])
    [array([3., 2.], dtype=float32), array([[0., 1.],
           [1., 0.]], dtype=float32)]
    """
    with asking("svd", name):
        matrix, dtype = precise("svd", x)
        full = {"full": flag("full_matrices", full_matrices)}
        u, s, vh = build("svd", (matrix,), full, label=name)
        return SVD(*(rounded(y, dtype) for y in (u, s, vh)))


def svdvals(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The singular values of matrices, real and descending; see `svd`.

    The gradient is right at equal values too, where what is computed does not tell them apart.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.svdvals([[0.0, 2.0], [-3.0, 0.0]])
    >>> sad.Session(graph).run(y)
    array([3., 2.], dtype=float32)
    """
    with asking("svdvals", name):
        matrix, dtype = precise("svdvals", x)
        return applied("svdvals", matrix, {}, dtype, name)


# ------------------------------------------------------------------ what counts as 0


def _real(dtype: DType) -> DType:
    return REAL_OF.get(dtype, dtype)


def _default(x: Any) -> Any:
    """eps times the larger size of a matrix, a scalar of the graph."""
    dtype = _real(x.type.dtype)
    eps = float(np.finfo(dtype).eps)
    m, n = x.type.shape[-2:]
    if isinstance(m, int) and isinstance(n, int):
        return x.graph.constant(np.array(max(m, n) * eps, dtype))
    sizes = [build("size_of", (x,), {"axis": (x.type.ndim - k,), "dtype": dtype}) for k in (1, 2)]
    return build("multiply", (build("maximum", tuple(sizes)), eps))


def _tolerance(name: str, value: Operand | None, x: Any) -> Any:
    """A real number for each matrix, in the precision of x: of rank 0, or of that of the stack."""
    if value is None:
        return _default(x)
    given: Any = tensor(name, value, x.graph)
    if given.type.kind == "complex" or given.type.kind == "bool":
        raise DTypeError(f"{name} is not real", expected="real numbers", found=given.describe())
    check_broadcast(given.type.shape, x.type.shape[:-2])
    return given.astype(_real(x.type.dtype))


def _rank(values: Any, border: Any) -> Any:
    """How many singular values are above the border of their matrix."""
    column = methods.reshape(border, (*border.type.shape, 1))
    above = build("greater", (values, column)).astype(INT64)
    return build("sum", (above,), {"axis": (values.type.ndim - 1,), "keepdims": False})


def _border(rtol: Any, values: Any) -> Any:
    """rtol times the largest singular value of each matrix."""
    return build("multiply", (rtol, largest(values, (values.type.ndim - 1,))))


def matrix_rank(
    x: Operand,
    /,
    tol: Operand | None = None,
    *,
    rtol: Operand | None = None,
    name: str | None = None,
) -> Tensor:
    """How many singular values of each matrix of a stack count as not 0: int64.

    x: [..., m, n].  They count if they are above tol, or above rtol times the largest one; by
    default rtol is eps times the larger one of m and n.  tol and rtol are a number, or one for each
    matrix.  Raises ArgumentError if both are given.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    >>> sad.Session(graph).run(y)
    array(1)
    """
    with asking("matrix_rank", name):
        if tol is not None and rtol is not None:
            raise ArgumentError("tol and rtol", expected="one of them", found="both")
        matrix, _ = precise("matrix_rank", x)
        check_matrix(matrix.type)
        values = build("svdvals", (matrix,))
        if tol is not None:
            border = _tolerance("tol", tol, matrix)
        else:
            border = _border(_tolerance("rtol", rtol, matrix), values)
        return result(renamed(_rank(values, border), name))


# ------------------------------------------------------------------ inverses


def pinv(x: Operand, /, *, rtol: Operand | None = None, name: str | None = None) -> Tensor:
    """The Moore-Penrose inverse of each matrix of a stack.

    x: [..., m, n]; the result is [..., n, m].  Singular values that are at most rtol times the
    largest one count as 0; by default rtol is eps times the larger one of m and n.  It is a number,
    or one for each matrix.  Integers count as float32, half floats compute in it.

    Derivatives are those of matrices that keep their rank; equal singular values do not matter.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    >>> sad.Session(graph).run(y)
    array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    with asking("pinv", name):
        matrix, dtype = precise("pinv", x)
        check_matrix(matrix.type)
        inverse = _pinv(matrix, _tolerance("rtol", rtol, matrix), part(name, "precise"))
        return result(renamed(rounded(inverse, dtype), name))


def _pinv(x: Any, rtol: Any, name: str | None) -> Any:
    return build("pinv", (x, as_column(as_column(rtol))), label=name)


class LeastSquares(NamedTuple):
    """What `lstsq` gives: the solution, sums of squares, rank and singular values."""

    x: Tensor
    residuals: Tensor
    rank: Tensor
    s: Tensor


def lstsq(
    a: Operand, b: Operand, rcond: Operand | None = None, *, name: str | None = None
) -> LeastSquares:
    """The x for which the squares of b - a @ x have the least sum, as `numpy.linalg.lstsq`.

    a: matrices [..., m, n].  b: a vector [m], or matrices [..., m, k], whose columns are solved for
    one by one; stacks broadcast.  x: [n] or [..., n, k], where several fit the shortest.
    residuals: the sums of squares, of the shape of b without its axis m; also where NumPy leaves
    them out, because the matrix has no full rank or more columns than rows.  rank: int64 [...].
    s: the singular values of a.  rcond: those at most rcond times the largest one count as 0; by
    default eps times the larger one of m and n.

    Derivatives are those of matrices that keep their rank.  Raises ShapeError where the rows of a
    and b differ.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.constant([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    ...     x, residuals, rank, s = sad.linalg.lstsq(a, [1.0, 3.0, 5.0])
    >>> sad.Session(graph).run([sad.round(x, 3), rank])
    [array([1., 2.], dtype=float32), array(2)]
    """
    with asking("lstsq", name):
        left, right = tensors("lstsq", a, b)
        matrix, dtype = precise("lstsq", left)
        target, _ = precise("lstsq", right)
        check_matrix(matrix.type, "the matrix")
        vector = target.type.ndim == 1
        if vector:
            target = methods.reshape(target, (*target.type.shape, 1))
        check_matrix(target.type, "the right-hand side")
        agree(matrix.type.shape[-2], target.type.shape[-2], "the rows of a and b")
        broadcast_shapes((matrix.type.shape[:-2], target.type.shape[:-2]))
        rtol = _tolerance("rcond", rcond, matrix)
        values = build("svdvals", (matrix,))
        rank = _rank(values, _border(rtol, values))
        inverse = _pinv(matrix, rtol, part(name, "inverse"))
        solution = build("matmul", (inverse, target), label=part(name, "solution"))
        # Errors of the inverse are as large across the singular vectors of the smallest values as
        # along them, where alone they leave a @ x as it is.  What corrects them has no derivative:
        # inverse @ (b - a @ inverse @ b) is 0.
        missed = build("subtract", (target, build("matmul", (matrix, solution))))
        correction = build("stop_gradient", (build("matmul", (inverse, missed)),))
        solution = build("add", (solution, correction))
        missed = build("subtract", (target, build("matmul", (matrix, solution))))
        size = build("square", (build("abs", (missed,)),))
        axis = (size.type.ndim - 2,)
        residuals = build("sum", (size,), {"axis": axis, "keepdims": False})
        if vector:
            solution = methods.reshape(solution, solution.type.shape[:-1])
            residuals = methods.reshape(residuals, residuals.type.shape[:-1])
        solved = renamed(rounded(solution, dtype), name)
        return LeastSquares(
            result(solved), rounded(residuals, dtype), result(rank), rounded(values, dtype)
        )


# ------------------------------------------------------------------ conditions


def cond(x: Operand, /, p: Any = None, *, name: str | None = None) -> Tensor:
    """The condition of each matrix of a stack: how many times larger relative errors become.

    x: [..., m, n].  p: None or 2, the largest over the smallest singular value, -2 its inverse; or
    an order of `matrix_norm`, the norm of x times that of its inverse, of square matrices.
    Integers count as float32, half floats compute in it.  A singular matrix has inf (-2: 0), with
    gradient 0.  Raises ShapeError for a matrix without elements.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.cond([[4.0, 0.0], [0.0, 0.5]])
    >>> sad.Session(graph).run(y)
    array(8., dtype=float32)
    """
    with asking("cond", name):
        matrix, dtype = precise("cond", x)
        if p is None or (is_real(p) and p in (2, -2)):
            found = _ratio(matrix, p == -2)
        else:
            size = check_square(matrix.type)
            if p != "fro" and p != "nuc" and not (is_real(p) and p in (1, -1, np.inf, -np.inf)):
                raise ArgumentError(
                    "not the order of a matrix's norm",
                    expected="None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf",
                    found=f"{p!r:.80}",
                )
            _check_elements(matrix, size)
            found = _by_norms(matrix, p)
        return result(renamed(rounded(found, dtype), name))


def _check_elements(x: Any, size: Size) -> None:
    if size == 0:
        raise ShapeError(
            "a matrix without elements has no condition", expected="elements", found=x.describe()
        )


def _by_norms(x: Any, order: Any) -> Any:
    """The norm of a square matrix times that of its inverse; inf if there is none."""
    sign, _ = build("slogdet", (x,))
    singular = build("equal", (sign, 0))
    regular = build("where", (as_column(as_column(singular)), identity_like(x), x))
    inverse = build("solve", (regular, identity_like(x)), {"adjoint": False, "strict": True})
    found = build("multiply", (matrix_norm(x, ord=order), matrix_norm(inverse, ord=order)))
    return build("where", (singular, found.coerce(np.inf), found))


def _ratio(x: Any, inverted: bool) -> Any:
    """The largest over the smallest singular value; inf where it is a number over 0."""
    values = build("svdvals", (x,))
    axis = values.type.ndim - 1
    _check_elements(x, values.type.shape[axis])
    over = {"axis": (axis,), "keepdims": False}
    most, least = build("max", (values,), over), build("min", (values,), over)
    above, below = (least, most) if inverted else (most, least)
    ratio = build("divide", (above, below))
    return build("where", (build("equal", (below, 0)), ratio.coerce(np.inf), ratio))
