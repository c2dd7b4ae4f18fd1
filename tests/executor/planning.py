"""Plans beside naive evaluation, for the tests of the compiler."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from staticad_executor.compile import Structure, structure
from staticad_executor.compile.verify import verify
from staticad_executor.interpret import interpret
from staticad_executor.plan import Plan
from staticad_schema.graph import Graph

Array = np.ndarray[Any, Any]


class Compiled:
    """A structure with its plan for given feeds and variables."""

    def __init__(
        self,
        graph: Graph,
        fetches: Sequence[Any],
        feeds: Mapping[Any, Any] | None = None,
        effects: Sequence[Any] = (),
        variables: Mapping[str, Array] | None = None,
        rewrites: Collection[str] = ("exact",),
        threads: int = 1,
        run_number: int = 0,
        budget: int | None = None,
    ) -> None:
        self.graph = graph
        self.fetches = [f.id for f in fetches]
        self.effects = [e.node_index for e in effects]
        self.feeds = {getattr(k, "id", k): np.asarray(v) for k, v in (feeds or {}).items()}
        self.variables = dict(variables or {})
        self.run_number = run_number
        types = {v: graph.types[v] for v in self.feeds}
        self.structure: Structure = structure(
            graph, self.fetches, self.effects, types, rewrites=rewrites, threads=threads,
            budget=budget,
        )  # fmt: skip
        verify(self.structure.program)
        self.inputs = [self.input(source.kind, source.original) for source in self.sources]
        self.plan: Plan = self.structure.plan([a.shape for a in self.inputs])

    @property
    def sources(self) -> Any:
        return self.structure.sources

    def input(self, kind: str, original: Any) -> Array:
        if kind == "run":
            return np.array(self.run_number, np.uint64)
        if kind == "arena":
            return np.concatenate([self.variables[name].reshape(-1) for name in original.names])
        array = self.feeds[original] if kind == "feed" else self.variables[original]
        return np.array(array, order="C", copy=None)

    def run(self) -> list[Array]:
        """Fetched values, then writes, those in arenas last, computed by the plan into memory full
        of rubbish."""
        outputs = [_rubbish(t.shape, t.dtype) for t in self.plan.output_types]
        before = [a.copy() for a in self.inputs]
        self.plan.execute(self.inputs, outputs)
        for array, copy in zip(self.inputs, before, strict=True):
            assert array.tobytes() == copy.tobytes(), "an input was written"
        count = len(outputs) - len(self.structure.arenas)
        result = outputs[:count]
        for arena, flat in zip(self.structure.arenas, outputs[count:], strict=True):
            ends = np.cumsum([math.prod(shape) for shape in arena.shapes])
            parts = np.split(flat, ends[:-1])
            result += [p.reshape(shape) for p, shape in zip(parts, arena.shapes, strict=True)]
        return result

    def expected(self) -> list[Array]:
        """The same by naive evaluation."""
        result = interpret(
            self.graph, self.fetches, self.effects, self.feeds, self.variables, self.run_number
        )
        names = list(self.structure.writes)
        names += [name for arena in self.structure.arenas for name in arena.names]
        return [*result.values, *(result.writes[name] for name in names)]

    def check(self) -> None:
        """The plan's results are the naive ones, bit for bit (any NaN is as good as another)."""
        for found, expected in zip(self.run(), self.expected(), strict=True):
            assert same_bits(found, expected), (found, expected, self.plan.explain())


def _rubbish(shape: Any, dtype: np.dtype[Any]) -> Array:
    array = np.empty(shape, dtype)
    array.view(np.uint8).fill(0xA5) if array.ndim and array.size else None
    return array


def same_bits(a: Array, b: Array) -> bool:
    """Equal dtype, shape and bits, where all NaNs count as one."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    equal = a.view(f"u{a.dtype.itemsize}") == b.view(f"u{b.dtype.itemsize}")
    return bool((equal | ((a != a) & (b != b))).all())
