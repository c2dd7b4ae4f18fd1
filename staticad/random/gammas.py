"""The gamma distribution, and those that are made of it.

Samples are quantiles of uniform numbers, found by their logarithm, so that small shapes do not
underflow before they are divided by each other.  Gradients in the shapes are implicit ones
(Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018).
"""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64

from ..building import build, part, renamed
from ..graph import Graph
from ..operands import Operand, result
from ..tensor import Tensor
from .draws import begin, between_0_and_1, fitted, located, standard_normal, within


def gamma(
    shape: Any, a: Operand, scale: Operand = 1.0, dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """Numbers of the gamma distribution of shape `a`, whose mean is a * scale.

    shape: ints, names or Dims.  a: above 0; scale: not negative (one over the rate).  Both are
    numbers or tensors that broadcast to shape; the result is NaN where a run finds them out of
    range.  Gradients in both exist, to second order and on.
    Below a = 0.01 many numbers are too small for a float and are 0; see `loggamma`.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     a = sad.constant(3.0)
    ...     y = sad.random.gamma((10_000,), a)
    ...     (da,) = sad.gradients(sad.mean(y), a)  # the mean is a
    >>> value = sad.Session(graph).run(da)
    >>> bool(abs(value - 1) < 0.02)
    True
    """
    with asking("random.gamma", name):
        graph, size, wanted = begin("gamma", shape, dtype, a, scale)
        x = build("exp", (_log_gamma(graph, within(graph, "a", a, size, above=0), size, name),))
        return result(renamed(located(graph, x, 0.0, scale, wanted, size), name))


def loggamma(shape: Any, a: Operand, dtype: Any = "float32", name: str | None = None) -> Tensor:
    """Logarithms of numbers of the gamma distribution of shape `a`, also where those underflow.

    shape, a: as in `gamma`.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.loggamma((1000,), 1e-3)
    >>> bool(sad.Session(graph).run(y).min() < -1000)
    True
    """
    with asking("random.loggamma", name):
        graph, size, wanted = begin("loggamma", shape, dtype, a)
        x = _log_gamma(graph, within(graph, "a", a, size, above=0), size, name)
        return result(renamed(x.astype(wanted), name))


def chisquare(shape: Any, df: Operand, dtype: Any = "float32", name: str | None = None) -> Tensor:
    """Numbers of the chi-square distribution with `df` degrees of freedom: sums of squares of
    normal numbers.

    shape: ints, names or Dims.  df: above 0, not only integers; a number or a tensor that
    broadcasts to shape.  The result is NaN where a run finds it out of range.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.chisquare((10_000,), 4.0)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 4) < 0.1)
    True
    """
    with asking("random.chisquare", name):
        graph, size, wanted = begin("chisquare", shape, dtype, df)
        half = within(graph, "df", df, size, above=0) * 0.5
        x = build("exp", (_log_gamma(graph, half, size, name),)) * 2.0
        return result(renamed(x.astype(wanted), name))


def student_t(
    shape: Any,
    df: Operand,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers of Student's t distribution with `df` degrees of freedom.

    shape: ints, names or Dims.  df: above 0; loc; scale: not negative.  They are numbers or
    tensors that broadcast to shape; the result is NaN where a run finds them out of range.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.student_t((10_000,), 5.0, 1.0)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 1) < 0.1)
    True
    """
    with asking("random.student_t", name):
        graph, size, wanted = begin("student_t", shape, dtype, df, loc, scale)
        half = within(graph, "df", df, size, above=0) * 0.5
        spread = _log_gamma(graph, half, size, part(name, "gamma")) - build("log", (half,))
        z = standard_normal(graph, size, FLOAT64, part(name, "normal"))
        x = z * build("exp", (spread * -0.5,))
        return result(renamed(located(graph, x, loc, scale, wanted, size), name))


def beta(
    shape: Any, a: Operand, b: Operand, dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """Numbers from 0 to 1 of the beta distribution of shapes a and b.

    shape: ints, names or Dims.  a, b: above 0; numbers or tensors that broadcast to it.  The
    result is NaN where a run finds them out of range.  It is x / (x + y) of gamma numbers x and y,
    and has their gradients.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.beta((10_000,), 2.0, 3.0)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 0.4) < 0.01)
    True
    """
    with asking("random.beta", name):
        graph, size, wanted = begin("beta", shape, dtype, a, b)
        x, y = (
            _log_gamma(graph, within(graph, what, given, size, above=0), size, part(name, what))
            for what, given in (("a", a), ("b", b))
        )
        return result(renamed(build("sigmoid", (x - y,)).astype(wanted), name))


def dirichlet(
    shape: Any, alpha: Operand, dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """Vectors of positive numbers of sum 1, of the Dirichlet distribution.

    shape: ints, names or Dims; () for one vector.  alpha: above 0; a vector, or a tensor of
    vectors whose leading axes broadcast to shape.  Returns a tensor of shape (*shape, n), n the
    length of the vectors.  NaN where a run finds alpha out of range.  Raises ShapeError for an
    alpha that is a number.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.dirichlet((4,), [0.01, 2.0, 3.0])
    >>> sad.Session(graph).run(y).sum(axis=-1).round(6)
    array([1., 1., 1., 1.], dtype=float32)
    """
    with asking("random.dirichlet", name):
        graph, size, wanted = begin("dirichlet", shape, dtype, alpha)
        given = within(graph, "alpha", alpha, above=0)
        if not given.ndim:
            raise ShapeError("alpha is no vector", expected="a vector", found=given.describe())
        full = (*size, given.shape[-1])
        given = fitted(given, full)
        x = _log_gamma(graph, given, full, name)
        chosen = build("softmax", (x,), {"axis": len(full) - 1})
        return result(renamed(chosen.astype(wanted), name))


def _log_gamma(graph: Graph, a: Any, size: Any, name: str | None) -> Any:
    """The logarithm of a gamma number, in float64."""
    return build("log_gamma_quantile", (a, between_0_and_1(graph, size, name)))
