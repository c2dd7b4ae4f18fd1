"""What type checkers read of the public surface: `make check` judges this file by mypy --strict."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import staticad as sad


def affine(x: sad.Tensor, n: int) -> sad.Tensor:
    w = sad.variable(sad.random.normal((4, n)), name="w")
    return x @ w + 1.0


def weighted(x: sad.Tensor) -> sad.Tensor:
    return np.ones(3, np.float32) * x - 2 / x


def total(xs: list[sad.Tensor]) -> sad.Tensor:
    result = xs[0]
    for x in xs[1:]:
        result += x
    return result


def test_operators_and_functions_give_tensors() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 4), name="x")
        y = weighted(affine(x, 3))
        assert_type(total([x, x]), sad.Tensor)
        assert_type(x > 0, sad.Tensor)
        assert_type(x == 0, sad.Tensor)
        assert_type(-(x**2) // 3, sad.Tensor)
        assert_type((x > 0) & ~(x < 1), sad.Tensor)
        assert_type(y[0].astype("float64"), sad.Tensor)
        assert_type(sad.exp(x, name="e"), sad.Tensor)
        assert_type(sad.nn.relu(x), sad.Tensor)
        assert_type(graph.variables["w"].assign(sad.zeros((4, 3))), sad.Tensor)
        assert_type(sad.optimizers.Adam(0.1).minimize(sad.sum(y)), sad.Effect)
    with sad.Session(graph) as session:
        assert_type(session.variables["w"], np.ndarray[Any, Any])
