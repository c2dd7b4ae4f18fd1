"""Random convolutions and poolings against loops: values, transposes, second order.

The elements are small integers, so that all sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.ops import columns, correlation, runs, transposed
from staticad_schema.types import Array

from . import naive_windows
from .naive_windows import Windows, random_windows
from .running import inferred, types_of

NUMBERS = st.integers(0, 2**32)


def _whole(random: Random, *shape: int) -> Array:
    values = [random.randrange(-3, 4) for _ in range(int(np.prod(shape)))]
    return np.array(values, np.float64).reshape(shape)


def _apply(op: str, arrays: tuple[Array, ...], attributes: dict[str, Any]) -> tuple[Array, ...]:
    types = inferred(OPS[op], types_of(arrays), attributes)
    results = evaluate(OPS[op], arrays, attributes, types)
    assert types_of(results) == types
    return results


@settings(max_examples=400)
@given(NUMBERS)
def test_convolutions_of_any_rank(number: int) -> None:
    check_convolution(Random(number))


# What decides how a convolution is computed, so small that small ones are computed in every way.
SMALL: dict[str, dict[Any, dict[str, float]]] = {
    "slabs": {columns: {"SLAB": 40, "BLOCK": 50, "SHORT": 4, "FEW_IMAGES": 2}},
    "runs": {runs: {"BLOCK": 50, "WIDTH": 1, "SHORT": 1, "WASTE": 9}},
    "images": {runs: {"BLOCK": 2000, "SHORT": 1, "WASTE": 9}},
    "products": {
        runs: {"SHORT": 1, "WASTE": 9, "SMALL": 900, "SMALL_VECTOR": 300, "VECTOR": 4, "FAST": 8},
        correlation: {"NARROW": 4, "FAST": 8},
    },
    "deep": {runs: {"SHORT": 1, "WASTE": 9, "SMALL": 1, "SMALL_VECTOR": 1, "DEEP_WIDTH": 9}},
    "blocks": {columns: {"BLOCK": 50}, runs: {"WASTE": 0}, correlation: {"LONG": 1}},
    "gathering": {transposed: {"WIDER": 99}, runs: {"SHORT": 1, "WASTE": 9}},
    "spreading": {transposed: {"WIDER": 0, "BLOCK": 50}},
}


@pytest.fixture
def in_a_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module, limits in SMALL[request.param].items():
        for name, value in limits.items():
            monkeypatch.setattr(module, name, value)
    runs.runs_of.cache_clear()
    yield
    runs.runs_of.cache_clear()


@pytest.mark.parametrize("in_a_way", SMALL, indirect=True)
@pytest.mark.usefixtures("in_a_way")
def test_convolutions_in_every_way() -> None:
    for number in range(150):
        check_convolution(Random(number))


def check_convolution(random: Random) -> None:
    """A random convolution is that of the loop, and its transposes are its transposes."""
    windows = random_windows(random, random.randrange(1, 4))
    groups = random.choice((1, 1, 1, 2, 3))
    channels, outputs, batch = (random.randrange(1, 4) for _ in range(3))
    # Deep ones are computed in another way.
    channels = random.choice((channels, channels, channels, 32))
    dtype = random.choice(("float64", "float64", "float32", "int32"))
    x = _whole(random, random.choice((batch, batch, 0)), channels * groups, *windows.sizes)
    w = _whole(random, outputs * groups, channels, *windows.kernel)
    x, w = x.astype(dtype), w.astype(dtype)
    given_ = {**windows.attributes, "groups": groups}
    (y,) = _apply("conv", (x, w), given_)
    np.testing.assert_array_equal(y, naive_windows.conv(x, w, windows, groups))
    g = _whole(random, *y.shape).astype(dtype)
    (dx,) = _apply("conv_input", (g, w), {**given_, "shape": windows.sizes})
    (dw,) = _apply("conv_weights", (x, g), {**given_, "shape": w.shape[1:]})
    assert dx.shape == x.shape
    assert dw.shape == w.shape
    assert np.vdot(y, g) == np.vdot(x, dx) == np.vdot(w, dw)


@pytest.mark.parametrize("channels", [1, 32])
def test_an_infinite_element_stays_in_its_windows(channels: int) -> None:
    x, g = np.ones((2, channels, 4, 9)), np.ones((2, 1, 3, 8))
    windows = Windows((4, 9), (2, 2), (1, 1), ((0, 0), (0, 0)), (1, 1))
    given_ = {**windows.attributes, "groups": 1}
    x[1, 0, 0, 8] = np.inf
    (dw,) = _apply("conv_weights", (x, g), {**given_, "shape": (channels, 2, 2)})
    # The corner is seen by one place of the kernel only.
    assert np.argwhere(np.isinf(dw)).tolist() == [[0, 0, 0, 1]]
    assert (dw[np.isfinite(dw)] == 48).all()
    w = np.ones((1, channels, 2, 2))
    (y,) = _apply("conv", (x, w), given_)
    assert np.argwhere(~np.isfinite(y)).tolist() == [[1, 0, 0, 7]]
    assert (y[np.isfinite(y)] == 4 * channels).all()
    g[0, 0, 2, 7] = np.nan
    (dx,) = _apply("conv_input", (g, w), {**given_, "shape": (4, 9)})
    assert np.isnan(dx).sum() == 4 * channels


@settings(max_examples=100)
@given(NUMBERS)
def test_gradients_of_convolutions_to_second_order(number: int) -> None:
    random = Random(number)
    rank = random.randrange(1, 4)
    windows = random_windows(random, rank)
    groups, symbolic = random.choice((1, 1, 2)), random.random() < 0.5
    arrays = {
        "x": _whole(random, 2, 2 * groups, *windows.sizes),
        "w": _whole(random, groups, 2, *windows.kernel),
        "u": _whole(random, 2, 2 * groups, *windows.sizes),
        "v": _whole(random, groups, 2, *windows.kernel),
    }
    arrays["g"] = _whole(random, 2, groups, *windows.counts)
    with sad.Graph() as graph:
        x, w, u, v = (
            sad.placeholder("float64", _shape(arrays[name], symbolic), name=name)
            for name in ("x", "w", "u", "v")
        )
        # Sizes of the result are expressions of those of x.
        y = getattr(sad.nn, f"conv{rank}d")(
            x, w, stride=windows.strides, padding=windows.padding, dilation=windows.dilation,
            groups=groups,
        )  # fmt: skip
        g = sad.placeholder("float64", y.shape, name="g")
        dx, dw = sad.gradients(y, [x, w], [g])
        (mixed,) = sad.gradients(dx, [w], [u])
        (other,) = sad.gradients(dw, [x], [v])
        checks = [
            sad.sum(y * g), sad.sum(dx * x), sad.sum(dw * w), sad.sum(mixed * v),
            sad.sum(other * u),
        ]  # fmt: skip
    with sad.Session(graph) as session:
        total, *first = session.run(checks, arrays)
    expected = naive_windows.conv(arrays["x"], arrays["w"], windows, groups)
    second = naive_windows.conv(arrays["u"], arrays["v"], windows, groups)
    assert [total, *first[:2]] == [np.vdot(expected, arrays["g"])] * 3
    assert first[2:] == [np.vdot(second, arrays["g"])] * 2


def _shape(a: Array, symbolic: bool) -> list[int | str]:
    """The sizes of the batch and the spatial axes by name: equal sizes by the same one."""
    if not symbolic or a.shape[0] != 2:
        return list(a.shape)
    return ["batch", a.shape[1], *(f"n{s}" for s in a.shape[2:])]


@settings(max_examples=300)
@given(NUMBERS)
def test_poolings_of_any_rank(number: int) -> None:
    random = Random(number)
    windows = random_windows(random, random.randrange(1, 4))
    x = _whole(random, random.randrange(1, 3), random.randrange(1, 3), *windows.sizes)
    given_ = {**windows.attributes, "window": windows.kernel}
    largest, places, sums, complete = naive_windows.pools(x, windows)
    (found,) = _apply("window_sum", (x,), given_)
    np.testing.assert_array_equal(found, sums)
    g = _whole(random, *sums.shape)
    (spread,) = _apply("window_spread", (g,), {**given_, "shape": windows.sizes})
    assert np.vdot(found, g) == np.vdot(x, spread)
    if not complete:
        with pytest.raises(sad.StaticadError, match="padding"):
            _apply("max_pool", (x,), given_)
        return
    special = random.choice((None, -np.inf, np.inf, np.nan))
    if special is not None:
        x[np.array([random.random() < 0.3 for _ in range(x.size)]).reshape(x.shape)] = special
        largest, places, _, _ = naive_windows.pools(x, windows)
    values, indices = _apply("max_pool", (x,), given_)
    np.testing.assert_array_equal(values, largest)
    np.testing.assert_array_equal(indices, places)
    (back,) = _apply("unpool", (g, indices), {"shape": windows.sizes})
    flat = back.reshape(*x.shape[:2], -1)
    expected = np.zeros_like(flat)
    for at in np.ndindex(*g.shape):
        expected[(*at[:2], places[at])] += g[at]
    np.testing.assert_array_equal(flat, expected)


@settings(max_examples=200)
@given(NUMBERS)
def test_means_of_windows(number: int) -> None:
    """avg_pool with its options, against a loop that counts."""
    random = Random(number)
    rank = random.randrange(1, 3)
    kernel = tuple(random.randrange(1, 5) for _ in range(rank))
    sizes = tuple(random.randrange(k, 9) for k in kernel)
    strides = tuple(random.randrange(1, 5) for _ in range(rank))
    pads = tuple(random.randrange(k // 2 + 1) for k in kernel)
    ceil_mode, include = random.random() < 0.5, random.random() < 0.5
    x = _whole(random, 1, 2, *sizes)
    symbolic = random.random() < 0.5
    with sad.Graph() as graph:
        shape = [1, 2, *(f"n{a}" if symbolic else n for a, n in enumerate(sizes))]
        fed = sad.placeholder("float64", shape, name="x")
        y = getattr(sad.nn, f"avg_pool{rank}d")(
            fed, kernel, stride=strides, padding=pads, ceil_mode=ceil_mode,
            count_include_pad=include,
        )  # fmt: skip
    with sad.Session(graph) as session:
        found = session.run(y, {fed: x})
    counts = tuple(
        _windows_along(*each, ceil_mode) for each in zip(sizes, kernel, strides, pads, strict=True)
    )
    assert found.shape == (1, 2, *counts)
    whole = Windows(sizes, kernel, strides, tuple((p, 99) for p in pads), (1,) * rank)
    for window in np.ndindex(*counts):
        total = np.zeros(2)
        for _, at in whole.elements(window):
            total += [x[(0, c, *at)] for c in range(2)]
        number_of = 1
        for i, s, p, k, n in zip(window, strides, pads, kernel, sizes, strict=True):
            first, last = (-p, n + p) if include else (0, n)
            number_of *= min(i * s - p + k, last) - max(i * s - p, first)
        means = [found[(0, c, *window)] for c in range(2)]
        np.testing.assert_allclose(means, total / number_of, rtol=1e-14)


def _windows_along(size: int, kernel: int, stride: int, pad: int, ceil_mode: bool) -> int:
    """PyTorch's count."""
    room = size + 2 * pad - kernel
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    if ceil_mode and (count - 1) * stride >= size + pad:
        count -= 1
    return count
