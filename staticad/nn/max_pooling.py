"""Max pooling: the largest element of each window, where it stands, and back to there."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking

from .. import dimensions
from ..building import build, renamed
from ..operands import Operand, graph_of, result, tensor
from ..tensor import Tensor
from .spatial import Each, Padding, any_image, check_image
from .windows import Windows


def max_pool1d(
    x: Operand,
    window: Each,
    stride: Each | None = None,
    padding: Padding = 0,
    dilation: Each = 1,
    ceil_mode: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The largest element of each window.  x: (batch, channels, length); as `max_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.max_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    >>> sad.Session(graph).run(y)
    array([[[3., 2.]]], dtype=float32)
    """
    with asking("max_pool1d", name):
        return _max_pool(1, x, window, stride, padding, dilation, ceil_mode, name)


def max_pool2d(
    x: Operand,
    window: Each,
    stride: Each | None = None,
    padding: Padding = 0,
    dilation: Each = 1,
    ceil_mode: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The largest element of each window; NaN if there is one.  Padding is never chosen.

    x: integers or floats, (batch, channels, height, width).  window: its size, an int or one a
    spatial axis; stride: the window's size, if None.  padding: an int, one a spatial axis, pairs
    (before, behind), at most half of the window; or "valid", "same", "same_lower".  ceil_mode:
    a last window may reach over the edge, if it does not begin behind it.

    Returns a tensor of shape (batch, channels, *counts).  Of equal elements the first counts, and
    gets all of the gradient.  Raises ShapeError, ArgumentError for windows that do not fit.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.reshape(sad.arange(16.0), (1, 1, 4, 4))
    ...     y = sad.nn.max_pool2d(x, 2)
    >>> sad.Session(graph).run(y)
    array([[[[ 5.,  7.],
             [13., 15.]]]], dtype=float32)
    """
    with asking("max_pool2d", name):
        return _max_pool(2, x, window, stride, padding, dilation, ceil_mode, name)


def max_pool3d(
    x: Operand,
    window: Each,
    stride: Each | None = None,
    padding: Padding = 0,
    dilation: Each = 1,
    ceil_mode: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The largest element of each window.  x: (batch, channels, depth, height, width); as
    `max_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float32", ("batch", 8, 4, 6, 6), name="x")
    ...     y = sad.nn.max_pool3d(x, 2)
    >>> y.shape
    (Dim('batch'), 8, 2, 3, 3)
    """
    with asking("max_pool3d", name):
        return _max_pool(3, x, window, stride, padding, dilation, ceil_mode, name)


def _max_pool(
    rank: int, x: Operand, window: Each, stride: Each | None, padding: Padding, dilation: Each,
    ceil_mode: bool, name: str | None,
) -> Tensor:  # fmt: skip
    image = check_image(tensor(f"max_pool{rank}d", x), rank)
    windows = Windows(image, window, stride, padding, dilation, ceil_mode)
    values, _ = build("max_pool", (image,), windows.attributes)
    return result(renamed(values, name))


def max_pool_with_indices(
    x: Operand,
    window: Each,
    stride: Each | None = None,
    padding: Padding = 0,
    dilation: Each = 1,
    ceil_mode: bool = False,
    *,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window, and its place in x.

    x: as for `max_pool2d`, with any number of spatial axes.  The places are int64, all spatial
    axes counted as one: those by which `max_unpool` puts elements back.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y, places = sad.nn.max_pool_with_indices([[[1.0, 3.0, 2.0, 0.0]]], 2)
    >>> sad.Session(graph).run(places)
    array([[[1, 2]]])
    """
    with asking("max_pool_with_indices", name):
        image = any_image(tensor("max_pool_with_indices", x))
        windows = Windows(image, window, stride, padding, dilation, ceil_mode)
        values, indices = build("max_pool", (image,), windows.attributes)
        return result(renamed(values, name)), result(indices)


def max_unpool(x: Operand, indices: Operand, sizes: Any, *, name: str | None = None) -> Tensor:
    """Zeros of spatial sizes `sizes` with the elements of x added at their places.

    x: numbers, (batch, channels, *counts).  indices: int64, of that shape, as those of
    `max_pool_with_indices`; one out of range fails when it is met.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y, places = sad.nn.max_pool_with_indices([[[1.0, 3.0, 2.0, 0.0]]], 2)
    ...     z = sad.nn.max_unpool(y, places, 4)
    >>> sad.Session(graph).run(z)
    array([[[0., 3., 2., 0.]]], dtype=float32)
    """
    with asking("max_unpool", name):
        graph = graph_of("max_unpool", x, indices)
        image = any_image(tensor("max_unpool", x, graph))
        places = tensor("max_unpool", indices, graph)
        shape = dimensions.shape_of(sizes)
        if len(shape) != image.ndim - 2:
            raise ShapeError(
                "not one size a spatial axis",
                expected=f"{image.ndim - 2} sizes, for {image.describe()}",
                found=repr(sizes),
            )
        return result(build("unpool", (image, places), {"shape": shape}, label=name))
