"""Samples of systems of equations, factors and determinants."""

from __future__ import annotations

import numpy as np

from staticad_schema.types import Array
from tests.ops.arrays import normal, real
from tests.ops.samples import Sample, Table, over

FLOATS = ("float32", "complex64")
INF, NAN = np.inf, np.nan


def regular(*shape: int, dtype: str = "float64") -> Array:
    """Matrices that are far from singular, whose elimination swaps rows."""
    size = shape[-1]
    strong = np.roll(np.eye(size), 1, 0) * 3
    return np.asarray(normal(*shape, dtype=dtype) * 0.5 + strong, dtype)


def positive(*shape: int, dtype: str = "float64") -> Array:
    """Positive definite matrices."""
    x = normal(*shape, dtype=dtype)
    return np.asarray(x @ np.conj(np.swapaxes(x, -1, -2)) / shape[-1] + np.eye(shape[-1]), dtype)


def with_values(*values: float, dtype: str = "float64") -> Array:
    """A matrix with these singular values."""
    size = len(values)
    u, _ = np.linalg.qr(normal(size, size, dtype=dtype, seed=1))
    v, _ = np.linalg.qr(normal(size, size, dtype=dtype, seed=2))
    return np.asarray((u * np.array(values)) @ v, dtype)


_TRIANGLES = [
    {"lower": lower, "adjoint": adjoint, "unit_diagonal": unit, "strict": strict}
    for lower in (False, True)
    for adjoint in (False, True)
    for unit, strict in ((False, True), (True, True), (False, False))
]
_SYSTEMS = [{"adjoint": a, "strict": s} for a in (False, True) for s in (False, True)]

SAMPLES: Table = {
    "solve_triangular": [
        *(Sample((regular(3, 3) + np.eye(3), normal(3, 2)), how) for how in _TRIANGLES),
        *(
            Sample((positive(3, 3, dtype="complex128"), normal(3, 2, dtype="complex128")), how)
            for how in _TRIANGLES
        ),
        *(
            Sample((positive(*a), normal(*b)), _TRIANGLES[0])
            for a, b in (
                ((2, 3, 3), (2, 3, 1)),
                ((2, 3, 3), (3, 2)),
                ((3, 3), (2, 3, 2)),
                ((2, 1, 2, 2), (3, 2, 2)),
                ((0, 0), (0, 2)),
                ((0, 2, 2), (0, 2, 1)),
                ((2, 2), (2, 0)),
                ((1, 1), (1, 1)),
                ((20, 3, 3), (20, 3, 1)),
            )
        ),
        *over(
            FLOATS,
            lambda d: Sample(
                (positive(3, 3).astype(d), normal(3, 2).astype(d)), _TRIANGLES[0], tolerance=0.1
            ),
        ),
        Sample(
            (real([2.0, 7.0, 7.0], [1.0, 0.0, 7.0], [1.0, 1.0, 1.0]), real([2.0], [1.0], [4.0])),
            {"lower": True, "adjoint": False, "unit_diagonal": False, "strict": False},
            smooth=False,
            expected=real([1.0], [0.0], [3.0]),
        ),
        Sample(
            (real([2.0, 7.0], [1.0, 0.0]), real([2.0, 0.0], [2.0, 0.0])),
            {"lower": True, "adjoint": False, "unit_diagonal": False, "strict": False},
            smooth=False,
            expected=real([1.0, 0.0], [INF, 0.0]),
        ),
    ],
    "lu": [
        Sample((regular(3, 3),)),
        Sample((regular(3, 3, dtype="complex128"),)),
        Sample((regular(5, 5)[:, :3],)),
        Sample((regular(5, 5, dtype="complex128")[:, :3],)),
        Sample((regular(5, 5)[:3],)),
        Sample((regular(2, 2, 3, 3),)),
        Sample((normal(2, 4, 2) + 2 * np.eye(4, 2),)),
        Sample((normal(2, 2, 4) + 2 * np.eye(2, 4),)),
        # The last pivot may be 0.
        Sample((real([1.0, 2.0, 4.0], [4.0, 1.0, 2.0], [5.0, 3.0, 6.0]),), smooth=False),
        Sample((real([0.0, 0.0], [0.0, 0.0]),), smooth=False),
        Sample((normal(30, 3, 3),)),
        Sample((normal(30, 2, 3),)),
        Sample((normal(0, 0),)),
        Sample((normal(0, 2, 2),)),
        Sample((normal(2, 0),)),
        Sample((normal(1, 1),)),
        *over(FLOATS, lambda d: Sample((regular(3, 3).astype(d),))),
    ],
    "solve": [
        *(Sample((regular(3, 3), normal(3, 2)), how) for how in _SYSTEMS),
        *(
            Sample((regular(3, 3, dtype="complex128"), normal(3, 2, dtype="complex128")), how)
            for how in _SYSTEMS
        ),
        *(
            Sample((regular(*a), normal(*b)), how)
            for how in (_SYSTEMS[0], _SYSTEMS[3])
            for a, b in (
                ((2, 3, 3), (2, 3, 1)),
                ((2, 3, 3), (3, 2)),
                ((3, 3), (2, 3, 2)),
                ((2, 1, 2, 2), (3, 2, 2)),
                ((2, 2), (2, 3, 2, 1)),
                ((0, 0), (0, 2)),
                ((0, 2, 2), (0, 2, 1)),
                ((2, 2), (2, 0)),
                ((1, 1), (1, 1)),
                ((30, 3, 3), (30, 3, 1)),
            )
        ),
        *over(
            FLOATS,
            lambda d: Sample((regular(3, 3).astype(d), normal(3, 2).astype(d)), _SYSTEMS[0]),
        ),
        Sample(
            (real([1.0, 2.0], [2.0, 4.0]), real([0.0], [0.0])),
            {"adjoint": False, "strict": False},
            smooth=False,
            expected=real([0.0], [0.0]),
        ),
    ],
    "cholesky": [
        Sample((positive(3, 3),), scrambled=False),
        Sample((positive(2, 2, 3, 3),), scrambled=False),
        Sample((positive(3, 3, dtype="complex128"),), scrambled=False),
        # Of another matrix, that of the mean of it and its transpose.
        Sample(
            (real([4.0, 3.0], [1.0, 5.0]),),
            scrambled=False,
            expected=real([2.0, 0.0], [1.0, 2.0]),
        ),
        Sample((normal(0, 0),)),
        Sample((normal(0, 2, 2),)),
        Sample((positive(1, 1),)),
        *over(FLOATS, lambda d: Sample((positive(3, 3).astype(d),))),
    ],
    "det": [
        Sample((regular(3, 3),)),
        Sample((regular(2, 2, 3, 3),)),
        Sample((regular(3, 3, dtype="complex128"),)),
        Sample((with_values(3.0, 2.0, 1.0, 0.0),)),
        Sample((with_values(3.0, 2.0, 0.0, 0.0),)),
        Sample((with_values(3.0, 2.0, 0.0, 0.0, dtype="complex128"),)),
        Sample((np.zeros((2, 2)),)),
        Sample((np.zeros((3, 3)),)),
        Sample((real([1.0, 2.0], [2.0, 4.0]),), expected=np.array(0.0)),
        Sample((normal(30, 3, 3),)),
        Sample((normal(0, 0),), expected=np.array(1.0)),
        Sample((normal(0, 2, 2),)),
        Sample((normal(1, 1),)),
        # Products that leave the range of the dtype on the way.
        Sample((np.diag([1e200, 1e200, 1e-200, 1e-200]),), smooth=False,
               expected=np.array(1.0), tolerance=1e-15),
        Sample((real([NAN, 1.0], [1.0, 1.0]),), smooth=False, expected=np.array(NAN)),
        *over(FLOATS, lambda d: Sample((regular(3, 3).astype(d),))),
    ],
    "cofactors": [
        Sample((regular(3, 3),)),
        Sample((real([1.0, 2.0], [3.0, 4.0]),), expected=real([4.0, -3.0], [-2.0, 1.0]),
               tolerance=1e-15),
        *(
            Sample((with_values(*values, dtype=d), *(normal(4, 4, dtype=d, seed=k) for k in es)))
            for values in ((3.0, 2.0, 1.0, 0.5), (3.0, 2.0, 1.0, 0.0), (3.0, 2.0, 0.0, 0.0),
                           (3.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0))
            for es in ((), (1,), (1, 2))
            for d in ("float64", "complex128")
        ),
        Sample((regular(2, 3, 3), normal(3, 3))),
        Sample((normal(2, 2), normal(2, 1, 2, 2, seed=1), normal(3, 2, 2, seed=2)), smooth=False),
        Sample((normal(0, 0),)),
        Sample((normal(0, 2, 2),)),
        Sample((normal(1, 1),)),
        *over(FLOATS, lambda d: Sample((regular(3, 3).astype(d), normal(3, 3).astype(d)))),
    ],
    "slogdet": [
        Sample((regular(3, 3),)),
        Sample((regular(2, 2, 3, 3),)),
        Sample((regular(3, 3, dtype="complex128"),)),
        Sample((regular(30, 3, 3),)),
        Sample((real([1.0, 2.0], [2.0, 4.0]),), smooth=False),
        Sample((normal(0, 0),)),
        Sample((normal(0, 2, 2),)),
        Sample((normal(1, 1),)),
        *over(FLOATS, lambda d: Sample((regular(3, 3).astype(d),))),
    ],
}  # fmt: skip
