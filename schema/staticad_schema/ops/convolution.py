"""Convolution over spatial axes: three bilinear ops, each one's gradients are the other two.

Batch and channels come first, then the spatial axes, of any number; weights have outputs, then
channels / groups, then the kernel.  As everywhere in this field, a "convolution" does not mirror
its kernel: it is a cross-correlation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..dims import Dim, Shape, Size
from ..errors import ArgumentError, ShapeError
from ..op import Ints, Operand, SymbolicShape, Widths, each, op
from ..shapes import same_shape, shape_text
from ..types import NUMERIC, Array, TensorType
from . import correlation, transposed
from .checks import check_kind, check_shape, same_dtype
from .pointwise import conjugated
from .shape import batch_size, folded, permute_dims, reshape
from .windows import check_spatial, window_counts

# ------------------------------------------------------------------ checks


def _check_operands(a: Operand, b: Operand) -> None:
    same_dtype((a, b))
    check_kind(NUMERIC, a, b)
    if a.ndim != b.ndim:
        raise ShapeError(
            "operands of different ranks",
            expected="batch and channels, outputs and channels, then the same spatial axes",
            found=f"{a} and {b}",
        )


def _check_groups(channels: Size, outputs: Size, each: Size, groups: Size) -> None:
    """That channels and outputs fall into groups of `each` channels.  A batch of none has none."""
    if isinstance(groups, int) and groups < 0:
        raise ArgumentError(
            "a number of groups is negative", expected="0 or more", found=str(groups)
        )
    if dims.same_size(channels, each * groups) is False:
        raise ShapeError(
            "the weights have another number of channels",
            expected=f"{channels} channels = {groups} groups of the weights' axis 1",
            found=f"{groups} groups of {each}",
        )
    known = isinstance(groups, int) and isinstance(outputs, int)
    if known and (outputs % groups if groups else outputs):
        raise ShapeError(
            "the outputs do not fall into groups",
            expected=f"a multiple of {groups} outputs",
            found=str(outputs),
        )


def _check_counts(g: Operand, counts: Shape, sizes: Shape) -> None:
    if same_shape(g.shape[2:], counts) is False:
        raise ShapeError(
            "not the spatial sizes that the convolution has",
            expected=f"{shape_text(counts)}, from an input of {shape_text(sizes)}",
            found=shape_text(g.shape[2:]),
        )


# ------------------------------------------------------------------ batch rules


def _unfolded(x: Any, axis: int, *sizes: Size) -> Any:
    """One axis as several."""
    shape = x.type.shape
    return reshape(x, shape=(*shape[:axis], *sizes, *shape[axis + 1 :]))


def _moved(x: Any, *front: int) -> Any:
    """These axes first, then the others."""
    rest = (a for a in range(x.type.ndim) if a not in front)
    return permute_dims(x, axes=(*front, *rest))


def _within_groups(x: Any, axis: int, groups: Size, size: Size) -> Any:
    """The examples of a batched operand side by side within each group of an axis.

    x: the batch axis first.  axis: counted without it.
    """
    inside = dims.floordiv(x.type.shape[axis + 1], groups) if groups != 0 else 0
    x = _unfolded(x, axis + 1, groups, inside)
    lead = x.type.shape[1 : axis + 1]
    x = _moved(x, *range(1, axis + 2), 0)
    return reshape(x, shape=(*lead, groups * size * inside, *x.type.shape[axis + 3 :]))


def _from_groups(x: Any, axis: int, groups: Size, size: Size) -> Any:
    """What undoes `_within_groups`: the batch axis first again."""
    inside = dims.floordiv(x.type.shape[axis], groups * size) if groups * size != 0 else 0
    x = _moved(_unfolded(x, axis, groups, size, inside), axis + 1)
    shape = x.type.shape
    return reshape(x, shape=(*shape[: axis + 1], groups * inside, *shape[axis + 3 :]))


def _side_by_side(x: Any) -> Any:
    """The examples as further channels of one: (size, batch, channels) to (batch, both)."""
    x = _moved(x, 1)
    batch, size, channels, *rest = x.type.shape
    return reshape(x, shape=(batch, size * channels, *rest))


def _apart(x: Any, size: Size, channels: Size) -> Any:
    """What undoes `_side_by_side`."""
    return _moved(_unfolded(x, 1, size, channels), 1)


def _batch_conv(x: Any, w: Any, batched: Sequence[bool], *, groups: Size, **attributes: Any) -> Any:
    size = batch_size((x, w), batched)
    if all(batched):
        # Examples become groups.
        outputs = w.type.shape[1]
        found = conv(_side_by_side(x), folded(w), groups=size * groups, **attributes)
        return _apart(found, size, outputs)
    if batched[0]:
        found = conv(folded(x), w, groups=groups, **attributes)
        return _unfolded(found, 0, size, x.type.shape[1])
    wide = _within_groups(w, 0, groups, size)
    return _from_groups(conv(x, wide, groups=groups, **attributes), 1, groups, size)


def _batch_input(
    g: Any, w: Any, batched: Sequence[bool], *, groups: Size, **attributes: Any
) -> Any:
    size = batch_size((g, w), batched)
    if all(batched):
        channels = w.type.shape[2] * groups
        found = conv_input(_side_by_side(g), folded(w), groups=size * groups, **attributes)
        return _apart(found, size, channels)
    if batched[0]:
        found = conv_input(folded(g), w, groups=groups, **attributes)
        return _unfolded(found, 0, size, g.type.shape[1])
    wide = _within_groups(w, 1, 1, size)
    found = conv_input(g, wide, groups=groups, **attributes)
    return _from_groups(found, 1, groups, size)


def _batch_weights(
    x: Any, g: Any, batched: Sequence[bool], *, shape: Shape, groups: Size, **attributes: Any
) -> Any:
    size = batch_size((x, g), batched)
    if all(batched):
        outputs = g.type.shape[2]
        x, g = _side_by_side(x), _side_by_side(g)
        found = conv_weights(x, g, shape=shape, groups=size * groups, **attributes)
        return _unfolded(found, 0, size, outputs)
    if batched[0]:
        wider = (size * shape[0], *shape[1:])
        x = _within_groups(x, 1, groups, size)
        found = conv_weights(x, g, shape=wider, groups=groups, **attributes)
        return _from_groups(found, 1, 1, size)
    g = _within_groups(g, 1, groups, size)
    found = conv_weights(x, g, shape=shape, groups=groups, **attributes)
    return _from_groups(found, 0, groups, size)


# ------------------------------------------------------------------ meanings


def _conv(x: Array, w: Array, **attributes: Any) -> Array:
    sizes, kernel = x.shape[2:], w.shape[2:]
    out = np.empty((len(x), len(w), *_counts(sizes, kernel, **attributes)), x.dtype)
    correlation.conv(x, w, out, **attributes)
    return out


def _conv_input(g: Array, w: Array, *, shape: Ints, groups: int, **attributes: Any) -> Array:
    out = np.empty((len(g), w.shape[1] * groups, *shape), g.dtype)
    transposed.conv_input(g, w, out, groups=groups, **attributes)
    return out


def _conv_weights(x: Array, g: Array, *, shape: Ints, **attributes: Any) -> Array:
    out = np.empty((g.shape[1], *shape), x.dtype)
    correlation.conv_weights(x, g, out, **attributes)
    return out


def _counts(
    sizes: Shape, kernel: Shape, *, strides: Ints, padding: Widths, dilation: Ints, groups: int
) -> Any:
    return window_counts(sizes, kernel, strides, padding, dilation)


# ------------------------------------------------------------------ definitions


# Cotangents are pulled back through the conjugate of the other operand.


def _to_x(x: Any, w: Any, out: Any, g: Any, **attributes: Any) -> Any:
    return conv_input(g, conjugated(w), shape=x.type.shape[2:], **attributes)


def _to_w(x: Any, w: Any, out: Any, g: Any, **attributes: Any) -> Any:
    return conv_weights(conjugated(x), g, shape=w.type.shape[1:], **attributes)


def _input_to_g(g: Any, w: Any, out: Any, change: Any, *, shape: Shape, **attributes: Any) -> Any:
    return conv(change, conjugated(w), **attributes)


def _input_to_w(g: Any, w: Any, out: Any, change: Any, *, shape: Shape, **attributes: Any) -> Any:
    return conv_weights(change, conjugated(g), shape=w.type.shape[1:], **attributes)


def _weights_to_x(x: Any, g: Any, out: Any, change: Any, *, shape: Shape, **attributes: Any) -> Any:
    return conv_input(conjugated(g), change, shape=x.type.shape[2:], **attributes)


def _weights_to_g(x: Any, g: Any, out: Any, change: Any, *, shape: Shape, **attributes: Any) -> Any:
    return conv(conjugated(x), change, **attributes)


@op(
    numpy=_conv,
    grad=each(_to_x, _to_w),
    jvp="multilinear",
    batch=_batch_conv,
    widen=True,
)
def conv(
    x: Operand,
    w: Operand,
    *,
    strides: Ints,
    padding: Widths,
    dilation: Ints,
    groups: int | Dim,
) -> TensorType:
    """The sums of products of the weights with each window of x, over channels and kernel.

    x: (batch, channels, *sizes).  w: (outputs, channels / groups, *kernel).  The result has shape
    (batch, outputs, *counts).  Each group of outputs sees its own group of channels.
    """
    _check_operands(x, w)
    sizes = check_spatial(x, w.shape[2:], strides, padding, dilation)
    _check_groups(x.shape[1], w.shape[0], w.shape[1], groups)
    counts = window_counts(sizes, w.shape[2:], strides, padding, dilation)
    return x.with_shape((x.shape[0], w.shape[0], *counts))


@op(
    numpy=_conv_input,
    grad=each(_input_to_g, _input_to_w),
    jvp="multilinear",
    batch=_batch_input,
    widen=True,
)
def conv_input(
    g: Operand,
    w: Operand,
    *,
    shape: SymbolicShape,
    strides: Ints,
    padding: Widths,
    dilation: Ints,
    groups: int | Dim,
) -> TensorType:
    """The transpose of `conv` as a linear function of x, which has spatial sizes `shape`.

    g: (batch, outputs, *counts).  The result has shape (batch, channels, *shape).
    """
    _check_operands(g, w)
    check_spatial(g, w.shape[2:], strides, padding, dilation)
    channels = w.shape[1] * groups
    _check_groups(channels, w.shape[0], w.shape[1], groups)
    if dims.same_size(g.shape[1], w.shape[0]) is False:
        raise ShapeError(
            "the weights have another number of outputs",
            expected=f"{g.shape[1]} outputs, axis 1 of {g}",
            found=f"{w.shape[0]}, axis 0 of {w}",
        )
    _check_counts(g, window_counts(shape, w.shape[2:], strides, padding, dilation), shape)
    return g.with_shape((g.shape[0], channels, *check_shape(shape)))


@op(
    numpy=_conv_weights,
    grad=each(_weights_to_x, _weights_to_g),
    jvp="multilinear",
    batch=_batch_weights,
    widen=True,
)
def conv_weights(
    x: Operand,
    g: Operand,
    *,
    shape: SymbolicShape,
    strides: Ints,
    padding: Widths,
    dilation: Ints,
    groups: int | Dim,
) -> TensorType:
    """The transpose of `conv` as a linear function of w.

    shape: that of w behind its outputs, (channels / groups, *kernel).  The result has shape
    (outputs, *shape).
    """
    _check_operands(x, g)
    if not shape:
        raise ShapeError(
            "the weights have no channels", expected="(channels / groups, *kernel)", found="()"
        )
    kernel = check_shape(shape)[1:]
    sizes = check_spatial(x, kernel, strides, padding, dilation)
    _check_groups(x.shape[1], g.shape[1], shape[0], groups)
    if dims.same_size(x.shape[0], g.shape[0]) is False:
        raise ShapeError(
            "batches of different sizes", expected=f"size {x.shape[0]}", found=f"size {g.shape[0]}"
        )
    _check_counts(g, window_counts(sizes, kernel, strides, padding, dilation), sizes)
    return x.with_shape((g.shape[1], *shape))
