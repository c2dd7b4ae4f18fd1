"""What the ops of linear algebra share: checks of (stacks of) matrices, parts of matrices, and the
errors that say which matrix of a stack it was.

Matrices are the last two axes; all axes before them are a stack.  There are no half floats among
their elements, which LAPACK does not have: the functions that users call compute in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dims
from ..dims import Size
from ..errors import DTypeError, ExecutionError, ShapeError
from ..op import OPS, Operand
from ..types import INEXACT, WIDENED, Array
from .checks import check_kind
from .contract import swapped
from .index import along
from .pointwise import conjugated, select
from .slicing import pad, slice_

# ------------------------------------------------------------------ types


def check_matrix(x: Operand, what: str = "the operand") -> Operand:
    """x itself: one matrix or a stack of them, of floats but half floats.

    Raises DTypeError, ShapeError.
    """
    check_kind(INEXACT, x)
    if x.dtype in WIDENED:
        raise DTypeError(
            "half floats have too few digits",
            expected="float32, float64, complex64, complex128",
            found=str(x),
            hint="use .astype('float32')",
        )
    if x.ndim < 2:
        raise ShapeError(f"{what} is no matrix", expected="rank 2 or more", found=str(x))
    return x


def check_square(x: Operand, what: str = "the operand") -> Size:
    """The size of a square matrix.  Raises DTypeError, ShapeError."""
    rows, columns = check_matrix(x, what).shape[-2:]
    if dims.same_size(rows, columns) is False:
        raise ShapeError(f"{what} is not square", expected="as many rows as columns", found=str(x))
    return rows if isinstance(rows, int) else columns


# ------------------------------------------------------------------ for rules and expansions


def adjoint(x: Any) -> Any:
    """The conjugate transposes of a stack of matrices."""
    return conjugated(swapped(x))


def hermitian(x: Any) -> Any:
    """(x + adjoint(x)) / 2."""
    return (x + adjoint(x)) * 0.5


def at_or_below(x: Any, k: int = 0) -> Any:
    """Where a matrix's column is at most k right of the main diagonal; bools, of rank 2."""
    rows, columns = x.type.shape[-2:]
    row, column = along(x, rows, 0, 2), along(x, columns, 1, 2)
    return OPS["less_equal"](column, row + k if k else row)


def lower_part(x: Any, k: int = 0) -> Any:
    """x with zeros above the diagonal k, whatever stood there."""
    return select(at_or_below(x, k), x)


def upper_part(x: Any, k: int = 0) -> Any:
    """x with zeros below the diagonal k, whatever stood there."""
    return OPS["where"](at_or_below(x, k - 1), x.coerce(0.0), x)


def on_diagonal(x: Any) -> Any:
    """Where a square matrix has its diagonal; bools, of rank 2."""
    rows, columns = x.type.shape[-2:]
    return OPS["equal"](along(x, rows, 0, 2), along(x, columns, 1, 2))


def identity_like(x: Any) -> Any:
    """One identity matrix of the size and dtype of those of a stack of square ones."""
    return on_diagonal(x).astype(x.type.dtype)


def diagonal_of(x: Any) -> Any:
    """The diagonals of a stack of square matrices, whatever stands beside them."""
    return OPS["sum"](select(on_diagonal(x), x), axis=(x.type.ndim - 1,), keepdims=False)


def rows(x: Any, start: Size | None, stop: Size | None) -> Any:
    """Those rows of a stack of matrices."""
    whole = ((None, None, 1),) * (x.type.ndim - 2)
    return slice_(x, slices=(*whole, (start, stop, 1), (None, None, 1)))


def columns(x: Any, start: Size | None, stop: Size | None) -> Any:
    """Those columns of a stack of matrices."""
    whole = ((None, None, 1),) * (x.type.ndim - 1)
    return slice_(x, slices=(*whole, (start, stop, 1)))


def padded(x: Any, *, above: Size = 0, below: Size = 0, right: Size = 0) -> Any:
    """x with that many rows of zeros above and below, and columns of zeros on the right."""
    whole = ((0, 0),) * (x.type.ndim - 2)
    return pad(x, widths=(*whole, (above, below), (0, right)), value=0.0)


def expected(x: Any, *last: Size) -> Any:
    """x, of which the run checks the last sizes where they are not known to be these.

    For expansions, in whose place nothing is left of the op's own types.
    """
    shape = x.type.shape[: x.type.ndim - len(last)] + last
    return x if x.type.shape == shape else OPS["expect_shape"](x, shape=shape)


def expected_square(x: Any) -> Any:
    """x, of which the run checks that its matrices are square."""
    size = check_square(x.type)
    return expected(x, size, size)


# ------------------------------------------------------------------ at run time


def transposed(x: Array) -> Array:
    """The transposes of a stack of matrices, a view."""
    return np.swapaxes(x, -1, -2)


def adjoint_of(x: Array) -> Array:
    """The conjugate transposes of a stack of matrices."""
    return np.conj(transposed(x)) if x.dtype.kind == "c" else transposed(x)


def hermitian_part(x: Array) -> Array:
    """(x + adjoint(x)) / 2, which is x to the last bit where x is its own adjoint.

    Functions of symmetric matrices are applied to it, so that they are functions of all elements,
    and their derivatives, which are symmetric, are those that differences show.
    """
    half = x * x.dtype.type(0.5)
    return np.asarray(half + adjoint_of(half))


def place_text(stack: tuple[int, ...], index: int) -> str:
    """What to call a matrix of a stack in an error: "the matrix", or "the matrix [1, 0]"."""
    if not stack:
        return "the matrix"
    place = ", ".join(str(i) for i in np.unravel_index(index, stack))
    return f"the matrix [{place}] of the stack"


def singular(stack: tuple[int, ...], index: int, row: int) -> ExecutionError:
    """The error for a matrix without an inverse: a 0 at that place of the diagonal."""
    return ExecutionError(
        "a singular matrix",
        expected="matrices that have an inverse",
        found=f"a pivot of 0 in row {row} of {place_text(stack, index)}",
    )


def factorized(
    compute: Callable[[Array], Sequence[Array]], x: Array, what: str
) -> tuple[Array, ...]:
    """compute(x), of a stack of matrices; NaN for matrices with elements that are not finite.

    Raises ExecutionError for a matrix of which LAPACK says that `what` did not converge.
    """
    finite = np.asarray(np.isfinite(x).all((-2, -1)))
    if finite.all():
        return _converged(compute, x, what)
    found = []
    # LAPACK would loop, fail, or give NaN for some of the results.
    for out in _converged(compute, np.where(finite[..., None, None], x, 0), what):
        out = np.array(out)
        out[~finite] = np.nan
        found.append(out)
    return tuple(found)


def _converged(
    compute: Callable[[Array], Sequence[Array]], x: Array, what: str
) -> tuple[Array, ...]:
    try:
        return tuple(compute(x))
    except np.linalg.LinAlgError:
        stack = x.shape[:-2]
        index = next((k for k in range(math.prod(stack)) if _fails(compute, x, k)), None)
        raise ExecutionError(
            f"{what} did not converge",
            expected="matrices for which LAPACK's iteration ends",
            found="a stack of matrices" if index is None else place_text(stack, index),
        ) from None


def _fails(compute: Callable[[Array], Sequence[Array]], x: Array, index: int) -> bool:
    try:
        compute(x.reshape(-1, *x.shape[-2:])[index])
    except np.linalg.LinAlgError:
        return True
    return False
