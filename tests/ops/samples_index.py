"""Samples of the ops that read and write at integer positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from staticad_schema.types import KINDS, NAMES, REAL, Array, DType, as_dtype
from tests.ops.arrays import integers, normal, real
from tests.ops.samples import Sample, Table, over

NAMES_REAL = [name for name, dtype in NAMES.items() if KINDS[dtype] in REAL]

TWICE = np.array([[0, -1, 2], [2, 2, 1]])

# Axes of a (3, 3, 2) tensor, and the indices on them: repeated, negative, broadcast, scalar.
INDEXINGS: tuple[tuple[tuple[int, ...], tuple[Array, ...]], ...] = (
    ((0,), (TWICE,)),
    ((1,), (TWICE,)),
    ((0, 1), (TWICE, np.array([1, 0, -1]))),
    ((1, 0), (np.array([0, 1, 1]), np.array([2, 2, 2]))),
    ((0, 2), (np.array([[0], [1]]), np.array([1, 1]))),
    ((1,), (np.array(1),)),
    ((2,), (np.zeros((0,), np.int64),)),
    ((0,), (np.array([1, 1, 0], np.uint8),)),
)


def _gathers() -> Iterator[Sample]:
    for axes, indices in INDEXINGS:
        yield Sample((normal(3, 3, 2), *indices), {"axes": axes})


def _scatters() -> Iterator[Sample]:
    x = normal(3, 3, 2)
    for axes, indices in INDEXINGS:
        block = np.broadcast_shapes(*(i.shape for i in indices))
        rest = tuple(n for a, n in enumerate(x.shape) if a not in axes)
        updates = normal(*block, *rest, seed=1)
        yield Sample((x, updates, *indices), {"axes": axes})


def _small(dtype: DType) -> Sample:
    x, updates = integers(dtype, 3), integers(dtype, 4, top=2)
    return Sample((x, updates, np.array([0, 0, -1, 1])), {"axes": (0,)})


SAMPLES: Table = {
    "take": [
        Sample((normal(4, 3, 2), TWICE), {"axis": 1}),
        Sample((normal(4), np.array(2)), {"axis": 0}),
        Sample((normal(3, 4), np.zeros((0,), np.int64)), {"axis": 0}),
        Sample((normal(3, 4), np.array([1, 1, -3])), {"axis": 0}),
        Sample((normal(3, 4), np.array([1, 0], np.uint8)), {"axis": 1}),
        Sample((normal(1, 3), np.array([0])), {"axis": 0}),
        *over(NAMES, lambda d: Sample((integers(d, 3, 2), TWICE), {"axis": 0})),
    ],
    "take_along_axis": [
        Sample((normal(2, 3), np.array([[0, 2, 2, 1], [1, 1, -1, 0]])), {"axis": 1}),
        Sample((normal(2, 1, 3), np.array([[[0], [2]]])), {"axis": 2}),
        Sample((normal(1, 3), np.array([[0, 2], [1, 1]])), {"axis": 1}),
        Sample((normal(3), np.zeros((0,), np.int64)), {"axis": 0}),
        *over(NAMES, lambda d: Sample((integers(d, 3), np.array([2, 2, 0])), {"axis": 0})),
    ],
    "gather": [
        *_gathers(),
        *over(NAMES, lambda d: Sample((integers(d, 3), TWICE), {"axes": (0,)})),
    ],
    "scatter_set": [
        *_scatters(),
        Sample(
            (real(1, 2, 3), real(10, 20, 30), np.array([1, 0, 1])),
            {"axes": (0,)},
            expected=real(20, 30, 3),
        ),
        *over(NAMES, _small),
    ],
    "scatter_add": [
        *_scatters(),
        Sample(
            (np.zeros((2, 2)), real(1, 1, 1), np.array([1, 1, 0]), np.array([1, 1, 0])),
            {"axes": (0, 1)},
            expected=real([1, 0], [0, 2]),
        ),
        # 2048 + 1 is 2048 in float16, but not in the float32 in which it accumulates.
        Sample(
            (real(2048, dtype="float16"), np.ones(4, np.float16), np.zeros(4, np.int64)),
            {"axes": (0,)},
            expected=real(2052, dtype="float16"),
        ),
        *over([n for n in NAMES if n != "bool"], _small),
    ],
    **{
        name: [
            *_scatters(),
            *(Sample(s.arrays, {**s.attributes, "include_self": False}) for s in _scatters()),
            # Of a place without updates the element stays, of others only updates count.
            Sample(
                (real(-9, 0, 9), real(-np.inf, 1, 2), np.array([0, 2, 2])),
                {"axes": (0,), "include_self": False},
                smooth=False,
                expected=real(-np.inf, 0, 2 if name == "scatter_max" else 1),
            ),
            Sample(
                (real(1, 2, 3), real(1, 5, 5, 0, 3), np.array([0, 1, 1, 2, 2])),
                {"axes": (0,)},
                smooth=False,
                expected=extreme,
            ),
            Sample(
                (real(1, np.nan, 3), real(5, 5, np.nan), np.array([0, 1, 2])),
                {"axes": (0,)},
                smooth=False,
                expected=real(first, np.nan, np.nan),
            ),
            *over(NAMES_REAL, _small),
        ]
        for name, extreme, first in (
            ("scatter_max", real(1, 5, 3), 5),
            ("scatter_min", real(1, 2, 0), 1),
        )
    },
    "scatter_multiply": [
        *_scatters(),
        # One zero, two zeros, and a zero that is only x's, at one place each.
        Sample(
            (real(2, 3, 0, 5), real(0, 7, 0, 0, 4, 6), np.array([0, 0, 1, 1, 2, -2])),
            {"axes": (0,)},
            expected=real(0, 0, 0, 5),
        ),
        # What overflows at one place does not reach the next.
        Sample(
            (real(1, 1, 1), real(1e200, 1e200, 2, 3), np.array([0, 0, 1, 2])),
            {"axes": (0,)},
            smooth=False,
            expected=real(np.inf, 2, 3),
        ),
        Sample(
            (normal(3, 2, dtype="complex128"), normal(2, 2, dtype="complex128"), np.array([1, 1])),
            {"axes": (0,)},
        ),
        *over([n for n in NAMES if n != "bool"], _small),
    ],
    "one_hot": [
        Sample(
            (np.array([0, 2, -1, 3]),),
            {"depth": 3, "dtype": as_dtype("float32")},
            expected=real([1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], dtype="float32"),
        ),
        Sample((TWICE,), {"depth": 4, "dtype": as_dtype("int64")}),
        Sample((np.array(1),), {"depth": 0, "dtype": as_dtype("float64")}),
        Sample((np.zeros((0, 1), np.int64),), {"depth": 2, "dtype": as_dtype("float64")}),
        *over(NAMES, lambda d: Sample((np.array([1, 0]),), {"depth": 2, "dtype": d})),
    ],
}
