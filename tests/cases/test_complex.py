"""Derivatives of functions of complex numbers, by their real and imaginary parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

Array = np.ndarray[Any, Any]

RNG = np.random.default_rng(11)
REAL = RNG.normal(size=(3,)) + 2
COMPLEX = RNG.normal(size=(3,)) + 1j * RNG.normal(size=(3,))
MATRIX = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "abs": sad.abs,
    "angle": sad.angle,
    "polar": lambda z: sad.polar(sad.abs(z), sad.angle(z) * 2) * (1 - 1j),
    "made of parts": lambda z: sad.complex(sad.abs(z), sad.real(z) * 3.0) ** 2,
    "views": lambda z: sad.view_as_complex(sad.view_as_real(z * (1 - 2j)) ** 2) * z,
    "fft": lambda z: sad.fft.fft(z * z, 4) * (1 - 1j),
    "ifft": lambda z: sad.fft.ifft(z, norm="ortho") ** 3,
    "irfft": lambda z: sad.fft.irfft(z * (1 + 2j)) ** 2,
    "irfft, odd": lambda z: sad.fft.irfft(z * (1 + 2j), 5, norm="forward") ** 2,
    "hfft": lambda z: sad.fft.hfft(z * z, 5),
    "rfft": lambda z: sad.fft.rfft(sad.abs(z)) ** 2,
    "dct": lambda z: sad.fft.dct(z, 3) * z,
    "fftconvolve": lambda z: sad.fft.fftconvolve(z, z * 1j, "same") * z,
    "convolve": lambda z: sad.convolve(z, z * z + 1j),
    "norms": lambda z: sad.linalg.norm(z * (1 + 1j)) + sad.linalg.vector_norm(z, ord=3),
    "einsum": lambda z: sad.einsum("i,j,i->j", z, z * 1j, sad.conj(z)),
    "cumulative": lambda z: sad.cumulative_prod(z) * sad.cumulative_sum(z * 1j),
    "log angle": lambda z: sad.imag(sad.log(z)),
    "sqrt": lambda z: sad.sqrt(z) * (1 - 2j),
    "log": lambda z: sad.log(z) * 1j,
    "square": lambda z: sad.square(z) * (2 + 1j),
    "power": lambda z: z**3 + z**-1 + z**0.5,
    "complex power": lambda z: z ** (1.5 - 0.5j),
    "power of itself": lambda z: (z + 3) ** (z + 3),
    "exponent": lambda z: (1 + 2j) ** z,
    "division": lambda z: (z + 1) / (z * z - 2j),
    "conjugate": lambda z: sad.conj(z) * z * z,
    "parts": lambda z: sad.real(z) * sad.imag(z * z),
    "sign": lambda z: sad.sign(z) * (2 - 1j),
    "where": lambda z: sad.where(sad.real(z) > 2, z * z, 1j * z),
    "matmul": lambda z: (sad.constant(MATRIX) @ z) * z[0],
    "dot": lambda z: z @ (z * 1j),
    "prod": lambda z: sad.prod(z * (1 + 1j)),
    "prod with a zero": lambda z: sad.prod(z - z * np.array([0.0, 0.0, 1.0])),
    "sums": lambda z: sad.sum(z) * sad.mean(z * z),
    "variance": lambda z: sad.var(z) + sad.std(z * 2j),
    "promotion": lambda z: z * 1j + np.array([1j, 2.0, 3.0]) * z,
    "trigonometry": lambda z: sad.sin(z) * sad.tanh(z) + sad.atan(z / 3) + sad.acosh(z + 2j),
    "no_nan": lambda z: (
        sad.sum(sad.multiply_no_nan(z * 1j, z)) if hasattr(sad, "multiply_no_nan") else z * 1j * z
    ),
    "gather": lambda z: z[[2, 0, 2]] * (1 + 1j),
    "scatter": lambda z: (z * 1j).at[[0, 0]].add(z[1:] * z[:2] * 1j),
}


def real_loss(y: Any) -> Any:
    """A real number made of all parts of y, by unequal weights."""
    if y.type.kind == "complex":
        return real_loss(sad.real(y)) + 0.7 * real_loss(sad.imag(y))
    y = sad.reshape(y, (-1,))
    return sad.sum(y * (1.0 + 0.3 * sad.arange(y.shape[0], dtype="float64")))


def quotient(f: Callable[[Array], Any], z: Array, direction: Array, h: float = 1e-4) -> Any:
    """The derivative along a direction, by differences of fourth order."""
    return (8 * (f(z + h * direction) - f(z - h * direction))
            - (f(z + 2 * h * direction) - f(z - 2 * h * direction))) / (12 * h)  # fmt: skip


# Of real numbers the imaginary part is no op, and the sign does not vary.
COMPLEX_ONLY = ("angle", "log angle", "parts", "sign")


@pytest.mark.parametrize("point", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_by_real_and_imaginary_part(name: str, point: Array) -> None:
    if name in COMPLEX_ONLY:
        point = point.astype(complex)
    with sad.Graph() as graph:
        z, v = (sad.placeholder(point.dtype.name, (3,)) for _ in range(2))
        loss = real_loss(FUNCTIONS[name](z))
        (dz,) = sad.gradients(loss, z)
        (along,) = sad.jvp(loss, z, v)
        (second,) = sad.gradients(real_loss(dz), z, unconnected="zero")
        (pushed,) = sad.jvp(dz, z, v)
    with sad.Session(graph) as session:

        def at(value: Any) -> Callable[[Array], Any]:
            return lambda p: session.run(value, {z: p})

        units: list[Array] = [u * np.eye(3)[k] for k in range(3) for u in (1.0, 1j)]
        if point.dtype == np.float64:
            units = [np.eye(3)[k] for k in range(3)]
        first, hessian = session.run([dz, second], {z: point})
        for unit in units:
            slope = quotient(at(loss), point, unit)
            assert np.isclose(np.vdot(first, unit).real, slope, rtol=1e-8, atol=1e-9)
            assert np.isclose(session.run(along, {z: point, v: unit}), slope, rtol=1e-8, atol=1e-9)
            turned = quotient(at(dz), point, unit)
            found = session.run(pushed, {z: point, v: unit})
            np.testing.assert_allclose(found, turned, rtol=1e-7, atol=1e-8)
            curve = quotient(lambda p: loss_of(session.run(dz, {z: p})), point, unit)
            assert np.isclose(np.vdot(hessian, unit).real, curve, rtol=1e-7, atol=1e-8)


def loss_of(y: Array) -> float:
    """`real_loss` in NumPy."""
    if y.dtype.kind == "c":
        return loss_of(y.real) + 0.7 * loss_of(y.imag)
    return float(np.sum(y.reshape(-1) * (1.0 + 0.3 * np.arange(y.size))))
