"""Where plans wait for devices, and give them what a run brings.

Kernels are enqueued, and run while the host goes on.  Whoever touches memory that they may still
be at work in has to wait for them: NumPy, and any other device of the same memory.  What is
enqueued on one device runs in order, so that nothing waits there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from staticad_schema.types import nbytes

from ..devices.base import HOST
from .assign import Assigned, Cell, Instruction
from .moves import End, Given, Launched, Merged, Part, Wait

# With more on the way, looking which of it is touched takes longer than waiting.
MOST_PENDING = 256
# What one group runs in turn; a compiler takes longer for each line the more of them there are.
MOST_MERGED = 64
# Behind all slots.
SOURCES = 1 << 61
OUTPUTS = 1 << 62


class _Pending:
    """The bytes that kernels of a device may still read and write."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, int]] = []

    def touched(self, reads: Sequence[tuple[int, int]], writes: Sequence[tuple[int, int]]) -> bool:
        """Whether reading and writing these bytes has to wait."""
        if len(self.reads) + len(self.writes) > MOST_PENDING:
            return True
        return _meet(reads, self.writes) or _meet(writes, self.writes) or _meet(writes, self.reads)


def synchronized(assigned: Assigned, parameter_bytes: Mapping[str, int]) -> Assigned:
    """The instructions with those that wait and tell, and small ones of a device that follow each
    other as one; the same object where no device is used but NumPy.

    parameter_bytes: of each device.
    """
    devices = list(
        dict.fromkeys(
            item.kernel.device for item in assigned.instructions
            if isinstance(item.kernel, Launched)
        )
    )  # fmt: skip
    if not devices:
        return assigned
    items: list[Instruction] = []
    live: list[int] = []
    kinds: list[str] = []
    step_of: dict[int, int] = {}

    def extra(kernel: Given | Wait | End, reads: tuple[int, ...], nodes: tuple[int, ...]) -> None:
        kinds.append("give" if isinstance(kernel, Given) else "wait")
        items.append(Instruction(nodes, reads, (), (), kernel, len(kinds) - 1))
        live.append(0)

    for device in devices:
        given = _given(assigned, device)
        if given:
            extra(Given(device), given, ())
    pending: dict[str, _Pending] = {}
    for item, alive in zip(assigned.instructions, assigned.live, strict=True):
        own = item.kernel.device if isinstance(item.kernel, Launched) else ""
        reads = [span for c in item.reads if (span := _span(assigned, c)) is not None]
        writes = [span for c in item.writes if (span := _span(assigned, c)) is not None]
        for device in [d for d, p in pending.items() if d != own and p.touched(reads, writes)]:
            extra(Wait(device), (), ())
            del pending[device]
        if own:
            here = pending.setdefault(own, _Pending())
            here.reads += reads
            here.writes += writes
        kernel = _merged(assigned, items[-1], item, parameter_bytes) if items else None
        if kernel is not None:
            items[-1] = _together(items[-1], item, kernel)
            live[-1] = max(live[-1], alive)
            continue
        number = step_of.get(item.step)
        if number is None or number != len(kinds) - 1:
            number = step_of[item.step] = len(kinds)
            kinds.append(assigned.kinds[item.step])
        items.append(item._replace(step=number))
        live.append(alive)
    for device in devices:
        flagged = [i for part in parts_on(items, device) for i in part.launched.flagged]
        extra(End(device), (), tuple(flagged))
    return replace(assigned, instructions=items, live=live, kinds=kinds)


def parts_on(items: Iterable[Instruction], device: str) -> list[Part]:
    """The kernels of a device, in the order in which they run."""
    found: list[Part] = []
    for item in items:
        if isinstance(item.kernel, Merged) and item.kernel.device == device:
            found += item.kernel.parts
        elif isinstance(item.kernel, Launched) and item.kernel.device == device:
            found.append(Part(item.reads, item.writes, item.kernel))
    return found


def _merged(
    assigned: Assigned, last: Instruction, item: Instruction, most: Mapping[str, int]
) -> Merged | None:
    """The launch that two instructions become that follow each other; None if they do not."""
    new, before = item.kernel, last.kernel
    if not isinstance(new, Launched) or not new.small:
        return None
    if isinstance(before, Merged):
        parts = before.parts
    elif isinstance(before, Launched) and before.small:
        parts = (Part(last.reads, last.writes, before),)
    else:
        return None
    if before.device != new.device or len(parts) >= MOST_MERGED:
        return None
    parts = (*parts, Part(item.reads, item.writes, new))
    memories = {_memory(assigned, c) for part in parts for c in (*part.reads, *part.writes)}
    # With these the table and the flags.
    fits = 16 * (len(memories) + 2) <= most[new.device]
    return Merged(new.device, parts) if fits else None


def _memory(assigned: Assigned, index: int) -> tuple[str, int]:
    root, _ = root_of(assigned.cells, index)
    kind = assigned.cells[root].kind
    return (kind, 0) if kind == "slot" else (kind, root)


def _together(last: Instruction, item: Instruction, kernel: Merged) -> Instruction:
    """Both as one instruction."""
    reads = dict.fromkeys((*last.reads, *[c for c in item.reads if c not in last.writes]))
    values = dict(zip(last.writes, last.values, strict=True))
    values |= dict(zip(item.writes, item.values, strict=True))
    return Instruction(
        last.nodes + item.nodes, tuple(reads), tuple(values), tuple(values.values()), kernel,
        last.step,
    )  # fmt: skip


def _given(assigned: Assigned, device: str) -> tuple[int, ...]:
    """The cells of a run's own arrays that a device uses in place."""
    found: dict[int, None] = {}
    for item in assigned.instructions:
        if isinstance(item.kernel, Launched) and item.kernel.device == device:
            for c in (*item.reads, *item.writes):
                root, _ = root_of(assigned.cells, c)
                if assigned.cells[root].kind in ("source", "output"):
                    found[root] = None
    return tuple(found)


def root_of(cells: Sequence[Cell], index: int) -> tuple[int, int]:
    """The cell whose memory a cell is in, and where it begins there, in bytes."""
    offset = 0
    while cells[index].kind == "view":
        offset += cells[index].offset
        index = cells[index].at
    return index, offset


def _span(assigned: Assigned, index: int) -> tuple[int, int] | None:
    """The bytes of the host's memory that a cell is in; None for what nobody writes, or what only
    one device sees."""
    cells = assigned.cells
    while cells[index].kind == "view":
        index = cells[index].at
    cell = cells[index]
    if cell.space != HOST or cell.kind == "constant":
        return None
    if cell.kind == "slot":
        start = assigned.arenas[HOST].offsets[cell.at]
        return start, start + max(1, nbytes(cell.type))
    start = (SOURCES if cell.kind == "source" else OUTPUTS) + cell.at
    return start, start + 1


def _meet(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> bool:
    return any(a < d and c < b for a, b in some for c, d in others)
