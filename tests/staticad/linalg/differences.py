"""First and second derivatives against central differences, all ways round."""

from __future__ import annotations

from typing import Any

import numpy as np

import staticad as sad
from staticad_schema.types import Array


def random(*shape: int, dtype: str = "float64", seed: int = 0) -> Array:
    """Standard normal numbers; of a complex dtype both parts are."""
    rng = np.random.default_rng([seed, *shape])
    values: Any = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return np.asarray(values).astype(dtype)


def hermitian(*shape: int, dtype: str = "float64", seed: int = 0) -> Array:
    x = random(*shape, dtype=dtype, seed=seed)
    return (x + np.conj(x.swapaxes(-1, -2))) / 2


def positive(*shape: int, dtype: str = "float64", seed: int = 0) -> Array:
    x = random(*shape, dtype=dtype, seed=seed)
    return np.asarray((x @ np.conj(x.swapaxes(-1, -2)) + np.eye(shape[-1])) / shape[-1])


def rotated(values: Any, dtype: str = "float64", seed: int = 0) -> Array:
    """A matrix that is its own adjoint, with these eigenvalues."""
    n = len(values)
    q = np.linalg.qr(random(n, n, dtype=dtype, seed=seed))[0]
    found: Array = (q * np.asarray(values)) @ np.conj(q.T)
    return (found + np.conj(found.T)) / 2


def check_derivatives(
    f: Any, x: Array, *, order: int = 2, h: float = 1e-3, rtol: float = 1e-8
) -> None:
    """The derivatives of the sum of the real part of f at x, up to an order.

    Backwards and forwards; of the second order also forwards over backwards, and forwards twice.
    """
    v, w = (
        random(*x.shape, dtype=x.dtype.name, seed=7),
        random(*x.shape, dtype=x.dtype.name, seed=8),
    )
    with sad.Graph() as graph:
        point, first, second = (
            sad.placeholder(x.dtype, tuple(f"n{s}" if s > 1 else s for s in x.shape))
            for _ in range(3)
        )
        y = sad.sum(sad.real(f(point)))
        (g,) = sad.gradients(y, point)
        (pushed,) = sad.jvp(y, point, first)
        fetches = [y, g, pushed]
        if order > 1:
            (back,) = sad.gradients(g, point, [first], unconnected="zero")
            (on,) = sad.jvp(g, point, first)
            (twice,) = sad.jvp(pushed, point, second)
            fetches += [back, on, twice]
    with sad.Session(graph) as session:

        def run(at: Array) -> Any:
            return session.run(fetches, {point: at, first: v, second: w})

        here = run(x)
        assert here[1].dtype == x.dtype
        steps = {s: run(x + s * h * w) for s in (-2, -1, 1, 2)}

    def quotient(number: Any) -> float:
        one, two = (number(steps[s]) - number(steps[-s]) for s in (1, 2))
        return float((8 * one - two) / (12 * h))

    _, gradient, tangent, *seconds = here
    close(np.vdot(gradient, w).real, quotient(lambda r: r[0]), gradient, w, rtol)
    close(np.vdot(gradient, v).real, tangent, gradient, v, 1e-11)
    if order > 1:
        back, on, twice = seconds
        curve = quotient(lambda r: np.vdot(r[1], v).real)
        close(np.vdot(back, w).real, curve, back, w, rtol)
        scale = np.abs(back).max(initial=0) + np.abs(gradient).max(initial=0)
        np.testing.assert_allclose(on, back, rtol=1e-9, atol=1e-11 * scale)
        close(np.vdot(back, w).real, twice, back, w, 1e-9)


def close(found: float, expected: float, gradient: Array, along: Array, rtol: float) -> None:
    """Equal, relative to the sum of the moduli of the terms."""
    terms = float(np.abs(np.conj(gradient) * along).sum())
    assert np.isfinite(found)
    assert abs(found - expected) <= rtol * max(terms, abs(expected), 1e-2), (found, expected)
