"""Stage 3: a device for each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from staticad_schema.text import line

from ..devices.base import Device
from ..program import Program


@dataclass(frozen=True, eq=False)
class Placed:
    """A program with the name of a device for each node; notes say what could not be had."""

    program: Program
    devices: tuple[str, ...]
    notes: tuple[str, ...]

    def text(self) -> str:
        """The program's lines, each with its device."""
        graph = self.program.graph
        lines = [f"@{device} {line(graph, i)}" for i, device in enumerate(self.devices)]
        return "\n".join([*lines, *self.notes]) + "\n"


def place(program: Program, devices: Mapping[str, Device]) -> Placed:
    """Each node where its hint says, if that device is there and runs it; else on the first
    device that does.  The last device, NumPy, runs everything."""
    names: Sequence[str] = tuple(devices)
    default = names[0]
    chosen: list[str] = []
    notes: list[str] = []
    single = len(names) == 1
    for node in program.graph.nodes:
        hint = node.device
        if single and hint is None:
            chosen.append(default)
            continue
        candidates = [hint, *names] if hint in devices else names
        device = next(name for name in candidates if name and devices[name].supports(node))
        if hint is not None and device != hint:
            notes.append(f"{node.name or node.op!r} asks for {hint}, runs on {device}")
        chosen.append(device)
    return Placed(program, tuple(chosen), tuple(notes))
