"""Instructions over values: what is called, before anything has memory.

The first half of stage 7.  Small regions become one instruction a node, large ones a single
one; views are only noted, with how they are taken; what has to be contiguous and is not gets
a copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.types import Array, TensorType, nbytes

from ..devices.numpy.elementwise import Elementwise, elementwise
from ..devices.numpy.kernels import Kernel, copy_kernel, kernel
from ..devices.numpy.region import LONG_ROW, WHOLE_ELEMENTS
from ..devices.numpy.tiles import contiguous
from ..program import VIEWS
from .alike import Kind
from .bind import Bound
from .fuse import Fused, Tiles, fused
from .scalar import python_kernel, runs

View = Callable[[Array], Array]


class Steps:
    """Instructions over values, as columns: a chain has a hundred thousand of them."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, ...]] = []
        self.reads: list[tuple[int, ...]] = []
        self.writes: list[tuple[int, ...]] = []
        self.kernels: list[Elementwise | Kernel | Fused] = []
        self.numbers: list[int] = []

    def add(
        self,
        nodes: tuple[int, ...],
        reads: tuple[int, ...],
        writes: tuple[int, ...],
        kernel: Elementwise | Kernel | Fused,
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

    def __init__(self, bound: Bound, python_scalars: bool = False, joins: bool = False) -> None:
        """python_scalars: whether 0-d regions may compute with Python's floats.  joins: whether
        operands of concatenations may be computed in their places."""
        self.bound = bound
        self.python_scalars = python_scalars
        self.joins = joins
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
        self.copies: dict[int, int] = {}
        # For each value that is no node's the one that it is a copy, or a part, of.
        self.originals: dict[int, int] = {}
        # Concatenations that nothing computes as a whole: their operands are parts of them.
        self.joined: set[int] = set()
        self._made: set[int] = set()
        self._seen = 0
        self.steps = Steps()
        self.kinds: list[str] = []
        self.alike = bound.grouped.alike
        # What is known already for other nodes and regions of a kind.
        self.elementwise_kernels: dict[Any, Elementwise] = {}
        self.kernels: dict[Kind, Kernel] = {}
        self.tiles: dict[Any, Tiles] = {}

    def write(self) -> None:
        """All instructions, in the order of the groups."""
        needed = self.needed()
        nodes = self.graph.nodes
        for group in self.bound.grouped.groups:
            members = [i for i in group.nodes if needed[i]]
            if not members:
                continue
            if group.kind == "view" and self.view(members[0]):
                continue
            if group.kind == "region" or group.rows >= 0:
                self.kinds.append(group.kind)
                self.region(members, group.outputs, group.rows)
            elif nodes[members[0]].op != "group":
                self.kinds.append("kernel")
                self.kernel(members[0])

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
                if not (draws and nodes[index].op == "random_bits"):
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

    def contiguous(self, value: int) -> int:
        """The value itself, or a contiguous copy of it if it is a view that is not."""
        if value not in self.views or self.models[value].flags.c_contiguous:
            return value
        copy = self.copies.get(value)
        if copy is None:
            copy = len(self.types)
            self.types.append(self.types[value])
            self.copies[value] = copy
            self.originals[copy] = value
            self.steps.add((), (value,), (copy,), copy_kernel(), len(self.kinds) - 1)
        return copy

    def walked(self, value: int) -> int:
        """The value as an elementwise operand.  Negative strides are copied away: NumPy's
        loops may round differently when they walk backwards."""
        if value not in self.views or min(self.models[value].strides, default=0) >= 0:
            return value
        return self.contiguous(value)

    # -------------------------------------------------------------- instructions

    def region(self, members: Sequence[int], leaving: Sequence[int], rows: int) -> None:
        """One instruction for all nodes, if there are enough elements; else one a node."""
        nodes, types = self.graph.nodes, self.types
        if rows < 0:
            shape: Any = types[nodes[members[0]].start].shape
            if not shape and self.python_scalars:
                self.scalars(members, leaving)
            elif not shape or math.prod(shape) <= WHOLE_ELEMENTS:
                self.one_by_one(members)
            else:
                self.tiled(members, leaving, len(shape))
            return
        shapes: Any = [types[v].shape for i in members for v in nodes[i].outputs]
        shapes += [types[v].shape for i in members for v in nodes[i].inputs]
        elements = [math.prod(shape) for shape in shapes]
        if max(elements) <= WHOLE_ELEMENTS or 0 in elements:
            self.one_by_one(members)
        elif max(math.prod(shape[rows:]) for shape in shapes) > LONG_ROW:
            self.by_shape(members, leaving)
        else:
            self.tiled(members, leaving, rows)

    def by_shape(self, members: Sequence[int], leaving: Sequence[int]) -> None:
        """Instructions for elementwise nodes of one shape that follow each other, and for any
        other node one: rows are too long to be computed one by one."""
        nodes, types = self.graph.nodes, self.types
        runs: list[list[int]] = []
        for index in members:
            fits = (
                OPS[nodes[index].op].elementwise and runs and OPS[nodes[runs[-1][0]].op].elementwise
            )
            if fits and types[nodes[index].start].shape == types[nodes[runs[-1][0]].start].shape:
                runs[-1].append(index)
            else:
                runs.append([index])
        run_of = {v: k for k, run in enumerate(runs) for i in run for v in nodes[i].outputs}
        needed = set(leaving)
        for k, run in enumerate(runs):
            needed |= {v for i in run for v in nodes[i].inputs if run_of.get(v, k) != k}
        for run in runs:
            if OPS[nodes[run[0]].op].elementwise:
                self.region(run, [v for i in run for v in nodes[i].outputs if v in needed], -1)
            else:
                self.one_by_one(run)

    def one_by_one(self, members: Sequence[int]) -> None:
        """One instruction a node."""
        nodes, views, steps = self.graph.nodes, self.views, self.steps
        step = len(self.kinds) - 1
        for index in members:
            node = nodes[index]
            if not OPS[node.op].elementwise:
                if node.op not in VIEWS or not self.view(index):
                    self.kernel(index)
                continue
            reads = node.inputs
            if views and not views.keys().isdisjoint(reads):
                reads = tuple([self.walked(v) for v in reads])
            chosen = self.elementwise(index, node, not self.types[node.start].shape)
            steps.add((index,), reads, (node.start,), chosen, step)

    def scalars(self, members: Sequence[int], leaving: Sequence[int]) -> None:
        """One instruction for each run of nodes that Python's floats can stand for, one a node
        for the others."""
        for run in runs(self.graph, self.types, members, leaving):
            if run.expressions:
                chosen = python_kernel(run, self.graph, self.bound.constants, self.elementwise)
                number = len(self.kinds) - 1
                self.steps.add(run.nodes, run.operands, run.outputs, chosen, number)
            else:
                self.one_by_one(run.nodes)

    def elementwise(self, index: int, node: Node, scalar: bool = False) -> Elementwise:
        types = self.types
        dtypes = tuple([types[v].dtype for v in node.inputs])
        if node.attributes:
            attributes = self.bound.node_attributes(index)
            return elementwise(node.op, attributes, dtypes, types[node.start].dtype, scalar)
        key = node.op, scalar, dtypes
        found = self.elementwise_kernels.get(key)
        if found is None:
            out = types[node.start].dtype
            found = self.elementwise_kernels[key] = elementwise(node.op, {}, dtypes, out, scalar)
        return found

    def tiled(self, members: Sequence[int], leaving: Sequence[int], rows: int) -> None:
        """One instruction for all nodes, whose first axes are rows."""
        chosen, operands, outputs = fused(self, tuple(members), leaving, rows)
        self.steps.add(tuple(members), operands, outputs, chosen, len(self.kinds) - 1)

    def kernel(self, index: int) -> None:
        node = self.graph.nodes[index]
        if node.op == "concat" and self.joins and self.join(index, node):
            return
        kind = self.alike.node(index, node)
        known = self.alike.kernels if kind.fixed else self.kernels
        chosen = known.get(kind)
        if chosen is None:
            chosen = known[kind] = kernel(
                node.op, self.bound.node_attributes(index),
                [self.types[v] for v in node.inputs],
                [self.types[v] for v in node.outputs],
            )  # fmt: skip
        reads = node.inputs
        if chosen.contiguous:
            reads = tuple([self.contiguous(v) for v in reads])
        else:
            reads = tuple([self.walked(v) for v in reads])
        if chosen.apart is not None:
            chosen = self.product(chosen, *reads)
        self.steps.add((index,), reads, tuple(node.outputs), chosen, len(self.kinds) - 1)

    def product(self, chosen: Kernel, left: int, right: int) -> Kernel:
        """The kernel of a product for operands that may share memory, or cannot."""
        if self.apart(left, right):
            return chosen._replace(function=chosen.apart or chosen.function)
        copied = nbytes(self.types[right])
        return chosen._replace(temporary_bytes=chosen.temporary_bytes + copied)

    def apart(self, first: int, second: int) -> bool:
        """Whether two values are certain to share no memory."""
        while first in self.views:
            first = self.views[first][0]
        while second in self.views:
            second = self.views[second][0]
        # A caller may feed one array twice.
        return first != second and not (first in self.feeds and second in self.feeds)

    # -------------------------------------------------------------- parts

    def join(self, index: int, node: Node) -> bool:
        """Let the operands of a concatenation be computed where they belong in it, those that
        cannot be copied there; False if none can, or if they are no runs of memory."""
        whole, axis = node.start, self.bound.node_attributes(index)["axis"]
        shape: Any = self.types[whole].shape
        if math.prod(shape[:axis]) != 1 or not math.prod(shape):
            return False
        if all(self.movable(v) < 0 for v in node.inputs):
            return False
        start = 0
        for v in node.inputs:
            own: Any = self.types[v].shape
            index_of = (slice(None),) * axis + (slice(start, start + own[axis]),)
            start += own[axis]
            part = self.movable(v)
            if part < 0:
                part = len(self.types)
                self.types.append(self.types[v])
                self.originals[part] = whole
                number = len(self.kinds) - 1
                self.steps.add((index,), (self.walked(v),), (part,), copy_kernel(), number)
            self.model(part)
            self.views[part] = whole, _stretch(index_of, self.types[part])
        self.joined.add(whole)
        self._made.add(whole)
        return True

    def movable(self, value: int) -> int:
        """The value that is computed where `value` has its elements, all of them in order, if it
        may be computed elsewhere; else -1."""
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
        free = value in self._made and value not in self.views
        return value if free and value not in self.outputs else -1


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
