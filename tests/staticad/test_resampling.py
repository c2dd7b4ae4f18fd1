"""Resampling, grids and patches against their definitions, element by element."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.staticad.running import Array, agrees, apply, run

nn = sad.nn
RNG = np.random.default_rng(0)
Weights = list[tuple[int, float]]


# ------------------------------------------------------------------ interpolation


def cubic(distance: float) -> float:
    """Keys's kernel with a = -0.75."""
    a, d = -0.75, abs(distance)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def sources(mode: str, i: int, size: int, count: int, scale: float | None, align: bool) -> Weights:
    """The elements that make the new element i, and their weights."""
    step = 1 / scale if scale else size / count
    last = size - 1
    if mode == "nearest":
        return [(min(i * size // count if scale is None else math.floor(i * step), last), 1.0)]
    if mode == "nearest-exact":
        exact = (2 * i + 1) * size // (2 * count)
        return [(min(exact if scale is None else math.floor((i + 0.5) * step), last), 1.0)]
    if mode == "area":
        start, end = i * size // count, -(-(i + 1) * size // count)
        return [(k, 1 / (end - start)) for k in range(start, end)]
    at = i * (last / (count - 1) if count > 1 else 0.0) if align else (i + 0.5) * step - 0.5
    if mode == "linear":
        at = max(at, 0.0)
        low = math.floor(at)
        return [(min(low, last), 1 - (at - low)), (min(low + 1, last), at - low)]
    low = math.floor(at)
    return [(min(max(low + k, 0), last), cubic(at - low - k)) for k in range(-1, 3)]


def interpolated(
    x: Array, mode: str, counts: tuple[int, ...], scales: Any = None, align: bool = False
) -> Array:
    for axis, count in enumerate(counts, 2):
        scale = None if scales is None else scales[axis - 2]
        rows = [
            sum(
                (
                    np.take(x, k, axis) * w
                    for k, w in sources(mode, i, x.shape[axis], count, scale, align)
                ),
                np.zeros(()),
            )
            for i in range(count)
        ]
        x = np.stack(rows, axis)
    return x


MODES = ("nearest", "nearest-exact", "linear", "cubic", "area")
SIZES = (((5,), (8,)), ((5,), (2,)), ((4, 3), (8, 9)), ((3, 4), (5, 1)), ((2, 3, 2), (3, 2, 4)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("sizes", "counts"), SIZES)
def test_interpolation_to_a_size(mode: Any, sizes: Any, counts: Any) -> None:
    x = RNG.normal(size=(2, 2, *sizes))
    for align in (False, True) if mode in ("linear", "cubic") else (False,):
        expected = interpolated(x, mode, counts, None, align)
        found = apply(lambda x, a=align: nn.interpolate(x, counts, mode=mode, align_corners=a), x)
        agrees(found, expected, 1e-12)


@pytest.mark.parametrize("mode", MODES[:4])
@pytest.mark.parametrize("scale", [2.0, 1.5, 0.6, 3])
def test_interpolation_by_a_factor(mode: Any, scale: float) -> None:
    x = RNG.normal(size=(1, 2, 5, 4))
    counts = (int(5 * scale), int(4 * scale))
    expected = interpolated(x, mode, counts, (scale, scale))
    agrees(apply(lambda x: nn.interpolate(x, scale_factor=scale, mode=mode), x), expected, 1e-12)
    found = apply(
        lambda x: nn.interpolate(x, scale_factor=scale, mode=mode), x, symbolic=scale != 0.6
    )
    agrees(found, expected, 1e-12)


def test_interpolation_of_symbolic_sizes() -> None:
    ways: tuple[tuple[Any, bool], ...] = (
        ("linear", False), ("linear", True), ("nearest-exact", False)
    )  # fmt: skip
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (1, 1, "n", "m"), name="x")
        ys = [nn.interpolate(x, ("k", 5), mode=mode, align_corners=align) for mode, align in ways]
        like = sad.placeholder("float64", ("k",), name="like")
        checked = [y + like[:, None] * 0 for y in ys]
    for shape, count in (((3, 4), 7), ((6, 5), 1), ((1, 1), 2)):
        image = RNG.normal(size=(1, 1, *shape))
        found = run(graph, checked, {x: image, like: np.zeros(count)})
        for array, (mode, align) in zip(found, ways, strict=True):
            agrees(array, interpolated(image, mode, (count, 5), None, align), 1e-12)


def test_nearest_elements_of_any_dtype_are_exact() -> None:
    # At these sizes ratios in float32 name the element beside the right one.
    x = np.arange(49)[None, None]
    for count in (98, 49 * 3, 7, 40):
        found = apply(lambda x, n=count: nn.interpolate(x, n), x)
        agrees(found[0, 0], np.arange(count) * 49 // count)
    assert apply(lambda x: nn.interpolate(x, 4), np.array([[[True, False]]])).tolist() == [
        [[True, True, False, False]]
    ]


def test_elements_of_weight_zero_do_not_matter() -> None:
    x = np.array([[[1.0, np.inf, 2.0]]])
    for mode in ("linear", "cubic"):
        kept = apply(lambda x, m=mode: nn.interpolate(x, 3, mode=m), x)
        agrees(kept, x)


HALF: tuple[Callable[[Any], sad.Tensor], ...] = (
    lambda x: nn.interpolate(x, 7, mode="cubic"),
    lambda x: nn.local_response_norm(x, 3, alpha=0.5),
    lambda x: nn.avg_pool1d(x, 3, stride=1, padding=1),
    lambda x: nn.lp_pool1d(x, 3, 2),
    lambda x: nn.adaptive_avg_pool1d(x, 3),
)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_are_rounded_once(dtype: str) -> None:
    x = RNG.normal(size=(1, 2, 5)).astype(np.float32)
    with sad.Graph() as graph:
        half = sad.cast(sad.placeholder("float32", x.shape, name="x"), dtype)
        wide = sad.cast(half, "float32")
        pairs = []
        for f in HALF:
            assert f(half).dtype == half.dtype
            pairs.append(
                (sad.cast(f(half), "float32"), sad.cast(sad.cast(f(wide), dtype), "float32"))
            )
    for found, expected in run(graph, pairs, {"x": x}):
        agrees(found, expected)


# ------------------------------------------------------------------ pixels and channels


def test_pixels_and_channels() -> None:
    x = RNG.normal(size=(2, 12, 3, 2))
    found = apply(lambda x: nn.pixel_shuffle(x, 2), x, symbolic=False)
    expected = np.zeros((2, 3, 6, 4))
    for c, i, j, r, s in itertools.product(range(3), range(3), range(2), range(2), range(2)):
        expected[:, c, 2 * i + r, 2 * j + s] = x[:, 4 * c + 2 * r + s, i, j]
    agrees(found, expected)
    agrees(apply(lambda x: nn.pixel_unshuffle(nn.pixel_shuffle(x, 2), 2), x), x)
    agrees(
        apply(lambda x: nn.pixel_shuffle(x, 3), np.ones((1, 54, 1, 2, 1))), np.ones((1, 2, 3, 6, 3))
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_responses_of_neighbouring_channels(size: int) -> None:
    x = RNG.normal(size=(2, 5, 3))
    expected = np.zeros_like(x)
    for c in range(5):
        near = slice(max(c - size // 2, 0), c + (size - 1) // 2 + 1)
        mean = (x[:, near] ** 2).sum(1) / size
        expected[:, c] = x[:, c] / (2 + 0.5 * mean) ** 0.75
    for symbolic in (False, True):
        found = apply(
            lambda x: nn.local_response_norm(x, size, alpha=0.5, k=2.0), x, symbolic=symbolic
        )
        agrees(found, expected, 1e-14)


# ------------------------------------------------------------------ patches


@pytest.mark.parametrize("symbolic", [False, True])
def test_patches_are_columns_and_columns_sum_up(symbolic: bool) -> None:
    options: dict[str, Any] = {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)}
    x = RNG.integers(-3, 4, (2, 2, 4, 5)).astype(float)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    expected = np.zeros((2, 2, 2, 2, 3, 3))
    for k, m, i, j in np.ndindex(2, 2, 3, 3):
        expected[:, :, k, m, i, j] = padded[:, :, 2 * i + k, j + 2 * m]
    columns = expected.reshape(2, 8, 9)

    def unfold(x: Any) -> Any:
        return nn.unfold(x, 2, **options)

    agrees(apply(unfold, x, symbolic=symbolic), columns)
    y = RNG.integers(-3, 4, columns.shape).astype(float)
    found = apply(lambda y: nn.fold(y, (4, 5), 2, **options), y, symbolic=symbolic)
    assert found.shape == x.shape
    assert np.vdot(columns, y) == np.vdot(x, found)
    # Infinite elements stay where they are.
    x[0, 0, 2, 2] = np.inf
    found = apply(unfold, x).reshape(expected.shape)
    assert np.isinf(found).sum() == 2
    assert np.isinf(found[0, 0, 1, :, 1]).sum() == 2


def test_patches_of_three_axes() -> None:
    x = RNG.integers(-3, 4, (1, 2, 3, 4, 3)).astype(float)
    columns = apply(lambda x: nn.unfold(x, (2, 3, 1)), x)
    assert columns.shape == (1, 12, 2 * 2 * 3)
    y = RNG.integers(-3, 4, columns.shape).astype(float)
    back = apply(lambda y: nn.fold(y, (3, 4, 3), (2, 3, 1)), y)
    assert np.vdot(columns, y) == np.vdot(x, back)


# ------------------------------------------------------------------ grids


def sampled(x: Array, grid: Array, mode: str, outside: str, align: bool) -> Array:
    """grid_sample by its definition."""
    batch, channels, *sizes = x.shape
    counts = grid.shape[1:-1]
    out = np.zeros((batch, channels, *counts))
    for n, *at in np.ndindex(batch, *counts):
        along = []
        for a, size in enumerate(sizes):
            g = grid[(n, *at, len(sizes) - 1 - a)]
            along.append(
                neighbours(
                    (g + 1) / 2 * (size - 1) if align else ((g + 1) * size - 1) / 2,
                    size,
                    mode,
                    outside,
                    align,
                )
            )
        for choice in itertools.product(*along):
            where = [k for k, _ in choice]
            if all(0 <= k < size for k, size in zip(where, sizes, strict=True)):
                weight = math.prod(w for _, w in choice)
                for c in range(channels):
                    out[(n, c, *at)] += weight * x[(n, c, *where)]
    return out


def neighbours(at: float, size: int, mode: str, outside: str, align: bool) -> Weights:
    if mode == "bicubic":
        low = math.floor(at)
        return [
            (int(held(low + k, size, outside, align)), cubic(at - low - k)) for k in range(-1, 3)
        ]
    at = held(at, size, outside, align)
    if mode == "nearest":
        return [(round(at), 1.0)]
    low = math.floor(at)
    return [(low, 1 - (at - low)), (low + 1, at - low)]


def held(at: float, size: int, outside: str, align: bool) -> float:
    if outside == "reflection":
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if span == 0:
            return 0.0
        turns, rest = divmod(abs(at - low), span)
        at = rest + low if turns % 2 == 0 else span - rest + low
    return at if outside == "zeros" else min(max(at, 0.0), size - 1.0)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("outside", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grids(mode: Any, outside: Any, align: bool) -> None:
    for sizes in ((5,), (4, 3), (3, 1), (2, 3, 2)):
        x = RNG.normal(size=(2, 2, *sizes))
        grid = RNG.uniform(-2.3, 2.3, size=(2, *(3,) * len(sizes), len(sizes)))
        expected = sampled(x, grid, mode, outside, align)
        for symbolic in (False, True):
            with sad.Graph() as graph:
                shapes = [(2, 2, *(None,) * len(sizes)) if symbolic else x.shape, grid.shape]
                fed = [sad.placeholder("float64", shape) for shape in shapes]
                y = nn.grid_sample(fed[0], fed[1], mode, outside, align)
            agrees(run(graph, y, dict(zip(fed, (x, grid), strict=True))), expected, 1e-12)


@pytest.mark.parametrize("align", [False, True])
def test_the_grid_of_the_identity_leaves_an_image_as_it_is(align: bool) -> None:
    for sizes in ((5,), (3, 4), (2, 3, 4), (1, 3)):
        rank = len(sizes)
        x = RNG.normal(size=(2, 1, *sizes))
        theta = np.broadcast_to(np.eye(rank, rank + 1), (2, rank, rank + 1))

        def f(x: Any, theta: Any, sizes: Any = sizes) -> Any:
            grid = nn.affine_grid(theta, (2, 1, *sizes), align_corners=align)
            return nn.grid_sample(x, grid, align_corners=align)

        agrees(apply(f, x, theta), x, 1e-12)


def test_a_grid_of_symbolic_sizes() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (1, 1, "h", "w"))
        grids = [
            nn.affine_grid(np.eye(2, 3)[None], x.shape, align_corners=align)
            for align in (False, True)
        ]
    for shape in ((3, 4), (1, 2)):
        found = run(graph, grids, {x: np.zeros((1, 1, *shape))})
        for grid, align in zip(found, (False, True), strict=True):
            for axis, n in enumerate(shape):
                at = np.arange(n)
                wanted = (2 * at + 1) / n - 1 if not align else at * 2 / max(n - 1, 1) - (n > 1)
                line = grid[0, :, 0, 1] if axis == 0 else grid[0, 0, :, 0]
                np.testing.assert_allclose(line, wanted, atol=1e-15)


def test_a_coordinate_that_is_nan_reads_nothing_and_gives_nan() -> None:
    f: Callable[..., Any] = nn.grid_sample
    grid = np.array([[[np.nan], [0.0], [np.inf]]])
    found = apply(f, np.ones((1, 1, 4)), grid)
    np.testing.assert_array_equal(np.isnan(found[0, 0, :2]), [True, False])
