"""The values of variables, as immutable snapshots that one assignment replaces.

A run reads one snapshot and computes what it writes into fresh memory.  Committing is
publishing the next snapshot: nothing can come between the commits of two variables, and
a run that fails has published nothing.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.declarations import VariableSpec
from staticad_schema.errors import PlanError
from staticad_schema.graph import Graph
from staticad_schema.shapes import shape_text
from staticad_schema.types import UINT8, Array, DType, TensorType

from .flats import Arrays, Flat, Flats
from .pool import BlockPool
from .program import Arena
from .residence import Held, Resident

Lender = Callable[[], Resident]
"""What gives fresh memory of a device for one value."""

# Variables start on cache lines of their own, so that flat views of an arena stay aligned.
ALIGNMENT = 64
# Counters have 64 bits, in graphs and in checkpoints.
COUNTED = 1 << 64


class Written(NamedTuple):
    """What a run has computed for variables: arrays by name, and those of them that lie in one
    flat array."""

    arrays: dict[str, Held]
    flats: dict[tuple[str, ...], Flat]


@dataclass(frozen=True)
class Snapshot:
    """The variables at one moment.

    arrays: read-only, by name; a variable that was never needed is absent.  run_number: how
    many runs that drew random numbers have committed.  step: how many runs that wrote have.
    """

    arrays: Arrays = field(default_factory=lambda: Arrays({}, {}))
    run_number: int = 0
    step: int = 0

    def after_run(self, written: Written, drew: bool) -> Snapshot:
        """The snapshot that a run's commit publishes."""
        arrays, flats = written
        wrote = bool(arrays or flats)
        return Snapshot(
            self._replaced(arrays, flats) if wrote else self.arrays,
            (self.run_number + drew) % COUNTED,
            (self.step + wrote) % COUNTED,
        )

    def with_arrays(
        self, arrays: Mapping[str, Array], flats: Flats = MappingProxyType({})
    ) -> Snapshot:
        """The snapshot with these variables, and those in flat arrays, added or replaced, and the
        same counters."""
        return replace(self, arrays=self._replaced(dict(arrays), flats))

    def copy(self) -> Snapshot:
        """The same values in memory of their own."""
        return Snapshot(run_number=self.run_number, step=self.step).with_arrays(
            {name: array.copy() for name, array in self.arrays.items()}
        )

    def flat(self, arena: Arena, pool: BlockPool) -> Held:
        """The variables of an arena as one value: the one that they lie in, or a copy.

        Raises PlanError where they have other shapes.
        """
        found = self.arrays.flats.get(arena.names)
        if found is not None and (found.arena is arena or found.arena == arena):
            return found.array
        parts = [self.arrays[name] for name in arena.names]
        for name, part, shape in zip(arena.names, parts, arena.shapes, strict=True):
            if part.shape != shape:
                raise PlanError(
                    "the variable has another shape than is declared",
                    asked=f"variable {name!r}",
                    expected=f"shape {shape_text(shape)}",
                    found=f"shape {shape_text(part.shape)}",
                )
        flat = pool.empty((arena.size,), arena.dtype)
        np.concatenate([part.reshape(-1) for part in parts], out=flat)
        return flat

    def _replaced(self, arrays: Mapping[str, Held], flats: Flats) -> Arrays:
        for array in arrays.values():
            if not isinstance(array, Resident):
                array.setflags(write=False)
        return self.arrays.replaced(dict(arrays), flats)


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
    """Where the new values of a run's variables lie, in one block of memory.

    What is computed as one lies there without gaps; the other variables follow, by dtype and in
    order of creation, on cache lines of their own.
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[TensorType],
        order: Mapping[str, int],
        flat: Sequence[Arena] = (),
        lenders: Sequence[Lender | None] = (),
    ) -> None:
        """types are static; order ranks the names.  flat: what is computed as one.  lenders: of
        each, what gives the memory of a device that it is to lie in instead."""
        self.names = tuple(names)
        self.flat = tuple(flat)
        self._lenders = tuple(lenders)
        arrays = [(tuple(map(int, t.shape)), t.dtype) for t in types]
        arrays += [((arena.size,), arena.dtype) for arena in flat]
        members: dict[DType, list[int]] = {}
        for i in sorted(range(len(names)), key=lambda i: order[names[i]]):
            members.setdefault(types[i].dtype, []).append(i)
        starts = [0] * len(arrays)
        self._size = 0
        for i in [*range(len(names), len(arrays)), *itertools.chain(*members.values())]:
            if i < len(lenders) and lenders[i] is not None:
                continue
            shape, dtype = arrays[i]
            starts[i] = self._size
            self._size += -(-math.prod(shape) * dtype.itemsize // ALIGNMENT) * ALIGNMENT
        # Of each array its shape, dtype, and the byte at which it begins.
        self._parts = [(*array, start) for array, start in zip(arrays, starts, strict=True)]

    def allocate(self, pool: BlockPool) -> list[Held]:
        """Fresh memory, in the order of the names, then the flat ones.  Raises MemoryError."""
        block: Any = pool.empty((self._size,), UINT8)
        lenders = itertools.chain(self._lenders, itertools.repeat(None))
        return [
            np.ndarray(shape, dtype, block, at) if lend is None else lend()
            for (shape, dtype, at), lend in zip(self._parts, lenders, strict=False)
        ]

    def written(self, arrays: Sequence[Held]) -> Written:
        """What a run has written into the arrays that `allocate` made."""
        flats: dict[tuple[str, ...], Flat] = {}
        for arena, array in zip(self.flat, arrays[len(self.names) :], strict=True):
            if not isinstance(array, Resident):
                # So that its stretches are read-only, too.
                array.setflags(write=False)
            flats[arena.names] = Flat(arena, array)
        return Written(dict(zip(self.names, arrays, strict=False)), flats)
