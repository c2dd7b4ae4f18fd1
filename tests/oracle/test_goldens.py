"""Every golden case of a function that exists: outputs, gradients, second order.

By interpretation, on NumPy, where the plan is rewritten, and in float32 on OpenCL, where the cases
of a function are one graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import interpret
from staticad_schema.types import Array

from ..devices import opencl
from .cases import Case, read
from .decisions import DECISIONS, expected
from .functions import FUNCTIONS

CASES, COUNTS = read()
TRIED = [case for case in CASES if case.op in FUNCTIONS]
RUNNERS = ("interpretation", "numpy")

# Relative and absolute, as the values were agreed on.
TOLERANCES = {"float64": (1e-7, 1e-9), "float32": (1e-3, 1e-5)}


def test_no_case_is_dropped() -> None:
    # Functions of which no case is kept here may be there, too.
    assert COUNTS.keys() <= set(FUNCTIONS)
    for op, counts in COUNTS.items():
        for dtype, count in counts.items():
            stored = [case.id for case in CASES if (case.op, case.dtype) == (op, dtype)]
            assert len(set(stored)) == len(stored) == count, f"{op} of {dtype}"


def test_decisions_are_made_where_the_systems_differ_and_nowhere_else() -> None:
    differ = {
        (case.id, name) for case in TRIED for name, how in case.disagree.items() if how == "value"
    }
    replaced = {
        (i, name) for i, by in DECISIONS.items() for name, d in by.items() if d.slopes or d.values
    }
    decided = {(i, name) for i, by in DECISIONS.items() for name in by}
    assert differ <= decided
    assert decided <= differ | replaced
    for case in TRIED:
        assert all(how in ("value", "sign of zero") for how in case.disagree.values()), case


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("case", TRIED, ids=str)
def test_case(case: Case, runner: str) -> None:
    with sad.Graph(seed=0) as graph:
        fetches, feeds = _built(case)
    for name, array in _run(runner, graph, fetches, feeds).items():
        check(case, name, array)


@pytest.mark.parametrize("op", sorted({case.op for case in TRIED}))
def test_cases_of_float32_on_opencl(op: str) -> None:
    cases = [case for case in TRIED if (case.op, case.dtype) == (op, "float32")]
    feeds: dict[Any, Array] = {}
    wanted = []
    with sad.Graph(seed=0) as graph:
        for case in cases:
            fetches, given = _built(case)
            wanted.append(fetches)
            feeds.update(given)
    with sad.Session(graph, device=opencl()) as session:
        found = session.run(wanted, feeds)
    for case, arrays in zip(cases, found, strict=True):
        for name, array in arrays.items():
            check(case, name, array)


def _built(case: Case) -> tuple[dict[str, Any], dict[Any, Array]]:
    """What is judged of a case, by name, and what is fed, in the graph that is open."""
    xs = [_fed(a) for a in case.inputs]
    result = FUNCTIONS[case.op](*xs, **case.attributes)
    outputs = list(result) if isinstance(result, list | tuple) else [result]
    assert len(outputs) == len(case.outputs)
    feeds = dict(zip(xs, case.inputs, strict=True))
    fetches = dict(zip(case.outputs, outputs, strict=True))
    wanted = [xs[i] for i in case.differentiated]
    if wanted:
        fetches.update(_derivatives(case, outputs, wanted, feeds))
    judged = {n for n in case.arrays if n.startswith(("out", "vjp", "hvp")) and "@" not in n}
    assert judged == set(fetches)
    return fetches, feeds


def _run(
    runner: str, graph: sad.Graph, fetches: Mapping[str, Any], feeds: Mapping[Any, Array]
) -> dict[str, Array]:
    """The fetched values: by a session on a device, or node by node."""
    if runner != "interpretation":
        with sad.Session(graph, device=runner) as session:
            found: dict[str, Array] = session.run(fetches, feeds)
        return found
    given = {x.id: array for x, array in feeds.items()}
    with np.errstate(all="ignore"):
        result = interpret(graph, [y.id for y in fetches.values()], (), given, {}, 0)
    return dict(zip(fetches, result.values, strict=True))


def _fed(array: Array) -> Any:
    return sad.placeholder(array.dtype, array.shape)


def _derivatives(
    case: Case, outputs: list[Any], wanted: list[Any], feeds: dict[Any, Array]
) -> dict[str, Any]:
    """The products vjp<i> and, where the case has them, hvp<i>."""

    def given(name: str) -> Any:
        handle = _fed(case.arrays[name])
        feeds[handle] = case.arrays[name]
        return handle

    # Without cotangents the gradient is 0 whatever they are.
    seeds = [given(f"ct{k}") for k in case.cotangents] or None
    ys = [outputs[k] for k in case.cotangents] or outputs
    first = sad.gradients(ys, wanted, seeds, unconnected="zero")
    found = {f"vjp{i}": g for i, g in zip(case.differentiated, first, strict=True)}
    if f"hvp{case.differentiated[0]}" in case.arrays:
        directions = [given(f"u{i}") for i in case.differentiated]
        second = sad.gradients(first, wanted, directions, unconnected="zero")
        found.update({f"hvp{i}": h for i, h in zip(case.differentiated, second, strict=True)})
    return found


def check(case: Case, name: str, found: Array) -> None:
    right = expected(case, name)
    assert (found.dtype, found.shape) == (right.dtype, right.shape), name
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, right, err_msg=name)
        return
    relative, absolute = TOLERANCES[case.dtype]
    np.testing.assert_allclose(found, right, rtol=relative, atol=absolute, err_msg=name)
