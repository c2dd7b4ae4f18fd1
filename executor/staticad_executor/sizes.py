"""Symbolic sizes, bound by the shapes of feeds and variables, and by what a run finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema.attributes import bound
from staticad_schema.binding import bind
from staticad_schema.dims import Dim, Shape
from staticad_schema.errors import PlanError, Site
from staticad_schema.evaluate import evaluate
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.shapes import shape_text
from staticad_schema.types import Array, TensorType, array_type


class Sizes:
    """Sizes of symbols, and who said so.

    Shapes are offered one after the other; bare symbols bind at once, other expressions are
    compared by `check`, when all symbols that will be known are.
    """

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self._given_by: dict[str, str] = {}
        self._later: list[tuple[Dim, int, str, tuple[int, ...], Shape, Site | None]] = []

    def bind_value(self, graph: Graph, value: int, shape: tuple[int, ...]) -> None:
        """Bind by what is fed for a value.  Raises PlanError."""
        node = graph.nodes[graph.producers[value]]
        self._bind(
            f"feed {graph.value_name(value)!r}",
            graph.types[value].shape,
            shape,
            graph.site(node.site),
        )

    def bind_variable(self, graph: Graph, name: str, shape: tuple[int, ...]) -> None:
        """Bind by the present shape of a variable.  Raises PlanError."""
        spec = graph.variable_specs[name]
        site = graph.site(graph.nodes[spec.node].site)
        self._bind(f"variable {name!r}", spec.type.shape, shape, site)

    def check(self) -> None:
        """Compare the sizes that are expressions.  Raises PlanError."""
        for dim, size, who, shape, declared, site in self._later:
            if dim.symbols() <= self.values.keys():
                expected = bind(dim, self.values)
                if expected != size:
                    raise PlanError(
                        f"a size does not fit: {dim} is {expected} here, not {size}",
                        asked=who,
                        expected=f"shape {shape_text(declared)}",
                        found=f"shape {shape_text(shape)}",
                        site=site,
                    )

    def check_found(self, found: dict[str, int]) -> None:
        """Compare the sizes that are expressions once a run has found all.  Raises PlanError."""
        if self._later:
            twin = Sizes()
            twin.values, twin._later = found, self._later
            twin.check()

    def _bind(self, who: str, declared: Shape, shape: tuple[int, ...], site: Site | None) -> None:
        if len(declared) != len(shape):
            raise PlanError(
                "the rank does not fit",
                asked=who,
                expected=f"rank {len(declared)}: shape {shape_text(declared)}",
                found=f"rank {len(shape)}: shape {shape_text(shape)}",
                site=site,
            )
        for axis, (dim, size) in enumerate(zip(declared, shape, strict=True)):
            if isinstance(dim, int):
                if dim != size:
                    raise PlanError(
                        f"axis {axis} has size {size}, not {dim}",
                        asked=who,
                        expected=f"shape {shape_text(declared)}",
                        found=f"shape {shape_text(shape)}",
                        site=site,
                        hint=_transposed(declared, shape),
                    )
                continue
            symbol = dim.symbol()
            if symbol is None:
                self._later.append((dim, size, who, shape, declared, site))
            elif self.values.setdefault(symbol, size) != size:
                raise PlanError(
                    f"dimension {symbol!r} has two sizes",
                    asked=who,
                    expected=f"{symbol} = {self.values[symbol]}, from {self._given_by[symbol]}",
                    found=f"{symbol} = {size}, from shape {shape_text(shape)}",
                    site=site,
                )
            else:
                self._given_by.setdefault(symbol, who)


def found_sizes(types: Sequence[TensorType], arrays: Sequence[Array]) -> dict[str, int]:
    """The sizes of the symbols that stand alone for an axis of some array."""
    found: dict[str, int] = {}
    for type_, array in zip(types, arrays, strict=True):
        for dim, size in zip(type_.shape, array.shape, strict=True):
            symbol = dim.symbol() if isinstance(dim, Dim) else None
            if symbol is not None:
                found[symbol] = size
    return found


def find(
    node: Node, operands: Sequence[Array], sizes: Mapping[str, int]
) -> tuple[tuple[Array, ...], dict[str, int]]:
    """The outputs of a node that finds sizes, by its meaning, and what it found.

    sizes: of other symbols.  Raises PlanError where a size is known already and is another.
    """
    definition = node.definition
    own = {name: node.attributes[name] for name in definition.run_time_sizes}
    rest = {k: v for k, v in node.attributes.items() if k not in own}
    attributes: dict[str, Any] = {**node.attributes, **bound(rest, sizes)}
    types = definition.output_types(tuple(map(array_type, operands)), attributes)
    arrays = evaluate(definition, operands, attributes, types)
    found = found_sizes(types, arrays)
    for name in node.finds:
        if sizes.get(name, found[name]) != found[name]:
            raise PlanError(
                f"dimension {name!r} has two sizes",
                expected=f"{name} = {sizes[name]}, as in what is fed",
                found=f"{name} = {found[name]}",
            )
    return arrays, {name: found[name] for name in node.finds}


def _transposed(declared: Shape, shape: tuple[int, ...]) -> str | None:
    """A hint, where the axes in reverse order would fit."""
    turned = shape[::-1]
    fits = all(
        d == s if isinstance(d, int) else True for d, s in zip(declared, turned, strict=True)
    )
    return "it fits when transposed" if fits and len(shape) > 1 else None
