"""Family F: convolution and pooling; D9, a gather between transposes; I10, pads before pools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.tolerance import units

from .running import Array, Function, build, grad, grads, value

nn = sad.nn
FLOATS = ("float32", "float64", "float16")


def _check(f: Function, *arrays: Array) -> None:
    """The first and second derivatives of f against differences."""
    _, xs, y = build(f, arrays, "float64")
    sad.testing.check_gradients(y, xs, dict(zip(xs, arrays, strict=True)), order=2)


def _image(values: Any, dtype: str = "float64") -> Array:
    """One image of one channel."""
    return np.asarray(values, dtype)[None, None]


# ------------------------------------------------------------------ convolution


@pytest.mark.parametrize("dtype", FLOATS)
def test_F1_size_of_a_dilated_and_strided_transposed_convolution(dtype: str) -> None:
    def f(x: Any, w: Any) -> Any:
        return nn.conv_transpose2d(x, w, stride=(2, 1), dilation=(3, 1), padding=((4, 4), (2, 2)))

    x, w = np.ones((2, 1, 50, 50), dtype), np.ones((1, 1, 3, 5), dtype)
    y = value(f, x, w)
    assert (y.shape, y.dtype) == ((2, 1, 97, 50), np.dtype(dtype))
    assert build(f, (x, w), dtype)[2].shape == (2, 1, 97, 50)
    # Far from the edges every second row is met by three of the kernel's, the others by none.
    assert y[0, 0, 40:44, 25].tolist() in (
        [15, 0, 15, 0],
        [0, 15, 0, 15],
        [10, 5, 10, 5],
        [5, 10, 5, 10],
    )


def test_F1_the_transposed_convolution_is_the_transpose() -> None:
    rng = np.random.default_rng(0)
    options: dict[str, Any] = {"stride": (2, 1), "dilation": (3, 1), "padding": ((4, 4), (2, 2))}
    x, w, z = rng.normal(size=(1, 2, 8, 9)), rng.normal(size=(2, 3, 3, 5)), None
    y = value(lambda x, w: nn.conv_transpose2d(x, w, **options), x, w)
    z = rng.normal(size=y.shape)
    back = value(lambda z, w: nn.conv2d(z, w, **options), z, w)
    np.testing.assert_allclose(np.vdot(y, z), np.vdot(x, back))


@pytest.mark.parametrize("dtype", FLOATS)
def test_F3_a_stride_that_leaves_a_remainder(dtype: str) -> None:
    w = _image([1.0, 1.0], dtype)

    def f(x: Any) -> Any:
        return nn.conv1d(x, w, stride=2)

    found = grad(f, _image(np.arange(5.0), dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, _image([1, 1, 1, 1, 0]))
    image = np.ones((2, 1, 5, 6), dtype)
    found = grad(lambda x: nn.conv2d(x, np.ones((1, 1, 2, 4), dtype), stride=(3, 4)), image)
    np.testing.assert_array_equal(found[1, 0, :, 0], [1, 1, 0, 1, 1])
    np.testing.assert_array_equal(found[1, 0, 0], [1, 1, 1, 1, 0, 0])


def test_F3_second_order_with_a_remainder() -> None:
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(2, 2, 5)), rng.normal(size=(3, 2, 2))
    _check(lambda x, w: sad.tanh(nn.conv1d(x, w, stride=2)), x, w)


def test_F5_dilation_reaches_over_k_minus_one_steps_of_each_axis() -> None:
    x = np.arange(40.0).reshape(1, 1, 5, 8)
    assert (
        value(lambda x: nn.conv2d(x, np.ones((1, 1, 1, 1)), dilation=4), x).tolist() == x.tolist()
    )
    y = value(lambda x: nn.conv2d(x, np.ones((1, 1, 3, 5)), dilation=(1, 4), padding=(0, 8)), x)
    assert y.shape == (1, 1, 3, 8)
    # Of the columns 4 apart only those within the image count.
    assert y[0, 0, 0, 0] == sum(x[0, 0, r, c] for r in range(3) for c in (0, 4))
    assert value(lambda x: nn.conv2d(x, np.ones((1, 1, 3, 2)), dilation=(2, 7)), x).shape == (
        1,
        1,
        1,
        1,
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_F18_many_groups(dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(-2, 3, (2, 64, 5, 5)).astype(dtype)
    w = rng.integers(-2, 3, (96, 2, 3, 3)).astype(dtype)

    def together(x: Any, w: Any) -> Any:
        return nn.conv2d(x, w, padding=1, groups=32)

    def one_by_one(x: Any, w: Any) -> Any:
        return sad.concat(
            [
                nn.conv2d(x[:, 2 * g : 2 * g + 2], w[3 * g : 3 * g + 3], padding=1)
                for g in range(32)
            ],
            axis=1,
        )

    np.testing.assert_array_equal(value(together, x, w), value(one_by_one, x, w))
    weights = rng.integers(-2, 3, (2, 96, 5, 5)).astype(dtype)
    for a, b in zip(
        grads(lambda x, w: together(x, w) * weights, x, w),
        grads(lambda x, w: one_by_one(x, w) * weights, x, w),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_F18_second_order_of_groups() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(1, 4, 4)), rng.normal(size=(4, 1, 2))
    _check(lambda x, w: sad.tanh(nn.conv1d(x, w, groups=4, padding=1)), x, w)


def test_D9_take_between_transposes_and_a_convolution() -> None:
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 5, 6)), rng.normal(size=(3, 5, 2))
    rows = np.array([4, 0, 2])
    weights = rng.normal(size=(2, 3, 3))

    def taken(x: Any, w: Any) -> Any:
        y = sad.permute_dims(nn.conv1d(sad.permute_dims(x, (0, 2, 1)), w), (0, 2, 1))
        return sad.take(y, rows, axis=1) * weights

    def sliced(x: Any, w: Any) -> Any:
        y = sad.permute_dims(nn.conv1d(sad.permute_dims(x, (0, 2, 1)), w), (0, 2, 1))
        return sad.concat([y[:, r : r + 1] for r in rows], axis=1) * weights

    x = np.ascontiguousarray(x.transpose(0, 2, 1))
    np.testing.assert_array_equal(value(taken, x, w), value(sliced, x, w))
    for a, b in zip(grads(taken, x, w), grads(sliced, x, w), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


# ------------------------------------------------------------------ pooling


@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_F6_what_hangs_over_does_not_count(dtype: str, count_include_pad: bool) -> None:
    x = _image(np.arange(49.0).reshape(7, 7), dtype)

    def f(x: Any) -> Any:
        return nn.avg_pool2d(x, 2, stride=3, ceil_mode=True, count_include_pad=count_include_pad)

    expected = [[4, 7, 9.5], [25, 28, 30.5], [42.5, 45.5, 48]]
    np.testing.assert_array_equal(value(f, x)[0, 0], expected)
    # The corner is a window by itself, the edges are windows of two.
    found = grad(f, x)[0, 0]
    assert (found[6, 6], found[0, 6], found[0, 0], found[2, 2]) == (1, 0.5, 0.25, 0)


def test_F6_padding_that_counts_and_what_hangs_over_it() -> None:
    x = np.ones((1, 1, 4))

    def f(x: Any, **options: Any) -> Any:
        return nn.avg_pool1d(x, 3, stride=2, padding=1, ceil_mode=True, **options)

    # The last window covers one element, one of padding, and one of nothing.
    np.testing.assert_allclose(value(f, x)[0, 0], [2 / 3, 1, 1 / 2])
    np.testing.assert_array_equal(
        value(lambda x: f(x, count_include_pad=False), x), np.ones((1, 1, 3))
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_F10_overlapping_windows_add_up(dtype: str) -> None:
    row = _image([5.0, 3.0, 1.0, 2.0, 5.0], dtype)
    np.testing.assert_array_equal(
        grad(lambda x: nn.max_pool1d(x, 2, stride=1), row)[0, 0], [1, 1, 0, 1, 1]
    )
    grid = np.arange(1.0, 25.0).reshape(4, 6)
    grid[1, 1] = 88
    found = grad(lambda x: nn.max_pool2d(x, 3, stride=2, padding=1), _image(grid, dtype))[0, 0]
    assert (found[1, 1], found[1, 5], found[3, 5]) == (4, 1, 1)
    assert found.sum() == 6


def test_F10_second_order_of_overlapping_windows() -> None:
    row = np.array([5.0, 3.0, 1.0, 2.0, 5.0])[None, None]
    _check(lambda x: nn.max_pool1d(x, 2, stride=1) ** 3, row)


@pytest.mark.parametrize("padding", [2, (0, 3), ((0, 0), (0, 2)), -1])
def test_F11_windows_of_only_padding_are_refused(padding: Any) -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("batch", 1, "height", "width"))
        with pytest.raises(sad.StaticadError, match="half of the window"):
            nn.max_pool2d(x, 2, padding=padding)
        with pytest.raises(sad.StaticadError, match="half of the window"):
            nn.avg_pool2d(x, 2, padding=padding)


def test_F11_holes_of_a_dilated_window_in_the_padding_are_refused() -> None:
    # Windows of 2 elements 3 apart: -2 and 1, 0 and 3 ... of one element.
    with sad.Graph(), pytest.raises(sad.StaticadError, match="padding"):
        nn.max_pool1d(sad.zeros((1, 1, 1)), 2, stride=1, padding=2, dilation=3)


@pytest.mark.parametrize("fill", [-np.inf, np.nan])
def test_F11_windows_of_infinities_and_nan(fill: float) -> None:
    x = np.full((2, 3, 4, 4), fill)

    def f(x: Any) -> Any:
        return nn.max_pool2d(x, 3, stride=2, padding=1)

    np.testing.assert_array_equal(value(f, x), np.full((2, 3, 2, 2), fill))
    found = grad(f, x)
    # The first element of each window that is not padding.
    expected = np.zeros((4, 4))
    expected[np.ix_((0, 1), (0, 1))] = 1
    np.testing.assert_array_equal(found[1, 2], expected)


def test_F11_an_index_out_of_range_writes_nowhere() -> None:
    for index in (-1, 4):
        with pytest.raises(sad.StaticadError, match="out of range"):
            value(
                lambda x, places: nn.max_unpool(x, places, 4),
                np.ones((1, 1, 1)),
                np.full((1, 1, 1), index),
            )


@pytest.mark.parametrize("dtype", FLOATS)
def test_I10_a_pad_before_a_pool_counts(dtype: str) -> None:
    x = _image([1.0, 2.0, 3.0], dtype)

    def padded(x: Any) -> Any:
        return nn.avg_pool1d(
            sad.pad(x, ((0, 0), (0, 0), (1, 1))), 3, stride=1, count_include_pad=False
        )

    expected = np.array([1, 2, 5 / 3], dtype)
    np.testing.assert_array_equal(value(padded, x)[0, 0], expected)

    def excluded(x: Any) -> Any:
        return nn.avg_pool1d(x, 3, stride=1, padding=1, count_include_pad=False)

    np.testing.assert_array_equal(value(excluded, x)[0, 0], np.array([1.5, 2, 2.5], dtype))
    np.testing.assert_allclose(grad(padded, x)[0, 0], [2 / 3, 1, 2 / 3], rtol=units(dtype))


# ------------------------------------------------------------------ grids


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_F16_the_slope_at_the_border(mode: Any) -> None:
    ramp = np.broadcast_to(np.arange(5.0), (1, 1, 5, 5)).copy()
    grid = np.zeros((1, 3, 1, 2))
    grid[0, :, 0, 0] = (1.0, 1.5, 0.25)

    def f(grid: Any) -> Any:
        return nn.grid_sample(ramp, grid, mode=mode, padding_mode="border", align_corners=True)

    np.testing.assert_allclose(value(f, grid)[0, 0, :, 0], [4, 4, 2.5])
    border, outside, inside = grad(f, grid)[0, :, 0, 0]
    # A unit of the grid is two columns.
    assert inside == (2 if mode == "bilinear" else 1.5)
    assert 0 <= border <= 2
    assert outside == 0


def test_F16_gradients_of_the_image_at_the_border_to_second_order() -> None:
    rng = np.random.default_rng(4)
    image, grid = rng.normal(size=(1, 2, 3, 4)), rng.uniform(-1.6, 1.6, size=(1, 3, 2, 2))
    for padding_mode in ("zeros", "border", "reflection"):
        _check(lambda x, grid, p=padding_mode: nn.grid_sample(x, grid, padding_mode=p), image, grid)
