"""How large the graphs of the workloads are: what differentiation adds, and what a plan does.

    python benchmarks/graph_size.py

Of each workload: the nodes that `gradients` adds for each node that was there before (of several
calls the most), the steps of the plan, and the bytes that the steps read and write.  None of it
depends on the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import benchmarks.table as table
from benchmarks.definitions import Workload
from benchmarks.on_staticad import GRAPHS
from benchmarks.on_staticad.running import Built
from benchmarks.yardstick import WORKLOADS
from staticad import Tensor
from staticad_executor.compile import structure
from staticad_executor.plan import Plan
from staticad_executor.profile import plan_work
from staticad_executor.program import Arena, Source
from staticad_schema.graph import Graph

MOST_ADDED = 3.5
"""Nodes that `gradients` may add for each node it found."""


@dataclass(frozen=True)
class Size:
    """nodes: of the whole graph.  before, added: of the call of `gradients` that adds most for
    each node that was there; 0 without one.  bytes_moved: read and written by all steps."""

    nodes: int
    before: int
    added: int
    steps: int
    bytes_moved: int

    @property
    def added_per_node(self) -> float:
        """Nodes added for each that was there before."""
        return self.added / self.before if self.before else 0.0


def size(name: str) -> Size:
    """The sizes of a workload's graph and of its plan for one thread."""
    w = WORKLOADS[name]()
    built = GRAPHS[name](w)
    plan = planned(built, w)
    most = max(built.grown, key=lambda g: g.added / g.before, default=None)
    return Size(
        len(built.graph.nodes),
        most.before if most else 0,
        most.added if most else 0,
        len(plan.steps),
        int(sum(work.traffic for work in plan_work(plan))),
    )


def planned(built: Built, w: Workload) -> Plan:
    """The plan for the first batch."""
    graph = built.graph
    feeds = {x.id: w.batch(0)[x.name].shape for x in built.feeds}
    values = [f.id for f in built.fetches if isinstance(f, Tensor)]
    effects = [f.node_index for f in built.fetches if not isinstance(f, Tensor)]
    types = {value: graph.types[value] for value in feeds}
    compiled = structure(graph, values, effects, types, rewrites=("exact", "stable"), threads=1)
    return compiled.plan([shape_of(source, graph, feeds) for source in compiled.sources])


def shape_of(source: Source, graph: Graph, feeds: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    """What a plan is given; variables have static shapes in all workloads."""
    match source.original:
        case Arena() as arena:
            return (arena.size,)
        case int(value):
            return feeds[value]
        case name:
            shape: Any = graph.variable_specs[name].type.shape if name else ()
            return tuple(shape)


def rows(names: Sequence[str]) -> list[list[str]]:
    """A row of the table for each workload."""
    found = []
    for name in names:
        s = size(name)
        ratio = f"{s.added_per_node:.2f}" if s.before else "-"
        cells = [str(s.nodes), str(s.before), str(s.added), ratio, str(s.steps)]
        found.append([name, *cells, f"{s.bytes_moved / 1e6:.2f}"])
    return found


def main() -> None:
    """Print the table."""
    header = ["workload", "nodes", "before", "added", "added per node", "steps", "MB moved"]
    print(*table.aligned(header, rows(list(WORKLOADS))), sep="\n")


if __name__ == "__main__":
    main()
