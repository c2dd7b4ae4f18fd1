"""What definitions ask of their operands: kinds of dtypes, axes, sizes that fit.

What cannot be decided of symbolic sizes is accepted here, and decided when sizes are bound and
inference runs again.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import dims
from ..dims import Shape, Size
from ..errors import DTypeError, ShapeError
from ..op import Ints, Operand
from ..shapes import normalize_axis, same_shape, shape_text
from ..types import KINDS, DType


def check_shape(shape: Shape) -> Shape:
    """The shape itself.  Raises ShapeError for a size below zero."""
    for size in shape:
        if isinstance(size, int) and size < 0:
            raise ShapeError(
                "a size is negative", expected="sizes of at least 0", found=shape_text(shape)
            )
    return shape


def check_axes(axes: Ints, ndim: int) -> Ints:
    """The axes themselves.  Raises ShapeError unless they are ascending axes of that rank."""
    for k, axis in enumerate(axes):
        normalize_axis(axis, ndim)
        if axis < 0 or (k and axes[k - 1] >= axis):
            raise ShapeError(
                "axes are out of order",
                expected="distinct ascending axes, counted from the front",
                found=shape_text(axes),
            )
    return axes


def check_kind(kinds: frozenset[str], x: Operand, *others: Operand) -> Operand:
    """x itself.  Raises DTypeError if its dtype is not of these kinds; the others are told too."""
    if KINDS[x.dtype] not in kinds:
        raise DTypeError(
            "a dtype that the op does not admit",
            expected=kinds_text(kinds),
            found=", ".join(map(str, (x, *others))),
            hint=_convert(KINDS[x.dtype], kinds),
        )
    return x


def _convert(kind: str, admitted: frozenset[str]) -> str:
    """What brings a dtype of that kind to one of those admitted."""
    if kind == "complex":
        return "use real, imag or abs"
    if kind == "bool" and "int" in admitted:
        return "use .astype('int32') to count, or | and & to combine"
    if "float" in admitted:
        return "use .astype('float32')"
    if "int" in admitted:
        return "use .astype('int64')"
    return "compare it, as in x != 0" if admitted == {"bool"} else "use cast"


def kinds_text(kinds: frozenset[str]) -> str:
    """The dtypes of these kinds, for an error message."""
    return ", ".join(dtype.name for dtype, kind in KINDS.items() if kind in kinds)


def same_dtype(operands: Sequence[Operand]) -> DType:
    """The one dtype of the operands.  Raises DTypeError."""
    first = operands[0].dtype
    for operand in operands:
        if operand.dtype != first:
            raise DTypeError(
                "operands of different dtypes",
                expected="equal dtypes",
                found=", ".join(map(str, operands)),
                hint="use cast on one of them",
            )
    return first


def agree(a: Size, b: Size, what: str) -> Size:
    """The common size of two axes that must be equal, the known one if one is known.

    Raises ShapeError if they are certain to differ.
    """
    if dims.same_size(a, b) is False:
        raise ShapeError(f"{what} differ in size", expected=f"size {a}", found=f"size {b}")
    return b if isinstance(b, int) else a


def check_equal_shapes(found: Shape, expected: Shape, what: str) -> None:
    """Raises ShapeError where the shapes certainly differ."""
    if same_shape(found, expected) is False:
        raise ShapeError(
            f"{what} of another shape", expected=shape_text(expected), found=shape_text(found)
        )


def check_broadcast(small: Shape, large: Shape) -> None:
    """Raises ShapeError where `small` certainly does not broadcast to `large`."""
    lead = len(large) - len(small)
    fits = lead >= 0 and all(
        s == 1 or dims.same_size(s, size) is not False or dims.same_size(s, 1) is not False
        for s, size in zip(small, large[lead:], strict=True)
    )
    if not fits:
        raise ShapeError(
            "shapes do not broadcast",
            expected=f"a shape that broadcasts to {shape_text(large)}",
            found=shape_text(small),
        )
