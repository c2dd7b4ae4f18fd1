"""Family A: special functions at their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import derivatives, grad, value


def test_A45_trigamma_of_negative_half_integers() -> None:
    x = np.array([-16.5, -19.5, -22.5])
    expected = [9.810797812993575, 9.819614808659398, 9.826132984822412]
    np.testing.assert_allclose(grad(sad.special.digamma, x), expected, rtol=1e-15)
    # In a batch, as the second derivative of gammaln, and by the reflection's own derivative.
    rows = np.stack([x, -x])
    curvature = grad(lambda x: sad.gradients(sad.special.gammaln(x), x)[0], rows)
    np.testing.assert_allclose(curvature, value(lambda x: sad.special.polygamma(1, x), rows))
    np.testing.assert_allclose(curvature[0], expected, rtol=1e-15)
    second = grad(lambda x: sad.special.polygamma(1, x), x)
    around = [value(lambda x: sad.special.polygamma(1, x), x + h) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(second, (around[0] - around[1]) / 2e-5, rtol=1e-3, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_A45_trigamma_of_other_dtypes(dtype: str) -> None:
    found = grad(sad.special.digamma, [-16.5, -19.5, -22.5], dtype=dtype)
    assert found.dtype.name == dtype
    tolerance = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6}[dtype]
    np.testing.assert_allclose(found.astype(float), [9.810798, 9.819615, 9.826133], rtol=tolerance)


def test_A46_curvature_of_a_bessel_function_at_zero() -> None:
    def f(t: Any) -> Any:
        return sad.special.i0(2 * t - 1)

    # I0 = 1 + x**2 / 4 + x**4 / 64 + ..., and x changes twice as fast as t.
    assert derivatives(f, 0.5, 4) == [0, 2, 0, 6]
    assert derivatives(sad.special.i1, 0.0, 3) == [0.5, 0, 0.375]
    batch = np.full((2, 3), 0.5)
    twice = grad(lambda t: sad.gradients(f(t), t)[0], batch)
    np.testing.assert_array_equal(twice, np.full((2, 3), 2.0))
