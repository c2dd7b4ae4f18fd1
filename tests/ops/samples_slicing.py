"""Samples of the ops that take parts of a tensor or put parts in place."""

from __future__ import annotations

import numpy as np

from staticad_schema.types import NAMES
from tests.ops.arrays import integers, normal
from tests.ops.samples import Sample, Table, over

WHOLE = (None, None, 1)
SLICES = (
    ((0, 3, 2), (1, 4, 1)),
    ((1, 2, 1), WHOLE),
    ((2, None, -1), (None, None, -2)),
    ((-2, None, 1), (0, 0, 1)),
    ((1, 100, 1), (-3, -1, 1)),
    (WHOLE, (3, 0, -2)),
    ((5, 5, 2), WHOLE),
    ((-1, -4, -2), (-100, None, 3)),
)


def _set(slices: tuple[tuple[int | None, int | None, int], ...]) -> Sample:
    x = normal(3, 4)
    part = x[tuple(slice(*bounds) for bounds in slices)]
    updates = normal(*part.shape, seed=1)
    return Sample((x, updates), {"slices": slices})


SAMPLES: Table = {
    "concat": [
        Sample((normal(2, 3), normal(2, 1), normal(2, 4)), {"axis": 1}),
        Sample((normal(2, 0), normal(2, 1)), {"axis": 1}),
        Sample((normal(3),), {"axis": 0}),
        Sample((normal(1, 2), normal(2, 2)), {"axis": 0}),
        *over(NAMES, lambda d: Sample((integers(d, 2), integers(d, 3)), {"axis": 0})),
    ],
    "place": [
        Sample(
            (normal(2, 3), normal(1, 4), normal(2, 2)),
            {
                "slices": (
                    *((0, 3, 2), (1, None, 1)),
                    *((-1, None, 1), WHOLE),
                    *((None, 0, -1), (3, None, -2)),
                ),
                "shape": (3, 4),
            },
            symbolic=False,
        ),
        Sample((normal(0, 2),), {"slices": ((0, 0, 1), WHOLE), "shape": (3, 2)}, symbolic=False),
        Sample((normal(),), {"slices": (), "shape": ()}),
        *over(
            [name for name in NAMES if name != "bool"],
            lambda d: Sample(
                (integers(d, 2), integers(d, 2)),
                {"slices": ((0, 2, 1), (1, 3, 1)), "shape": (3,)},
                symbolic=False,
            ),
        ),
    ],
    "slice": [
        *(Sample((normal(3, 4),), {"slices": slices}) for slices in SLICES),
        Sample((normal(0, 1),), {"slices": ((1, None, 1), (-1, None, 1))}),
        Sample((normal(),), {"slices": ()}),
        *over(NAMES, lambda d: Sample((integers(d, 5),), {"slices": ((None, 1, -2),)})),
    ],
    "slice_set": [
        *map(_set, SLICES),
        *over(
            NAMES,
            lambda d: Sample((integers(d, 5), integers(d, 2)), {"slices": ((None, 1, -2),)}),
        ),
    ],
    "pad": [
        Sample((normal(2, 3),), {"widths": ((1, 0), (0, 2)), "value": 0.5}),
        Sample((normal(2, 0),), {"widths": ((1, 0), (0, 2)), "value": 0.0}),
        Sample((normal(3),), {"widths": ((0, 0),), "value": 1.0}),
        Sample((normal(),), {"widths": (), "value": 1.0}),
        Sample(
            (np.array([1.0]),),
            {"widths": ((1, 1),), "value": float("-inf")},
            smooth=False,
            expected=np.array([-np.inf, 1.0, -np.inf]),
        ),
        *over(NAMES, lambda d: Sample((integers(d, 2),), {"widths": ((1, 2),), "value": 1})),
    ],
}
