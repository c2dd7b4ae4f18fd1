"""Frequencies and shifts against NumPy's, of sizes known and unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from ..running import agrees, apply, run


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 1000])
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_are_numpys(name: str, n: int) -> None:
    f, same = getattr(sad.fft, name), getattr(np.fft, name)
    for d in (1.0, 0.1, -2):
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("n",), name="x")
            known = f(n, d), f(n, d=d, dtype="float64")
            free = f("n", d, dtype="float64"), f(x.shape[0], d)
        feeds = {x: np.zeros(n, "float32")}
        for y in (known[0], free[1]):
            agrees(run(graph, [y, x], feeds)[0], same(n, d).astype(np.float32), 1e-7)
        for y in (known[1], free[0]):
            agrees(run(graph, [y, x], feeds)[0], same(n, d), 1e-15)


@pytest.mark.parametrize("n", [1, 6, 7])
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_a_distance_may_be_a_scalar(name: str, n: int) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        length = sad.placeholder("float64", (), name="length")
        size = x.shape[0]
        found = getattr(sad.fft, name)(
            size, length / sad.constant(size, dtype="float64"), dtype="float64"
        )
        (slope,) = sad.gradients(found, length)
    expected = getattr(np.fft, name)(n, 2.5 / n)
    y, dy = run(graph, [found, slope], {x: np.zeros(n), length: 2.5})
    agrees(y, expected, 1e-15)
    agrees(dy, np.sum(-expected / 2.5), 1e-14)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("shape", [(1,), (4,), (5,), (3, 4), (2, 0, 5)])
def test_shifts_are_numpys(name: str, shape: tuple[int, ...]) -> None:
    f, same = getattr(sad.fft, name), getattr(np.fft, name)
    x = np.arange(np.prod(shape)).reshape(shape)
    for axes in (None, 0, -1, tuple(range(len(shape)))):
        for symbolic in (False, True):
            options: dict[str, Any] = {"axes": axes}
            found = apply(lambda x, options=options: f(x, **options), x, symbolic=symbolic)
            agrees(found, same(x, axes))
    back = apply(lambda x: sad.fft.ifftshift(sad.fft.fftshift(x)), x, symbolic=True)
    agrees(back, x)
