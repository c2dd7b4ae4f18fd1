"""What runs on NumPy: the instructions of one group.

Small regions become one instruction a node, large ones a single one.  Operands that are elsewhere
are brought here; what has to be contiguous and is not gets a copy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.ops.blocks import Blocks
from staticad_schema.types import Array, TensorType, nbytes

from ..devices.base import HOST
from ..devices.numpy.elementwise import Elementwise, elementwise
from ..devices.numpy.kernels import Kernel, copy_kernel, kernel, total_kernel
from ..devices.numpy.region import LONG_ROW, WHOLE_ELEMENTS
from ..program import VIEWS
from .alike import Kind
from .draft import Draft
from .fuse import Fused, Tiles, fused
from .group import Group
from .rows import PRODUCTS
from .scalar import python_kernel, runs
from .sums import divided

_NO_SUMS: Mapping[int, Blocks] = {}


class OnNumpy:
    """The writer of instructions for NumPy.  python_scalars: whether 0-d regions may compute with
    Python's floats.  joins: whether operands of concatenations may be computed in their places."""

    def __init__(self, draft: Draft, python_scalars: bool, joins: bool) -> None:
        self.draft = draft
        self.python_scalars = python_scalars
        self.joins = joins
        self.graph = draft.graph
        self.types = draft.types
        self.bound = draft.bound
        self.alike = draft.alike
        self.views = draft.views
        # What is known already for other nodes and regions of a kind.
        self.elementwise_kernels: dict[Any, Elementwise] = {}
        self.kernels: dict[Kind, Kernel] = {}
        self.tiles: dict[Any, Tiles] = {}
        self.copies: dict[int, int] = {}

    def write(self, group: Group, members: Sequence[int]) -> None:
        """The instructions of a group; members: its nodes that still have to run."""
        if group.kind == "region" or group.rows >= 0:
            nodes = self.graph.nodes
            heads = [i for i in members if nodes[i].op in PRODUCTS]
            for index in heads:
                self.kernel(index)
            rest = [i for i in members if nodes[i].op not in PRODUCTS] if heads else members
            if rest:
                self.region(rest, group.outputs, group.rows)
        else:
            self.kernel(members[0])

    # -------------------------------------------------------------- operands

    def model(self, value: int) -> Array:
        """An array of the value's shape and strides that must not be read."""
        return self.draft.model(value)

    def add(
        self,
        nodes: tuple[int, ...],
        reads: tuple[int, ...],
        writes: tuple[int, ...],
        kernel: Elementwise | Kernel | Fused,
    ) -> None:
        """One more instruction, whose operands are brought here."""
        draft = self.draft
        if draft.away:
            reads = tuple([draft.brought(v, HOST) for v in reads])
        draft.add(nodes, reads, writes, kernel)

    def contiguous(self, value: int) -> int:
        """The value itself, or a contiguous copy of it if it is a view that is not."""
        if value not in self.views or self.model(value).flags.c_contiguous:
            return value
        copy = self.copies.get(value)
        if copy is None:
            copy = self.copies[value] = self.draft.another(value)
            self.add((), (value,), (copy,), copy_kernel())
        return copy

    def walked(self, value: int) -> int:
        """The value as an elementwise operand.  Negative strides are copied away: NumPy's
        loops may round differently when they walk backwards."""
        if value not in self.views or min(self.model(value).strides, default=0) >= 0:
            return value
        return self.contiguous(value)

    # -------------------------------------------------------------- regions and kernels

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
            return
        longest = max(math.prod(shape[rows:]) for shape in shapes)
        long = longest > LONG_ROW
        own = divided(self, members, leaving, rows, 0 if long else longest)
        if long:
            self.by_shape(own.members, own.leaving)
        else:
            self.tiled(own.members, own.leaving, rows, own.inside)
        for index in own.behind:
            self.kernel(index)

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
        nodes, views = self.graph.nodes, self.views
        for index in members:
            node = nodes[index]
            if not OPS[node.op].elementwise:
                if node.op not in VIEWS or not self.draft.view(index):
                    self.kernel(index)
                continue
            reads = node.inputs
            if views and not views.keys().isdisjoint(reads):
                reads = tuple([self.walked(v) for v in reads])
            chosen = self.elementwise(index, node, not self.types[node.start].shape)
            self.add((index,), reads, (node.start,), chosen)

    def scalars(self, members: Sequence[int], leaving: Sequence[int]) -> None:
        """One instruction for each run of nodes that Python's floats can stand for, one a node
        for the others."""
        for run in runs(self.graph, self.types, members, leaving):
            if run.expressions:
                chosen = python_kernel(run, self.graph, self.bound.constants, self.elementwise)
                self.add(run.nodes, run.operands, run.outputs, chosen)
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

    def tiled(
        self,
        members: Sequence[int],
        leaving: Sequence[int],
        rows: int,
        sums: Mapping[int, Blocks] = _NO_SUMS,
    ) -> None:
        """One instruction for all nodes, whose first axes are rows, and one for each of the values
        that are sums of rows."""
        given = {value: parts.block for value, parts in sums.items()}
        chosen, operands, outputs = fused(self, tuple(members), leaving, rows, given)
        of_blocks: dict[int, int] = {}
        for value, parts in sums.items():
            of_blocks[value] = self.draft.another(value)
            shape = parts.number, parts.block.width
            self.types[of_blocks[value]] = TensorType(self.types[value].dtype, shape)
        self.add(tuple(members), operands, tuple([of_blocks.get(v, v) for v in outputs]), chosen)
        for value, parts in sums.items():
            node = self.graph.producers[value]
            self.add((node,), (of_blocks[value],), (value,), total_kernel(parts.block))

    def kernel(self, index: int) -> None:
        node = self.graph.nodes[index]
        if node.op == "concat" and self.joins and self.draft.join(node, HOST, self.copied):
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
        self.add((index,), reads, tuple(node.outputs), chosen)

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
        return first != second and not {first, second} <= self.draft.feeds

    def copied(self, value: int, part: int) -> None:
        """Copy a value to where it belongs in a concatenation."""
        node = self.graph.producers[self.draft.originals[part]]
        self.add((node,), (self.walked(value),), (part,), copy_kernel())
