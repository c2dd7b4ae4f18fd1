"""How a region is reduced: what its rows are, and which reductions stand behind which."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import NamedTuple

from staticad_schema.op import OPS

from .combine import REDUCTIONS
from .region import Region, Shape, Step
from .special.library import SPECIAL


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


def axes_of(step: Step) -> tuple[int, ...]:
    """The axes that a step reduces."""
    axis = step.attributes["axis"]
    return (axis,) if isinstance(axis, int) else tuple(sorted(axis))


def made(region: Region, value: int) -> Step:
    """The step that makes a value that is no operand."""
    step = region.step_of(value)
    assert step is not None
    return step


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
