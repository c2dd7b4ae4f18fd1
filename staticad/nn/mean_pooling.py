"""Means and norms of the elements of each window."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.dims import Shape
from staticad_schema.errors import ArgumentError
from staticad_schema.handle import floating
from staticad_schema.sites import asking

from .. import methods
from ..building import build
from ..operands import Operand, result, tensor
from ..options import flag, number
from ..tensor import Tensor
from .spatial import Each, Padding, Pairs, check_image, real_image
from .windows import Windows


def avg_pool1d(
    x: Operand,
    window: Each,
    stride: Each | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: float | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The mean of each window.  x: (batch, channels, length); as `avg_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.avg_pool1d([[[1.0, 2.0, 3.0]]], 3, stride=1, padding=1)
    >>> sad.Session(graph).run(y).round(3)
    array([[[1.   , 2.   , 1.667]]], dtype=float32)
    """
    with asking("avg_pool1d", name):
        return _avg_pool(1, x, window, stride, padding, ceil_mode, count_include_pad, divisor, name)


def avg_pool2d(
    x: Operand,
    window: Each,
    stride: Each | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: float | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The mean of each window.

    x: numbers, (batch, channels, height, width); integers give floats.  window, stride, padding,
    ceil_mode: as for `max_pool2d`; padding counts as zeros, or, with count_include_pad False,
    not at all.  What a window of ceil_mode covers behind the padding never counts.
    divisor: what to divide the sums by, instead of the number of elements.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.reshape(sad.arange(9.0), (1, 1, 3, 3))
    ...     y = sad.nn.avg_pool2d(x, 2, ceil_mode=True)
    >>> sad.Session(graph).run(y)
    array([[[[2. , 3.5],
             [6.5, 8. ]]]], dtype=float32)
    """
    with asking("avg_pool2d", name):
        return _avg_pool(2, x, window, stride, padding, ceil_mode, count_include_pad, divisor, name)


def avg_pool3d(
    x: Operand,
    window: Each,
    stride: Each | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: float | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The mean of each window.  x: (batch, channels, depth, height, width); as `avg_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.avg_pool3d(sad.ones((1, 1, 4, 4, 4)), (4, 2, 1))
    >>> y.shape
    (1, 1, 1, 2, 4)
    """
    with asking("avg_pool3d", name):
        return _avg_pool(3, x, window, stride, padding, ceil_mode, count_include_pad, divisor, name)


def _avg_pool(
    rank: int, x: Operand, window: Each, stride: Each | None, padding: Padding, ceil_mode: bool,
    count_include_pad: bool, divisor: float | None, name: str | None,
) -> Tensor:  # fmt: skip
    (image,) = floating(check_image(tensor(f"avg_pool{rank}d", x), rank))
    windows = Windows(image, window, stride, padding, 1, ceil_mode)
    # A float16 sum may overflow where the mean does not.
    wide = methods.widened(image)
    total = build("window_sum", (wide,), windows.attributes)
    padded = flag("count_include_pad", count_include_pad)
    if divisor is not None:
        by = number("divisor", divisor)
        if not by:
            raise ArgumentError("the divisor is 0", expected="another number", found="0")
        mean = build("divide", (total, by))
    else:
        mean = build("divide", (total, _count(wide, windows, padded)))
    return result(methods.cast(mean, image.type.dtype, name))


def _count(x: Any, windows: Windows, include_pad: bool) -> Any:
    """How many elements of each window count: a number, or a tensor that broadcasts."""
    padding: Pairs = windows.attributes["padding"]
    if include_pad:
        # The padding is counted as if it were there; what hangs over is not.
        sizes: Shape = tuple(
            low + n + high - over
            for n, (low, high), over in zip(windows.sizes, padding, windows.overhang, strict=True)
        )
        padding = tuple((0, over) for over in windows.overhang)
    else:
        sizes = windows.sizes
    if padding == ((0, 0),) * len(padding):
        return float(math.prod(windows.window))
    ones = build("broadcast_to", (x.coerce(1.0),), {"shape": (1, 1, *sizes)})
    return build("window_sum", (ones,), {**windows.attributes, "padding": padding})


def lp_pool1d(
    x: Operand,
    p: float,
    window: Each,
    stride: Each | None = None,
    ceil_mode: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The p-norm of each window.  x: (batch, channels, length); as `lp_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.lp_pool1d([[[3.0, -4.0, 0.0, 1.0]]], 2, 2)
    >>> sad.Session(graph).run(y)
    array([[[5., 1.]]], dtype=float32)
    """
    with asking("lp_pool1d", name):
        return _lp_pool(1, x, p, window, stride, ceil_mode, name)


def lp_pool2d(
    x: Operand,
    p: float,
    window: Each,
    stride: Each | None = None,
    ceil_mode: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The p-norm of each window, (sum of abs(x)^p)^(1/p); of an empty or zero one 0, with
    gradient 0.

    x: floats, (batch, channels, height, width).  p: at least 1; inf is the largest magnitude.
    window, stride, ceil_mode: as for `max_pool2d`.  Powers that leave the range of the dtype
    overflow, or vanish.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.lp_pool2d([[[[3.0, 0.0], [0.0, -4.0]]]], 2, 2)
    >>> sad.Session(graph).run(y)
    array([[[[5.]]]], dtype=float32)
    """
    with asking("lp_pool2d", name):
        return _lp_pool(2, x, p, window, stride, ceil_mode, name)


def lp_pool3d(
    x: Operand,
    p: float,
    window: Each,
    stride: Each | None = None,
    ceil_mode: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The p-norm of each window.  x: (batch, channels, depth, height, width); as `lp_pool2d`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.lp_pool3d(sad.ones((1, 1, 2, 2, 2)), 3, 2)
    >>> sad.Session(graph).run(y)
    array([[[[[2.]]]]], dtype=float32)
    """
    with asking("lp_pool3d", name):
        return _lp_pool(3, x, p, window, stride, ceil_mode, name)


def _lp_pool(
    rank: int, x: Operand, p: float, window: Each, stride: Each | None, ceil_mode: bool,
    name: str | None,
) -> Tensor:  # fmt: skip
    image = check_image(tensor(f"lp_pool{rank}d", x), rank)
    power = number("p", p, least=1, finite=False)
    windows = Windows(image, window, stride, 0, 1, ceil_mode)
    image = real_image(image)
    dtype = image.type.dtype
    wide = methods.widened(image)
    # Even powers are smooth at 0, where abs is not.
    base = wide if power % 2 == 0 else build("abs", (wide,))
    if math.isinf(power):
        norms, _ = build("max_pool", (build("abs", (wide,)),), windows.attributes)
    elif power == 1:
        norms = build("window_sum", (base,), windows.attributes)
    else:
        total = build("window_sum", (base**power,), windows.attributes)
        nothing = build("equal", (total, total.coerce(0.0)))
        # The root's slope at 0 is infinite, a norm's is 0: it is taken of a 1 there.
        safe = build("where", (nothing, total.coerce(1.0), total))
        root = build("sqrt", (safe,)) if power == 2 else safe ** (1.0 / power)
        norms = build("where", (nothing, total, root))
    return result(methods.cast(norms, dtype, name))
