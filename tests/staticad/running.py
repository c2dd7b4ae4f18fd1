"""Evaluating what a test has built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import staticad as sad

Array = np.ndarray[Any, Any]


def run(graph: sad.Graph, fetches: Any, feeds: Mapping[Any, Any] | None = None) -> Any:
    """The fetches in a session of their own."""
    with sad.Session(graph) as session:
        return session.run(fetches, feeds)


def apply(function: Callable[..., Any], *arrays: Any, symbolic: bool = False) -> Any:
    """The function's result for arrays that are fed; with `symbolic`, of unknown sizes."""
    with sad.Graph(seed=0) as graph:
        xs = [
            sad.placeholder(a.dtype, (None,) * a.ndim if symbolic else a.shape)
            for a in map(np.asarray, arrays)
        ]
        y = function(*xs)
    return run(graph, y, dict(zip(xs, arrays, strict=True)))


def agrees(found: Array, expected: Any, rtol: float = 0.0) -> None:
    """Equal dtype and shape, and values equal within a relative tolerance."""
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
