"""Random transforms against NumPy's and SciPy's: sizes, axes, norms, dtypes; and their adjoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_schema.types import Array, as_dtype

from ..running import agrees, apply

NORMS = ("backward", "ortho", "forward")
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = (
    *("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"),
    *("hfftn", "ihfftn", "hfft2", "ihfft2"),
)
COSINES = ("dct", "idct", "dst", "idst")
REAL = ("rfft", "ihfft", "rfftn", "rfft2", "ihfftn", "ihfft2")
DTYPES = ("float16", "float32", "float64", "complex64", "complex128", "int32")


def array(draw: Any, shape: tuple[int, ...], dtypes: tuple[str, ...]) -> Array:
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    dtype = as_dtype(draw(st.sampled_from(dtypes)))
    values: Any = rng.normal(size=shape) * 3
    if dtype.kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return np.asarray(values).astype(dtype)


def shapes(draw: Any, least: int = 1) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(1, 7), min_size=least, max_size=3)))


@st.composite
def one_axis(draw: Any) -> tuple[str, Array, dict[str, Any]]:
    name = draw(st.sampled_from(ONE))
    x = array(draw, shapes(draw), tuple(d for d in DTYPES if name not in REAL or d[0] != "c"))
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    n = draw(st.none() | st.integers(1, 12))
    if name in ("irfft", "hfft") and x.shape[axis] == 1 and n is None:
        n = 1
    return name, x, {"n": n, "axis": axis, "norm": draw(st.sampled_from((*NORMS, None)))}


@st.composite
def several_axes(draw: Any) -> tuple[str, Array, dict[str, Any]]:
    name = draw(st.sampled_from(SEVERAL))
    two = name.endswith("2")
    shape = shapes(draw, 2 if two else 1)
    x = array(draw, shape, tuple(d for d in DTYPES if name not in REAL or d[0] != "c"))
    axes = draw(st.permutations(range(-x.ndim, 0)))
    axes = axes[: 2 if two else draw(st.integers(1, x.ndim))]
    sizes = st.lists(st.just(-1) | st.integers(1, 9), min_size=len(axes), max_size=len(axes))
    s = draw(st.none() | sizes)
    if name.startswith(("irfft", "hfft")) and s is None and x.shape[axes[-1]] == 1:
        s = [3] * len(axes)
    return name, x, {"s": s, "axes": tuple(axes), "norm": draw(st.sampled_from(NORMS))}


@st.composite
def cosine(draw: Any) -> tuple[str, Array, dict[str, Any]]:
    name, several = draw(st.sampled_from(COSINES)), draw(st.booleans())
    kind = draw(st.sampled_from((1, 2, 3, 4)))
    shape = tuple(size + 1 for size in shapes(draw))
    x = array(draw, shape, DTYPES)
    options: dict[str, Any] = {
        "type": kind,
        "norm": draw(st.sampled_from(NORMS)),
        "orthogonalize": draw(st.sampled_from((None, True, False))),
    }
    if not several:
        options |= {
            "axis": draw(st.integers(-x.ndim, x.ndim - 1)),
            "n": draw(st.none() | st.integers(2, 9)),
        }
        return name, x, options
    axes = draw(st.permutations(range(x.ndim)))[: draw(st.integers(1, x.ndim))]
    s = draw(st.none() | st.lists(st.integers(2, 9), min_size=len(axes), max_size=len(axes)))
    return name + "n", x, options | {"axes": tuple(axes), "s": s}


def double(x: Array) -> Array:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def result_dtype(name: str, x: Array) -> Any:
    single = x.dtype not in (np.float64, np.complex128)
    to_real = name.startswith(("irfft", "hfft")) or ("ft" not in name and x.dtype.kind != "c")
    if name.removesuffix("n") in COSINES:
        to_real = x.dtype.kind != "c"
    if to_real:
        return np.float32 if single else np.float64
    return np.complex64 if single else np.complex128


def normal(dtype: Any, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(1)
    values: Any = rng.normal(size=shape)
    if dtype.kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return np.asarray(values, dtype)


def judge(name: str, x: Array, options: dict[str, Any], expected: Array) -> None:
    """Values, of known and unknown sizes; the adjoint and the tangent, by inner products."""
    f = getattr(sad.fft, name)
    dtype = result_dtype(name, x)
    wide = x if x.dtype.kind in "fc" and x.dtype.itemsize > 2 else x.astype(np.float32)
    v, g = normal(wide.dtype, x.shape), normal(np.dtype(dtype), expected.shape)
    with sad.Graph() as graph:
        plain, along, seed = (sad.placeholder(a.dtype, a.shape) for a in (x, v, g))
        free = sad.placeholder(wide.dtype, (None,) * x.ndim)
        ys = [f(plain, **options), f(free, **options)]
        (back,) = sad.gradients(ys[1], free, [seed])
        (pushed,) = sad.jvp(ys[1], free, [along])
        # The adjoint of the adjoint is the transform.
        (twice,) = sad.gradients(back, seed, [along])
    feeds = {plain: x, free: wide, along: v, seed: g}
    with sad.Session(graph) as session:
        *found, pulled, tangent, forth = session.run([*ys, back, pushed, twice], feeds)
    digits = 1e-12 if np.finfo(dtype).precision > 10 else 2e-6
    size = np.abs(expected).max(initial=1.0)
    for y in found:
        assert y.dtype == dtype
        assert y.shape == expected.shape
        np.testing.assert_allclose(y, expected, rtol=0, atol=digits * size)
    assert (pulled.dtype, pulled.shape) == (wide.dtype, x.shape)
    left, right = np.vdot(g, tangent).real, np.vdot(pulled, v).real
    scale = np.abs(g).sum() * np.abs(tangent).max(initial=0) + 1e-30
    assert abs(left - right) <= digits * scale
    np.testing.assert_allclose(
        forth, tangent, rtol=0, atol=digits * np.abs(tangent).max(initial=1.0)
    )


@settings(max_examples=300)
@given(one_axis())
def test_transforms_along_an_axis_are_numpys(case: tuple[str, Array, dict[str, Any]]) -> None:
    name, x, options = case
    judge(name, x, options, getattr(np.fft, name)(double(x), **options))


@settings(max_examples=250)
@given(several_axes())
def test_transforms_along_axes_are_scipys(case: tuple[str, Array, dict[str, Any]]) -> None:
    name, x, options = case
    judge(name, x, options, getattr(scipy.fft, name)(double(x), **options))


@settings(max_examples=300)
@given(cosine())
def test_cosine_and_sine_transforms_are_scipys(case: tuple[str, Array, dict[str, Any]]) -> None:
    name, x, options = case
    f = getattr(scipy.fft, name)
    # Part by part: of complex numbers SciPy forgets `orthogonalize`.
    expected = f(double(x.real), **options)
    if x.dtype.kind == "c":
        expected = expected + 1j * f(double(x.imag), **options)
    judge(name, x, options, expected)


def test_single_precision_is_rounded_once() -> None:
    rng = np.random.default_rng(0)
    for n in (1000, 1009, 4096):
        z = (rng.normal(size=(2, n)) + 1j * rng.normal(size=(2, n))).astype(np.complex64)
        for f, same, x in (
            (sad.fft.fft, np.fft.fft, z),
            (sad.fft.ifftn, scipy.fft.ifftn, z),
            (sad.fft.rfft, np.fft.rfft, z.real),
            (sad.fft.irfft, np.fft.irfft, z),
            (sad.fft.dct, scipy.fft.dct, z.real),
        ):
            expected: Any = same(double(x))
            found = apply(f, x)
            assert found.tobytes() == expected.astype(found.dtype).tobytes()


def test_sizes_of_minus_one_are_kept() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4))
    found = apply(lambda x: sad.fft.fftn(x, s=(5, -1)), x)
    np.testing.assert_allclose(found, np.fft.fftn(x, s=(5, 4), axes=(0, 1)), rtol=1e-13)
    found = apply(lambda x: sad.fft.rfft2(x, s=[None, 6]), x)
    np.testing.assert_allclose(found, np.fft.rfft2(x, s=(3, 6)), rtol=1e-13)
    agrees(apply(lambda x: sad.fft.fftn(x, axes=()), x), x.astype(complex))
