"""Dimensions read from the text that `str` writes of them.

The text may be anybody's, so it is short, not nested deeply, and holds no number beyond a
size's range.
"""

from __future__ import annotations

import json
import re

from .dims import MAX_DEPTH, Dim, Size, apply, symbol
from .errors import FormatError
from .polynomial import FUNCTIONS, PLAIN

MAX_TEXT = 1000
"""Longer texts are neither written to files nor read."""

_TOKEN = re.compile(r'\s*(?:([0-9]+)|([^\W\d]\w*)|("(?:[^"\\]|\\.)*")|(\*\*|[-+*(),]))')
_NUMBER = re.compile("[0-9]+")
_LARGEST = 1 << 63


def parse(text: str) -> Size:
    """The size that `str` wrote.  Raises FormatError, ShapeError."""
    if len(text) > MAX_TEXT:
        raise FormatError(
            "the text of a dimension is too long",
            expected=f"{MAX_TEXT} characters at most",
            found=repr(text[:100]),
        )
    tokens = _tokenize(text)
    size, at = _parse_sum(tokens, 0, 0)
    if at != len(tokens):
        raise FormatError("not a dimension", expected="an end", found=repr(text[:200]))
    return size


def _tokenize(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FormatError(
                "not a dimension", expected="sizes, names, + - * **", found=repr(text[:200])
            )
        tokens.append(match.group().strip())
        at = match.end()
    return tokens


def _parse_sum(tokens: list[str], at: int, depth: int) -> tuple[Size, int]:
    if depth > MAX_DEPTH:
        raise FormatError(
            "a dimension is nested too deeply", expected=f"{MAX_DEPTH} levels at most"
        )
    total: Size = 0
    sign = 1
    if at < len(tokens) and tokens[at] == "-":
        sign, at = -1, at + 1
    while True:
        term, at = _parse_product(tokens, at, depth)
        total = total + sign * term
        if at < len(tokens) and tokens[at] in "+-":
            sign, at = (1 if tokens[at] == "+" else -1), at + 1
        else:
            return total, at


def _parse_product(tokens: list[str], at: int, depth: int) -> tuple[Size, int]:
    term: Size = 1
    while True:
        factor, at = _parse_atom(tokens, at, depth)
        if at + 1 < len(tokens) and tokens[at] == "**":
            power = tokens[at + 1]
            if not _NUMBER.fullmatch(power) or len(power) > 2:
                raise FormatError("not a power", expected="a small integer", found=power[:20])
            at += 2
            for _ in range(int(power)):
                term = term * factor
        else:
            term = term * factor
        if at < len(tokens) and tokens[at] == "*":
            at += 1
        else:
            return _within_range(term), at


def _within_range(size: Size) -> Size:
    coefficients = [c for _, c in size.terms] if isinstance(size, Dim) else [size]
    if any(abs(c) > _LARGEST for c in coefficients):
        raise FormatError("a size is too large", expected="at most 2**63", found="more")
    return size


def _parse_atom(tokens: list[str], at: int, depth: int) -> tuple[Size, int]:
    if at >= len(tokens):
        raise FormatError("a dimension ends early", expected="a size or a name", found="the end")
    token = tokens[at]
    if _NUMBER.fullmatch(token):
        if len(token) > 19:
            raise FormatError("a size is too large", expected="at most 2**63", found=token[:30])
        return int(token), at + 1
    if token in FUNCTIONS and at + 1 < len(tokens) and tokens[at + 1] == "(":
        left, at = _parse_sum(tokens, at + 2, depth + 1)
        at = _expect(tokens, at, ",")
        right, at = _parse_sum(tokens, at, depth + 1)
        return apply(token, left, right), _expect(tokens, at, ")")
    if token[0] == '"' and len(token) > 2:
        try:
            return symbol(json.loads(token)), at + 1
        except ValueError:
            raise FormatError("not a name", expected="JSON text", found=token[:50]) from None
    if PLAIN.fullmatch(token):
        return symbol(token), at + 1
    raise FormatError("not a dimension", expected="a size or a name", found=token[:50])


def _expect(tokens: list[str], at: int, what: str) -> int:
    if at >= len(tokens) or tokens[at] != what:
        found = tokens[at] if at < len(tokens) else "the end"
        raise FormatError("not a dimension", expected=repr(what), found=found[:50])
    return at + 1
