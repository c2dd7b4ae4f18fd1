"""Scans against NumPy and against what they are made of, in every direction and variant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array, as_dtype

from ..cases.running import grad, grads
from .running import agrees, apply

nan, inf = np.nan, np.inf
NUMBERS = ("int8", "int32", "uint8", "uint64", "float32", "float64", "complex64")


def numbers(dtype: str, *shape: int) -> Array:
    rng = np.random.default_rng(shape)
    return np.asarray(rng.integers(0, 4, shape)).astype(as_dtype(dtype))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("dtype", ["bool", *NUMBERS])
def test_sums_and_products_are_numpys(dtype: str, name: str) -> None:
    f, same = getattr(sad, name), getattr(np, name)
    x = numbers(dtype, 3, 5)
    for axis in (0, 1, -1):
        for initial in (False, True):
            given: dict[str, Any] = {"axis": axis, "include_initial": initial}
            expected = same(x, **given)
            agrees(apply(lambda x, given=given: f(x, **given), x, symbolic=True), expected)
            back = apply(lambda x, given=given: f(x, **given, reverse=True), x, symbolic=True)
            agrees(back, np.flip(same(np.flip(x, axis), **given), axis))
    agrees(apply(f, x[0]), same(x[0]))
    agrees(apply(lambda x: f(x, axis=1, dtype="float64"), x.real.astype("int8")),
           same(x.real, axis=1, dtype="float64"))  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 4])
@pytest.mark.parametrize("reverse", [False, True])
def test_exclusive_scans_leave_an_element_out_of_its_own_result(size: int, reverse: bool) -> None:
    x = np.random.default_rng(size).normal(size=(2, size))
    with np.errstate(divide="ignore"):
        for f, before in (
            (sad.cumulative_sum, lambda r: np.sum(r)),
            (sad.cumulative_prod, lambda r: np.prod(r)),
            (sad.logcumsumexp, lambda r: np.log(np.sum(np.exp(r)))),
        ):
            expected = [
                [before(row[k + 1 :] if reverse else row[:k]) for k in range(size)] for row in x
            ]
            found = apply(
                lambda x, f=f: f(x, axis=1, exclusive=True, reverse=reverse), x, symbolic=True
            )
            agrees(found, np.array(expected).reshape(2, size), 1e-14)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_accumulate_in_float32(dtype: str) -> None:
    ones = np.ones(5000, as_dtype(dtype))
    found = apply(sad.cumulative_sum, ones)
    agrees(found, np.arange(1.0, 5001).astype(np.float32).astype(ones.dtype))
    small = np.full(4000, -1.0).astype(ones.dtype)
    exact = (-1 + np.log(np.arange(1.0, 4001))).astype(np.float32)
    digits = 2.0**-10 if dtype == "float16" else 2.0**-7
    found = apply(sad.logcumsumexp, small).astype(np.float32)
    np.testing.assert_allclose(found, exact, rtol=digits, atol=digits)


@pytest.mark.parametrize("reverse", [False, True])
def test_logcumsumexp_is_logsumexp_of_prefixes(reverse: bool) -> None:
    x = np.array([[800.0, -inf, 3, 801, -900], [-inf, -inf, 2, 2, inf], [1, nan, 0, 0, 0]])

    def by_prefix(x: Any) -> Any:
        parts = [x[:, k:] if reverse else x[:, : k + 1] for k in range(5)]
        return sad.stack([sad.logsumexp(part, axis=1) for part in parts], axis=1)

    def scan(x: Any) -> Any:
        return sad.logcumsumexp(x, axis=1, reverse=reverse)

    agrees(apply(scan, x), apply(by_prefix, x), 1e-14)
    weights = np.array([0.0, 1.0, 2.0, -1.0, 0.5])
    some = x[:1]
    agrees(
        grad(lambda x: scan(x) * weights, some), grad(lambda x: by_prefix(x) * weights, some), 1e-14
    )
    # A cotangent of 0 stays 0.
    assert not grad(lambda x: scan(x) * 0.0, x).any()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64"])
def test_extrema_so_far(dtype: str, reverse: bool) -> None:
    x = numbers(dtype, 4, 6)
    if x.dtype.kind not in "iub":
        x[1, 2] = x[1, 4] = nan
        x[2, :3] = [0.0, -0.0, 0.0]
    for f, ufunc in ((sad.cummax, np.maximum), (sad.cummin, np.minimum)):
        values, indices = apply(lambda x, f=f: f(x, axis=1, reverse=reverse), x, symbolic=True)
        rows = np.flip(x, 1) if reverse else x
        expected = ufunc.accumulate(rows.astype(float), 1)
        np.testing.assert_array_equal(
            values.astype(float), np.flip(expected, 1) if reverse else expected
        )
        assert np.take_along_axis(x, indices, 1).tobytes() == values.tobytes()
        # The latest of equals: behind it, up to here, nothing is as large.
        for row, at in zip(x.astype(float), indices, strict=True):
            for k, i in enumerate(at):
                seen = row[k:i] if reverse else row[i + 1 : k + 1]
                assert not ((seen == row[i]) | np.isnan(seen)).any()


def test_derivatives_of_products_with_zeros() -> None:
    x = np.array([2.0, 0.0, 3.0, 0.0])
    agrees(grad(sad.cumulative_prod, x), [1.0, 8, 0, 0])
    agrees(grad(lambda x: sad.cumulative_prod(x, exclusive=True), x), [1.0, 8, 0, 0])
    backwards = grad(lambda x: sad.cumulative_prod(x, include_initial=True, reverse=True), x)
    agrees(backwards, [0.0, 0, 0, 4])
    infinite = np.array([2.0, inf, 3.0])
    agrees(grad(lambda x: sad.cumulative_prod(x)[0], infinite), [1.0, 0, 0])


def test_a_scan_of_a_scan() -> None:
    x, w = np.random.default_rng(1).normal(size=(2, 6))
    found = grads(lambda x, w: sad.cumulative_sum(sad.cumulative_sum(x) * w, reverse=True), x, w)
    steps = np.tril(np.ones((6, 6)))
    agrees(found[0], steps.T @ (w * (steps @ np.ones(6))), 1e-13)
    agrees(found[1], (steps @ x) * (steps @ np.ones(6)), 1e-13)
