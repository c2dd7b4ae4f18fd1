"""Gamma, beta and zeta functions, with the incomplete ones that distributions are made of."""

from __future__ import annotations

from staticad_schema.sites import asking

from .. import dimensions
from ..operands import Operand
from ..tensor import Tensor
from .functions import applied


def gammaln(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(abs(gamma(x))); inf at 0, at negative integers and at infinities.

    x: floats; integers become float32.  Raises DTypeError for complex
    numbers.  The derivative is digamma(x).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.gammaln([0.5, 1.0, 5.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.572, 0.   , 3.178], dtype=float32)
    """
    return applied("gammaln", "gammaln", x, name=name)


def gamma(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The gamma function; infinite at 0, of the zero's sign, and NaN at negative integers.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.gamma([0.5, 1.0, 5.0, -0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([ 1.772,  1.   , 24.   , -3.545], dtype=float32)
    """
    return applied("gamma", "gamma", x, name=name)


def digamma(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The derivative of gammaln; -inf at 0 (inf at -0.0), NaN at negative integers.

    x: floats; integers become float32.  Its derivatives are right left of 0, too.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([1.0, 2.0, -16.5])
    ...     y = sad.special.digamma(x)
    ...     (dx,) = sad.gradients(y, x)
    >>> sad.Session(graph).run(dx).round(3)
    array([1.645, 0.645, 9.811], dtype=float32)
    """
    return applied("digamma", "polygamma", x, name=name, order=0)


def polygamma(n: int, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The n-th derivative of digamma.

    n: an int from 0 to 30.  x: floats; integers become float32.  At 0 and at negative integers
    it is what it is on their right, as in SciPy: inf for odd n and -inf for even n above 0.
    Raises ArgumentError for another n.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.polygamma(1, [1.0, -0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([1.645, 8.935], dtype=float32)
    """
    with asking("polygamma", name):
        order = dimensions.integer(n)
    return applied("polygamma", "polygamma", x, name=name, order=order)


def betaln(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """log(abs(beta(a, b))), with its digits where one is much larger than the other.

    a, b: floats that broadcast; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.betaln(2.0, [1.0, 1e6])
    >>> sad.Session(graph).run(y).round(3)
    array([ -0.693, -27.631], dtype=float32)
    """
    return applied("betaln", "betaln", a, b, name=name)


def beta(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """gamma(a) gamma(b) / gamma(a + b).

    a, b: floats that broadcast; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.beta(2.0, [1.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.5  , 0.083], dtype=float32)
    """
    return applied("beta", "beta", a, b, name=name)


def gammainc(a: Operand, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The share of the gamma distribution of shape a that is below x.

    a, x: floats of at least 0 that broadcast, NaN elsewhere; integers become float32.  It has
    derivatives in both, in a to the 8th order.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.constant([0.5, 2.0, 30.0])
    ...     y = sad.special.gammainc(a, [0.5, 2.0, 25.0])
    ...     (da,) = sad.gradients(y, a)
    >>> sad.Session(graph).run(da).round(3)
    array([-0.647, -0.294, -0.05 ], dtype=float32)
    """
    return applied("gammainc", "gammainc", a, x, name=name)


def gammaincc(a: Operand, x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 - gammainc(a, x): the share of the gamma distribution of shape a that is above x.

    a, x: as in `gammainc`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.gammaincc([0.5, 2.0], 3.0)
    >>> sad.Session(graph).run(y).round(3)
    array([0.014, 0.199], dtype=float32)
    """
    return applied("gammaincc", "gammaincc", a, x, name=name)


def betainc(a: Operand, b: Operand, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The share of the beta distribution of shapes a and b that is below x.

    a, b: positive floats; x: floats from 0 to 1; NaN elsewhere.  They broadcast; integers become
    float32.  It has derivatives in all three, in a and b together to the 6th order.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.constant([0.5, 2.0])
    ...     y = sad.special.betainc(a, 3.0, 0.25)
    ...     (da,) = sad.gradients(y, a)
    >>> sad.Session(graph).run(da).round(3)
    array([-0.443, -0.228], dtype=float32)
    """
    return applied("betainc", "betainc", a, b, x, name=name)


def betaincc(a: Operand, b: Operand, x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 - betainc(a, b, x): the share of the beta distribution that is above x.

    a, b, x: as in `betainc`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.betaincc(2.0, 3.0, [0.25, 0.75])
    >>> sad.Session(graph).run(y).round(3)
    array([0.738, 0.051], dtype=float32)
    """
    return applied("betaincc", "betaincc", a, b, x, name=name)


def zeta(s: Operand, q: Operand | None = None, /, *, name: str | None = None) -> Tensor:
    """Riemann's zeta function; with q Hurwitz', the sum of (q + k)**-s over k from 0 on.

    s: floats; inf at 1.  Without q below 1 the continuation of the sum, as in SciPy, with zeros at
    the negative even integers; with q NaN there.  q: positive floats that broadcast with s.
    Integers become float32.  It has derivatives in both, in s to the 10th order.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.zeta([2.0, 0.5, -1.0, -2.0])
    ...     z = sad.special.zeta(2.0, [1.0, 2.0])
    >>> with sad.Session(graph) as session:
    ...     session.run(y).round(3), session.run(z).round(3)
    (array([ 1.645, -1.46 , -0.083,  0.   ], dtype=float32), array([1.645, 0.645], dtype=float32))
    """
    if q is None:
        return applied("zeta", "riemann_zeta", s, name=name, order=0)
    return applied("zeta", "zeta", s, q, name=name, order=0)
