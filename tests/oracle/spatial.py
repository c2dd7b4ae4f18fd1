"""The golden cases' functions of windows over spatial axes.

Layouts are batch, channels, sizes; pads come as all of those before, then all of those behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import staticad as sad

Ints = list[int]


def _pairs(pads: Ints) -> tuple[tuple[int, int], ...]:
    half = len(pads) // 2
    return tuple(zip(pads[:half], pads[half:], strict=True))


def _of_rank(name: str, rank: int) -> Any:
    return getattr(sad.nn, f"{name}{rank}d")


def _conv(x: Any, w: Any, b: Any, strides: Ints, pads: Ints, dilations: Ints, group: int) -> Any:
    return _of_rank("conv", x.ndim - 2)(
        x, w, b, stride=strides, padding=_pairs(pads), dilation=dilations, groups=group
    )


def _conv_transpose(
    x: Any, w: Any, b: Any, strides: Ints, pads: Ints, dilations: Ints, group: int,
    output_padding: Ints,
) -> Any:  # fmt: skip
    return _of_rank("conv_transpose", x.ndim - 2)(
        x, w, b, stride=strides, padding=_pairs(pads), output_padding=output_padding,
        dilation=dilations, groups=group,
    )  # fmt: skip


def _max_pool(x: Any, kernel_shape: Ints, strides: Ints, pads: Ints) -> Any:
    return _of_rank("max_pool", x.ndim - 2)(x, kernel_shape, stride=strides, padding=_pairs(pads))


def _avg_pool(
    x: Any, kernel_shape: Ints, strides: Ints, pads: Ints, count_include_pad: int = 0
) -> Any:
    return _of_rank("avg_pool", x.ndim - 2)(
        x, kernel_shape, stride=strides, padding=_pairs(pads),
        count_include_pad=bool(count_include_pad),
    )  # fmt: skip


def _lp_pool(x: Any, kernel_shape: Ints, strides: Ints, p: float) -> Any:
    return _of_rank("lp_pool", x.ndim - 2)(x, p, kernel_shape, stride=strides)


def _lrn(x: Any, size: int, alpha: float, beta: float, bias: float) -> Any:
    return sad.nn.local_response_norm(x, size, alpha=alpha, beta=beta, k=bias)


def _resize_bilinear(x: Any, size: Ints, align_corners: bool) -> Any:
    return sad.nn.interpolate(x, tuple(size), mode="bilinear", align_corners=align_corners)


SPATIAL: dict[str, Callable[..., Any]] = {
    "conv": _conv,
    "conv_transpose": _conv_transpose,
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "lp_pool": _lp_pool,
    "global_avg_pool": sad.nn.global_avg_pool,
    "global_max_pool": sad.nn.global_max_pool,
    "lrn": _lrn,
    "resize_bilinear": _resize_bilinear,
}
