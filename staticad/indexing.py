"""x[index] and x.at[index]: NumPy's indexing, written in slice, reshape, gather and scatter."""

from __future__ import annotations

from typing import Any

from staticad_schema.dims import Shape, Size
from staticad_schema.handle import Handle
from staticad_schema.shapes import broadcast_shapes

from .building import build
from .finding import expected
from .index_parts import Index, Item, Reading, index_tensor, iota, read_index, reshaped, sized
from .numbers import stored


def getitem(x: Any, index: Index) -> Any:
    """x[index], by NumPy's rules.  Raises GraphError."""
    read = read_index(x, index)
    x, items, place = read.x, read.items, read.place
    if place is None:
        found = _without_arrays(x, items)
        return found if read.none is None else _emptied(found, items, read.none)
    x = _sliced(x, items)
    arrays = [item for item in items if item.kind in ("array", "int")]
    indices = [index_tensor(x, item) for item in arrays]
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


def _emptied(found: Any, items: list[Item], new: int) -> Any:
    """The result of an index whose item `new` stands for an axis of size 0."""
    axis = sum(item.kind != "int" for item in items[:new])
    slices: list[tuple[Any, Any, int]] = [(None, None, 1)] * found.type.ndim
    slices[axis] = (0, 0, 1)
    return build("slice", (found,), {"slices": tuple(slices)})


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
        positions = [index_tensor(x, item) for item in late]
        x = build("gather", (x, *positions), {"axes": tuple(item.axis for item in late)})
    return reshaped(x, tuple(kept))


COMBINED = {
    "scatter_set": None,
    "scatter_add": "add",
    "scatter_multiply": "multiply",
    "scatter_max": "maximum",
    "scatter_min": "minimum",
}
"""What puts updates at places, and what it does to two values; None: the update stays."""


def _combined(op: str, part: Any, updates: Any) -> Any:
    combine = COMBINED[op]
    return updates if combine is None else build(combine, (part, updates))


def scatter(op: str, x: Any, index: Index, updates: Any) -> Any:
    """x with `updates` put at x[index] as one of COMBINED says."""
    mask = _whole_mask(index)
    if mask is not None:
        updates = stored(x, updates)
        if mask.type.ndim + updates.type.ndim <= x.type.ndim:
            return _masked(op, x, mask, updates)
    read = read_index(x, index)
    return reshaped(_scattered(op, read, updates), x.type.shape)


def _whole_mask(index: Index) -> Any:
    """The tensor of bools that an index consists of, or None."""
    parts = index if isinstance(index, tuple) else (index,)
    masks = [p for p in parts if isinstance(p, Handle) and p.type.kind == "bool"]
    alone = len(masks) == 1 and parts[0] is masks[0] and all(p is ... for p in parts[1:])
    return masks[0] if alone and len(parts) <= 2 else None


def _masked(op: str, x: Any, mask: Any, updates: Any) -> Any:
    """The same for a mask, and updates that are equal for all that it selects: no size is
    looked for."""
    x.graph.check_owner(mask, "index", x)
    rank = mask.type.ndim
    same = sized(x, mask.type.shape, 0, mask.describe())
    rest = same.type.shape[rank:]
    mask = reshaped(
        expected(mask, same.type.shape[:rank]), (*same.type.shape[:rank], *(1 for _ in rest))
    )
    updates = _fitted(same, updates, rest) if updates.type.ndim else updates
    return build("where", (mask, _combined(op, same, updates), same))


def _scattered(op: str, read: Reading, updates: Any) -> Any:
    """The tensor that was read with `updates` put at what the index means."""
    x, items, place = read.x, read.items, read.place
    if read.none is not None:
        _fitted(x, updates, _emptied(_without_arrays(x, items), items, read.none).type.shape)
        return x
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
            positions = build("slice", (iota(x, item.axis),), {"slices": (item.value,)})
            at = joint.index(("slice", item.axis))
            after = len(joint) - at - 1
            shape = (target[item.axis],) + (1,) * after
            indices.append(reshaped(positions, shape))
            axes.append(item.axis)
        elif item.kind in ("array", "int"):
            array = index_tensor(x, item)
            after = len(joint) - first - len(block_shape)
            shape = array.type.shape + (1,) * after if array.type.shape else ()
            indices.append(reshaped(array, shape))
            axes.append(item.axis)
    if not axes:
        return _combined(op, x, updates)
    return build(op, (x, updates, *indices), {"axes": tuple(axes)})


def _slice_scattered(op: str, x: Any, items: list[Item], updates: Any) -> Any:
    """x with `updates` put at integers and slices, where no element is met twice."""
    slices = _slices(x, items)
    part = build("slice", (x,), {"slices": slices})
    result = tuple(
        1 if item.kind == "new" else part.type.shape[item.axis]
        for item in items
        if item.kind != "int"
    )
    updates = _combined(op, part, reshaped(_fitted(x, updates, result), part.type.shape))
    return build("slice_set", (x, updates), {"slices": slices})


def _fitted(x: Any, updates: Any, shape: Shape) -> Any:
    """The updates in x's dtype, broadcast to the shape of x[index]."""
    value = stored(x, updates)
    if value.type.shape == shape:
        return value
    return build("broadcast_to", (value,), {"shape": shape})
