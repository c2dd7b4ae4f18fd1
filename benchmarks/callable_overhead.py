"""What `Session.callable` costs beyond the ufunc calls that it makes.

A chain of scalar operations has nothing else to do: its time is that of the calls.  The same calls
on preallocated 0-d arrays, from a bare loop, are subtracted; two lengths separate the cost of a
node from the cost of a call of the whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import benchmarks
import staticad as sad
from benchmarks.definitions import Array, Program
from benchmarks.devices import given
from benchmarks.measure import Record, clock
from benchmarks.on_staticad.elementwise import chain_value
from benchmarks.yardstick.chain import chain_program

SHORT, LONG = 10, 1000
REPEATS = 400

UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "sin": np.sin,
    "tanh": np.tanh,
}


def bare(program: Program) -> Callable[[Array], Array]:
    """The ufunc calls of the chain, prepared as far as Python allows, in one loop."""
    x = np.zeros((), np.float32)
    value, calls = x, []
    for name, constant in program:
        operands = [value]
        if name in ("add", "mul"):
            operands.append(np.asarray(constant, np.float32))
        value = np.empty((), np.float32)
        calls.append(functools.partial(UFUNCS[name], *operands, value))

    def run(at: Array) -> Array:
        x[()] = at
        for call in calls:
            call()
        return value

    return run


def prepared(program: Program, device: str) -> Callable[[Array], Any]:
    """The chain as a graph, as a session's callable."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        value = chain_value(program, x)
    session = sad.Session(graph, device=given(device), threads=benchmarks.THREADS)
    run: Callable[[Array], Any] = session.callable(value, [x])
    return run


def seconds(run: Callable[[Array], Any]) -> float:
    """The shortest of single calls: what disturbs a call only ever adds to it."""
    at = np.asarray(0.5, np.float32)
    for _ in range(20):
        run(at)
    times = []
    for _ in range(REPEATS):
        began = clock()
        run(at)
        times.append(clock() - began)
    return min(times)


def measure(device: str) -> Record:
    """Microseconds added a node, and fixed."""
    short, long = chain_program(SHORT), chain_program(LONG)
    callable_short, callable_long = (
        seconds(prepared(short, device)),
        seconds(prepared(long, device)),
    )
    bare_short, bare_long = seconds(bare(short)), seconds(bare(long))
    per_node = (callable_long - callable_short) / (LONG - SHORT)
    bare_per_node = (bare_long - bare_short) / (LONG - SHORT)
    return {
        "peer": f"staticad {device}",
        "workload": "callable_overhead",
        "callable_us": callable_long * 1e6,
        "bare_us": bare_long * 1e6,
        "per_node_us": (per_node - bare_per_node) * 1e6,
        "fixed_us": (callable_short - SHORT * per_node) * 1e6,
    }
