"""Linear algebra: products and norms, systems of equations, factors, determinants, spectra,
functions of matrices."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from ..ops.contractions import matmul, multi_dot, outer, tensordot
from ..ops.reordering import matrix_transpose
from ..ops.vectors import cross, matvec, vecdot, vecmat
from ..transforms.linear import cg, gmres
from .diagonals import diagonal, trace
from .factors import cholesky, det, lu, slogdet
from .functions import expm, logm, matrix_power, sqrtm
from .norms import matrix_norm, norm, vector_norm
from .orthogonal import qr
from .singular_values import cond, lstsq, matrix_rank, pinv, svd, svdvals
from .spectra import eig, eigh, eigvals, eigvalsh
from .structured import block_diag, toeplitz
from .systems import (
    cho_factor,
    cho_solve,
    inv,
    lu_factor,
    lu_solve,
    solve,
    solve_triangular,
)

__all__ = [
    "block_diag",
    "cg",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "gmres",
    "inv",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
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
