"""Samples of pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.arrays import distinct, normal, real
from tests.ops.samples import Sample, Table, over

FLOATS = ("float16", "bfloat16", "float32")
INF, NAN = np.inf, np.nan
Shape = tuple[int, ...]


def _given(
    *window: int, stride: int = 1, low: int = 0, high: int = 0, dilation: int = 1
) -> dict[str, Any]:
    rank = len(window)
    return {
        "window": window,
        "strides": (stride,) * rank,
        "padding": ((low, high),) * rank,
        "dilation": (dilation,) * rank,
    }


# Shapes of x and of the result, and the attributes.
CASES: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((2, 1, 5), (2, 1, 4), _given(2)),
    ((1, 2, 5), (1, 2, 2), _given(2, stride=2)),
    ((2, 2, 4, 4), (2, 2, 2, 2), _given(2, 2, stride=2)),
    ((1, 2, 4, 5), (1, 2, 2, 3), _given(3, 3, stride=2, low=1, high=1)),
    ((1, 1, 5, 4), (1, 1, 5, 4), _given(2, 3, low=1, high=1, dilation=1) | {
        "padding": ((0, 1), (1, 1))}),
    ((1, 1, 6, 5), (1, 1, 4, 3), _given(2, 2, dilation=2)),
    ((1, 1, 5, 6), (1, 1, 3, 4), _given(2, 2, low=-1, high=0)),
    ((1, 2, 3, 2, 3), (1, 2, 2, 1, 2), _given(2, 2, 2)),
    ((0, 2, 4), (0, 2, 3), _given(2)),
    ((2, 0, 4), (2, 0, 3), _given(2)),
    ((2, 2, 0), (2, 2, 0), _given(1)),
    ((1, 1, 1), (1, 1, 1), _given(1)),
]  # fmt: skip


def _places(x: Shape, y: Shape) -> np.ndarray[Any, np.dtype[np.int64]]:
    size = max(int(np.prod(x[2:])), 1)
    return np.asarray(distinct(*y, dtype="int64") % size)


def _row(*values: float) -> np.ndarray[Any, Any]:
    return real(*values).reshape(1, 1, -1)


SAMPLES: Table = {
    "max_pool": [
        *(Sample((distinct(*x),), given) for x, _, given in CASES),
        *over(FLOATS, lambda d: Sample((normal(2, 4, 4).astype(d),), _given(2))),
        *over(
            ("int8", "uint16"), lambda d: Sample((distinct(2, 1, 6, 6).astype(d),), _given(3, 2))
        ),
        Sample(
            (_row(1.0, 1.0, -INF, -INF, NAN, 2.0, NAN, 0.0, -0.0),),
            _given(2, low=1, high=1),
            smooth=False,
        ),
        Sample((np.full((1, 1, 3, 3), -INF),), _given(3, 3, low=1, high=1), smooth=False),
        Sample((np.full((1, 1, 3, 3), -128, np.int8),), _given(3, 3, low=1, high=1)),
    ],
    "unpool": [
        *(
            Sample((normal(*y), _places(x, y)), {"shape": x[2:]}, symbolic=False)
            for x, y, _ in CASES
        ),
        *over(
            FLOATS,
            lambda d: Sample(
                (normal(1, 1, 3).astype(d), np.array([[[2, 0, 2]]])), {"shape": (4,)}
            ),
        ),
        Sample(
            (np.array([[[1, 2, 4]]], np.int16), np.array([[[2, 0, 2]]])), {"shape": (2, 2)}
        ),
        Sample(
            (normal(1, 1, 3, dtype="complex128"), np.array([[[2, 0, 2]]])), {"shape": (4,)}
        ),
    ],
    "window_sum": [
        *(Sample((normal(*x),), given) for x, _, given in CASES),
        *over(FLOATS, lambda d: Sample((normal(2, 4, 4).astype(d),), _given(2))),
        Sample((normal(1, 2, 4, dtype="complex128"),), _given(2, low=1)),
        Sample((distinct(1, 2, 4, dtype="int32"),), _given(2, stride=3, high=2)),
        Sample(
            (_row(1.0, INF, 2.0, 3.0, NAN),),
            _given(2),
            smooth=False,
            expected=_row(INF, INF, 5.0, NAN),
        ),
    ],
    "window_spread": [
        *(Sample((normal(*y),), given | {"shape": x[2:]}, symbolic=False) for x, y, given in CASES),
        *over(
            FLOATS,
            lambda d: Sample((normal(2, 4, 3).astype(d),), _given(2) | {"shape": (4,)}),
        ),
        Sample((normal(1, 2, 4, dtype="complex128"),), _given(2, low=1) | {"shape": (4,)}),
        Sample(
            (np.ones((1, 1, 2)),),
            _given(2, stride=2) | {"shape": (5,)},
            expected=_row(1.0, 1.0, 1.0, 1.0, 0.0),
        ),
    ],
}  # fmt: skip
