"""Random programs that find sizes, with random fetches, feeds and writes: plans equal naive
evaluation bit for bit, in values, state and what is printed."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import Result, interpret
from tests.executor.planning import same_bits

STEPS = 18


class Program:
    """A graph of random nodes over two vectors, and what of it is asked for."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        with sad.Graph(seed=1) as self.graph:
            self.inputs = [sad.placeholder("float64", ("n",), name=name) for name in "xy"]
            self.total = sad.variable(np.ones(()), name="total")
            self.kept = sad.variable(np.ones(2), name="kept", shape=("k",))
            self.body = self.graph.define("body", lambda a: sad.sum(a[a > 0.3]), self.inputs[0])
            self.vectors: list[Any] = list(self.inputs)
            self.scalars: list[Any] = [self.total * 1.0]
            self.effects: list[Any] = []
            for _ in range(self.rng.integers(3, STEPS)):
                self.grow()
        self.feeds: dict[Any, Any] = {x: self.rng.normal(size=9) * 2 for x in self.inputs}
        fetched = self.some(self.vectors, 4) + self.some(self.scalars, 2)
        self.fetches = fetched + self.some(self.effects, 2)
        if self.rng.random() < 0.3:
            # Any value may be fed, here its own.
            (fed,) = self.some(self.vectors, 1)
            with redirect_stdout(io.StringIO()):
                self.feeds[fed] = np.array(self.naive([fed]).values[0])

    def some(self, of: list[Any], most: int) -> list[Any]:
        count = min(len(of), int(self.rng.integers(1, most + 1)))
        return [of[i] for i in self.rng.choice(len(of), size=count, replace=False)] if of else []

    def grow(self) -> None:
        """One more node, or a few, of a kind that is drawn."""
        (a,), (s,) = self.some(self.vectors, 1), self.some(self.scalars, 1)
        (b,) = self.some([v for v in self.vectors if v.shape == a.shape], 1)
        vectors: list[Any] = [
            lambda: a[b > 0],
            lambda: a[b > 0],
            lambda: a * b + s,
            lambda: sad.unique_values(sad.round(a)),
            lambda: a.at[b > s * 0.1].set(s),
            lambda: sad.zeros(a.shape) + s,
            lambda: sad.random.normal(a.shape, dtype="float64"),
            lambda: sad.print_(a, "seen", summarize=2),
            lambda: sad.gradients(
                sad.sum(sad.sin(a)) + s, self.inputs[self.rng.integers(2)], unconnected="zero"
            )[0],
            lambda: sad.concat([a, b]),
            lambda: sad.repeat(a, sad.astype(sad.abs(sad.round(b)) % 3, "int64")),
            lambda: sad.flip(sad.broadcast_to(a, (2, *a.shape)), axis=1)[0],
        ]
        scalars: list[Any] = [
            lambda: sad.sum(a),
            lambda: sad.tanh(s) + sad.sum(a * b),
            lambda: self.body(a),
            lambda: sad.constant(sad.flip(a).shape[0] * 2 + 1).astype("float64"),
        ]
        effects: list[Any] = [
            lambda: self.total.assign_add(s * 0.1),
            lambda: self.kept.assign(a),
        ]
        made = [(make, kind) for kind in (vectors, scalars, effects) for make in kind]
        make, kind = made[self.rng.integers(len(made))]
        into = {id(vectors): self.vectors, id(scalars): self.scalars, id(effects): self.effects}
        into[id(kind)].append(make())

    def naive(self, fetches: list[Any]) -> Result:
        given = {x.id: np.asarray(a) for x, a in self.feeds.items()}
        state = {"total": np.ones(()), "kept": np.ones(2)}
        return interpret(self.graph, [f.id for f in fetches], (), given, state, 0)


@pytest.mark.parametrize("rewrites", [("exact",), ()])
@pytest.mark.parametrize("seed", range(60))
def test_plans_of_random_programs_equal_naive_evaluation(
    seed: int, rewrites: tuple[str, ...]
) -> None:
    program = Program(seed)
    texts = io.StringIO(), io.StringIO()
    with redirect_stdout(texts[0]):
        expected = program.naive(program.fetches)
    with sad.Session(program.graph, rewrites=rewrites) as session, redirect_stdout(texts[1]):
        found = session.run(program.fetches, program.feeds)
        for a, b in zip(found, expected.values, strict=True):
            assert same_bits(a, np.asarray(b))
        for name, array in expected.writes.items():
            assert same_bits(session.variables[name], np.asarray(array))
        assert texts[0].getvalue() == texts[1].getvalue()
        ran = session.explain(program.fetches, feeds=list(program.feeds))
        assert "calls; peak" in ran
        assert session.explain(program.fetches, feeds=list(program.feeds)) == ran


@pytest.mark.parametrize("count", [0, 2, 301])
@pytest.mark.parametrize("constant", [True, False])
def test_sizes_that_do_not_fit_are_told_as_inference_tells_them(count: int, constant: bool) -> None:
    mask = np.arange(400) < count
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (300, 300))
        given = sad.constant(mask) if constant else sad.placeholder("bool", (400,))
        y = sad.exp(sad.nonzero(given)[0].astype("float32") - x)
    feeds = {x: np.ones((300, 300))} | ({} if constant else {given: mask})
    with (
        sad.Session(graph) as session,
        pytest.raises(sad.StaticadError, match="shapes do not broadcast") as caught,
    ):
        session.run(sad.sum(y, axis=1), feeds)
    assert "test_run_time_programs.py" in str(caught.value)
