"""Short ways to a value and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import staticad as sad

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def build(f: Function, inputs: tuple[Any, ...], dtype: str) -> tuple[sad.Graph, list[Any], Any]:
    """A graph of f, its placeholders, and its result."""
    graph = sad.Graph()
    with graph:
        xs = [
            sad.placeholder(x.dtype.name if isinstance(x, np.ndarray) else dtype, np.shape(x))
            for x in inputs
        ]
        y = f(*xs)
    return graph, xs, y


def value(f: Function, *inputs: Any, dtype: str = "float64", **options: Any) -> Array:
    """f of the inputs: arrays keep their dtype, lists and numbers are of `dtype`."""
    graph, xs, y = build(f, inputs, dtype)
    with sad.Session(graph, **options) as session:
        result: Array = session.run(y, dict(zip(xs, inputs, strict=True)))
    return result


def grads(f: Function, *inputs: Any, dtype: str = "float64", **options: Any) -> list[Array]:
    """The gradients of the sum of f with respect to every input."""
    graph, xs, y = build(f, inputs, dtype)
    dxs = sad.gradients(y, xs)
    with sad.Session(graph, **options) as session:
        result: list[Array] = session.run(dxs, dict(zip(xs, inputs, strict=True)))
    return result


def grad(f: Function, x: Any, dtype: str = "float64", **options: Any) -> Array:
    """The gradient of the sum of a function of one argument."""
    return grads(f, x, dtype=dtype, **options)[0]


def derivatives(f: Function, x: float, order: int) -> list[float]:
    """f'(x), f''(x), ... up to an order, in float64."""
    graph, (variable,), y = build(f, (x,), "float64")
    found = []
    for _ in range(order):
        (y,) = sad.gradients(y, variable, unconnected="zero")
        found.append(y)
    with sad.Session(graph) as session:
        return [float(v) for v in session.run(found, {variable: x})]
