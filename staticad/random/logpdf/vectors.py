"""Log densities of vectors, which lie along the last axis."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.ops.checks import agree
from staticad_schema.ops.matrices import check_square
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.sites import asking

from ...building import build, part, renamed
from ...operands import Operand, result
from ...ops.diagonals import diagonal
from ...tensor import Tensor
from .support import HALF_LOG_TAU, above, bounded, floats, log, operands, supported


def dirichlet(x: Operand, alpha: Operand, *, name: str | None = None) -> Tensor:
    """Of the Dirichlet distribution, for vectors along the last axis.

    x, alpha: floats that broadcast; integers become float32.  alpha is above 0: ArgumentError for
    a number that is not, NaN where a run finds so.  -inf where an element of x is negative, with
    gradient 0; whether they sum to 1 is not looked at.  Raises ShapeError for numbers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.dirichlet([0.2, 0.8], [1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    np.float32(0.47)
    """
    with asking("random.logpdf.dirichlet", name):
        point, weights = operands("dirichlet", x, alpha)
        _check_vectors(point, weights)
        weights = above("alpha", alpha, weights)
        inside = point >= 0
        whole = _all(inside)
        z = supported(point, inside, 1.0)
        rise = _sum(build("xlogy", (weights - 1.0, z)))
        norm = _sum(build("gammaln", (weights,))) - build("gammaln", (_sum(weights),))
        # Of what lies outside nothing reaches a gradient: a choice passes none on.
        return result(bounded(_sum(point), whole, rise - norm, name))


def multivariate_normal(
    x: Operand, mean: Operand, cov: Operand, *, name: str | None = None
) -> Tensor:
    """Of the normal distribution with a mean and a covariance matrix, for vectors along the last
    axis.

    x, mean: floats that broadcast; integers become float32.  cov: positive definite, n by n;
    leading axes broadcast.  The gradient in cov is symmetric.  Raises ShapeError for what does not
    fit; fails when it runs if cov is not positive definite.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.multivariate_normal(
    ...         [1.0, 0.0], [0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]]
    ...     )
    >>> sad.Session(graph).run(y).round(3)
    np.float32(-2.403)
    """
    with asking("random.logpdf.multivariate_normal", name):
        point, middle, matrix = floats("multivariate_normal", x, mean, cov)
        if matrix.ndim < 2:
            raise ShapeError(
                "cov is no matrix", expected="a square matrix", found=matrix.describe()
            )
        size = check_square(matrix.type, "cov")
        vectors = broadcast_shapes((point.type.shape, middle.type.shape))
        rest = point - middle
        _check_vectors(rest)
        agree(size, vectors[-1], "cov and the vectors")
        broadcast_shapes((vectors[:-1], matrix.type.shape[:-2]))
        factor = build("cholesky", (matrix,), label=part(name, "factor"))
        column = build("reshape", (rest,), {"shape": (*rest.shape, 1)})
        attributes = {"lower": True, "adjoint": False, "unit_diagonal": False, "strict": False}
        white = build("solve_triangular", (factor, column), attributes)
        squares = build("sum", (white * white,), {"axis": _last(white, 2), "keepdims": False})
        each = log(diagonal(factor, 0, -2, -1)) + HALF_LOG_TAU
        return result(renamed(squares * -0.5 - _sum(each), name))


def _check_vectors(*given: Any) -> None:
    for x in given:
        if not x.ndim:
            raise ShapeError("not a vector", expected="a vector", found=x.describe())


def _last(x: Any, count: int) -> tuple[int, ...]:
    return tuple(range(x.ndim - count, x.ndim))


def _sum(x: Any) -> Any:
    return build("sum", (x,), {"axis": _last(x, 1), "keepdims": False})


def _all(x: Any) -> Any:
    return build("all", (x,), {"axis": _last(x, 1), "keepdims": False})
