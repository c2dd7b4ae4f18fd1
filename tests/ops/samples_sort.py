"""Samples of the orders along an axis."""

from __future__ import annotations

import numpy as np

from staticad_schema.types import Array
from tests.ops.arrays import distinct, integers, real
from tests.ops.samples import Sample, Table, over

nan, inf = np.nan, np.inf

ORDERED = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32",
)  # fmt: skip


def _columns(rows: int, size: int) -> Array:
    """Rows that are each in their own order, with ties."""
    return np.random.default_rng([rows, size]).integers(0, size // 3, (rows, size)) * 1.0


SAMPLES: Table = {
    "sort": [
        *(
            sample
            for descending in (False, True)
            for sample in (
                Sample((distinct(3, 4),), {"axis": 1, "descending": descending}),
                Sample((distinct(3, 4),), {"axis": 0, "descending": descending}),
                Sample((distinct(2, 0),), {"axis": 1, "descending": descending}),
                Sample((distinct(1),), {"axis": 0, "descending": descending}),
                Sample((distinct(0, 2),), {"axis": 1, "descending": descending}),
            )
        ),
        *over(ORDERED, lambda d: Sample((integers(d, 6),), {"axis": 0, "descending": True})),
        *over(ORDERED, lambda d: Sample((integers(d, 6),), {"axis": 0, "descending": False})),
    ],
    "top_k": [
        *(
            sample
            for largest in (False, True)
            for sample in (
                Sample((distinct(3, 4),), {"k": 2, "axis": 1, "largest": largest}),
                Sample((distinct(20, 3),), {"k": 2, "axis": 0, "largest": largest}),
                Sample((distinct(4, 2),), {"k": 4, "axis": 0, "largest": largest}),
                Sample((distinct(2, 0),), {"k": 0, "axis": 1, "largest": largest}),
                Sample((distinct(1),), {"k": 1, "axis": 0, "largest": largest}),
                Sample((distinct(0, 16),), {"k": 2, "axis": 1, "largest": largest}),
                Sample((_columns(3, 30),), {"k": 3, "axis": 1, "largest": largest}, smooth=False),
            )
        ),
        *over(
            ORDERED,
            lambda d: Sample((integers(d, 16),), {"k": 2, "axis": 0, "largest": True}),
        ),
        *over(
            ORDERED,
            lambda d: Sample((integers(d, 16),), {"k": 2, "axis": 0, "largest": False}),
        ),
    ],
    "searchsorted": [
        *(
            sample
            for right in (False, True)
            for sample in (
                Sample(
                    (real(-1, 0, 0, 2, inf, nan), real(-2, -0.0, 2, nan, inf, 1)),
                    {"right": right},
                    smooth=False,
                ),
                Sample((np.sort(distinct(3, 5)), distinct(3, 2, 2)), {"right": right}),
                Sample(
                    (np.sort(_columns(2, 9)), _columns(2, 9)[:, ::-1]),
                    {"right": right},
                    smooth=False,
                ),
                Sample((distinct(0), distinct(2, 1)), {"right": right}),
                Sample((distinct(2, 0), distinct(2, 3)), {"right": right}),
                Sample((np.sort(distinct(2, 3)), distinct(2, 0)), {"right": right}),
                Sample((np.sort(distinct(2, 3)), distinct(2)), {"right": right}),
            )
        ),
        *over(
            ORDERED,
            lambda d: Sample((np.sort(integers(d, 2, 6)), integers(d, 2, 3)), {"right": False}),
        ),
        Sample(
            (real(1, 2, 2, 3), real(2, 0, 9)),
            {"right": False},
            smooth=False,
            expected=np.array([1, 0, 4]),
        ),
        Sample(
            (real(1, 2, 2, 3), real(2, 0, 9)),
            {"right": True},
            smooth=False,
            expected=np.array([3, 0, 4]),
        ),
    ],
}
