"""Samples of the ops that see the same elements in another shape."""

from __future__ import annotations

import numpy as np

from staticad_schema.types import NAMES, as_dtype
from tests.ops.arrays import integers, normal
from tests.ops.samples import Sample, Table, over

INT64 = np.dtype("int64")

SAMPLES: Table = {
    "reshape": [
        Sample((normal(2, 3, 4),), {"shape": (6, 4)}),
        Sample((normal(2, 3),), {"shape": (1, 6, 1)}),
        Sample((normal(),), {"shape": (1, 1)}),
        Sample((normal(1, 1),), {"shape": ()}),
        Sample((normal(2, 0, 3),), {"shape": (0, 7)}),
        *over(NAMES, lambda d: Sample((integers(d, 2, 3),), {"shape": (3, 2)})),
    ],
    "permute_dims": [
        Sample((normal(2, 3, 4),), {"axes": (2, 0, 1)}),
        Sample((normal(2, 3),), {"axes": (1, 0)}),
        Sample((normal(),), {"axes": ()}),
        Sample((normal(0, 3),), {"axes": (1, 0)}),
        Sample((normal(1, 3),), {"axes": (1, 0)}),
        *over(NAMES, lambda d: Sample((integers(d, 2, 3),), {"axes": (1, 0)})),
    ],
    "broadcast_to": [
        Sample((normal(3, 1),), {"shape": (2, 3, 4)}),
        Sample((normal(),), {"shape": (2, 3)}),
        Sample((normal(3),), {"shape": (4, 3)}),
        Sample((normal(1, 3),), {"shape": (0, 3)}),
        Sample((normal(1),), {"shape": (1,)}),
        Sample((normal(0, 1),), {"shape": (2, 0, 3)}),
        *over(NAMES, lambda d: Sample((integers(d, 3),), {"shape": (2, 3)})),
    ],
    "expect_shape": [
        Sample((normal(2, 3),), {"shape": (2, 3)}),
        Sample((normal(),), {"shape": ()}),
        Sample((normal(0, 1),), {"shape": (0, 1)}),
        *over(NAMES, lambda d: Sample((integers(d, 2, 3),), {"shape": (2, 3)})),
    ],
    "flip": [
        Sample((normal(2, 3, 2),), {"axis": (0, 2)}),
        Sample((normal(4),), {"axis": (0,)}),
        Sample((normal(2, 3),), {"axis": ()}),
        Sample((normal(0, 3),), {"axis": (0, 1)}),
        Sample((normal(1, 3),), {"axis": (0, 1)}),
        *over(NAMES, lambda d: Sample((integers(d, 2, 3),), {"axis": (1,)})),
    ],
    "shape_of": [
        Sample((normal(2, 3),), expected=np.array([2, 3])),
        Sample((normal(),), expected=np.zeros(0, np.int64)),
        Sample((normal(1),), expected=np.array([1])),
        Sample((integers(as_dtype("bool"), 0, 4),), expected=np.array([0, 4])),
    ],
    "size_of": [
        Sample(
            (normal(2, 3),),
            {"axis": (0, 1), "dtype": np.dtype("float32")},
            expected=np.array(6, np.float32),
        ),
        Sample((normal(2, 3),), {"axis": (1,), "dtype": INT64}, expected=np.array(3)),
        Sample((normal(0, 3),), {"axis": (0,), "dtype": INT64}, expected=np.array(0)),
        Sample((normal(1, 3),), {"axis": (0,), "dtype": INT64}, expected=np.array(1)),
        Sample((normal(),), {"axis": (), "dtype": INT64}, expected=np.array(1)),
    ],
}
