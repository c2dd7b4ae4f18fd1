"""Recurrences in blocks against one step after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from staticad_schema.ops.recurrence import linear_recurrence_along
from staticad_schema.types import Array

SHAPES = [((64,), 0), ((1000,), 0), ((257, 3), 0), ((3, 300), 1), ((2, 100, 3), 1), ((70, 0), 0)]


@pytest.fixture(autouse=True)
def _exceptions_are_values() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def stepwise(a: Array, b: Array, axis: int, reverse: bool) -> Array:
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    order = range(len(b))[::-1] if reverse else range(len(b))
    out, last = np.empty_like(b), np.zeros(b.shape[1:], b.dtype)
    for i in order:
        nothing = (a[i] == 0) | (last == 0)
        last = b[i] + np.where(nothing, 0, a[i] * last)
        out[i] = last
    return np.moveaxis(out, 0, axis)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["any", "near 1", "with zeros", "integers", "complex"])
def test_blocks_equal_steps(shape: tuple[int, ...], axis: int, reverse: bool, kind: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, *shape))
    if kind == "near 1":
        a = 1 + a / 100
    elif kind == "with zeros":
        a = np.where(rng.random(shape) < 0.1, 0, a)
    elif kind == "integers":
        a, b = rng.integers(-3, 4, (2, *shape))
    elif kind == "complex":
        a, b = np.exp(1j * a), b + 1j * a
    found = linear_recurrence_along(a, b, axis, reverse)
    expected = stepwise(a, b, axis, reverse)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13 * scale)


def test_products_beyond_the_range_are_not_lost() -> None:
    # The product of a block's coefficients under- or overflows, the elements do not.
    small = np.where(np.arange(400) % 40 < 20, 1e-40, 1e40)
    found = linear_recurrence_along(small, np.ones(400), 0, False)
    np.testing.assert_allclose(found, stepwise(small, np.ones(400), 0, False), rtol=1e-12)
    b = np.zeros(400)
    b[0] = 1e300
    found = linear_recurrence_along(np.full(400, 1e-20), b, 0, False)
    np.testing.assert_allclose(found, stepwise(np.full(400, 1e-20), b, 0, False), rtol=1e-12)


def test_a_coefficient_of_zero_begins_anew() -> None:
    a = np.full(200, 0.5)
    a[100] = 0
    b = np.ones(200)
    b[99] = np.inf
    found = linear_recurrence_along(a, b, 0, False)
    np.testing.assert_array_equal(found, stepwise(a, b, 0, False))
    assert np.isfinite(found[100:]).all()
