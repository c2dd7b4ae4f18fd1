"""Sizes that a run finds: plans go segment by segment, and equal naive evaluation."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import interpret
from tests.executor.planning import same_bits
from tests.lines import line_ahead

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
DATA = RNG.normal(size=40)


def agree(graph: sad.Graph, fetches: list[Any], feeds: dict[Any, Any]) -> list[Array]:
    """The values by plans, which are those of naive evaluation bit for bit."""
    with sad.Session(graph, rewrites=("exact",)) as session:
        found: list[Array] = session.run(fetches, feeds)
    given = {x.id: np.asarray(a, x.dtype) for x, a in feeds.items()}
    expected = interpret(graph, [f.id for f in fetches], (), given, {}, 0).values
    for a, b in zip(found, expected, strict=True):
        assert same_bits(a, b), (a, b)
    return found


# ---------------------------------------------------------------- values


def selecting(x: Any, y: Any) -> list[Any]:
    positive = x[x > 0]
    return [positive, sad.sum(positive), positive * 2 + 1]


def chained(x: Any, y: Any) -> list[Any]:
    positive = x[x > 0]
    large = positive[positive > sad.mean(positive)]
    values, counts = sad.unique_counts(sad.round(large * 2))
    return [large, values, counts, sad.sum(values * counts.astype("float64")) + sad.sum(x)]


def side_by_side(x: Any, y: Any) -> list[Any]:
    return [x[x > 0], y[y > 0], sad.sum(x[x > 0]) * sad.sum(y[y < 0]), x[y > 0] - y[y > 0]]


def differentiated(x: Any, y: Any) -> list[Any]:
    value = sad.sum(sad.exp(x[x > 0]) * 2) * sad.mean(y)
    first = sad.gradients(value, [x, y])
    second = sad.gradients(sad.sum(first[0] ** 2) + sad.sum(first[1]), [x, y])
    return [value, *first, *second, *sad.jvp(value, [x, y])]


def sizes_as_numbers(x: Any, y: Any) -> list[Any]:
    (count,) = x[x > 0].shape
    return [
        sad.constant(count), sad.zeros((count, 2)), sad.arange(count), sad.ones((2 * count + 1,)),
        sad.broadcast_to(y[0], (count,)),
    ]  # fmt: skip


def written_in(x: Any, y: Any) -> list[Any]:
    mask = x > 0
    return [
        x.at[mask].set(0.5), x.at[mask].add(x[mask]), x.at[mask].multiply(-1.0),
        x.at[sad.nonzero(mask)].max(y[mask]),
    ]  # fmt: skip


def drawn(x: Any, y: Any) -> list[Any]:
    noise = sad.random.normal(x[x > 0].shape)
    return [noise, sad.random.uniform(x.shape), noise[noise > 0]]


def uncomputed(x: Any, y: Any) -> list[Any]:
    # Sources, constants and what finds a size, fetched as they are.
    (where,) = sad.nonzero(x)
    return [where, x, sad.constant(3.0), x[where > 2], where]


BUILDERS = [
    selecting, chained, side_by_side, differentiated, sizes_as_numbers, written_in, drawn,
    uncomputed,
]  # fmt: skip


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("static", [False, True])
def test_plans_equal_naive_evaluation(build: Callable[..., list[Any]], static: bool) -> None:
    with sad.Graph(seed=1) as graph:
        shape = (40,) if static else ("n",)
        x, y = (sad.placeholder("float64", shape, name=name) for name in "xy")
        fetches = build(x, y)
    for data in (DATA, -np.abs(DATA), np.abs(DATA), DATA[::-1]):
        agree(graph, fetches, {x: data, y: DATA})
    if not static:
        for size in (1, 2, 7):
            agree(graph, fetches, {x: np.abs(DATA[:size]), y: DATA[:size]})


def test_nothing_found_and_nothing_given() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 3), name="x")
        rows = x[sad.any(x > 0, axis=1)]
        total = sad.sum(rows)
        (dx,) = sad.gradients(total, x)
    for data in (np.full((4, 3), -1.0), np.zeros((0, 3))):
        found, value, slope = agree(graph, [rows, total, dx], {x: data})
        assert found.shape == (0, 3)
        assert value == 0
        assert np.array_equal(slope, np.zeros_like(data))


def test_sizes_change_from_run_to_run() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (40,), name="x")
        y = x[x > 0] * 3
    with sad.Session(graph) as session:
        step = session.callable([y, sad.sum(y)], [x])
        for shift in np.linspace(-3, 3, 50):
            found, total = step(DATA + shift)
            expected = (DATA + shift)[DATA + shift > 0] * 3
            assert np.array_equal(found, expected)
            assert total == pytest.approx(expected.sum())


def test_plans_are_kept_for_the_sizes_found_last() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (200,), name="x")
        y = x[x > 0] * 3
    with sad.Session(graph) as session:
        for count in [*range(100), 98, 99]:
            assert len(session.run(y, {x: np.arange(200) < count})) == count
        text = session.explain(y)
    # The first segment has one plan; of the second those are made that were not there.
    assert re.findall("emit ([0-9]+)", text) == ["1", "100"]


def test_threads_find_their_own_sizes() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        positive = x[x > 0]
        y = positive[positive > 1] * 2
    wrong: list[Any] = []
    with sad.Session(graph) as session:
        step = session.callable(y, [x])

        def work(seed: int) -> None:
            for k in range(40):
                data = np.random.default_rng((seed, k)).normal(size=1 + k)
                if not np.array_equal(step(data), data[data > 1] * 2):
                    wrong.append((seed, k))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def finders(session: sad.Session, fetches: Any) -> int:
    """How many nodes a run finds sizes by."""
    return sum(line.split()[1:2] == ["finder"] for line in session.explain(fetches).splitlines())


def test_equal_masks_are_searched_once() -> None:
    with sad.Graph() as graph:
        x, y = (sad.placeholder("float64", ("n",), name=name) for name in "xy")
        a, b = x[x > 0], y[x > 0]
        z = a * b + a
    with sad.Session(graph) as session:
        assert np.array_equal(session.run(z, {x: DATA, y: DATA}), (DATA**2 + DATA)[DATA > 0])
        assert finders(session, z) == 1
        # Where one of the sizes is fed, it is compared with what is found.
        with pytest.raises(sad.StaticadError, match=r"broadcast|two sizes"):
            session.run(z, {x: DATA, b: np.ones(3)})
        count = int((DATA > 0).sum())
        assert np.array_equal(session.run(z, {x: DATA, b: np.zeros(count)}), DATA[DATA > 0])


def test_masks_that_are_constant_are_searched_when_the_plan_is_made() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 3), name="x")
        mask = sad.constant([True, False, True])
        rows = x[:, mask]
        total = sad.sum(rows * sad.zeros(rows.shape[1]) + rows[:, rows[0] > 0])
        distinct = sad.unique_all([3, 1, 3])
        failing = sad.repeat(x[0], sad.constant([1, -1, 2]))
    data = DATA[:6].reshape(2, 3)
    with sad.Session(graph) as session:
        assert np.array_equal(session.run(rows, {x: data}), data[:, [0, 2]])
        assert finders(session, rows) == 0
        assert session.run(distinct)[1].tolist() == [1, 0]
        session.run(total, {x: np.ones((2, 3))})
        assert finders(session, total) == 1
        with pytest.raises(sad.ExecutionError, match="negative"):
            session.run(failing, {x: data})
        # A constant may be fed like any other value.
        fed = session.run(rows, {x: data, mask: [False, True, False]})
        assert np.array_equal(fed, data[:, [1]])


@pytest.mark.parametrize("fed", [False, True])
@pytest.mark.parametrize("counts", [[1 << 62] * 4, [1 << 45, 1], [(1 << 64) - 1, 2]])
def test_more_repeats_than_memory_holds(counts: list[int], fed: bool) -> None:
    """Their sum may be 0 in 64 bits."""
    array = np.array(counts, np.uint64)
    with sad.Graph() as graph:
        given = sad.placeholder("uint64", array.shape, name="c") if fed else sad.constant(array)
        y = sad.sum(sad.repeat(np.arange(len(counts)), given))
    with sad.Session(graph) as session, pytest.raises(sad.ExecutionError) as caught:
        session.run(y, {given: array} if fed else {})
    assert "repeated_positions" in str(caught.value)


def test_a_large_result_is_found_when_it_is_needed() -> None:
    """It is not kept with the plan, as what is small is."""
    with sad.Graph() as graph:
        y = sad.sum(sad.repeat([1.0, 2.0], sad.constant([100_000, 1])))
    with sad.Session(graph) as session:
        assert session.run(y) == 100_002
        assert finders(session, y) == 1


# ---------------------------------------------------------------- state and effects


def test_writes_behind_a_mask_are_committed_together() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        total = sad.variable(np.zeros(()), name="total")
        kept = sad.variable(np.zeros(0), name="kept", shape=("k",))
        runs = sad.variable(0, name="runs")
        positive = x[x > 0]
        checked = sad.assert_(positive < 3, "too large", positive)  # noqa: PT009
        step = sad.group(
            runs.assign_add(1), total.assign_add(sad.sum(checked)), kept.assign(positive)
        )
    with sad.Session(graph) as session:
        session.run(step, {x: [1.0, -1.0, 2.0]})
        assert session.variables["kept"].tolist() == [1.0, 2.0]
        before = session.snapshot()
        with pytest.raises(sad.ExecutionError, match="too large"):
            session.run(step, {x: [5.0, 1.0]})
        after = session.snapshot()
        assert (before.step, after.step) == (1, 1)
        assert all(np.array_equal(before.arrays[n], after.arrays[n]) for n in before.arrays)
        assert session.run([step, kept.read(after=[step]), runs], {x: [2.0]})[1].tolist() == [2.0]
        assert session.variables["total"] == 5.0
        assert session.variables["runs"] == 2


def training() -> tuple[sad.Graph, Any, Any, Any, Any]:
    """A regression on those rows whose label is there."""
    with sad.Graph(seed=3) as graph:
        x = sad.placeholder("float32", ("batch", 4), name="x")
        labels = sad.placeholder("float32", ("batch",), name="labels")
        w = sad.variable(sad.random.normal((4, 1)), name="w")
        there = labels == labels
        rows = sad.nn.dropout(x[there], 0.1)
        loss = sad.mean((sad.reshape(rows @ w, (-1,)) - labels[there]) ** 2, name="loss")
        step = sad.optimizers.Momentum(0.05).minimize(loss, [w])
    return graph, x, labels, loss, step


def batches(count: int) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(5)
    made = []
    for k in range(count):
        x = rng.normal(size=(10 + k % 3, 4)).astype(np.float32)
        labels = x @ np.array([1, -2, 3, 0.5], np.float32)
        labels[rng.random(len(labels)) < 0.3] = np.nan
        made.append((x, labels))
    return made


def test_a_training_step_on_selected_rows() -> None:
    graph, x, labels, loss, step = training()
    with sad.Session(graph) as session, sad.Session(graph, check_numerics=True) as naive:
        step_of = session.callable([loss, step], [x, labels])
        losses = [step_of(*batch)[0] for batch in batches(60)]
        assert np.mean(losses[-9:]) < 0.5 * np.mean(losses[:9])
        watched = [
            naive.run([loss, step], {x: np.where(np.isnan(b)[:, None], 0, a), labels: b})[0]
            for a, b in batches(60)
        ]
        # Rows without a label make no difference.
        assert np.allclose(losses, watched, rtol=1e-4)


def test_a_saved_training_step_runs_in_the_executor(tmp_path: Path) -> None:
    graph, x, labels, loss, step = training()
    graph.save(tmp_path / "model.sad")
    data, targets = (np.stack(column) for column in zip(*batches(10)[::3], strict=True))
    np.save(tmp_path / "x.npy", data)
    np.save(tmp_path / "labels.npy", targets)
    command = [
        sys.executable, "-m", "staticad_executor", "run", "model.sad", "--feed", "x=x.npy",
        "--feed", "labels=labels.npy", "--fetch", "loss", "--fetch", step.name,
        "--steps", "4", "--output", "out.npz",
    ]  # fmt: skip
    folders = [str(Path(m.__file__ or "").parents[1]) for m in (sys.modules["staticad_executor"],)]
    folders.append(str(Path(sys.modules["staticad_schema"].__file__ or "").parents[1]))
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": ":".join(folders), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with sad.Session(graph) as session:
        losses = [
            session.run([loss, step], {x: a, labels: b})[0]
            for a, b in zip(data, targets, strict=True)
        ]
    found = np.load(tmp_path / "out.npz")["loss"]
    assert np.array_equal(found, losses[-1] if found.ndim == 0 else losses)


def test_effects_keep_their_order() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        positive = sad.print_(x[x > 0], "first")
        total = sad.print_(sad.sum(x), "second")
        last = sad.print_(sad.sum(positive), "third")
    text = io.StringIO()
    with sad.Session(graph) as session, redirect_stdout(text):
        session.run([last, total], {x: [1.0, -1.0]})
    assert [line.split()[0] for line in text.getvalue().splitlines()] == [
        "first", "second", "third",
    ]  # fmt: skip


def test_runs_draw_other_numbers_and_the_same_again() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        noise = sad.random.normal(x[x > 0].shape, name="noise")
    with sad.Session(graph) as session:
        first, second = (session.run(noise, {x: [1.0, 2.0]}) for _ in range(2))
        assert not np.array_equal(first, second)
        assert np.array_equal(session.run(noise, {x: [3.0, 3.0]}, step=0), first)
        assert session.snapshot().run_number == 2


def test_cancelled_while_a_size_is_found() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        y = x[x > 0]
        for _ in range(30):
            y = y[y > -1]
        total = sad.variable(np.zeros(()), name="total")
        step = total.assign_add(sad.sum(y))
    with sad.Session(graph) as session:
        data = np.ones(2_000_000)
        session.run(step, {x: data[:5]})
        timer = threading.Timer(0.02, session.cancel)
        timer.start()

        def work() -> None:
            for _ in range(50):
                session.run(step, {x: data})

        with pytest.raises(sad.CancelledError):
            work()
        timer.join()
        assert session.variables["total"] % 5 == 0


# ---------------------------------------------------------------- feeds


def test_a_fed_result_tells_the_size_that_would_be_found() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        mask = x > 0
        y = x[mask]
        doubled = y * 2
        other = sad.sum(x[mask] + 1)
    for options in ({}, {"check_numerics": True}):
        with sad.Session(graph, **options) as session:  # type: ignore[arg-type]
            assert session.run(doubled, {y: [1.0, 2.0, 3.0]}).tolist() == [2, 4, 6]
            assert session.run([doubled, other], {y: [5.0], x: [-1.0, 2.0]})[1] == 3


def test_sizes_fed_and_found_have_to_agree() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        mask = x > 0
        where = line_ahead(1)
        y = x[mask]
        other = sad.sum(x[mask] + 1)
        twice = sad.concat([y, y])
        scaled, thrice = y * 1, twice * 3
    for options in ({}, {"check_numerics": True}):
        with sad.Session(graph, **options) as session:  # type: ignore[arg-type]
            with pytest.raises(sad.PlanError, match="has two sizes") as caught:
                session.run([scaled, other], {y: [5.0, 5.0], x: [-1.0, 2.0]})
            assert where in str(caught.value)
            with pytest.raises(sad.PlanError, match=r"does not fit|two sizes"):
                session.run([thrice, other, y], {twice: [5.0], x: [-1.0, 2.0]})
