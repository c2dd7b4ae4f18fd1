"""Samples of the scans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from staticad_schema.types import Array, as_dtype
from tests.ops.arrays import distinct, integers, normal, real
from tests.ops.samples import Sample, Table, over
from tests.ops.samples_sort import ORDERED

NUMBERS = ("float16", "bfloat16", "float32", "int32", "uint8")
COMPLEX = "complex128"
inf, nan = np.inf, np.nan


def _both_ways(*samples: Array, numbers: Sequence[str]) -> list[Sample]:
    """Scans along every axis of each array, in both directions; one of a few numbers a dtype."""
    return [
        Sample((x,), {"axis": axis, "reverse": reverse})
        for x in (*samples, *(integers(as_dtype(d), 5) for d in numbers))
        for axis in range(x.ndim)
        for reverse in (False, True)
    ]


def _known(x: Array, reverse: bool, expected: Array) -> Sample:
    return Sample((x,), {"axis": 0, "reverse": reverse}, smooth=False, expected=expected)


SAMPLES: Table = {
    "cumulative_prod": [
        *(
            sample
            for reverse in (False, True)
            for sample in (
                Sample((real([2, 0, 3, 0], [1, 2, 3, 4]),), {"axis": 1, "reverse": reverse}),
                Sample((normal(3, 2),), {"axis": 0, "reverse": reverse}),
                Sample((normal(2, 0),), {"axis": 1, "reverse": reverse}),
                Sample((normal(1),), {"axis": 0, "reverse": reverse}),
                Sample((normal(4, dtype=COMPLEX),), {"axis": 0, "reverse": reverse}),
            )
        ),
        Sample((real(2, 0, 3),), {"axis": 0, "reverse": False}, expected=real(2, 0, 0)),
        Sample((real(2, 0, 3),), {"axis": 0, "reverse": True}, expected=real(0, 0, 3)),
        *over(NUMBERS, lambda d: Sample((integers(d, 3),), {"axis": 0, "reverse": False})),
    ],
    "cumulative_sum": [
        *_both_ways(
            normal(3, 2), normal(2, 0), normal(1), normal(4, dtype=COMPLEX), numbers=NUMBERS
        ),
        _known(real(1, 2, inf, -inf, 3), False, real(1, 3, inf, nan, nan)),
        _known(real(1, 2, 3), True, real(6, 5, 3)),
        _known(real(100, 100, dtype="int8"), False, real(100, -56, dtype="int8")),
    ],
    "cumulative_logsumexp": [
        *_both_ways(
            normal(3, 2), normal(2, 0), normal(1), numbers=("float16", "bfloat16", "float32")
        ),
        _known(real(-inf, -inf, 0), False, real(-inf, -inf, 0)),
        _known(real(-inf, -inf, 0), True, real(0, 0, 0)),
        _known(real(1000, -1000, inf, 0), False, real(1000, 1000, inf, inf)),
        _known(real(1, nan, 2), False, real(1, nan, nan)),
    ],
    "cumulative_max": [
        *_both_ways(distinct(3, 4), distinct(2, 0), distinct(1), numbers=ORDERED),
    ],
    "cumulative_min": [
        *_both_ways(distinct(3, 4), distinct(2, 0), distinct(1), numbers=ORDERED),
    ],
    "linear_recurrence": [
        # A coefficient 0 begins anew, whatever came before.
        Sample(
            (real(1, 1e200, 0, 2, 0), real(1e200, 0, 3, 1, 5)),
            {"axis": 0, "reverse": False},
            smooth=False,
            expected=real(1e200, np.inf, 3, 7, 5),
        ),
        Sample((real(1, 2, 0, 2), real(1, 2, 3, 4)), {"axis": 0, "reverse": True}),
        *(
            sample
            for reverse in (False, True)
            for sample in (
                Sample((normal(3, 4), normal(3, 4, seed=1)), {"axis": 1, "reverse": reverse}),
                Sample((normal(3, 4), normal(3, 4, seed=1)), {"axis": 0, "reverse": reverse}),
                Sample((normal(3, 0), normal(3, 0)), {"axis": 1, "reverse": reverse}),
                Sample((normal(1), normal(1, seed=1)), {"axis": 0, "reverse": reverse}),
                Sample(
                    (normal(3, dtype=COMPLEX), normal(3, dtype=COMPLEX, seed=1)),
                    {"axis": 0, "reverse": reverse},
                ),
            )
        ),
        Sample(
            (real(9, 2, 3), real(1, 1, 1)), {"axis": 0, "reverse": False}, expected=real(1, 3, 10)
        ),
        Sample(
            (real(2, 3, 9), real(1, 1, 1)), {"axis": 0, "reverse": True}, expected=real(9, 4, 1)
        ),
        *over(
            NUMBERS,
            lambda d: Sample((integers(d, 3), integers(d, 3)), {"axis": 0, "reverse": False}),
        ),
    ],
}
