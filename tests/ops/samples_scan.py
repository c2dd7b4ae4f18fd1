"""Samples of the scans."""

from __future__ import annotations

import numpy as np

from tests.ops.arrays import integers, normal, real
from tests.ops.samples import Sample, Table, over

NUMBERS = ("float16", "bfloat16", "float32", "int32", "uint8")
COMPLEX = "complex128"

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
