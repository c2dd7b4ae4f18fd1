"""Exact rules for parts of tensors: slices, concatenations, updates, axes of size 1."""

from __future__ import annotations

from typing import Any

from staticad_schema.dims import same_size
from staticad_schema.node import Node

from ..rules import Rewriting, rule

Bounds = tuple[Any, Any, int]
WHOLE: Bounds = (None, None, 1)
# Concatenations that are made one of have no more operands, so that a chain stays linear.
MOST_OPERANDS = 64


def _is_whole(bounds: Bounds, size: Any) -> bool:
    start, stop, step = bounds
    return step == 1 and start in (None, 0) and (stop is None or stop == size)


def _positions(bounds: Bounds, size: Any) -> range | None:
    """The positions that a slice takes; None where they are not known."""
    if not isinstance(size, int) or any(not isinstance(b, int | None) for b in bounds):
        return None
    return range(size)[slice(*bounds)]


def _bounds(positions: range) -> Bounds:
    """The slice that takes these positions."""
    if not positions:
        return (0, 0, 1)
    last = positions[-1] + (1 if positions.step > 0 else -1)
    return (positions.start, None if last < 0 else last, positions.step)


@rule("exact", "slice")
def slice_of_slice(r: Rewriting, node: Node) -> int | None:
    """slice(slice(x)) → slice(x)"""
    inner = r.producer(node.inputs[0])
    if inner.op != "slice":
        return None
    combined = []
    middle, first = inner.types[0].shape, r.type(inner.inputs[0]).shape
    for outer, own, size, whole in zip(
        node.attributes["slices"], inner.attributes["slices"], middle, first, strict=True
    ):
        if _is_whole(outer, size):
            combined.append(own)
        elif _is_whole(own, whole):
            combined.append(outer)
        else:
            taken = _positions(own, whole)
            if taken is None or _positions(outer, size) is None:
                return None
            combined.append(_bounds(taken[slice(*outer)]))
    return r.add("slice", inner.inputs, node, slices=tuple(combined))


@rule("exact", "slice")
def slice_of_concat(r: Rewriting, node: Node) -> int | None:
    """A slice of a concatenation that lies in one of the operands → a slice of it"""
    inner = r.producer(node.inputs[0])
    if inner.op != "concat":
        return None
    axis, slices = inner.attributes["axis"], node.attributes["slices"]
    taken = _positions(slices[axis], inner.types[0].shape[axis])
    if not taken:
        return None
    low, high = min(taken), max(taken)
    start = 0
    for value in inner.inputs:
        size = r.type(value).shape[axis]
        if not isinstance(size, int):
            return None
        if start <= low and high < start + size:
            inside = range(taken.start - start, taken.stop - start, taken.step)
            own = (*slices[:axis], _bounds(inside), *slices[axis + 1 :])
            return r.add("slice", (value,), node, slices=own)
        start += size
    return None


@rule("exact", "concat")
def concat_of_slices(r: Rewriting, node: Node) -> int | None:
    """concat of all parts of x, in order → x"""
    axis = node.attributes["axis"]
    source, start = -1, 0
    for value in node.inputs:
        part = r.producer(value)
        if part.op != "slice" or (source >= 0 and part.inputs[0] != source):
            return None
        source = part.inputs[0]
        shape = r.type(source).shape
        for a, (bounds, size) in enumerate(zip(part.attributes["slices"], shape, strict=True)):
            if a != axis and not _is_whole(bounds, size):
                return None
        taken = _positions(part.attributes["slices"][axis], shape[axis])
        if taken is None or taken.step != 1 or (taken and taken.start != start):
            return None
        start += len(taken)
    return source if same_size(start, r.type(source).shape[axis]) else None


@rule("exact", "concat")
def concat_of_concat(r: Rewriting, node: Node) -> int | None:
    """concat(concat(x, y), z) → concat(x, y, z)"""
    axis = node.attributes["axis"]
    operands: list[int] = []
    for value in node.inputs:
        inner = r.producer(value)
        nested = inner.op == "concat" and inner.attributes["axis"] == axis
        operands += inner.inputs if nested else [value]
    if len(operands) == len(node.inputs) or len(operands) > MOST_OPERANDS:
        return None
    return r.add("concat", tuple(operands), node, axis=axis)


@rule("exact", "slice")
def slice_of_update(r: Rewriting, node: Node) -> int | None:
    """slice(slice_set(x, u)) → u where both mean the same elements"""
    inner = r.producer(node.inputs[0])
    if inner.op != "slice_set" or inner.attributes["slices"] != node.attributes["slices"]:
        return None
    return inner.inputs[1]


@rule("exact", "slice_set")
def dead_update(r: Rewriting, node: Node) -> int | None:
    """slice_set(slice_set(x, u), v) → slice_set(x, v) of the same elements; slice_set(x, u) of all
    elements → u; of the elements that x has there → x"""
    x, updates = node.inputs
    slices = node.attributes["slices"]
    if all(map(_is_whole, slices, node.types[0].shape)):
        return updates
    inner, taken = r.producer(x), r.producer(updates)
    if taken.op == "slice" and taken.inputs[0] == x and taken.attributes["slices"] == slices:
        return x
    if inner.op == "slice_set" and inner.attributes["slices"] == slices:
        return r.add("slice_set", (inner.inputs[0], updates), node, slices=slices)
    return None


@rule("exact", "flip")
def flip_of_flip(r: Rewriting, node: Node) -> int | None:
    """flip(flip(x)) → flip(x) along the axes that one of them names"""
    inner = r.producer(node.inputs[0])
    if inner.op != "flip":
        return None
    axes = set(node.attributes["axis"]) ^ set(inner.attributes["axis"])
    return r.add("flip", inner.inputs, node, axis=tuple(sorted(axes)))


@rule("exact", "permute_dims")
def permute_of_ones(r: Rewriting, node: Node) -> int | None:
    """permute_dims that only moves axes of size 1 → reshape"""
    shape = r.type(node.inputs[0]).shape
    moved = [axis for axis in node.attributes["axes"] if shape[axis] != 1]
    if moved != sorted(moved):
        return None
    return r.add("reshape", node.inputs, node, shape=node.types[0].shape)


@rule("exact", "permute_dims")
def permute_of_parts(r: Rewriting, node: Node) -> int | None:
    """permute_dims of placed or concatenated parts → the parts permuted, then put together: what
    follows finds its elements in order.  Not where the last axis moves: transposes are flags of
    products"""
    axes = node.attributes["axes"]
    inner = r.producer(node.inputs[0])
    if inner.op not in ("place", "concat") or len(inner.inputs) > MOST_OPERANDS:
        return None
    if axes[-1] != len(axes) - 1:
        return None
    moved = tuple([r.add("permute_dims", (value,), node, axes=axes) for value in inner.inputs])
    if inner.op == "concat":
        return r.add("concat", moved, node, axis=axes.index(inner.attributes["axis"]))
    rank, slices = len(axes), inner.attributes["slices"]
    placed = tuple(slices[k * rank + a] for k in range(len(moved)) for a in axes)
    return r.add("place", moved, node, slices=placed, shape=node.types[0].shape)


@rule("exact", "broadcast_to")
def broadcast_of_reshape(r: Rewriting, node: Node) -> int | None:
    """broadcast_to(x with axes of size 1 in front) → broadcast_to(x)"""
    inner = r.producer(node.inputs[0])
    if inner.op != "reshape":
        return None
    own, wide = r.type(inner.inputs[0]).shape, inner.types[0].shape
    lead = len(wide) - len(own)
    if lead <= 0 or wide != (1,) * lead + own:
        return None
    return r.add("broadcast_to", inner.inputs, node, shape=node.attributes["shape"])
