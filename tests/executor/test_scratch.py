"""Scratch memory between runs: kept for those that ran last, bounded over all plans."""

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor import scratch
from staticad_executor.engine import Planner

from .inside import local

F32 = np.float32


def hungry() -> tuple[sad.Session, Any, Any]:
    """A session whose runs on n rows need about 4,000 bytes of scratch a row."""
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 500), name="x")
        w = sad.constant(np.eye(500, dtype=F32))
        y = sad.sum(sad.exp(x @ w) @ w)
    return sad.Session(graph), x, y


def plans_of(session: sad.Session) -> list[Any]:
    engines = local(session).engines.values()
    found = [e._plans.values() for e in engines if isinstance(e, Planner)]
    return [ready.plan for plans in found for ready in plans]


def test_K5_two_hundred_batch_sizes_keep_the_memory_of_a_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scratch, "KEPT_BYTES", 1 << 20)
    session, x, y = hungry()
    data = np.zeros((200, 500), F32)
    largest = 0
    for k in range(200):
        n = 1 + k * 73 % 200
        assert session.run(y, {x: data[:n]}) == n * 500 * 1.0
        plans = plans_of(session)
        largest = max(largest, *(plan.peak_bytes for plan in plans))
        assert sum(plan.kept_bytes for plan in plans) <= max(1 << 20, 2 * largest)
    assert largest > 500_000
    session.trim()
    assert sum(plan.kept_bytes for plan in plans_of(session)) == 0


def test_plans_that_take_turns_keep_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "KEPT_BYTES", 0)
    session, x, y = hungry()
    data = np.zeros((200, 500), F32)
    for n in (200, 150, 200, 150):
        session.run(y, {x: data[:n]})
    kept = [plan.idle[0] for plan in plans_of(session)]
    for n in (200, 150):
        session.run(y, {x: data[:n]})
    assert len(kept) == 2
    assert all(a is b for a, b in zip(kept, [p.idle[0] for p in plans_of(session)], strict=True))
