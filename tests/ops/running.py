"""Graphs of one op, and their evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from staticad_executor.interpret import interpret
from staticad_schema import dims
from staticad_schema.evaluate import evaluate
from staticad_schema.graph import Graph
from staticad_schema.op import OPS, Op
from staticad_schema.shapes import bind_shape
from staticad_schema.types import Array, TensorType

from .samples import Sample


def types_of(arrays: Sequence[Array]) -> tuple[TensorType, ...]:
    return tuple(TensorType(a.dtype, a.shape) for a in arrays)


def inferred(
    definition: Op, types: Sequence[TensorType], attributes: Mapping[str, Any]
) -> tuple[TensorType, ...]:
    """The output types, always as a tuple."""
    return definition.output_types(types, definition.attributes(attributes))


def meaning(
    definition: Op, arrays: Sequence[Array], attributes: Mapping[str, Any]
) -> tuple[Array, ...]:
    """The outputs, by the op's meaning."""
    types = inferred(definition, types_of(arrays), attributes)
    complete = definition.attributes(attributes)
    if definition.numpy is None and definition.expand is not None:
        built = Applied(definition, Sample(tuple(arrays), complete))
        return tuple(built.run(built.outputs, arrays))
    return evaluate(definition, arrays, complete, types)


def symbolic(types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    """The types with every size above 1 replaced by a symbol, equal sizes by the same one."""
    return tuple(
        t.with_shape(dims.symbol(f"n{s}") if isinstance(s, int) and s > 1 else s for s in t.shape)
        for t in types
    )


def bound(type_: TensorType) -> TensorType:
    """The type with the symbols of `symbolic` replaced by their sizes again."""
    sizes = {name: int(name[1:]) for d in type_.shape for name in dims.symbols_of(d)}
    return type_.with_shape(bind_shape(type_.shape, sizes))


class Applied:
    """A graph that applies an op to one placeholder an operand."""

    def __init__(
        self, definition: Op, sample: Sample, types: Sequence[TensorType] | None = None
    ) -> None:
        self.graph = Graph()
        self.inputs = [
            self.source(t) for t in (types_of(sample.arrays) if types is None else types)
        ]
        ids = [x.id for x in self.inputs]
        self.node = self.graph.append(definition, ids, sample.attributes)
        self.outputs = [self.graph.handle(v) for v in self.node.outputs]

    def source(self, type_: TensorType) -> Any:
        """A placeholder."""
        attributes = {"dtype": type_.dtype, "shape": type_.shape}
        return self.graph.handle(self.graph.append(OPS["placeholder"], (), attributes).start)

    def run(
        self,
        fetches: Sequence[Any],
        arrays: Sequence[Array],
        more: Mapping[Any, Array] | None = None,
    ) -> list[Array]:
        """The values of handles when the operands are `arrays`."""
        feeds = {x.id: a for x, a in zip(self.inputs, arrays, strict=True)}
        feeds.update({x.id: a for x, a in (more or {}).items()})
        ids = [f.id for f in fetches]
        with np.errstate(all="ignore"):
            return interpret(self.graph, ids, (), feeds, {}, 0).values
