"""What can be said of a run before it runs: which sizes it needs, and its plan in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from staticad_schema.dims import Shape, symbols_of
from staticad_schema.errors import PlanError
from staticad_schema.graph import Graph
from staticad_schema.shapes import bind_shape
from staticad_schema.types import Array, TensorType

from .engine import Known, Planning, Shapes
from .selection import select


def placeholders_for(graph: Graph, values: Sequence[int], effects: Sequence[int]) -> list[int]:
    """The placeholders that a run needs: for their values, or because they tell a size."""
    chosen = select(graph, values, effects, ())
    needed = [graph.nodes[index].start for index in chosen.missing]
    types = [t for index in chosen.nodes for t in graph.nodes[index].types]
    told = [graph.types[v] for v in needed] + [graph.variable_specs[n].type for n in chosen.reads]
    unknown = _symbols(types) - _symbols(told) - graph.run_time.finders.keys()
    for node in graph.nodes if unknown else ():
        if node.op == "placeholder" and not unknown.isdisjoint(_symbols(node.types)):
            needed.append(node.start)
            unknown -= _symbols(node.types)
    return needed


def _symbols(types: Iterable[TensorType]) -> set[str]:
    return {name for type_ in types for size in type_.shape for name in symbols_of(size)}


def shapes_for(
    graph: Graph,
    engine: Planning,
    fed: tuple[int, ...],
    sizes: Mapping[str, int],
    held: Mapping[str, Array],
) -> Shapes:
    """The shapes of feeds and variables for sizes of the symbols.

    A variable of symbolic size has the shape of its present value, if there is one.
    Raises PlanError for a symbol without a size.
    """
    shapes = [_bound(graph.types[value].shape, sizes, graph.value_name(value)) for value in fed]
    for name in engine.shaped:
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


def found_sizes(engine: Planning, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes that a run would find, as they are given.  Raises PlanError for a missing one."""
    for name, finder in engine.finds.items():
        if name not in sizes:
            raise PlanError(
                f"the size of {name!r} is not given, which each run finds",
                asked=finder,
                expected=f"sizes={{{name!r}: …}}",
                found=f"sizes of {', '.join(map(repr, sizes)) or 'no dimension'}",
            )
    return {name: sizes[name] for name in engine.finds}


def explain(engine: Planning, known: Known | None) -> str:
    """The plans in words; if nothing is known, the program from which plans are made."""
    if known is None:
        text = engine.program.text()
        return "no plan yet: sizes are not known; the program is\n" + text
    return "".join(plan.explain() for plan in engine.plans(known))
