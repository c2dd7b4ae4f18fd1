"""From a region to kernels: which way it is computed.

Without reductions it is one elementwise kernel.  Reductions of rows are one kernel, together with
what needs them.  Reductions that go across rows leave a part of the result for each group of
work-items, in an order that is a function of the shape; a second kernel combines the parts and
computes what needs them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from staticad_schema.types import DType

from .body import LANE, PLACED, Body, Index
from .code import Var
from .combine import PLACES, REDUCTIONS, begin, result, take
from .contraction import is_contraction
from .decompose import decomposed
from .elementwise import collapsed, elementwise, is_flat
from .heavy import HEAVY
from .products import as_sum, product
from .region import Kernel, Operand, Pointer, Recipe, Region, Shape, Step, shape_of
from .rows import Rows
from .scans import SCANS, scan
from .split import Split, axes_of, levels
from .target import Target

# A row of more elements is worth several groups, if there are few rows.
_LONG = 1 << 14
_PARTS = 64


def generate(region: Region, target: Target, name: str = "region") -> Recipe:
    """The kernels of a region.

    Raises ValueError for a region that is not one: reductions of several shapes or along axes that
    do not go together.
    """
    region = pruned(decomposed(region))
    if is_contraction(region):
        summed = as_sum(region, target)
        if summed is None:
            return product(region, target, name)
        recipe = generate(summed, target, name)
        return recipe._replace(algorithm="products summed along an axis")
    if len(region.steps) == 1 and region.steps[0].op in HEAVY:
        return HEAVY[region.steps[0].op](region, target, name)
    if region.steps and region.steps[-1].op in SCANS:
        return scan(region, target, name)
    if not any(step.op in REDUCTIONS for step in region.steps):
        return _apart(region, target, name)
    original = region
    region, split = split_of(region, target)
    rows = Rows(region, target, split)
    first = rows.kernel(name)
    if not split.partial:
        return Recipe((first,))
    shapes = [rows.scratch_shape(v) for v in split.partial]
    dtypes = [rows.accumulated(v) for v in split.partial]
    sizes = tuple(
        math.prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)
    )
    late = [k for k, v in enumerate(region.outputs) if rows.levels[v] < 0]
    kernels = [first]
    for together in _by_shape(original, late):
        rest = _rest(original, split, shapes, dtypes, together)
        recipe = generate(rest, target, f"{name}_{len(kernels)}")
        if recipe.scratch:
            raise ValueError("reductions of what was reduced across rows are another region")
        kernels += recipe.kernels
    return Recipe(tuple(kernels), sizes)


def _apart(region: Region, target: Target, name: str) -> Recipe:
    """A kernel for the outputs of each shape."""
    groups = _by_shape(region, [*range(len(region.outputs))])
    if len(groups) == 1:
        return elementwise(region, target, name)
    kernels: list[Kernel] = []
    for number, group in enumerate(groups):
        outputs = tuple(region.outputs[k] for k in group)
        goals = tuple(region.goal(k) for k in group)
        part = pruned(replace(region, outputs=outputs, goals=goals))
        kernels += elementwise(part, target, f"{name}_{number}").kernels
    return Recipe(tuple(kernels))


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


def split_of(region: Region, target: Target) -> tuple[Region, Split]:
    """The rows of a region, and what is left for a second kernel.

    The region has fewer axes where all of it is one row anyway.
    """
    axes = _reduced_axes(region)
    shapes = {shape_of(region.types[s.inputs[0]]) for s in region.steps if s.op in REDUCTIONS}
    if len(shapes) != 1:
        raise ValueError(f"reductions of one shape are wanted, not of {shapes}")
    (shape,) = shapes
    every = tuple(range(len(shape)))
    partly = {a for a in axes.values() if a != every}
    suffixes = {a for a in partly if a == every[len(every) - len(a) :]}
    prefixes = {a for a in partly if a == every[: len(a)]} - suffixes
    whole = [v for v, a in axes.items() if a == every]
    if partly - suffixes - prefixes:
        # Any axes, one element of the result after the other.
        if len(partly) > 1 or whole:
            raise ValueError(f"reductions along {partly} do not go together")
        (gone,) = partly
        return region, Split(shape, tuple(a for a in every if a not in gone), gone)
    rows, columns = next(iter(suffixes), None), next(iter(prefixes), None)
    fit = columns is None or rows is None or (*columns, *rows) == every
    if len(suffixes) > 1 or len(prefixes) > 1 or not fit:
        raise ValueError(f"reductions along {partly} do not go together")
    if rows is None and columns is None:
        return _whole(region, target, shape, whole)
    gone = every[len(columns) :] if columns is not None else rows or ()
    kept = every[: len(every) - len(gone)]
    partial = {v: "column" for v, a in axes.items() if a == columns} | dict.fromkeys(whole, "whole")
    if len(partly) == 1 and not whole and columns is not None and _waits(region, partial):
        # Sums over rows that need each other: down one column after the other.
        return region, Split(shape, every[len(columns) :], columns)
    _check(region, partial)
    split = Split(shape, kept, gone, partial)
    if not partial and split.rows < 2 * target.units and split.length >= _LONG:
        partial = dict.fromkeys(axes, "part")
        if not _dependent(region, partial) and not _places(region, partial):
            parts = min(_PARTS, split.length // (_LONG // 4))
            return region, split._replace(partial=partial, parts=parts)
    return region, split


def _whole(region: Region, target: Target, shape: Shape, whole: list[int]) -> tuple[Region, Split]:
    """Reductions to one element: rows of the fewest axes that operands allow."""
    every = tuple(range(len(shape)))
    partial = dict.fromkeys(whole, "whole")
    plain = Split(shape, (), every)
    if plain.length < _LONG or _dependent(region, partial) or _places(region, partial):
        return region, plain
    early = [lv >= 0 for lv in levels(region, partial)]
    full = all(shape_of(region.types[v]) == shape for v in region.outputs if early[v])
    flat = is_flat(
        Region(region.operands, tuple(s for s in region.steps if s.op not in REDUCTIONS), ())
    )
    if full and flat:
        region = collapsed(region, shape)
        shape = region.operands[0].shape if region.operands else shape
        every = tuple(range(len(shape)))
    if len(every) > 1:
        return region, Split(shape, every[:-1], every[-1:], partial)
    parts = min(_PARTS, shape[0] // (_LONG // 4))
    return region, Split(shape, (), every, dict.fromkeys(whole, "part"), parts)


def _reduced_axes(region: Region) -> dict[int, tuple[int, ...]]:
    found = {}
    for k, (maker, _) in enumerate(region.makers):
        step = region.steps[maker]
        if step.op in REDUCTIONS:
            found[len(region.operands) + k] = axes_of(step)
    return found


def _dependent(region: Region, partial: Mapping[int, str]) -> bool:
    """Whether one of the reductions needs another."""
    found = levels(region, partial)
    for v in partial:
        step = region.step_of(v)
        assert step is not None
        if found[step.inputs[0]] != 0:
            return True
    return False


def _places(region: Region, partial: Mapping[int, str]) -> bool:
    steps = [region.step_of(v) for v in partial]
    return any(s is not None and s.op in PLACES for s in steps)


def _waits(region: Region, partial: Mapping[int, str]) -> bool:
    """Whether one of the reductions needs one across rows, or says where."""
    found = levels(region, partial)
    steps = [region.step_of(v) for v in partial]
    return _places(region, partial) or any(s and found[s.inputs[0]] < 0 for s in steps)


def _check(region: Region, partial: Mapping[int, str]) -> None:
    if _waits(region, partial):
        raise ValueError("reductions that need those across rows are a region of their own")


def _by_shape(region: Region, outputs: list[int]) -> list[list[int]]:
    groups: dict[Shape, list[int]] = {}
    for k in outputs:
        groups.setdefault(shape_of(region.types[region.outputs[k]]), []).append(k)
    return list(groups.values())


def _rest(
    region: Region, split: Split, shapes: list[Shape], dtypes: list[DType], outputs: list[int]
) -> Region:
    """What is computed of the parts that the first kernel left."""
    count, more = len(region.operands), len(split.partial)
    parts = tuple(Operand.contiguous(d, s) for d, s in zip(dtypes, shapes, strict=True))
    place = {v: count + k for k, v in enumerate(split.partial)}

    def moved(v: int) -> int:
        return v if v < count else v + more

    steps = []
    value = count
    for step in region.steps:
        inputs = tuple(moved(v) for v in step.inputs)
        if value in place:
            kind = split.partial[value]
            rank = len(step.types[0].shape)
            at = {"column": (rank - len(split.gone), rank), "part": (0, len(split.kept))}
            attributes = {"op": step.op, "at": at.get(kind, (0, 0))}
            inputs = (place[value],)
            steps.append(Step("combined", attributes, inputs, step.types))
        else:
            steps.append(step._replace(inputs=inputs))
        value += len(step.types)
    sources = [region.source(k) for k in range(count)]
    sources += [Pointer("scratch", k) for k in range(more)]
    return Region(
        region.operands + parts,
        tuple(steps),
        tuple(moved(region.outputs[k]) for k in outputs),
        tuple(sources),
        tuple(region.goal(k) for k in outputs),
    )


def _combined(body: Body, number: int, step: Step, index: Index) -> Var:
    """The parts of a reduction, one after the other."""
    code = body.code
    source = step.inputs[0]
    operand = body.region.operands[source]
    start, stop = step.attributes["at"]
    own = tuple(
        "0" if n == 1 else text
        for n, text in zip(operand.shape[1:], index[start:stop], strict=True)
    )
    lanes = body.lanes if own and own[-1] == LANE else 1
    a = begin(code, step.attributes["op"], operand.dtype, lanes)
    count = body.signature.number((number, "parts"), operand.shape[0])
    place = code.fresh("p")
    with code.block(f"for (int {place} = 0; {place} < {count}; ++{place})"):
        take(code, a, body.value(source, (place, *own)))
    return result(code, a, step.types[0].dtype)


PLACED["combined"] = _combined
