"""Cases of Fourier transforms and complex numbers: conventions, seeds, what has no effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import interpret


def energy(x: Any, **options: Any) -> Any:
    return sad.sum(sad.abs(sad.fft.fft(x, **options)) ** 2)


@pytest.mark.parametrize(("norm", "factor"), [("backward", 8), ("ortho", 2), ("forward", 0.5)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_parsevals_gradient_G14(dtype: str, norm: Any, factor: float) -> None:
    point = np.array([[1, 2, 3, 4], [4, 0, -1, 2]]).astype(dtype)
    if dtype.startswith("complex"):
        point = point * np.array(1 - 2j, dtype)
    with sad.Graph() as graph:
        x, v = (sad.placeholder(dtype, (None, 4)) for _ in range(2))
        (dx,) = sad.gradients(energy(x, norm=norm), x)
        (curved,) = sad.gradients(dx, x, [v])
        (pushed,) = sad.jvp(dx, x, v)
    with sad.Session(graph) as session:
        first, *seconds = session.run([dx, curved, pushed], {x: point, v: point[::-1]})
    assert first.dtype == np.dtype(dtype)
    tolerance = 1e-5 if dtype.endswith(("32", "x64")) else 1e-13
    np.testing.assert_allclose(first, factor * point, rtol=tolerance, atol=tolerance)
    for second in seconds:
        np.testing.assert_allclose(second, factor * point[::-1], rtol=tolerance, atol=tolerance)
    if norm == "backward" and dtype == "float64":
        np.testing.assert_allclose(first[0], [8, 16, 24, 32], rtol=1e-15)


@pytest.mark.parametrize("runner", ["interpretation", "session"])
def test_what_has_no_effect_on_real_numbers_G16(runner: str) -> None:
    spoiled = np.zeros((3, 5), complex)
    spoiled[:, 0] = [100j, 0, np.nan * 1j]
    spoiled[:, 4] = [0, -7j, 1j * np.inf]
    spoiled.real = 0
    with sad.Graph() as graph:
        ones, more = sad.constant(np.ones((3, 8))), sad.placeholder("complex128", (3, 5))
        spectrum = sad.fft.rfft(ones) + more
        y = sad.fft.irfft(spectrum)
        z = sad.fft.hfft(spectrum, norm="forward")
        weights = sad.constant(np.arange(24.0).reshape(3, 8))
        (g,) = sad.gradients(y, spectrum, [weights])
        (gz,) = sad.gradients(z, spectrum, [weights])
    fetches = [y, z, g, gz]
    if runner == "interpretation":
        values = interpret(graph, [f.id for f in fetches], (), {more.id: spoiled}, {}, 0).values
    else:
        with sad.Session(graph) as session:
            values = session.run(fetches, {more: spoiled})
    for value in values[:2]:
        np.testing.assert_allclose(value, np.ones((3, 8)), rtol=1e-15)
    for gradient in values[2:]:
        np.testing.assert_array_equal(gradient.imag[:, [0, 4]], 0)
        assert (gradient.imag[:, 1:4] != 0).all()


def test_the_seed_of_a_gradient_is_not_overwritten_G17() -> None:
    rng = np.random.default_rng(0)
    for there, back in (
        (sad.fft.fft, sad.fft.ifft),
        (sad.fft.fftn, sad.fft.ifftn),
        (sad.fft.rfft, sad.fft.irfft),
        (sad.fft.dct, sad.fft.idct),
        (sad.fft.dst, sad.fft.idst),
    ):
        dtype = "complex128" if there in (sad.fft.fft, sad.fft.fftn) else "float64"
        with sad.Graph() as graph:
            x, fed = (sad.placeholder(dtype, (6, 6)) for _ in range(2))
            seed = fed * 2.0
            (dx,) = sad.gradients(back(there(x)), x, [seed])
            (ddx,) = sad.gradients(back(there(dx)), fed, [seed])
        x_value, given = rng.normal(size=(2, 6, 6)).astype(dtype)
        kept = given.copy()
        with sad.Session(graph) as session:
            found, second, after = session.run([dx, ddx, seed], {x: x_value, fed: given})
        np.testing.assert_array_equal(given, kept)
        np.testing.assert_array_equal(after, 2 * kept)
        np.testing.assert_allclose(found, 2 * kept, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(second, 4 * kept, rtol=1e-13, atol=1e-14)


def test_the_slope_of_the_angle_of_tiny_and_no_numbers_A43() -> None:
    x, y = 5.6843e-14, 1e-13
    with sad.Graph() as graph:
        z = sad.placeholder("complex128", (None,))
        (dz,) = sad.gradients(sad.angle(z), z)
        (hessian,) = sad.gradients(sad.real(dz), z)
    points = np.array([complex(x, y), 0, complex(1e-170, 1e-170), complex(3e200, -4e200)])
    with sad.Session(graph) as session:
        found, second = session.run([dz, hessian], {z: points})
    square = x * x + y * y
    np.testing.assert_allclose(found[0], complex(-y / square, x / square), rtol=1e-14)
    np.testing.assert_allclose(found[0], -7.55794e12 + 4.29616e12j, rtol=1e-6)
    assert found[1] == 0
    np.testing.assert_allclose(found[2:], [-5e169 + 5e169j, 1.6e-201 + 1.2e-201j], rtol=1e-14)
    curvature = complex(2 * x * y, y * y - x * x) / square**2
    np.testing.assert_allclose(second[0], curvature, rtol=1e-13)
    assert second[1] == 0
