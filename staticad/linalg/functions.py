"""Powers of square matrices, and functions that are series of them."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ShapeError
from staticad_schema.ops.checks import check_kind
from staticad_schema.ops.matrices import identity_like
from staticad_schema.sites import asking
from staticad_schema.types import NUMERIC, WIDENED

from .. import dimensions
from ..building import build, part, renamed
from ..operands import Operand, result, tensor
from ..tensor import Tensor
from .precision import applied, precise, rounded


def matrix_power(x: Operand, /, n: int, *, name: str | None = None) -> Tensor:
    """The product of n times the same square matrix, of each one of a stack.

    x: [..., n, n].  n: 0 gives identity matrices; below 0, powers of the inverse.  Integers stay
    so, but for n below 0 count as float32; half floats compute in it.  Products are made by
    repeated squaring.

    Raises ShapeError for a matrix that is not square; for n below 0 the run raises ExecutionError
    for a singular one.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.matrix_power([[1, 1], [1, 0]], 10)
    >>> sad.Session(graph).run(y)
    array([[89, 55],
           [55, 34]])
    """
    with asking("matrix_power", name):
        value: Any = tensor("matrix_power", x)
        count = dimensions.integer(n)
        dtype = value.type.dtype
        if count < 0 or dtype in WIDENED:
            value, dtype = precise("matrix_power", value)
        check_kind(NUMERIC, value.type)
        if value.type.ndim < 2 or dims.same_size(*value.type.shape[-2:]) is False:
            raise ShapeError(
                "not a square matrix",
                expected="as many rows as columns",
                found=value.describe(),
            )
        return result(renamed(rounded(_power(value, count, name), dtype), name))


def _power(x: Any, count: int, name: str | None) -> Any:
    if count == 0:
        return build("broadcast_to", (identity_like(x),), {"shape": x.type.shape})
    if count < 0:
        how = {"adjoint": False, "strict": True}
        x = build("solve", (x, identity_like(x)), how, label=part(name, "inverse"))
        count = -count
    found = None
    while True:
        if count % 2:
            found = x if found is None else build("matmul", (found, x))
        count //= 2
        if not count:
            return found
        x = build("matmul", (x, x))


def expm(A: Operand, /, *, name: str | None = None) -> Tensor:
    """The exponential of each square matrix of a stack: the sum of A**k / k!, as `scipy.linalg`.

    A: [..., n, n].  Integers count as float32, half floats compute in it; matrices that are not
    finite have NaN.  Derivatives of any order are exponentials of matrices of twice the size each,
    also where eigenvalues are equal.  Raises ShapeError for a matrix that is not square.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.expm([[0.0, 1.0], [0.0, 0.0]])
    >>> sad.Session(graph).run(y)
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return _function("expm", A, name)


def sqrtm(A: Operand, /, *, name: str | None = None) -> Tensor:
    """The positive square root of each symmetric (Hermitian) positive semidefinite matrix.

    A: [..., n, n].  Eigenvalues below 0 by no more than rounding count as 0.  Derivatives are
    symmetric and exist to any order, also where eigenvalues are equal; the infinite slope between
    eigenvalues of 0 counts as 0.  Integers count as float32, half floats compute in it.

    Raises ShapeError for a matrix that is not square; the run raises ExecutionError for one that
    is not symmetric, or has an eigenvalue below 0, and says which one of the stack.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])
    >>> sad.Session(graph).run(y)
    array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    return _function("sqrtm", A, name)


def logm(A: Operand, /, *, name: str | None = None) -> Tensor:
    """The logarithm of each symmetric (Hermitian) positive definite matrix, the inverse of `expm`.

    A: [..., n, n].  Derivatives are symmetric and exist to any order, also where eigenvalues are
    equal.  Integers count as float32, half floats compute in it.

    Raises ShapeError for a matrix that is not square; the run raises ExecutionError for one that
    is not symmetric, or has an eigenvalue not above 0, and says which one of the stack.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.logm([[1.0, 0.0], [0.0, 1.0]])
    >>> sad.Session(graph).run(y)
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    return _function("logm", A, name)


def _function(op: str, x: Operand, name: str | None) -> Tensor:
    with asking(op, name):
        matrix, dtype = precise(op, x)
        return applied(op, matrix, {}, dtype, name)
