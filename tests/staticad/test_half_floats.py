"""What is composed of several ops rounds half floats once: their steps compute in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

HALVES = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
RNG = np.random.default_rng(11)


def normal(*shape: int) -> Array:
    values: Array = RNG.normal(size=shape)
    return values


CASES: dict[str, tuple[Callable[..., Any], tuple[Array, ...]]] = {
    "average": (
        lambda x, w: sad.average(x, axis=1, weights=w), (normal(5, 99), 2 + normal(5, 99) ** 2)
    ),
    "corrcoef": (sad.corrcoef, (normal(4, 99),)),
    "cov": (sad.cov, (normal(4, 99),)),
    "cross": (sad.cross, (normal(50, 3), normal(50, 3))),
    "cross in the plane": (sad.cross, (normal(50, 2), normal(50, 2))),
    "deg2rad": (sad.deg2rad, (100 * normal(50),)),
    "diff": (lambda x: sad.diff(x, n=3), (normal(5, 30),)),
    "einsum": (
        lambda a, b, c: sad.einsum("ij,jk,kl->il", a, b, c),
        (normal(5, 30), normal(30, 40), normal(40, 3)),
    ),
    "interp": (sad.interp, (normal(40), np.sort(normal(20)), normal(20))),
    "lerp": (sad.lerp, (normal(50), normal(50), normal(50))),
    "logcumsumexp": (sad.logcumsumexp, (normal(99),)),
    "mean": (sad.mean, (100 * normal(5000),)),
    "median": (lambda x: sad.median(x, axis=1), (normal(9, 6),)),
    "nanmean": (sad.nanmean, (100 * normal(5000),)),
    "polyval": (sad.polyval, (normal(6), normal(40))),
    "prod": (lambda x: sad.prod(x, axis=1), (2 * normal(9, 9),)),
    "quantile": (lambda x: sad.quantile(x, 0.3, axis=1), (normal(9, 17),)),
    "rad2deg": (sad.rad2deg, (normal(50),)),
    "squared_difference": (sad.squared_difference, (30 * normal(50), 30 * normal(50))),
    "std": (lambda x: sad.std(x, axis=1), (100 * normal(9, 50),)),
    "trapezoid": (lambda y: sad.trapezoid(y), (normal(9, 50),)),
    "trapezoid over places": (lambda y, x: sad.trapezoid(y, x), (normal(9, 30), normal(30))),
    "vander": (lambda x: sad.vander(x, 5), (normal(9),)),
    "vector_norm": (lambda x: sad.linalg.vector_norm(x, axis=1, ord=3), (100 * normal(9, 50),)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_half_floats_are_rounded_once(name: str, dtype: Any) -> None:
    function, given = CASES[name]
    arrays = [a.astype(dtype) for a in given]
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    found, exact = (computed(function, arrays, d) for d in (dtype, np.dtype(np.float64)))
    assert found.dtype == dtype
    # Half a unit of the last place, and what float32 has left.
    unit = np.exp2(np.floor(np.log2(np.abs(exact)))) * float(info.eps)
    assert (np.abs(found.astype(np.float64) - exact) <= 0.51 * unit).all()


def computed(function: Callable[..., Any], arrays: list[Array], dtype: Any) -> Array:
    with sad.Graph() as graph:
        xs = [sad.placeholder(dtype, a.shape) for a in arrays]
        y = function(*xs)
    with sad.Session(graph) as session:
        feeds = {x: a.astype(dtype) for x, a in zip(xs, arrays, strict=True)}
        return np.asarray(session.run(y, feeds))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_results_within_the_range_of_half_floats_do_not_overflow_inside(dtype: Any) -> None:
    top = np.array([60000.0, -60000.0], dtype)
    assert computed(lambda x: sad.lerp(x[0], x[1], 0.5), [top], dtype) == 0
    assert computed(lambda x: sad.trapezoid(x * 0 + x[0], dx=0.5), [top], dtype) == top[0] / 2
    assert computed(lambda x: sad.polyval([1.0, -1.0, 0.0], x / 300), [top[:1]], dtype) == (
        dtype.type(200.0 * 199)
    )


def test_the_gradient_of_a_product_leaves_the_range_only_if_it_must() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float16", (3,))
        y = sad.prod(x)
        (dx,) = sad.gradients(y, x, np.float16(0.25))
        (dy,) = sad.jvp(y, x, np.array([0.25, 0, 0], np.float16))
    with sad.Session(graph) as session:
        slope, tangent = session.run([dx, dy], {x: [0.001, 300.0, 500.0]})
    np.testing.assert_allclose(slope, [37500.0, 0.125, 0.075], rtol=1e-3)
    np.testing.assert_allclose(tangent, 37500.0, rtol=1e-3)
