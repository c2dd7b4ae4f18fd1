"""Convolution and transposed convolution."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Shape
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.ops.windows import extent
from staticad_schema.shapes import shape_text
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..operands import Operand, result, tensors
from ..tensor import Tensor
from .spatial import Each, Padding, check_image, each, explicit_pairs, halves, is_word, pairs


def conv1d(
    x: Operand,
    weights: Operand,
    bias: Operand | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
    *,
    name: str | None = None,
) -> Tensor:
    """The sums of products of the weights with each window of a signal, plus the bias.

    x: (batch, channels, length).  weights: (outputs, channels / groups, kernel).  Otherwise as
    `conv2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.conv1d([[[1.0, 2.0, 4.0, 8.0]]], [[[1.0, -1.0]]])
    >>> sad.Session(graph).run(y)
    array([[[-1., -2., -4.]]], dtype=float32)
    """
    with asking("conv1d", name):
        return convolved(1, x, weights, bias, stride, padding, dilation, groups, name)


def conv2d(
    x: Operand,
    weights: Operand,
    bias: Operand | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
    *,
    name: str | None = None,
) -> Tensor:
    """The sums of products of the weights with each window of an image, plus the bias.

    x: (batch, channels, height, width).  weights: (outputs, channels / groups, *kernel), not
    mirrored: what the field calls a convolution is a cross-correlation.  bias: (outputs,).
    stride, dilation: an int, or one a spatial axis.  padding: an int, one a spatial axis, pairs
    (before, behind), negative ones crop; or "valid" (none), "same" (as many windows as elements,
    over the stride, rounded up; an odd element of padding goes behind) or "same_lower" (before).
    groups: each of so many groups of outputs sees its own group of channels; as many groups as
    channels are a depthwise convolution.

    The result has shape (batch, outputs, *counts), where a count is
    (size + before + behind - (kernel - 1) dilation - 1) // stride + 1.
    Raises ShapeError where the kernel is larger than the padded input, or channels do not fit.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.reshape(sad.arange(9.0), (1, 1, 3, 3))
    ...     y = sad.nn.conv2d(x, sad.ones((1, 1, 2, 2)), [0.5])
    >>> sad.Session(graph).run(y)
    array([[[[ 8.5, 12.5],
             [20.5, 24.5]]]], dtype=float32)
    """
    with asking("conv2d", name):
        return convolved(2, x, weights, bias, stride, padding, dilation, groups, name)


def conv3d(
    x: Operand,
    weights: Operand,
    bias: Operand | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
    *,
    name: str | None = None,
) -> Tensor:
    """The sums of products of the weights with each window of a volume, plus the bias.

    x: (batch, channels, depth, height, width).  weights: (outputs, channels / groups, *kernel).
    Otherwise as `conv2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.conv3d(sad.ones((1, 2, 4, 4, 4)), sad.ones((3, 2, 3, 3, 3)), padding="same")
    >>> y.shape, sad.Session(graph).run(y[0, 0, 1, 1, 1])
    ((1, 3, 4, 4, 4), array(54., dtype=float32))
    """
    with asking("conv3d", name):
        return convolved(3, x, weights, bias, stride, padding, dilation, groups, name)


def convolved(
    rank: int, x: Operand, weights: Operand, bias: Operand | None, stride: Each, padding: Padding,
    dilation: Each, groups: int, name: str | None,
) -> Tensor:  # fmt: skip
    """The convolution over `rank` spatial axes."""
    image, w, b = _operands(rank, x, weights, bias)
    strides, steps = each("stride", stride, rank), each("dilation", dilation, rank)
    attributes = {
        "strides": strides,
        "padding": pairs(padding, image.shape[2:], w.shape[2:], strides, steps),
        "dilation": steps,
        "groups": group_count(groups),
    }
    return _plus_bias(build("conv", (image, w), attributes), b, w.shape[0], name)


def _operands(
    rank: int, x: Operand, weights: Operand, bias: Operand | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Image, weights and bias of one dtype, of the ranks they must have."""
    asked = f"conv{rank}d"
    image, w, *rest = tensors(asked, x, weights, *(() if bias is None else (bias,)))
    check_image(image, rank)
    if w.ndim != rank + 2:
        raise ShapeError(
            "weights of another rank",
            expected=f"rank {rank + 2}: outputs, channels, and {rank} sizes of the kernel",
            found=w.describe(),
        )
    return image, w, rest[0] if rest else None


def group_count(groups: Any) -> int:
    """How many groups of channels.  Raises UsageError, ArgumentError."""
    count = dimensions.integer(groups)
    if count < 1:
        raise ArgumentError("groups is below 1", expected="1 or more", found=str(count))
    return count


def _plus_bias(y: Any, bias: Tensor | None, outputs: Any, name: str | None) -> Tensor:
    if bias is None:
        return result(renamed(y, name))
    if bias.ndim != 1 or dims.same_size(bias.shape[0], outputs) is False:
        raise ShapeError(
            "the bias is not one number an output",
            expected=f"shape ({outputs},)",
            found=bias.describe(),
        )
    column = methods.reshape(bias, (1, outputs, *(1,) * (y.type.ndim - 2)))
    return result(build("add", (y, column), label=name))


# ------------------------------------------------------------------ transposed


def conv_transpose1d(
    x: Operand,
    weights: Operand,
    bias: Operand | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    output_padding: Each = 0,
    *,
    dilation: Each = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`, which spreads each element over a window; plus the bias.

    x: (batch, channels, length).  weights: (channels, outputs / groups, kernel).  Otherwise as
    `conv_transpose2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.conv_transpose1d([[[1.0, 10.0]]], [[[1.0, 2.0, 3.0]]], stride=2)
    >>> sad.Session(graph).run(y)
    array([[[ 1.,  2., 13., 20., 30.]]], dtype=float32)
    """
    with asking("conv_transpose1d", name):
        return _transpose(
            1, x, weights, bias, stride, padding, output_padding, dilation, groups, name
        )


def conv_transpose2d(
    x: Operand,
    weights: Operand,
    bias: Operand | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    output_padding: Each = 0,
    *,
    dilation: Each = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d`, which spreads each element over a window; plus the bias.

    x: (batch, channels, height, width).  weights: (channels, outputs / groups, *kernel).
    bias: (outputs,).  stride, dilation, groups: those of the convolution.  padding: what the
    convolution pads, which is cut off here: numbers as for `conv2d`; "valid" cuts nothing off,
    "same" makes sizes `stride` times as large.  output_padding: so much less is cut off behind.

    The result has spatial sizes (size - 1) stride - before - behind + (kernel - 1) dilation + 1
    + output_padding.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.zeros((1, 8, 50, 50))
    ...     y = sad.nn.conv_transpose2d(x, sad.ones((8, 4, 3, 3)), stride=2, padding="same")
    >>> y.shape
    (1, 4, 100, 100)
    """
    with asking("conv_transpose2d", name):
        return _transpose(
            2, x, weights, bias, stride, padding, output_padding, dilation, groups, name
        )


def conv_transpose3d(
    x: Operand,
    weights: Operand,
    bias: Operand | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    output_padding: Each = 0,
    *,
    dilation: Each = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv3d`, which spreads each element over a window; plus the bias.

    x: (batch, channels, depth, height, width).  weights: (channels, outputs / groups, *kernel).
    Otherwise as `conv_transpose2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.conv_transpose3d(sad.ones((1, 2, 4, 4, 4)), sad.ones((2, 3, 3, 3, 3)))
    >>> y.shape
    (1, 3, 6, 6, 6)
    """
    with asking("conv_transpose3d", name):
        return _transpose(
            3, x, weights, bias, stride, padding, output_padding, dilation, groups, name
        )


def _transpose(
    rank: int, x: Operand, weights: Operand, bias: Operand | None, stride: Each, padding: Padding,
    output_padding: Each, dilation: Each, groups: int, name: str | None,
) -> Tensor:  # fmt: skip
    image, w, b = _operands(rank, x, weights, bias)
    strides, steps = each("stride", stride, rank), each("dilation", dilation, rank)
    extra = each("output padding", output_padding, rank, 0)
    if dims.same_size(w.shape[0], image.shape[1]) is False:
        raise ShapeError(
            "the weights have another number of channels",
            expected=f"weights of shape ({image.shape[1]}, outputs / groups, *kernel)",
            found=w.describe(),
        )
    reach = [extent(k, d) for k, d in zip(w.shape[2:], steps, strict=True)]
    count = group_count(groups)
    if isinstance(w.shape[0], int) and w.shape[0] % count:
        raise ShapeError(
            "the channels do not fall into groups",
            expected=f"a multiple of {count} channels",
            found=image.describe(),
        )
    if not is_word(padding):
        given: Any = explicit_pairs(padding, rank)
    elif padding == "valid":
        given = ((0, 0),) * rank
    else:
        given = tuple(halves(r - s, padding) for r, s in zip(reach, strides, strict=True))
    # Cutting less off behind is what output padding means, whatever the stride.
    cut = tuple((low, high - more) for (low, high), more in zip(given, extra, strict=True))
    shape = tuple(
        (n - 1) * s + r - low - high
        for n, s, r, (low, high) in zip(image.shape[2:], strides, reach, cut, strict=True)
    )
    _check_sizes(shape, image)
    attributes = {
        "shape": shape, "strides": strides, "padding": cut, "dilation": steps, "groups": count
    }  # fmt: skip
    y = build("conv_input", (image, w), attributes)
    return _plus_bias(y, b, w.shape[1] * count, name)


def _check_sizes(shape: Shape, image: Tensor) -> None:
    if any(isinstance(size, int) and size < 0 for size in shape):
        raise ShapeError(
            "the padding cuts more off than there is",
            expected="sizes of at least 0",
            found=f"{shape_text(shape)}, from {image.describe()}",
        )
