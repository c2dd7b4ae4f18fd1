"""How a region is reduced: what its rows are, and which reductions stand behind which."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from staticad_schema.op import OPS

from .combine import PLACES, REDUCTIONS
from .region import Region, Shape, Step, shape_of
from .special.library import SPECIAL
from .target import Target

# A row of more elements is worth several groups, if there are few rows: each takes a part of it,
# and another kernel combines the parts.
_LONG = 1 << 14
# Passes over a row that wait for each other are kernels of their own then.
_VERY_LONG = 1 << 17
# Rows, or vectors of them, that are enough; the most parts of a row, the least of a part.
_FEW, _PARTS, _PART = 16, 64, 4096
_FEW_ON_GPU, _PARTS_ON_GPU, _PART_ON_GPU = 512, 512, 1024
# Sums over no more rows than this go down the columns; else from row to row.
_SHORT_COLUMN = 64


class Split(NamedTuple):
    """The shape that is reduced, its axes that stay and those that vary along a row.

    partial: reductions that are finished by another kernel, and what they leave: "column" one
    element for each place of a row, "whole" one element, "part" one for each row.  parts: into
    how many parts rows are cut, for the last kind.
    """

    shape: Shape
    kept: tuple[int, ...]
    gone: tuple[int, ...]
    partial: Mapping[int, str] = MappingProxyType({})
    parts: int = 1

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return math.prod(self.shape[a] for a in self.kept)

    @property
    def length(self) -> int:
        """The elements of a row."""
        return math.prod(self.shape[a] for a in self.gone)

    def is_row(self, shape: Shape) -> bool:
        """Whether a value of a shape has one element for each row."""
        return squeezes(shape, tuple(self.shape[a] for a in self.kept))


def squeezes(have: Shape, want: Shape) -> bool:
    """Whether two shapes differ in axes of one element only."""
    return [n for n in have if n != 1] == [n for n in want if n != 1]


def axes_of(step: Step) -> tuple[int, ...]:
    """The axes that a step reduces."""
    axis = step.attributes["axis"]
    return (axis,) if isinstance(axis, int) else tuple(sorted(axis))


def made(region: Region, value: int) -> Step:
    """The step that makes a value that is no operand."""
    step = region.step_of(value)
    assert step is not None
    return step


def reductions(region: Region) -> dict[int, tuple[Shape, frozenset[int]]]:
    """Of each value that a reduction makes what is reduced: a shape, and those of its axes that
    are longer than 1."""
    found = {}
    for k, (maker, _) in enumerate(region.makers):
        step = region.steps[maker]
        if step.op in REDUCTIONS:
            shape = shape_of(region.types[step.inputs[0]])
            axes = frozenset(a for a in axes_of(step) if shape[a] != 1)
            found[len(region.operands) + k] = (shape, axes)
    return found


def levels(region: Region, partial: Container[int] = ()) -> list[int]:
    """For each value how many reductions stand one behind the other before it; -1 for what needs
    those that are finished elsewhere."""
    found = [0] * len(region.operands)
    for step in region.steps:
        given = [found[v] for v in step.inputs]
        level = max(given, default=0) + (step.op in REDUCTIONS)
        late = len(found) in partial or -1 in given
        found += [-1 if late else level] * len(step.types)
    return found


def split_of(region: Region, target: Target) -> Split | None:
    """The rows of a region, and what is left for another kernel; None if its reductions do not
    go together in one."""
    found = reductions(region)
    if len({shape for shape, _ in found.values()}) != 1:
        return None
    shape = next(iter(found.values()))[0]
    real = [a for a, n in enumerate(shape) if n != 1]
    axes = {v: gone for v, (_, gone) in found.items()}
    partly = {gone for gone in axes.values() if len(gone) < len(real)}
    whole = [v for v, gone in axes.items() if len(gone) == len(real)] if partly else []
    if len(partly) > 1:
        split = _across(shape, real, axes, partly, whole)
    else:
        (gone,) = partly or {frozenset(real)}
        split = _of(shape, gone, dict.fromkeys(whole, "whole"))
        if not whole and _down(region, target, split):
            split = _of(shape, frozenset(real) - gone, dict.fromkeys(axes, "column"))
    if split is None or waits(region, split.partial):
        return None
    if whole and target.many_items and _wide(split):
        return None
    early = levels(region, split.partial)
    shapes = {shape_of(region.types[v]) for v in region.outputs if early[v] >= 0}
    if any(own != shape and not split.is_row(own) for own in shapes):
        return None
    if split.partial or target.alone:
        return split
    return _in_parts(region, target, split)


def row_split(region: Region, value: int) -> Split:
    """The rows of one reduction."""
    shape, gone = reductions(region)[value]
    return _of(shape, gone, {})


def _of(shape: Shape, gone: Iterable[int], partial: Mapping[int, str]) -> Split:
    axes = tuple(sorted(gone))
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    return Split(shape, kept, axes, partial)


def _across(
    shape: Shape,
    real: list[int],
    axes: Mapping[int, frozenset[int]],
    partly: set[frozenset[int]],
    whole: list[int],
) -> Split | None:
    """Reductions of rows and of columns at once."""
    rows = next((g for g in partly if g == frozenset(real[len(real) - len(g) :])), None)
    columns = frozenset(real) - rows if rows is not None else None
    if rows is None or partly != {rows, columns}:
        return None
    partial = {v: "column" for v, gone in axes.items() if gone == columns}
    return _of(shape, rows, partial | dict.fromkeys(whole, "whole"))


def _wide(split: Split) -> bool:
    """Whether vectors hold elements of several rows."""
    real = [a for a, n in enumerate(split.shape) if n != 1]
    return bool(real) and real[-1] in split.kept


def _down(region: Region, target: Target, split: Split) -> bool:
    """Whether sums over leading axes are better gathered from row to row."""
    if target.many_items or not split.gone or not split.kept or split.length <= _SHORT_COLUMN:
        return False
    first = [a for a in split.kept if split.shape[a] != 1][:1]
    if not first or first[0] < split.gone[-1]:
        return False
    partial = dict.fromkeys(reductions(region), "column")
    return not waits(region, partial)


def _in_parts(region: Region, target: Target, split: Split) -> Split | None:
    """The same with rows in parts, if they are few and long; None if there should be a kernel
    for each pass over them."""
    gpu = target.many_items
    few, most, least = (_FEW_ON_GPU, _PARTS_ON_GPU, _PART_ON_GPU) if gpu else (_FEW, _PARTS, _PART)
    rows, length = split.rows, split.length
    if _wide(split):
        # A work-item takes some columns, on a GPU those of a vector.
        width = target.lanes(region.dtypes)
        rows, length = -(-rows // width), length * width
        if gpu:
            few, least = few * 32, 32 * width
    if rows >= few or length < max(_LONG // (4 if gpu else 1), 2 * least):
        return split
    partial = dict.fromkeys(reductions(region), "part")
    steps = [made(region, v) for v in partial]
    if any(step.op in PLACES for step in steps):
        return split
    if waits(region, partial):
        return split if length < _VERY_LONG else None
    return split._replace(partial=partial, parts=min(most, length // least))


def waits(region: Region, partial: Mapping[int, str]) -> bool:
    """Whether one of the reductions that are finished elsewhere needs another, or says where."""
    found = levels(region, partial)
    steps = [made(region, v) for v in partial]
    return any(s.op in PLACES or found[s.inputs[0]] < 0 for s in steps)


def slow(step: Step) -> bool:
    """Whether a value is kept rather than computed again."""
    if step.op in SPECIAL:
        return True
    definition = OPS.get(step.op)
    if definition is None or not definition.elementwise or definition.expr is None:
        return False
    given = definition.expr
    texts = [given] if isinstance(given, str) else [*given.values()]
    return any(word in text for text in texts for word in _SLOW)


_SLOW = ("exp", "log", "sin", "cos", "tan", "pow", "erf", "fmod", "cbrt", "hypot", " / ")
