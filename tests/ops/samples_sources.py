"""Samples of the sources, of random bits, and of the ops that hand on their operand."""

from __future__ import annotations

import numpy as np

from staticad_schema.types import KINDS, as_dtype

from .samples import Sample, Table

_HANDED_ON = [
    *(Sample((np.array([[1, 0, 3], [0, 5, 6]]).astype(d),)) for d in KINDS),
    Sample((np.array(2.5),)),
    Sample((np.zeros((0, 1)),)),
    Sample(
        (np.array([-0.0, np.nan, np.inf]),),
        smooth=False,
        expected=np.array([-0.0, np.nan, np.inf]),
    ),
]

SAMPLES: Table = {
    "constant": [
        *(Sample((), {"value": np.array([[1, 0], [2, 3]]).astype(d)}) for d in KINDS),
        Sample((), {"value": np.array(-0.0)}, expected=np.array(-0.0)),
        Sample((), {"value": np.zeros((2, 0), np.int8)}),
    ],
    "iota": [
        *(
            Sample((), {"shape": (2, 3), "axis": 1, "dtype": d})
            for d, kind in KINDS.items()
            if kind in ("int", "uint", "float")
        ),
        Sample(
            (),
            {"shape": (3, 2), "axis": 0, "dtype": as_dtype("int64")},
            expected=np.array([[0, 0], [1, 1], [2, 2]]),
        ),
        Sample((), {"shape": (0, 1), "axis": 0, "dtype": as_dtype("float32")}),
    ],
    "random_bits": [
        Sample(
            (np.array(run, np.uint64),),
            {"key": key, "path": path, "shape": shape, "dtype": as_dtype(dtype)},
        )
        for run, key, path, shape, dtype in (
            (0, 0, 0, (2, 3), "uint32"),
            (2**63, 2**64 - 1, 2**32 - 1, (5,), "uint64"),
            (1, 7, 0, (), "uint64"),
            (1, 7, 0, (4, 0), "uint32"),
        )
    ],
    "random_bits_at": [
        Sample(
            (np.array(run, np.uint64), np.array(path, np.uint32)),
            {"key": key, "shape": shape, "dtype": as_dtype(dtype)},
        )
        for run, key, path, shape, dtype in (
            (0, 0, 0, (2, 3), "uint32"),
            (2**63, 2**64 - 1, 2**32 - 1, (5,), "uint64"),
            (1, 7, 0, (4, 0), "uint32"),
        )
    ],
    "identity": _HANDED_ON,
    "after": _HANDED_ON,
    "stop_gradient": _HANDED_ON,
    "hold": [
        *(Sample((*sample.arrays, np.arange(3.0)), smooth=sample.smooth) for sample in _HANDED_ON),
        Sample((np.arange(3.0), np.array(True)), expected=np.arange(3.0)),
    ],
    "recompute_start": [
        *_HANDED_ON,
        Sample((np.array([1.0, 2.0]), np.array(3), np.array([[True]]))),
    ],
    "recompute_end": [
        *(Sample((np.array(1), *sample.arrays), smooth=sample.smooth) for sample in _HANDED_ON),
        Sample((np.array(3), np.array([1.0, 2.0]), np.array([[4.0]]))),
    ],
}
