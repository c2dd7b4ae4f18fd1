"""Random vectors."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.ops.matrices import check_square
from staticad_schema.sites import asking
from staticad_schema.types import WIDENED

from ..building import build, part, renamed
from ..operands import Operand, result
from ..tensor import Tensor
from .draws import begin, fitted, parameter, standard_normal


def multivariate_normal(
    shape: Any, mean: Operand, cov: Operand, dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """Vectors of the normal distribution with a mean and a covariance matrix.

    shape: ints, names or Dims; () for one vector.  mean: a number, or a tensor of vectors of n
    elements.  cov: a positive definite matrix, n by n, or a tensor of such; leading axes broadcast
    to shape.  Returns a tensor of shape (*shape, n).  It is mean + l z with the Cholesky factor l
    of cov and normal z, and has gradients in both; that in cov is symmetric.
    Raises ShapeError for what does not fit; fails when it runs if cov is not positive definite.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.multivariate_normal((10_000,), [0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])
    >>> value = sad.Session(graph).run(y)
    >>> bool(abs(np.cov(value.T) - [[2, 0.5], [0.5, 1]]).max() < 0.1)
    True
    """
    with asking("random.multivariate_normal", name):
        graph, size, wanted = begin("multivariate_normal", shape, dtype, mean, cov)
        working = WIDENED.get(wanted, wanted)
        matrix = parameter(graph, cov, working)
        if matrix.ndim < 2:
            raise ShapeError(
                "cov is no matrix", expected="a square matrix", found=matrix.describe()
            )
        full = (*size, check_square(matrix.type, "cov"))
        factor = build("cholesky", (matrix,), label=part(name, "factor"))
        z = standard_normal(graph, full, working, name)
        if matrix.ndim == 2:
            x = z @ factor.mT
        else:
            column = build("reshape", (z,), {"shape": (*full, 1)})
            product = factor @ column
            x = build("reshape", (product,), {"shape": product.shape[:-1]})
        # Leading axes of cov beyond shape do not fit.
        x = fitted(x, full) + parameter(graph, mean, working, full)
        return result(renamed(x.astype(wanted), name))
