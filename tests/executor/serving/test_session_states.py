"""Whatever is done to a session, in whatever order, one elsewhere is in the state of one here."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import staticad as sad

from .servers import Server
from .test_targets import state

VALUES = st.integers(-8, 8).map(float)
SIZES = st.sampled_from([0, 1, 3, 20_000])


class Sessions(RuleBasedStateMachine):
    """Two sessions on one graph, to which the same is done."""

    address = ""

    def __init__(self) -> None:
        super().__init__()
        with sad.Graph(seed=1) as graph:
            self.x = sad.placeholder("float32", ("n",), name="x")
            self.v = sad.variable(2.0, name="v")
            noise = sad.random.normal((), name="noise")
            self.total = sad.sum(self.x) + self.v
            self.add = self.v.assign_add(sad.sum(self.x))
            self.draw = self.v.assign_add(noise * 0.5)
            self.checked = sad.assert_(self.v < 20.0, "large", self.total)  # noqa: PT009
        self.graph = graph
        self.pair = [sad.Session(graph, target=self.address), sad.Session(graph)]
        self.kept: list[list[Any]] = []
        self.folder = tempfile.TemporaryDirectory()

    def same(self, call: Any) -> None:
        """The same answers, or the same errors."""
        answers = []
        for session in self.pair:
            try:
                found = call(session)
                answers.append(None if found is None else np.asarray(found).tobytes())
            except sad.StaticadError as error:
                answers.append(f"{type(error).__name__} {error}".encode())
        assert answers[0] == answers[1]

    @rule(value=VALUES, size=SIZES, what=st.sampled_from(["total", "add", "draw", "checked"]))
    def run(self, value: float, size: int, what: str) -> None:
        fed = np.full(size, value / 64, np.float32)
        self.same(lambda session: session.run(getattr(self, what), {self.x: fed}))

    @rule(step=st.integers(0, 5))
    def run_at_step(self, step: int) -> None:
        self.same(lambda session: session.run("noise", step=step))

    @rule(value=VALUES)
    def assign(self, value: float) -> None:
        self.same(lambda session: session.variables.__setitem__("v", value))

    @rule()
    def assign_what_does_not_fit(self) -> None:
        self.same(lambda session: session.variables.__setitem__("v", [1.0, 2.0]))

    @rule()
    def initialize(self) -> None:
        self.same(lambda session: session.initialize())

    @rule()
    def keep(self) -> None:
        self.kept.append([session.snapshot() for session in self.pair])

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        if self.kept:
            # One from before the graph grew fits neither.
            held = data.draw(st.sampled_from(self.kept))
            self.same(lambda session: session.restore(held[self.pair.index(session)]))

    @rule()
    def exchange_by_files(self) -> None:
        for k, session in enumerate(self.pair):
            session.save(Path(self.folder.name) / str(k))
        for k, session in enumerate(self.pair):
            session.restore(Path(self.folder.name) / str(1 - k))

    @rule()
    def grow(self) -> None:
        with self.graph:
            self.total = self.total * 2 + sad.variable(1.0)

    @rule()
    def trim_and_cancel(self) -> None:
        for session in self.pair:
            session.trim()
            session.cancel()

    @rule()
    def begin_again(self) -> None:
        held = [session.snapshot() for session in self.pair]
        for session in self.pair:
            session.close()
        self.pair = [sad.Session(self.graph, target=self.address), sad.Session(self.graph)]
        for session, snapshot in zip(self.pair, held, strict=True):
            session.restore(snapshot)

    @invariant()
    def same_states(self) -> None:
        there, here = (state(session) for session in self.pair)
        assert there == here

    def teardown(self) -> None:
        for session in self.pair:
            with contextlib.suppress(sad.StaticadError):
                session.close()
        self.folder.cleanup()


@pytest.mark.filterwarnings("ignore::staticad.GrowthWarning")
def test_sessions_agree(unix_server: Server) -> None:
    class There(Sessions):
        address = unix_server.address

    run_state_machine_as_test(
        There,
        settings=settings(
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
