"""Values of attributes: whether one is of the kind that the op's signature says, which are the
same bit for bit, and the symbolic sizes in them.

Signatures are read as they are written: `Ints`, `int | Dim`, `tuple[tuple[int, int], ...]`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .binding import bind
from .dims import Dim, Size
from .op import FunctionRef

Test = Callable[[Any], bool]

MAX_DEPTH = 8
"""Tuples in attributes are not nested more deeply, in files and in text."""

# Arrays up to this many bytes are compared by content, larger ones by identity.
SHARED_BYTES = 256


def _is_int(value: Any) -> bool:
    return type(value) is int


def _is_size(value: Any) -> bool:
    return type(value) is int or isinstance(value, Dim)


_WORDS: dict[str, Test] = {
    "None": lambda value: value is None,
    "bool": lambda value: type(value) is bool,
    "int": _is_int,
    # An integer is a number too: `pad(x, value=0)`.
    "float": lambda value: type(value) in (bool, int, float),
    "str": lambda value: type(value) is str,
    "Dim": lambda value: isinstance(value, Dim),
    "RunTimeSize": lambda value: isinstance(value, Dim) and value.symbol() is not None,
    "Size": _is_size,
    "DType": lambda value: isinstance(value, np.dtype),
    "ArrayValue": lambda value: isinstance(value, np.ndarray),
    "FunctionRef": lambda value: type(value) is FunctionRef,
}
_NAMES = {
    "Ints": "tuple[int, ...]",
    "Shape": "tuple[Size, ...]",
    "SymbolicShape": "tuple[Size, ...]",
    "Widths": "tuple[tuple[Size, Size], ...]",
    "Slices": "tuple[tuple[Size | None, Size | None, int], ...]",
    "np.dtype": "DType",
    "np.dtype[Any]": "DType",
    "np.ndarray[Any, Any]": "ArrayValue",
}


def conforms(value: Any, annotation: str) -> bool:
    """Whether `value` fits the annotation.  Raises TypeError for one that is not understood."""
    return _test(annotation)(value)


@cache
def _test(annotation: str) -> Test:
    text = annotation.strip()
    text = _NAMES.get(text, text)
    choices = _split(text, "|")
    if len(choices) > 1:
        tests = [_test(choice) for choice in choices]
        return lambda value: any(test(value) for test in tests)
    if text in _WORDS:
        return _WORDS[text]
    head, _, inside = text.partition("[")
    parts = _split(inside[:-1], ",") if inside.endswith("]") else []
    if head == "tuple" and len(parts) == 2 and parts[1] == "...":
        each = _test(parts[0])
        return lambda value: type(value) is tuple and all(map(each, value))
    if head == "tuple" and parts:
        tests = [_test(part) for part in parts]
        return lambda value: (
            type(value) is tuple
            and len(value) == len(tests)
            and all(test(v) for test, v in zip(tests, value, strict=True))
        )
    if head == "Literal" and parts:
        words = {part.strip("'\"") for part in parts}
        return lambda value: type(value) is str and value in words
    raise TypeError(f"the annotation of an attribute is not understood: {annotation}")


def _split(text: str, separator: str) -> list[str]:
    """The parts of `text` between separators that are outside brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == separator and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def is_symbolic(value: Any) -> bool:
    """Whether an attribute holds a symbolic size."""
    if isinstance(value, tuple):
        return any(map(is_symbolic, value))
    return isinstance(value, Dim)


def symbols_in(value: Any) -> set[str]:
    """The symbols of the sizes in an attribute."""
    if isinstance(value, tuple):
        return set().union(*map(symbols_in, value))
    return value.symbols() if isinstance(value, Dim) else set()


def with_sizes(value: Any, replaced: Callable[[Dim], Size]) -> Any:
    """The attribute with every symbolic size in it replaced; itself if it holds none."""
    if isinstance(value, Dim):
        return replaced(value)
    if type(value) is tuple:
        items = tuple([with_sizes(item, replaced) for item in value])
        if any(new is not old for new, old in zip(items, value, strict=True)):
            return items
    return value


def bound(attributes: dict[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The attributes with the values of their symbolic sizes; themselves if they hold none.

    Raises PlanError for a symbol that has no size.
    """
    if not any(map(is_symbolic, attributes.values())):
        return attributes
    return {k: with_sizes(v, lambda dim: bind(dim, sizes)) for k, v in attributes.items()}


def resolved(value: Any, function: Callable[[str], Any]) -> Any:
    """The attribute with functions in place of their names."""
    if type(value) is FunctionRef:
        return function(value)
    if type(value) is tuple and value and type(value[0]) is FunctionRef:
        return tuple(map(function, value))
    return value


def float_bits(value: float) -> int:
    """The bits of an IEEE double."""
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return bits


def identity(value: Any, large: int = SHARED_BYTES) -> Hashable:
    """A key that is equal for attributes that are the same bit for bit, and only for those.

    Arrays of more than `large` bytes are the same only if they are one object.
    """
    if isinstance(value, tuple | list):
        return tuple([identity(item, large) for item in value])
    if isinstance(value, np.ndarray):
        if value.nbytes > large:
            return np.ndarray, id(value)
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, float | np.floating):
        return float, float_bits(float(value))
    if isinstance(value, np.bool_):
        return bool, bool(value)
    return type(value), value
