"""Where plans wait for devices, and give them what a run brings.

Kernels are enqueued, and run while the host goes on.  Whoever touches memory that they may still
be at work in has to wait for them: NumPy, and any other device of the same memory.  What is
enqueued on one device runs in order, so that nothing waits there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from staticad_schema.types import nbytes

from ..devices.base import HOST
from .assign import Assigned, Cell, Instruction
from .moves import End, Given, Launched, Wait

# With more on the way, looking which of it is touched takes longer than waiting.
MOST_PENDING = 256
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


def synchronized(assigned: Assigned) -> Assigned:
    """The instructions with those that wait, tell and check; the same object where no device is
    used but NumPy."""
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
        number = step_of.get(item.step)
        if number is None or number != len(kinds) - 1:
            number = step_of[item.step] = len(kinds)
            kinds.append(assigned.kinds[item.step])
        items.append(item._replace(step=number))
        live.append(alive)
    for device in devices:
        flagged = [
            i for item in assigned.instructions
            if isinstance(item.kernel, Launched) and item.kernel.device == device
            for i in item.kernel.flagged
        ]  # fmt: skip
        extra(End(device), (), tuple(flagged))
    return replace(assigned, instructions=items, live=live, kinds=kinds)


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
