"""Sums of which several work-items have made a part each."""

from __future__ import annotations

from .code import Code, Var
from .memory import load, store
from .region import Kernel, Pointer, Region, shape_of, size_of
from .scalars import computed, register_type
from .signature import Signature
from .target import Target
from .typed import arithmetic, rounded

_RUN = 1024


def strands_total(region: Region, target: Target, strands: int, name: str) -> Kernel:
    """The result of a region, each element the sum of so many in the first scratch, in order.

    The scratch has the results of each strand, one behind the other, as they are computed.
    """
    type_ = region.types[region.outputs[0]]
    dtype, wide = type_.dtype, computed(type_.dtype)
    size = size_of(shape_of(type_))
    lanes = target.lanes(frozenset({dtype}))
    signature = Signature(size * strands)
    code, kind = Code(), signature.index_type
    parts = signature.pointer(Pointer("scratch", 0), wide)
    out = signature.pointer(region.goal(0), dtype)
    count, number = signature.number("size", size), signature.number("strands", strands)
    run = lanes if target.many_items else _RUN
    code.line(f"const {kind} start = get_global_id(0) * {run};")
    code.line(f"const {kind} stop = min(start + {run}, {count});")
    with code.block(f"for ({kind} c = start; c < stop; c += {lanes})"):
        some = None
        if lanes > 1 and size % lanes:
            some = "some"
            code.line(f"const int some = min(stop - c, ({kind}){lanes});")
        # The first one begins: the sum of -0 and 0 would be another zero.
        first = load(code, f"{parts} + c", wide, lanes, "1", some)
        code.line(f"{register_type(wide, lanes)} a = {first.text};")
        with code.block(f"for (int s = 1; s < {number}; ++s)"):
            part = load(code, f"{parts} + s * {count} + c", wide, lanes, "1", some)
            code.line(f"a = {arithmetic('+', Var('a', wide, lanes), part).text};")
        found = rounded(code, Var("a", dtype, lanes))
        store(code, f"{out} + c", found, lanes, some)
    units = -(-size // run)
    local = max(1, min(target.work_group, 64, units)) if target.many_items else 1
    return signature.kernel(name, code, (-(-units // local) * local,), (local,))
