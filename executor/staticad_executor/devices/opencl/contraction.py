"""A matrix product as kernels see it: stacks of matrices with strides, and what is computed of each
element of the result.

Axes of the stack that all operands walk alike become one; a stack of matrices times one matrix
becomes one tall matrix.  A matrix times a vector is turned, so that the result is a row.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, NamedTuple

from staticad_schema.op import OPS
from staticad_schema.types import KINDS, UINT32, UINT64, WIDENED, DType, TensorType

from .body import RENAMED
from .elementwise import aligned_strides
from .expansions import NUMBER
from .known import KNOWN
from .region import Operand, Pointer, Region, Shape, Step, shape_of, size_of

CONTRACTIONS = frozenset({"matmul", "matmul_transposed", "matmul_no_nan"})

Which = Literal["left", "right"]


class Side(NamedTuple):
    """One of the two operands: which of the region's it is, and its strides along the stack, along
    its own axis of the result (outer), and along the axis that is summed (inner)."""

    operand: int
    stack: Shape
    outer: int
    inner: int


class Contraction(NamedTuple):
    """out[s, i, j] = sum over p of left[s, i, p] * right[s, p, j].

    stack, rows, columns: the shape of the result.  depth: of the sum.  zeros: the side of which a
    0 adds nothing, whatever it meets; None if there is none.  region: over the shape of the
    result, with the product as its step `at`, and what is computed of it.
    """

    stack: Shape
    rows: int
    columns: int
    depth: int
    left: Side
    right: Side
    zeros: Which | None
    at: int
    region: Region

    @property
    def product(self) -> int:
        """The number of the product among the region's values."""
        return len(self.region.operands) + self.at

    @property
    def dtype(self) -> DType:
        """The dtype of the product."""
        return self.region.steps[self.at].types[0].dtype

    @property
    def wide(self) -> DType:
        """The dtype of its sums: half floats are summed in float32, and integers wrap."""
        return summed(self.dtype)

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        return (*self.stack, self.rows, self.columns)

    @property
    def matrices(self) -> int:
        """The matrices of the stack."""
        return math.prod(self.stack)

    def own_stack(self, side: Side) -> Shape:
        """The axes along which an operand's matrices differ; 1 where they are the same."""
        return tuple(n if s else 1 for n, s in zip(self.stack, side.stack, strict=True))

    @property
    def largest(self) -> int:
        """What indices and strides may come to."""
        found = [size_of(self.shape)]
        for side, own in ((self.left, self.rows), (self.right, self.columns)):
            sizes, strides = (*self.stack, own, self.depth), (*side.stack, side.outer, side.inner)
            found.append(sum(abs(s) * n for s, n in zip(strides, sizes, strict=True)))
            found.append(size_of(self.own_stack(side)) * own * self.depth)
        for o in self.region.operands:
            found.append(sum(abs(s) * n for s, n in zip(o.strides, o.shape, strict=True)))
        return max(found)

    @property
    def unrounded(self) -> DType:
        """The dtype of a part of the sum in memory."""
        return self.wide if KINDS[self.dtype] == "float" else self.dtype

    def partial(self, number: int) -> Region:
        """The region of the product alone, not yet rounded, in scratch of that number."""
        dtype = self.unrounded
        steps = self.region.steps
        step = steps[self.at]._replace(types=(TensorType(dtype, self.shape),))
        goals = (Pointer("scratch", number),)
        steps = (*steps[: self.at], step)
        return replace(self.region, steps=steps, outputs=(self.product,), goals=goals)

    def rest(self, parts: int, number: int) -> Region:
        """What is left to do where the sum lies in so many parts in scratch of that number."""
        region, count = self.region, len(self.region.operands)
        memory = Operand.contiguous(self.unrounded, (parts, *self.shape))

        def moved(v: int) -> int:
            return v if v < count else v + 1

        whole = {"op": "sum", "at": (0, len(self.shape))}
        steps = [s._replace(inputs=tuple(map(moved, s.inputs))) for s in region.steps]
        steps[self.at] = Step("combined", whole, (count,), steps[self.at].types)
        sources = tuple(region.source(k) for k in range(count))
        return Region(
            (*region.operands, memory),
            tuple(steps),
            tuple(map(moved, region.outputs)),
            (*sources, Pointer("scratch", number)),
            tuple(region.goal(k) for k in range(len(region.outputs))),
        )


def summed(dtype: DType) -> DType:
    """The dtype in which products of a dtype are summed; all integers wrap."""
    if KINDS[dtype] == "float":
        return WIDENED.get(dtype, dtype)
    return UINT64 if dtype.itemsize == 8 else UINT32


def is_contraction(region: Region) -> bool:
    """Whether a region is one product of operands, and what is computed of each element of that:
    what becomes one kernel."""
    places = [k for k, step in enumerate(region.steps) if step.op in CONTRACTIONS]
    if len(places) != 1:
        return False
    product = region.steps[places[0]]
    shape = shape_of(product.types[0])
    return (
        all(v < len(region.operands) for v in product.inputs)
        and all(k in places or _elementwise(step) for k, step in enumerate(region.steps))
        and all(shape_of(region.types[v]) == shape for v in region.outputs)
    )


def _elementwise(step: Step) -> bool:
    known = OPS.get(step.op)
    if step.op in RENAMED or step.op in (NUMBER, KNOWN):
        return True
    return known is not None and known.elementwise


class _Axis(NamedTuple):
    """An axis of the result: its size, and the strides of all operands along it, those of the two
    sides first."""

    size: int
    strides: Shape

    def joins(self, inner: _Axis) -> bool:
        """Whether this axis and the next one are one to all operands."""
        return all(a == b * inner.size for a, b in zip(self.strides, inner.strides, strict=True))


def contraction(region: Region) -> Contraction:
    """The product of a region.  Raises ValueError where it is not such a region."""
    if not is_contraction(region):
        raise ValueError("one product, and elementwise steps over its shape, are wanted")
    place = next(k for k, step in enumerate(region.steps) if step.op in CONTRACTIONS)
    first = region.steps[place]
    a, b = (region.operands[v] for v in first.inputs)
    shape = shape_of(first.types[0])
    turned_right = first.op == "matmul_transposed"
    # A vector has no axis of its own in the result.
    row, column = a.shape[-2:-1], (b.shape[:1] if turned_right else b.shape[1:])[-1:]
    stack = shape[: len(shape) - len(row) - len(column)]
    extras = _aligned(region, shape, len(row), len(column))
    left = _stack_strides(a, stack)
    right = (0,) * len(stack) if turned_right else _stack_strides(b, stack)
    left_outer = a.strides[-2] if row and row[0] != 1 else 0
    right_inner, right_outer = (b.strides[-1], b.strides[-2]) if turned_right else _strides_of(b)
    # Nobody goes along an axis of size 1.
    inner = [a.strides[-1], right_inner] if a.shape[-1] > 1 else [1, 1]
    axes = [_Axis(n, (left[k], right[k], *(e[k] for e in extras))) for k, n in enumerate(stack)]
    axes.append(_Axis(row[0] if row else 1, (left_outer, 0, *(e[-2] for e in extras))))
    axes = _joined(axes)
    nothing = _Axis(1, (0,) * (2 + len(extras)))
    # Without rows of its own, a stack of vectors times one matrix is a matrix.
    rows = axes.pop() if axes and axes[-1].strides[1] == 0 else nothing
    size = column[0] if column else 1
    columns = _Axis(size, (0, right_outer if size != 1 else 0, *(e[-1] for e in extras)))
    sides = [first.inputs[0], first.inputs[1]]
    order = [0, 1]
    zeros: Which | None = "left" if first.attributes.get("value") else None
    if columns.size == 1 != rows.size:
        rows, columns, order = columns, rows, [1, 0]
        zeros = "right" if zeros else None
    x, y = order
    return Contraction(
        tuple(axis.size for axis in axes),
        rows.size,
        columns.size,
        a.shape[-1],
        Side(sides[x], tuple(axis.strides[x] for axis in axes), rows.strides[x], inner[x]),
        Side(sides[y], tuple(axis.strides[y] for axis in axes), columns.strides[y], inner[y]),
        zeros,
        place,
        _over(region, [*axes, rows, columns]),
    )


def _strides_of(b: Operand) -> tuple[int, int]:
    """Those of the right operand along the sum and along its own axis."""
    return (b.strides[-2], b.strides[-1]) if len(b.shape) > 1 else (b.strides[0], 0)


def _stack_strides(operand: Operand, stack: Shape) -> Shape:
    return aligned_strides(Operand(operand.dtype, operand.shape[:-2], operand.strides[:-2]), stack)


def _aligned(region: Region, shape: Shape, rows: int, columns: int) -> list[Shape]:
    """The strides of all operands where they are read element by element, with an axis of rows and
    one of columns; 0 where they are not."""
    read = {v for s in region.steps if s.op not in CONTRACTIONS for v in s.inputs}
    read.update(region.outputs)
    found = []
    for k, operand in enumerate(region.operands):
        strides = aligned_strides(operand, shape) if k in read else (0,) * len(shape)
        at = len(shape) - columns
        strides = strides[:at] + ((0,) if not columns else ()) + strides[at:]
        at = len(strides) - 1
        found.append(strides if rows else (*strides[:at], 0, *strides[at:]))
    return found


def _joined(axes: list[_Axis]) -> list[_Axis]:
    """As few axes as operands allow, none of size 1."""
    found: list[_Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        if found and found[-1].joins(axis):
            axis = _Axis(found.pop().size * axis.size, axis.strides)
        found.append(axis)
    return found


def _over(region: Region, axes: list[_Axis]) -> Region:
    """The region over these axes, its operands with strides along each of them."""
    shape = tuple(axis.size for axis in axes)
    operands = tuple(
        Operand(o.dtype, shape, tuple(axis.strides[2 + k] for axis in axes))
        for k, o in enumerate(region.operands)
    )
    steps = tuple(
        s._replace(types=tuple(t.with_shape(shape) for t in s.types)) for s in region.steps
    )
    return Region(operands, steps, region.outputs, region.sources, region.goals)
