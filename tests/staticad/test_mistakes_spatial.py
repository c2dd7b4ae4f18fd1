"""Mistakes in calls of convolution, pooling and resampling: each is told in four parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

nn = sad.nn
# What a type checker would refuse is a mistake all the same.
ANY: Any = "?"


def image(*shape: Any, dtype: str = "float32") -> sad.Tensor:
    return sad.placeholder(dtype, shape or (1, 4, 8, 8))


def conv(**options: Any) -> Any:
    return nn.conv2d(image(), image(2, 4, 3, 3), **options)


def layer(x: sad.Tensor | None = None, filters: Any = 4, size: Any = 3, **options: Any) -> Any:
    return nn.conv(image() if x is None else x, filters, size, **options)


Build = Callable[[], Any]

MISTAKES: dict[str, tuple[type[Exception], str, Build]] = {
    # convolution
    "no batch": (ValueError, "x[None]", lambda: nn.conv2d(image(4, 8, 8), image(2, 4, 3, 3))),
    "a kernel of rank 3": (
        ValueError,
        "2 sizes of the kernel",
        lambda: nn.conv2d(image(), image(2, 4, 3)),
    ),
    "other channels": (
        ValueError,
        "number of channels",
        lambda: nn.conv2d(image(), image(2, 3, 3, 3)),
    ),
    "groups that do not divide": (
        ValueError,
        "fall into groups",
        lambda: nn.conv2d(image(), image(3, 2, 3, 3), groups=2),
    ),
    "no groups": (ValueError, "groups is below 1", lambda: conv(groups=0)),
    "half a group": (TypeError, "not an integer", lambda: conv(groups=0.5)),
    "a large kernel": (
        ValueError,
        "larger than the padded input",
        lambda: nn.conv2d(image(1, 4, 2, 8), image(2, 4, 3, 3)),
    ),
    "a dilated kernel": (ValueError, "with dilation 4", lambda: conv(dilation=4)),
    "no element of a kernel": (
        ValueError,
        "kernel size",
        lambda: nn.conv2d(image(), image(2, 4, 0, 3)),
    ),
    "stride 0": (ValueError, "stride is below 1", lambda: conv(stride=0)),
    "three strides": (ValueError, "an int, or 2", lambda: conv(stride=(1, 1, 1))),
    "a text as stride": (TypeError, "not an integer", lambda: conv(stride="2")),
    "dilation below 1": (ValueError, "dilation is below 1", lambda: conv(dilation=-1)),
    "another word": (ValueError, "'same_lower'", lambda: conv(padding="full")),
    "three paddings": (ValueError, "2 pairs", lambda: conv(padding=(1, 1, 1))),
    "triples of padding": (
        TypeError,
        "(before, behind)",
        lambda: conv(padding=((1, 1, 1), (1, 1))),
    ),
    "padding that crops all": (ValueError, "crops more", lambda: conv(padding=-5)),
    "no padding": (TypeError, "not an integer", lambda: conv(padding=None)),
    "bools": (
        TypeError,
        "does not admit",
        lambda: nn.conv2d(image(dtype="bool"), image(2, 4, 3, 3, dtype="bool")),
    ),
    "no common dtype": (
        TypeError,
        "no common dtype",
        lambda: nn.conv2d(image(dtype="int64"), image(2, 4, 3, 3, dtype="uint64")),
    ),
    "a text as image": (TypeError, "not an operand", lambda: nn.conv2d(ANY, image(2, 4, 3, 3))),
    "a short bias": (ValueError, "shape (2,)", lambda: conv(bias=image(3))),
    "a bias of rank 4": (ValueError, "shape (2,)", lambda: conv(bias=image(1, 2, 1, 1))),
    # transposed
    "weights of a convolution": (
        ValueError,
        "(4, outputs / groups, *kernel)",
        lambda: nn.conv_transpose2d(image(), image(2, 4, 3, 3)),
    ),
    "channels that do not divide": (
        ValueError,
        "fall into groups",
        lambda: nn.conv_transpose2d(image(), image(4, 2, 3, 3), groups=3),
    ),
    "padding that cuts all": (
        ValueError,
        "cuts more off",
        lambda: nn.conv_transpose2d(image(1, 4, 1, 1), image(4, 2, 3, 3), padding=5),
    ),
    "output padding below 0": (
        ValueError,
        "output padding is below 0",
        lambda: nn.conv_transpose2d(image(), image(4, 2, 3, 3), output_padding=-1),
    ),
    # layer
    "a layer of unknown channels": (
        ValueError,
        "known channels",
        lambda: layer(image(1, None, 8, 8)),
    ),
    "a layer without filters": (ValueError, "0 filters", lambda: layer(filters=0)),
    "a layer of text": (TypeError, "not an integer", lambda: layer(filters="4")),
    "a layer of a matrix": (ValueError, "one to three spatial axes", lambda: layer(image(2, 8))),
    "a layer of integers": (TypeError, "astype", lambda: layer(image(dtype="int32"))),
    "a layer with a text": (TypeError, "sad.nn.relu", lambda: layer(activation="relu")),
    "a layer of uneven groups": (ValueError, "multiples of 3", lambda: layer(groups=3)),
    # pooling
    "maxima without batch": (ValueError, "x[None]", lambda: nn.max_pool2d(image(4, 8, 8), 2)),
    "maxima of complex": (
        TypeError,
        "does not admit",
        lambda: nn.max_pool2d(image(dtype="complex64"), 2),
    ),
    "a large window": (ValueError, "larger than", lambda: nn.max_pool2d(image(), 9)),
    "no window": (ValueError, "window size is below 1", lambda: nn.max_pool2d(image(), 0)),
    "windows of nothing": (ValueError, "larger than", lambda: nn.max_pool2d(image(1, 4, 0, 8), 2)),
    "much padding": (
        ValueError,
        "half of the window",
        lambda: nn.max_pool2d(image(), 3, padding=2),
    ),
    "cropping means": (
        ValueError,
        "half of the window",
        lambda: nn.avg_pool2d(image(), 3, padding=-1),
    ),
    "division by 0": (ValueError, "the divisor is 0", lambda: nn.avg_pool2d(image(), 2, divisor=0)),
    "division by a text": (TypeError, "no number", lambda: nn.avg_pool2d(image(), 2, divisor=ANY)),
    "no norm": (ValueError, "p is out of range", lambda: nn.lp_pool2d(image(), 0.5, 2)),
    "norms of complex": (TypeError, "abs", lambda: nn.lp_pool2d(image(dtype="complex64"), 2, 2)),
    "sizes to put back into": (
        ValueError,
        "2 sizes",
        lambda: nn.max_unpool(image(), image(dtype="int64"), 16),
    ),
    "indices of 32 bits": (
        TypeError,
        "int64",
        lambda: nn.max_unpool(image(), image(dtype="int32"), (16, 16)),
    ),
    "indices of another shape": (
        ValueError,
        "another shape",
        lambda: nn.max_unpool(image(), image(1, 4, 8, 7, dtype="int64"), (16, 16)),
    ),
    "windows over unknown sizes": (
        ValueError,
        "4 windows over h",
        lambda: nn.adaptive_avg_pool2d(image(1, 4, "h", 8), 4),
    ),
    "maxima over unknown sizes": (
        ValueError,
        "4 windows over h",
        lambda: nn.adaptive_max_pool2d(image(1, 4, "h", 8), 4),
    ),
    "windows over nothing": (
        ValueError,
        "nothing to pool",
        lambda: nn.adaptive_max_pool2d(image(1, 4, 0, 8), 4),
    ),
    "three sizes of windows": (
        ValueError,
        "one, or 2",
        lambda: nn.adaptive_avg_pool2d(image(), (1, 1, 1)),
    ),
    "fewer than no windows": (ValueError, "negative", lambda: nn.adaptive_avg_pool2d(image(), -1)),
    "the mean of a matrix": (
        ValueError,
        "no spatial axis",
        lambda: nn.global_avg_pool(image(3, 8)),
    ),
    "the maximum of nothing": (
        ValueError,
        "nothing to pool",
        lambda: nn.global_max_pool(image(1, 4, 0)),
    ),
    # resampling
    "no size": (TypeError, "neither", lambda: nn.interpolate(image())),
    "size and scale": (TypeError, "both", lambda: nn.interpolate(image(), 4, scale_factor=2)),
    "another mode": (ValueError, "'bicubic'", lambda: nn.interpolate(image(), 4, mode=ANY)),
    "bilinear signals": (
        ValueError,
        "1 spatial axes",
        lambda: nn.interpolate(image(1, 4, 8), 4, mode="bilinear"),
    ),
    "between integers": (
        TypeError,
        "is for floats",
        lambda: nn.interpolate(image(dtype="int32"), 4, mode="linear"),
    ),
    "corners of the nearest": (
        ValueError,
        "no meaning",
        lambda: nn.interpolate(image(), 4, align_corners=True),
    ),
    "three new sizes": (ValueError, "one, or 2", lambda: nn.interpolate(image(), (4, 4, 4))),
    "a size below 0": (ValueError, "negative", lambda: nn.interpolate(image(), -4)),
    "a size of 4.0": (TypeError, "not a size", lambda: nn.interpolate(image(), 4.0)),
    "a scale of 0": (ValueError, "not positive", lambda: nn.interpolate(image(), scale_factor=0)),
    "a scale of NaN": (
        ValueError,
        "not positive",
        lambda: nn.interpolate(image(), scale_factor=float("nan")),
    ),
    "an odd scale of n": (
        ValueError,
        "fraction",
        lambda: nn.interpolate(image(1, 4, "h", 8), scale_factor=3.14159),
    ),
    "nothing larger": (ValueError, "nothing to", lambda: nn.interpolate(image(1, 4, 0, 8), 4)),
    "three channels shuffled": (
        ValueError,
        "a multiple of 4",
        lambda: nn.pixel_shuffle(image(1, 3, 2, 2), 2),
    ),
    "a factor of 0": (ValueError, "factor is below 1", lambda: nn.pixel_shuffle(image(), 0)),
    "odd sizes unshuffled": (
        ValueError,
        "a multiple of 2",
        lambda: nn.pixel_unshuffle(image(1, 4, 7, 8), 2),
    ),
    # grids
    "a grid of triples": (
        ValueError,
        "*counts, 2)",
        lambda: nn.grid_sample(image(), image(1, 3, 3, 3)),
    ),
    "grids of another batch": (
        ValueError,
        "(1, *counts",
        lambda: nn.grid_sample(image(), image(2, 3, 3, 2)),
    ),
    "another mode of grids": (
        ValueError,
        "not a mode",
        lambda: nn.grid_sample(image(), image(1, 3, 3, 2), mode=ANY),
    ),
    "another padding of grids": (
        ValueError,
        "'reflection'",
        lambda: nn.grid_sample(image(), image(1, 3, 3, 2), padding_mode=ANY),
    ),
    "a grid of integers": (
        TypeError,
        "not floating",
        lambda: nn.grid_sample(image(dtype="int32"), image(1, 3, 3, 2, dtype="int32")),
    ),
    "a grid over nothing": (
        ValueError,
        "nothing to look at",
        lambda: nn.grid_sample(image(1, 4, 0, 8), image(1, 3, 3, 2)),
    ),
    "a square map": (
        ValueError,
        "affine map",
        lambda: nn.affine_grid(image(1, 2, 2), (1, 1, 4, 4)),
    ),
    "a map of a size": (ValueError, "affine map", lambda: nn.affine_grid(image(1, 2, 3), 4)),
    # patches
    "large patches": (ValueError, "larger than", lambda: nn.unfold(image(), 9)),
    "cropped patches": (
        ValueError,
        "padding is below 0",
        lambda: nn.unfold(image(), 2, padding=-1),
    ),
    "other columns": (
        ValueError,
        "a multiple of 9, 4)",
        lambda: nn.fold(image(1, 12, 9), (4, 4), 3),
    ),
    "one window over nothing": (
        ValueError,
        "nothing to pool",
        lambda: nn.adaptive_max_pool2d(image(1, 2, 3, 0), 1),
    ),
    "columns of no image": (
        ValueError,
        "at least one",
        lambda: nn.fold(image(1, 12, 9), (), 3),
    ),
    "columns of rank 2": (ValueError, "(batch,", lambda: nn.fold(image(12, 9), (4, 4), 3)),
    "a vector of channels": (ValueError, "no channel", lambda: nn.local_response_norm(image(4), 2)),
    "no neighbours": (ValueError, "size is below 1", lambda: nn.local_response_norm(image(), 0)),
    "complex neighbours": (
        TypeError,
        "not real",
        lambda: nn.local_response_norm(image(dtype="complex64"), 2),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_while_building(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    with sad.Graph(seed=0), pytest.raises(kind) as caught:
        mistake()
    assert text in str(caught.value)
    check_parts(caught.value, mistake, conv, layer)


def test_sizes_that_do_not_fit_when_they_are_known() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (None, "channels", "height", "width"), name="x")
        w = sad.placeholder("float32", (4, 3, 3, 3), name="w")
        found = nn.conv2d(x, w)
        largest = nn.max_pool2d(x, 3, stride=1, padding=1)
    kernel = np.zeros((4, 3, 3, 3), "float32")
    with sad.Session(graph) as session:
        for shape, text in (((2, 2, 8, 8), "channels"), ((2, 3, 2, 8), "larger than")):
            with pytest.raises(sad.StaticadError, match=text) as caught:
                session.run(found, {x: np.zeros(shape, "float32"), w: kernel})
            assert "test_mistakes_spatial.py" in str(caught.value)
        with pytest.raises(sad.StaticadError, match="larger than"):
            session.run(largest, {x: np.zeros((2, 2, 0, 8), "float32")})
        assert session.run(found, {x: np.zeros((0, 3, 8, 8), "float32"), w: kernel}).shape == (
            0,
            4,
            6,
            6,
        )
