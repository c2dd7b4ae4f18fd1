"""Linear algebra: products and norms, systems of equations, factors, determinants."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from ..ops.contractions import matmul, multi_dot, outer, tensordot
from ..ops.reordering import matrix_transpose
from ..ops.vectors import cross, matvec, vecdot, vecmat
from .diagonals import diagonal, trace
from .factors import cholesky, det, lu, slogdet
from .norms import matrix_norm, norm, vector_norm
from .structured import block_diag, toeplitz
from .systems import cho_factor, cho_solve, inv, solve, solve_triangular

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "inv",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_transpose",
    "matvec",
    "multi_dot",
    "norm",
    "outer",
    "slogdet",
    "solve",
    "solve_triangular",
    "tensordot",
    "toeplitz",
    "trace",
    "vecdot",
    "vecmat",
    "vector_norm",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("linalg", name)
