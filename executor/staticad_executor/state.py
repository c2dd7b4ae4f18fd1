"""The values of variables, as immutable snapshots that one assignment replaces.

A run reads one snapshot and computes what it writes into fresh memory.  Committing is
publishing the next snapshot: nothing can come between the commits of two variables, and
a run that fails has published nothing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from staticad_schema.declarations import VariableSpec
from staticad_schema.errors import PlanError
from staticad_schema.graph import Graph
from staticad_schema.types import UINT8, Array, DType, TensorType

from .pool import BlockPool

# Variables start on cache lines of their own, so that flat views of an arena stay aligned.
ALIGNMENT = 64
# Counters have 64 bits, in graphs and in checkpoints.
COUNTED = 1 << 64


@dataclass(frozen=True)
class Snapshot:
    """The variables at one moment.

    arrays: read-only, by name; a variable that was never needed is absent.  run_number: how
    many runs that drew random numbers have committed.  step: how many runs that wrote have.
    """

    arrays: MappingProxyType[str, Array] = field(default_factory=lambda: MappingProxyType({}))
    run_number: int = 0
    step: int = 0

    def after_run(self, writes: Mapping[str, Array], drew: bool) -> Snapshot:
        """The snapshot that a run's commit publishes."""
        return Snapshot(
            self._merged(writes) if writes else self.arrays,
            (self.run_number + drew) % COUNTED,
            (self.step + bool(writes)) % COUNTED,
        )

    def with_arrays(self, arrays: Mapping[str, Array]) -> Snapshot:
        """The snapshot with these variables added or replaced, and the same counters."""
        return replace(self, arrays=self._merged(arrays))

    def copy(self) -> Snapshot:
        """The same values in memory of their own."""
        return Snapshot(run_number=self.run_number, step=self.step).with_arrays(
            {name: array.copy() for name, array in self.arrays.items()}
        )

    def _merged(self, arrays: Mapping[str, Array]) -> MappingProxyType[str, Array]:
        for array in arrays.values():
            array.setflags(write=False)
        return MappingProxyType(self.arrays | arrays)


class Store:
    """One snapshot and the lock of those who replace it.  Sessions may share a store.

    Reading is taking `snapshot`.  Whoever assigns to it holds `writer`.
    """

    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self.writer = threading.Lock()
        self.pool = BlockPool()
        self._declared: dict[str, TensorType] = {}

    def declare(self, graph: Graph, spec: VariableSpec) -> None:
        """Enter a graph's variable.  Raises PlanError if another graph's of that name differs."""
        known = self._declared.setdefault(spec.name, spec.type)
        if known is spec.type or fits(known, spec.type):
            return
        raise PlanError(
            "two graphs that share a store declare the variable differently",
            asked=f"variable {spec.name!r}",
            expected=str(known),
            found=str(spec.type),
            site=graph.site(graph.nodes[spec.node].site),
        )


def fits(declared: TensorType, type_: TensorType) -> bool:
    """Whether dtype, rank, and all sizes known on both sides are equal.

    Symbols are not compared: two graphs that share a store may name a size differently.
    """
    return (
        declared.dtype == type_.dtype
        and len(declared.shape) == len(type_.shape)
        and all(
            a == b
            for a, b in zip(declared.shape, type_.shape, strict=True)
            if isinstance(a, int) and isinstance(b, int)
        )
    )


def require_fit(graph: Graph, name: str, type_: TensorType, asked: str) -> None:
    """Raises PlanError if a variable cannot hold a value of this type."""
    spec = graph.variable_specs[name]
    if not fits(spec.type, type_):
        raise PlanError(
            "the value does not fit the variable",
            asked=f"{asked} {name!r}",
            expected=str(spec.type),
            found=str(type_),
            site=graph.site(graph.nodes[spec.node].site),
        )


class Layout:
    """Where the new values of a run's variables lie: one arena a dtype, in order of creation."""

    def __init__(
        self, names: Sequence[str], types: Sequence[TensorType], order: Mapping[str, int]
    ) -> None:
        """types are static; order ranks the names."""
        self.count = len(names)
        self._arenas: list[tuple[int, DType, list[tuple[int, int, tuple[int, ...]]]]] = []
        members: dict[DType, list[int]] = {}
        for i in sorted(range(len(names)), key=lambda i: order[names[i]]):
            members.setdefault(types[i].dtype, []).append(i)
        for dtype, indices in members.items():
            parts, size = [], 0
            for i in indices:
                shape = tuple(map(int, types[i].shape))
                parts.append((i, size, shape))
                size += -(-math.prod(shape) * dtype.itemsize // ALIGNMENT) * ALIGNMENT
            self._arenas.append((size, dtype, parts))

    def allocate(self, pool: BlockPool) -> list[Array]:
        """Fresh arrays, in the order of the names."""
        arrays: list[Any] = [None] * self.count
        for size, dtype, parts in self._arenas:
            arena = pool.empty((size,), UINT8)
            for i, offset, shape in parts:
                arrays[i] = np.ndarray(shape, dtype, arena, offset)
        return arrays
