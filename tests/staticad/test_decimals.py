"""Rounding to decimal places, and quotients with what is left."""

from __future__ import annotations

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import INTEGER, KINDS, NAMES
from tests.staticad.running import apply, run

RNG = np.random.default_rng(0)
FLOATS = [name for name, dtype in NAMES.items() if KINDS[dtype] in ("float", "complex")]
INTEGERS = [name for name, dtype in NAMES.items() if KINDS[dtype] in INTEGER]


@pytest.mark.parametrize("decimals", [0, 1, 2, 5, -1, -2, 40, -40])
@pytest.mark.parametrize("dtype", FLOATS)
def test_decimal_places_are_those_of_numpy(dtype: str, decimals: int) -> None:
    x = np.round(1000 * RNG.normal(size=100), 3).astype(NAMES[dtype])
    found = apply(lambda x: sad.round(x, decimals), x)
    assert found.dtype == x.dtype
    # Half floats are rounded in single precision, and all of them by large powers in double.
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    if abs(decimals) < 40:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    exact = np.round(wide, decimals).astype(x.dtype)
    epsilon = sad.finfo(dtype).eps
    np.testing.assert_allclose(
        found.astype(complex), exact.astype(complex), rtol=4 * epsilon, atol=0
    )


@pytest.mark.parametrize("decimals", [0, 2, -1, -2, -3, -30])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_tens_and_hundreds_of_integers(dtype: str, decimals: int) -> None:
    limits = np.iinfo(dtype)
    x = RNG.integers(max(limits.min, -120), 120, 100).astype(dtype)
    found = apply(lambda x: sad.round(x, decimals), x)
    assert found.dtype == x.dtype
    # Python rounds integers exactly, halves to the even one.
    assert found.tolist() == [round(v, min(decimals, 0)) for v in x.tolist()]


def test_the_largest_integers_do_not_overflow_on_the_way() -> None:
    x = np.array([2**63 - 1, -(2**63), 2**62], np.int64)
    assert apply(lambda x: sad.round(x, -4), x[2:]).tolist() == [round(2**62, -4)]
    assert apply(lambda x: sad.round(x, -2), np.array([127, -128], np.int8)).tolist() == [100, -100]


def test_what_is_too_large_for_decimal_places_stays() -> None:
    x = np.array([1e308, -1e300, 1e17 / 3, np.inf, -np.inf, -0.001])
    found = apply(lambda x: sad.round(x, 10), x)
    assert found[:5].tolist() == x[:5].tolist()
    assert np.isnan(apply(lambda x: sad.round(x, 2), np.array([np.nan]))).all()
    assert np.signbit(apply(lambda x: sad.round(x, 1), x))[-1]
    half = np.array([65504.0, 0.1], np.float16)
    assert apply(lambda x: sad.round(x, 4), half).tolist() == [65504, half[1]]


def test_a_step_has_no_slope() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        y = sad.round(x, 1)
        (dx,) = sad.gradients(y, x, unconnected="zero")
    assert run(graph, dx, {x: [0.05, 1e300, np.nan]}).tolist() == [0, 0, 0]


def test_places_are_an_integer() -> None:
    with sad.Graph(), pytest.raises(sad.UsageError, match="round: not an integer"):
        sad.round([1.0], 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int32", "float16", "float64"])
def test_divmod_of_python(dtype: str) -> None:
    x = np.array([-7, 7, 5], dtype)
    for f, expected in (
        (lambda x: divmod(x, 3), np.divmod(x, 3)),
        (lambda x: divmod(8, x), np.divmod(8, x)),
        (lambda x: divmod(x, np.array([2, 3, 4], dtype)), np.divmod(x, [2, 3, 4])),
    ):
        quotient, rest = apply(f, x)
        assert quotient.dtype == rest.dtype == x.dtype
        assert [quotient.tolist(), rest.tolist()] == [e.tolist() for e in expected]
