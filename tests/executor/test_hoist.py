"""What follows from variables alone is computed once for each value that they have."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.compile import Hoisted, prepare, rewrite, select
from staticad_executor.compile.hoist import hoist
from staticad_executor.compile.verify import verify
from staticad_executor.hoisting import HoistingPlanner
from staticad_schema.op import OPS

from .inside import local
from .planning import Array, same_bits
from .random_graphs import programs

N = 80


class Counted:
    """A network whose weights are exp of a variable, times another; how often that ran."""

    def __init__(self, **options: Any) -> None:
        with sad.Graph(seed=0) as graph:
            self.x = sad.placeholder("float32", ("n", N), name="x")
            self.v = sad.variable(np.zeros((N, N), np.float32), name="v")
            self.scale = sad.variable(np.float32(1), name="scale")
            self.other = sad.variable(np.float32(1), name="other")
            self.w = sad.multiply(sad.exp(self.v), self.scale, name="w")
            self.y = sad.identity((self.x @ self.w)[:, 0], name="y")
            self.add = self.other.assign_add(1.0)
            self.change = self.v.assign_add(1.0)
        self.graph = graph
        self.session = sad.Session(graph, **options)

    def run(self, rows: int = 2, fetches: Any = None) -> Any:
        feeds = {self.x: np.ones((rows, N), np.float32)}
        return self.session.run(self.y if fetches is None else fetches, feeds)

    def planner(self) -> HoistingPlanner | None:
        engines: list[Any] = local(self.session).engines.values()
        found = [e for e in engines if isinstance(e, HoistingPlanner)]
        return found[0] if found else None


def runs_of(case: Counted, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    case.run()
    planner = case.planner()
    assert planner is not None
    first = planner._first
    ran: list[int] = []
    compute = first.compute

    def counted(*arguments: Any) -> Any:
        ran.append(1)
        return compute(*arguments)

    monkeypatch.setattr(first, "compute", counted)
    return ran


def test_it_runs_when_a_variable_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Counted()
    ran = runs_of(case, monkeypatch)
    for rows in (2, 2, 5, 0):
        assert case.run(rows).tolist() == [N] * rows
    assert ran == []
    case.session.run(case.add)
    case.run()
    assert ran == []
    case.session.run(case.change)
    e = np.exp(np.float32(1))
    for _ in range(2):
        np.testing.assert_allclose(case.run(), N * e, rtol=1e-6)
    assert len(ran) == 1
    case.session.variables["scale"] = 2
    np.testing.assert_allclose(case.run(), 2 * N * e, rtol=1e-6)
    assert len(ran) == 2
    snapshot = case.session.snapshot()
    case.session.initialize()
    assert case.run().tolist() == [N, N]
    case.session.restore(snapshot)
    np.testing.assert_allclose(case.run(), 2 * N * e, rtol=1e-6)
    assert len(ran) == 4
    case.session.trim()
    case.run()
    assert len(ran) == 5


def test_what_the_run_itself_writes_is_not_hoisted() -> None:
    case = Counted()
    for k in range(3):
        y, _ = case.run(fetches=[case.y, case.change])
        np.testing.assert_allclose(y, N * np.exp(np.float32(k)), rtol=1e-6)
    assert case.planner() is None
    for k in range(3):
        y, other = case.run(fetches=[case.y, case.add])
        np.testing.assert_allclose(y, N * np.exp(np.float32(3)), rtol=1e-6)
        assert other == k + 2


def test_a_hoisted_value_can_be_fetched_and_is_the_callers_own() -> None:
    case = Counted()
    w, y = case.run(fetches=[case.w, case.y])
    w[...] = 7
    again, y2 = case.run(fetches=[case.w, case.y])
    assert again.tolist() == np.ones((N, N)).tolist()
    assert y.tobytes() == y2.tobytes()


def test_explain_memory_and_profile() -> None:
    case = Counted()
    text = case.session.explain(case.y, sizes={"n": 3})
    assert text.startswith("hoisted: computed again when a variable has changed\n")
    assert "carried 'w' float32[80, 80]" in text
    plain = Counted(rewrites=("exact", "-hoist"))
    assert "hoisted" not in plain.session.explain("y", sizes={"n": 3})
    told = case.session.memory(case.y, {"n": 3})
    assert told.variable_bytes == 4 * (N * N + 1)
    assert told.feed_bytes == 4 * 3 * N
    assert told.scratch_bytes >= 4 * N * N
    case.run(3)
    assert case.session.explain(case.y) == text
    profile = case.session.profile(case.y, {case.x: np.ones((3, N), np.float32)}, repeat=2)
    assert profile.result.tolist() == [N] * 3


def test_switches_budgets_and_what_is_not_worthwhile() -> None:
    for options in ({"rewrites": ()}, {"memory_budget": 1 << 30}, {"check_numerics": True}):
        case = Counted(**options)
        assert case.run().tolist() == [N, N]
        assert case.planner() is None
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (N, N))
        small = sad.variable(np.float32(2))
        large = sad.variable(np.ones((N, N), np.float32))
        y = x * sad.exp(small) + large.T
    feeds = {x.id: x.type}
    assert not isinstance(prepare(graph, [y.id], [], feeds), Hoisted)
    # Without anything that is fed a run is not repeated.
    w = sad.exp(large)
    assert not isinstance(prepare(graph, [w.id], [], {}), Hoisted)


def test_views_of_what_is_hoisted_are_taken_where_they_are_used() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", N))
        v = sad.variable(np.ones((N, N), np.float32))
        w = sad.exp(v)
        y, z = x @ w.T, x + w[0]
    program = rewrite(select(graph, [y.id, z.id], [], {x.id: x.type}))
    parts = hoist(program)
    assert parts is not None
    verify(parts.first)
    verify(parts.rest)
    assert [n.op for n in parts.first.graph.nodes] == ["parameter", "exp"]
    assert len(parts.carried) == 1
    assert "slice" in [n.op for n in parts.rest.graph.nodes]


def test_random_and_ordered_nodes_stay(capsys: pytest.CaptureFixture[str]) -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (N, N))
        v = sad.variable(np.ones((N, N), np.float32))
        noise = sad.random.uniform((N, N)) + v
        shown = sad.print_(sad.exp(v)[0, 0], "shown")
        y = x + noise + sad.exp(v) + shown
    with sad.Session(graph) as session, sad.Session(graph, rewrites=()) as plain:
        for step in (0, 1, 2, 2):
            feeds = {x: np.zeros((N, N))}
            found, expected = (s.run(y, feeds, step=step) for s in (session, plain))
            assert same_bits(found, expected)
    assert capsys.readouterr().out.count("shown") == 8


def test_what_fails_in_the_hoisted_part_names_the_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (N, N))
        v = sad.variable(np.eye(N, dtype=np.float32))
        y = x @ sad.linalg.cholesky(v)
        indefinite = v.assign(-np.eye(N, dtype=np.float32))
    with sad.Session(graph) as session:
        feeds = {x: np.eye(N)}
        session.run(y, feeds)
        session.run(indefinite)
        for _ in range(2):
            with pytest.raises(sad.ExecutionError, match=r"test_hoist\.py"):
                session.run(y, feeds)
        session.initialize()
        assert session.run(y, feeds).trace() == N


def test_many_threads_see_the_values_of_their_snapshots() -> None:
    case = Counted()
    wrong: list[Any] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            y, other = case.run(1, [case.y, case.scale])
            if not np.allclose(y, N * other):
                wrong.append((y, other))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(2, 60):
        case.session.variables["scale"] = k
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


@settings(max_examples=60, deadline=None, derandomize=True,
          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
@given(programs(), st.integers(1, 3))
def test_random_programs_of_variables(case: Any, threads: int) -> None:
    """Some of the placeholders are replaced by variables."""
    graph, fetches, feeds = case
    with graph:
        first, *_ = feeds
        array: Array = feeds[first]
        v = sad.variable(array, name="v")
        big = sad.constant(np.ones((64, 80), array.dtype))
        if array.dtype != bool:
            raised = OPS["sum"](OPS["multiply"](big, big), axis=(0, 1), keepdims=False)
            shared = OPS["multiply"](v, raised)
            fetches = [*fetches, shared, OPS["add"](shared, first)]
        else:
            fetches = [*fetches, OPS["logical_and"](v, first)]
    with sad.Session(graph, threads=threads) as session, sad.Session(graph, rewrites=()) as plain:
        for _ in range(2):
            results = [s.run(fetches, feeds) for s in (session, plain)]
            for found, expected in zip(*results, strict=True):
                assert found.shape == expected.shape
                if found.dtype.kind in "iub":
                    assert same_bits(found, expected)
            if array.dtype != bool:
                session.variables["v"] = plain.variables["v"] = np.ones_like(array)
