"""Random graphs on OpenCL: each value is what NumPy makes of the operands that the device has.

So errors do not add up, and each op is held to its own tolerance.  Then the fetches alone are run,
another plan of fewer results, whose bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_executor.interpret import interpret
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.types import Array
from tests.devices import lesser, like_a_gpu, opencl
from tests.executor.planning import same_bits
from tests.executor.random_graphs import programs
from tests.ops.every import EPS
from tests.ops.nearness import differs


def examples(count: int) -> settings:
    """So many graphs, the same ones each time."""
    return settings(
        max_examples=count, deadline=None, derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip


DEVICES: dict[str, Callable[[], Any]] = {
    "numpy": lambda: "numpy",
    "shared": opencl,
    "separate": lambda: lesser(separate=True),
    "groups of 1": lambda: lesser(work_group=1),
    "groups of 12": lambda: like_a_gpu(work_group=12, local_bytes=1024),
    "groups of 16": lambda: like_a_gpu(work_group=16, fp64=False),
    "like a GPU": like_a_gpu,
}


def check(case: Any, device: str | OpenCLDevice) -> str:
    """Run a case on a device; the plan."""
    graph, fetches, feeds = case
    every = {v: graph.handle(v) for node in graph.nodes for v in node.outputs}
    with sad.Session(graph, device=device, rewrites=("exact",)) as session:
        found = session.run(every, feeds)
        for node in graph.nodes:
            if node.inputs:
                judge(graph, node, found)
        for value, again in zip(fetches, session.run(fetches, feeds), strict=True):
            assert same_bits(again, found[value.id]), (again, found[value.id])
        plan: str = session.explain(fetches)
    return plan


def judge(graph: Graph, node: Node, found: dict[int, Array]) -> None:
    """The results of a node are what NumPy makes of what it was given."""
    definition = OPS[node.op]
    given = {v: found[v] for v in node.inputs}
    with np.errstate(all="ignore"):
        right = interpret(graph, list(node.outputs), (), given, {}, 0).values
    for value, expected in zip(node.outputs, right, strict=True):
        if node.op == "sum":
            assert near_sum(found[value], expected, given[node.inputs[0]], node), (node, given)
        else:
            assert not differs(definition, found[value], expected), (
                f"{node.op} {node.attributes} of {given}: {found[value]}, not {expected}"
            )


def near_sum(found: Array, expected: Array, x: Array, node: Node) -> bool:
    """Whether both are sums of x, in whatever order."""
    if found.dtype.kind in "iu":
        return bool((found == expected).all())
    kept = {"axis": node.attributes["axis"], "keepdims": node.attributes["keepdims"]}
    with np.errstate(all="ignore"):
        whole: Any = np.sum(np.abs(x.astype(np.float64)), **kept)
        apart = np.abs(found.astype(np.float64) - expected.astype(np.float64))
        close = (found == expected) | (apart <= 16 * EPS[found.dtype] * whole)
    close |= np.isnan(found) & np.isnan(expected)
    # Order decides where partial sums leave the range.
    return bool((close | ~(whole < 1e38)).all())


@examples(200)
@given(programs())
def test_opencl_equals_numpy(case: Any) -> None:
    check(case, opencl())


@examples(50)
@given(programs())
def test_memory_of_its_own_changes_nothing(case: Any) -> None:
    check(case, DEVICES["separate"]())


@pytest.mark.parametrize("limits", ["groups of 1", "groups of 12", "groups of 16", "like a GPU"])
@examples(30)
@given(case=programs())
def test_lesser_devices_compute_the_same(case: Any, limits: str) -> None:
    check(case, DEVICES[limits]())


# A hint for what is not there is passed over.
HINTS = ("numpy", "opencl:0", "opencl:1", "opencl:2")


@examples(50)
@given(programs(devices=HINTS), st.sampled_from(["numpy", "shared", "separate"]))
def test_parts_on_several_devices(case: Any, session_on: str) -> None:
    check(case, DEVICES[session_on]())
