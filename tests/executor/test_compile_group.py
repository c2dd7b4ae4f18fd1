"""Stages 3 to 5: devices, regions without cycles, an order of low peak."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given

import staticad as sad
from staticad_executor.compile import group, order, place, rewrite, select
from staticad_executor.compile.group import Grouped, predecessors
from staticad_executor.program import Program

from .random_graphs import programs
from .test_compile_equals_meaning import RANDOM


def grouped(fetches: list[Any], feeds: list[Any]) -> Grouped:
    graph = fetches[0].graph
    program = select(graph, [f.id for f in fetches], [], {x.id: x.type for x in feeds})
    return group(place(rewrite(program)))


def shapes_of(result: Grouped) -> list[tuple[str, str]]:
    nodes = result.program.graph.nodes
    return [(g.kind, " ".join(nodes[i].op for i in g.nodes)) for g in result.groups]


def check_order(result: Grouped) -> None:
    """Every group comes behind those that it needs, and owns its nodes alone."""
    graph = result.program.graph
    for k, earlier in enumerate(predecessors(result.groups, result.owner, graph)):
        assert all(e < k for e in earlier)
    members = [i for g in result.groups for i in g.nodes]
    assert len(members) == len(set(members))
    for k, g in enumerate(result.groups):
        assert all(result.owner[i] == k for i in g.nodes)


@RANDOM
@given(programs(size=20))
def test_groups_have_no_cycle(case: Any) -> None:
    _, fetches, feeds = case
    result = grouped(fetches, list(feeds))
    check_order(result)
    better = order(result)
    check_order(better)
    assert sorted(shapes_of(better)) == sorted(shapes_of(result))


def test_a_chain_is_one_region_and_a_matmul_a_kernel() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", 4), name="x")
        w = sad.placeholder("float32", (4, 4), name="w")
        y = sad.exp(sad.tanh(sad.exp(x) @ w) + 1)
    assert shapes_of(grouped([y], [x, w])) == [
        ("region", "exp"), ("kernel", "matmul"), ("region", "tanh add exp")
    ]  # fmt: skip


def test_a_path_through_a_kernel_does_not_close_a_region_on_itself() -> None:
    # exp and add have one shape and touch, but the matmul lies between them.
    with sad.Graph():
        x = sad.placeholder("float32", (4, 4), name="x")
        a = sad.exp(x)
        y = a + a @ x
    assert shapes_of(grouped([y], [x])) == [
        ("region", "exp"), ("kernel", "matmul"), ("region", "add")
    ]  # fmt: skip


def test_what_only_its_user_needs_is_computed_with_it() -> None:
    # m * 0.9 could be computed at once, but joins the region that uses it, behind the matmul.
    with sad.Graph():
        m = sad.placeholder("float32", (4, 4), name="m")
        x = sad.placeholder("float32", (4, 4), name="x")
        y = m * 0.9 + (x @ x) * 0.1
    assert shapes_of(grouped([y], [m, x])) == [
        ("kernel", "matmul"), ("region", "multiply multiply add")
    ]  # fmt: skip


def test_shapes_that_are_equal_by_name_fuse_and_views_are_no_steps() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("a", "b"), name="x")
        y = sad.exp(sad.exp(x).T)
    assert shapes_of(grouped([y], [x])) == [
        ("region", "exp"), ("view", "permute_dims"), ("region", "exp")
    ]  # fmt: skip


def test_the_order_of_low_peak_wins() -> None:
    # All the large values first, then their sums, would keep all of them.
    with sad.Graph():
        x = sad.placeholder("float32", 1000, name="x")
        large = [sad.exp(x * k) for k in range(6)]
        y = sum(sad.sum(v) for v in large)
    result = order(grouped([y], [x]))
    kinds = [g.kind for g in result.groups]
    assert kinds[:4] == ["region", "kernel", "region", "kernel"]
    assert order(result) is result


def test_a_device_that_is_not_there_is_told() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", 4, name="x")
        with sad.device("opencl"):
            y = sad.exp(x)
    program: Program = select(graph, [y.id], [], {x.id: x.type})
    placed = place(program)
    assert set(placed.devices) == {"numpy"}
    assert "opencl" in placed.notes[0]


def test_the_levels_are_linear_in_the_graph() -> None:
    # x = add(x, f(x)) nested: the number of paths doubles with each step.
    with sad.Graph():
        x = sad.placeholder("float32", (3, 3), name="x")
        y = x
        for _ in range(60):
            y = y + y @ x
    result = grouped([y], [x])
    assert len(result.groups) == 120
    assert np.all(np.diff([g.nodes[0] for g in order(result).groups]) > 0)
