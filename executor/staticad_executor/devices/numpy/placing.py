"""The kernel of `place`: parts, each in its place among zeros.

The parts are mostly the cotangents of slices along one axis that do not overlap.  Then each
element is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from staticad_schema.types import Array, TensorType

Function = Callable[..., None]
Index = tuple[slice, ...]


def place(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
    """The op's meaning; operands may have any strides."""
    shape = tuple(map(int, attributes["shape"]))
    rank = len(shape)
    bounds = [slice(*triple) for triple in attributes["slices"]]
    slices = [tuple(bounds[k * rank : (k + 1) * rank]) for k in range(len(operands))]
    # Views also of a 0-d array, of which an index without dots is an element.
    indices: list[tuple[Any, ...]] = [(*index, ...) for index in slices]
    zero = np.zeros((), operands[0].dtype)
    gaps = _gaps(shape, slices)

    def added(*arrays: Array) -> None:
        out = arrays[-1]
        out.fill(0)
        for part, index in zip(arrays[:-1], indices, strict=True):
            there = out[index]
            np.add(there, part, there)

    def written(*arrays: Array) -> None:
        out = arrays[-1]
        for gap in gaps or ():
            out[gap] = 0
        for part, index in zip(arrays[:-1], indices, strict=True):
            # Not a copy: 0 + -0 is 0.
            np.add(zero, part, out[index])

    return added if gaps is None else written


def _gaps(shape: tuple[int, ...], indices: Sequence[Index]) -> list[Index] | None:
    """Where no part is, if the parts lie side by side along one axis; else None."""
    places = [
        tuple(range(size)[bounds] for bounds, size in zip(index, shape, strict=True))
        for index in indices
    ]
    partial = {
        axis
        for place in places
        for axis, (taken, size) in enumerate(zip(place, shape, strict=True))
        if len(taken) != size
    }
    if len(partial) > 1:
        return None
    if not partial:
        return [] if len(places) == 1 else None
    (axis,) = partial
    gaps, start = [], 0
    for taken in sorted((p[axis] for p in places if len(p[axis])), key=min):
        if abs(taken.step) != 1 and len(taken) > 1:
            return None
        low, high = min(taken), max(taken) + 1
        if low < start:
            return None
        if low > start:
            gaps.append(_along(axis, len(shape), start, low))
        start = high
    if start < shape[axis]:
        gaps.append(_along(axis, len(shape), start, shape[axis]))
    return gaps


def _along(axis: int, rank: int, start: int, stop: int) -> Index:
    """The index of a range of one axis."""
    index = [slice(None)] * rank
    index[axis] = slice(start, stop)
    return tuple(index)
