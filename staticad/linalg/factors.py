"""Triangular factors of matrices, and determinants."""

from __future__ import annotations

from typing import NamedTuple

from staticad_schema.ops.lu import rows_in_order
from staticad_schema.sites import asking

from .. import methods
from ..building import build
from ..operands import Operand, result
from ..options import flag
from ..tensor import Tensor
from .precision import applied, precise, rounded
from .systems import cholesky_factor


def cholesky(x: Operand, /, *, upper: bool = False, name: str | None = None) -> Tensor:
    """The lower triangular l with l @ conj(l.mT) = x, of each positive definite matrix of a stack.

    upper: conj(l.mT) instead.  The factor is that of (x + conj(x.mT)) / 2, so that its derivative
    is symmetric.  Integers count as float32, half floats compute in it.

    Raises ShapeError for a matrix that is not square; the run raises ExecutionError for one that is
    not positive definite, and says which one of the stack.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    >>> sad.Session(graph).run(y)
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    with asking("cholesky", name):
        return cholesky_factor("cholesky", x, not flag("upper", upper), name)


def lu(
    a: Operand,
    permute_l: bool = False,
    *,
    p_indices: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """The factors (p, l, u) with a = p @ l @ u, of each matrix of a stack, as `scipy.linalg.lu`.

    a: [..., m, n].  p is a permutation matrix [..., m, m], l [..., m, k] has ones on its diagonal
    and zeros above it, u [..., k, n] zeros below; k is the smaller one of m and n.
    permute_l: returns (p @ l, u).  p_indices: p is indices [..., m] instead, a = l[p] @ u.

    The derivative is that with the same permutation, and exists where the first k - 1 pivots are
    not 0, of a tall matrix all k.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     p, l, u = sad.linalg.lu(sad.constant([[1.0, 2.0], [2.0, 8.0]]))
    >>> for factor in sad.Session(graph).run([p, l, u]):
    ...     print(factor)
    [[0. 1.]
     [1. 0.]]
    [[1.  0. ]
     [0.5 1. ]]
    [[ 2.  8.]
     [ 0. -2.]]
    """
    with asking("lu", name):
        matrix, dtype = precise("lu", a)
        joined, indices = flag("permute_l", permute_l), flag("p_indices", p_indices)
        lower, upper, permutation, _ = build("lu", (matrix,), label=name)
        if joined:
            return (
                rounded(rows_in_order(lower, permutation, back=True), dtype),
                rounded(upper, dtype),
            )
        if indices:
            axis = {"axis": permutation.type.ndim - 1, "descending": False}
            order = result(build("sort", (permutation,), axis)[1])
            return (order, rounded(lower, dtype), rounded(upper, dtype))
        rows = {"depth": matrix.type.shape[-2], "dtype": dtype}
        p = methods.matrix_transpose(build("one_hot", (permutation,), rows))
        return (result(p), rounded(lower, dtype), rounded(upper, dtype))


# ------------------------------------------------------------------ determinants


def det(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The determinant of each square matrix of a stack.

    x: [..., n, n]; the result has the shape of the stack.  Integers count as float32, half floats
    compute in it.  The derivatives are cofactors, also where x is singular, to any order.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([[1.0, 2.0], [2.0, 4.0]])
    ...     y = sad.linalg.det(x)
    ...     (dx,) = sad.gradients(y, x)
    >>> for value in sad.Session(graph).run([y, dx]):
    ...     print(value)
    0.0
    [[ 4. -2.]
     [-2.  1.]]
    """
    with asking("det", name):
        matrix, dtype = precise("det", x)
        return applied("det", matrix, {}, dtype, name)


class Slogdet(NamedTuple):
    """The sign of a determinant, or its phase, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


def slogdet(x: Operand, /, *, name: str | None = None) -> Slogdet:
    """(sign, logabsdet), of each square matrix of a stack: det(x) = sign * exp(logabsdet).

    The sign of a complex matrix is a number of absolute value 1.  A singular matrix has sign 0 and
    logabsdet -inf; there the gradient of logabsdet is infinite or NaN, but where its cotangent is 0
    it is 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     sign, logabsdet = sad.linalg.slogdet([[0.0, 2.0], [3.0, 4.0]])
    >>> sad.Session(graph).run([sign, sad.exp(logabsdet)])
    [array(-1., dtype=float32), array(6., dtype=float32)]
    """
    with asking("slogdet", name):
        matrix, dtype = precise("slogdet", x)
        sign, logarithm = build("slogdet", (matrix,), label=name)
        return Slogdet(rounded(sign, dtype), rounded(logarithm, dtype))
