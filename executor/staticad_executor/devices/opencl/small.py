"""Many small launches as one: a single group of work-items runs them in turn.

What a launch costs is more than a few thousand elements take.  Each kernel becomes a function of
the place of a work-item; between two of them all work-items of the group wait, so that each sees
what was written before.  Sizes and strides are read from a table, so that the source is the same
for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .region import Argument, Kernel, LocalBytes, Pointer, Table
from .target import Target

Rename = Callable[[Pointer], Pointer]


def for_small(target: Target) -> Target:
    """The target for which kernels are made that are to be run by one group."""
    return target._replace(alone=True, local_bytes=0)


def merged(kernels: Sequence[tuple[Kernel, Rename]], target: Target, name: str = "small") -> Kernel:
    """One kernel that does what these do, in that order.

    kernels: made for `for_small(target)`; and what the memory that each of them names is called
    in the whole.  Raises ValueError for one that needs local memory.
    """
    functions: dict[str, None] = {}
    bodies: dict[tuple[tuple[str, ...], str], str] = {}
    pointers: dict[Pointer, str] = {}
    numbers: dict[int, int] = {}
    lines, parameters = [], []
    arguments: list[Argument] = []
    size = max(1, min(target.work_group, 256)) if target.many_items else 1
    for kernel, rename in kernels:
        functions.update(dict.fromkeys(kernel.functions))
        key = kernel.parameters, kernel.body
        if key not in bodies:
            bodies[key] = f"step_{len(bodies)}"
            functions[_function(kernel, bodies[key])] = None
        given = []
        place = iter(kernel.parameters)
        for argument in kernel.arguments:
            if isinstance(argument, Pointer):
                kind = next(place).rpartition("*")[0]
                next(place)
                known = rename(argument)
                if known not in pointers:
                    pointers[known] = f"m{len(pointers)}"
                    text = pointers[known]
                    parameters += [f"__global uchar *{text}", f"const ulong {text}_at"]
                    arguments.append(known)
                given += [f"({kind}*){pointers[known]}", f"{pointers[known]}_at"]
            elif isinstance(argument, LocalBytes | Table):
                raise ValueError("a kernel for one group has no memory of its own")
            else:
                kind = next(place).rpartition(" ")[0].replace("const ", "")
                slot = numbers.setdefault(_signed(int(argument)), len(numbers))
                given.append(f"({kind})table[{slot}]")
        count = numbers.setdefault(kernel.global_size[0], len(numbers))
        call = f"{bodies[key]}({', '.join(['unit', *given])});"
        head = f"for (long unit = {_lid(size)}; unit < table[{count}]; unit += {size})"
        lines.append(f"  {head} {call}")
        if size > 1:
            lines.append("  barrier(CLK_GLOBAL_MEM_FENCE);")
    parameters += ["const __global long *table_", "const ulong table_at"]
    arguments.append(Table(tuple(numbers)))
    lines.insert(0, "  const __global long *table = table_ + table_at;")
    return Kernel(
        name,
        tuple(functions),
        tuple(parameters),
        "".join(line + "\n" for line in lines),
        tuple(arguments),
        (size,),
        (size,),
    )


def _lid(size: int) -> str:
    return "get_local_id(0)" if size > 1 else "0"


def _signed(number: int) -> int:
    """The number whose 64 bits, with a sign, are those of another."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _function(kernel: Kernel, name: str) -> str:
    body = kernel.body.replace("get_global_id(0)", "unit_").replace("get_group_id(0)", "unit_")
    parameters = ", ".join(["const long unit_", *kernel.parameters])
    return f"\nvoid {name}({parameters}) {{\n{body}}}\n"
