"""What can be said of a run before it runs: its plan in words, and the memory it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from staticad_schema.dims import Shape, symbols_of
from staticad_schema.errors import PlanError, shown
from staticad_schema.graph import Graph
from staticad_schema.shapes import bind_shape
from staticad_schema.types import Array, TensorType, nbytes

from .engine import Planner
from .plan import MemoryUse, Plan
from .selection import select

Shapes = tuple[tuple[int, ...], ...]


class MemoryPrediction(NamedTuple):
    """Bytes of one run.

    peak_bytes: all of the following together.  scratch_bytes: intermediate values, at the
    worst moment.  result_bytes: what is fetched.  write_bytes: new values of variables.
    variable_bytes: their values at the start.  feed_bytes: what is fed.  largest: the values
    that are live at the worst moment, the largest first.
    """

    peak_bytes: int
    scratch_bytes: int
    result_bytes: int
    write_bytes: int
    variable_bytes: int
    feed_bytes: int
    largest: tuple[MemoryUse, ...]

    def __str__(self) -> str:
        lines = [
            f"{getattr(self, name):>16,}  {name.replace('_', ' ')}"
            for name in self._fields
            if name != "largest"
        ]
        if self.largest:
            lines.append("largest values at the worst moment:")
            lines += [
                f"{use.nbytes:>16,}  {shown(use.name)} {use.type}  {use.site}"
                for use in self.largest[:10]
            ]
        return "\n".join(lines)


def placeholders_for(graph: Graph, values: Sequence[int], effects: Sequence[int]) -> list[int]:
    """The placeholders that a run needs: for their values, or because they tell a size."""
    chosen = select(graph, values, effects, ())
    needed = [graph.nodes[index].start for index in chosen.missing]
    types = [t for index in chosen.nodes for t in graph.nodes[index].types]
    told = [graph.types[v] for v in needed] + [graph.variable_specs[n].type for n in chosen.reads]
    unknown = _symbols(types) - _symbols(told)
    for node in graph.nodes if unknown else ():
        if node.op == "placeholder" and not unknown.isdisjoint(_symbols(node.types)):
            needed.append(node.start)
            unknown -= _symbols(node.types)
    return needed


def _symbols(types: Iterable[TensorType]) -> set[str]:
    return {name for type_ in types for size in type_.shape for name in symbols_of(size)}


def shapes_for(
    graph: Graph,
    engine: Planner,
    fed: tuple[int, ...],
    sizes: Mapping[str, int],
    held: Mapping[str, Array],
) -> Shapes:
    """The shapes of feeds and variables for sizes of the symbols.

    A variable of symbolic size has the shape of its present value, if there is one.
    Raises PlanError for a symbol without a size.
    """
    shapes = [_bound(graph.types[value].shape, sizes, graph.value_name(value)) for value in fed]
    for name in engine.reads:
        declared = graph.variable_specs[name].type
        if not declared.is_static and name in held:
            shapes.append(held[name].shape)
        else:
            shapes.append(_bound(declared.shape, sizes, name))
    return tuple(shapes)


def _bound(shape: Shape, sizes: Mapping[str, int], name: str) -> tuple[int, ...]:
    unknown = sorted(set().union(*map(symbols_of, shape)) - sizes.keys())
    if unknown:
        raise PlanError(
            f"the size of {', '.join(map(repr, unknown))} is not given",
            asked=f"the shape of {name!r}",
            expected=f"sizes={{{unknown[0]!r}: …}}",
            found=f"sizes of {', '.join(map(repr, sizes)) or 'no dimension'}",
        )
    return bind_shape(shape, sizes)


def explain(engine: Planner, shapes: Shapes | None) -> str:
    """The plan in words; without shapes, the program from which plans are made."""
    if shapes is not None:
        return engine.plan(shapes).explain()
    program = engine.structure.program
    return "no plan yet: sizes are not known; the program is\n" + program.text()


def predict(plan: Plan, engine: Planner) -> MemoryPrediction:
    """The memory of one run."""
    boundary = len(plan.output_types) - len(engine.writes)
    results = sum(map(nbytes, plan.output_types[:boundary]))
    writes = sum(map(nbytes, plan.output_types[boundary:]))
    variables = feeds = 0
    for source, type_ in zip(engine.structure.sources, plan.input_types, strict=True):
        if source.kind == "variable":
            variables += nbytes(type_)
        elif source.kind == "feed":
            feeds += nbytes(type_)
    total = plan.peak_bytes + results + writes + variables + feeds
    return MemoryPrediction(total, plan.peak_bytes, results, writes, variables, feeds, plan.memory)
