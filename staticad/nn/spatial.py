"""What functions of windows over spatial axes are given: strides, padding, images.

Images have shape (batch, channels, *sizes), with one, two or three spatial axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Shape, Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.handle import floating
from staticad_schema.ops.windows import extent

from .. import dimensions
from ..tensor import Tensor

Each = int | Sequence[int]
"""One number for every spatial axis, or one for each."""

Padding = int | str | Sequence[int | Sequence[int]]
"""One number for both ends of every spatial axis, one for each axis, pairs (before, behind), or
"valid" (none), "same" (ceil(size / stride) windows, the odd element behind), "same_lower" (before).
"""

Pairs = tuple[tuple[Size, Size], ...]

_WORDS = ("valid", "same", "same_lower")


def check_image(x: Tensor, rank: int) -> Tensor:
    """The tensor itself.  Raises ShapeError unless it has that many spatial axes."""
    if x.ndim != rank + 2:
        axes = ", ".join(("length",) if rank == 1 else ("depth", "height", "width")[3 - rank :])
        raise ShapeError(
            "another rank than this function takes",
            expected=f"rank {rank + 2}: (batch, channels, {axes})",
            found=x.describe(),
            hint="an image without a batch axis gets one by x[None]"
            if x.ndim == rank + 1
            else None,
        )
    return x


def any_image(x: Tensor) -> Tensor:
    """The tensor itself.  Raises ShapeError unless it has a spatial axis."""
    if x.ndim < 3:
        raise ShapeError(
            "there is no spatial axis",
            expected="rank 3 or more: (batch, channels, *sizes)",
            found=x.describe(),
        )
    return x


def real_image(x: Tensor) -> Any:
    """The tensor as floats, of which integers become some.  Raises DTypeError for complex ones."""
    if x.type.kind == "complex":
        raise DTypeError(
            "not real",
            expected="a real dtype",
            found=x.describe(),
            hint="use real, imag or abs",
        )
    return floating(x)[0]


def each(what: str, value: Any, rank: int, least: int = 1) -> tuple[int, ...]:
    """One int a spatial axis, of which there is one.  Raises UsageError, ArgumentError."""
    if not rank:
        raise ArgumentError(
            "there is no spatial axis", expected="the size of at least one", found="none"
        )
    several = isinstance(value, tuple | list)
    given = tuple(map(dimensions.integer, value if several else [value] * rank))
    if len(given) != rank:
        raise ArgumentError(
            f"not one {what} a spatial axis",
            expected=f"an int, or {rank}",
            found=repr(value),
        )
    if min(given) < least:
        raise ArgumentError(
            f"the {what} is below {least}", expected=f"{least} or more", found=repr(value)
        )
    return given


def is_word(padding: Padding) -> bool:
    """Whether padding is given by a word.  Raises ArgumentError for a word it is not."""
    if not isinstance(padding, str):
        return False
    if padding not in _WORDS:
        raise ArgumentError(
            "not a padding",
            expected="ints, pairs of ints, or one of " + ", ".join(map(repr, _WORDS)),
            found=repr(padding),
        )
    return True


def pairs(
    padding: Padding, sizes: Shape, kernel: Shape, strides: Sequence[int], dilation: Sequence[int]
) -> Pairs:
    """How much goes before and behind each spatial axis.  Raises UsageError, ArgumentError."""
    if is_word(padding):
        if padding == "valid":
            return ((0, 0),) * len(sizes)
        found = []
        for size, k, stride, step in zip(sizes, kernel, strides, dilation, strict=True):
            last = (dims.ceildiv(size, stride) - 1) * stride
            found.append(halves(dims.maximum(last + extent(k, step) - size, 0), padding))
        return tuple(found)
    return explicit_pairs(padding, len(sizes))


def halves(total: Size, word: Padding) -> tuple[Size, Size]:
    """The padding of one axis as (before, behind), for "same" and "same_lower"."""
    less = dims.floordiv(total, 2)
    return (total - less, less) if word == "same_lower" else (less, total - less)


def explicit_pairs(padding: Any, rank: int) -> tuple[tuple[int, int], ...]:
    """Padding that is given as numbers."""
    given = padding if isinstance(padding, tuple | list) else (padding,) * rank
    if len(given) != rank:
        raise ArgumentError(
            "not one padding a spatial axis",
            expected=f"an int, {rank} ints, or {rank} pairs (before, behind)",
            found=repr(padding),
        )
    found = []
    for one in given:
        pair = one if isinstance(one, tuple | list) else (one, one)
        if len(pair) != 2:
            raise UsageError("not a pair of padding", expected="(before, behind)", found=repr(one))
        found.append((dimensions.integer(pair[0]), dimensions.integer(pair[1])))
    return tuple(found)
