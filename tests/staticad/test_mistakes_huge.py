"""Numbers that no array has: sizes, strides, widths and counts from 2**40 on.

What would be larger than any memory is an error with the user's line, when it is built or when
it is run, and never takes long; a step beyond an axis is as good as any other beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

s, nn = sad, sad.nn

HUGE = [2**40, 2**60, 2**62, 2**63 - 1, 2**63, 2**64, 2**70, 10**5000]
IMAGE = np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)
Call = Callable[[Any, Any], Any]


def kernel(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def places(x: Any) -> Any:
    return s.reshape(s.argmax(x, axis=-1), (-1,))


TOO_LARGE: dict[str, Call] = {
    "zeros": lambda x, n: s.zeros(n),
    "zeros of two axes": lambda x, n: s.zeros((n, n)),
    "sum of ones": lambda x, n: s.sum(s.ones(n)),
    "mean of ones": lambda x, n: s.mean(s.ones((n, 2)), axis=0),
    "maximum of ones": lambda x, n: s.max(s.ones((3, n)), axis=1),
    "arange": lambda x, n: s.arange(n),
    "arange of floats": lambda x, n: s.arange(0.5, n),
    "linspace": lambda x, n: s.linspace(0, 1, n),
    "eye": lambda x, n: s.eye(n),
    "tri": lambda x, n: s.tri(n),
    "tril_indices": lambda x, n: s.tril_indices(n),
    "diag beside the corner": lambda x, n: s.diag(x[0, 0, 0], n),
    "one_hot": lambda x, n: s.one_hot(places(x), n),
    "reshape": lambda x, n: s.reshape(x, (n,)),
    "broadcast_to": lambda x, n: s.broadcast_to(x, (n, 1, 3, 4, 4)),
    "sum of broadcast_to": lambda x, n: s.sum(s.broadcast_to(x, (n, 1, 3, 4, 4))),
    "tile": lambda x, n: s.tile(x, n),
    "repeat": lambda x, n: s.repeat(x, n, axis=0),
    "pad": lambda x, n: s.pad(x[0, 0], n),
    "pad at the edge": lambda x, n: s.pad(x[0, 0], n, mode="edge"),
    "pad by reflection": lambda x, n: s.pad(x[0, 0], n, mode="reflect"),
    "pad around": lambda x, n: s.pad(x[0, 0], n, mode="wrap"),
    "pad by less than nothing": lambda x, n: s.pad(x[0, 0], -n, mode="symmetric"),
    "pad and crop": lambda x, n: s.pad(x[0, 0], ((n, -n), (0, 0))),
    "top_k": lambda x, n: s.top_k(x, n),
    "split": lambda x, n: s.split(x, n, axis=2),
    "array_split": lambda x, n: s.array_split(x, n, axis=2),
    "unstack": lambda x, n: s.unstack(s.broadcast_to(x, (n, 1, 3, 4, 4))),
    "bincount": lambda x, n: s.bincount(places(x), length=n),
    "bincount of at least": lambda x, n: s.bincount(places(x), minlength=n),
    "histogram": lambda x, n: s.histogram(x, bins=n)[0],
    "segment_sum": lambda x, n: s.segment_sum(x, s.constant([0]), n),
    "vander": lambda x, n: s.vander(x[0, 0, 0], n),
    "random.normal": lambda x, n: s.random.normal((n,)),
    "random.bernoulli": lambda x, n: s.random.bernoulli((n,)),
    "outer": lambda x, n: s.outer(s.ones(n), s.ones(n)),
    "matmul": lambda x, n: s.ones((n, 1)) @ s.ones((1, n)),
    "concat": lambda x, n: s.concat([s.ones(n), s.ones(n)]),
    "cumulative_sum": lambda x, n: s.cumulative_sum(s.ones(n)),
    "sort": lambda x, n: s.sort(s.ones(n)),
    "nonzero": lambda x, n: s.nonzero(s.ones(n)),
    "labels of all classes": lambda x, n: nn.cross_entropy(
        s.ones((n, 2)), s.zeros(n, dtype="int32"), reduction="none"
    ),
    "fft": lambda x, n: s.fft.fft(x, n=n),
    "fftfreq": lambda x, n: s.fft.fftfreq(n),
    "conv2d, padding": lambda x, n: nn.conv2d(x, kernel(2, 3, 2, 2), padding=n),
    "conv2d, cropping": lambda x, n: nn.conv2d(x, kernel(2, 3, 2, 2), padding=-n),
    "conv2d, dilation": lambda x, n: nn.conv2d(x, kernel(2, 3, 2, 2), dilation=n),
    "conv2d, groups": lambda x, n: nn.conv2d(x, kernel(2, 3, 1, 1), groups=n),
    "conv_transpose2d, stride": lambda x, n: nn.conv_transpose2d(x, kernel(3, 2, 2, 2), stride=n),
    "conv_transpose2d, dilation": lambda x, n: nn.conv_transpose2d(
        x, kernel(3, 2, 2, 2), dilation=n
    ),
    "conv_transpose2d, padding": lambda x, n: nn.conv_transpose2d(
        x, kernel(3, 2, 2, 2), padding=-n
    ),
    "conv_transpose2d, output_padding": lambda x, n: nn.conv_transpose2d(
        x, kernel(3, 2, 2, 2), output_padding=n
    ),
    "max_pool2d": lambda x, n: nn.max_pool2d(x, n),
    "max_pool2d of the same size": lambda x, n: nn.max_pool2d(x, n, 1, padding="same"),
    "avg_pool2d of the same size": lambda x, n: nn.avg_pool2d(x, n, 1, padding="same"),
    "lp_pool2d": lambda x, n: nn.lp_pool2d(x, 2, n),
    "adaptive_avg_pool2d": lambda x, n: nn.adaptive_avg_pool2d(x, n),
    "adaptive_max_pool2d": lambda x, n: nn.adaptive_max_pool2d(x, n),
    "unfold": lambda x, n: nn.unfold(x, 2, padding=n),
    "fold": lambda x, n: nn.fold(x[0], (n, n), 2),
    "interpolate": lambda x, n: nn.interpolate(x, size=(n, n)),
    "interpolate by a factor": lambda x, n: nn.interpolate(x, scale_factor=n),
    "pixel_shuffle": lambda x, n: nn.pixel_shuffle(x, n),
    "group_norm": lambda x, n: nn.group_norm(x, n),
    "local_response_norm": lambda x, n: nn.local_response_norm(x, n),
    "sinusoidal_positions": lambda x, n: nn.sinusoidal_positions(n, 4),
    "sinusoidal_positions, features": lambda x, n: nn.sinusoidal_positions(4, n - n % 2),
}


@pytest.mark.parametrize("n", HUGE, ids=lambda n: f"2**{n.bit_length() - 1}")
@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_large_is_told(name: str, n: int) -> None:
    function = TOO_LARGE[name]
    with pytest.raises(sad.StaticadError) as raised:
        build_and_run(function, n)
    check_parts(raised.value, function, build_and_run)


def build_and_run(function: Call, n: int) -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (1, 3, 4, 4), name="x")
        y = function(x, n)
    sad.Session(graph).run(y, {x: IMAGE})


# Steps: (call, the first number that is beyond its axis).
STEPS: dict[str, tuple[Call, int]] = {
    "slice from": (lambda x, n: x[:, :, n:], 4),
    "slice to": (lambda x, n: x[:, :, :n], 4),
    "slice by": (lambda x, n: x[:, :, ::n], 4),
    "slice backwards by": (lambda x, n: x[:, :, ::-n], 4),
    "set by": (lambda x, n: x.at[..., ::n].set(0), 4),
    "diagonal": (lambda x, n: s.diagonal(x[0, 0], n), 4),
    "eye": (lambda x, n: s.eye(3, 3, n), 3),
    "large eye": (lambda x, n: s.eye(300, 300, n), 300),
    "tri": (lambda x, n: s.tri(3, 3, n), 3),
    "tril": (lambda x, n: s.tril(x, n), 4),
    "triu": (lambda x, n: s.triu(x, -n), 4),
    "triu_indices": (lambda x, n: s.triu_indices(3, -n)[0], 3),
    "roll": (lambda x, n: s.roll(x, n - n % 4, axis=-1), 4),
    "one of a range": (lambda x, n: s.arange(0, n, n), 1),
    "conv2d, stride": (lambda x, n: nn.conv2d(x, kernel(2, 3, 2, 2), stride=n), 4),
    "conv2d, dilation": (lambda x, n: nn.conv2d(x, kernel(2, 3, 1, 1), dilation=n), 4),
    "max_pool2d, stride": (lambda x, n: nn.max_pool2d(x, 2, n), 4),
    "max_pool2d, stride, rounded up": (lambda x, n: nn.max_pool2d(x, 2, n, ceil_mode=True), 4),
    "max_pool2d, dilation": (lambda x, n: nn.max_pool2d(x, 1, 1, dilation=n), 4),
    "places of maxima": (lambda x, n: nn.max_pool_with_indices(x, 2, n)[1], 4),
    "avg_pool2d, stride": (lambda x, n: nn.avg_pool2d(x, 2, n, padding="same"), 4),
    "unfold, stride": (lambda x, n: nn.unfold(x, 2, stride=n), 4),
}


@pytest.mark.parametrize("n", [2**40, 2**62, 2**63 - 1], ids=lambda n: f"2**{n.bit_length()}")
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_a_step_beyond_the_axis_is_any_such_step(name: str, symbolic: bool, n: int) -> None:
    function, small = STEPS[name]
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("a", 3, "b", "c") if symbolic else IMAGE.shape, name="x")
        found, expected = function(x, n), function(x, small)
        fetches = [found, expected]
        if found.type.kind == "float":
            fetches += [
                g
                for y in (found, expected)
                for g in sad.gradients(sad.sum(y * y), [x], unconnected="zero")
            ]
    arrays = sad.Session(graph).run(fetches, {x: IMAGE})
    for k in range(0, len(arrays), 2):
        np.testing.assert_array_equal(arrays[k], arrays[k + 1])


def test_a_size_of_a_symbol_that_no_array_has() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 3), name="x")
        y = sad.sum(x @ x.T)
    with pytest.raises(sad.ShapeError, match="larger than any memory") as raised:
        sad.Session(graph).memory(y, {"n": 2**40})
    check_parts(raised.value, test_a_size_of_a_symbol_that_no_array_has)


def test_long_ranges_and_large_identities_are_counted_by_the_run() -> None:
    with sad.Graph() as graph:
        ranges = [(0, 10**6, 1), (7, -(10**6), -3), (5, 2**40, 2**22)]
        made = [sad.arange(*bounds) for bounds in ranges]
        made += [sad.arange(300_000, dtype=dtype) for dtype in ("float64", "uint32", "float16")]
        eyes = [sad.eye(400, 300, k=k) for k in (-301, -7, 0, 299)]
        with pytest.raises(sad.ArgumentError, match="the integer 99999 does not fit int16"):
            sad.arange(100_000, dtype="int16")
    assert graph_bytes(graph) < 10_000
    arrays = sad.Session(graph).run(made + eyes)
    for array, bounds in zip(arrays, ranges, strict=False):
        np.testing.assert_array_equal(array, np.arange(*bounds), strict=True)
    np.testing.assert_array_equal(arrays[3], np.arange(300_000.0), strict=True)
    np.testing.assert_array_equal(arrays[4], np.arange(300_000, dtype=np.uint32), strict=True)
    assert arrays[5].dtype == np.float16
    assert arrays[5][-1] == np.inf
    for array, k in zip(arrays[6:], (-301, -7, 0, 299), strict=True):
        np.testing.assert_array_equal(array, np.eye(400, 300, k, np.float32), strict=True)


def graph_bytes(graph: sad.Graph) -> int:
    constants = (node.attributes["value"] for node in graph.nodes if node.op == "constant")
    return sum(array.nbytes for array in constants)


def test_integers_beyond_int64_in_short_ranges() -> None:
    with sad.Graph() as graph:
        y = sad.arange(2**63, 2**63 + 3, dtype="uint64")
        z = sad.arange(2**64, 2**64 + 3 * 2**50, 2**50, dtype="float64")
    found = sad.Session(graph).run([y, z])
    assert found[0].tolist() == [2**63, 2**63 + 1, 2**63 + 2]
    assert found[1].tolist() == [float(2**64 + k * 2**50) for k in range(3)]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
@pytest.mark.parametrize("depth", [3, 65, 300])
def test_one_hot_of_few_and_many_classes(dtype: str, depth: int) -> None:
    labels = np.array([[0, 2, 64], [127, 100, 1]], dtype)
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, ("n", 3), name="x")
        y = sad.one_hot(x, depth)
    found = sad.Session(graph).run(y, {x: labels})
    expected = (labels[..., None] == np.arange(depth)).astype(np.float32)
    np.testing.assert_array_equal(found, expected, strict=True)
    if dtype != "uint64":
        with sad.Graph() as graph:
            y = sad.one_hot(sad.constant([-1, depth, 1]), depth)
        assert sad.Session(graph).run(y).sum(axis=1).tolist() == [0, 0, 1]
