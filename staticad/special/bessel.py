"""Bessel functions of integer order."""

from __future__ import annotations

from staticad_schema.sites import asking

from .. import dimensions
from ..building import build
from ..operands import Operand, result
from ..tensor import Tensor
from .functions import applied


def i0(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.i0([0.0, 1.0, -2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.   , 1.266, 2.28 ], dtype=float32)
    """
    return applied("i0", "iv", x, name=name, n=0)


def i1(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.i1([0.0, 1.0, -2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.   ,  0.565, -1.591], dtype=float32)
    """
    return applied("i1", "iv", x, name=name, n=1)


def i0e(x: Operand, /, *, name: str | None = None) -> Tensor:
    """exp(-abs(x)) i0(x); its derivatives keep their digits for large x.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.i0e([0.0, 1.0, 1e6])
    >>> sad.Session(graph).run(y).round(3)
    array([1.   , 0.466, 0.   ], dtype=float32)
    """
    return applied("i0e", "ive", x, name=name, n=0, order=0)


def i1e(x: Operand, /, *, name: str | None = None) -> Tensor:
    """exp(-abs(x)) i1(x); its derivatives keep their digits for large x.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.i1e([0.0, 1.0, 1e6])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 0.208, 0.   ], dtype=float32)
    """
    return applied("i1e", "ive", x, name=name, n=1, order=0)


def j0(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0; 0 at infinities.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.j0([0.0, 1.0, 10.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 1.   ,  0.765, -0.246], dtype=float32)
    """
    return applied("j0", "jv", x, name=name, n=0)


def j1(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1; 0 at infinities.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.j1([0.0, 1.0, 10.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 0.44 , 0.043], dtype=float32)
    """
    return applied("j1", "jv", x, name=name, n=1)


def k0(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0; inf at 0, NaN below.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.k0([0.0, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([  inf, 0.421, 0.114], dtype=float32)
    """
    return applied("k0", "kv", x, name=name, n=0)


def k1(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1; inf at 0, NaN below.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.k1([0.0, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([  inf, 0.602, 0.14 ], dtype=float32)
    """
    return applied("k1", "kv", x, name=name, n=1)


def k0e(x: Operand, /, *, name: str | None = None) -> Tensor:
    """exp(x) k0(x); its derivatives keep their digits for large x.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.k0e([0.0, 1.0, 1e6])
    >>> sad.Session(graph).run(y).round(3)
    array([      inf, 1.144e+00, 1.000e-03], dtype=float32)
    """
    return applied("k0e", "kve", x, name=name, n=0, order=0)


def k1e(x: Operand, /, *, name: str | None = None) -> Tensor:
    """exp(x) k1(x); its derivatives keep their digits for large x.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.k1e([0.0, 1.0, 1e6])
    >>> sad.Session(graph).run(y).round(3)
    array([      inf, 1.636e+00, 1.000e-03], dtype=float32)
    """
    return applied("k1e", "kve", x, name=name, n=1, order=0)


def jv(n: int, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order n.

    n: an int from -1000 to 1000.  x: floats; integers become float32.  Raises ArgumentError for
    another n, UsageError for one that is no integer.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.jv(2, [1.0, 5.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.115, 0.047], dtype=float32)
    """
    with asking("jv", name):
        order = dimensions.integer(n)
        if order >= 0 or order % 2 == 0:
            return applied("jv", "jv", x, name=name, n=abs(order))
        found = applied("jv", "jv", x, name=None, n=-order)
        return result(build("negative", (found,), label=name))


def iv(n: int, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order n.

    n: an int from -1000 to 1000.  x: floats; integers become float32.  Raises ArgumentError for
    another n, UsageError for one that is no integer.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.iv(2, [1.0, 5.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.136, 17.506], dtype=float32)
    """
    with asking("iv", name):
        order = dimensions.integer(n)
        return applied("iv", "iv", x, name=name, n=abs(order))


def kn(n: int, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order n; inf at 0, NaN below.

    n: an int from -1000 to 1000.  x: floats; integers become float32.  Raises ArgumentError for
    another n, UsageError for one that is no integer.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.kn(2, [1.0, 5.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.625, 0.005], dtype=float32)
    """
    with asking("kn", name):
        order = dimensions.integer(n)
        return applied("kn", "kv", x, name=name, n=abs(order))
