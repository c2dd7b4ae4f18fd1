"""Sizes that no machine has memory for: an error at once that says what is so large, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import staticad as sad
from staticad_executor import memory
from staticad_executor.devices.numpy.tiles import contiguous, tiling

from ..lines import line_ahead
from ..mistakes import check_parts

N = 10**6


def columns() -> np.ndarray[Any, Any]:
    return np.zeros((N, 1), np.float32)


def distances(reduce: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", 1), name="x")
        y = sad.placeholder("float32", (1, "n"), name="y")
        return x, y, reduce(sad.square(x - y, name="far"))


@pytest.mark.parametrize("reduce", [lambda d: d, sad.sum], ids=["a result", "a value on the way"])
def test_a_forgotten_axis_fails_at_once(reduce: Callable[[Any], Any]) -> None:
    x, y, z = distances(reduce)
    with sad.Session(x.graph, "numpy") as session, pytest.raises(sad.ExecutionError) as raised:
        session.run(z, {x: columns(), y: columns().T})
    check_parts(raised.value, distances)
    message = str(raised.value)
    assert "'far': out of memory: the run needs 4,000,000,000,0" in message
    assert "float32[1000000, 1000000] of 4,000,000,000,000 bytes" in message


def test_memory_of_what_could_not_run_is_told() -> None:
    x, _, z = distances(sad.sum)
    told = sad.Session(x.graph, "numpy").memory(z, {"n": N})
    assert told.largest[0].nbytes == 4 * N * N
    plan = sad.Session(x.graph, "numpy").explain(z, {"n": 8 * N})
    assert "tiles of" in plan


def test_what_is_available_is_told_if_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, z = distances(sad.sum)
    feeds = {x: columns(), y: columns().T}
    monkeypatch.setattr(memory, "available_bytes", lambda: 12345678)
    with pytest.raises(sad.ExecutionError, match="12,345,678 bytes are available"):
        sad.Session(x.graph, "numpy").run(z, feeds)
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    with pytest.raises(sad.ExecutionError, match=r"less than can be allocated\n"):
        sad.Session(x.graph, "numpy").run(z, feeds)


def test_a_session_goes_on_behind_it() -> None:
    x, y, z = distances(sad.sum)
    with sad.Session(x.graph, "numpy") as session:
        with pytest.raises(sad.ExecutionError, match="out of memory"):
            session.run(z, {x: columns(), y: columns().T})
        assert session.run(z, {x: [[1.0], [3.0]], y: [[1.0, 4.0]]}) == 9 + 4 + 1


def test_new_values_of_variables_count() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 1), name="x")
        v = sad.variable(np.zeros((1, 1), np.float32), shape=("n", "m"), name="v")
        where = line_ahead(1)
        step = v.assign(x + sad.ones((1, N)))
    with pytest.raises(sad.ExecutionError, match="out of memory") as raised:
        sad.Session(graph).run(step, {x: columns()})
    assert where in str(raised.value)


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.integers(0, 3),
    st.integers(1, 40),
)
def test_tiles_cover_each_element_once(shape: list[int], broadcast: int, elements: int) -> None:
    whole = tuple(shape)
    narrow = tuple(1 if axis == broadcast else n for axis, n in enumerate(shape))
    cut = tiling(whole, [(s, contiguous(s, 4)) for s in (whole, narrow)], elements)
    seen = np.zeros(cut.shape, np.int64)
    order = np.arange(seen.size).reshape(cut.shape)
    firsts = []
    for number in range(cut.tiles):
        loop, start, stop = cut.tile(number)
        index: Any = (*loop, slice(start, stop))
        seen[index] += 1
        firsts.append(int(order[index].flat[0]))
        full = stop - start == cut.full[0]
        assert seen[index].shape == (cut.full if full else cut.rest)
    assert (seen == 1).all()
    assert firsts == sorted(firsts)


def test_counting_tiles_takes_no_longer_for_more() -> None:
    shape = (10**12, 10**6)
    cut = tiling(shape, [(shape, contiguous(shape, 4))], 1 << 15)
    assert cut.tiles > 10**13
    loop, _, stop = cut.tile(cut.tiles - 1)
    assert (*loop, stop) == (10**18,)
