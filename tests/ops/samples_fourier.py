"""Samples of the Fourier, cosine and sine transforms."""

from __future__ import annotations

import itertools

import numpy as np

from tests.ops.arrays import normal
from tests.ops.samples import Sample, Table

SCALES = ("1", "1/sqrt(n)", "1/n")
HALF = 0.5**0.5


def z(*shape: int) -> np.ndarray:
    return normal(*shape, dtype="complex128")


def _dct(type: int, *weights: float) -> dict[str, object]:
    return {"axis": 0, "type": type, "scale": "1", "weights": weights}


SAMPLES: Table = {
    "fft": [
        *(
            Sample((z(*shape),), {"axes": axes, "inverse": inverse, "scale": scale})
            for inverse, scale in itertools.product((False, True), SCALES)
            for shape, axes in (
                ((4,), (0,)),
                ((2, 5), (1,)),
                ((3, 2, 4), (0, 2)),
                ((1,), (0,)),
                ((0, 3), (1,)),
            )
        ),
        Sample((z(2, 3),), {"axes": (), "inverse": False, "scale": "1/n"}),
        Sample(
            (normal(4, 3, dtype="complex64"),), {"axes": (0, 1), "inverse": True, "scale": "1/n"}
        ),
        Sample((normal(4, dtype="complex64"),), {"axes": (0,), "inverse": False, "scale": "1"}),
        Sample(
            (np.array([1, 2, 3, 4j]),),
            {"axes": (0,), "inverse": False, "scale": "1"},
            expected=np.array([6 + 4j, -6 - 2j, 2 - 4j, 2 + 2j]),
        ),
    ],
    "rfft": [
        *(
            Sample((normal(*shape),), {"axis": axis, "scale": scale, "twice": twice})
            for scale, twice in itertools.product(SCALES, (False, True))
            for shape, axis in (((6,), 0), ((2, 5), 1), ((4, 3), 0), ((1,), 0), ((0, 2), 1))
        ),
        Sample((normal(5, dtype="float32"),), {"axis": 0, "scale": "1", "twice": False}),
        Sample(
            (np.array([1.0, 2, 3, 4]),),
            {"axis": 0, "scale": "1", "twice": True},
            expected=np.array([10, -4 + 4j, -2]),
        ),
    ],
    "irfft": [
        *(
            Sample(
                (z(*shape),),
                {"axis": axis, "size": size, "scale": scale, "twice": twice},
                symbolic=False,
            )
            for scale, twice in itertools.product(SCALES, (False, True))
            for shape, axis, size in (
                ((4,), 0, 6),
                ((2, 3), 1, 5),
                ((3, 2), 0, 4),
                ((1,), 0, 1),
                ((2,), 0, 2),
                ((0, 2), 1, 3),
            )
        ),
        Sample(
            (normal(3, dtype="complex64"),),
            {"axis": 0, "size": 5, "scale": "1/n", "twice": True},
            symbolic=False,
        ),
        # Only the real parts of the coefficients at the ends count.
        Sample(
            (np.array([8 + 100j, 0, 0, 0, 7j]),),
            {"axis": 0, "size": 8, "scale": "1/n", "twice": True},
            symbolic=False,
            expected=np.ones(8),
        ),
    ],
    "dct": [
        *(
            Sample((normal(5),), _dct(type, *weights) | {"scale": scale})
            for scale in SCALES
            for type, weights in (
                (1, (0.5, 1.0)),
                (1, (HALF, HALF)),
                (2, (1.0, 1.0)),
                (2, (1.0, HALF)),
                (3, (0.5, 1.0)),
                (3, (HALF, 1.0)),
                (4, (1.0, 1.0)),
            )
        ),
        *(Sample((normal(2, 3, 4),), _dct(type, 1.0, 1.0) | {"axis": 1}) for type in (1, 2, 3, 4)),
        *(Sample((normal(1),), _dct(type, 1.0, 1.0)) for type in (2, 3, 4)),
        Sample((normal(0, 3),), _dct(2, 1.0, 1.0) | {"axis": 1}),
        Sample((z(3),), _dct(3, 0.5, 1.0)),
        Sample((normal(4, dtype="float32"),), _dct(2, 1.0, 1.0)),
        Sample((np.ones(4),), _dct(2, 1.0, 1.0), expected=np.array([8.0, 0, 0, 0])),
    ],
    "dst": [
        *(
            Sample((normal(5),), _dct(type, *weights) | {"scale": scale})
            for scale in SCALES
            for type, weights in (
                (1, (1.0, 1.0)),
                (2, (1.0, 1.0)),
                (2, (1.0, HALF)),
                (3, (0.5, 1.0)),
                (3, (HALF, 1.0)),
                (4, (1.0, 1.0)),
            )
        ),
        *(Sample((normal(2, 3, 4),), _dct(type, 1.0, 1.0) | {"axis": 2}) for type in (1, 2, 3, 4)),
        *(Sample((normal(1),), _dct(type, 1.0, 1.0)) for type in (1, 2, 3, 4)),
        Sample((normal(0, 3),), _dct(2, 1.0, 1.0) | {"axis": 1}),
        Sample((z(3),), _dct(3, 0.5, 1.0)),
        Sample((normal(4, dtype="float32"),), _dct(4, 1.0, 1.0)),
    ],
}
