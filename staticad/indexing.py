"""x[index] and x.at[index]: NumPy's indexing, written in slice, reshape, gather and scatter.

An index is read once into items, one for each axis that it names; what NumPy's rules say
about the order of the result's axes is decided from them, for reading and writing alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Shape, Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.types import INT64, INTEGER, KINDS

from .building import build
from .numbers import stored

Index = Any


@dataclass(frozen=True)
class Item:
    """One part of an index: kind "new", "slice", "all", "int" or "array".

    apart: whether an ellipsis stands before it, also one that stands for no axes.
    """

    kind: str
    axis: int = -1
    value: Any = None
    apart: bool = False


def read_index(x: Handle, index: Index) -> list[Item]:
    """The items of an index, one an axis of x and one a None.  Raises GraphError."""
    parts = list(index) if isinstance(index, tuple) else [index]
    shape = x.type.shape
    named = 0
    ellipses = 0
    for part in parts:
        if isinstance(part, EllipsisType):
            ellipses += 1
        elif part is not None:
            named += 1
    if ellipses > 1 or named > len(shape):
        raise ShapeError(
            "more than one ellipsis" if ellipses > 1 else "too many indices",
            expected="one `...` at most" if ellipses > 1 else f"{len(shape)} at most",
            found=f"{ellipses} of them" if ellipses > 1 else f"{named} for {x.describe()}",
        )
    if not ellipses:
        parts.append(...)
    items: list[Item] = []
    axis = 0
    apart = False
    for part in parts:
        if isinstance(part, EllipsisType):
            for _ in range(len(shape) - named):
                items.append(Item("all", axis))
                axis += 1
            apart = True
            continue
        item = Item("new") if part is None else _item(x, part, axis)
        axis += part is not None
        items.append(replace(item, apart=True) if apart else item)
        apart = False
    return items


def _item(x: Handle, part: Any, axis: int) -> Item:
    size = x.type.shape[axis]
    if isinstance(part, slice):
        return _slice_item(part, axis, size)
    if isinstance(part, bool | np.bool_):
        raise _mask_error(part)
    if isinstance(part, int | np.integer):
        return Item("int", axis, _whole(int(part), size, axis))
    if isinstance(part, Handle):
        kind = part.type.kind
        if kind == "bool":
            raise _mask_error(part.describe())
        if kind not in INTEGER:
            raise DTypeError(
                "an index is of a floating dtype" if kind != "bool" else "an index is a mask",
                expected="integers",
                found=part.describe(),
                hint="cast it to int64",
            )
        return Item("array", axis, part)
    if isinstance(part, list | np.ndarray):
        array = np.asarray(part)
        if array.dtype == np.bool_:
            raise _mask_error(f"an array of dtype bool and shape {array.shape}")
        if array.size == 0 and isinstance(part, list):
            array = array.astype(INT64)
        if array.dtype in KINDS and KINDS[array.dtype] in INTEGER:
            _check_bounds(array, size, axis)
            return Item("array", axis, x.graph.constant(array))
        raise DTypeError(
            "an index is no integer array",
            expected="integers",
            found=f"an array of dtype {array.dtype}",
        )
    if isinstance(part, dims.Dim):
        return Item("int", axis, part)
    raise UsageError(
        "not an index",
        expected="an integer, a slice, None, `...`, or integers in an array, list or tensor",
        found=f"{part!r:.80}, a {type(part).__name__}",
    )


def _mask_error(found: Any) -> ArgumentError:
    return ArgumentError(
        "boolean masks are no index: the size of the result would depend on data",
        expected="integers, slices, None or `...`",
        found=str(found),
        hint="use where(mask, x, 0), or multiply by the mask",
    )


def _whole(index: int, size: Size, axis: int) -> Size:
    """The index counted from the front."""
    if isinstance(size, int) and not -size <= index < size:
        raise ShapeError(
            f"index {index} is out of bounds",
            expected=f"an index from {-size} to {size - 1}" if size else "no index: the size is 0",
            found=f"index {index} for axis {axis} of size {size}",
        )
    return index if index >= 0 or not isinstance(size, int) else size + index


def _check_bounds(array: np.ndarray[Any, Any], size: Size, axis: int) -> None:
    if isinstance(size, int) and array.size:
        low, high = int(array.min()), int(array.max())
        _whole(low if low < -size else high, size, axis)


def _slice_item(part: slice, axis: int, size: Size) -> Item:
    step = 1 if part.step is None else part.step
    for value in (part.start, part.stop, step):
        if value is not None and not isinstance(value, int | np.integer | dims.Dim):
            raise UsageError(
                "a slice's bounds are known when the graph is built",
                expected="integers, or None",
                found=repr(value),
            )
    if isinstance(step, dims.Dim) or step == 0:
        raise ArgumentError(
            "a slice's step is an integer other than 0",
            expected="a non-zero integer",
            found=str(step),
        )
    step = int(step)
    start, stop = (v if isinstance(v, dims.Dim | None) else int(v) for v in (part.start, part.stop))
    if isinstance(size, int) and not isinstance(start, dims.Dim) and not isinstance(stop, dims.Dim):
        begin, end, step = slice(start, stop, step).indices(size)
        if step == 1 and begin == 0 and end >= size:
            return Item("all", axis)
        if begin < 0:
            # Backwards from before the first element: nothing.
            return Item("slice", axis, (0, 0, step))
        return Item("slice", axis, (begin, end if end >= 0 else None, step))
    if step == 1 and stop is None and start in (None, 0):
        return Item("all", axis)
    return Item("slice", axis, (start, stop, step))


def _block_place(items: list[Item]) -> int | None:
    """Where the axes of an index array go among the result's: a position in `items`.

    NumPy: where the first array or integer stands if all stand side by side, else in front.
    None if there is no array, when integers only drop their axes.
    """
    if not any(item.kind == "array" for item in items):
        return None
    places = [i for i, item in enumerate(items) if item.kind in ("array", "int")]
    first, *others = range(places[0], places[-1] + 1)
    adjacent = len(others) + 1 == len(places) and not any(items[i].apart for i in others)
    return first if adjacent else 0


def getitem(x: Any, index: Index) -> Any:
    """x[index], by NumPy's rules.  Raises GraphError."""
    items = read_index(x, index)
    place = _block_place(items)
    if place is None:
        return _without_arrays(x, items)
    x = _sliced(x, items)
    arrays = [item for item in items if item.kind in ("array", "int")]
    indices = [_as_array(x, item) for item in arrays]
    axes = tuple(item.axis for item in arrays)
    block = len(broadcast_shapes([i.type.shape for i in indices]))
    # gather puts the axes of the indices first, then those of x that are left.
    gathered = build("gather", (x, *indices), {"axes": axes})
    order, new = _result_order(items, place, block)
    if order != sorted(order):
        gathered = build("permute_dims", (gathered,), {"axes": tuple(order)})
    if new:
        shape = list(gathered.type.shape)
        for position in new:
            shape.insert(position, 1)
        gathered = build("reshape", (gathered,), {"shape": tuple(shape)})
    return gathered


def _result_order(items: list[Item], place: int, block: int) -> tuple[list[int], list[int]]:
    """For a value with the block's axes first, then x's remaining: the permutation that
    gives NumPy's order, and the positions of new axes in the result."""
    order: list[int] = []
    new: list[int] = []
    remaining = block
    position = 0
    for i, item in enumerate(items):
        if i == place:
            order.extend(range(block))
            position += block
        if item.kind == "new":
            new.append(position)
            position += 1
        elif item.kind in ("slice", "all"):
            order.append(remaining)
            remaining += 1
            position += 1
    return order, new


Slices = tuple[tuple[Any, Any, int], ...]


def _slices(x: Any, items: list[Item]) -> Slices:
    """The slice of each axis; an integer on an axis of known size is a slice of one."""
    slices: list[tuple[Any, Any, int]] = [(None, None, 1)] * len(x.type.shape)
    for item in items:
        if item.kind == "slice":
            slices[item.axis] = item.value
        elif item.kind == "int" and isinstance(x.type.shape[item.axis], int):
            slices[item.axis] = (item.value, item.value + 1, 1)
    return tuple(slices)


def _sliced(x: Any, items: list[Item]) -> Any:
    """x with the slices applied, integers left out."""
    slices = _slices(x, [item for item in items if item.kind == "slice"])
    if all(s == (None, None, 1) for s in slices):
        return x
    return build("slice", (x,), {"slices": slices})


def _without_arrays(x: Any, items: list[Item]) -> Any:
    """x[index] where no part of the index is an array."""
    slices = _slices(x, items)
    if any(s != (None, None, 1) for s in slices):
        x = build("slice", (x,), {"slices": slices})
    kept: list[Size] = [
        1 if item.kind == "new" else x.type.shape[item.axis] for item in items if item.kind != "int"
    ]
    # On an axis whose size is not known yet a position is looked up, and checked, at run time.
    late = [i for i in items if i.kind == "int" and slices[i.axis] == (None, None, 1)]
    late = [i for i in late if not isinstance(x.type.shape[i.axis], int)]
    if late:
        positions = [_as_array(x, item) for item in late]
        x = build("gather", (x, *positions), {"axes": tuple(item.axis for item in late)})
    return _reshaped(x, tuple(kept))


def _as_array(x: Any, item: Item) -> Any:
    if item.kind == "array":
        return item.value
    if isinstance(item.value, int):
        return x.graph.handle(x.graph.scalar(item.value, INT64))
    # A symbolic position, such as the last of a symbolic axis: all positions, then that one.
    node = _iota(x, item.axis)
    picked = build("slice", (node,), {"slices": ((item.value, item.value + 1, 1),)})
    return build("reshape", (picked,), {"shape": ()})


def _iota(x: Any, axis: int) -> Any:
    size = x.type.shape[axis]
    return x.graph.source("iota", {"shape": (size,), "axis": 0, "dtype": INT64})


def scatter(op: str, x: Any, index: Index, updates: Any) -> Any:
    """x with `updates` set ("scatter_set") or added ("scatter_add") at x[index]."""
    items = read_index(x, index)
    place = _block_place(items)
    static = all(isinstance(x.type.shape[i.axis], int) for i in items if i.kind == "int")
    if place is None and static:
        return _slice_scattered(op, x, items, updates)
    arrays = [item for item in items if item.kind in ("array", "int")]
    block_shape = broadcast_shapes(
        [item.value.type.shape for item in arrays if item.kind == "array"] or [()]
    )
    target = _sliced(x, items).type.shape
    order: list[Any] = []  # the result's axes: block axes, indexed and whole axes of x
    for i, item in enumerate(items):
        if i == (place if place is not None else -1):
            order.extend(("block", k) for k in range(len(block_shape)))
        if item.kind in ("slice", "all"):
            order.append((item.kind, item.axis))
        elif item.kind == "new":
            order.append(("new", -1))
    result: Shape = tuple(
        block_shape[k] if kind == "block" else 1 if kind == "new" else target[k]
        for kind, k in order
    )
    updates = _fitted(x, updates, result)
    real = [entry for entry in order if entry[0] != "new"]
    if len(real) != len(order):
        shape = tuple(s for s, entry in zip(result, order, strict=True) if entry[0] != "new")
        updates = build("reshape", (updates,), {"shape": shape})
    joint = [entry for entry in real if entry[0] != "all"]
    whole = [entry for entry in real if entry[0] == "all"]
    permutation = tuple(real.index(entry) for entry in joint + whole)
    if permutation != tuple(range(len(permutation))):
        updates = build("permute_dims", (updates,), {"axes": permutation})
    indices, axes = [], []
    first = joint.index(("block", 0)) if block_shape else 0
    for item in items:
        if item.kind == "slice":
            positions = build("slice", (_iota(x, item.axis),), {"slices": (item.value,)})
            at = joint.index(("slice", item.axis))
            after = len(joint) - at - 1
            shape = (target[item.axis],) + (1,) * after
            indices.append(_reshaped(positions, shape))
            axes.append(item.axis)
        elif item.kind in ("array", "int"):
            array = _as_array(x, item)
            after = len(joint) - first - len(block_shape)
            shape = array.type.shape + (1,) * after if array.type.shape else ()
            indices.append(_reshaped(array, shape))
            axes.append(item.axis)
    if not axes:
        return build("add", (x, updates)) if op == "scatter_add" else updates
    return build(op, (x, updates, *indices), {"axes": tuple(axes)})


def _slice_scattered(op: str, x: Any, items: list[Item], updates: Any) -> Any:
    """x with `updates` set or added at integers and slices."""
    slices = _slices(x, items)
    part = build("slice", (x,), {"slices": slices})
    result = tuple(
        1 if item.kind == "new" else part.type.shape[item.axis]
        for item in items
        if item.kind != "int"
    )
    updates = _reshaped(_fitted(x, updates, result), part.type.shape)
    if op == "scatter_add":
        updates = build("add", (part, updates))
    return build("slice_set", (x, updates), {"slices": slices})


def _reshaped(x: Any, shape: Shape) -> Any:
    return x if x.type.shape == shape else build("reshape", (x,), {"shape": shape})


def _fitted(x: Any, updates: Any, shape: Shape) -> Any:
    """The updates in x's dtype, broadcast to the shape of x[index]."""
    value = stored(x, updates)
    if value.type.shape == shape:
        return value
    return build("broadcast_to", (value,), {"shape": shape})
