"""staticad on the workloads.

`BUILDERS` maps a workload's name to `build(w) -> step`, where `w` is anything with those attributes
of `benchmarks.definitions.Workload` that are used in `benchmarks.on_staticad`.  As a script it is a
runner like the peers': under a module `harness` if one is on the path, else under
`benchmarks.measure`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import staticad as sad
from benchmarks.definitions import Build, Program, Report, Step, Workload
from benchmarks.on_staticad import GRAPHS
from benchmarks.on_staticad.elementwise import chain_value
from benchmarks.on_staticad.running import Built, device, session, step_of


def builder(graph_of: Callable[[Workload], Built]) -> Build:
    """Build the graph, and prepare what runs it."""

    def build(w: Workload) -> Step:
        return step_of(graph_of(w))

    return build


BUILDERS: dict[str, Build] = {name: builder(graph_of) for name, graph_of in GRAPHS.items()}


def chain(program: Program, report: Report) -> None:
    """graph_scale: the life of a deep graph, phase by phase, from building to a run of its file."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        value = chain_value(program, x)
        report("build", nodes=len(graph.nodes))
        (slope,) = sad.gradients(value, [x])
        graph.signature("slope", inputs={"x": x}, outputs={"value": value, "slope": slope})
        report("gradients", nodes=len(graph.nodes))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.sad"
        graph.save(path)
        report("save", megabytes=path.stat().st_size / 2**20)
        loaded = sad.load(path)
        report("load")
    with session(loaded) as running:
        fetches = [loaded[value.name], loaded[slope.name]]
        run = running.callable(fetches, [loaded["x"]])
        at = 0.5
        run(at)
        report("plan")
        _, result = run(at)
        report("run", gradient=float(result))


if __name__ == "__main__":
    outside = importlib.util.find_spec("harness") is not None
    runner = importlib.import_module("harness" if outside else "benchmarks.measure")
    name = f"staticad {device()}" if "--device" in sys.argv else "staticad"
    runner.main(name, BUILDERS, chain)
