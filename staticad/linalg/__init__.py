"""Linear algebra: norms and products of vectors and matrices."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from ..ops.contractions import matmul, multi_dot, outer, tensordot
from ..ops.reordering import matrix_transpose
from ..ops.vectors import cross, matvec, vecdot, vecmat
from .diagonals import diagonal, trace
from .norms import matrix_norm, norm, vector_norm

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_transpose",
    "matvec",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vecmat",
    "vector_norm",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("linalg", name)
