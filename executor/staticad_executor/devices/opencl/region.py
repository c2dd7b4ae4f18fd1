"""What is generated from: nodes over operands, and what comes out: kernels with arguments.

Values of a region are numbered: operands first, then the outputs of its nodes in order.  All
sizes are known.  Results are contiguous.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from staticad_schema.types import Array, DType, TensorType

Shape = tuple[int, ...]


class Operand(NamedTuple):
    """An array in memory; strides count elements, and may be 0 or negative."""

    dtype: DType
    shape: Shape
    strides: Shape

    @staticmethod
    def of(array: Array) -> Operand:
        """That of an array of NumPy's."""
        strides = tuple(s // array.itemsize for s in array.strides)
        return Operand(array.dtype, array.shape, strides)

    @staticmethod
    def contiguous(dtype: DType, shape: Shape) -> Operand:
        """An operand in row-major order."""
        return Operand(dtype, shape, row_major(shape))


class Pointer(NamedTuple):
    """An argument that is memory: a buffer, and behind it the place of its first element, in
    elements, as a ulong."""

    kind: Literal["operand", "output", "scratch", "flag"]
    place: int = 0


class Place(NamedTuple):
    """Where a pointer points: which memory of a plan, and how many bytes behind its start."""

    memory: int
    offset: int


class Step(NamedTuple):
    """A node of a region: inputs are values of it; types are those of its outputs.  number: by
    which the flag names it, from 1 on; 0 stands for its place."""

    op: str
    attributes: Mapping[str, Any]
    inputs: tuple[int, ...]
    types: tuple[TensorType, ...]
    number: int = 0


@dataclass(frozen=True, eq=False)
class Region:
    """outputs: the values that are stored.  sources, goals: where operands and outputs are, if
    that is not what their numbers say."""

    operands: tuple[Operand, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    sources: tuple[Pointer, ...] = ()
    goals: tuple[Pointer, ...] = ()

    def source(self, operand: int) -> Pointer:
        """The memory of an operand."""
        return self.sources[operand] if self.sources else Pointer("operand", operand)

    def goal(self, output: int) -> Pointer:
        """The memory of an output."""
        return self.goals[output] if self.goals else Pointer("output", output)

    @cached_property
    def types(self) -> tuple[TensorType, ...]:
        """The type of each value."""
        found = [TensorType(o.dtype, o.shape) for o in self.operands]
        for step in self.steps:
            found += step.types
        return tuple(found)

    @cached_property
    def makers(self) -> tuple[tuple[int, int], ...]:
        """(step, which of its outputs) of each value behind the operands."""
        return tuple((k, j) for k, step in enumerate(self.steps) for j in range(len(step.types)))

    def step_of(self, value: int) -> Step | None:
        """The step that makes a value; None for an operand."""
        place = value - len(self.operands)
        return None if place < 0 else self.steps[self.makers[place][0]]

    @cached_property
    def dtypes(self) -> frozenset[DType]:
        """Those of all values."""
        return frozenset(t.dtype for t in self.types)

    @property
    def bytes_moved(self) -> int:
        """What has to be read and written at least: each operand once, each result once."""
        total = 0
        for operand in self.operands:
            sizes = (n for n, s in zip(operand.shape, operand.strides, strict=True) if s)
            total += math.prod(sizes) * operand.dtype.itemsize
        for value in self.outputs:
            total += size_of(self.types[value].shape) * self.types[value].dtype.itemsize
        return total


class LocalBytes(NamedTuple):
    """An argument that is so much local memory."""

    nbytes: int


class Table(NamedTuple):
    """An argument that is memory with these numbers, as longs, and like a pointer has a place."""

    values: tuple[int, ...]


Argument = Pointer | LocalBytes | Table | np.unsignedinteger[Any] | np.signedinteger[Any]


class Kernel(NamedTuple):
    """One launch.  A pointer or table stands for two arguments, the others for one each.

    functions: what its text calls, each of them once, in order.  parameters: as in C, one an
    argument.  A `flag` is a uint that is 0 before a run, and another number behind it if an index
    was out of range: that of the step, from 1 on.
    """

    name: str
    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    body: str
    arguments: tuple[Argument, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]

    @property
    def parameter_bytes(self) -> int:
        """What its arguments take, of which a device takes no more than so much."""
        total = 0
        for argument in self.arguments:
            if isinstance(argument, np.generic):
                total += argument.itemsize
            else:
                total += 8 if isinstance(argument, LocalBytes) else 16
        return total

    @property
    def flags(self) -> bool:
        """Whether it can find an index out of range."""
        return any(isinstance(a, Pointer) and a.kind == "flag" for a in self.arguments)

    @property
    def source(self) -> str:
        """The kernel as a program of its own."""
        return "".join(self.functions) + self.text(self.name)

    def text(self, name: str) -> str:
        """The kernel alone, by another name."""
        return f"\n__kernel void {name}({', '.join(self.parameters)}) {{\n{self.body}}}\n"


class Recipe(NamedTuple):
    """Launches in order, and the bytes of the scratch that they share.

    algorithm: how it is computed, in words for people; empty where there is one way only.
    """

    kernels: tuple[Kernel, ...]
    scratch: tuple[int, ...] = ()
    algorithm: str = ""


# Kernels name the type behind a pointer in their parameters; offsets count such elements.
_ELEMENT = re.compile(
    r"__global\s+(?:(?:const|volatile)\s+)*"
    r"u?(char|short|int|long|half|float|double)(\d*)\b"
)
_BYTES = {"char": 1, "short": 2, "half": 2, "int": 4, "float": 4, "long": 8, "double": 8}


def element_size(parameter: str) -> int:
    """The bytes of what a parameter of a kernel points to: 4 of "const __global float *x"."""
    found = _ELEMENT.search(parameter)
    if found is None:
        raise ValueError(f"no pointer to elements: {parameter!r}")
    kind, lanes = found.groups()
    return _BYTES[kind] * int(lanes or 1)


def together(kernels: Iterable[Kernel]) -> tuple[str, list[str]]:
    """The source of a program with all these kernels, equal ones once, and the name of each."""
    functions: dict[str, None] = {}
    texts: dict[tuple[tuple[str, ...], str], str] = {}
    names, sources = [], []
    for kernel in kernels:
        key = kernel.parameters, kernel.body
        if key not in texts:
            texts[key] = f"{kernel.name}_{len(texts)}"
            functions.update(dict.fromkeys(kernel.functions))
            sources.append(kernel.text(texts[key]))
        names.append(texts[key])
    return "".join(functions) + "".join(sources), names


def shape_of(type_: TensorType) -> Shape:
    """The sizes of a static type."""
    sizes: Any = type_.shape
    return tuple(sizes)


def row_major(shape: Sequence[int]) -> Shape:
    """The strides, in elements, of a contiguous array."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def size_of(shape: Sequence[Any]) -> int:
    """The number of elements of a static shape."""
    return int(math.prod(shape))
