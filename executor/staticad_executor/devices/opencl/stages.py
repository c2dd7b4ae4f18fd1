"""Regions cut where something was reduced: what was reduced is an operand of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .region import Operand, Pointer, Region, Step, shape_of, size_of
from .split import levels, made, reductions, row_split, split_of
from .target import Target


class Left(NamedTuple):
    """What kernels before leave of a value.  op: with which its parts, along the first axis, are
    combined; empty where it is there as a whole."""

    operand: Operand
    pointer: Pointer
    op: str = ""


class Stage(NamedTuple):
    """A region in two, and the bytes of scratch between them."""

    first: Region
    rest: Region
    scratch: tuple[int, ...]


def pruned(region: Region) -> Region:
    """The region without steps that no output needs."""
    count = len(region.operands)
    needed = set(region.outputs)
    for k in range(len(region.steps) - 1, -1, -1):
        step = region.steps[k]
        made = [count + j for j, (maker, _) in enumerate(region.makers) if maker == k]
        if needed.intersection(made):
            needed.update(step.inputs)
    if all(
        any(count + j in needed for j, (m, _) in enumerate(region.makers) if m == k)
        for k in range(len(region.steps))
    ):
        return region
    numbers = {v: v for v in range(count)}
    steps: list[Step] = []
    total = count
    value = count
    for step in region.steps:
        own = range(value, value + len(step.types))
        value += len(step.types)
        if needed.intersection(own):
            steps.append(step._replace(inputs=tuple(numbers[v] for v in step.inputs)))
            numbers.update(zip(own, range(total, total + len(own)), strict=True))
            total += len(own)
    outputs = tuple(numbers[v] for v in region.outputs)
    return Region(region.operands, tuple(steps), outputs, region.sources, region.goals)


def behind(region: Region, left: Mapping[int, Left], outputs: Sequence[int]) -> Region:
    """The region with some outputs only, where some of its values are there already."""
    count = len(region.operands)
    operands = [*region.operands, *(there.operand for there in left.values())]
    sources = [*map(region.source, range(count)), *(there.pointer for there in left.values())]
    at = {v: count + k for k, v in enumerate(left)}
    numbers = {v: v for v in range(count)}
    steps: list[Step] = []
    total = len(operands)
    value = count
    for step in region.steps:
        own = range(value, value + len(step.types))
        value += len(step.types)
        if own.start not in left:
            steps.append(step._replace(inputs=tuple(numbers[v] for v in step.inputs)))
            numbers.update(zip(own, range(total, total + len(own)), strict=True))
            total += len(own)
            continue
        there, type_ = left[own.start], step.types[0]
        numbers[own.start] = at[own.start]
        if not there.op:
            continue
        dtype = there.operand.dtype
        whole = {"axis": (0,), "keepdims": False}
        steps.append(Step(there.op, whole, (at[own.start],), (type_.with_dtype(dtype),)))
        if dtype != type_.dtype:
            steps.append(Step("cast", {"dtype": type_.dtype}, (total,), (type_,)))
            total += 1
        numbers[own.start] = total
        total += 1
    return pruned(
        Region(
            tuple(operands),
            tuple(steps),
            tuple(numbers[region.outputs[k]] for k in outputs),
            tuple(sources),
            tuple(region.goal(k) for k in outputs),
        )
    )


def first_stage(region: Region, target: Target, used: int) -> Stage:
    """The region in two: first reductions that go together and need no others, with the outputs
    that need only them, then the rest.

    used: the number of the first scratch that is free.  Raises ValueError where nothing is left.
    """
    for depth in (len(region.steps), 1):
        stage = _stage(region, depth, used)
        if stage is not None and (depth == 1 or split_of(stage.first, target) is not None):
            return stage
    raise ValueError("its reductions do not go together")


def _stage(region: Region, depth: int, used: int) -> Stage | None:
    """The same with no more than so many reductions one behind the other."""
    mine = _together(region, depth)
    behind_mine = _only_behind(region, mine)
    split = row_split(region, next(iter(mine)))
    own: list[int] = []
    others: list[int] = []
    for k, v in enumerate(region.outputs):
        shape = shape_of(region.types[v])
        fits = behind_mine[v] and (shape == split.shape or split.is_row(shape))
        (own if fits else others).append(k)
    goals = {region.outputs[k]: region.goal(k) for k in own}
    needed = _asked(region, mine, others)
    if not others:
        return None
    outputs = [region.outputs[k] for k in own]
    pointers = [region.goal(k) for k in own]
    left: dict[int, Left] = {}
    scratch: list[int] = []
    for v in needed:
        type_ = region.types[v]
        if v not in goals:
            goals[v] = Pointer("scratch", used + len(scratch))
            scratch.append(max(1, size_of(type_.shape)) * type_.dtype.itemsize)
            outputs.append(v)
            pointers.append(goals[v])
        left[v] = Left(Operand.contiguous(type_.dtype, shape_of(type_)), goals[v])
    first = pruned(replace(region, outputs=tuple(outputs), goals=tuple(pointers)))
    return Stage(first, behind(region, left, others), tuple(scratch))


def _together(region: Region, depth: int) -> set[int]:
    """Reductions of the same axes that need no others."""
    found, behind_others = reductions(region), levels(region)
    first = next(v for v in found if behind_others[v] == 1)
    mine: set[int] = set()
    for v, axes in found.items():
        ready = _only_behind(region, mine)[made(region, v).inputs[0]]
        if ready and axes == found[first] and behind_others[v] <= depth:
            mine.add(v)
    return mine


def _only_behind(region: Region, mine: set[int]) -> list[bool]:
    """For each value whether it needs no reductions but these."""
    found = [True] * len(region.operands)
    others = reductions(region).keys() - mine
    for step in region.steps:
        known = len(found) not in others and all(found[v] for v in step.inputs)
        found += [known] * len(step.types)
    return found


def _asked(region: Region, mine: set[int], outputs: Sequence[int]) -> list[int]:
    """Which of these reductions some outputs need."""
    waiting, seen = [region.outputs[k] for k in outputs], set[int]()
    while waiting:
        v = waiting.pop()
        if v in seen:
            continue
        seen.add(v)
        step = region.step_of(v)
        if step is not None and v not in mine:
            waiting += step.inputs
    return sorted(seen & mine)
