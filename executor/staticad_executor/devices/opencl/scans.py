"""Scans along an axis: a work-item goes along one line of elements, step by step."""

from __future__ import annotations

import math

from staticad_schema.types import INT64, KINDS, WIDENED, DType

from .body import Body
from .code import Var
from .combine import identity
from .elementwise import largest
from .memory import write
from .parse import parse
from .places import unravelled
from .region import Recipe, Region, Step, shape_of, size_of
from .scalars import register_type
from .signature import Signature
from .target import Target
from .typed import Expression, arithmetic, cast, constant, rounded

_LOG_ADD = (
    "({x} == {y} && {x} - {x} != 0 ? {x}"
    " : {x} > {y} ? {x} + log1p(exp({y} - {x})) : {y} + log1p(exp({x} - {y})))"
)
SCANS = frozenset(
    {
        "cumulative_sum", "cumulative_prod", "cumulative_logsumexp", "cumulative_max",
        "cumulative_min", "linear_recurrence",
    }
)  # fmt: skip


def scan(region: Region, target: Target, name: str = "scan") -> Recipe:
    """The kernel of a region that ends in one scan: its outputs are those of the scan.

    Raises ValueError for another region.
    """
    last = len(region.steps) - 1
    step = region.steps[last]
    first = len(region.types) - len(step.types)
    if step.op not in SCANS or any(v < first for v in region.outputs):
        raise ValueError("a region that ends in a scan is wanted")
    signature = Signature(largest(region))
    body = Body(region, target, signature, 1)
    code, kind = body.code, signature.index_type
    shape = shape_of(step.types[0])
    axis, reverse = step.attributes["axis"], step.attributes["reverse"]
    others = tuple(a for a in range(len(shape)) if a != axis)
    lines = math.prod(shape[a] for a in others)
    count = signature.number("lines", lines)
    n, last_place = signature.number("n", shape[axis]), signature.number("last", shape[axis] - 1)
    code.line(f"const {kind} line = get_global_id(0);")
    code.line(f"if (line >= {count}) return;")
    places = unravelled(body, "line", tuple(shape[a] for a in others), "lines")
    strides = [size_of(shape[a + 1 :]) for a in range(len(shape))]
    dtype = step.types[0].dtype
    wide = WIDENED.get(dtype, dtype)
    state = code.fresh("a")
    code.line(f"{register_type(wide)} {state} = {_start(step, wide).text};")
    code.line("long found = 0;")
    with code.block(f"for ({kind} k = 0; k < {n}; ++k)"):
        code.line(f"const {kind} at = {f'{last_place} - k' if reverse else 'k'};")
        index = list(places)
        index.insert(axis, "at")
        given = [
            cast(code, body.value(v, tuple(index)), WIDENED.get(region.types[v].dtype, wide))
            for v in step.inputs
        ]
        _advance(body, step, Var(state, wide), given)
        terms = [
            f"{text} * {signature.number(('out', a), strides[a])}"
            for a, text in enumerate(index)
            if text != "0"
        ]
        place = " + ".join(terms) or "0"
        for k, v in enumerate(region.outputs):
            value = rounded(code, Var(state, dtype)) if v == first else Var("found", INT64)
            out = signature.pointer(region.goal(k), value.dtype)
            code.line(write(code, f"{out} + {place}", value.text, value.dtype, 1) + ";")
    local = min(target.work_group, 64, max(1, lines)) if target.many_items else 1
    return Recipe((signature.kernel(name, code, (-(-lines // local) * local,), (local,)),))


def _start(step: Step, dtype: DType) -> Var:
    if step.op in ("cumulative_sum", "linear_recurrence"):
        return constant(0, dtype)
    if step.op == "cumulative_logsumexp":
        return constant(-math.inf, dtype)
    return identity({"cumulative_prod": "prod"}.get(step.op, step.op[len("cumulative_") :]), dtype)


def _advance(body: Body, step: Step, state: Var, given: list[Var]) -> None:
    """One step along the line."""
    code = body.code
    x = given[-1]
    if step.op in ("cumulative_max", "cumulative_min"):
        _extremum(body, step, state, x)
        return
    # The first element begins the line as it is: adding it to 0 would lose the sign of -0.
    if step.op == "cumulative_sum":
        text = arithmetic("+", state, x).text
    elif step.op == "cumulative_prod":
        text = arithmetic("*", state, x).text
    elif step.op == "linear_recurrence":
        names = {"x": given[0], "y": state}
        writer = Expression(code, names, state.dtype, False)
        both = "(({x} == 0 || {y} == 0) && {x} * {y} != 0 ? 0 : {x} * {y})"
        product = writer.final(parse(both))
        text = arithmetic("+", product, x).text
    else:
        writer = Expression(code, {"x": state, "y": x}, state.dtype, False)
        text = writer.final(parse(_LOG_ADD)).text
    code.line(f"{state.text} = k == 0 ? {x.text} : {text};")


def _extremum(body: Body, step: Step, state: Var, x: Var) -> None:
    """The latest of equal elements; from a NaN on the latest NaN."""
    code = body.code
    sign = ">=" if step.op == "cumulative_max" else "<="
    test = f"k == 0 || {x.text} {sign} {state.text}"
    if KINDS[x.dtype] == "float":
        test = f"{test} || {x.text} != {x.text}"
    code.line(f"if ({test}) {{ {state.text} = {x.text}; found = at; }}")
