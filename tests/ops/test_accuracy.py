"""Float64 values and first derivatives against 50 digits, over the whole range of each function.

Differences can judge a derivative only where it is about as large as its errors; here it
is judged in the tails and near the poles, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest

from staticad.gradients import gradients
from staticad_schema.op import OPS

from .running import Applied
from .samples import Sample

EPS = 2.0**-52
TINY = 2.0**-1022

WIDE = (-700.0, -40.0, -5.5, -1.0, -0.3, -1e-9, -1e-200, 1e-300, 1e-5, 0.7, 2.0, 17.0, 300.0)
POSITIVE = (1e-300, 1e-9, 0.3, 1.0, 1.0 + 1e-9, 2.5, 1e5, 1e300)
REACH = (1e-200, 1e-9, 0.3, 1.0, 1.0 + 1e-9, 2.5, 1e5, 1e200)
SHARES = (1e-300, 1e-9, 0.2, 0.3, 0.4999999, 0.5 + 1e-9, 0.7, 0.76, 1 - 1e-12)
UNIT = (-1 + 1e-12, -0.7, -1e-9, 1e-200, 0.5, 1 - 1e-12)
ANGLES = (-1000.0, -3.0, -0.5, 1e-200, 1e-9, 1.0, 1.5707, 22.0)


class Exact(NamedTuple):
    """value and derivatives (one an operand) as mpmath functions; the points; how many units
    in the last place value and derivatives may be off."""

    value: Callable[..., Any]
    slopes: tuple[Callable[..., Any], ...]
    points: tuple[Any, ...]
    value_ulps: float = 4
    slope_ulps: float = 16


def logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def pairs(*points: tuple[float, float]) -> tuple[Any, ...]:
    return points


PLANE = pairs(
    (3e-200, 4e-200), (3e200, -4e200), (1e-13, 5.6843e-14), (-2.0, 0.5), (1e-30, 1.0), (1.0, 1e-30)
)

EXACT: dict[str, Exact] = {
    "exp": Exact(mp.exp, (mp.exp,), WIDE),
    "expm1": Exact(mp.expm1, (mp.exp,), WIDE),
    "log": Exact(mp.log, (lambda x: 1 / x,), POSITIVE),
    "log1p": Exact(mp.log1p, (lambda x: 1 / (1 + x),), (-0.9, -1e-9, 1e-300, 0.3, 1e9)),
    "log2": Exact(lambda x: mp.log(x, 2), (lambda x: 1 / (x * mp.log(2)),), POSITIVE),
    "log10": Exact(mp.log10, (lambda x: 1 / (x * mp.log(10)),), POSITIVE),
    "sqrt": Exact(mp.sqrt, (lambda x: 1 / (2 * mp.sqrt(x)),), POSITIVE),
    "exp2": Exact(lambda x: mp.mpf(2) ** x, (lambda x: 2**x * mp.log(2),), WIDE),
    "rsqrt": Exact(lambda x: 1 / mp.sqrt(x), (lambda x: -1 / (2 * mp.sqrt(x) * x),), REACH),
    "cbrt": Exact(mp.cbrt, (lambda x: 1 / (3 * mp.cbrt(x) ** 2),), POSITIVE),
    "square": Exact(lambda x: x * x, (lambda x: 2 * x,), (-1e100, 1e-100, 3.3)),
    "reciprocal": Exact(lambda x: 1 / x, (lambda x: -1 / x**2,), (-1e-100, 3.0, 1e100)),
    "sin": Exact(mp.sin, (mp.cos,), ANGLES),
    "cos": Exact(mp.cos, (lambda x: -mp.sin(x),), ANGLES),
    "tan": Exact(mp.tan, (lambda x: 1 / mp.cos(x) ** 2,), ANGLES),
    "asin": Exact(mp.asin, (lambda x: 1 / mp.sqrt(1 - x * x),), UNIT),
    "acos": Exact(mp.acos, (lambda x: -1 / mp.sqrt(1 - x * x),), UNIT),
    "atan": Exact(mp.atan, (lambda x: 1 / (1 + x * x),), WIDE),
    "sinh": Exact(mp.sinh, (mp.cosh,), WIDE),
    "cosh": Exact(mp.cosh, (mp.sinh,), WIDE),
    "tanh": Exact(mp.tanh, (lambda x: 1 / mp.cosh(x) ** 2,), (-2.0, -1e-9, 1e-300, 0.5, 1.0)),
    "asinh": Exact(mp.asinh, (lambda x: 1 / mp.sqrt(1 + x * x),), (*WIDE, 1e200, -1e200)),
    "acosh": Exact(
        mp.acosh, (lambda x: 1 / mp.sqrt(x * x - 1),), (1 + 1e-9, 1.5, 30.0, 1e200), value_ulps=16
    ),
    "atanh": Exact(mp.atanh, (lambda x: 1 / (1 - x * x),), UNIT),
    "erf": Exact(
        mp.erf, (lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),), (-5.0, 1e-300, 0.4, 3.0)
    ),
    "erfc": Exact(
        mp.erfc,
        (lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),),
        (-3.0, 1e-9, 2.0, 10.0, 20.0),
        value_ulps=1000,
        slope_ulps=1000,
    ),
    "sigmoid": Exact(logistic, (lambda x: logistic(x) * logistic(-x),), (*WIDE, 40.0, 700.0)),
    "logaddexp": Exact(
        lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
        (lambda x, y: logistic(x - y), lambda x, y: logistic(y - x)),
        pairs((0.0, -16.0), (0.5, 0.5), (1000.0, 960.0), (-700.0, 3.0), (300.0, -300.0)),
    ),
    "logaddexp2": Exact(
        lambda x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y, 2),
        (lambda x, y: 1 / (1 + mp.mpf(2) ** (y - x)), lambda x, y: 1 / (1 + mp.mpf(2) ** (x - y))),
        pairs((0.0, -16.0), (0.5, 0.5), (1000.0, 960.0), (-700.0, 3.0), (300.0, -300.0)),
        # 2**x is exp of a rounded argument.
        slope_ulps=200,
    ),
    "softplus": Exact(lambda x: mp.log1p(mp.exp(x)), (logistic,), (*WIDE, 16.0, 40.0, 700.0)),
    "log_sigmoid": Exact(
        lambda x: -mp.log1p(mp.exp(-x)), (lambda x: logistic(-x),), (*WIDE, -16.0, 40.0, 700.0)
    ),
    "logit": Exact(lambda x: mp.log(x / (1 - x)), (lambda x: 1 / (x * (1 - x)),), SHARES),
    "sinc": Exact(
        mp.sincpi,
        (lambda x: (mp.cospi(x) - mp.sincpi(x)) / x,),
        (1e-9, 1e-4, 0.3, 0.6, 1 - 1e-9, 1.4, -5.2, 100.3, 1e6 + 1 / 16),
    ),
    "xlog1py": Exact(
        lambda x, y: x * mp.log1p(y),
        (lambda x, y: mp.log1p(y), lambda x, y: x / (1 + y)),
        pairs((2.0, 3.0), (1e-300, 1e-300), (5.0, 1e-9), (3.0, -0.999)),
    ),
    "xlogy": Exact(
        lambda x, y: x * mp.log(y),
        (lambda x, y: mp.log(y), lambda x, y: x / y),
        pairs((2.0, 3.0), (1e-300, 1e-300), (5.0, 1 + 1e-9)),
    ),
    "hypot": Exact(
        mp.hypot,
        (lambda x, y: x / mp.hypot(x, y), lambda x, y: y / mp.hypot(x, y)),
        PLANE,
    ),
    "atan2": Exact(
        mp.atan2,
        (lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
        PLANE,
    ),
    "divide": Exact(
        lambda x, y: x / y,
        (lambda x, y: 1 / y, lambda x, y: -x / y**2),
        pairs((1.0, 3.0), (-1e200, 1e150), (1e-200, 1e-100)),
    ),
    "pow": Exact(
        lambda x, y: x**y,
        (lambda x, y: y * x ** (y - 1), lambda x, y: x**y * mp.log(x)),
        pairs((2.0, 3.0), (1e-100, 2.5), (1.5, -700.0), (7.0, 0.1), (1 + 1e-9, 1e9)),
    ),
}


def ulps(found: float, exact: Any) -> float:
    """The distance in units in the last place of the exact number, subnormals counted coarsely."""
    return float(mp.fabs(mp.mpf(found) - exact) / (EPS * mp.fabs(exact) + EPS * TINY))


@pytest.mark.parametrize("name", sorted(EXACT))
def test_values_and_derivatives_have_their_digits(name: str) -> None:
    exact = EXACT[name]
    points = [p if isinstance(p, tuple) else (p,) for p in exact.points]
    columns = [np.array(c) for c in zip(*points, strict=True)]
    built = Applied(OPS[name], Sample(tuple(columns)))
    (y,) = built.outputs
    found = built.run([y, *gradients(y, built.inputs)], columns)
    with mp.workdps(50):
        for i, point in enumerate(points):
            given = [mp.mpf(p) for p in point]
            off = ulps(found[0][i], exact.value(*given))
            assert off <= exact.value_ulps, f"{name}{point}: {off:.3g} ulp"
            for k, slope in enumerate(exact.slopes):
                off = ulps(found[1 + k][i], slope(*given))
                assert off <= exact.slope_ulps, f"derivative {k} of {name}{point}: {off:.3g} ulp"
