"""Samples of the ops of neural networks."""

from __future__ import annotations

import numpy as np

from tests.ops.arrays import normal, real
from tests.ops.samples import Sample, Table, over

FLOATS = ("float16", "bfloat16", "float32")
INF, NAN = np.inf, np.nan


def _rows(*rows: list[float], dtype: str = "float64") -> np.ndarray[tuple[int, ...], np.dtype]:
    return np.array(rows, dtype)


SAMPLES: Table = {
    "relu": [
        Sample((normal(2, 3),)),
        Sample(
            (real(0.0, -1.0, INF, -INF, NAN, 1e-320),),
            smooth=False,
            expected=real(0.0, 0.0, INF, 0.0, NAN, 1e-320),
        ),
        *over((*FLOATS, "int8", "uint8"), lambda d: Sample((np.array([0, 3, 5], d),))),
    ],
    "gelu": [
        *(Sample((normal(2, 3),), {"approximate": a}) for a in (False, True)),
        *over(FLOATS, lambda d: Sample((normal(5).astype(d),), {"approximate": False})),
        *over(FLOATS, lambda d: Sample((normal(5).astype(d),), {"approximate": True})),
        Sample((normal(0, 2),), {"approximate": False}),
        Sample((normal(2, 1),), {"approximate": True}),
    ],
    **{
        name: [
            Sample((normal(2, 3),)),
            Sample((10 * normal(7),)),
            *over(FLOATS, lambda d: Sample((3 * normal(5).astype(d),))),
            Sample((normal(0, 2),)),
            Sample((normal(2, 1),)),
            Sample(
                (real(0.0, -0.0, 1e4, -1e4, INF, -INF, NAN),),
                smooth=False,
                expected=real(0.0, -0.0, 1e4, -0.0, INF, 0.0, NAN),
            ),
        ]
        for name in ("silu", "mish")
    },
    "softsign": [
        Sample((normal(2, 3),)),
        *over(FLOATS, lambda d: Sample((3 * normal(5).astype(d),))),
        Sample(
            (real(0.0, -0.0, 1.0, -3.0, INF, -INF, NAN),),
            smooth=False,
            expected=real(0.0, -0.0, 0.5, -0.75, 1.0, -1.0, NAN),
        ),
    ],
    "softmax": [
        *(Sample((normal(2, 3, 2),), {"axis": axis}) for axis in (0, 1, 2)),
        *over(FLOATS, lambda d: Sample((normal(2, 3).astype(d),), {"axis": 1})),
        Sample(
            (_rows([-INF, -INF], [1000.0, 0.0], [0.0, -INF]),),
            {"axis": 1},
            smooth=False,
            expected=_rows([NAN, NAN], [1.0, 0.0], [1.0, 0.0]),
        ),
        Sample((normal(2, 0),), {"axis": 1}),
        Sample((normal(0, 2),), {"axis": 1}),
        Sample((normal(2, 1),), {"axis": 1}),
    ],
    "log_softmax": [
        *(Sample((normal(2, 3, 2),), {"axis": axis}) for axis in (0, 1, 2)),
        *over(FLOATS, lambda d: Sample((normal(2, 3).astype(d),), {"axis": 1})),
        Sample(
            (_rows([-INF, -INF], [1000.0, 0.0], [0.0, -INF]),),
            {"axis": 1},
            smooth=False,
            expected=_rows([NAN, NAN], [0.0, -1000.0], [0.0, -INF]),
        ),
        Sample((normal(2, 0),), {"axis": 1}),
        Sample((normal(2, 1),), {"axis": 1}),
    ],
    "cross_entropy": [
        Sample((normal(2, 3), np.array([2, 0], np.int32)), {"axis": 1}),
        Sample((normal(3, 2), np.array([2, 0], np.uint8)), {"axis": 0}),
        Sample((normal(2, 3, 2), np.array([[0, 1], [2, 2]])), {"axis": 1}),
        Sample((normal(0, 3), np.zeros(0, np.int64)), {"axis": 1}),
        Sample((normal(2, 1), np.zeros(2, np.int64)), {"axis": 1}),
        *over(FLOATS, lambda d: Sample((normal(2, 3).astype(d), np.array([1, 0])), {"axis": 1})),
    ],
    "normalize": [
        Sample((normal(2, 0),), {"axis": (1,), "epsilon": 1e-5}, smooth=False),
        Sample((normal(0, 3),), {"axis": (1,), "epsilon": 1e-5}),
        Sample((normal(2, 1),), {"axis": (1,), "epsilon": 1e-5}),
        *(
            Sample((normal(2, 3, 2),), {"axis": axis, "epsilon": 1e-5})
            for axis in ((0,), (1, 2), (2,))
        ),
        *over(FLOATS, lambda d: Sample((normal(2, 5).astype(d),), {"axis": (1,), "epsilon": 1e-5})),
        *(
            Sample((normal(2, 3, 2),), {"axis": axis, "epsilon": 1e-5, "center": False})
            for axis in ((0,), (1, 2))
        ),
        Sample((normal(0, 3),), {"axis": (1,), "epsilon": 1e-5, "center": False}),
        Sample((np.zeros((2, 3)),), {"axis": (1,), "epsilon": 0.25, "center": False}),
    ],
}
