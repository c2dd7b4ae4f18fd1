"""Random programs of reads, writes, prints, dependencies, bodies and feeds, beside a model.

The model is the page docs/semantics.md as a program: it walks the nodes in order of creation
and knows neither selection nor data flow.  Every array is a number times the same weights, so
that the model computes with numbers, also where the arrays are large enough for tiles.
"""

from __future__ import annotations

import contextlib
import io
import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_schema.handle import Effect
from staticad_schema.types import Array

NAMES = ("u", "v")
START = {"u": 3.0, "v": 5.0}
# What a check demands; most values are below.
LIMIT = 60.0
# Scalars, arrays of one call, and arrays that are cut into tiles.
SIZES = (None, 3, 40_000)


def weighted(value: float, size: int | None) -> Array:
    """The array that stands for a number: powers of two keep every sum exact."""
    weights = 1.0 if size is None else 0.5 ** (np.arange(size) % 5)
    return np.asarray(value * weights)


@dataclass
class Made:
    """What was built, and what it should do: kind, operands and dependencies as positions."""

    handle: Any
    kind: str
    variable: str = ""
    operands: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    message: str = ""


@dataclass
class Built:
    """A program under construction."""

    size: int | None
    graph: sad.Graph = field(default_factory=lambda: sad.Graph(seed=0))
    nodes: list[Made] = field(default_factory=list)

    def add(self, handle: Any, kind: str, **details: Any) -> None:
        self.nodes.append(Made(handle, kind, **details))

    def values(self) -> list[int]:
        return [i for i, n in enumerate(self.nodes) if not isinstance(n.handle, Effect)]


WRITES: dict[str, Callable[[float, float], float]] = {
    "assign": lambda old, x: x,
    "assign_add": operator.add,
    "assign_sub": operator.sub,
}
KINDS = (
    *WRITES,
    "read",
    "add",
    "identity",
    "after",
    "group",
    "print",
    "call",
    "check",
    "check_only",
)


@st.composite
def built(draw: st.DrawFn) -> Built:
    made = Built(draw(st.sampled_from(SIZES)))
    graph = made.graph
    shape = () if made.size is None else (made.size,)
    noisy = graph.define("noisy", lambda x: sad.print_(x * 2.0, "inner"), ("float64", shape))
    with graph:
        variables = {
            name: sad.variable(weighted(START[name], made.size), name=name) for name in NAMES
        }
        for name, variable in variables.items():
            made.add(variable, "start", variable=name)
        for number in range(draw(st.integers(1, 14))):
            everything = st.integers(0, len(made.nodes) - 1)
            after = tuple(draw(st.lists(everything, max_size=3)))
            before = [made.nodes[i].handle for i in after]
            i, j = (draw(st.sampled_from(made.values())) for _ in range(2))
            x, y = made.nodes[i].handle, made.nodes[j].handle
            name = draw(st.sampled_from(NAMES))
            kind = draw(st.sampled_from(KINDS))
            message = f"#{number}"
            if kind == "read":
                made.add(variables[name].read(before), kind, variable=name, after=after)
            elif kind in WRITES:
                write = getattr(variables[name], kind)(x, after=before)
                made.add(write, kind, variable=name, operands=(i,), after=after)
            elif kind == "add":
                made.add(x + y, kind, operands=(i, j))
            elif kind == "identity":
                made.add(sad.identity(x), kind, operands=(i,))
            elif kind == "after":
                made.add(sad.after(x, *before), kind, operands=(i,), after=after)
            elif kind == "group":
                made.add(sad.group(*before), kind, after=after)
            elif kind == "print":
                made.add(sad.print_(x, message), kind, operands=(i,), message=message)
            elif kind == "check":
                checked = sad.assert_(x < LIMIT, message, y)  # noqa: PT009
                made.add(checked, kind, operands=(j, i), message=message)
            elif kind == "check_only":
                done = sad.assert_(x < LIMIT, message)  # noqa: PT009
                made.add(done, kind, operands=(i,), message=message)
            else:
                made.add(noisy(x), kind, operands=(i,))
    return made


def needed(made: Built, fetched: Collection[int], fed: Collection[int]) -> list[int]:
    seen: set[int] = set()
    stack = list(fetched)
    while stack:
        i = stack.pop()
        if i not in seen and i not in fed:
            seen.add(i)
            stack += [*made.nodes[i].operands, *made.nodes[i].after]
    return sorted(seen)


def behind(made: Built, i: int, fed: Collection[int]) -> set[int]:
    """What node i comes after, through operands and dependencies that run."""
    node = made.nodes[i]
    return set(needed(made, [*node.operands, *node.after], fed))


def shown(value: float, made: Built) -> list[str]:
    return np.array2string(weighted(value, made.size), threshold=1000, edgeitems=3).split("\n")


def model(
    made: Built, fetched: Collection[int], fed: dict[int, float]
) -> tuple[list[float | None] | str, dict[str, float], list[str]]:
    """The fetched values, or the message of the check that fails; the variables after the run;
    and the lines printed."""
    results: dict[int, float | None] = dict(fed)
    current = dict(START)
    lines = []
    for i in needed(made, fetched, fed):
        node = made.nodes[i]
        given: list[Any] = [results[k] for k in node.operands]
        if node.kind == "start":
            results[i] = START[node.variable]
        elif node.kind == "read":
            writes = [
                k
                for k in behind(made, i, fed)
                if made.nodes[k].kind in WRITES and made.nodes[k].variable == node.variable
            ]
            results[i] = results[max(writes)] if writes else START[node.variable]
        elif node.kind in WRITES:
            current[node.variable] = WRITES[node.kind](current[node.variable], given[0])
            results[i] = current[node.variable]
        elif node.kind == "group":
            results[i] = None
        elif node.kind == "call":
            results[i] = given[0] * 2
            first, *rest = shown(given[0] * 2, made)
            lines += [f"inner {first}", *rest]
        elif node.kind in ("check", "check_only"):
            if not given[-1] < LIMIT:
                return node.message, dict(START), lines
            results[i] = given[0] if node.kind == "check" else None
        else:
            results[i] = sum(given)
            if node.kind == "print":
                first, *rest = shown(given[0], made)
                lines += [f"{node.message} {first}", *rest]
    return [results[i] for i in fetched], current, lines


@pytest.mark.parametrize("checked", [False, True], ids=["plan", "interpreter"])
@settings(max_examples=150)
@given(made=built(), data=st.data())
def test_a_run_is_what_the_page_says(checked: bool, made: Built, data: st.DataObject) -> None:
    positions = st.integers(0, len(made.nodes) - 1)
    fetched = data.draw(st.lists(positions, min_size=1, max_size=4))
    fed = {
        i: float(k + 100)
        for k, i in enumerate(data.draw(st.lists(st.sampled_from(made.values()), max_size=2)))
    }
    expected, state, lines = model(made, fetched, fed)
    printed = io.StringIO()
    with (
        sad.Session(made.graph, check_numerics=checked, threads=2) as session,
        contextlib.redirect_stdout(printed),
    ):
        fetches = [made.nodes[i].handle for i in fetched]
        feeds = {made.nodes[i].handle: weighted(value, made.size) for i, value in fed.items()}
        if isinstance(expected, str):
            with pytest.raises(sad.ExecutionError, match=f"{expected}\\b"):
                session.run(fetches, feeds)
        else:
            found = session.run(fetches, feeds)
            for array, value in zip(found, expected, strict=True):
                assert (array is None) == (value is None)
                if value is not None:
                    np.testing.assert_array_equal(array, weighted(value, made.size))
        for name in NAMES:
            held = session.variables[name]
            np.testing.assert_array_equal(held, weighted(state[name], made.size))
    assert printed.getvalue().splitlines() == lines
