"""Pooling whose windows follow from how many there are to be, down to one over everything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema.dims import Shape, Size, same_size
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.handle import floating
from staticad_schema.ops.windows import pitches
from staticad_schema.shapes import product
from staticad_schema.sites import asking
from staticad_schema.types import Array

from .. import dimensions, methods
from ..building import build, renamed
from ..operands import Operand, result, tensor
from ..tensor import Tensor
from .spatial import any_image, check_image


def adaptive_avg_pool1d(x: Operand, /, size: Any, *, name: str | None = None) -> Tensor:
    """The means of `size` windows that cover the length; as `adaptive_avg_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.adaptive_avg_pool1d([[[1.0, 2.0, 3.0]]], 2)
    >>> sad.Session(graph).run(y)
    array([[[1.5, 2.5]]], dtype=float32)
    """
    with asking("adaptive_avg_pool1d", name):
        return _adaptive_avg_pool(1, x, size, name)


def adaptive_avg_pool2d(x: Operand, /, size: Any, *, name: str | None = None) -> Tensor:
    """The means of so many windows that cover the image.

    x: numbers, (batch, channels, height, width); integers give floats.  size: how many windows,
    one number or one a spatial axis; None keeps the axis.  Window i of m over n elements reaches
    from i n / m, rounded down, to (i + 1) n / m, rounded up.  Raises ShapeError for a symbolic n,
    unless m is 1.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.reshape(sad.arange(9.0), (1, 1, 3, 3))
    ...     y = sad.nn.adaptive_avg_pool2d(x, (1, 2))
    >>> sad.Session(graph).run(y)
    array([[[[3.5, 4.5]]]], dtype=float32)
    """
    with asking("adaptive_avg_pool2d", name):
        return _adaptive_avg_pool(2, x, size, name)


def adaptive_avg_pool3d(x: Operand, /, size: Any, *, name: str | None = None) -> Tensor:
    """The means of so many windows that cover the volume; as `adaptive_avg_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.nn.adaptive_avg_pool3d(sad.zeros((2, 3, 8, 9, 10)), (4, None, 3))
    >>> y.shape
    (2, 3, 4, 9, 3)
    """
    with asking("adaptive_avg_pool3d", name):
        return _adaptive_avg_pool(3, x, size, name)


def _adaptive_avg_pool(rank: int, x: Operand, size: Any, name: str | None) -> Tensor:
    (image,) = floating(check_image(tensor(f"adaptive_avg_pool{rank}d", x), rank))
    return result(renamed(adaptive_mean(image, _counts(image, size)), name))


def adaptive_mean(image: Any, counts: Shape) -> Any:
    """The means of windows, of floats; along one axis after the other."""
    y = methods.widened(image)
    for axis, count in enumerate(counts, 2):
        y = _mean_along(y, axis, count)
    return y.astype(image.type.dtype)


def _mean_along(x: Any, axis: int, count: Size) -> Any:
    size = x.type.shape[axis]
    if same_size(size, count):
        return x
    if count == 1:
        return methods.mean(x, axis, True)
    starts, ends = _windows(size, count)
    width = int((ends - starts).max(initial=0))
    lengths = (ends - starts).reshape(-1, *(1,) * (x.type.ndim - 1 - axis))
    lead, rest = x.type.shape[:axis], x.type.shape[axis + 1 :]
    if width * len(starts) == size:
        parts = methods.reshape(x, (*lead, count, width, *rest))
    else:
        places = starts[:, None] + np.arange(width)
        inside = places < ends[:, None]
        at = x.graph.constant(np.minimum(places, max(int(size) - 1, 0)))
        parts = build("take", (x, at), {"axis": axis})
        kept = x.graph.constant(inside.reshape(*inside.shape, *(1,) * len(rest)))
        parts = build("where", (kept, parts, parts.coerce(0.0)))
    total = build("sum", (parts,), {"axis": (axis + 1,), "keepdims": False})
    return total / x.graph.constant(lengths.astype(x.type.dtype))


def _counts(image: Tensor, size: Any) -> Shape:
    """How many windows there are to be along each spatial axis."""
    rank = image.ndim - 2
    given = size if isinstance(size, tuple | list) else (size,) * rank
    if len(given) != rank:
        raise ArgumentError(
            "not one size a spatial axis", expected=f"one, or {rank}", found=repr(size)
        )
    return tuple(
        image.shape[2 + a] if n is None else dimensions.size(n) for a, n in enumerate(given)
    )


def _windows(size: Size, count: Size) -> tuple[Array, Array]:
    """Where the windows along an axis start and end.  Raises ShapeError if that is not known."""
    if not isinstance(size, int) or not isinstance(count, int):
        raise ShapeError(
            "the windows follow from sizes that are not known",
            expected="known sizes, or one window over all of the image",
            found=f"{count} windows over {size} elements",
        )
    if count and not size:
        raise ShapeError(
            "there is nothing to pool", expected="at least one element", found="size 0"
        )
    at = np.arange(dimensions.listed(count))
    # Windows may reach over one element more than an equal share.
    dimensions.listed(count * (-(-size // max(count, 1)) + 1))
    return at * size // max(count, 1), -(-(at + 1) * size // max(count, 1))


# ------------------------------------------------------------------ maxima


def adaptive_max_pool1d(x: Operand, /, size: Any, *, name: str | None = None) -> Tensor:
    """The largest elements of `size` windows that cover the length; as `adaptive_max_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.adaptive_max_pool1d([[[1.0, 2.0, 3.0]]], 2)
    >>> sad.Session(graph).run(y)
    array([[[2., 3.]]], dtype=float32)
    """
    with asking("adaptive_max_pool1d", name):
        return _adaptive_max_pool(1, x, size, name)


def adaptive_max_pool2d(x: Operand, /, size: Any, *, name: str | None = None) -> Tensor:
    """The largest elements of so many windows that cover the image.

    x: integers or floats, (batch, channels, height, width).  size, and the windows: as for
    `adaptive_avg_pool2d`.  Of equal elements the first counts; NaN is the largest.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.reshape(sad.arange(9.0), (1, 1, 3, 3))
    ...     y = sad.nn.adaptive_max_pool2d(x, 2)
    >>> sad.Session(graph).run(y)
    array([[[[4., 5.],
             [7., 8.]]]], dtype=float32)
    """
    with asking("adaptive_max_pool2d", name):
        return _adaptive_max_pool(2, x, size, name)


def adaptive_max_pool3d(x: Operand, /, size: Any, *, name: str | None = None) -> Tensor:
    """The largest elements of so many windows that cover the volume; as `adaptive_max_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.nn.adaptive_max_pool3d(sad.zeros((2, 3, 8, 9, 10)), (4, None, 3))
    >>> y.shape
    (2, 3, 4, 9, 3)
    """
    with asking("adaptive_max_pool3d", name):
        return _adaptive_max_pool(3, x, size, name)


def _adaptive_max_pool(rank: int, x: Operand, size: Any, name: str | None) -> Tensor:
    image = check_image(tensor(f"adaptive_max_pool{rank}d", x), rank)
    counts = _counts(image, size)
    if counts == (1,) * rank:
        return result(renamed(_largest(image), name))
    shape, pairs = image.shape[2:], []
    for n, count in zip(shape, counts, strict=True):
        starts, ends = _windows(n, count)
        places = starts[:, None] + np.arange(int((ends - starts).max(initial=0)))
        # Windows that are shorter look at their last element again, which changes no maximum.
        pairs.append(np.minimum(places, ends[:, None] - 1))
    windows, width = (math.prod(places.shape[k] for places in pairs) for k in (0, 1))
    dimensions.listed(windows * width)
    flat: Any = 0
    for a, (places, pitch) in enumerate(zip(pairs, pitches(tuple(map(int, shape))), strict=True)):
        before, behind = (1,) * a, (1,) * (rank - 1 - a)
        count, length = places.shape
        flat = flat + (places * pitch).reshape(*before, count, *behind, *before, length, *behind)
    if not windows:
        zero = image.coerce(0)
        return result(
            build("broadcast_to", (zero,), {"shape": (*image.shape[:2], *counts)}, label=name)
        )
    table = image.graph.constant(flat.reshape(windows, width))
    parts = build("take", (_flat(image), table), {"axis": 2})
    which = build("argmax", (parts,), {"axis": 3, "keepdims": True})
    found = build("take_along_axis", (parts, which), {"axis": 3})
    return result(methods.reshape(found, (*image.shape[:2], *counts), name))


def _flat(image: Tensor) -> Any:
    """The spatial axes as one."""
    return methods.reshape(image, (*image.shape[:2], product(image.shape[2:])))


def _largest(image: Tensor) -> Any:
    if 0 in image.shape[2:]:
        raise ShapeError(
            "there is nothing to pool",
            expected="at least one element along each spatial axis",
            found=image.describe(),
        )
    flat = _flat(image)
    place = build("argmax", (flat,), {"axis": 2, "keepdims": True})
    found = build("take_along_axis", (flat, place), {"axis": 2})
    return methods.reshape(found, (*image.shape[:2], *(1,) * (image.ndim - 2)))


# ------------------------------------------------------------------ over everything


def global_avg_pool(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The mean over all spatial axes, which stay with size 1.

    x: (batch, channels, *sizes), of any number of spatial axes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.global_avg_pool([[[[1.0, 2.0], [3.0, 6.0]]]])
    >>> sad.Session(graph).run(y)
    array([[[[3.]]]], dtype=float32)
    """
    with asking("global_avg_pool", name):
        image = any_image(tensor("global_avg_pool", x))
        return result(methods.mean(image, tuple(range(2, image.ndim)), True, name))


def global_max_pool(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The largest element over all spatial axes, which stay with size 1.

    x: (batch, channels, *sizes), of any number of spatial axes.  Of equal elements the first
    gets all of the gradient, as in pooling elsewhere; `sad.max` shares it.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.global_max_pool([[[[1.0, 2.0], [3.0, 6.0]]]])
    >>> sad.Session(graph).run(y)
    array([[[[6.]]]], dtype=float32)
    """
    with asking("global_max_pool", name):
        image = any_image(tensor("global_max_pool", x))
        return result(renamed(_largest(image), name))
