"""How often each number occurs, up to the largest that a run finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import agrees, apply, run


@pytest.mark.parametrize("minlength", [0, 3, 8])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "uint64"])
def test_bincount_up_to_the_largest(dtype: str, minlength: int) -> None:
    numbers: list[Any] = [[[0, 2], [2, 5]], [[]], [[0]], [[7] * 300]]
    for x in numbers:
        given = np.array(x, dtype)
        weights = np.arange(float(given.size)).reshape(given.shape)
        expected = np.bincount(given.reshape(-1).astype(int), minlength=minlength)
        for symbolic in (False, True):
            found = apply(lambda x: sad.bincount(x, minlength=minlength), given, symbolic=symbolic)
            agrees(found, expected)
            sums = apply(
                lambda x, w: sad.bincount(x, w, minlength), given, weights, symbolic=symbolic
            )
            flat = given.reshape(-1).astype(int)
            agrees(sums, np.bincount(flat, weights.reshape(-1), minlength).astype(float))


def test_bincount_of_a_found_size_is_differentiated_and_saved(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("int64", ("n",), name="x")
        w = sad.placeholder("float64", ("n",), name="w")
        y = sad.bincount(x, w, x.shape[0], name="y")
        (dw,) = sad.gradients(sad.sum(y**2), w)
        (ddw,) = sad.gradients(dw, w)
    graph.save(tmp_path / "a.sad")
    loaded = sad.load(tmp_path / "a.sad")
    feeds = {"x": [0, 5, 5], "w": [1.0, 2.0, 3.0]}
    for each in (graph, loaded):
        found = run(each, ["y", dw.name, ddw.name], feeds)
        assert [f.tolist() for f in found] == [[1, 0, 0, 0, 0, 5], [2, 10, 10], [2, 4, 4]]
    assert run(graph, y, {"x": [1], "w": [1.0]}).tolist() == [0, 1]
    with pytest.raises(sad.ExecutionError, match="negative number"):
        run(graph, y, {"x": [-1], "w": [1.0]})
    with sad.Graph(), pytest.raises(sad.ShapeError, match="a size is negative"):
        sad.bincount([1], minlength=-1)
