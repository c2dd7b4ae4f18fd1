"""What an index says: each of its parts as items, one an axis that it names.

What NumPy's rules say about the order of the result's axes is decided here, for reading and
writing alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Shape, Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.shapes import broadcast_shapes, same_shape, shape_text
from staticad_schema.types import INT64, INTEGER, KINDS

from .building import build
from .finding import expected, nonzero
from .numbers import weak_list

Index = Any


@dataclass(frozen=True)
class Item:
    """One part of an index: kind "new", "slice", "all", "int", "array" or "truth".

    apart: whether an ellipsis stands before it, also one that stands for no axes.
    """

    kind: str
    axis: int = -1
    value: Any = None
    apart: bool = False


@dataclass(frozen=True)
class Reading:
    """An index of x, read: one item an axis of x and one a None.

    x: the tensor, its sizes known where a mask tells them, with an axis of size 1 for each mask
    without axes.  place: where among the items the axes
    of the index arrays belong, None if there are none.  none: an axis of size 1 among the new
    ones that is to be empty, as an index False makes it: its number among the items, or None.
    """

    x: Any
    items: list[Item]
    place: int | None
    none: int | None = None


def read_index(x: Any, index: Index) -> Reading:
    """What an index means for x.  Raises GraphError."""
    parts = [_part(p) for p in (index if isinstance(index, tuple) else (index,))]
    named = sum(map(_axes_named, parts))
    ellipses = sum(isinstance(part, EllipsisType) for part in parts)
    rank = x.type.ndim
    if ellipses > 1 or named > rank:
        raise ShapeError(
            "more than one ellipsis" if ellipses > 1 else "too many indices",
            expected="one `...` at most" if ellipses > 1 else f"{rank} at most",
            found=f"{ellipses} of them" if ellipses > 1 else f"{named} for {x.describe()}",
        )
    if not ellipses:
        parts.append(...)
    items: list[Item] = []
    axis = 0
    apart = False
    for part in parts:
        if isinstance(part, EllipsisType):
            items += [Item("all", a) for a in range(axis, axis + rank - named)]
            axis += rank - named
            apart = True
            continue
        x, made = _items(x, part, axis)
        items += [replace(item, apart=apart and not k) for k, item in enumerate(made)]
        axis += sum(item.axis >= 0 for item in made)
        apart = False
    return _without_truths(Reading(x, items, _block_place(items)))


def _part(part: Any) -> Any:
    """A part of an index, its sequences and bools as arrays."""
    if isinstance(part, list | tuple | range):
        array = weak_list(list(part))
        if array is None:
            return part
        return array.astype(INT64) if array.size == 0 else array
    return np.asarray(part) if isinstance(part, bool | np.bool_) else part


def _axes_named(part: Any) -> int:
    """How many axes a part of an index stands for, an ellipsis left out."""
    if part is None or isinstance(part, EllipsisType):
        return 0
    if isinstance(part, np.ndarray) and part.dtype == np.bool_:
        return part.ndim
    return part.type.ndim if isinstance(part, Handle) and part.type.kind == "bool" else 1


def _items(x: Any, part: Any, axis: int) -> tuple[Any, list[Item]]:
    """The items of a part of an index, and x with the sizes that a mask tells."""
    if part is None:
        return x, [Item("new")]
    if isinstance(part, Handle):
        if part.type.kind == "bool":
            x.graph.check_owner(part, "index", x)
            return _selected(x, part, axis)
        if part.type.kind not in INTEGER:
            raise DTypeError(
                "an index is not of an integer dtype",
                expected="integers",
                found=part.describe(),
                hint="cast it to int64",
            )
        check_positions(x, (part,), (axis,))
        return x, [Item("array", axis, part)]
    if isinstance(part, np.ndarray) and part.dtype == np.bool_:
        if part.ndim == 0:
            return x, [Item("truth", value=bool(part))]
        x = sized(x, part.shape, axis, shape_text(part.shape))
        places = [x.graph.constant(p.astype(INT64)) for p in np.nonzero(part)]
        return x, [Item("array", axis + k, p) for k, p in enumerate(places)]
    return x, [_item(x, part, axis)]


def sized(x: Any, shape: Shape, axis: int, mask: str) -> Any:
    """x, whose axes from `axis` on have the sizes of a mask, where those are known.

    Raises ShapeError where they certainly differ; elsewhere the run looks.
    """
    own = x.type.shape
    part = own[axis : axis + len(shape)]
    if same_shape(part, shape) is False:
        raise ShapeError(
            "a mask of another shape",
            expected=f"shape {shape_text(part)}, as {x.describe()} has"
            + (f" from axis {axis} on" if axis else ""),
            found=mask,
        )
    known = (b if isinstance(b, int) else a for a, b in zip(part, shape, strict=True))
    return expected(x, (*own[:axis], *known, *own[axis + len(shape) :]))


def _selected(x: Any, mask: Any, axis: int) -> tuple[Any, list[Item]]:
    """The items of a mask: where it is true along its axes.

    One without axes selects from an axis of size 1, which x gets for it.
    """
    if not mask.type.ndim:
        shape = x.type.shape
        x = reshaped(x, (*shape[:axis], 1, *shape[axis:]))
        mask = reshaped(mask, (1,))
    rank = mask.type.ndim
    x = sized(x, mask.type.shape, axis, mask.describe())
    mask = expected(mask, x.type.shape[axis : axis + rank])
    return x, [Item("array", axis + k, place) for k, place in enumerate(nonzero(mask))]


def _item(x: Any, part: Any, axis: int) -> Item:
    size = x.type.shape[axis]
    if isinstance(part, slice):
        return _slice_item(part, axis, size)
    if isinstance(part, int | np.integer):
        return Item("int", axis, _whole(int(part), size, axis))
    if isinstance(part, np.ndarray):
        if part.dtype in KINDS and KINDS[part.dtype] in INTEGER:
            _check_bounds(part, size, axis)
            return Item("array", axis, x.graph.constant(part))
        raise DTypeError(
            "an index is no integer array",
            expected="integers",
            found=f"an array of dtype {part.dtype}",
        )
    if isinstance(part, dims.Dim):
        return Item("int", axis, part)
    raise UsageError(
        "not an index",
        expected="an integer, a slice, None, `...`, or integers in an array, list or tensor",
        found=f"{part!r:.80}, a {type(part).__name__}",
    )


def _without_truths(read: Reading) -> Reading:
    """The same index without True and False, which are index arrays of no axis and 1 or 0 places.

    Other index arrays are broadcast with them; alone, they make a new axis.
    """
    truths = [item for item in read.items if item.kind == "truth"]
    if not truths:
        return read
    assert read.place is not None
    every = all(item.value for item in truths)
    before = [item for item in read.items[: read.place] if item.kind != "truth"]
    behind = [item for item in read.items[read.place :] if item.kind != "truth"]
    chosen = next((i for i in before + behind if i.kind in ("array", "int")), None)
    if chosen is None:
        items = [*before, Item("new"), *behind]
        return Reading(read.x, items, None, None if every else len(before))
    array = index_tensor(read.x, chosen)
    shape = broadcast_shapes((array.type.shape, (int(every),)))
    wider = replace(chosen, kind="array", value=build("broadcast_to", (array,), {"shape": shape}))
    items = [wider if item is chosen else item for item in before + behind]
    return Reading(read.x, items, len(before))


def _whole(index: int, size: Size, axis: int) -> Size:
    """The index counted from the front."""
    if isinstance(size, int) and not -size <= index < size:
        raise ShapeError(
            f"index {index} is out of bounds",
            expected=f"an index from {-size} to {size - 1}" if size else "no index: the size is 0",
            found=f"index {index} for axis {axis} of size {size}",
        )
    return index if index >= 0 or not isinstance(size, int) else size + index


def check_positions(x: Any, indices: Sequence[Any], axes: Sequence[int]) -> None:
    """Raises ShapeError for a constant among the index tensors that is out of x's bounds."""
    for index, axis in zip(indices, axes, strict=True):
        if index.node.op == "constant":
            _check_bounds(index.node.attributes["value"], x.type.shape[axis], axis)


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
    if not any(item.kind in ("array", "truth") for item in items):
        return None
    places = [i for i, item in enumerate(items) if item.kind in ("array", "int", "truth")]
    first, *others = range(places[0], places[-1] + 1)
    adjacent = len(others) + 1 == len(places) and not any(items[i].apart for i in others)
    return first if adjacent else 0


def index_tensor(x: Any, item: Item) -> Any:
    """The integer tensor of an item that is an index array or an integer."""
    if item.kind == "array":
        return item.value
    if isinstance(item.value, int):
        return x.graph.handle(x.graph.scalar(item.value, INT64))
    # A symbolic position, such as the last of a symbolic axis: all positions, then that one.
    node = iota(x, item.axis)
    picked = build("slice", (node,), {"slices": ((item.value, item.value + 1, 1),)})
    return build("reshape", (picked,), {"shape": ()})


def iota(x: Any, axis: int) -> Any:
    """0, 1, ... as many as x has places on an axis."""
    size = x.type.shape[axis]
    return x.graph.source("iota", {"shape": (size,), "axis": 0, "dtype": INT64})


def reshaped(x: Any, shape: Shape) -> Any:
    """x in a shape; itself if it has that."""
    return x if x.type.shape == shape else build("reshape", (x,), {"shape": shape})
