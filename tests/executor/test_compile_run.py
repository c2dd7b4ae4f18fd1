"""Stage 8 and running: errors, cancelling, watching, threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import staticad as sad
from staticad_schema.errors import CancelledError, ExecutionError

from .planning import Array, Compiled, same_bits
from .test_compile_equals_meaning import small_tiles


def test_a_kernel_that_fails_names_node_types_and_both_lines() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4,), name="x")
        i = sad.placeholder("int64", (2,), name="i")
        y = sad.take(sad.exp(x), i, name="picked")
    compiled = Compiled(graph, [y], {x: np.ones(4, np.float32), i: np.array([0, 9])})
    with pytest.raises(ExecutionError) as info:
        compiled.run()
    text = str(info.value)
    assert "picked" in text
    assert "9" in text
    assert "test_compile_run.py" in text


def test_a_plan_runs_again_after_it_failed() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4,), name="x")
        i = sad.placeholder("int64", (2,), name="i")
        y = sad.take(sad.exp(x), i)
    compiled = Compiled(graph, [y], {x: np.ones(4, np.float32), i: np.array([0, 9])})
    for bad, good in ((9, 3), (-9, -1)):
        compiled.inputs[1][1] = bad
        with pytest.raises(ExecutionError):
            compiled.run()
        compiled.inputs[1][1] = good
        assert compiled.run()[0].tolist() == [np.exp(np.float32(1))] * 2


def test_what_observe_raises_before_any_step_passes_through() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4, 4), name="x")
        y = sad.sum(sad.exp(x @ x) @ x)
    compiled = Compiled(graph, [y], {x: np.eye(4, dtype=np.float32)})
    steps = len(compiled.plan.steps)
    assert steps == 4
    for at in range(steps):
        seen: list[tuple[int, str]] = []

        def interrupt(step: int, phase: str, at: int = at, seen: list[object] = seen) -> None:  # type: ignore[assignment]
            seen.append((step, phase))
            if step == at:
                raise KeyboardInterrupt

        outputs = [np.empty((), np.float32)]
        with pytest.raises(KeyboardInterrupt):
            compiled.plan.execute(compiled.inputs, outputs, None, interrupt)
        assert seen == [
            (s, p) for s in range(at) for p in ("before", "after")
        ] + [(at, "before")]  # fmt: skip
    compiled.check()


def test_nothing_that_was_given_is_kept() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (600, 600), name="x")
        y = sad.exp(x.T) + x
    compiled = Compiled(graph, [y], {x: np.ones((600, 600), np.float32)})
    compiled.run()
    (workspace,) = compiled.plan.idle
    count = len(compiled.inputs) + 1
    assert workspace.cells[:count] == [None] * count
    assert all(workspace.cells[cell] is None for cell, _, _ in compiled.plan.prologue)


def test_cancelling_stops_between_steps_and_between_tiles() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (64, 64), name="x")
        y = sad.exp(sad.tanh(x) + 1)
    with small_tiles(64):
        compiled = Compiled(graph, [y], {x: np.ones((64, 64), np.float32)})
    cancel = threading.Event()
    outputs = [np.empty((64, 64), np.float32)]
    compiled.plan.execute(compiled.inputs, outputs, cancel)
    cancel.set()
    with pytest.raises(CancelledError):
        compiled.plan.execute(compiled.inputs, outputs, cancel)

    class Later(threading.Event):
        """Set from the second look on: the first is before the step, the next in a tile."""

        looks = 0

        def is_set(self) -> bool:
            self.looks += 1
            return self.looks > 1

    later = Later()
    outputs[0][:] = 0
    with pytest.raises(CancelledError):
        compiled.plan.execute(compiled.inputs, outputs, later)
    assert 0 < np.count_nonzero(outputs[0]) < outputs[0].size
    compiled.check()


def test_cancelling_takes_effect_at_the_next_large_step(capsys: pytest.CaptureFixture[str]) -> None:
    class Shown(threading.Event):
        """Set once something has been printed."""

        def is_set(self) -> bool:
            shown.append(capsys.readouterr().out)
            return any(shown)

    shown: list[str] = []
    with sad.Graph() as graph:
        y = sad.placeholder("float32", (600, 600), name="x")
        x = y
        for k in range(3):
            y = sad.print_(y @ x, f"step {k}")
    compiled = Compiled(graph, [y], {x: np.eye(600, dtype=np.float32)})
    with pytest.raises(CancelledError):
        compiled.plan.execute(compiled.inputs, [np.empty((600, 600), np.float32)], Shown())
    assert "step 0" in "".join(shown)
    assert "step 1" not in "".join(shown) + capsys.readouterr().out


def test_one_plan_runs_from_many_threads() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (40, 40), name="x")
        y = sad.exp(sad.tanh(x @ x) @ x)
    compiled = Compiled(graph, [y], {x: np.ones((40, 40), np.float32)})
    feeds = [np.full((40, 40), k / 900, np.float32) for k in range(32)]

    def run(feed: Array) -> Array:
        out = np.empty((40, 40), np.float32)
        compiled.plan.execute([feed], [out])
        return out

    serial = [run(feed) for feed in feeds]
    with ThreadPoolExecutor(8) as pool:
        for a, b in zip(serial, pool.map(run, feeds), strict=True):
            assert same_bits(a, b)
    assert len(compiled.plan.idle) <= 8
    compiled.plan.trim()
    assert compiled.plan.idle == []


@pytest.mark.parametrize("threads", [1, 2])
def test_a_product_with_zero_is_corrected_in_the_tile_where_it_happens(threads: int) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (1000, 30), name="x")
        y = sad.sum(sad.where(x > 0, sad.sqrt(x), 0.0) * 2)
        (g,) = sad.gradients(y, [x])
    values = np.linspace(0.5, 2, 30000, dtype=np.float32).reshape(1000, 30)
    values[17, 3] = 0.0
    values[900, 29] = -1.0
    values[500, 5] = np.nan
    with small_tiles(3000):
        compiled = Compiled(graph, [g], {x: values}, threads=threads)
    compiled.check()
    found = compiled.run()[0]
    assert found[17, 3] == 0
    assert found[900, 29] == 0


def test_the_chain_of_small_ops_is_one_step_of_bare_calls() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        y = x
        for _ in range(300):
            y = sad.sin(y * 1.01 + 0.1)
    compiled = Compiled(graph, [y], {x: np.float32(0.5)})
    compiled.check()
    assert len(compiled.plan.steps) == 1
    calls = [call for chunk in compiled.plan.chunks for call in chunk]
    assert len(calls) == 900
    assert all(isinstance(function, np.ufunc) for function, _ in calls)


def test_deep_chains_pass_all_stages_without_recursion() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        y = x
        for k in range(3000):
            y = sad.reshape(y, (1, 2) if k % 2 == 0 else (2,))
            y = sad.flip(y, axis=0) if k % 2 else -y
    Compiled(graph, [y], {x: np.array([1, 2], np.float32)}, rewrites=()).check()
