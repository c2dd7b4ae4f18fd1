"""Convolution and pooling as users call them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.staticad.running import Array, agrees, apply, run

nn = sad.nn
RNG = np.random.default_rng(0)


# ------------------------------------------------------------------ padding by words


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
def test_same_is_one_window_an_element_over_the_stride(
    kernel: int, dilation: int, stride: int
) -> None:
    w = RNG.integers(-3, 4, (2, 1, kernel)).astype(float)
    for size in (1, 2, 5, 6, 9):
        x = RNG.integers(-3, 4, (1, 1, size)).astype(float)
        count = -(-size // stride)
        total = max((count - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
        less = total // 2
        for word, pair in (("same", (less, total - less)), ("same_lower", (total - less, less))):
            options: dict[str, Any] = {"stride": stride, "dilation": dilation}
            wide = np.pad(x, ((0, 0), (0, 0), pair))
            expected = apply(lambda x, w, o=options: nn.conv1d(x, w, padding="valid", **o), wide, w)
            assert expected.shape == (1, 2, count)
            for symbolic in (False, True):
                with sad.Graph() as graph:
                    fed = sad.placeholder("float64", (1, 1, "n" if symbolic else size))
                    y = nn.conv1d(fed, w, padding=word, **options)
                agrees(run(graph, y, {fed: x}), expected)


def test_same_windows_of_pools() -> None:
    x = np.arange(5.0)[None, None]
    agrees(
        apply(lambda x: nn.max_pool1d(x, 2, stride=1, padding="same"), x)[0, 0], [1.0, 2, 3, 4, 4]
    )
    agrees(
        apply(lambda x: nn.max_pool1d(x, 2, stride=1, padding="same_lower"), x)[0, 0],
        [0.0, 1, 2, 3, 4],
    )
    mean = apply(
        lambda x: nn.avg_pool1d(x, 2, padding="same", stride=2, count_include_pad=False), x
    )
    agrees(mean[0, 0], [0.5, 2.5, 4])


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
def test_same_of_a_transposed_convolution_multiplies_sizes(stride: int) -> None:
    for kernel in (1, 2, 3, 4):
        with sad.Graph():
            x = sad.placeholder("float32", (2, 3, "n", 7))
            y = nn.conv_transpose2d(
                x, sad.ones((3, 4, kernel, kernel)), stride=stride, padding="same"
            )
        assert y.shape == (2, 4, stride * x.shape[2], stride * 7)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_transposed_convolution_spreads_elements(rank: int, groups: int) -> None:
    stride, dilation, kernel, extra = 3, 2, 2, 2
    x = RNG.integers(-3, 4, (2, 2 * groups, *(3, 2, 2)[:rank])).astype(float)
    w = RNG.integers(-3, 4, (2 * groups, 3, *(kernel,) * rank)).astype(float)
    b = RNG.integers(-3, 4, 3 * groups).astype(float)
    sizes = tuple((n - 1) * stride + dilation * (kernel - 1) + 1 for n in x.shape[2:])
    whole = np.zeros((2, 3 * groups, *(n + extra for n in sizes)))
    for c in range(2 * groups):
        first = c // 2 * 3
        for at in np.ndindex(*x.shape[2:]):
            for k in np.ndindex(*(kernel,) * rank):
                target: Any = tuple(i * stride + j * dilation for i, j in zip(at, k, strict=True))
                for o in range(3):
                    whole[(slice(None), first + o, *target)] += (
                        x[(slice(None), c, *at)] * w[(c, o, *k)]
                    )
    cut: Any = (slice(None), slice(None), *(slice(1, n + 1) for n in sizes))
    expected = whole[cut] + b.reshape(-1, *(1,) * rank)
    f = getattr(nn, f"conv_transpose{rank}d")

    def call(x: Any, w: Any, b: Any) -> Any:
        return f(
            x,
            w,
            b,
            stride=stride,
            padding=1,
            output_padding=extra,
            dilation=dilation,
            groups=groups,
        )

    agrees(apply(call, x, w, b), expected)


# ------------------------------------------------------------------ dtypes, names


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "complex64", "float16"])
def test_convolutions_of_other_dtypes(dtype: str) -> None:
    x = RNG.integers(0, 4, (1, 2, 5)).astype(dtype)
    w = RNG.integers(0, 4, (3, 2, 2)).astype(dtype)
    if dtype == "complex64":
        w = (w * (1 + 2j)).astype(dtype)
    expected = np.stack([(x[:, :, i : i + 2] * w).sum((1, 2)) for i in range(4)], -1)
    agrees(apply(nn.conv1d, x, w), expected[None].astype(dtype))


def test_a_half_float_convolution_is_rounded_once() -> None:
    x = np.full((1, 1, 3000), 1, "float16")
    found = apply(nn.conv1d, x, np.full((1, 1, 3000), 1, "float16"))
    assert found.tolist() == [[[3000.0]]]


def test_names() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (1, 2, 6, 6), name="x")
        w, b = sad.ones((3, 2, 3, 3)), sad.ones(3)
        named = {
            "plain": nn.conv2d(x, w, name="plain"),
            "biased": nn.conv2d(x, w, b, name="biased"),
            "up": nn.conv_transpose2d(x, sad.ones((2, 3, 2, 2)), name="up"),
            "largest": nn.max_pool2d(x, 2, name="largest"),
            "mean": nn.avg_pool2d(x, 2, name="mean"),
            "norm": nn.lp_pool2d(x, 2, 2, name="norm"),
            "all": nn.global_avg_pool(x, name="all"),
            "best": nn.global_max_pool(x, name="best"),
            "quarter": nn.adaptive_avg_pool2d(x, 2, name="quarter"),
            "third": nn.adaptive_max_pool2d(x, 3, name="third"),
            "wide": nn.interpolate(x, 9, mode="bilinear", name="wide"),
            "columns": nn.unfold(x, 2, name="columns"),
            "image": nn.fold(sad.ones((1, 4, 4)), (3, 3), 2, name="image"),
            "response": nn.local_response_norm(x, 2, name="response"),
        }
    assert all(graph[name].name == y.name == name for name, y in named.items())


def test_a_layer_and_what_is_saved_of_it(tmp_path: Path) -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 4, 9), name="x")
        h = nn.conv(x, 6, 3, stride=2, padding="same", groups=2, activation=nn.relu, name="first")
        h = nn.conv(h, 2, 1, use_bias=False)
        sad.identity(h, name="y")
    assert {n: v.shape for n, v in graph.variables.items()} == {
        "first/weights": (6, 2, 3), "first/bias": (6,), "conv/weights": (2, 6, 1),
    }  # fmt: skip
    image = RNG.normal(size=(3, 4, 9)).astype("float32")
    graph.save(tmp_path / "layer.sad")
    with sad.Session(graph) as session, sad.Session(sad.load(tmp_path / "layer.sad")) as loaded:
        agrees(loaded.run("y", {"x": image}), session.run("y", {"x": image}))
        weights = session.variables["first/weights"]
        assert 0 < np.abs(weights).max() <= math.sqrt(6 / (5 * 3))
        assert session.run("y", {"x": image}).shape == (3, 2, 5)


# ------------------------------------------------------------------ pools


def test_places_of_maxima_put_them_back() -> None:
    x = RNG.permutation(2 * 3 * 4 * 6).reshape(2, 3, 4, 6).astype(float)

    def f(x: Any) -> Any:
        values, places = nn.max_pool_with_indices(x, 2)
        assert (places.dtype, places.shape) == (np.dtype("int64"), values.shape)
        return values, places, nn.max_unpool(values, places, (4, 6))

    with sad.Graph() as graph:
        fed = sad.placeholder("float64", x.shape)
        fetches = f(fed)
    values, places, back = run(graph, fetches, {fed: x})
    agrees(values, x.reshape(2, 3, 2, 2, 3, 2).max((3, 5)))
    agrees(
        np.take_along_axis(x.reshape(2, 3, 24), places.reshape(2, 3, 6), 2), values.reshape(2, 3, 6)
    )
    agrees(back, np.where(back != 0, x, 0))
    assert (back != 0).sum() == values.size


def _windows(size: int, count: int) -> list[slice]:
    return [slice(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


@pytest.mark.parametrize("counts", [(3, 2), (1, 1), (5, 7), (2, 5), (7, 9), (1, 7), (0, 3)])
def test_adaptive_pools(counts: tuple[int, int]) -> None:
    x = RNG.integers(-3, 4, (2, 2, 5, 7)).astype(float)
    means, maxima = np.zeros((2, 2, *counts)), np.zeros((2, 2, *counts))
    for i, rows in enumerate(_windows(5, counts[0])):
        for j, columns in enumerate(_windows(7, counts[1])):
            means[:, :, i, j] = x[:, :, rows, columns].mean((2, 3))
            maxima[:, :, i, j] = x[:, :, rows, columns].max((2, 3))
    agrees(apply(lambda x: nn.adaptive_avg_pool2d(x, counts), x), means, 1e-14)
    agrees(apply(lambda x: nn.adaptive_max_pool2d(x, counts), x), maxima)
    agrees(apply(lambda x: nn.adaptive_max_pool2d(x, counts), x.astype(int)), maxima.astype(int))


def test_adaptive_pools_of_other_ranks() -> None:
    x = RNG.normal(size=(1, 2, 6, 4, 3))
    split = x.reshape(1, 2, 3, 2, 2, 2, 3)
    agrees(apply(lambda x: nn.adaptive_avg_pool3d(x, (3, 2, None)), x), split.mean((3, 5)), 1e-14)
    agrees(apply(lambda x: nn.adaptive_max_pool3d(x, (3, 2, None)), x), split.max((3, 5)))
    row = np.array([[[1.0, np.nan, 3.0, 4.0]]])
    agrees(apply(lambda x: nn.adaptive_max_pool1d(x, 2), row), np.array([[[np.nan, 4]]]))
    found = apply(lambda x: nn.adaptive_avg_pool1d(x, 1), row, symbolic=True)
    agrees(found, np.array([[[np.nan]]]))


def test_the_first_of_equal_elements_gets_the_gradient() -> None:
    tied = np.array([[[[2.0, 5.0, 5.0], [5.0, 1.0, 5.0]]]])
    for f in (
        nn.global_max_pool,
        lambda x: nn.adaptive_max_pool2d(x, 1),
        lambda x: nn.max_pool2d(x, (2, 3)),
    ):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", tied.shape)
            (found,) = sad.gradients(f(x), x)
        agrees(run(graph, found, {x: tied}), (np.arange(6) == 1).reshape(tied.shape) * 1.0)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, 4, math.inf])
def test_norms_of_windows(p: float) -> None:
    x = RNG.normal(size=(2, 1, 4, 6))
    expected = np.linalg.norm(
        x.reshape(2, 1, 2, 2, 3, 2).swapaxes(3, 4).reshape(2, 1, 2, 3, 4), p, axis=-1
    )
    agrees(apply(lambda x: nn.lp_pool2d(x, p, 2), x), expected, 1e-14)
    # Windows of zeros: the slope of a norm at 0 is 0, to any order.
    x[:, :, :2, :2] = 0
    with sad.Graph() as graph:
        fed = sad.placeholder("float64", x.shape)
        (first,) = sad.gradients(nn.lp_pool2d(fed, p, 2), fed)
        (second,) = sad.gradients(sad.sum(first * first), fed, unconnected="zero")
    for array in run(graph, [first, second], {fed: x}):
        assert np.isfinite(array).all()
        # All of a window is the first one's if that is the largest of equal ones.
        assert not array[:, :, :2, :2].any() or math.isinf(p)


def test_means_with_a_divisor() -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    agrees(apply(lambda x: nn.avg_pool2d(x, 2, divisor=8), x)[0, 0], [[1.25, 2.25], [5.25, 6.25]])


def test_half_means_do_not_overflow() -> None:
    x = np.full((1, 1, 2, 2), 60000, "float16")
    assert apply(lambda x: nn.avg_pool2d(x, 2), x).tolist() == [[[[60000.0]]]]
    assert apply(nn.global_avg_pool, x).tolist() == [[[[60000.0]]]]


def network(x: Any, w: Array) -> Any:
    h = nn.max_pool2d(nn.relu(nn.conv2d(x, w, padding=1)), 2)
    return sad.sum(sad.tanh(nn.avg_pool2d(h, 2, stride=1)))


def test_a_network_gives_the_same_to_every_threads_plan_and_by_symbols() -> None:
    x = RNG.normal(size=(6, 3, 16, 16)).astype("float32")
    w = RNG.normal(size=(8, 3, 3, 3)).astype("float32")
    found = []
    for shape in (x.shape, ("n", 3, "h", "w")):
        with sad.Graph() as graph:
            fed = sad.placeholder("float32", shape)
            (dx,) = sad.gradients(network(fed, w), fed)
        for threads in (1, 2):
            with sad.Session(graph, threads=threads) as session:
                found.append(session.run(dx, {fed: x}))
    for other in found[1:]:
        agrees(other, found[0])
