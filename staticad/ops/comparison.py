"""Questions with a tolerance, and which infinity a number is."""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking
from staticad_schema.types import FLOAT32, FLOAT64, INEXACT, WIDENED

from .. import methods
from ..building import build
from ..numbers import real
from ..operands import Operand, result, tensor, tensors
from ..options import flag
from ..tensor import Tensor

__all__ = ["allclose", "isclose", "isneginf", "isposinf"]


def isposinf(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether each element is positive infinity.

    x: integers or floats.  Returns a tensor of bools.  Raises DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isposinf([np.inf, -np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """
    with asking("isposinf", name):
        return _is_infinite("isposinf", x, "greater", name)


def isneginf(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether each element is negative infinity.

    x: integers or floats.  Returns a tensor of bools.  Raises DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isneginf([np.inf, -np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([False,  True, False])
    """
    with asking("isneginf", name):
        return _is_infinite("isneginf", x, "less", name)


def isclose(
    x: Operand,
    y: Operand,
    /,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """Whether |x - y| <= atol + rtol |y|; infinities are close to themselves.

    x, y: any dtype; they broadcast.  Integers and bools are compared as float64.  equal_nan:
    whether NaN is close to NaN.  Returns a tensor of bools.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isclose([1.0, 1.1], 1.000001)
    >>> sad.Session(graph).run(y)
    array([ True, False])
    """
    with asking("isclose", name):
        return _close(tensors("isclose", x, y), rtol, atol, equal_nan, name)


def allclose(
    x: Operand,
    y: Operand,
    /,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """Whether x and y are close everywhere, as `isclose` says: one bool.

    x, y, rtol, atol, equal_nan: as in `isclose`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.allclose([1.0, 2.0], [1.0, 2.000001])
    >>> sad.Session(graph).run(y)
    array(True)
    """
    with asking("allclose", name):
        close = _close(tensors("allclose", x, y), rtol, atol, equal_nan, None)
        return result(methods.reduce("all", close, None, False, name))


def _is_infinite(asked: str, x: Operand, side: str, label: str | None) -> Tensor:
    value = tensor(asked, x)
    infinite, sided = build("isinf", (value,)), build(side, (value, 0))
    return result(build("logical_and", (infinite, sided), label=label))


def _close(operands: Any, rtol: Any, atol: Any, equal_nan: Any, label: str | None) -> Tensor:
    x, y = operands
    if x.type.kind not in INEXACT:
        x, y = x.astype(FLOAT64), y.astype(FLOAT64)
    elif x.type.dtype in WIDENED:
        # In which the tolerances are not 0.
        x, y = x.astype(FLOAT32), y.astype(FLOAT32)
    allowed = build("abs", (y,)) * real("rtol", rtol) + real("atol", atol)
    near = build("less_equal", (build("abs", (x - y,)), allowed))
    # Not where y is infinite: everything would be near to it.
    near = build("logical_and", (near, build("isfinite", (y,))))
    equal = build("equal", (x, y))
    if flag("equal_nan", equal_nan):
        both = build("logical_and", (build("isnan", (x,)), build("isnan", (y,))))
        equal = build("logical_or", (equal, both))
    return result(build("logical_or", (near, equal), label=label))
