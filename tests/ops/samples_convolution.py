"""Samples of convolution and its transposes."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.types import as_dtype
from tests.ops.arrays import normal, real
from tests.ops.samples import Sample, Table

FLOATS = ("float16", "bfloat16", "float32")
Shape = tuple[int, ...]


def _given(
    rank: int, stride: int = 1, low: int = 0, high: int = 0, dilation: int = 1, groups: int = 1
) -> dict[str, Any]:
    return {
        "strides": (stride,) * rank,
        "padding": ((low, high),) * rank,
        "dilation": (dilation,) * rank,
        "groups": groups,
    }


# Shapes of x, of the weights and of the result, and the attributes.
CASES: list[tuple[Shape, Shape, Shape, dict[str, Any]]] = [
    ((2, 2, 5), (3, 2, 2), (2, 3, 4), _given(1)),
    # The stride leaves a remainder.
    ((1, 1, 5), (1, 1, 2), (1, 1, 2), _given(1, stride=2)),
    ((2, 1, 4, 5), (2, 1, 3, 2), (2, 2, 2, 4), _given(2)),
    # Runs of memory, of which most are windows.
    ((1, 1, 2, 12), (1, 1, 2, 2), (1, 1, 1, 11), _given(2)),
    ((1, 1, 3, 13), (2, 1, 2, 2), (1, 2, 2, 12), _given(2)),
    ((2, 2, 4, 4), (2, 2, 3, 3), (2, 2, 4, 4), _given(2, low=1, high=1)),
    ((1, 2, 5, 4), (2, 2, 2, 2), (1, 2, 3, 2), _given(2, stride=2, low=1, high=0)),
    ((1, 2, 6, 5), (1, 2, 2, 2), (1, 1, 5, 4), _given(2, low=-1, high=2, dilation=2)),
    # Groups, and a multiplier of each channel.
    ((2, 4, 3, 3), (2, 2, 2, 2), (2, 2, 2, 2), _given(2, groups=2)),
    ((1, 3, 4, 3), (6, 1, 2, 2), (1, 6, 2, 2), _given(2, stride=2, low=1, high=0, groups=3)),
    # One by one; dilation of it changes nothing.
    ((2, 3, 2, 3), (2, 3, 1, 1), (2, 2, 2, 3), _given(2, dilation=4)),
    ((1, 1, 3, 2, 3), (1, 1, 2, 2, 2), (1, 1, 2, 1, 2), _given(3)),
    ((1, 2, 3, 3, 2), (2, 1, 2, 1, 2), (1, 2, 2, 3, 2), _given(3, 2, 1, 1, groups=2)),
    # Nothing: no batch, no channels, no outputs, no elements.
    ((0, 2, 4), (3, 2, 2), (0, 3, 3), _given(1)),
    ((2, 0, 4), (3, 0, 2), (2, 3, 3), _given(1)),
    ((2, 2, 4), (0, 2, 2), (2, 0, 3), _given(1)),
    ((2, 2, 0), (3, 2, 1), (2, 3, 0), _given(1)),
    ((2, 1, 0), (3, 1, 2), (2, 3, 1), _given(1, low=1, high=1)),
]


def _samples(op: str) -> list[Sample]:
    found = []
    for x, w, y, given in CASES:
        if op == "conv":
            pair, more = (x, w), {}
        elif op == "conv_input":
            pair, more = (y, w), {"shape": x[2:]}
        else:
            pair, more = (x, y), {"shape": w[1:]}
        # Attributes do not turn symbolic with the operands.
        symbolic = not more
        arrays = (normal(*pair[0]), normal(*pair[1], seed=1))
        found.append(Sample(arrays, {**given, **more}, symbolic=symbolic))
        if len(found) == 7:
            numbers = tuple(normal(*s, dtype="complex128", seed=k) for k, s in enumerate(pair))
            found.append(Sample(numbers, {**given, **more}, symbolic=symbolic))
            for name in FLOATS:
                halves = tuple(a.astype(as_dtype(name)) for a in arrays)
                found.append(Sample(halves, {**given, **more}, symbolic=False))
            whole = tuple((3 * a).astype(np.int32) for a in arrays)
            found.append(Sample(whole, {**given, **more}, symbolic=symbolic))
    return found


SAMPLES: Table = {
    "conv": [
        *_samples("conv"),
        Sample(
            (real(1.0, np.inf, 2.0, np.nan).reshape(1, 1, 4), real(1.0, -1.0).reshape(1, 1, 2)),
            _given(1),
            smooth=False,
            expected=real(-np.inf, np.inf, np.nan).reshape(1, 1, 3),
        ),
    ],
    "conv_input": [
        *_samples("conv_input"),
        # A remainder of the stride gets nothing.
        Sample(
            (np.ones((1, 1, 2)), np.ones((1, 1, 2))),
            {**_given(1, stride=2), "shape": (5,)},
            symbolic=False,
            expected=real(1.0, 1.0, 1.0, 1.0, 0.0).reshape(1, 1, 5),
        ),
    ],
    "conv_weights": _samples("conv_weights"),
}
