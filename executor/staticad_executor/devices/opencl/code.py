"""Text under construction: statements in blocks, names for what is computed, and the functions
that the text calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from staticad_schema.types import DType

from .scalars import register_type


class Var(NamedTuple):
    """A value in registers: an expression without effects, in parentheses where it needs them.

    lanes: 1 if it is the same for all elements of a vector.
    """

    text: str
    dtype: DType
    lanes: int = 1


class Code:
    """Statements.  What was named once is not computed again where its name can be seen."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.functions: dict[str, str] = {}
        self._depth = 1
        self._count = 0
        self._scopes: list[dict[object, Var | str]] = [{}]

    def line(self, text: str) -> None:
        """One statement."""
        self.lines.append("  " * self._depth + text)

    def fresh(self, stem: str) -> str:
        """A name that is not used yet."""
        self._count += 1
        return f"{stem}{self._count}"

    def named(self, text: str, dtype: DType, lanes: int = 1) -> Var:
        """A variable that holds the expression."""
        if text.isidentifier():
            return Var(text, dtype, lanes)
        known = self.known((text, lanes))
        if isinstance(known, Var):
            return known
        name = self.fresh("v")
        self.line(f"const {register_type(dtype, lanes)} {name} = {text};")
        found = Var(name, dtype, lanes)
        self.learn((text, lanes), found)
        return found

    def index(self, text: str, index_type: str) -> str:
        """A variable that holds an index."""
        if text.isidentifier() or text.isdigit():
            return text
        known = self.known((text, index_type))
        if isinstance(known, str):
            return known
        name = self.fresh("i")
        self.line(f"const {index_type} {name} = {text};")
        self.learn((text, index_type), name)
        return name

    def known(self, key: object) -> Var | str | None:
        """What was learnt of a key in the blocks around here."""
        for scope in reversed(self._scopes):
            if key in scope:
                return scope[key]
        return None

    def learn(self, key: object, value: Var | str) -> None:
        """Remember something to the end of this block."""
        self._scopes[-1][key] = value

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Statements between braces."""
        self.line(head + " {" if head else "{")
        self._depth += 1
        self._scopes.append({})
        yield
        self._scopes.pop()
        self._depth -= 1
        self.line("}")

    def function(self, name: str, text: str) -> str:
        """The name of a function, which is written before the kernel."""
        self.functions.setdefault(name, text)
        return name
