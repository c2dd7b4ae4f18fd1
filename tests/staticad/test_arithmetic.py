"""Elementwise functions beside the ops, against NumPy on special numbers in all pairs, and their
derivatives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import as_dtype

from ..cases.running import derivatives, grad, grads
from .running import agrees, apply

inf, nan = np.inf, np.nan

POINTS = (0, -0.0, 1, -1, 0.5, -0.5, 2.5, 6e4, -1e-3, inf, -inf, nan, 3, -745, 1e-8)
DIGITS = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-14}


def points(dtype: str, operands: int) -> list[Any]:
    columns = zip(*itertools.product(POINTS, repeat=operands), strict=True)
    return [np.array(column).astype(as_dtype(dtype)) for column in columns]


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize(
    "name",
    [
        "deg2rad", "rad2deg", "nan_to_num", "isposinf", "isneginf", "modf", "fmax", "fmin",
        "heaviside", "isclose", "divmod", "float_power", "fmod", "logaddexp2",
    ],
)  # fmt: skip
def test_special_numbers_give_what_numpy_gives(name: str, dtype: str) -> None:
    same: Callable[..., Any] = getattr(np, name)
    single = {"deg2rad", "rad2deg", "nan_to_num", "isposinf", "isneginf", "modf"}
    arrays = points(dtype, 1 if name in single else 2)
    with np.errstate(all="ignore"):
        expected = same(*arrays)
    found = apply(getattr(sad, name), *arrays, symbolic=True)
    if not isinstance(expected, tuple):
        found, expected = [found], [expected]
    for x, y in zip(found, expected, strict=True):
        agrees(x, y, DIGITS[dtype])


def test_other_dtypes() -> None:
    integers = np.array([[1, -2, 3]]), np.array([[3], [0]])
    for name in ("fmax", "fmin", "divmod", "isclose", "float_power"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(*integers)
        found = apply(getattr(sad, name), *integers)
        pairs = zip(found, expected, strict=True) if name == "divmod" else [(found, expected)]
        for x, y in pairs:
            agrees(x, y)
    agrees(apply(sad.nan_to_num, integers[0]), integers[0])
    agrees(apply(sad.deg2rad, integers[0]), np.deg2rad(integers[0]).astype(np.float32), 1e-7)
    mask = np.array([True, False])
    agrees(apply(sad.isclose, mask, mask), [True, True])
    agrees(apply(sad.float_power, mask, mask), np.float_power(mask, mask))
    z = np.array([3 + 4j, -1, 2j, -1e-300 - 1e-300j, 0])
    agrees(apply(sad.angle, z), np.angle(z), 1e-15)
    agrees(apply(sad.isclose, z, z + 1e-7), [True, True, True, False, False])
    agrees(apply(sad.float_power, z[:2], np.array([2, 3])), z[:2] ** [2, 3], 1e-14)
    agrees(apply(sad.angle, np.array([2.0, -2.0])), [0, np.pi])
    half = np.array([nan, inf, -inf]).astype(as_dtype("bfloat16"))
    found = apply(sad.nan_to_num, half).astype(np.float32)
    np.testing.assert_allclose(found, [0, 3.3895314e38, -3.3895314e38], rtol=1e-7)


def test_replacements_and_tolerances() -> None:
    x = np.array([nan, inf, -inf, 1.5])
    agrees(apply(lambda x: sad.nan_to_num(x, nan=7, posinf=1, neginf=-2.5), x), [7, 1, -2.5, 1.5])
    a, b = np.array([1.0, nan, 1.0, inf]), np.array([1.4, nan, 2.0, inf])
    found = apply(lambda a, b: sad.isclose(a, b, rtol=0.3, atol=0.1, equal_nan=True), a, b)
    agrees(found, np.isclose(a, b, rtol=0.3, atol=0.1, equal_nan=True))
    assert not apply(sad.allclose, a, b)
    assert apply(lambda a: sad.allclose(a, a, equal_nan=True), a)
    assert apply(sad.allclose, np.ones(0), np.ones(0))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_lerp_meets_its_ends(dtype: str) -> None:
    a, b = np.array([0.1, -3e4, 7.0], dtype), np.array([0.7, 1e-3, 7.0], dtype)
    for weight, end in ((0.0, a), (1.0, b)):
        agrees(apply(lambda a, b, weight=weight: sad.lerp(a, b, weight), a, b), end)
    middle = apply(lambda a, b: sad.lerp(a, b, 0.25), a, b)
    agrees(middle, (a + 0.25 * (b.astype(float) - a)).astype(dtype), DIGITS[dtype])
    # A constant stays constant, and the end of a segment is never passed.
    weights = np.linspace(0, 1, 101).astype(dtype)
    inside = apply(lambda t: sad.lerp(0.1, 0.7, t), weights)
    assert (np.diff(inside.astype(float)) >= 0).all()
    assert inside.max() == np.array(0.7, dtype)


def test_derivatives() -> None:
    a, b, t = np.array([1.0, 2.0]), np.array([4.0, 8.0]), np.array([0.25, 0.75])
    found = grads(sad.lerp, a, b, t)
    np.testing.assert_array_equal(found, [[0.75, 0.25], [0.25, 0.75], [3, 6]])
    found = grads(sad.squared_difference, a, b)
    np.testing.assert_array_equal(found, [[-6, -12], [6, 12]])
    x, middle = np.array([-1.0, 0.0, 2.0]), np.array([5.0, 5.0, 5.0])
    found = grads(lambda x, middle: x + sad.heaviside(x, middle), x, middle)
    np.testing.assert_array_equal(found, [[1, 1, 1], [0, 1, 0]])
    x, y = np.array([1.0, nan, 2.0, 3.0]), np.array([2.0, 1.0, nan, 3.0])
    np.testing.assert_array_equal(grads(sad.fmax, x, y), [[0, 0, 1, 0.5], [1, 1, 0, 0.5]])
    np.testing.assert_array_equal(grads(sad.fmin, x, y), [[1, 0, 1, 0.5], [0, 1, 0, 0.5]])
    np.testing.assert_array_equal(grad(sad.nan_to_num, np.array([1, nan, inf, -inf])), [1, 0, 0, 0])
    np.testing.assert_array_equal(grad(sad.frac, np.array([1.0, -2.5, inf])), [1, 1, 0])
    np.testing.assert_allclose(grad(sad.deg2rad, a), np.pi / 180)
    np.testing.assert_allclose(grad(sad.rad2deg, a), 180 / np.pi)
    np.testing.assert_array_equal(
        grad(lambda x: sad.divmod(x, 2.0)[1] + sad.divmod(x, 2.0)[0], a), [1, 1]
    )
    dx, dy = grads(sad.fmod, np.array([7.5, -7.5, 6.0, 5.0]), np.array([2.0, 2.0, -2.0, inf]))
    np.testing.assert_array_equal([dx, dy], [[1, 1, 1, 1], [-3, 3, 3, 0]])
    single = grad(lambda x: sad.float_power(x, 2.0), np.array([3.0], np.float32))
    agrees(single, np.array([6.0], np.float32))


@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (sad.cbrt, 0.0, [inf, -inf]),
        (sad.cbrt, -0.0, [inf, inf]),
        (sad.cbrt, -8.0, [1 / 12, 1 / 144]),
        (sad.rsqrt, 0.0, [-inf, inf]),
        (sad.rsqrt, 4.0, [-1 / 16, 3 / 128]),
        (sad.rsqrt, inf, [0, 0]),
        (sad.logit, 0.0, [inf, -inf, inf]),
        (sad.logit, -0.0, [inf, -inf, inf]),
        (sad.logit, 1.0, [inf, inf, inf]),
        (sad.logit, 0.5, [4, 0, 32]),
        (sad.logit, 1.5, [nan, nan]),
        (sad.exp2, 0.0, [np.log(2), np.log(2) ** 2, np.log(2) ** 3]),
        (sad.softplus, -inf, [0, 0]),
        (sad.softplus, inf, [1, 0]),
        (sad.log_sigmoid, -inf, [1, 0]),
        (lambda x: sad.logaddexp2(x, x), 3.0, [1, 0]),
        (lambda x: sad.logaddexp2(x, 0), 0.0, [0.5, np.log(2) / 4]),
        (lambda x: sad.logaddexp2(x, 0), inf, [1, 0]),
        (lambda x: sad.xlog1py(x, x), 0.0, [0, 2]),
    ],
)
def test_derivatives_at_corners(f: Any, at: float, expected: list[float]) -> None:
    np.testing.assert_allclose(derivatives(f, at, len(expected)), expected, rtol=1e-14)
