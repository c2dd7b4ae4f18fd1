"""Kernels that divide along an axis of what they keep: threads share it.

NumPy sums each element of a result in the same order however many stand beside it, as long as
there is more than one: of one alone it walks through the operand in another order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.types import Array

from .tiles import Shape
from .workers import together

Function = Callable[..., Any]

# So many results that lie side by side are worth walking through an operand for.
SIDE_BY_SIDE = 16


class Cut(NamedTuple):
    """axes: of each operand and output the axis that is cut, each of this size.  least: what a
    share has of it at least."""

    axes: tuple[int, ...]
    size: int
    least: int


def cut_reduction(shape: Shape, axis: Collection[int], out_axes: Sequence[int]) -> Cut | None:
    """How a reduction of a contiguous array is cut, given for each axis of the operand which it
    is of the result (-1 if it is gone); None where that is not worth while."""
    found = _first_kept(shape, axis)
    if found is None:
        return None
    beside = math.prod(size for a, size in enumerate(shape) if a > found and a not in axis)
    least = max(2, -(-SIDE_BY_SIDE // max(beside, 1))) if found > max(axis) else 2
    return Cut((found, out_axes[found]), shape[found], least)


def cut_passes(shape: Shape, axis: Collection[int], arrays: int) -> Cut | None:
    """How a kernel of several passes is cut, whose operands and outputs all have the axes of
    `shape`, of which it reduces some; None where that is not worth while."""
    found = _first_kept(shape, axis)
    if found is None or found > max(axis):
        return None
    return Cut((found,) * arrays, shape[found], 2)


def _first_kept(shape: Shape, axis: Collection[int]) -> int | None:
    return next((a for a, size in enumerate(shape) if a not in axis and size > 1), None)


def sharing(cut: Cut, threads: int) -> int:
    """How many of so many threads share what is cut."""
    return max(1, min(threads, cut.size // cut.least))


def shared(function: Function, cut: Cut, threads: int) -> Function:
    """The same function of the same arrays, shared by threads."""
    threads = sharing(cut, threads)
    if threads < 2:
        return function
    bounds = [cut.size * t // threads for t in range(threads + 1)]
    shares = [
        [(slice(None),) * axis + (slice(start, stop),) for axis in cut.axes]
        for start, stop in itertools.pairwise(bounds)
    ]

    def work(arrays: Sequence[Array], share: Sequence[Any]) -> None:
        # Each thread has an error state of its own.
        with np.errstate(all="ignore"):
            function(*[array[at] for array, at in zip(arrays, share, strict=True)])

    def run(*arrays: Array) -> None:
        together([partial(work, arrays, share) for share in shares])

    return run
