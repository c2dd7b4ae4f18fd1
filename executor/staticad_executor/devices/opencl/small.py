"""Many small launches as one: a single group of work-items runs them in turn.

What a launch costs is more than a few thousand elements take.  Each kernel becomes a function of
the place of a work-item; between two of them all work-items of the group wait, so that each sees
what was written before.  Sizes, strides and places in memory are read from a table, so that the
source is the same for all sizes; kernels of one text that follow each other are a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from .region import Argument, Kernel, LocalBytes, Pointer, Table, element_size
from .target import Target

Placed = Callable[[Pointer], tuple[Pointer, int]]
"""The memory that a pointer of a kernel is in, as the whole names it, and how many bytes behind
its start."""

# So many kernels of one text in a row are called in a loop.
LOOP = 3


def for_small(target: Target) -> Target:
    """The target for which kernels are made that are to be run by one group."""
    return target._replace(alone=True, local_bytes=0)


class _Call(NamedTuple):
    """function: its name.  kinds: of its arguments, types of numbers or of what pointers point to.
    memories: of each argument its memory, -1 for numbers.  numbers: of units, then of each
    argument, offsets in elements."""

    function: str
    kinds: tuple[str, ...]
    memories: tuple[int, ...]
    numbers: tuple[int, ...]


class _Whole:
    """The kernel under construction."""

    def __init__(self, group: int) -> None:
        self.group = group
        self.functions: dict[str, None] = {}
        self.bodies: dict[tuple[tuple[str, ...], str], str] = {}
        self.memories: dict[Pointer, int] = {}
        self.table: list[int] = []
        self.lines: list[str] = []

    def call(self, kernel: Kernel, placed: Placed) -> _Call:
        """The call of one kernel."""
        self.functions.update(dict.fromkeys(kernel.functions))
        key = kernel.parameters, kernel.body
        if key not in self.bodies:
            self.bodies[key] = f"step_{len(self.bodies)}"
            self.functions[_function(kernel, self.bodies[key])] = None
        kinds, memories, numbers = [], [], [kernel.global_size[0]]
        place = iter(kernel.parameters)
        for argument in kernel.arguments:
            parameter = next(place)
            if isinstance(argument, Pointer):
                next(place)
                memory, offset = placed(argument)
                kinds.append(parameter.rpartition("*")[0])
                memories.append(self.memories.setdefault(memory, len(self.memories)))
                numbers.append(offset // element_size(parameter))
            elif isinstance(argument, LocalBytes | Table):
                raise ValueError("a kernel for one group has no memory of its own")
            else:
                kinds.append(parameter.rpartition(" ")[0].replace("const ", ""))
                memories.append(-1)
                numbers.append(_signed(int(argument)))
        return _Call(self.bodies[key], tuple(kinds), tuple(memories), tuple(numbers))

    def slot(self, number: int) -> str:
        """The text of a number in the table, at a place of its own: which numbers are equal
        follows from sizes, and the text should not."""
        self.table.append(number)
        return f"table[{len(self.table) - 1}]"

    def once(self, call: _Call) -> None:
        """The text of a call of its own."""
        self.text(call, [self.slot(number) for number in call.numbers], "  ")

    def loop(self, calls: Sequence[_Call]) -> None:
        """The text of calls that differ in numbers only, of which each has a row of the table."""
        width = len(calls[0].numbers)
        start = len(self.table)
        for call in calls:
            self.table += call.numbers
        first, count = self.slot(start), self.slot(len(calls))
        self.lines.append(f"  for (long k = 0; k < {count}; ++k) {{")
        self.lines.append(f"    const __global long *row = table + {first} + k * {width};")
        self.text(calls[0], [f"row[{k}]" for k in range(width)], "    ")
        self.lines.append("  }")

    def text(self, call: _Call, numbers: Sequence[str], indent: str) -> None:
        """The lines of a call with the texts of its numbers."""
        units, *rest = numbers
        given = ["unit"]
        for kind, memory, number in zip(call.kinds, call.memories, rest, strict=True):
            given += [f"({kind})({number})"] if memory < 0 else [f"({kind}*)m{memory}", number]
        item = "get_local_id(0)" if self.group > 1 else "0"
        head = f"for (long unit = {item}; unit < {units}; unit += {self.group})"
        self.lines.append(f"{indent}{head} {call.function}({', '.join(given)});")
        if self.group > 1:
            self.lines.append(f"{indent}barrier(CLK_GLOBAL_MEM_FENCE);")


def merged(kernels: Sequence[tuple[Kernel, Placed]], target: Target, name: str = "small") -> Kernel:
    """One kernel that does what these do, in that order.

    kernels: made for `for_small(target)`, each with where its memory is in the whole, whose
    arguments are these memories and a table.  Raises ValueError for one that needs local memory.
    """
    whole = _Whole(max(1, min(target.work_group, 256)) if target.many_items else 1)
    calls = [whole.call(kernel, placed) for kernel, placed in kernels]
    for alike in _runs(calls):
        if len(alike) >= LOOP:
            whole.loop(alike)
        else:
            for call in alike:
                whole.once(call)
    parameters: list[str] = []
    arguments: list[Argument] = []
    head = []
    for memory, k in whole.memories.items():
        parameters += [f"__global uchar *m{k}_", f"const ulong m{k}_at"]
        head.append(f"  __global uchar *m{k} = m{k}_ + m{k}_at;")
        arguments.append(memory)
    parameters += ["const __global long *table_", "const ulong table_at"]
    head.append("  const __global long *table = table_ + table_at;")
    arguments.append(Table(tuple(whole.table)))
    return Kernel(
        name,
        tuple(whole.functions),
        tuple(parameters),
        "".join(line + "\n" for line in [*head, *whole.lines]),
        tuple(arguments),
        (whole.group,),
        (whole.group,),
    )


def _runs(calls: Sequence[_Call]) -> Iterator[list[_Call]]:
    """Calls that follow each other and differ in numbers only."""
    for _, alike in groupby(calls, key=lambda call: call[:3]):
        yield list(alike)


def _signed(number: int) -> int:
    """The number whose 64 bits, with a sign, are those of another."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _function(kernel: Kernel, name: str) -> str:
    body = kernel.body.replace("get_global_id(0)", "unit_").replace("get_group_id(0)", "unit_")
    parameters = ", ".join(["const long unit_", *kernel.parameters])
    return f"\nvoid {name}({parameters}) {{\n{body}}}\n"
