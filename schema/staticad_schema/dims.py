"""Sizes that are not known yet: integer polynomials over named symbols.

A dimension of a shape is an `int` or a `Dim`.  A `Dim` is never constant: arithmetic that
ends in a constant gives an `int`, so `isinstance(d, int)` tells which sizes are known.
Atoms of the polynomial are symbols ("batch") and the calls floordiv, mod, min, max and
broadcast of two dimensions, which stay unevaluated until sizes are bound.

Symbols stand for sizes, so they are never negative.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple, Union

from .errors import FormatError, PlanError, ShapeError


class Call(NamedTuple):
    """An unevaluated function of two dimensions, an atom of a polynomial."""

    function: str
    left: Size
    right: Size


Atom = str | Call
# The powers of the atoms, in order: (("batch", 1), ("time", 2)).
Monomial = tuple[tuple[Atom, int], ...]
Size = Union[int, "Dim"]  # a string cannot stand in X | Y at run time
Shape = tuple[Size, ...]

# The number of elements of a hostile shape must not take for ever to multiply out.
_MAX_TERMS = 1000
# Nor a division that goes on (x**1000 by x + y); a longer quotient counts as none.
_MAX_QUOTIENT = 200

FUNCTIONS = ("floordiv", "mod", "min", "max", "broadcast")


class Dim:
    """A polynomial with integer coefficients over symbols and calls; immutable, hashable.

    `==` compares the polynomials, which decides equality of the sizes only where both
    are built from the same atoms; `same_size` also knows "cannot tell".
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Dim) and self.terms == other.terms)

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Size) -> Size:
        return _combine(_terms(self), _terms(other), 1)

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        return _combine(_terms(self), _terms(other), -1)

    def __rsub__(self, other: Size) -> Size:
        return _combine(_terms(other), _terms(self), -1)

    def __neg__(self) -> Size:
        return 0 - self

    def __mul__(self, other: Size) -> Size:
        lefts, rights = _terms(self), _terms(other)
        if len(lefts) * len(rights) > _MAX_TERMS:
            raise ShapeError(
                "a dimension's polynomial has too many terms",
                expected=f"products of at most {_MAX_TERMS} terms",
                found=f"{len(lefts)} times {len(rights)} terms",
            )
        product: dict[Monomial, int] = {}
        for left, a in lefts.items():
            for right, b in rights.items():
                monomial = _times(left, right)
                product[monomial] = product.get(monomial, 0) + a * b
        return _normal(product)

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Size) -> Size:
        return floordiv(other, self)

    def __mod__(self, other: Size) -> Size:
        return modulo(self, other)

    def __bool__(self) -> bool:
        raise ShapeError(
            "the truth of a symbolic dimension is not known when the graph is built",
            expected="a size that is an int",
            found=str(self),
        )

    def __index__(self) -> int:
        raise ShapeError(
            "a symbolic dimension has no value when the graph is built",
            expected="a size that is an int",
            found=str(self),
        )

    def __repr__(self) -> str:
        return f"Dim({str(self)!r})"

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in self.terms:
            factors = [
                _atom_text(atom) + (f"**{power}" if power > 1 else "") for atom, power in monomial
            ]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+"
            text += (f" {sign} " if text else "-" * (sign == "-")) + "*".join(factors)
        return text

    def symbols(self) -> set[str]:
        """Every symbol that occurs, also inside calls."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom, _power in monomial:
                if isinstance(atom, str):
                    found.add(atom)
                else:
                    found |= symbols_of(atom.left) | symbols_of(atom.right)
        return found

    def bind(self, sizes: Mapping[str, int]) -> int:
        """The value for given sizes of all symbols.  Raises PlanError for a missing one."""
        total = 0
        for monomial, coefficient in self.terms:
            for atom, power in monomial:
                coefficient *= _bind_atom(atom, sizes) ** power
            total += coefficient
        return total

    def symbol(self) -> str | None:
        """The symbol's name if this is one bare symbol, else None."""
        if len(self.terms) == 1:
            monomial, coefficient = self.terms[0]
            if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
                atom = monomial[0][0]
                return atom if isinstance(atom, str) else None
        return None


def symbol(name: str) -> Dim:
    """The dimension named `name`, any non-empty text."""
    if not name:
        raise ShapeError("a dimension's name is empty", expected="a name", found="''")
    return Dim((((((name, 1),)), 1),))


def symbols_of(size: Size) -> set[str]:
    """The symbols of a size; none of an int."""
    return set() if isinstance(size, int) else size.symbols()


def bind(size: Size, sizes: Mapping[str, int]) -> int:
    """The value of a size for given sizes of its symbols."""
    return size if isinstance(size, int) else size.bind(sizes)


def bind_shape(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape for given sizes of its symbols."""
    return tuple(d if isinstance(d, int) else d.bind(sizes) for d in shape)


def is_static(shape: Shape) -> bool:
    """Whether every size is an int."""
    return all(isinstance(d, int) for d in shape)


def same_size(a: Size, b: Size) -> bool | None:
    """Whether two sizes are equal: True, False, or None where that depends on the symbols."""
    if a == b:
        return True
    if isinstance(a, int) and isinstance(b, int):
        return False
    difference = _terms(_combine(_terms(a), _terms(b), -1))
    constant = difference.pop((), 0)
    if not difference:
        return constant == 0
    # Symbols and calls are at least zero, so a sum of one sign never meets its opposite.
    if constant > 0 and all(c > 0 and _nonnegative(m) for m, c in difference.items()):
        return False
    if constant < 0 and all(c < 0 and _nonnegative(m) for m, c in difference.items()):
        return False
    return None


def nonnegative(size: Size) -> bool:
    """Whether a size is certain to be at least zero."""
    return all(c > 0 and _nonnegative(m) for m, c in _terms(size).items())


def product(shape: Shape) -> Size:
    """The number of elements of a shape."""
    total: Size = 1
    for d in shape:
        total = total * d
    return total


def floordiv(a: Size, b: Size) -> Size:
    """a // b, rounding down; exact where the polynomial division is."""
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise ShapeError("a size is divided by zero", expected="a non-zero size", found="0")
        return a // b
    quotient = divide_exactly(a, b)
    return quotient if quotient is not None else _call("floordiv", a, b)


def ceildiv(a: Size, b: Size) -> Size:
    """a / b, rounding up."""
    return -floordiv(-a, b)


def modulo(a: Size, b: Size) -> Size:
    """The remainder of a // b."""
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise ShapeError("a size is divided by zero", expected="a non-zero size", found="0")
        return a % b
    return 0 if divide_exactly(a, b) is not None else _call("mod", a, b)


def minimum(a: Size, b: Size) -> Size:
    """The smaller of two sizes, evaluated where their difference is known."""
    return _extremum("min", a, b)


def maximum(a: Size, b: Size) -> Size:
    """The larger of two sizes, evaluated where their difference is known."""
    return _extremum("max", a, b)


def broadcast(a: Size, b: Size) -> Size:
    """The size of two aligned axes under broadcasting.  Raises ShapeError if they cannot fit.

    An int other than 1 decides: the other side has to be 1 or the same when sizes are bound.
    """
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if isinstance(a, int):
        if isinstance(b, int) or (same_size(a, b) is False and same_size(b, 1) is False):
            raise ShapeError(
                "sizes do not broadcast", expected=f"{a}, or 1", found=f"{a} against {b}"
            )
        return a
    if isinstance(b, int):
        return broadcast(b, a)
    return _call("broadcast", *sorted((a, b), key=str))


def divide_exactly(a: Size, b: Size) -> Size | None:
    """The polynomial q with a = q * b, or None where there is none with integer coefficients."""
    remainder, divisor = _terms(a), _terms(b)
    if not divisor:
        return None
    lead = max(divisor, key=_order)
    quotient: dict[Monomial, int] = {}
    while remainder:
        if len(quotient) > _MAX_QUOTIENT:
            return None
        top = max(remainder, key=_order)
        monomial = _over(top, lead)
        if monomial is None or remainder[top] % divisor[lead]:
            return None
        coefficient = remainder[top] // divisor[lead]
        quotient[monomial] = quotient.get(monomial, 0) + coefficient
        for m, c in divisor.items():
            t = _times(monomial, m)
            left = remainder.get(t, 0) - coefficient * c
            if left:
                remainder[t] = left
            else:
                remainder.pop(t, None)
    return _normal(quotient)


def parse(text: str) -> Size:
    """The size that `str` wrote.  Raises FormatError."""
    tokens = _tokenize(text)
    size, at = _parse_sum(tokens, 0, 0)
    if at != len(tokens):
        raise FormatError("not a dimension", expected="an end", found=repr(text[:200]))
    return size


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """The size with symbols replaced by other sizes; symbols not named stay."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for monomial, coefficient in size.terms:
        term: Size = coefficient
        for atom, power in monomial:
            if isinstance(atom, str):
                factor = values.get(atom, symbol(atom))
            else:
                factor = apply(
                    atom.function, substitute(atom.left, values), substitute(atom.right, values)
                )
            for _ in range(power):
                term = term * factor
        total = total + term
    return total


def apply(function: str, a: Size, b: Size) -> Size:
    """The named function of two sizes, evaluated as far as it can be."""
    return _APPLY[function](a, b)


_APPLY = {
    "floordiv": floordiv,
    "mod": modulo,
    "min": minimum,
    "max": maximum,
    "broadcast": broadcast,
}


def _call(function: str, a: Size, b: Size) -> Dim:
    return Dim(((((Call(function, a, b), 1),), 1),))


def _extremum(function: str, a: Size, b: Size) -> Size:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b) if function == "min" else max(a, b)
    if nonnegative(b - a):
        return a if function == "min" else b
    if nonnegative(a - b):
        return b if function == "min" else a
    a, b = sorted((a, b), key=str)
    return _call(function, a, b)


def _bind_atom(atom: Atom, sizes: Mapping[str, int]) -> int:
    if isinstance(atom, str):
        try:
            return sizes[atom]
        except KeyError:
            raise PlanError(
                f"the size of dimension {atom!r} is not known",
                expected="a fed placeholder or a variable whose shape has it",
                found=f"sizes of {', '.join(map(repr, sorted(sizes))) or 'no dimension'}",
            ) from None
    a, b = bind(atom.left, sizes), bind(atom.right, sizes)
    size = apply(atom.function, a, b)
    assert isinstance(size, int)
    return size


def _terms(size: Size) -> dict[Monomial, int]:
    if isinstance(size, Dim):
        return dict(size.terms)
    return {(): int(size)} if size else {}


def _normal(terms: dict[Monomial, int]) -> Size:
    kept = {m: c for m, c in terms.items() if c}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    return Dim(tuple((m, kept[m]) for m in sorted(kept, key=_order, reverse=True)))


def _combine(a: dict[Monomial, int], b: dict[Monomial, int], sign: int) -> Size:
    for monomial, coefficient in b.items():
        a[monomial] = a.get(monomial, 0) + sign * coefficient
    return _normal(a)


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers: dict[Atom, int] = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: _atom_text(item[0])))


def _over(a: Monomial, b: Monomial) -> Monomial | None:
    powers = dict(a)
    for atom, power in b:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        if left:
            powers[atom] = left
        else:
            del powers[atom]
    return tuple(sorted(powers.items(), key=lambda item: _atom_text(item[0])))


def _order(monomial: Monomial) -> tuple[int, list[tuple[str, int]]]:
    """The graded lexicographic order, which division needs: a < b implies a*c < b*c."""
    powers = [(_atom_text(a), p) for a, p in monomial]
    return sum(p for _, p in monomial), sorted(powers, reverse=True)


def _nonnegative(monomial: Monomial) -> bool:
    for atom, _ in monomial:
        if isinstance(atom, str) or atom.function == "mod":
            continue
        sides = nonnegative(atom.left), nonnegative(atom.right)
        if not (any(sides) if atom.function == "max" else all(sides)):
            return False
    return True


_PLAIN = re.compile(r"[^\W\d]\w*")


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Call):
        return f"{atom.function}({atom.left}, {atom.right})"
    if _PLAIN.fullmatch(atom) and atom not in FUNCTIONS:
        return atom
    return json.dumps(atom, ensure_ascii=False)


_TOKEN = re.compile(r'\s*(?:([0-9]+)|([^\W\d]\w*)|("(?:[^"\\]|\\.)*")|(\*\*|[-+*(),]))')
_NUMBER = re.compile("[0-9]+")
_DEPTH = 50


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
    if depth > _DEPTH:
        raise FormatError("a dimension is nested too deeply", expected=f"{_DEPTH} levels at most")
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
            return term, at


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
    if _PLAIN.fullmatch(token):
        return symbol(token), at + 1
    raise FormatError("not a dimension", expected="a size or a name", found=token[:50])


def _expect(tokens: list[str], at: int, what: str) -> int:
    if at >= len(tokens) or tokens[at] != what:
        found = tokens[at] if at < len(tokens) else "the end"
        raise FormatError("not a dimension", expected=repr(what), found=found[:50])
    return at + 1
