"""A kernel's parameters and their arguments, in the order in which they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from staticad_schema.types import DType

from .code import Code
from .memory import stored_type
from .region import Argument, Kernel, LocalBytes, Pointer

NARROW = 1 << 30
"""Sizes below this are counted with 32 bits."""


class Signature:
    """Parameters under construction.

    index_type: the C type of sizes, strides and counters: int, or long where there are more
    elements.
    """

    def __init__(self, largest: int) -> None:
        self.index_type = "int" if largest < NARROW else "long"
        self.arguments: list[Argument] = []
        self.parameters: list[str] = []
        self.prologue: list[str] = []
        self._names: dict[object, str] = {}

    def pointer(self, pointer: Pointer, dtype: DType) -> str:
        """The name of a pointer to the first element."""
        known = self._names.get(pointer)
        if known is not None:
            return known
        name = self._names[pointer] = f"{pointer.kind}{pointer.place}"
        kind = stored_type(dtype)
        constant = "const " if pointer.kind == "operand" else ""
        self.parameters += [f"{constant}__global {kind} *{name}_", f"const ulong {name}_at"]
        self.prologue.append(f"{constant}__global {kind} *{name} = {name}_ + {name}_at;")
        self.arguments.append(pointer)
        return name

    def flag(self) -> str:
        """The name of a pointer to the flag that says that an index was out of range."""
        pointer = Pointer("flag")
        if pointer not in self._names:
            self._names[pointer] = "flag"
            self.parameters += ["volatile __global uint *flag_", "const ulong flag_at"]
            self.prologue.append("volatile __global uint *flag = flag_ + flag_at;")
            self.arguments.append(pointer)
        return "flag"

    def number(self, key: object, value: int) -> str:
        """The name of a size, stride or count; 0 and 1 stand for themselves, always."""
        if value in (0, 1):
            return str(value)
        known = self._names.get(("number", key))
        if known is not None:
            return known
        name = self._names["number", key] = f"n{len(self.parameters)}"
        self.parameters.append(f"const {self.index_type} {name}")
        self.arguments.append(np.int32(value) if self.index_type == "int" else np.int64(value))
        return name

    def word(
        self, name: str, kind: str, value: np.unsignedinteger[Any] | np.signedinteger[Any]
    ) -> str:
        """The name of an argument of a C type of its own, once however often it is asked for."""
        if ("word", name) in self._names:
            return name
        self._names["word", name] = name
        self.parameters.append(f"const {kind} {name}")
        self.arguments.append(value)
        return name

    def local(self, name: str, kind: str, count: int, size: int) -> str:
        """The name of local memory of so many elements."""
        self.parameters.append(f"__local {kind} *{name}")
        self.arguments.append(LocalBytes(max(1, count) * size))
        return name

    def kernel(
        self, name: str, code: Code, global_size: Sequence[int], local_size: Sequence[int]
    ) -> Kernel:
        """The kernel of these parameters and that code."""
        lines = ["  " + line for line in self.prologue] + code.lines
        return Kernel(
            name,
            tuple(code.functions.values()),
            tuple(self.parameters),
            "".join(line + "\n" for line in lines),
            tuple(self.arguments),
            tuple(global_size),
            tuple(local_size),
        )
