"""Samples of the special functions: ordinary points, sizes 0 and 1, poles and ends of domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from staticad_schema.types import as_dtype

from .samples import Sample, Table
from .samples_elementwise import FLOATS, ordinary

inf, nan = np.inf, np.nan

Range = tuple[float, float]


def over_ranges(*ranges: Range, wide: Sequence[Range] = (), **attributes: Any) -> list[Sample]:
    """Samples of every float, of sizes 0 and 1, broadcast; and of float64 in another range."""
    samples = []
    for name in FLOATS:
        d = as_dtype(name)
        columns = tuple(ordinary(d, (2, 3), *r, 11 + k) for k, r in enumerate(ranges))
        samples.append(Sample(columns, attributes))
    d = as_dtype("float64")
    shapes: tuple[tuple[int, ...], ...] = ((2, 1, 3), (4, 1), ())
    for given in (shapes, ((0, 3), (1,), (0, 1))):
        columns = tuple(
            ordinary(d, shape, *r, 21 + k)
            for k, (r, shape) in enumerate(zip(ranges, given, strict=False))
        )
        samples.append(Sample(columns, attributes))
    if wide:
        columns = tuple(ordinary(d, (5,), *r, 31 + k) for k, r in enumerate(wide))
        samples.append(Sample(columns, attributes))
    return samples


def at(*operands: Any, to: Any, tolerance: float = 1e-14, **attributes: Any) -> Sample:
    """Special points in float64."""
    arrays = tuple(np.array(o, np.float64) for o in operands)
    return Sample(arrays, attributes, False, True, np.array(to, np.float64), tolerance)


POLES = [0.0, -0.0, -1.0, -inf, inf, nan]

SAMPLES: Table = {
    # gamma and beta
    "gammaln": [
        *over_ranges((0.3, 4.0), wide=[(-3.9, -3.2)]),
        at(
            [*POLES, -200.5, 3.0],
            to=[inf, inf, inf, inf, inf, nan, -864.7382878706797, np.log(2)],
        ),
    ],
    "gamma": [
        *over_ranges((0.3, 4.0), wide=[(-3.9, -3.2)]),
        at([*POLES, 5.0, 200.0, -200.5], to=[inf, -inf, nan, nan, inf, nan, 24, inf, -0.0]),
    ],
    "polygamma": [
        *over_ranges((0.4, 4.0), wide=[(-3.9, -3.2)], order=0),
        *over_ranges((0.4, 4.0), wide=[(-3.9, -3.2)], order=1),
        *over_ranges((0.4, 4.0), wide=[(-3.9, -3.2)], order=2),
        *over_ranges((0.8, 4.0), order=5),
        at([*POLES, 1.0], to=[-inf, inf, nan, nan, inf, nan, -0.5772156649015329], order=0),
        at(
            [*POLES, 1.0, -16.5, -19.5, -22.5, 1e200],
            to=[inf, inf, inf, inf, 0, nan, np.pi**2 / 6, 9.810797812993575, 9.819614808659398,
                9.826132984822412, 1e-200],
            order=1,
        ),
        at([*POLES, -0.5], to=[-inf, -inf, -inf, -inf, -0.0, nan, -0.8287966442343199], order=2),
    ],
    "polygamma_step": [
        *over_ranges((0.4, 4.0), (0.2, 3.0), order=0),
        *over_ranges((0.4, 4.0), (0.2, 3.0), order=1),
        *over_ranges((0.4, 4.0), (0.2, 3.0), order=4),
        at([1e10, 1.0, -0.5, 0.0], [1e-10, 0.0, 1.0, 1.0], order=0,
            to=[1.00000000005e-20, 0.0, -2.0, inf]),
    ],
    "betaln": [
        *over_ranges((0.4, 4.0), (0.4, 4.0), wide=[(9.0, 40.0), (0.5, 30.0)]),
        at([0.0, 1.0, 1e10, 2.0, nan], [1.0, 1.0, 1e-10, inf, 1.0],
            to=[inf, 0, 23.02585092758015, -inf, nan]),
    ],
    "beta": [
        *over_ranges((0.4, 4.0), (0.4, 4.0), wide=[(9.0, 20.0), (0.5, 3.0)]),
        at([0.0, 1.0, 1e5, 2.0, nan], [1.0, 1.0, 0.5, inf, 1.0],
            to=[inf, 1, 0.005604998222641328, 0, nan]),
    ],
    "zeta": [
        *over_ranges((1.5, 6.0), (0.3, 4.0), order=0),
        *over_ranges((1.5, 6.0), (0.3, 4.0), order=1),
        *over_ranges((1.5, 6.0), (0.3, 4.0), order=3),
        at([1, 2, 0.5, 2, inf, inf, inf, nan], [1, 0, 1, inf, 1, 2, 0.5, 1],
            to=[inf, inf, nan, 0, 1, 0, inf, nan], order=0),
        at([1.0, 2.0, 2.0], [1.0, 1.0, inf], to=[-inf, -0.9375482543158438, 0], order=1),
    ],
    "riemann_zeta": [
        *over_ranges((1.5, 6.0), wide=[(-3.9, 0.9)], order=0),
        *over_ranges((1.5, 6.0), wide=[(-3.9, 0.9)], order=1),
        *over_ranges((1.5, 6.0), wide=[(-3.9, 0.9)], order=3),
        at([1, 2, 0.0, -1, -2, -40, inf, -inf, nan, -300.5, 0.5],
            to=[inf, np.pi**2 / 6, -0.5, -1 / 12, 0, 0, 1, nan, nan, -inf,
                -1.4603545088095868], order=0),
        at([1, 0, -2, inf, -inf, -300.5, 0.5, -1, -1e300],
            to=[-inf, -0.5 * np.log(2 * np.pi), -0.030448457058393270, 0, nan, inf,
                -3.9226461392091518, -0.16542114370045092, inf], order=1),
    ],
    # incomplete gamma and beta functions
    "gammainc": [
        *(
            sample
            for order in range(4)
            for sample in over_ranges(
                (0.4, 4.0), (0.4, 5.0), wide=[(20.0, 60.0), (20.0, 60.0)], order=order
            )
        ),
        at([0, 0, 1, -1, 1, inf, 1, nan], [0, 1, 0, 1, -1, 1, inf, 1],
            to=[nan, 1, 0, nan, nan, 0, 1, nan], order=0),
        at([0, 1, 1, -1, 1e-300], [1, 0, inf, 1, 1], order=1,
            to=[-0.21938393439552029, 0, 0, nan, -0.21938393439552029]),
    ],
    "gammaincc": [
        *over_ranges((0.4, 4.0), (0.4, 5.0)),
        at([0, 1, 1, 1], [1, 0, inf, -1], to=[0, 1, 0, nan]),
    ],
    "gamma_density": [
        *over_ranges((0.4, 4.0), (0.4, 5.0), wide=[(20.0, 60.0), (20.0, 60.0)], order=0),
        *over_ranges((0.4, 4.0), (0.4, 5.0), order=1),
        *over_ranges((0.4, 4.0), (0.4, 5.0), order=2),
        at([1, 2, 0.5, 0, 1, -1], [0, 0, 0, 1, inf, 1], to=[1, 0, inf, 0, 0, nan], order=0),
    ],
    "betainc": [
        *(
            sample
            for a, b in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1))
            for sample in over_ranges(
                (0.4, 4.0), (0.4, 4.0), (0.2, 0.8), in_a=a, in_b=b,
                wide=[(10.0, 30.0), (5.0, 30.0), (0.3, 0.7)],
            )
        ),
        at([1, 1, 1, -1, 1], [1, 1, 1, 1, 1], [0, 1, 0.5, 0.5, nan],
            to=[0, 1, 0.5, nan, nan], in_a=0, in_b=0),
        at([1, 1, 1, -1], [1, 1, 1, 1], [0, 1, 0.5, 0.5],
            to=[0, 0, -0.34657359027997264, nan], in_a=1, in_b=0),
    ],
    "betaincc": [
        *over_ranges((0.4, 4.0), (0.4, 4.0), (0.2, 0.8)),
        at([1, 1, 2], [1, 1, 1], [0, 1, 0.5], to=[1, 0, 0.75]),
    ],
    "beta_density": [
        *(
            sample
            for a, b in ((0, 0), (1, 0), (0, 1), (2, 1))
            for sample in over_ranges(
                (0.4, 4.0), (0.4, 4.0), (0.2, 0.8), in_a=a, in_b=b,
                wide=[(10.0, 30.0), (10.5, 30.0), (0.3, 0.7)],
            )
        ),
        at([1, 2, 0.5, 1, 1, -1], [3, 1, 1, 1, 0.5, 1], [0, 0, 0, 1, 1, 0.5],
            to=[3, 0, inf, 1, inf, nan], in_a=0, in_b=0),
    ],
    # error functions
    "erfcx": [
        *over_ranges((-1.5, 3.0), order=0),
        *over_ranges((-1.5, 3.0), order=1),
        *over_ranges((-1.5, 3.0), order=4),
        at([0.0, inf, -inf, nan, 1e10], to=[1, 0, inf, nan, 5.641895835477563e-11], order=0),
        at([0.0, 1e10], to=[-2 / np.sqrt(np.pi), -5.641895835477563e-21], order=1),
    ],
    "erfinv": [
        *over_ranges((-0.8, 0.8)),
        at([0.0, -0.0, 1.0, -1.0, 1.5, nan], to=[0, -0.0, inf, -inf, nan, nan]),
    ],
    "erfcinv": [
        *over_ranges((0.2, 1.8)),
        at([0.0, 2.0, -1.0, 1e-300, nan], to=[inf, -inf, nan, 26.209469960516124, nan]),
    ],
    "normal_hazard": [
        *over_ranges((-3.0, 3.0)),
        at([0.0, -1e10, 40.0, inf, -inf], to=[np.sqrt(2 / np.pi), 1e10, 0, 0, inf]),
    ],
    "log_ndtr": [
        *over_ranges((-3.0, 3.0)),
        at([0.0, inf, -inf, -1e10, nan], to=[-np.log(2), -0.0, -inf, -5e19, nan]),
    ],
    "ndtri": [
        *over_ranges((0.1, 0.9)),
        at([0.0, 0.5, 1.0, -1.0, 2.0, nan], to=[-inf, 0, inf, nan, nan, nan]),
    ],
    # Bessel functions
    "jv": [
        *over_ranges((-4.0, 4.0), n=0),
        *over_ranges((-4.0, 4.0), n=1),
        *over_ranges((-4.0, 4.0), n=4),
        at([0.0, inf, -inf, nan], to=[1, 0, 0, nan], n=0),
        at([0.0, inf], to=[0, 0], n=2),
    ],
    "iv": [
        *over_ranges((-3.0, 3.0), n=0),
        *over_ranges((-3.0, 3.0), n=1),
        *over_ranges((-3.0, 3.0), n=4),
        at([0.0, inf, -inf, nan, 800.0, 1e10, 1e300], to=[1, inf, inf, nan, inf, inf, inf], n=0),
        at([0.0, -0.0, inf, -inf, -1e30], to=[0, -0.0, inf, -inf, -inf], n=1),
    ],
    "ive": [
        *(
            sample
            for n in (0, 1)
            for order in (0, 1, 3)
            for sample in over_ranges((0.3, 3.0), wide=[(-40.0, -20.0)], n=n, order=order)
        ),
        at([0.0, inf, -inf, nan], to=[1, 0, 0, nan], n=0, order=0),
        at([0.0, inf], to=[-0.0, 0], n=0, order=1),
        at([0.0], to=[0.5], n=1, order=1),
    ],
    "kv": [
        *over_ranges((0.5, 3.0), n=0),
        *over_ranges((0.5, 3.0), n=1),
        *over_ranges((0.5, 3.0), n=4),
        *(at([0.0, -0.0, -1.0, inf, nan], to=[inf, inf, nan, 0, nan], n=n) for n in (0, 1, 3)),
    ],
    "kve": [
        *(
            sample
            for n in (0, 1)
            for order in (0, 1, 3)
            for sample in over_ranges((0.5, 3.0), wide=[(20.0, 40.0)], n=n, order=order)
        ),
        at([0.0, -1.0, inf, nan], to=[inf, nan, 0, nan], n=0, order=0),
        at([0.0, -1.0, inf, 1e20], to=[-inf, nan, 0, -6.266570686577501e-31], n=0, order=1),
    ],
    # exponential integrals
    "expi": [
        *over_ranges((0.5, 3.0), wide=[(-3.0, -0.5)]),
        at([0.0, -0.0, inf, -inf, nan], to=[-inf, -inf, inf, -0.0, nan]),
    ],
    "exp1": [*over_ranges((0.5, 3.0)), at([0.0, -1.0, inf, nan], to=[inf, nan, 0, nan])],
    "exprel": [
        *over_ranges((-3.0, 3.0), order=0),
        *over_ranges((-3.0, 3.0), order=1),
        *over_ranges((-3.0, 3.0), wide=[(-30.0, -20.0)], order=4),
        at([0.0, inf, -inf, nan], to=[1, inf, 0, nan], order=0),
        at([0.0, inf, -inf, nan, 1e-300], to=[0.5, inf, 0, nan, 0.5], order=1),
    ],
    # relative entropies
    "log_ratio": [
        *over_ranges((0.3, 3.0), (0.3, 3.0)),
        at([0.0, 1.0, 1e-300, 1 + 1e-9], [1.0, 0.0, 1e300, 1.0],
            to=[-inf, inf, -1381.5510557964275, np.log1p(1.000000082740371e-09)]),
    ],
    "rel_entr": [
        *over_ranges((0.3, 3.0), (0.3, 3.0)),
        at([0, 0, 1, -1, 1, nan], [1, 0, 0, 1, -1, 1], to=[0, 0, inf, inf, inf, nan]),
    ],
    "kl_div": [
        *over_ranges((0.3, 3.0), (0.3, 3.0)),
        at([0, 0, 1, -1, 1, nan, 1.0], [1, 0, 0, 1, -1, 1, 1.0],
            to=[1, 0, inf, inf, inf, nan, 0.0]),
    ],
}  # fmt: skip
