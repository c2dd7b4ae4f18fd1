"""Integrals over a half-line of what decays at least exponentially, by the double exponential rule.

H. Takahasi and M. Mori, "Double Exponential Formulas for Numerical Integration" (1974): in s, with
u = exp(s - exp(-s)), the trapezoidal rule converges exponentially, also where the integrand is
singular at 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import Array

_STEP = 1 / 18
_PLACES = np.arange(-3.8, 4.4, _STEP)
NODES = np.exp(_PLACES - np.exp(-_PLACES))
WEIGHTS = _STEP * NODES * (1 + np.exp(-_PLACES))
# Elements at a time, so that what is computed of their nodes stays in the cache.
_PART = 128


def half_line(f: Callable[..., Array], scale: Array, *parameters: Array) -> Array:
    """The integral over u from 0 to infinity of f(u, *parameters), element by element.

    scale: for what u the integrand has decayed by some factor.  f is called with parameters of
    shape (n, 1) and u of shape (n, nodes).
    """
    scale, *given = np.broadcast_arrays(scale, *parameters)
    shape = scale.shape
    columns = [a.reshape(-1, 1) for a in (scale, *given)]
    found = np.empty(scale.size)
    for start in range(0, scale.size, _PART):
        unit, *rest = (c[start : start + _PART] for c in columns)
        found[start : start + _PART] = (f(unit * NODES, *rest) * unit) @ WEIGHTS
    return found.reshape(shape)


def powers(cumulants: list[Array]) -> list[Array]:
    """Y_0 ... Y_n of exp(f): its n-th derivative over itself, of the derivatives of f from the
    first on (complete Bell polynomials)."""
    found = [np.ones_like(cumulants[0])] if cumulants else [np.ones(())]
    for n in range(len(cumulants)):
        term, total = 1, np.zeros_like(cumulants[0])
        for k in range(n + 1):
            total = total + term * found[n - k] * cumulants[k]
            term = term * (n - k) // (k + 1)
        found.append(total)
    return found
