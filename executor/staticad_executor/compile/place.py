"""Stage 3: a device for each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from staticad_schema.text import line

from ..devices.base import Device
from ..devices.numpy import NumpyDevice
from ..program import ASKS_SIZES, GIVEN, VIEWS, Program

if TYPE_CHECKING:
    from ..devices.opencl.device import OpenCLDevice

NUMPY = "numpy"


@dataclass(frozen=True)
class Devices:
    """The devices of a session.

    default: the name of the one that runs what asks for none.  elsewhere: those beside NumPy, by
    name.  meant: for each hint of a graph the device that it means, if there is one.  auto: finds
    what else may be used, where it pays.  taken: for each node whether it goes to the default
    one, if not all do.
    """

    default: str = NUMPY
    elsewhere: Mapping[str, OpenCLDevice] = field(default_factory=dict)
    meant: Mapping[str, str] = field(default_factory=dict)
    auto: Callable[[], OpenCLDevice | None] | None = None
    taken: bytes | None = None

    @property
    def named(self) -> dict[str, Device]:
        """All of them, by name."""
        return {**self.elsewhere, NUMPY: NumpyDevice()}


ALONE = Devices()


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


def place(program: Program, devices: Devices = ALONE) -> Placed:
    """Each node where its hint says, if there is that device and it runs the node; else on the
    session's own; and what that does not run, on NumPy, which runs everything.

    Notes say where a hint is passed over, and what else runs on NumPy, and why.
    """
    graph = program.graph
    types, producers = graph.types, graph.producers
    named = devices.named
    chosen: list[str] = []
    notes: list[str] = []
    missed: Counter[tuple[str, str]] = Counter()
    for index, node in enumerate(graph.nodes):
        hint = node.device
        if hint is None and not devices.elsewhere:
            chosen.append(NUMPY)
            continue
        wanted = devices.default
        if devices.taken is not None and not devices.taken[index]:
            wanted = NUMPY
        if hint is not None:
            wanted = NUMPY if hint == NUMPY else devices.meant.get(hint, wanted)
        if node.op in VIEWS and node.inputs and hint is None:
            # A look at memory is where that is.
            wanted = chosen[producers[node.inputs[0]]]
        found = wanted
        if wanted != NUMPY and node.op not in GIVEN | ASKS_SIZES:
            operands = [types[v] for v in node.inputs]
            why = named[wanted].why_not(node.op, node.attributes, operands, node.types)
            if why is not None:
                found = NUMPY
                missed[node.op, why] += 1
        if hint is not None and hint not in (NUMPY, found) and devices.meant.get(hint) != found:
            notes.append(f"{node.name or node.op!r} asks for {hint}, runs on {found}")
        chosen.append(found)
    for (op, why), count in missed.items():
        notes.append(f"on {NUMPY}: {count} x {op}: {why}")
    return Placed(program, tuple(chosen), tuple(notes))
