"""Elementwise functions that are written with others, or that take more than tensors."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes

from staticad_schema.errors import DTypeError
from staticad_schema.handle import floating
from staticad_schema.ops.checks import check_kind
from staticad_schema.sites import asking
from staticad_schema.types import COMPLEX128, FLOAT64, FLOATING, INTEGER

from .. import methods
from ..building import build, renamed
from ..numbers import real
from ..operands import Operand, graph_of, result, tensor, tensors
from ..tensor import Tensor

__all__ = [
    "angle", "deg2rad", "divmod", "float_power", "fmax", "fmin", "frac", "heaviside", "lerp",
    "modf", "nan_to_num", "rad2deg", "sinc", "squared_difference",
]  # fmt: skip


def sinc(x: Operand, /, *, name: str | None = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0; smooth there, to any order of differentiation.

    x: floats.  Returns a tensor of the same shape and dtype.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sinc([0.0, 0.5, 1.5])
    >>> sad.Session(graph).run(y).round(3)
    array([ 1.   ,  0.637, -0.212], dtype=float32)
    """
    with asking("sinc", name):
        return result(build("sinc", (tensor("sinc", x),), {"order": 0}, label=name))


def lerp(start: Operand, end: Operand, weight: Operand, /, *, name: str | None = None) -> Tensor:
    """start + weight * (end - start), which is exactly start at weight 0 and end at weight 1.

    start, end, weight: floats or complex numbers that broadcast; integers become float32.
    Returns a tensor of their common dtype and shape.  Raises ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.lerp(10.0, 20.0, [0.0, 0.25, 1.0])
    >>> sad.Session(graph).run(y)
    array([10. , 12.5, 20. ], dtype=float32)
    """
    with asking("lerp", name):
        operands = floating(*tensors("lerp", start, end, weight))
        return result(methods.computed(_between, *operands, label=name))


def _between(a: Any, b: Any, t: Any) -> Any:
    # From the nearer end, so that rounding takes neither end away from it.
    size = build("abs", (t,)) if t.type.kind == "complex" else t
    near = build("less", (size, 0.5))
    return build("where", (near, a + t * (b - a), b - (b - a) * (1.0 - t)))


def squared_difference(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """(x - y) * (x - y).

    x, y: any dtype but bool; they broadcast, and are brought to one dtype.  Integers wrap.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.squared_difference([1.0, 5.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([1., 9.], dtype=float32)
    """
    with asking("squared_difference", name):
        operands = tensors("squared_difference", x, y)
        return result(
            methods.computed(lambda a, b: build("square", (a - b,)), *operands, label=name)
        )


def heaviside(x: Operand, at_zero: Operand, /, *, name: str | None = None) -> Tensor:
    """0 where x is negative, 1 where it is positive, `at_zero` where it is 0; NaN at NaN.

    x, at_zero: floats that broadcast; integers become float32.  The derivative with respect to x
    is 0 everywhere.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.heaviside([-1.5, 0.0, 2.0], 0.5)
    >>> sad.Session(graph).run(y)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    with asking("heaviside", name):
        value, middle = floating(*tensors("heaviside", x, at_zero))
        check_kind(FLOATING, value.type)
        step = (build("sign", (value,)) + 1.0) * 0.5
        return result(build("where", (build("equal", (value, 0.0)), middle, step), label=name))


def nan_to_num(
    x: Operand,
    /,
    *,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Tensor:
    """x with a number in place of each NaN and each infinity.

    x: integers, which are returned as they are, or floats.  nan, posinf, neginf: numbers; for
    infinities by default the largest and the lowest finite number of the dtype.  The derivative
    is 0 where an element is replaced.  Raises DTypeError for bools and complex numbers.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nan_to_num([1.0, np.nan, np.inf], posinf=9.0)
    >>> sad.Session(graph).run(y)
    array([1., 0., 9.], dtype=float32)
    """
    with asking("nan_to_num", name):
        value = tensor("nan_to_num", x)
        spans = methods.limits(value.dtype)
        if value.type.kind in INTEGER:
            return result(renamed(value, name))
        finite: Any = ml_dtypes.finfo(value.dtype)  # type: ignore[no-untyped-call]
        given = (
            real("nan", nan),
            float(finite.max) if posinf is None else real("posinf", posinf),
            float(finite.min) if neginf is None else real("neginf", neginf),
        )
        low, high = spans
        found = build("where", (build("isnan", (value,)), value.coerce(given[0]), value))
        found = build("where", (build("equal", (value, high)), value.coerce(given[1]), found))
        return result(
            build(
                "where", (build("equal", (value, low)), value.coerce(given[2]), found), label=name
            )
        )


def deg2rad(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Degrees in radians: pi / 180 times x.

    x: floats; integers become float32.  Raises DTypeError for complex numbers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.deg2rad([0.0, 180.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 3.142], dtype=float32)
    """
    with asking("deg2rad", name):
        return _multiple(_floats("deg2rad", x), math.pi / 180, name)


def rad2deg(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Radians in degrees: 180 / pi times x.

    x: floats; integers become float32.  Raises DTypeError for complex numbers.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.rad2deg([0.0, math.pi])
    >>> sad.Session(graph).run(y)
    array([  0., 180.], dtype=float32)
    """
    with asking("rad2deg", name):
        return _multiple(_floats("rad2deg", x), 180 / math.pi, name)


def angle(z: Operand, /, *, name: str | None = None) -> Tensor:
    """The angle of a complex number in the plane, from -pi to pi; its derivative at 0 is 0.

    z: complex numbers, or floats, whose angle is 0 or pi.  Returns a tensor of the real dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.angle([1 + 1j, -2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.785, 3.142], dtype=float32)
    """
    with asking("angle", name):
        (value,) = floating(tensor("angle", z))
        if value.type.kind == "complex":
            parts = build("imag", (value,)), build("real", (value,))
        else:
            parts = value.coerce(0.0), value
        return result(build("atan2", parts, label=name))


def fmax(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The larger of x and y, the other one where one is NaN; a tie halves the derivative.

    x, y: integers or floats; they broadcast, and are brought to one dtype.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fmax([1.0, np.nan], [2.0, 0.0])
    >>> sad.Session(graph).run(y)
    array([2., 0.], dtype=float32)
    """
    with asking("fmax", name):
        return _of_numbers("maximum", tensors("fmax", x, y), name)


def fmin(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The smaller of x and y, the other one where one is NaN; a tie halves the derivative.

    x, y: integers or floats; they broadcast, and are brought to one dtype.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fmin([1.0, np.nan], [2.0, 0.0])
    >>> sad.Session(graph).run(y)
    array([1., 0.], dtype=float32)
    """
    with asking("fmin", name):
        return _of_numbers("minimum", tensors("fmin", x, y), name)


def divmod(x: Operand, y: Operand, /, *, name: str | None = None) -> tuple[Tensor, Tensor]:
    """floor_divide(x, y) and remainder(x, y).

    x, y: integers or floats; they broadcast, and are brought to one dtype.  name: of the remainder.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     quotient, rest = sad.divmod([-7, 7], 3)
    >>> sad.Session(graph).run([quotient, rest])
    [array([-3,  2]), array([2, 1])]
    """
    with asking("divmod", name):
        operands = tensors("divmod", x, y)
        quotient = build("floor_divide", operands)
        return result(quotient), result(build("remainder", operands, label=name))


def frac(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x - trunc(x), the fraction with the sign of x; 0 at infinities.

    x: floats.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.frac([-1.25, 2.5])
    >>> sad.Session(graph).run(y)
    array([-0.25,  0.5 ], dtype=float32)
    """
    with asking("frac", name):
        return _fraction(tensor("frac", x), name)[0]


def modf(x: Operand, /, *, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The fraction and the integer part of x, both with its sign: `frac` and `trunc`.

    x: floats.  Raises DTypeError for other dtypes.  name: of the fraction.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     fraction, whole = sad.modf([-1.25, 2.5])
    >>> sad.Session(graph).run(whole)
    array([-1.,  2.], dtype=float32)
    """
    with asking("modf", name):
        return _fraction(tensor("modf", x), name)


def float_power(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x to the power of y in float64, or in complex128 for complex numbers.

    x, y: numbers or bools; they broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.float_power([2, 4], [-1, 0.5])
    >>> sad.Session(graph).run(y)
    array([0.5, 2. ])
    """
    with asking("float_power", name):
        graph = graph_of("float_power", x, y)
        given = [tensor("float_power", value, graph) for value in (x, y)]
        wide = COMPLEX128 if "complex" in {t.type.kind for t in given} else FLOAT64
        return result(build("pow", [t.astype(wide) for t in given], label=name))


def _floats(asked: str, x: Operand) -> Any:
    """x as real floats.  Raises DTypeError for complex numbers."""
    value = tensor(asked, x)
    if value.type.kind == "complex":
        raise DTypeError("not a real dtype", expected="floats or integers", found=value.describe())
    return floating(value)[0]


def _multiple(x: Any, factor: float, label: str | None) -> Tensor:
    # The factor too has the digits of the dtype that is computed in.
    return result(methods.computed(lambda wide: wide * factor, x, label=label))


def _of_numbers(op: str, operands: Any, label: str | None) -> Tensor:
    """The named op of two tensors, and the other one where one is NaN."""
    x, y = operands
    extreme = build(op, (x, y))
    if x.type.kind != "float":
        return result(renamed(extreme, label))
    extreme = build("where", (build("isnan", (x,)), y, extreme))
    return result(build("where", (build("isnan", (y,)), x, extreme), label=label))


def _fraction(x: Any, label: str | None) -> tuple[Tensor, Tensor]:
    check_kind(FLOATING, x.type)
    whole = build("trunc", (x,))
    # Of infinity infinity is the integer part.
    rest = build("where", (build("isinf", (x,)), x.coerce(0.0), build("subtract", (x, whole))))
    return result(renamed(rest, label)), result(whole)
