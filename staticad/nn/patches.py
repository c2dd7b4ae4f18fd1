"""Windows as columns, and columns summed up again; normalisation over neighbouring channels."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Shape, Size
from staticad_schema.errors import ShapeError
from staticad_schema.ops.shape import zeros
from staticad_schema.ops.windows import extent, window_counts
from staticad_schema.shapes import product, shape_text
from staticad_schema.sites import asking
from staticad_schema.types import INT64

from .. import dimensions, methods
from ..building import build
from ..finding import at_least
from ..operands import Operand, result, tensor
from ..options import number
from ..tensor import Tensor
from .spatial import Each, any_image, each, real_image


def unfold(
    x: Operand,
    kernel_size: Each,
    *,
    stride: Each = 1,
    padding: Each = 0,
    dilation: Each = 1,
    name: str | None = None,
) -> Tensor:
    """The windows over an image as columns: im2col.

    x: any dtype, (batch, channels, *sizes).  kernel_size, stride, padding (zeros at both ends),
    dilation: an int, or one a spatial axis.  Returns (batch, channels times elements of the
    kernel, windows), windows counted in row-major order.  `fold` is its transpose.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.unfold([[[1.0, 2.0, 3.0]]], 2)
    >>> sad.Session(graph).run(y)
    array([[[1., 2.],
            [2., 3.]]], dtype=float32)
    """
    with asking("unfold", name):
        image = any_image(tensor("unfold", x))
        rank = image.ndim - 2
        kernel, strides, pads, steps = _numbers(rank, kernel_size, stride, padding, dilation)
        counts = _window_counts(image.shape[2:], kernel, strides, pads, steps)
        reach = (extent(k, s) - 2 * p for k, s, p in zip(kernel, steps, pads, strict=True))
        y: Any = at_least(image, (0, 0, *reach))
        if any(pads):
            widths = ((0, 0), (0, 0), *((p, p) for p in pads))
            y = build("pad", (y,), {"widths": widths, "value": 0})
        # From the last axis to the first, each becomes (kernel, windows).
        for a in reversed(range(rank)):
            at = _places(y, kernel[a], counts[a], strides[a], steps[a])
            y = build("take", (y, at), {"axis": 2 + a})
        order = (0, 1, *(2 + 2 * a for a in range(rank)), *(3 + 2 * a for a in range(rank)))
        columns = methods.permute(y, order)
        depth = image.shape[1] * math.prod(kernel)
        return result(methods.reshape(columns, (image.shape[0], depth, product(counts)), name))


def fold(
    x: Operand,
    sizes: Any,
    kernel_size: Each,
    *,
    stride: Each = 1,
    padding: Each = 0,
    dilation: Each = 1,
    name: str | None = None,
) -> Tensor:
    """Columns of windows summed up to an image: col2im, the transpose of `unfold`.

    x: numbers, (batch, channels times elements of the kernel, windows).  sizes: the spatial sizes
    of the image, one a spatial axis.  The others are those of `unfold`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.fold([[[1.0, 2.0], [2.0, 3.0]]], (3,), 2)
    >>> sad.Session(graph).run(y)
    array([[[1., 4., 3.]]], dtype=float32)
    """
    with asking("fold", name):
        columns = tensor("fold", x)
        shape = dimensions.shape_of(sizes)
        rank = len(shape)
        kernel, strides, pads, steps = _numbers(rank, kernel_size, stride, padding, dilation)
        counts = _window_counts(shape, kernel, strides, pads, steps)
        depth = math.prod(kernel)
        channels = dims.floordiv(columns.shape[1], depth) if columns.ndim == 3 else 0
        fits = columns.ndim == 3 and (
            dims.same_size(channels * depth, columns.shape[1]) is not False
            and dims.same_size(product(counts), columns.shape[2]) is not False
        )
        if not fits:
            raise ShapeError(
                "not the columns of such windows",
                expected=f"(batch, a multiple of {depth}, {product(counts)})",
                found=columns.describe(),
            )
        batch = columns.shape[0]
        y = methods.reshape(columns, (batch, channels, *kernel, *counts))
        # Each axis, (kernel, windows) in front, is added up to one axis behind all others.
        for a in range(rank):
            front = (2, 2 + rank - a)
            rest = tuple(k for k in range(y.type.ndim) if k not in front)
            y = methods.permute(y, (*front, *rest))
            at = _places(y, kernel[a], counts[a], strides[a], steps[a])
            whole = zeros(y, (shape[a] + 2 * pads[a], *y.type.shape[2:]))
            y = build("scatter_add", (whole, y, at), {"axes": (0,)})
            y = methods.permute(y, (*range(1, y.type.ndim), 0))
        y = at_least(y, (0, 0, *map(extent, kernel, steps)))
        if any(pads):
            inner = tuple((p, p + n, 1) for n, p in zip(shape, pads, strict=True))
            y = build("slice", (y,), {"slices": ((None, None, 1), (None, None, 1), *inner)})
        return result(methods.reshape(y, (batch, channels, *shape), name))


def _numbers(rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    return (
        each("kernel size", kernel, rank),
        each("stride", stride, rank),
        each("padding", padding, rank, 0),
        each("dilation", dilation, rank),
    )


def _window_counts(shape: Shape, kernel: Any, strides: Any, pads: Any, steps: Any) -> Shape:
    counts = window_counts(shape, kernel, strides, tuple((p, p) for p in pads), steps)
    if any(isinstance(n, int) and n < 1 for n in counts):
        raise ShapeError(
            "there is no window", expected="at least one element", found=shape_text(shape)
        )
    return counts


def _places(x: Any, kernel: int, count: Size, stride: int, dilation: int) -> Any:
    """Where the elements of the windows are along an axis: (kernel, windows)."""

    def counted(shape: Shape, axis: int) -> Any:
        return x.graph.source("iota", {"shape": shape, "axis": axis, "dtype": INT64})

    return counted((kernel, 1), 0) * dilation + counted((1, count), 1) * stride


def local_response_norm(
    x: Operand,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    *,
    name: str | None = None,
) -> Tensor:
    """x / (k + alpha mean(x^2))^beta, the mean over `size` neighbouring channels.

    x: floats, (batch, channels, ...).  Of the neighbours size // 2 are before a channel and
    (size - 1) // 2 behind it; those that do not exist count as 0.  Krizhevsky et al. 2012.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.local_response_norm([[[1.0], [2.0]]], 2, alpha=2.0, beta=1.0)
    >>> sad.Session(graph).run(y).round(3)
    array([[[0.5  ],
            [0.333]]], dtype=float32)
    """
    with asking("local_response_norm", name):
        given = tensor("local_response_norm", x)
        if given.ndim < 2:
            raise ShapeError(
                "there is no channel", expected="rank 2 or more", found=given.describe()
            )
        image = real_image(given)
        wide = methods.widened(image)
        count = each("size", size, 1)[0]
        batch, channels, *rest = image.type.shape
        squares = methods.reshape(wide * wide, (batch, 1, channels, product(tuple(rest))))
        near = {
            "window": (count, 1),
            "strides": (1, 1),
            "padding": ((count // 2, (count - 1) // 2), (0, 0)),
            "dilation": (1, 1),
        }
        sums = methods.reshape(build("window_sum", (squares,), near), image.type.shape)
        share = number("alpha", alpha) / count
        base = sums * share + number("k", k)
        power = base ** number("beta", beta)
        return result(methods.cast(wide / power, image.type.dtype, name))
