"""Samples of the reductions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from staticad_schema.types import NAMES, Array
from tests.ops.arrays import distinct, integers, normal, real
from tests.ops.samples import Sample, Table, over

AXES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (0, 2), (0, 1, 2))
REALS = tuple(n for n in NAMES if n != "bool" and not n.startswith("complex"))
NUMBERS = tuple(n for n in NAMES if n != "bool")
FLOATS = ("float16", "bfloat16", "float32")
FIRST = {"axis": (0,), "keepdims": False}
INF, NAN = np.inf, np.nan


def _every_way(x: Array) -> Iterator[Sample]:
    for axis in AXES:
        for keepdims in (False, True):
            yield Sample((x,), {"axis": axis, "keepdims": keepdims})


def _known(x: Array, expected: Array, smooth: bool = False, tolerance: float = 0.0) -> Sample:
    return Sample((x,), FIRST, smooth=smooth, expected=expected, tolerance=tolerance)


def _half(dtype: str) -> Sample:
    # Partial sums leave float16's range, and exceed bfloat16's precision.
    x = real(*[32000] * 4, *[-32000] * 4, dtype=dtype)
    return Sample((x,), FIRST, expected=np.array(0, dtype))


def _located(sign: int) -> list[Sample]:
    up = (sign * distinct(2, 3, 2)).astype(np.float64)
    return [
        *(Sample((up,), {"axis": a, "keepdims": k}) for a in (0, 1, 2) for k in (False, True)),
        Sample(
            (real(sign, NAN, 3 * sign, NAN),),
            {"axis": 0, "keepdims": False},
            expected=np.array(1),
        ),
        Sample(
            (real(0, 2 * sign, 2 * sign),),
            {"axis": 0, "keepdims": False},
            expected=np.array(1),
        ),
        Sample((normal(0, 3),), {"axis": 1, "keepdims": False}),
        Sample((normal(2, 1),), {"axis": 1, "keepdims": False}),
        *over(REALS, lambda d: Sample((integers(d, 2, 3),), {"axis": 1, "keepdims": False})),
    ]


SMALL = (
    Sample((normal(1, 2),), FIRST),
    Sample((normal(2, 1),), FIRST),
    Sample((normal(2, 0),), FIRST),
)

NEAR_ZERO = real(5e-200, INF, NAN, 2**-1074)

SAMPLES: Table = {
    "sum": [
        *SMALL,
        *_every_way(normal(2, 3, 2)),
        Sample((normal(2, 3, dtype="complex128"),), {"axis": (1,), "keepdims": False}),
        _known(np.zeros((0, 2)), real(0, 0)),
        _half("float16"),
        _half("bfloat16"),
        Sample(
            (np.ones(5000, np.dtype(NAMES["bfloat16"])),),
            FIRST,
            expected=np.array(4992, NAMES["bfloat16"]),
        ),
        _known(real(200, 100, dtype="uint8"), np.array(44, np.uint8)),
        *over(NUMBERS, lambda d: Sample((integers(d, 2, 3),), {"axis": (1,), "keepdims": False})),
    ],
    "prod": [
        *SMALL,
        *_every_way(normal(2, 3, 2)),
        Sample((normal(4, dtype="complex128"),), FIRST),
        # Zeros: the derivatives are exact there, to any order.
        Sample((real(2, 0, 3, 4),), FIRST),
        Sample((real(0, 0, 3),), FIRST),
        Sample((real([1, 0, 2], [0, 3, 0]),), {"axis": (0, 1), "keepdims": True}),
        _known(np.zeros((0, 2)), real(1, 1)),
        *over(NUMBERS, lambda d: Sample((integers(d, 2, 3),), {"axis": (1,), "keepdims": False})),
    ],
    "max": [
        *SMALL,
        *_every_way(distinct(2, 3, 2)),
        _known(real(1, NAN, 2), np.array(NAN)),
        _known(real(-INF, -INF), np.array(-INF)),
        Sample((normal(0, 4),), {"axis": (1,), "keepdims": False}),
        *over(REALS, lambda d: Sample((distinct(2, 3, dtype=d.name),), FIRST)),
    ],
    "min": [
        *SMALL,
        *_every_way(distinct(2, 3, 2)),
        _known(real(1, NAN, 2), np.array(NAN)),
        _known(real(INF, INF), np.array(INF)),
        _known(real(9, *[8] * 20), np.array(8.0)),
        Sample((normal(0, 4),), {"axis": (1,), "keepdims": False}),
        *over(REALS, lambda d: Sample((distinct(2, 3, dtype=d.name),), FIRST)),
    ],
    "argmax": _located(1),
    "argmin": _located(-1),
    "any": [
        *SMALL,
        *_every_way(np.eye(2)[:, None, :].repeat(3, 1)),
        _known(np.zeros((0, 2)), np.array([False, False])),
        _known(real(0, NAN), np.array(True)),
        *over(NAMES, lambda d: Sample((integers(d, 2, 3),), {"axis": (1,), "keepdims": False})),
    ],
    "all": [
        *SMALL,
        *_every_way(np.eye(2)[:, None, :].repeat(3, 1)),
        _known(np.zeros((0, 2)), np.array([True, True])),
        _known(real(1, NAN), np.array(True)),
        *over(NAMES, lambda d: Sample((integers(d, 2, 3),), {"axis": (1,), "keepdims": False})),
    ],
    "logsumexp": [
        *SMALL,
        *_every_way(normal(2, 3, 2)),
        Sample((real([1000, 1000], [-1000, -1001]),), {"axis": (1,), "keepdims": False}),
        _known(real(-INF, -INF), np.array(-INF)),
        _known(real(INF, 0), np.array(INF)),
        _known(real(INF, -INF), np.array(INF)),
        _known(real(NAN, INF), np.array(NAN)),
        _known(np.zeros((0, 2)), real(-INF, -INF)),
        Sample((real(1000, 1000, dtype="float32"),), FIRST),
        *over(FLOATS, lambda d: Sample((integers(d, 2, 3),), {"axis": (1,), "keepdims": False})),
    ],
    "norm_direction": [
        *(
            Sample((normal(2, 3, 2), np.exp(normal(*shape))), {"axis": axis})
            for axis, shape in (((1,), (2, 1, 2)), ((0, 2), (1, 3, 1)), ((), (2, 3, 2)))
        ),
        Sample((normal(2, 3, dtype="complex128"), np.exp(normal(2, 1))), {"axis": (1,)}),
        Sample((np.zeros((0, 2)), np.zeros((1, 2))), {"axis": (0,)}, smooth=False),
        *over(
            FLOATS, lambda d: Sample((integers(d, 2, 3), np.array([[2], [4]], d)), {"axis": (1,)})
        ),
        Sample(
            (
                real([1.5e308, 0, -INF, 3e-320, NAN, INF], [1.5e308, 0, 5, 4e-320, 1, -INF]),
                real([INF, 0, INF, 5e-320, NAN, INF]),
            ),
            {"axis": (0,)},
            smooth=False,
            expected=real(
                [0.5**0.5, 0, -1, 0.6, NAN, 0.5**0.5], [0.5**0.5, 0, 0, 0.8, NAN, -(0.5**0.5)]
            ),
            tolerance=1e-4,
        ),
    ],
    "norm": [
        *SMALL[:2],
        *_every_way(normal(2, 3, 2)),
        Sample((normal(2, 3, dtype="complex128"),), {"axis": (1,), "keepdims": False}),
        Sample((normal(2, 3, 2, dtype="complex128"),), {"axis": (0, 2), "keepdims": True}),
        _known(np.zeros((0, 2)), real(0, 0)),
        _known(
            real([3e200, 0, 3, INF], [4e200, 0, 4, -1]), real(5e200, 0, 5, INF), tolerance=1e-15
        ),
        _known(
            real([3e-200, -INF, NAN, 2**-1074], [4e-200, INF, 0, 0]), NEAR_ZERO, tolerance=1e-15
        ),
        _known(np.array([3e200j, 4e200]), np.array(5e200), tolerance=1e-15),
        _known(real(NAN, INF), np.array(NAN)),
        _known(real(3e30, 4e30, dtype="float32"), np.array(5e30, "float32"), tolerance=1e-7),
        _known(real(300, 400, dtype="float16"), np.array(500, "float16")),
        Sample((real(3e-200, 4e-200),), FIRST, smooth=False),
        *over(FLOATS, lambda d: Sample((integers(d, 2, 3),), {"axis": (1,), "keepdims": False})),
    ],
    "sum_to": [
        Sample((normal(4, 2, 3, 5),), {"shape": (2, 1, 5)}),
        Sample((normal(2, 3),), {"shape": ()}),
        Sample((normal(1, 3),), {"shape": (3,)}),
        Sample((normal(2, 3),), {"shape": (2, 3)}),
        Sample((normal(2, 3),), {"shape": (1, 1)}),
        Sample((normal(2, 3, dtype="complex128"),), {"shape": (3,)}),
        Sample((normal(0, 3),), {"shape": (1, 3)}, expected=np.zeros((1, 3))),
        Sample(
            (real(*[32000] * 4, *[-32000] * 4, dtype="float16"),),
            {"shape": ()},
            expected=np.array(0, np.float16),
        ),
        *over(NUMBERS, lambda d: Sample((integers(d, 2, 3),), {"shape": (3,)})),
    ],
}
