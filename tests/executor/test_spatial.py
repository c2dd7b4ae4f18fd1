"""Kernels over spatial axes: parts shared by threads, and what `explain` calls them."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.devices.numpy.workers import spread_over
from staticad_schema.ops import correlation, pools, transposed
from staticad_schema.types import Array
from tests.ops import naive_windows
from tests.ops.naive_windows import random_windows

# batch, channels, outputs, sizes, kernel, stride, padding, dilation, groups
SHAPES: dict[str, tuple[Any, ...]] = {
    "images": (32, 6, 16, (12, 12), (5, 5), 1, 0, 1, 1),
    "slabs": (3, 16, 8, (40, 40), (3, 3), 1, 1, 1, 1),
    "phases": (8, 16, 24, (33, 30), (3, 3), 2, 1, 1, 1),
    "groups": (9, 16, 16, (20, 20), (3, 3), 1, 1, 2, 4),
    "depthwise": (8, 32, 32, (28, 28), (3, 3), 1, 1, 1, 32),
    "pointwise": (8, 48, 37, (28, 28), (1, 1), 1, 0, 1, 1),
    "sequences": (6, 24, 24, (900,), (9,), 1, 4, 1, 1),
    "adding up": (40, 4, 160, (12, 12), (5, 5), 1, 0, 1, 1),
    "deep": (2, 600, 40, (12, 12), (3, 3), 1, 1, 1, 1),
}


def _apply(arrays: tuple[Array, ...], given: dict[str, Any], spread: Any) -> list[Array]:
    x, w, g = arrays
    results = [np.empty_like(g), np.empty_like(x), np.empty_like(w)]
    correlation.conv(x, w, results[0], **given, spread=spread)
    transposed.conv_input(g, w, results[1], **given, spread=spread)
    correlation.conv_weights(x, g, results[2], **given, spread=spread)
    return results


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_convolutions_have_the_same_bits_for_any_number_of_threads(shape: str, dtype: str) -> None:
    batch, channels, outputs, sizes, kernel, stride, pad, dilation, groups = SHAPES[shape]
    rank, rng = len(sizes), np.random.default_rng(0)
    counts = [
        (n + 2 * pad - (k - 1) * dilation - 1) // stride + 1
        for n, k in zip(sizes, kernel, strict=True)
    ]
    shapes = (
        (batch, channels, *sizes),
        (outputs, channels // groups, *kernel),
        (batch, outputs, *counts),
    )
    x, w, g = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    given = {
        "strides": (stride,) * rank, "padding": ((pad, pad),) * rank,
        "dilation": (dilation,) * rank, "groups": groups,
    }  # fmt: skip
    expected = _apply((x, w, g), given, spread_over(1))
    for threads in (2, 4):
        for found, known in zip(
            _apply((x, w, g), given, spread_over(threads)), expected, strict=True
        ):
            assert found.tobytes() == known.tobytes()
    # <y, g> = <x, dx> = <w, dw>, as for any transposes.
    wide = [np.vdot(a.astype("complex128").conj(), b.astype("complex128"))
            for a, b in zip(expected, (g, x, w), strict=True)]  # fmt: skip
    scale = np.linalg.norm(expected[0]) * np.linalg.norm(g)
    tolerance = 20 * np.finfo(dtype).eps * scale
    assert abs(wide[0] - wide[1]) < tolerance
    assert abs(wide[0] - wide[2]) < tolerance


def test_parts_are_counted_not_listed() -> None:
    """However large an image is, so that plans for it are made in no time."""
    sizes = 1 << 40
    given: Any = {"strides": (1,), "padding": ((1, 1),), "dilation": (1,), "groups": 1}
    way, runs = correlation.conv_way((1, 4, sizes), (8, 4, 3), (1, 8, sizes), **given)
    assert runs is not None
    assert runs.count > 1 << 20
    assert way == f"{runs.count} parts of {runs.lines}x{runs.width}"
    last = runs.part(runs.count - 1)
    assert last.rows.stop == sizes


def test_random_convolutions_in_threads() -> None:
    for number in range(60):
        random, rng = Random(number), np.random.default_rng(number)
        windows = random_windows(random, random.randrange(1, 4))
        batch, groups = random.randrange(1, 40), random.choice((1, 2))
        channels, outputs = random.randrange(1, 20), random.randrange(1, 9) * groups
        x = rng.standard_normal((batch, channels * groups, *windows.sizes))
        w = rng.standard_normal((outputs, channels, *windows.kernel))
        g = rng.standard_normal((batch, outputs, *windows.counts))
        given = {**windows.attributes, "groups": groups}
        expected = _apply((x, w, g), given, spread_over(1))
        for found, known in zip(_apply((x, w, g), given, spread_over(4)), expected, strict=True):
            assert found.tobytes() == known.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
@pytest.mark.parametrize("block", [40, 1 << 15])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_random_poolings_in_threads(
    dtype: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "BLOCK", block)
    done = 0
    for number in range(60):
        random, rng = Random(number), np.random.default_rng(number)
        windows = random_windows(random, random.randrange(1, 4), least_padding=0)
        x = rng.integers(0, 5, (3, 4, *windows.sizes)).astype(dtype)
        if x.dtype.kind == "f":
            chosen = rng.random(x.shape) < 0.2
            x[chosen] = rng.choice([np.nan, np.inf, -np.inf, -0.0], chosen.sum())
        largest, places, _, complete = naive_windows.pools(x, windows)
        given: Any = {**windows.attributes, "window": windows.kernel}
        for threads in (1, 2, 4):
            spread = spread_over(threads)
            sums, back = np.empty_like(largest), np.empty_like(x)
            finite = np.where(np.isfinite(x), x, 0).astype(dtype)
            pools.window_sum(finite, sums, **given, spread=spread)
            np.testing.assert_array_equal(
                sums, naive_windows.pools(finite, windows)[2].astype(dtype)
            )
            pools.window_spread(sums, back, **given, spread=spread)
            assert np.vdot(np.float64(back), finite) == np.vdot(np.float64(sums), sums) or (
                x.dtype.kind != "f"
            )
            if complete:
                done += 1
                values, indices = np.empty_like(largest), np.empty_like(places)
                pools.max_pool(x, values, indices, **given, spread=spread)
                np.testing.assert_array_equal(values, largest)
                np.testing.assert_array_equal(indices, places)
                pools.unpool(sums, indices, back, spread=spread)
                expected = np.zeros((*x.shape[:2], back[0, 0].size))
                for k in np.ndindex(*sums.shape):
                    expected[(*k[:2], places[k])] += sums[k]
                np.testing.assert_array_equal(back.reshape(expected.shape), expected.astype(dtype))
    assert done > 30


def test_indices_out_of_range_are_told() -> None:
    g, out = np.ones((2, 3, 4)), np.empty((2, 3, 5))
    for wrong in (-1, 5):
        indices = np.zeros(g.shape, np.int64)
        indices[1, 1, 2] = wrong
        with pytest.raises(sad.ExecutionError, match=f"out of range[^$]*{wrong}"):
            pools.unpool(g, indices, out)


def test_explain_names_the_algorithm() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (32, 16, 32, 32), name="x")
        w = sad.variable(sad.ones((16, 16, 3, 3)), name="w")
        y = sad.nn.conv2d(x, w, padding="same")
        strided = sad.nn.conv2d(x, w, stride=2)
        plain = sad.nn.conv2d(x, sad.ones((8, 16, 1, 1)))
        dx, dw = sad.gradients(sad.sum(y * y), [x, w])
        (ds,) = sad.gradients(sad.sum(strided * strided), [x])
        large = sad.placeholder("float32", (64, 16, 64, 64), name="large")
    with sad.Session(graph, "numpy", threads=1) as session:
        text = session.explain([y, plain, dx, dw, ds])
    assert "conv [32 parts of 144x1055]" in text
    assert ", product]" in text
    assert "conv_input [32 parts of 144x1055]" in text
    assert "conv_weights [32 parts of 144x1055]" in text
    assert "conv_input [4 convolutions]" in text
    with sad.Session(graph, "numpy", threads=2) as session:
        text = session.explain([y, dx, *(sad.sum(z, axis=(0, 2, 3)) for z in (x, large))])
    assert "conv [32 parts of 144x1055, up to 2 threads]" in text
    # A second thread would come too late for the smaller sum.
    assert text.count("sum [sums of 8 blocks]") == 1
    assert text.count("sum [sums of 64 blocks, up to 2 threads]") == 1
