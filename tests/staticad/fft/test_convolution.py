"""Convolutions, by products and by spectra, against NumPy's and SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_schema.types import Array, as_dtype

from ..running import agrees, apply

MODES = ("full", "same", "valid")
MODE: Any = st.sampled_from(MODES)


def numbers(dtype: str, *shape: int, seed: int = 0) -> Array:
    rng = np.random.default_rng([seed, *shape])
    values: Any = rng.normal(size=shape) * 4
    if dtype.startswith("complex"):
        values = values + 4j * rng.normal(size=shape)
    return np.asarray(values).astype(as_dtype(dtype))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "complex128"])
def test_convolve_is_numpys(dtype: str, mode: Any) -> None:
    digits = 1e-6 if dtype == "float32" else 1e-13
    for n, m in ((1, 1), (5, 1), (5, 2), (2, 5), (3, 6), (4, 4), (7, 4)):
        x, y = numbers(dtype, n), numbers(dtype, m, seed=1)
        expected = np.convolve(x, y, mode)
        for symbolic in (False, True):
            found = apply(lambda x, y: sad.convolve(x, y, mode), x, y, symbolic=symbolic)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=digits, atol=10 * digits)


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(1, 12), MODE, st.integers(0, 99))
def test_derivatives_of_convolve_are_correlations(n: int, m: int, mode: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, u, v = rng.normal(size=(4, 12)) + 1j * rng.normal(size=(4, 12))
    x, u, y, v = x[:n], u[:n], y[:m], v[:m]
    g = np.convolve(u, v, mode)
    with sad.Graph() as graph:
        p, q = (sad.placeholder("complex128", (None,)) for _ in range(2))
        along = [sad.constant(u), sad.constant(v)]
        both = [sad.convolve(p, q, mode), sad.fft.fftconvolve(p, q, "full")]
        weights = [sad.constant(g), sad.constant(np.convolve(u, v))]
        pushed = [sad.jvp(z, [p, q], along)[0] for z in both]
        pulled = [sad.gradients(z, [p, q], [w]) for z, w in zip(both, weights, strict=True)]
    with sad.Session(graph) as session:
        tangents, cotangents = session.run([pushed, pulled], {p: x, q: y})
    for tangent, (dx, dy), kind in zip(tangents, cotangents, (mode, "full"), strict=True):
        expected = np.convolve(u, y, kind) + np.convolve(x, v, kind)
        np.testing.assert_allclose(tangent, expected, rtol=1e-11, atol=1e-11)
        seed_ = np.convolve(u, v, kind)
        found = (np.vdot(dx, u) + np.vdot(dy, v)).real
        assert np.isclose(found, np.vdot(seed_, expected).real, rtol=1e-10, atol=1e-9)


@st.composite
def operands(draw: Any) -> tuple[Array, Array, Any, Any]:
    rank = draw(st.integers(1, 3))
    axes = draw(st.permutations(range(rank)))[: draw(st.integers(1, rank))]
    first, second = [], []
    mode, larger = draw(MODE), draw(st.booleans())
    for axis in range(rank):
        n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
        if axis not in axes:
            m = draw(st.sampled_from((1, n)))
        elif mode == "valid":
            n, m = (max(n, m), min(n, m)) if larger else (min(n, m), max(n, m))
        first.append(n)
        second.append(m)
    dtype = draw(st.sampled_from(("float32", "float64", "complex128")))
    seed = draw(st.integers(0, 99))
    chosen = None if len(axes) == rank and draw(st.booleans()) else tuple(axes)
    x, y = numbers(dtype, *first, seed=seed), numbers(dtype, *second, seed=seed + 1)
    return x, y, mode, chosen


@settings(max_examples=150)
@given(operands(), st.booleans())
def test_fftconvolve_is_scipys(case: tuple[Array, Array, Any, Any], symbolic: bool) -> None:
    x, y, mode, axes = case
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    expected = scipy.signal.fftconvolve(x.astype(wide), y.astype(wide), mode, axes)
    found = apply(
        lambda x, y: sad.fft.fftconvolve(x, y, mode, axes), x, y, symbolic=symbolic and axes is None
    )
    assert found.dtype == x.dtype
    # Single precision computes in double.
    digits = 1e-7 if x.dtype == np.float32 else 0.0
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    np.testing.assert_allclose(found, expected, rtol=digits, atol=1e-14 * size)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "complex128"])
def test_correlate_is_numpys(dtype: str, mode: Any) -> None:
    digits = 1e-6 if dtype == "float32" else 1e-13
    for n, m in ((1, 1), (5, 1), (5, 2), (2, 5), (3, 6), (4, 4), (7, 4), (1, 2), (4, 7)):
        x, y = numbers(dtype, n), numbers(dtype, m, seed=1)
        expected = np.correlate(x, y, mode)
        for symbolic in (False, True):
            found = apply(lambda x, y: sad.correlate(x, y, mode), x, y, symbolic=symbolic)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=digits, atol=10 * digits)


@settings(max_examples=100)
@given(operands(), st.booleans())
def test_correlation_by_transforms_is_scipys(
    case: tuple[Array, Array, Any, Any], symbolic: bool
) -> None:
    x, y, mode, axes = case
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    turned = np.flip(y.astype(wide).conj(), tuple(range(y.ndim)) if axes is None else axes)
    expected = scipy.signal.fftconvolve(x.astype(wide), turned, mode, axes)
    if axes is None:
        np.testing.assert_allclose(
            scipy.signal.correlate(x.astype(wide), y.astype(wide), mode), expected, atol=1e-11
        )
    found = apply(
        lambda x, y: sad.fft.correlate(x, y, mode, axes), x, y, symbolic=symbolic and axes is None
    )
    assert found.dtype == x.dtype
    digits = 1e-7 if x.dtype == np.float32 else 0.0
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    np.testing.assert_allclose(found, expected, rtol=digits, atol=1e-14 * size)


@settings(max_examples=60)
@given(operands(), st.booleans())
def test_derivatives_of_correlations_are_adjoint(
    case: tuple[Array, Array, Any, Any], by_transforms: bool
) -> None:
    x, y, mode, axes = case
    if not by_transforms:
        x, y, axes = x.reshape(-1)[:5], y.reshape(-1)[:5], None
    double = np.complex128 if x.dtype.kind == "c" else np.float64
    rng = np.random.default_rng(0)
    x, y, u, v = (a.astype(double) for a in (x, y, x + rng.normal(), y * rng.normal()))

    def f(p: Any, q: Any) -> sad.Tensor:
        if by_transforms:
            return sad.fft.correlate(p, q, mode, axes)
        return sad.correlate(p, q, mode)

    with sad.Graph() as graph:
        p, q = (sad.placeholder(a.dtype, a.shape) for a in (x, y))
        z = f(p, q)
        g = sad.constant(rng.normal(size=z.shape).astype(double))
        (along,) = sad.jvp(z, [p, q], [sad.constant(u), sad.constant(v)])
        pulled = sad.gradients(z, [p, q], [g])
        expected = f(u, q) + f(p, v)
    with sad.Session(graph) as session:
        seed, tangent, (dx, dy), wanted = session.run([g, along, pulled, expected], {p: x, q: y})
    size = 1 + np.abs(wanted).max()
    np.testing.assert_allclose(tangent, wanted, rtol=0, atol=1e-11 * size)
    left, right = np.vdot(seed, wanted).real, (np.vdot(dx, u) + np.vdot(dy, v)).real
    assert abs(left - right) <= 1e-10 * size * wanted.size * (1 + np.abs(seed).max())


def test_which_is_larger_may_be_found_by_the_run() -> None:
    with sad.Graph() as graph:
        x, y = (sad.placeholder("float64", (None, None, 4)) for _ in range(2))
        both = [f(x, y, "valid") for f in (sad.fft.fftconvolve, sad.fft.correlate)]
        (slope,) = sad.gradients(both[0], x)
    a, b = numbers("float64", 5, 6, 4), numbers("float64", 2, 3, 4)
    with sad.Session(graph) as session:
        for first, second in ((a, b), (b, a), (a, a), (a[:2], b), (a, b[:, :1])):
            for found, same in zip(
                session.run(both, {x: first, y: second}),
                (scipy.signal.fftconvolve, scipy.signal.correlate),
                strict=True,
            ):
                expected = same(first, second, "valid")
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
        for y_ in (*both, slope):
            for first, second in ((a[:1], b), (b, a[:1])):
                with pytest.raises(sad.ExecutionError, match="larger one along all axes") as caught:
                    session.run(y_, {x: first, y: second})
                assert "test_convolution.py" in str(caught.value)


def test_along_one_axis_either_may_be_larger_unchecked() -> None:
    with sad.Graph() as graph:
        x, y = (sad.placeholder("float64", (3, None)) for _ in range(2))
        sad.fft.fftconvolve(x, y, "valid", axes=1)
        sad.fft.fftconvolve(x, y, "valid")
        sad.fft.fftconvolve(x, x, "valid")
    assert "check" not in {node.op for node in graph.nodes}


def test_half_floats_and_integers() -> None:
    x, y = (np.array(v, "float16") for v in ([1, 2, 3], [1, 0.5]))
    for f in (sad.convolve, sad.fft.fftconvolve):
        agrees(apply(f, x, y), np.array([1, 2.5, 4, 1.5], "float16"), 1e-3)
    agrees(apply(sad.fft.fftconvolve, [1, 2], [3, 4]), np.array([3, 10, 8], "float32"), 1e-6)
