"""The kernels of the roofline table: small graphs of one op, or of a few that make one kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import staticad as sad
from benchmarks.definitions import Array

Function = Callable[..., Any]


class Case(NamedTuple):
    """fetches, and the arrays that are fed."""

    name: str
    fetches: Sequence[sad.Tensor]
    feeds: dict[sad.Tensor, Array]


class Sizes(NamedTuple):
    """elements: of elementwise ops and whole sums.  rows: of a matrix with so many columns.
    products: of square matrices.  images: in a batch.  stages: channels and edges of images."""

    elements: int
    rows: tuple[int, int]
    products: tuple[int, ...]
    images: int
    stages: tuple[tuple[int, int], ...]


SIZES = {
    "tiny": Sizes(1 << 12, (32, 64), (16,), 2, ((4, 8),)),
    # The last are those of a ResNet-20 on images of 32 by 32.
    "processor": Sizes(1 << 22, (4096, 512), (256, 512, 1024), 32, ((16, 32), (32, 16), (64, 8))),
    # The last are those of a ResNet-50 on images of 224 by 224.
    "gpu": Sizes(1 << 25, (16384, 1024), (1024, 4096), 64, ((64, 56), (128, 28), (512, 7))),
}


def cases(size: str) -> Iterator[Case]:
    """The cases of a size, each made when it is asked for."""
    s = SIZES[size]
    rng = np.random.default_rng(0)

    def case(name: str, function: Function, *arrays: Array) -> Case:
        with sad.Graph(seed=0):
            feeds = {
                sad.placeholder(a.dtype, a.shape, name=f"x{k}"): a for k, a in enumerate(arrays)
            }
            found = function(*feeds)
        fetches = list(found) if isinstance(found, tuple | list) else [found]
        shapes = " ".join("x".join(map(str, a.shape)) for a in arrays[:2])
        return Case(f"{name} {shapes}", fetches, feeds)

    def normal(*shape: int) -> Array:
        return rng.standard_normal(shape, np.float32)

    yield from _elementwise(case, normal, s)
    yield from _rows(case, normal, rng, s)
    yield from _products(case, normal, s)
    yield from _images(case, normal, s)


def _elementwise(case: Any, normal: Any, s: Sizes) -> Iterator[Case]:
    x, y = normal(s.elements), normal(s.elements)
    yield case("add", lambda x, y: x + y, x, y)
    yield case("gelu", lambda x: sad.nn.gelu(x), x)
    yield case("tanh(x) * exp(-x * x)", lambda x: sad.tanh(x) * sad.exp(-x * x), x)
    yield case("sum", lambda x: sad.sum(x), x)
    edge = math.isqrt(s.elements)
    square = normal(edge, edge)
    yield case("x + x.T", lambda x: x + sad.permute_dims(x, (1, 0)), square)


def _rows(case: Any, normal: Any, rng: Any, s: Sizes) -> Iterator[Case]:
    rows, columns = s.rows
    x, gain, bias = normal(rows, columns), normal(columns), normal(columns)
    yield case("sum of rows", lambda x: sad.sum(x, axis=1), x)
    yield case("sum of columns", lambda x: sad.sum(x, axis=0), x)
    yield case("softmax", lambda x: sad.nn.softmax(x), x)
    yield case("layer_norm", lambda x, g, b: sad.nn.layer_norm(x, g, b), x, gain, bias)
    yield case("cumulative_sum", lambda x: sad.cumulative_sum(x, axis=1), x)
    yield case("sort", lambda x: sad.sort(x, axis=1), x)
    yield case("top_k", lambda x: sad.top_k(x, 8), x)
    places = rng.integers(0, rows, rows)
    yield case("take of rows", lambda x, i: sad.take(x, i, axis=0), x, places)

    def scattered(x: Any, i: Any, updates: Any) -> Any:
        return sad.scatter_nd(x, i, updates, reduction="add")

    yield case("scatter of rows", scattered, x, places[:, None], normal(rows, columns))


def _products(case: Any, normal: Any, s: Sizes) -> Iterator[Case]:
    for n in s.products:
        yield case("matmul", lambda x, y: x @ y, normal(n, n), normal(n, n))
    n = s.products[-1]
    yield case("x @ y.T", lambda x, y: x @ sad.permute_dims(y, (1, 0)), normal(n, n), normal(n, n))
    yield case("matmul", lambda x, y: x @ y, normal(1, n), normal(n, n))
    batch, steps, width = 8 * s.images, min(n, 128), min(n, 64)
    yield case(
        "matmul", lambda x, y: x @ y, normal(batch, steps, width), normal(batch, width, steps)
    )

    def dense(x: Any, w: Any, b: Any) -> Any:
        return sad.nn.relu(x @ w + b)

    yield case("relu(x @ w + b)", dense, normal(n, n), normal(n, n), normal(n))


def _images(case: Any, normal: Any, s: Sizes) -> Iterator[Case]:
    def slope(k: int) -> Function:
        def gradient(x: Any, w: Any, g: Any) -> Any:
            return sad.gradients(sad.nn.conv2d(x, w, padding=1), [(x, w)[k]], g)

        return gradient

    for channels, edge in s.stages:
        x, g = normal(s.images, channels, edge, edge), normal(s.images, channels, edge, edge)
        w = normal(channels, channels, 3, 3)
        yield case("conv2d", lambda x, w: sad.nn.conv2d(x, w, padding=1), x, w)
        yield case("conv2d, slope of images", slope(0), x, w, g)
        yield case("conv2d, slope of weights", slope(1), x, w, g)
    channels, edge = s.stages[0]
    x = normal(s.images, channels, edge, edge)
    yield case("max_pool2d", lambda x: sad.nn.max_pool2d(x, 2), x)

    def pooled(x: Any) -> Any:
        return sad.gradients(sad.nn.max_pool2d(x, 2), [x])

    yield case("max_pool2d, slope", pooled, x)
