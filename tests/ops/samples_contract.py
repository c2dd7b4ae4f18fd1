"""Samples of the contractions."""

from __future__ import annotations

from staticad_schema.types import NAMES
from tests.ops.arrays import integers, normal
from tests.ops.samples import Sample, Table, over

SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (1, 5, 4, 2)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 3)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((1, 1), (1, 1)),
)

SAMPLES: Table = {
    "matmul": [
        *(Sample((normal(*a), normal(*b, seed=1))) for a, b in SHAPES),
        Sample((normal(2, 3, dtype="complex128"), normal(3, 2, dtype="complex128", seed=1))),
        *over(
            (n for n in NAMES if n != "bool"),
            lambda d: Sample((integers(d, 2, 3), integers(d, 3, 2))),
        ),
    ],
    "matmul_transposed": [
        *(
            Sample((normal(*a), normal(*b, seed=1)))
            for a, b in (
                ((3, 4), (5, 4)),
                ((2, 3, 4), (5, 4)),
                ((0, 3), (2, 3)),
                ((2, 0), (3, 0)),
                ((1, 1), (1, 1)),
                ((2, 1, 4), (1, 4)),
            )
        ),
        Sample((normal(2, 3, dtype="complex128"), normal(4, 3, dtype="complex128", seed=1))),
        *over(
            (n for n in NAMES if n != "bool"),
            lambda d: Sample((integers(d, 2, 3), integers(d, 4, 3))),
        ),
    ],
}
