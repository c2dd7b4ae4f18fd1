"""The values of attributes as text, and back: exact, and never evaluated as code.

    None True -3 0.5 -inf nan:7ff8000000000000 "text" float32 <2*batch> &"body" (1, (2, 3))
    float32[2]{0.5, nan:7fc00000}    an array, element by element
    float32[1000]#AACAPwAA...        a larger one: base64 of its little-endian bytes

A float is a NaN's bits or the shortest decimal that rounds back to it; a complex element
is a pair.
"""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Any

import numpy as np

from .attributes import MAX_DEPTH, float_bits
from .dim_parser import parse
from .dims import Dim, Shape
from .errors import FormatError
from .op import FunctionRef
from .tensors import from_octets, octets_of
from .types import INTEGER, KINDS, MAX_RANK, NAMES, REAL_OF, Array, DType, TensorType

# Arrays of more elements than this are written as bytes.
SPELLED = 16
MAX_BYTES = 1 << 26

_NUMBER = re.compile(r"-?(?:inf|[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)")
_NAN = re.compile(r"nan:([0-9a-f]+)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_BASE64 = re.compile(r"#([A-Za-z0-9+/=]*)")


def string_text(text: str) -> str:
    """The text as a JSON string, on one line."""
    return json.dumps(text, ensure_ascii=False)


def value_text(value: Any, short: bool = False) -> str:
    """An attribute's value; with `short`, large arrays are left out.  Raises FormatError."""
    if value is None or isinstance(value, bool | np.bool_):
        return str(value)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        return f"nan:{float_bits(number):016x}" if math.isnan(number) else repr(number)
    if isinstance(value, FunctionRef):
        return "&" + string_text(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, Dim):
        return f"<{value}>"
    if isinstance(value, tuple | list):
        items = [value_text(item, short) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, np.ndarray):
        return _array_text(value, short)
    raise FormatError(
        "a value that has no text form",
        expected="None, bool, int, float, str, dtype, dimension, function, array, tuple",
        found=type(value).__name__,
    )


def _array_text(array: Array, short: bool) -> str:
    head = str(TensorType(array.dtype, array.shape))
    if array.size <= SPELLED:
        return head + "{" + ", ".join(map(_element_text, array.reshape(-1))) + "}"
    if short:
        return head + "{...}"
    if array.nbytes > MAX_BYTES:
        raise FormatError(
            "a constant is too large for text",
            expected=f"{MAX_BYTES} bytes at most; save the graph as a .sad file",
            found=f"{array.nbytes} bytes",
        )
    return f"{head}#{base64.b64encode(octets_of(array).data).decode()}"


def _element_text(element: Any) -> str:
    kind = KINDS[element.dtype]
    if kind == "bool":
        return str(bool(element))
    if kind in INTEGER:
        return str(int(element))
    if kind == "complex":
        return f"({_element_text(element.real)}, {_element_text(element.imag)})"
    number = float(element)
    if math.isnan(number):
        size = element.dtype.itemsize
        bits = int.from_bytes(element.astype(element.dtype.newbyteorder("<")).tobytes(), "little")
        return f"nan:{bits:0{2 * size}x}"
    # NumPy's shortest decimal for the dtype, unless reading it as a double rounds twice.
    short = str(element)
    return (
        short
        if "." in short and float(element.dtype.type(float(short))) == number
        else repr(number)
    )


class Reader:
    """A line of text and how far it has been read.  All methods raise FormatError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def wrong(self, expected: str) -> FormatError:
        """The error that something else was expected here."""
        found = self.text[self.at : self.at + 40]
        return FormatError("not the text of a graph", expected=expected, found=repr(found))

    def skip(self) -> None:
        """Pass over spaces."""
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1

    def take(self, token: str) -> bool:
        """Whether `token` comes next; it is read if it does."""
        self.skip()
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def need(self, token: str) -> None:
        """Read `token`."""
        if not self.take(token):
            raise self.wrong(repr(token))

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """What matches the pattern here (its first group if it has one), read; or None."""
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[found.re.groups]

    def end(self) -> bool:
        """Whether all has been read."""
        self.skip()
        return self.at == len(self.text)

    def word(self) -> str:
        """A word: a key, an op, a dtype."""
        found = self.match(_WORD)
        if found is None:
            raise self.wrong("a word")
        return found

    def number(self) -> int:
        """An integer of at most 20 digits."""
        text = self.match(_NUMBER)
        if text is None or not text.lstrip("-").isdecimal() or len(text) > 21:
            raise self.wrong("an integer")
        return int(text)

    def string(self) -> str:
        """A quoted text."""
        text = self.match(_STRING)
        if text is None:
            raise self.wrong("a text in quotes")
        try:
            string: str = json.loads(text)
        except ValueError:
            raise self.wrong("a JSON string before this") from None
        return string

    def dim(self, closings: str) -> int | Dim:
        """A dimension up to one of the closing characters, outside of brackets and quotes."""
        self.skip()
        start, depth = self.at, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                if self.match(_STRING) is None:
                    raise self.wrong("a text in quotes")
                continue
            if depth == 0 and char in closings:
                break
            depth += (char == "(") - (char == ")")
            self.at += 1
        text = self.text[start : self.at]
        return parse(text)

    def dtype(self) -> DType:
        """The name of a dtype."""
        name = self.word()
        if name not in NAMES:
            raise FormatError("no dtype", expected=", ".join(NAMES), found=repr(name[:40]))
        return NAMES[name]

    def shape(self) -> Shape:
        """Sizes in square brackets."""
        self.need("[")
        sizes: list[int | Dim] = []
        while not self.take("]"):
            if sizes:
                self.need(",")
            sizes.append(self.dim(",]"))
        if len(sizes) > MAX_RANK:
            raise self.wrong(f"rank {MAX_RANK} at most")
        return tuple(sizes)

    def type(self) -> TensorType:
        """A type, float32[batch, 10]."""
        return TensorType(self.dtype(), self.shape())

    def value(self, depth: int = 0) -> Any:
        """An attribute's value."""
        if depth > MAX_DEPTH:
            raise self.wrong("values that are not nested deeply")
        if self.take("("):
            items: list[Any] = []
            while not self.take(")"):
                if items:
                    self.need(",")
                    if self.take(")"):
                        break
                items.append(self.value(depth + 1))
            return tuple(items)
        if self.take("<"):
            dim = self.dim(">")
            self.need(">")
            return dim
        if self.take("&"):
            return FunctionRef(self.string())
        bits = self.match(_NAN)
        if bits is not None:
            return _nan(bits, np.dtype(np.float64)).item()
        number = self.match(_NUMBER)
        if number is not None:
            return self.plain_number(number)
        if self.text[self.at : self.at + 1] == '"':
            return self.string()
        return self.named()

    def plain_number(self, text: str) -> int | float:
        """An int without point, exponent or inf; else a float."""
        if text.lstrip("-").isdecimal():
            if len(text) > 21:
                raise self.wrong("an integer of 64 bits before this")
            return int(text)
        return float(text)

    def named(self) -> Any:
        """None, a bool, a dtype or an array."""
        word = self.word()
        if word in ("None", "True", "False"):
            return {"None": None, "True": True, "False": False}[word]
        self.at -= len(word)
        dtype = self.dtype()
        return self.array(dtype) if self.text[self.at : self.at + 1] == "[" else dtype

    def array(self, dtype: DType) -> Array:
        """The shape and the elements of an array."""
        shape: Any = self.shape()
        if not all(isinstance(d, int) and d >= 0 for d in shape):
            raise self.wrong("sizes that are integers before this")
        data = self.match(_BASE64)
        if data is not None:
            try:
                octets = base64.b64decode(data, validate=True)
            except ValueError:
                raise self.wrong("base64 before this") from None
        else:
            octets = b"".join(self.elements(dtype))
        array = from_octets(np.frombuffer(octets, np.uint8), dtype, shape)
        array.flags.writeable = False
        return array

    def elements(self, dtype: DType) -> list[bytes]:
        """The little-endian bytes of elements in braces."""
        self.need("{")
        found: list[bytes] = []
        while not self.take("}"):
            if found:
                self.need(",")
            if dtype in REAL_OF:
                self.need("(")
                real = self.element(REAL_OF[dtype])
                self.need(",")
                found.append(real + self.element(REAL_OF[dtype]))
                self.need(")")
            else:
                found.append(self.element(dtype))
        return found

    def element(self, dtype: DType) -> bytes:
        """The little-endian bytes of one element."""
        kind = KINDS[dtype]
        bits = self.match(_NAN) if kind == "float" else None
        if bits is not None:
            element = _nan(bits, dtype)
        else:
            value = self.value(MAX_DEPTH)
            wanted = {"bool": bool, "float": float}.get(kind, int)
            if type(value) is not wanted:
                raise self.wrong(f"an element of {dtype.name} before this")
            with np.errstate(over="ignore"):
                try:
                    element = np.array(value, dtype)
                except OverflowError:
                    raise self.wrong(f"an element that fits {dtype.name} before this") from None
        return element.astype(dtype.newbyteorder("<")).tobytes()


def _nan(bits: str, dtype: DType) -> Array:
    if len(bits) != 2 * dtype.itemsize:
        raise FormatError(
            "not a NaN", expected=f"{2 * dtype.itemsize} hexadecimal digits", found=bits[:40]
        )
    little = np.frombuffer(bytes.fromhex(bits)[::-1], np.uint8)
    return little.view(dtype.newbyteorder("<")).astype(dtype).reshape(())
