"""Every numerical convention holds, at build time, in a run, and in its documentation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from .conventions import CONVENTIONS, Row


def arrays(row: Row) -> list[np.ndarray[Any, Any]]:
    """The inputs: Python numbers as float64, NumPy's keep their dtype."""
    return [
        np.asarray(x) if isinstance(x, np.ndarray | np.generic) else np.asarray(x, np.float64)
        for x in row.inputs
    ]


def results(row: Row) -> list[np.ndarray[Any, Any]]:
    """What a run gives: the value, or the gradients."""
    given = arrays(row)
    with sad.Graph(seed=0) as graph:
        xs = [sad.placeholder(a.dtype, a.shape, name=f"x{i}") for i, a in enumerate(given)]
        y = row.expression(*xs)
        fetches = (
            [y] if row.gradients is None else sad.gradients(sad.sum(y), xs, unconnected="zero")
        )
    with sad.Session(graph) as session:
        found: list[np.ndarray[Any, Any]] = session.run(fetches, dict(zip(xs, given, strict=True)))
    return found


@pytest.mark.parametrize("row", CONVENTIONS, ids=lambda row: row.point)
def test_convention(row: Row) -> None:
    if row.error is not None:
        with pytest.raises(row.error):
            results(row)
        return
    expected = (row.value,) if row.gradients is None else row.gradients
    for found, wanted in zip(results(row), expected, strict=True):
        # A convention is exact, but for the rounding of 1/3 and log 3.
        np.testing.assert_allclose(found, np.asarray(wanted), rtol=4 * np.finfo(np.float64).eps)
