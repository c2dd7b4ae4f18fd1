"""What type checkers read of the public surface: `make check` judges this file by mypy --strict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
import pytest

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
        assert_type(sad.gradients(y, [x]), list[sad.Tensor])
        assert_type(sad.gradients(y, [x], unconnected="none"), list[sad.Tensor | None])
        assert_type(sad.jvp(y, x), list[sad.Tensor])
        assert_type(sad.optimizers.Adam(0.1).minimize(sad.sum(y)), sad.Effect)
    with sad.Session(graph) as session:
        assert_type(session.variables["w"], np.ndarray[Any, Any])


def test_what_is_no_operand_is_refused_by_type_checkers_and_by_functions() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("batch", 4), name="x")
        mistakes: list[Callable[[], sad.Tensor]] = [
            lambda: sad.exp("x"),  # type: ignore[arg-type]
            lambda: sad.add(x, None),  # type: ignore[arg-type]
            lambda: sad.nn.relu({1.0}),  # type: ignore[arg-type]
        ]
        for mistake in mistakes:
            with pytest.raises(sad.UsageError):
                mistake()
