"""Functions of tensors whose sizes are known at run time only, against NumPy; 0 and 1 are sizes.

Reverse and forward mode are compared with each other there, and with differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import staticad as sad

Array = np.ndarray[Any, Any]
Sizes = dict[str, int]

ALL: tuple[Sizes, ...] = (
    {"n": 4, "m": 3}, {"n": 1, "m": 3}, {"n": 0, "m": 3}, {"n": 2, "m": 1}, {"n": 1, "m": 1},
    {"n": 6, "m": 2}, {"n": 3, "m": 0},
)  # fmt: skip
FILLED = tuple(sizes for sizes in ALL if all(sizes.values()))
COLUMNS = tuple(sizes for sizes in ALL if sizes["m"])
BROADCAST: tuple[Sizes, ...] = (
    {"n": 4, "m": 4}, {"n": 4, "m": 1}, {"n": 1, "m": 4}, {"n": 1, "m": 1}, {"n": 1, "m": 0},
)  # fmt: skip
MATRIX = ("n", "m")


class Case(NamedTuple):
    """A function of staticad, the same in NumPy, the declared shapes, and sizes to try."""

    function: Callable[..., Any]
    expected: Callable[..., Any]
    shapes: tuple[Any, ...] = (MATRIX,)
    sizes: tuple[Sizes, ...] = ALL


CASES: dict[str, Case] = {
    "reshape to rows": Case(
        lambda x: sad.reshape(x, (-1, 3)), lambda x: x.reshape(-1, 3), (("n", 3),)
    ),
    "reshape flat": Case(lambda x: sad.reshape(x, -1), lambda x: x.reshape(-1)),
    "reshape by a name": Case(
        lambda x: sad.reshape(x, ("n", -1)), lambda x: x.reshape(len(x), 6), (("n", 2, 3),)
    ),
    "add a row": Case(lambda x, y: x + y, lambda x, y: x + y, (MATRIX, ("m",))),
    "outer": Case(lambda x, y: x * y, lambda x, y: x * y, (("n", 1), ("m",))),
    "either may be one": Case(lambda x, y: x * y, lambda x, y: x * y, (("n",), ("m",)), BROADCAST),
    "either, on both axes": Case(
        lambda x, y: x - y, lambda x, y: x - y, (("n", "m"), ("m", "n")), BROADCAST
    ),
    "where": Case(
        lambda x, y: sad.where(x > 0, x, y), lambda x, y: np.where(x > 0, x, y), (MATRIX, (1,))
    ),
    "concat": Case(
        lambda x, y: sad.concat([x, y, x]),
        lambda x, y: np.concatenate([x, y, x]),
        (("n", 2), ("m", 2)),
    ),
    "stack": Case(lambda x: sad.stack([x, 2 * x], axis=-1), lambda x: np.stack([x, 2 * x], -1)),
    "roll": Case(lambda x: sad.roll(x, 2, axis=0), lambda x: np.roll(x, 2, 0)),
    "roll both": Case(
        lambda x: sad.roll(x, (-1, 5), axis=(0, 1)), lambda x: np.roll(x, (-1, 5), (0, 1))
    ),
    "roll flat": Case(lambda x: sad.roll(x, 3), lambda x: np.roll(x, 3)),
    "tile": Case(lambda x: sad.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3))),
    "pad": Case(
        lambda x: sad.pad(x, ((1, 2), (0, 3)), value=7),
        lambda x: np.pad(x, ((1, 2), (0, 3)), constant_values=7),
    ),
    "flip": Case(lambda x: sad.flip(x, axis=0), lambda x: np.flip(x, 0)),
    "moveaxis": Case(lambda x: sad.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "broadcast_to": Case(
        lambda x: sad.broadcast_to(x, (5, "n", "m")), lambda x: np.broadcast_to(x, (5, *x.shape))
    ),
    "slice": Case(lambda x: x[1:-1, ::-2], lambda x: x[1:-1, ::-2]),
    "first half": Case(lambda x: x[: x.shape[0] // 2], lambda x: x[: x.shape[0] // 2]),
    "last row": Case(lambda x: x[x.shape[0] - 1], lambda x: x[-1], sizes=FILLED),
    "centred": Case(lambda x: x - sad.mean(x, axis=0), lambda x: x - x.mean(0), sizes=FILLED),
    "take": Case(lambda x: sad.take(x, [0, -1, 0], axis=0), lambda x: x[[0, -1, 0]], sizes=FILLED),
    "largest, by position": Case(
        lambda x: sad.take_along_axis(x, sad.argmax(x, axis=1, keepdims=True), axis=1),
        lambda x: x.max(1, keepdims=True),
        sizes=COLUMNS,
    ),
    "max": Case(lambda x: sad.max(x, axis=1), lambda x: x.max(1), sizes=COLUMNS),
    "prod": Case(lambda x: sad.prod(x, axis=0), lambda x: x.prod(0)),
    "std": Case(lambda x: sad.std(x, axis=1) ** 2, lambda x: x.var(1), sizes=COLUMNS),
    "softmax": Case(
        lambda x: sad.nn.softmax(x, axis=0), lambda x: np.exp(x) / np.exp(x).sum(0)
    ),
    "log_softmax": Case(
        lambda x: sad.nn.log_softmax(x, axis=1),
        lambda x: x - np.log(np.exp(x).sum(1, keepdims=True)),
        sizes=COLUMNS,
    ),
    "layer_norm": Case(
        lambda x: sad.nn.layer_norm(x, axis=(0, 1)),
        lambda x: (x - x.mean()) / np.sqrt(x.var() + 1e-5),
        sizes=FILLED,
    ),
    "matmul": Case(lambda x, y: x @ y, lambda x, y: x @ y, (("n", "m"), ("m", "n"))),
    "rows times a matrix": Case(lambda x, y: x @ y, lambda x, y: x @ y, (("n", 2, "m"), ("m", 3))),
    "stacks": Case(lambda x, y: x @ y, lambda x, y: x @ y, (("n", 2, "m"), ("n", "m", 3))),
    "stacks that may broadcast": Case(
        lambda x, y: x @ y, lambda x, y: x @ y, (("n", 2, 3), ("m", 3, 2)), BROADCAST
    ),
    "stacks against stacks": Case(
        lambda x, y: x @ y, lambda x, y: x @ y, (("n", 1, 2, 3), ("m", 3, 4))
    ),
    "matrix times a vector": Case(lambda x, y: x @ y, lambda x, y: x @ y, (MATRIX, ("m",))),
    "a vector times matrices": Case(
        lambda x, y: x @ y, lambda x, y: x @ y, (("m",), ("n", "m", 2))
    ),
    "dot": Case(lambda x, y: x @ y, lambda x, y: x @ y, (("n",), ("n",))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_graph_for_all_sizes(name: str) -> None:
    case = CASES[name]
    rng = np.random.default_rng(len(name))
    with sad.Graph() as graph:
        xs, vs = ([sad.placeholder("float64", s) for s in case.shapes] for _ in range(2))
        y = case.function(*xs)
        (t,) = sad.jvp(y, xs, vs)
        seed = sad.stop_gradient(sad.sin(3 * y))
        gs = sad.gradients(y, xs, grad_ys=seed)
        left = sad.sum(t * seed)
        right = [sad.sum(g * v) for g, v in zip(gs, vs, strict=True)]
    with sad.Session(graph) as session:
        for sizes in case.sizes:
            x, v = (
                [rng.normal(size=tuple(sizes.get(s, s) for s in shape)) for shape in case.shapes]
                for _ in range(2)
            )
            feeds = {**dict(zip(xs, x, strict=True)), **dict(zip(vs, v, strict=True))}
            value, tangent, slopes, a, b = session.run([y, t, gs, left, right], feeds)
            expected = case.expected(*x)
            assert value.shape == expected.shape, sizes
            np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-13)
            assert [g.shape for g in slopes] == [array.shape for array in x], sizes
            assert np.isclose(a, sum(b), atol=1e-12), sizes
            moved = [
                case.expected(*(p + h * q for p, q in zip(x, v, strict=True)))
                for h in (1e-6, -1e-6)
            ]
            np.testing.assert_allclose(tangent, (moved[0] - moved[1]) / 2e-6, atol=1e-7)
