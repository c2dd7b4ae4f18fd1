"""Regions of which each element is computed for itself, as one kernel.

Axes along which all operands lie side by side become one.  The last axis is walked by vectors; a
work-item takes a run of it on CPUs, one vector on GPUs.
"""

from __future__ import annotations

import math

from staticad_schema.op import OPS
from staticad_schema.types import FLOAT64, INT64, KINDS, UINT32, DType

from .body import LANE, RENAMED, Body, Index
from .draws import whole_blocks
from .known import KNOWN
from .memory import store
from .places import unravelled
from .region import (
    Kernel,
    Operand,
    Recipe,
    Region,
    Shape,
    Step,
    row_major,
    shape_of,
    size_of,
)
from .signature import Signature
from .special.library import SPECIAL
from .target import Target

# Elements of a work-item on a CPU: enough to hide what a work-item costs, few enough to share.
_RUN = 4096
# The same of special functions, of which each takes as long as a hundred sums.
_SHORT_RUN = 256
# What has no place to read at.
_ANYWHERE = frozenset({"random_bits", "number", KNOWN})
_ALONG = _ANYWHERE | {"combined"}


def elementwise(region: Region, target: Target, name: str = "region") -> Recipe:
    """The kernel of a region whose outputs have one shape.

    Raises ValueError for outputs of several shapes.
    """
    shapes = {shape_of(region.types[v]) for v in region.outputs}
    if len(shapes) != 1:
        raise ValueError(f"outputs of one shape are wanted, not {shapes}")
    (shape,) = shapes
    flat = is_flat(region)
    if flat:
        region = collapsed(region, shape)
        shape = shape_of(region.types[region.outputs[0]])
    return Recipe((_kernel(region, target, name, shape, flat),))


def is_flat(region: Region) -> bool:
    """Whether no step reads at another place than it writes."""
    return all(
        s.op in RENAMED
        or s.op in _ANYWHERE
        or s.op in SPECIAL
        or (s.op in OPS and OPS[s.op].elementwise)
        for s in region.steps
    )


def straight(region: Region) -> bool:
    """Whether the last axis of each value is the last one of all that it is computed from."""
    return all(map(keeps_last, region.steps))


def keeps_last(step: Step) -> bool:
    """Whether the last axis of a step's value is the last one of what it is computed from."""
    definition = OPS.get(step.op)
    known = step.op in RENAMED or step.op in _ALONG or step.op in SPECIAL
    return known or (definition is not None and definition.elementwise)


def computed_dtypes(region: Region) -> frozenset[DType]:
    """The dtypes in registers, those on the way between others among them."""
    natural = any(
        s.op == "cast"
        and s.types[0].dtype == UINT32
        and KINDS[region.types[s.inputs[0]].dtype] == "float"
        for s in region.steps
    )
    return region.dtypes | {INT64} if natural else region.dtypes


def collapsed(region: Region, shape: Shape) -> Region:
    """The same over as few axes as its operands allow, at least one; operands of full rank."""
    read = {v for step in region.steps for v in step.inputs} | {*region.outputs}
    # What only orders steps is of any shape.
    strides = [
        aligned_strides(o, shape) if k in read else (0,) * len(shape)
        for k, o in enumerate(region.operands)
    ]
    if any(s.op == "random_bits" for s in region.steps):
        strides.append(row_major(shape))
    groups: list[list[int]] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        last = groups[-1][-1] if groups else None
        if last is not None and all(s[last] == s[axis] * size for s in strides):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    merged = tuple(math.prod(shape[a] for a in g) for g in groups) or (1,)
    operands = tuple(
        Operand(o.dtype, merged, tuple(s[g[-1]] for g in groups) or (0,))
        for o, s in zip(region.operands, strides, strict=False)
    )
    steps = tuple(
        Step(s.op, s.attributes, s.inputs, tuple(t.with_shape(merged) for t in s.types))
        for s in region.steps
    )
    return Region(operands, steps, region.outputs, region.sources, region.goals)


def aligned_strides(operand: Operand, shape: Shape) -> Shape:
    """The strides of an operand that is broadcast to a shape; 0 along axes of size 1."""
    lead = len(shape) - len(operand.shape)
    own = (
        0 if size == 1 else stride
        for size, stride in zip(operand.shape, operand.strides, strict=True)
    )
    return (0,) * lead + tuple(own)


def largest(region: Region) -> int:
    """What indices and strides may come to."""
    sizes = [size_of(t.shape) for t in region.types]
    for o in region.operands:
        sizes.append(sum(abs(s) * n for s, n in zip(o.strides, o.shape, strict=True)))
    return max(sizes, default=1)


def _kernel(region: Region, target: Target, name: str, shape: Shape, flat: bool) -> Kernel:
    dtypes = computed_dtypes(region)
    inner = shape[-1] if shape else 1
    lanes = target.lanes(dtypes) if flat or straight(region) else 1
    while lanes > 1 and lanes > inner:
        lanes //= 2
    if any(no_vector(region, s, lanes) for s in region.steps):
        lanes = 1
    most = _SHORT_RUN if any(s.op in SPECIAL for s in region.steps) else _RUN
    signature = Signature(largest(region) + _RUN)
    body = Body(region, target, signature, lanes)
    code, kind = body.code, signature.index_type
    rows = size_of(shape[:-1])
    run = lanes if target.many_items else max(lanes, min(most, -(-inner // lanes) * lanes))
    parts = -(-inner // run) if inner else 0
    rows_each = 1 if target.many_items else max(1, most // max(inner, 1))
    units = -(-rows // rows_each) * parts
    n, r = signature.number("inner", inner), signature.number("rows", rows)
    p = signature.number("parts", parts)
    code.line(f"const {kind} unit = get_global_id(0);")
    code.line(f"const {kind} part = unit % {p};" if parts > 1 else f"const {kind} part = 0;")
    first = f"unit / {p}" if parts > 1 else "unit"
    each = signature.number("rows each", rows_each)
    code.line(f"const {kind} first = ({first}) * {each};")
    code.line(f"const {kind} last = min(first + {each}, {r});")
    length = signature.number("run", run)
    code.line(f"const {kind} start = part * {length};")
    code.line(f"const {kind} stop = min(start + {length}, {n});")
    with code.block(f"for ({kind} row = first; row < last; ++row)"):
        lead = unravelled(body, "row", shape[:-1], "shape")
        index: Index = (*lead, LANE) if shape else ()
        with code.block(f"for ({kind} {LANE} = start; {LANE} < stop; {LANE} += {lanes})"):
            if lanes > 1 and inner % lanes:
                code.line(f"const int count = min(stop - {LANE}, ({kind}){lanes});")
                body.count = "count"
            found = [body.value(v, index) for v in region.outputs]
            for k, value in enumerate(found):
                out = signature.pointer(region.goal(k), value.dtype)
                store(code, f"{out} + row * {n} + {LANE}", value, lanes, body.count)
    local = min(target.work_group, 64) if target.many_items else 1
    local = max(1, min(local, units))
    # Work-items beyond the last unit have no row to begin with.
    return signature.kernel(name, code, (-(-units // local) * local,), (local,))


def no_vector(region: Region, step: Step, lanes: int) -> bool:
    """Whether a step has no form for so many lanes."""
    if step.op == "random_bits":
        return not whole_blocks(step, lanes)
    if step.op in SPECIAL:
        return lanes > 1
    source = region.types[step.inputs[0]].dtype if step.inputs else FLOAT64
    return step.op == "pow" and KINDS[source] != "float"
