"""In which order the elements of rows are gone through.

Vectors lie along the last axis that is longer than 1: along a row where it varies there, across
rows that are neighbours where it stays.  Axes before it that in all operands lie with it as one
axis would are one with it; then the text of an index is "0" along all of them but the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .combine import PLACES, REDUCTIONS
from .decompose import SCALE
from .elementwise import computed_dtypes, keeps_last, no_vector
from .region import Region, Shape, Step, shape_of
from .split import Split, levels, squeezes
from .target import Target


class Walk(NamedTuple):
    """inner: the axes that vectors lie along.  outer: the others that vary along a row.  lead: the
    others that stay.  across: whether a vector holds an element of each of several rows."""

    shape: Shape
    inner: tuple[int, ...]
    outer: tuple[int, ...]
    lead: tuple[int, ...]
    across: bool
    lanes: int

    def sizes(self, axes: Sequence[int]) -> Shape:
        return tuple(self.shape[a] for a in axes)

    @property
    def length(self) -> int:
        """Elements along the inner axes."""
        return math.prod(self.sizes(self.inner))

    @property
    def vectors(self) -> int:
        """Vectors along the inner axes."""
        return -(-self.length // self.lanes)

    @property
    def steps(self) -> int:
        """How often a row goes along the inner axes, or takes an element of them."""
        return math.prod(self.sizes(self.outer))

    @property
    def rows(self) -> int:
        """Rows, or vectors of them."""
        return math.prod(self.sizes(self.lead)) * (self.vectors if self.across else 1)


def walk(region: Region, target: Target, split: Split) -> Walk:
    """The order for a region."""
    shape = split.shape
    real = [a for a, n in enumerate(shape) if n != 1]
    across = bool(real) and real[-1] in split.kept
    own = split.kept if across else split.gone
    inner = real[-1:]
    flat = all(s.op in REDUCTIONS or _plain(region, s) for s in region.steps)
    for axis in reversed(real[:-1]):
        if axis not in own or not flat or not _as_one(region, split, axis, inner[0]):
            break
        inner.insert(0, axis)
    rest = [a for a in real if a not in inner]
    made = Walk(
        shape,
        tuple(inner),
        tuple(a for a in rest if a in split.gone),
        tuple(a for a in rest if a in split.kept),
        across,
        1,
    )
    if across:
        turns = not flat
    else:
        turns = bool(real) and _turns(region, split, real[-1])
    lanes = 1 if turns else target.lanes(computed_dtypes(region))
    while lanes > 1 and lanes > made.length:
        lanes //= 2
    if any(no_vector(region, s, lanes) or s.op in PLACES for s in region.steps):
        lanes = 1
    return made._replace(lanes=lanes)


def _plain(region: Region, step: Step) -> bool:
    """Whether a step reads where it writes, but for axes of one element."""
    if step.op == "reshape":
        return squeezes(shape_of(region.types[step.inputs[0]]), shape_of(step.types[0]))
    return step.op == SCALE or keeps_last(step)


def _aligned(shape: Shape, rank: int, axis: int) -> int:
    """Where an axis of a space of a rank is in a shape that is broadcast to it; negative or past
    the end if it has none there."""
    return axis - rank + len(shape)


def _varies(shape: Shape, rank: int, axis: int) -> bool:
    at = _aligned(shape, rank, axis)
    return 0 <= at < len(shape) and shape[at] != 1


def _ends(region: Region, split: Split) -> list[int]:
    """The values that are computed for each element."""
    found = [v for v in region.outputs if shape_of(region.types[v]) == split.shape]
    return found + [s.inputs[0] for s in region.steps if s.op in REDUCTIONS]


def _turns(region: Region, split: Split, axis: int) -> bool:
    """Whether a value along a row is read at another place of its last axis."""
    rank = len(split.shape)
    waiting, seen = _ends(region, split), set[int]()
    while waiting:
        v = waiting.pop()
        step, shape = region.step_of(v), shape_of(region.types[v])
        if v in seen or step is None or step.op in REDUCTIONS or not _varies(shape, rank, axis):
            continue
        seen.add(v)
        if not keeps_last(step):
            return True
        waiting += step.inputs
    return False


def _as_one(region: Region, split: Split, a: int, b: int) -> bool:
    """Whether two axes that follow each other lie in all values like one."""
    behind = levels(region)
    for v in _values(region, split, a):
        step, shape = region.step_of(v), shape_of(region.types[v])
        if step is not None and step.op == "reshape" and not behind[v]:
            return False
        sizes, places = [], []
        for axis in (a, b):
            at = _place(split, shape, axis)
            places.append(at)
            sizes.append(shape[at] if 0 <= at < len(shape) else 1)
        if sizes == [1, 1]:
            continue
        if sizes != [split.shape[a], split.shape[b]]:
            return False
        if v < len(region.operands):
            strides = region.operands[v].strides
            if strides[places[0]] != strides[places[1]] * sizes[1]:
                return False
    return True


def _place(split: Split, shape: Shape, axis: int) -> int:
    """Where an axis of the region's space is in the shape of a value."""
    rank = len(split.shape)
    kept = [a for a in split.kept if split.shape[a] != 1]
    if len(shape) < rank and axis in kept:
        real = [k for k, n in enumerate(shape) if n != 1]
        if [shape[k] for k in real] == [split.shape[a] for a in kept]:
            return real[kept.index(axis)]
    return _aligned(shape, rank, axis)


def _values(region: Region, split: Split, axis: int) -> Iterator[int]:
    """The values that may vary along an axis: in what is left of rows only along those that
    stay."""
    behind = levels(region)
    stays = axis in split.kept
    waiting = _ends(region, split) + (list(region.outputs) if stays else [])
    seen: set[int] = set()
    while waiting:
        v = waiting.pop()
        step = region.step_of(v)
        if v in seen or (not stays and step is not None and _left(step, behind[v])):
            continue
        seen.add(v)
        yield v
        if step is not None:
            waiting += step.inputs


def _left(step: Step, level: int) -> bool:
    return step.op in REDUCTIONS or (step.op == "reshape" and level > 0)
