"""From a region to kernels: which way it is computed.

Without reductions it is one elementwise kernel.  Reductions of rows are one kernel, together with
what needs them.  Reductions that go across rows, and those of few long rows, leave a part of the
result for each group of work-items, in an order that is a function of the shape; another kernel
combines the parts and computes what needs them.  Reductions that do not go together are kernels
one after the other.
"""

from __future__ import annotations

from dataclasses import replace

from .body import LANE, PLACED, Body, Index
from .code import Var
from .combine import REDUCTIONS, begin, result, take
from .contraction import is_contraction
from .decompose import decomposed
from .elementwise import elementwise
from .heavy import HEAVY
from .products import as_sum, product
from .region import Kernel, Operand, Pointer, Recipe, Region, Shape, Step, shape_of, size_of
from .rows import Rows
from .scans import SCANS, scan
from .split import made, split_of
from .stages import Left, behind, first_stage, pruned
from .target import Target


def generate(region: Region, target: Target, name: str = "region") -> Recipe:
    """The kernels of a region.

    Raises ValueError for a region that is not one.
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
    return _kernels(region, target, name, 0)


def _kernels(region: Region, target: Target, name: str, used: int) -> Recipe:
    """The kernels of a region, or of what is left of one.

    used: how much scratch the whole region has so far.
    """
    if not any(step.op in REDUCTIONS for step in region.steps):
        return _apart(region, target, name)
    split = split_of(region, target)
    if split is None:
        return _staged(region, target, name, used)
    rows = Rows(region, target, split, used)
    first = rows.kernel(name)
    if not split.partial:
        return Recipe((first,))
    left = {}
    for k, v in enumerate(split.partial):
        parts = Operand.contiguous(rows.accumulated(v), rows.left(v))
        left[v] = Left(parts, Pointer("scratch", used + k), made(region, v).op)
    sizes = tuple(size_of(o.shape) * o.dtype.itemsize for o, _, _ in left.values())
    late = [k for k, v in enumerate(region.outputs) if rows.levels[v] < 0]
    rest = _kernels(behind(region, left, late), target, f"{name}_rest", used + len(left))
    return Recipe((first, *rest.kernels), (*sizes, *rest.scratch))


def _staged(region: Region, target: Target, name: str, used: int) -> Recipe:
    """Those reductions first that go together, then what needs them."""
    stage = first_stage(region, target, used)
    used += len(stage.scratch)
    first = _kernels(stage.first, target, name, used)
    rest = _kernels(stage.rest, target, f"{name}_rest", used + len(first.scratch))
    return Recipe((*first.kernels, *rest.kernels), (*stage.scratch, *first.scratch, *rest.scratch))


def _apart(region: Region, target: Target, name: str) -> Recipe:
    """A kernel for the outputs of each shape."""
    shapes: dict[Shape, list[int]] = {}
    for k, v in enumerate(region.outputs):
        shapes.setdefault(shape_of(region.types[v]), []).append(k)
    groups = [*shapes.values()]
    if len(groups) == 1:
        return elementwise(region, target, name)
    kernels: list[Kernel] = []
    for number, group in enumerate(groups):
        outputs = tuple(region.outputs[k] for k in group)
        goals = tuple(region.goal(k) for k in group)
        part = pruned(replace(region, outputs=outputs, goals=goals))
        kernels += elementwise(part, target, f"{name}_{number}").kernels
    return Recipe(tuple(kernels))


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
