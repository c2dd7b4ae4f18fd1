"""Copies of a side of a product, in the order in which its tiles read it: panels of some rows or
columns, and in a panel one term after the other.  Half floats and small integers are widened there,
and the last panel is filled up with zeros."""

from __future__ import annotations

from .body import Body
from .choices import CHUNK
from .contraction import Contraction, Side
from .memory import load, read, store
from .places import unravelled
from .region import Kernel, Pointer, size_of
from .register_tiles import numbered, times
from .signature import Signature
from .target import Target
from .typed import cast, constant

# Terms that a work-item copies of a panel.
_TERMS = 2 * CHUNK


def packed_bytes(c: Contraction, side: Side, count: int, lines: int) -> int:
    """The bytes of the panels of a side of so many rows or columns."""
    return size_of(c.own_stack(side)) * -(-count // lines) * lines * c.depth * c.wide.itemsize


def packing(
    c: Contraction, side: Side, count: int, lines: int, lanes: int, to: Pointer, target: Target,
    name: str,
) -> Kernel:  # fmt: skip
    """The kernel that copies a side into panels of so many lines of it."""
    signature = Signature(c.largest + size_of(c.own_stack(side)) * (lines + 1) * c.depth)
    body = Body(c.region, target, signature, lanes)
    code, kind = body.code, signature.index_type
    own = c.own_stack(side)
    panels, chunks = -(-count // lines), -(-c.depth // _TERMS)
    counts = [("chunk", chunks), ("panel", panels), ("matrix", size_of(own))]
    units = chunks * panels * size_of(own)
    numbered(body, counts, units if target.many_items else None)
    stack = unravelled(body, "matrix", own, "stack")
    depth, every = signature.number("depth", c.depth), signature.number("panels", panels)
    outer, inner = signature.number("outer", side.outer), signature.number("inner", side.inner)
    terms = [signature.pointer(c.region.source(side.operand), c.dtype)]
    for axis, (text, stride) in enumerate(zip(stack, side.stack, strict=True)):
        if text != "0" and stride:
            terms.append(f"{text} * {signature.number(('along', axis), stride)}")
    out = signature.pointer(to, c.wide)
    total = signature.number("count", count)
    code.line(f"const {kind} stop = min((chunk + 1) * {_TERMS}, {depth});")
    code.line(f"const int here = (int)min(({kind}){lines}, {total} - panel * {lines});")
    start = times(f"panel * {lines}", outer)
    with code.block(f"for ({kind} k = chunk * {_TERMS}; k < stop; ++k)"):
        source = " + ".join([*terms, *(t for t in (start, times("k", inner)) if t != "0")])
        place = f"{out} + ((matrix * {every} + panel) * {depth} + k) * {lines}"
        if side.outer == 1 and lanes > 1:
            with code.block(f"if (here == {lines})"):
                for first in range(0, lines, lanes):
                    found = load(code, f"{source} + {first}", c.dtype, lanes, "1", None)
                    store(code, f"{place} + {first}", cast(code, found, c.wide), lanes, None)
                code.line("continue;")
        with code.block(f"for (int r = 0; r < {lines}; ++r)"):
            element = read(f"{source} + {times('min(r, here - 1)', outer)}", c.dtype, 1)
            found = cast(code, code.named(element, c.dtype), c.wide)
            zero = constant(0, c.wide).text
            code.line(f"({place} + r)[0] = r < here ? {found.text} : {zero};")
    local = max(1, min(target.work_group, 64, units)) if target.many_items else 1
    return signature.kernel(name, code, (-(-units // local) * local,), (local,))
