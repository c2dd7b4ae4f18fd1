"""Samples of attention and of what it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.types import Array
from tests.ops.arrays import normal, real
from tests.ops.samples import Sample, Table, over

FLOATS = ("float16", "bfloat16", "float32")
INF, NAN = np.inf, np.nan
KEEP = np.array([[True, False, True], [False, False, False], [True, True, True]])
NONE = np.zeros(())


def _qkv(queries: int, keys: int, *lead: int, dtype: Any = "float64") -> tuple[Array, ...]:
    shapes = ((queries, 3), (keys, 3), (keys, 2))
    return tuple(normal(*lead, *s, seed=k).astype(dtype) for k, s in enumerate(shapes))


def _bias(*shape: int) -> Array:
    """Numbers, and -inf: of one pair, and of all keys of the last query."""
    bias = normal(*shape)
    bias[..., 0, 1] = -INF
    bias[..., -1, :] = -INF
    return bias


SAMPLES: Table = {
    "masked_softmax": [
        *(Sample((normal(3, 3), KEEP), {"axis": axis}) for axis in (0, 1)),
        Sample((normal(2, 3, 3), KEEP), {"axis": 2}),
        Sample((normal(3), KEEP), {"axis": 1}),
        Sample((normal(3, 3), KEEP[0]), {"axis": 0}),
        Sample((normal(3, 3), KEEP[:, :1]), {"axis": 1}),
        Sample((normal(0, 3), KEEP[0]), {"axis": 1}),
        Sample((normal(3, 0), KEEP[:, :1]), {"axis": 1}),
        Sample((normal(2, 1), KEEP[:2, :1]), {"axis": 1}),
        *over(FLOATS, lambda d: Sample((normal(3, 3).astype(d), KEEP), {"axis": 1})),
        Sample(
            (
                real([0.0, NAN, 0.0], [INF, NAN, 1.0], [1e3, 0.0, -INF], [-INF, -INF, -INF]),
                KEEP[[0, 1, 2, 0]],
            ),
            {"axis": 1},
            smooth=False,
            expected=real([0.5, 0.0, 0.5], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [NAN, 0.0, NAN]),
        ),
    ],
    "matmul_no_nan": [
        *(Sample((normal(2, 3), normal(3, 4)), {"value": v}) for v in (False, True)),
        Sample(
            (normal(2, 3, dtype="complex128"), normal(3, 4, dtype="complex128")), {"value": True}
        ),
        Sample((normal(2, 1, 2, 3), normal(3, 3, 2)), {"value": True}),
        Sample((normal(2, 0), normal(0, 4)), {"value": True}),
        Sample((normal(2, 1), normal(1, 1)), {"value": True}),
        *over(
            FLOATS,
            lambda d: Sample((normal(2, 3).astype(d), normal(3, 4).astype(d)), {"value": True}),
        ),
        *(
            Sample(
                (
                    real([1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
                    real([1.0, 2.0], [INF, 3.0], [NAN, -INF]),
                ),
                {"value": v},
                smooth=False,
                expected=real([1.0, 2.0], [INF, 5.0], [NAN, -INF])
                if v
                else real([NAN, NAN], [NAN, NAN], [NAN, -INF]),
            )
            for v in (False, True)
        ),
        # An infinity on both sides is one of the product.
        Sample(
            (real([INF, 0.0], [1.0, 0.0]), real([INF, -1.0], [NAN, 2.0])),
            {"value": True},
            smooth=False,
            expected=real([INF, -INF], [INF, -1.0]),
        ),
    ],
    "attention": [
        *(
            Sample((*_qkv(3, 4), bias), {"causal": causal, "scale": 0.7})
            for causal in (False, True)
            for bias in (NONE, normal(3, 4), _bias(3, 4))
        ),
        Sample((*_qkv(3, 4, 2), _bias(2, 3, 4)), {"causal": False, "scale": 1.0}),
        Sample(
            (normal(2, 2, 3, 4), normal(2, 1, 3, 4), normal(3, 2), normal(3)),
            {"causal": True, "scale": 1.0},
        ),
        Sample((*_qkv(1, 1), NONE), {"causal": True, "scale": 1.0}),
        Sample((*_qkv(2, 0), NONE), {"causal": False, "scale": 1.0}),
        Sample((*_qkv(0, 2), NONE), {"causal": False, "scale": 1.0}),
        *over(
            FLOATS,
            lambda d: Sample(
                (*_qkv(3, 4, dtype=d), _bias(3, 4).astype(d)), {"causal": False, "scale": 0.5}
            ),
        ),
        Sample(
            (
                np.zeros((2, 1)),
                real([NAN], [1.0], [INF]),
                real([NAN], [5.0], [-INF]),
                real([-INF, 0.0, -INF], [-INF, -INF, -INF]),
            ),
            {"causal": False, "scale": 1.0},
            smooth=False,
            expected=real([5.0], [0.0]),
        ),
    ],
}
