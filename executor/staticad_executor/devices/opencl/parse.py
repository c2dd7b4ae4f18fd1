"""The C expressions of elementwise ops as trees.

The language is a small part of C: the operators of numbers and bits, `?:`, calls, `sizeof` of a
name, numbers, and names in braces.  A tree is a nested tuple, so that equal parts compare equal:
("name", n), ("number", text), ("size", tree), ("call", f, *args), (operator, *operands).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

Tree = tuple[Any, ...]

_TOKEN = re.compile(
    r"\s*(\{\w+\}|\d+\.\d*(?:[eE][-+]?\d+)?|\d+|\w+|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),])"
)
# The operators of two operands, those that bind least first.
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="),
    ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip


@lru_cache(maxsize=1024)
def parse(text: str) -> Tree:
    """The tree of an expression.  Raises ValueError if it is not of the language."""
    reader = _Reader(_tokens(text))
    tree = reader.choice()
    if reader.peek():
        raise ValueError(f"unexpected {reader.peek()!r} in {text!r}")
    return tree


def _tokens(text: str) -> list[str]:
    tokens, place = [], 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise ValueError(f"no token at {text[place : place + 20]!r}")
        tokens.append(found.group(1))
        place = found.end()
    return tokens


class _Reader:
    """Recursive descent over tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def expect(self, token: str) -> None:
        found = self.next()
        if found != token:
            raise ValueError(f"expected {token!r}, found {found!r}")

    def choice(self) -> Tree:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.next()
        chosen = self.choice()
        self.expect(":")
        return "?:", condition, chosen, self.choice()

    def binary(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self.unary()
        tree = self.binary(level + 1)
        while self.peek() in _LEVELS[level]:
            tree = (self.next(), tree, self.binary(level + 1))
        return tree

    def unary(self) -> Tree:
        token = self.next()
        if token in ("-", "!", "~"):
            return "neg" if token == "-" else token, self.unary()
        if token == "(":
            if self.peek() == "int":
                # A cast, which only sizes have here.
                self.next()
                self.expect(")")
                return self.unary()
            tree = self.choice()
            self.expect(")")
            return tree
        if token.startswith("{"):
            return "name", token[1:-1]
        if token == "sizeof":
            return "size", self.unary()
        if token[:1].isdigit():
            return "number", token
        return self.call(token)

    def call(self, name: str) -> Tree:
        if not name.isidentifier() or self.peek() != "(":
            raise ValueError(f"unexpected {name!r}")
        self.next()
        arguments = [self.choice()]
        while self.peek() == ",":
            self.next()
            arguments.append(self.choice())
        self.expect(")")
        return "call", name, *arguments
