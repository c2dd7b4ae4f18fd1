"""Samples of the factorisations with eigenvalues, singular values and orthonormal columns, and of
functions of matrices."""

from __future__ import annotations

import numpy as np

from staticad_schema.types import Array
from tests.ops.arrays import normal, real
from tests.ops.samples import Sample, Table


def z(*shape: int) -> Array:
    return normal(*shape, dtype="complex128")


def _positive(*shape: int, dtype: str = "float64") -> Array:
    """Well-conditioned matrices that are their own adjoints."""
    x = normal(*shape, dtype=dtype)
    return np.asarray(x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1]), dtype)


def _single(x: Array) -> Array:
    return x.astype("complex64" if x.dtype.kind == "c" else "float32")


def _apart(*shape: int) -> Array:
    """Real matrices with real eigenvalues that are far from each other."""
    return normal(*shape) * 0.1 + np.diag(np.arange(1.0, shape[-1] + 1))


def _rtol(*shape: int) -> Array:
    return np.full(shape, 1e-12)


RECTANGLES = ((4, 2), (2, 4), (3, 3), (2, 3, 2), (1, 1), (0, 2), (3, 0), (0, 0), (0, 2, 2), (1, 3))

SAMPLES: Table = {
    "eigh": [
        *(
            Sample((normal(*shape),), turned=False)
            for shape in ((3, 3), (2, 4, 4), (1, 1), (0, 0), (0, 2, 2))
        ),
        # The phases of complex vectors are not those of the rule: test_spectral.py.
        Sample((z(3, 3),), smooth=False),
        Sample((_single(normal(3, 3)),)),
        Sample((_single(z(2, 2, 2)),)),
        Sample((np.eye(3),), smooth=False),
        Sample((real([1, np.nan], [np.nan, 1]),), smooth=False),
    ],
    "eigvalsh": [
        *(Sample((normal(*shape),)) for shape in ((3, 3), (2, 4, 4), (1, 1), (0, 0), (0, 2, 2))),
        *(Sample((z(*shape),)) for shape in ((3, 3), (2, 2, 2), (1, 1))),
        Sample((_single(normal(3, 3)),)),
        Sample((_single(z(2, 2, 2)),)),
        Sample((np.diag([2.0, 1.0]),), expected=real(1, 2)),
    ],
    "eig": [
        *(
            Sample((_apart(*shape),), turned=False)
            for shape in ((3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2))
        ),
        Sample((normal(4, 4),), smooth=False),
        Sample((z(3, 3),), smooth=False),
        Sample((_single(normal(3, 3)),)),
        Sample((_single(z(2, 2, 2)),)),
    ],
    "svd": [
        *(Sample((normal(*shape),), {"full": False}, turned=False) for shape in RECTANGLES),
        # A null space of one dimension has no other basis to turn to.
        *(
            Sample((normal(*shape),), {"full": True}, turned=False)
            for shape in ((3, 2), (2, 3, 4), (2, 2))
        ),
        *(
            Sample((normal(*shape),), {"full": True}, smooth=False)
            for shape in ((4, 2), (1, 1), (0, 2), (3, 0), (0, 0), (0, 2, 2), (1, 3))
        ),
        Sample((z(3, 2),), {"full": False}, smooth=False),
        Sample((z(2, 3),), {"full": True}, smooth=False),
        Sample((_single(normal(3, 2)),), {"full": False}),
        Sample((_single(z(2, 2, 3)),), {"full": True}),
        Sample((np.zeros((3, 2)),), {"full": False}, smooth=False),
    ],
    "svdvals": [
        *(Sample((normal(*shape),)) for shape in RECTANGLES),
        *(Sample((z(*shape),)) for shape in ((3, 2), (2, 2, 3), (1, 1))),
        Sample((_single(normal(3, 2)),)),
        Sample((_single(z(2, 2, 3)),)),
        Sample((np.diag([1e200, 2e200]),), expected=real(2e200, 1e200), smooth=False),
        Sample((np.diag([1e-200, 2e-200]),), expected=real(2e-200, 1e-200), smooth=False),
    ],
    "pinv": [
        *(Sample((normal(*shape), _rtol(1, 1))) for shape in RECTANGLES),
        *(Sample((z(*shape), _rtol(1, 1))) for shape in ((3, 2), (2, 2, 3), (1, 1))),
        Sample((normal(2, 3, 2), np.array([1e-12, 1e-11]).reshape(2, 1, 1))),
        Sample((np.eye(3), _rtol(1, 1))),
        Sample((_single(normal(3, 2)), _single(_rtol(1, 1)))),
        Sample((_single(z(2, 2, 3)), _single(_rtol(2, 1, 1)))),
        Sample((np.diag([2.0, 1e-13]), _rtol(1, 1)), expected=np.diag([0.5, 0]), smooth=False),
    ],
    "qr": [
        *(
            Sample((normal(*shape),), {"complete": complete}, turned=not complete)
            for complete in (False, True)
            for shape in ((3, 2), (2, 4), (3, 3), (2, 3, 2), (1, 1), (0, 2), (0, 0), (0, 2, 2))
        ),
        *(Sample((normal(*s),), {"complete": False}) for s in ((5, 2), (3, 0), (2, 3))),
        *(Sample((normal(*s),), {"complete": True}, smooth=False) for s in ((4, 2), (3, 0))),
        *(
            Sample((z(*shape),), {"complete": complete})
            for complete in (False, True)
            for shape in ((2, 3), (3, 3), (1, 1))
        ),
        Sample((z(2, 4, 2),), {"complete": False}),
        Sample((z(3, 2),), {"complete": True}, smooth=False),
        Sample((_single(normal(3, 2)),), {"complete": False}),
        Sample((_single(z(2, 2, 3)),), {"complete": True}),
    ],
    "expm": [
        *(Sample((normal(*shape),)) for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2))),
        *(Sample((z(*shape),)) for shape in ((3, 3), (1, 1))),
        Sample((np.zeros((2, 2)),), expected=np.eye(2)),
        Sample((np.eye(2, k=1),), expected=real([1, 1], [0, 1])),
        Sample((_single(normal(3, 3)),)),
        Sample((_single(z(2, 2, 2)),)),
    ],
    # Matrices that are their own adjoints do not stay so if moved: test_matrix_functions.py.
    **{
        name: [
            *(
                Sample((_positive(*s),), turned=False)
                for s in ((1, 1), (2, 1, 1), (0, 0), (0, 2, 2))
            ),
            *(Sample((_positive(*s),), smooth=False) for s in ((3, 3), (2, 2, 2))),
            Sample((_positive(3, 3, dtype="complex128"),), smooth=False),
            Sample((_single(_positive(2, 2)),)),
            Sample((_single(_positive(2, 2, dtype="complex128")),)),
        ]
        for name in ("sqrtm", "logm")
    },
    **{
        name: [
            *(
                Sample((_positive(*s) / 8, normal(*s, seed=1)), turned=False)
                for s in ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2))
            ),
            Sample((_positive(3, 3, dtype="complex128") / 8, z(3, 3))),
            # Equal eigenvalues, which moving it makes different.
            Sample((2 * np.eye(2), real([1, 2], [3, 4])), smooth=name != "commutator_inverse"),
            Sample((_single(_positive(2, 2)), _single(normal(2, 2)))),
        ]
        for name in ("lyapunov", "commutator_inverse", "expm_inverse_slope")
    },
}
