"""Complex numbers made of parts, and taken apart."""

from __future__ import annotations

import numpy as np
import pytest

import staticad as sad

from ..cases.running import grads
from .running import agrees, apply

nan, inf = np.nan, np.inf


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("float16", "complex64"),
        ("float32", "complex64"),
        ("float64", "complex128"),
        ("int32", "complex64"),
    ],
)
def test_parts_come_together(dtype: str, result: str) -> None:
    x, y = np.array([[1], [2]], dtype), np.array([0, -3, 5], dtype)
    agrees(apply(sad.complex, x, y, symbolic=True), (x + 1j * y).astype(result))
    agrees(apply(sad.complex, np.zeros((0, 2), dtype), np.ones(2, dtype)), np.zeros((0, 2), result))
    pairs = np.stack(np.broadcast_arrays(x, y), -1)
    agrees(apply(sad.view_as_complex, pairs), (x + 1j * y).astype(result))


def test_each_part_is_exact() -> None:
    parts = np.array([1.5, -0.0, 0.0, inf, -inf, nan, 1e-320])
    x, y = (a.reshape(-1) for a in np.meshgrid(parts, parts))
    z = apply(sad.complex, x, y)
    for part, whole in ((z.real, x), (z.imag, y)):
        assert part.tobytes() == whole.tobytes()
    there_and_back = apply(lambda z: sad.view_as_complex(sad.view_as_real(z)), z)
    assert there_and_back.tobytes() == z.tobytes()


def test_gradients_are_the_parts_of_the_gradient() -> None:
    x, y = np.array([0.5, -2.0]), np.array(3.0)
    weights = np.array([2 - 1j, 0.5j])
    dx, dy = grads(lambda x, y: sad.real(sad.complex(x, y) * sad.conj(weights)), x, y)
    agrees(dx, weights.real)
    agrees(dy, weights.imag.sum())


def test_infinite_cotangents_stay_in_their_part() -> None:
    z = np.array([4 + 0j, 0j])
    (dz,) = grads(lambda z: sad.sqrt(sad.imag(z)), z)
    agrees(dz.real, [0.0, 0.0])
    agrees(dz.imag, [inf, inf])


def test_polar_is_the_inverse_of_abs_and_angle() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))
    agrees(apply(lambda z: sad.polar(sad.abs(z), sad.angle(z)), z), z, 1e-14)
    (dz,) = grads(lambda z: sad.real((1 - 2j) * sad.polar(sad.abs(z), sad.angle(z))), z)
    agrees(dz, np.full((3, 4), 1 + 2j), 1e-13)
    agrees(
        apply(sad.polar, np.array([2], "float16"), np.array([0], "float16")),
        np.array([2], "complex64"),
    )
