"""The windows that pooling moves over an image."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Size
from staticad_schema.errors import ArgumentError
from staticad_schema.ops.windows import extent

from ..options import flag
from ..tensor import Tensor
from .spatial import Each, Padding, each, pairs


class Windows:
    """The windows over an image: what they are given as, completed and checked.

    attributes: those of the ops.  overhang: how far the last window of each axis reaches over
    what `padding` says.
    """

    def __init__(
        self, x: Tensor, window: Each, stride: Each | None, padding: Padding, dilation: Each,
        ceil_mode: bool,
    ) -> None:  # fmt: skip
        rank, sizes = x.ndim - 2, x.shape[2:]
        kernel = each("window size", window, rank)
        strides = kernel if stride is None else each("stride", stride, rank)
        steps = each("dilation", dilation, rank)
        reach = [extent(k, d) for k, d in zip(kernel, steps, strict=True)]
        given = pairs(padding, sizes, kernel, strides, steps)
        for r, pair in zip(reach, given, strict=True):
            if any(isinstance(p, int) and not 0 <= p <= r // 2 for p in pair):
                raise ArgumentError(
                    "padding is negative, or more than half of the window",
                    expected=f"from 0 to {r // 2}, for a window that reaches over {r} elements",
                    found=repr(padding),
                )
        self.sizes, self.given, self.window = sizes, given, kernel
        self.overhang: tuple[Size, ...] = (0,) * rank
        if flag("ceil_mode", ceil_mode):
            behind = [
                _ceiled(n, low, high, r, s)
                for n, (low, high), r, s in zip(sizes, given, reach, strides, strict=True)
            ]
            self.overhang = tuple(
                dims.maximum(b - high, 0) for b, (_, high) in zip(behind, given, strict=True)
            )
            given = tuple((low, b) for b, (low, _) in zip(behind, given, strict=True))
        self.attributes: dict[str, Any] = {
            "window": kernel, "strides": strides, "padding": given, "dilation": steps
        }  # fmt: skip


def _ceiled(size: Size, low: Size, high: Size, reach: Size, stride: int) -> Size:
    """The padding behind with which the number of windows is rounded up; none begins behind
    the last element."""
    count = dims.minimum(
        dims.ceildiv(size + low + high - reach, stride) + 1, dims.ceildiv(size + low, stride)
    )
    return (count - 1) * stride + reach - size - low
