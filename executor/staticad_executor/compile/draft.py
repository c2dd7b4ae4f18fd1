"""Instructions over values: what is called, before anything has memory.

The first half of stage 7.  Small regions become one instruction a node, large ones a single
one; views are only noted, with how they are taken; what has to be contiguous and is not gets
a copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.types import Array, TensorType

from ..devices.numpy.elementwise import Elementwise, elementwise
from ..devices.numpy.kernels import Kernel, copy_kernel, kernel
from ..devices.numpy.region import WHOLE_ELEMENTS
from ..devices.numpy.tilecode import Part
from ..devices.numpy.tiles import Shape, contiguous
from .bind import Bound
from .scalar import python_kernel, runs

View = Callable[[Array], Array]


class Fused(NamedTuple):
    """A large region: its shape, the (shape, strides) of each operand, and its nodes."""

    shape: Shape
    layouts: tuple[tuple[Shape, Shape], ...]
    parts: tuple[Part, ...]


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

    def __init__(self, bound: Bound, python_scalars: bool = False) -> None:
        """python_scalars: whether 0-d regions may compute with Python's floats."""
        self.bound = bound
        self.python_scalars = python_scalars
        self.program = bound.grouped.program
        self.graph: Graph = self.program.graph
        self.types = list(bound.types)
        # For each view the value it looks at directly, and how.
        self.views: dict[int, tuple[int, View]] = {}
        # A strided stand-in without memory for each view, to ask NumPy for its layout.
        self.models: dict[int, Array] = {}
        self.copies: dict[int, int] = {}
        self.steps = Steps()
        self.kinds: list[str] = []
        self.kernels: dict[Any, Elementwise] = {}

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
            if group.kind == "region":
                self.kinds.append("region")
                shape: Any = self.types[nodes[members[0]].start].shape
                if not shape and self.python_scalars:
                    self.scalars(members, group.outputs)
                elif not shape or math.prod(shape) <= WHOLE_ELEMENTS:
                    self.small_region(members)
                else:
                    self.large_region(members, group.outputs)
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
            shape: Any = type_.shape
            size = type_.dtype.itemsize
            item: Array = np.empty((), f"V{size}")
            found = self.models[value] = as_strided(item, shape, contiguous(shape, size))
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
            self.steps.add((), (value,), (copy,), copy_kernel(), len(self.kinds) - 1)
        return copy

    def walked(self, value: int) -> int:
        """The value as an elementwise operand.  Negative strides are copied away: NumPy's
        loops may round differently when they walk backwards."""
        if value not in self.views or min(self.models[value].strides, default=0) >= 0:
            return value
        return self.contiguous(value)

    # -------------------------------------------------------------- instructions

    def small_region(self, members: Sequence[int]) -> None:
        """One instruction a node."""
        nodes, views, steps = self.graph.nodes, self.views, self.steps
        step = len(self.kinds) - 1
        scalar = not self.types[nodes[members[0]].start].shape
        for index in members:
            node = nodes[index]
            reads = node.inputs
            if views:
                reads = tuple([self.walked(v) for v in reads])
            chosen = self.elementwise(index, node, scalar)
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
                self.small_region(run.nodes)

    def elementwise(self, index: int, node: Node, scalar: bool = False) -> Elementwise:
        types = self.types
        dtypes = tuple([types[v].dtype for v in node.inputs])
        if node.attributes:
            attributes = self.bound.node_attributes(index)
            return elementwise(node.op, attributes, dtypes, types[node.start].dtype, scalar)
        key = node.op, scalar, dtypes
        found = self.kernels.get(key)
        if found is None:
            out = types[node.start].dtype
            found = self.kernels[key] = elementwise(node.op, {}, dtypes, out, scalar)
        return found

    def large_region(self, members: Sequence[int], leaving: Sequence[int]) -> None:
        """One instruction for all nodes."""
        nodes, types = self.graph.nodes, self.types
        operands: dict[int, int] = {}
        # Where each value is among the operands, then the nodes' results.
        position: dict[int, int] = {}
        made = {nodes[index].start for index in members}
        for index in members:
            for value in nodes[index].inputs:
                if value not in made and value not in position:
                    position[value] = operands.setdefault(self.walked(value), len(operands))
        outputs = [v for v in leaving if v in made]
        order = {v: k for k, v in enumerate(outputs)}
        parts = []
        for index in members:
            node = nodes[index]
            parts.append(
                Part(
                    self.elementwise(index, node), tuple([position[v] for v in node.inputs]),
                    types[node.start].dtype, order.get(node.start, -1),
                )
            )  # fmt: skip
            position[node.start] = len(operands) + len(parts) - 1
        shape: Any = types[nodes[members[0]].start].shape
        models = [self.model(value) for value in operands]
        layouts = tuple([(model.shape, model.strides) for model in models])
        self.steps.add(
            tuple(members), tuple(operands), tuple(outputs), Fused(shape, layouts, tuple(parts)),
            len(self.kinds) - 1,
        )  # fmt: skip

    def kernel(self, index: int) -> None:
        node = self.graph.nodes[index]
        chosen = kernel(
            node.op, self.bound.node_attributes(index),
            [self.types[v] for v in node.inputs],
            [self.types[v] for v in node.outputs],
        )  # fmt: skip
        reads = node.inputs
        if chosen.contiguous:
            reads = tuple([self.contiguous(v) for v in reads])
        else:
            reads = tuple([self.walked(v) for v in reads])
        self.steps.add((index,), reads, tuple(node.outputs), chosen, len(self.kinds) - 1)


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
        case "after" | "identity" | "stop_gradient" | "expect_shape":
            return lambda x: x
    return None
