"""Instructions over values: what is called, before anything has memory.

The first half of stage 7, which `write` fills.  Views are only noted, with how they are taken, and
so is in which memory space each value is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.types import Array, TensorType

from ..devices.base import HOST
from ..devices.numpy.elementwise import Elementwise
from ..devices.numpy.kernels import Kernel
from ..devices.numpy.tiles import contiguous
from ..program import RANDOM
from .bind import Bound
from .fuse import Fused
from .moves import End, Given, Launched, Merged, Transfer, Wait

View = Callable[[Array], Array]


Chosen = Elementwise | Kernel | Fused | Launched | Merged | Transfer | Given | Wait | End
"""What an instruction does."""


class Steps:
    """Instructions over values, as columns: a chain has a hundred thousand of them."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, ...]] = []
        self.reads: list[tuple[int, ...]] = []
        self.writes: list[tuple[int, ...]] = []
        self.kernels: list[Chosen] = []
        self.numbers: list[int] = []

    def add(
        self,
        nodes: tuple[int, ...],
        reads: tuple[int, ...],
        writes: tuple[int, ...],
        kernel: Chosen,
        number: int,
    ) -> None:
        """One more instruction, of the step of this number."""
        self.nodes.append(nodes)
        self.reads.append(reads)
        self.writes.append(writes)
        self.kernels.append(kernel)
        self.numbers.append(number)


class Draft:
    """Instructions over values, before they have memory."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.program = bound.grouped.program
        self.graph: Graph = self.program.graph
        self.outputs = frozenset(self.program.outputs)
        self.feeds = frozenset(s.value for s in self.program.sources if s.kind == "feed")
        self.types = list(bound.types)
        # For each view the value it looks at directly, and how.
        self.views: dict[int, tuple[int, View]] = {}
        # A strided stand-in without memory for each view, to ask NumPy for its layout.
        self.models: dict[int, Array] = {}
        self.solid: dict[TensorType, Array] = {}
        # For each value that is no node's the one that it is a copy, or a part, of.
        self.originals: dict[int, int] = {}
        # Concatenations that nothing computes as a whole: their operands are parts of them.
        self.joined: set[int] = set()
        # Where each part begins in its whole, in bytes.
        self.part_at: dict[int, int] = {}
        # The memory space of each value that is not in the host's.
        self.away: dict[int, str] = {}
        # For each value that is a source in another space that source.
        self.arrived: dict[int, int] = {}
        self._sources = frozenset(s.value for s in self.program.sources)
        self._there: dict[tuple[int, str], int] = {}
        self._made: set[int] = set()
        self._seen = 0
        self.steps = Steps()
        self.kinds: list[str] = []
        self._kind = "kernel"
        # What is handed out: fetches in the host's memory, the new values of variables anywhere.
        self.results: list[int] = []
        self.notes: list[str] = []
        self.alike = bound.grouped.alike

    def begin(self, kind: str) -> None:
        """What is added next belongs to another group."""
        self._kind = kind
        self.kinds.append(kind)

    def add(
        self,
        nodes: tuple[int, ...],
        reads: tuple[int, ...],
        writes: tuple[int, ...],
        kernel: Chosen,
    ) -> None:
        """One more instruction of the group that is being written."""
        if isinstance(kernel, Transfer):
            self.kinds.append("copy")
        elif self.kinds[-1] == "copy":
            self.kinds.append(self._kind)
        self.steps.add(nodes, reads, writes, kernel, len(self.kinds) - 1)

    def needed(self) -> bytearray:
        """Which nodes still have to run, now that some values are constants."""
        graph, folded = self.graph, self.bound.folded
        nodes, producers = graph.nodes, graph.producers
        needed = bytearray(len(nodes))
        for value in self.program.outputs:
            needed[producers[value]] = 1
        for index in self.program.effects:
            needed[index] = 1
        draws = self.program.draws
        for index in range(len(nodes) - 1, -1, -1):
            if not needed[index]:
                if not (draws and nodes[index].op in RANDOM):
                    continue
                needed[index] = 1
            if index in folded:
                needed[index] = 0
                continue
            for value in nodes[index].inputs:
                needed[producers[value]] = 1
        return needed

    # -------------------------------------------------------------- views

    def view(self, index: int) -> bool:
        """Note a view; False if it cannot be one, because elements would have to move."""
        node = self.graph.nodes[index]
        source = node.inputs[0]
        look = _look(node, self.bound.node_attributes(index), self.types[node.start])
        if look is None:
            return False
        model = self.model(source)
        try:
            seen = look(model)
        except ValueError:
            return False
        self.models[node.start] = seen
        self.views[node.start] = source, look
        if source in self.away:
            self.away[node.start] = self.away[source]
        return True

    def model(self, value: int) -> Array:
        """An array of the value's shape and strides that must not be read."""
        found = self.models.get(value)
        if found is None:
            type_ = self.types[value]
            found = self.solid.get(type_)
            if found is None:
                found = self.solid[type_] = _solid(type_)
            self.models[value] = found
        return found

    def another(self, value: int) -> int:
        """A value of the same type that is no node's, and stands for this one."""
        copy = len(self.types)
        self.types.append(self.types[value])
        self.originals[copy] = self.originals.get(value, value)
        return copy

    # -------------------------------------------------------------- memory spaces

    def root(self, value: int) -> int:
        """The value whose memory a value is in."""
        while value in self.views:
            value = self.views[value][0]
        return value

    def offset(self, value: int) -> int:
        """Where the first element of a value is in the memory of its root, in bytes."""
        total = 0
        while value in self.views:
            source = self.views[value][0]
            part = self.part_at.get(value)
            if part is None:
                part = _address(self.model(value)) - _address(self.model(source))
            total += part
            value = source
        return total

    def brought(self, value: int, space: str) -> int:
        """The value in a memory space: itself if it is there, else a copy, which is made once."""
        if self.away.get(value, HOST) == space:
            return value
        looking = []
        while value in self.views and (value, space) not in self._there:
            looking.append(value)
            value = self.views[value][0]
        # Sources are at home in the host's memory.
        value = self.arrived.get(value, value)
        if self.away.get(value, HOST) == space:
            found = value
        else:
            found = self._there.get((value, space), -1)
            if found < 0:
                found = self._copied(value, space)
        for view in reversed(looking):
            copy = self._there[view, space] = self.another(view)
            self.models[copy] = self.model(view)
            self.views[copy] = found, self.views[view][1]
            self.enter(copy, space)
            found = copy
        return found

    def _copied(self, value: int, space: str) -> int:
        copy = self._there[value, space] = self.another(value)
        if value in self._sources:
            self.arrived[copy] = value
        elif self.known(value) is None:
            producer = self.graph.producers[self.originals[copy]]
            transfer = Transfer(self.away.get(value, HOST), space)
            self.add((producer,), (value,), (copy,), transfer)
        self.enter(copy, space)
        return copy

    def enter(self, value: int, space: str) -> None:
        """Note in which memory space a value is."""
        if space != HOST:
            self.away[value] = space

    def known(self, value: int) -> Array | None:
        """The array of a value that is known before any run; None for any other."""
        value = self.originals.get(value, value)
        found = self.bound.constants.get(value)
        if found is None:
            node = self.graph.nodes[self.graph.producers[value]]
            found = node.attributes["value"] if node.op == "constant" else None
        return found

    # -------------------------------------------------------------- parts of a concatenation

    def join(self, node: Node, space: str, copied: Callable[[int, int], None]) -> bool:
        """Let the operands of a concatenation be computed where they belong in it, in that memory
        space; False if none can, or if they are no runs of memory.

        copied: copies one, that has to stay where it is, into its part.
        """
        whole = node.start
        axis = self.bound.node_attributes(self.graph.producers[whole])["axis"]
        shape: Any = self.types[whole].shape
        if math.prod(shape[:axis]) != 1 or not math.prod(shape):
            return False
        if all(self.movable(v, space) < 0 for v in node.inputs):
            return False
        self.enter(whole, space)
        start = 0
        for v in node.inputs:
            own: Any = self.types[v].shape
            part = self.movable(v, space)
            alone = part < 0
            if alone:
                part = self.another(v)
                self.originals[part] = whole
            self._lay(part, whole, axis, start, start + own[axis])
            if alone:
                self.enter(part, space)
                copied(v, part)
            start += own[axis]
        self.joined.add(whole)
        return True

    def movable(self, value: int, space: str) -> int:
        """The value that is computed in that memory space where `value` has its elements, all of
        them in order, if it may be computed elsewhere there; else -1."""
        while value in self.views and value not in self._made:
            source = self.views[value][0]
            if self.model(source).size != self.models[value].size:
                return -1
            if not self.models[value].flags.c_contiguous:
                return -1
            value = source
        written = self.steps.writes
        while self._seen < len(written):
            self._made.update(written[self._seen])
            self._seen += 1
        if value not in self._made or value in self.views or value in self.outputs:
            return -1
        return value if self.away.get(value, HOST) == space else -1

    def _lay(self, value: int, whole: int, axis: int, start: int, stop: int) -> None:
        """Have a value computed where its elements are in a concatenation: from `start` to `stop`
        along an axis behind axes of size 1."""
        shape: Any = self.types[whole].shape
        index = (slice(None),) * axis + (slice(start, stop),)
        self.model(value)
        self.views[value] = whole, _stretch(index, self.types[value])
        row = math.prod(shape[axis + 1 :]) * self.types[whole].dtype.itemsize
        self.part_at[value] = start * row
        self._made.add(whole)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _solid(type_: TensorType) -> Array:
    """A contiguous array of a type that must not be read."""
    shape: Any = type_.shape
    size = type_.dtype.itemsize
    item: Array = np.empty((), f"V{size}")
    return as_strided(item, shape, contiguous(shape, size))


def _stretch(index: tuple[slice, ...], type_: TensorType) -> View:
    """How a part of a concatenation is taken of it."""
    shape: Any = type_.shape
    return lambda x: x[index].reshape(shape, copy=False)


def _look(node: Node, attributes: dict[str, Any], out: TensorType) -> View | None:
    """How a view is taken of an array; it raises ValueError where elements would move."""
    match node.op:
        case "reshape":
            shape: Any = out.shape
            return lambda x: x.reshape(shape, copy=False)
        case "permute_dims":
            axes = attributes["axes"]
            return lambda x: x.transpose(axes)
        case "broadcast_to":
            wide: Any = out.shape
            return lambda x: np.broadcast_to(x, wide)
        case "slice":
            index = tuple(slice(*bounds) for bounds in attributes["slices"])
            return lambda x: x[index]
        case "flip":
            turned = tuple(
                slice(None, None, -1 if axis in attributes["axis"] else 1)
                for axis in range(len(out.shape))
            )
            return lambda x: x[turned]
        case "after" | "identity" | "stop_gradient" | "expect_shape" | "hold":
            return lambda x: x
    return None
