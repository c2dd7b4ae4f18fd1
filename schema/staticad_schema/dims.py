"""Sizes that are not known yet: integer polynomials over named symbols.

A dimension of a shape is an `int` or a `Dim`.  A `Dim` is never constant: arithmetic that
ends in a constant gives an `int`, so `isinstance(d, int)` tells which sizes are known.
Atoms of the polynomial are symbols ("batch") and the calls floordiv, mod, min, max and
broadcast of two dimensions, which stay unevaluated until sizes are bound.

Symbols stand for sizes, so they are never negative.  `dim_parser` reads what `str` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral, Number
from typing import Any, ClassVar, NamedTuple, Never, Union

from . import polynomial
from .errors import ShapeError, UsageError
from .sites import user_site


class Call(NamedTuple):
    """An unevaluated function of two dimensions, an atom of a polynomial."""

    function: str
    left: Size
    right: Size

    @property
    def weight(self) -> int:
        """How many names, calls and terms it consists of."""
        return 1 + sum(1 if isinstance(d, int) else d.weight for d in (self.left, self.right))

    @property
    def depth(self) -> int:
        """How many calls are inside each other, itself among them."""
        return 1 + max(0 if isinstance(d, int) else d.depth for d in (self.left, self.right))

    def __str__(self) -> str:
        return f"{self.function}({self.left}, {self.right})"


Atom = str | Call
Monomial = polynomial.Monomial[Atom]
Terms = polynomial.Terms[Atom]
Size = Union[int, "Dim"]  # a string cannot stand in X | Y at run time
Shape = tuple[Size, ...]

# A short text of calls of powers of calls must not grow by a factor at each level.
_MAX_WEIGHT = 2000
MAX_DEPTH = 50
"""Calls are nested no more deeply: what walks through them recurses."""


class Dim:
    """A polynomial with integer coefficients over symbols and calls; immutable, hashable.

    `==` compares the polynomials, which decides equality of the sizes only where both
    are built from the same atoms; `same_size` also knows "cannot tell".

    weight: its terms and atoms, those inside calls among them.  depth: how many calls are
    inside each other.  Raises ShapeError where one is too large.
    """

    __slots__ = ("_hash", "_text", "depth", "terms", "weight")

    def __init__(self, terms: polynomial.Ordered[Atom]) -> None:
        self.terms = terms
        # Written when first asked for, since atoms are ordered by their text.
        self._text: str | None = None
        self.weight = sum(
            1 + sum(1 if isinstance(atom, str) else atom.weight for atom, _ in monomial)
            for monomial, _ in terms
        )
        if self.weight > _MAX_WEIGHT:
            raise ShapeError(
                "a dimension's polynomial has too many terms",
                expected=f"at most {_MAX_WEIGHT} terms, names and calls",
                found=str(self.weight),
            )
        calls = [atom for m, _ in terms for atom, _ in m if not isinstance(atom, str)]
        self.depth = max((call.depth for call in calls), default=0)
        if self.depth > MAX_DEPTH:
            raise ShapeError(
                "a dimension is nested too deeply",
                expected=f"{MAX_DEPTH} calls in each other at most",
                found=str(self)[:100],
            )
        self._hash = hash(terms)

    def __reduce__(self) -> tuple[object, ...]:
        # The hashes of texts are another process's own.
        return Dim, (self.terms,)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Dim) and self.terms == other.terms)

    def __hash__(self) -> int:
        return self._hash

    # ndarray + Dim must ask the Dim, not build an array of objects.
    __array_ufunc__: ClassVar[None] = None

    # The operators leave a tensor to the other side; what has no value yet meets no other number.

    def __add__(self, other: Size) -> Size:
        given = _operand(other)
        both = None if given is None else polynomial.added(_terms(self), _terms(given))
        return self._refuse(other) if both is None else _size(both)

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        given = _operand(other)
        return self._refuse(other) if given is None else self + -1 * given

    def __rsub__(self, other: Size) -> Size:
        return -self + other

    def __neg__(self) -> Size:
        return self * -1

    def __mul__(self, other: Size) -> Size:
        given = _operand(other)
        both = None if given is None else polynomial.multiplied(_terms(self), _terms(given))
        return self._refuse(other) if both is None else _size(both)

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        given = _operand(other)
        return self._refuse(other) if given is None else floordiv(self, given)

    def __rfloordiv__(self, other: Size) -> Size:
        given = _operand(other)
        return self._refuse(other) if given is None else floordiv(given, self)

    def __mod__(self, other: Size) -> Size:
        given = _operand(other)
        return self._refuse(other) if given is None else modulo(self, given)

    def __rmod__(self, other: Size) -> Size:
        given = _operand(other)
        return self._refuse(other) if given is None else modulo(given, self)

    # Type checkers refuse what is refused here: nothing is a `Never`.

    def __truediv__(self, other: Never) -> Any:
        return self._refuse(other)

    __rtruediv__ = __pow__ = __rpow__ = __truediv__
    __lt__ = __le__ = __gt__ = __ge__ = __truediv__

    def _refuse(self, other: object) -> Any:
        """Raises UsageError for numbers and arrays of them; NotImplemented for what is neither."""
        if isinstance(other, Number | Dim) or hasattr(other, "__array_interface__"):
            raise UsageError(
                "a symbolic dimension has no value when the graph is built",
                asked="use of a size as a number",
                expected="sizes and ints, with + - * // or %",
                found=f"{self!r} and {other!r:.80}",
                site=user_site(),
                hint="sad.constant(size, dtype='float64') is its value in each run, a tensor",
            )
        return NotImplemented

    def __bool__(self) -> bool:
        raise ShapeError(
            "the truth of a symbolic dimension is not known when the graph is built",
            asked="use of a size as a condition",
            expected="a size that is an int",
            found=repr(self),
            site=user_site(),
        )

    def __index__(self) -> int:
        raise ShapeError(
            "a symbolic dimension has no value when the graph is built",
            asked="use of a size as a number",
            expected="a size that is an int",
            found=repr(self),
            site=user_site(),
            hint="functions take it as it is: sad.zeros(x.shape), sad.arange(x.shape[0])",
        )

    def __repr__(self) -> str:
        return f"Dim({str(self)!r})"

    def __str__(self) -> str:
        if self._text is None:
            self._text = polynomial.text(self.terms)
        return self._text

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


def same_size(a: Size, b: Size) -> bool | None:
    """Whether two sizes are equal: True, False, or None where that depends on the symbols."""
    if a == b:
        return True
    if isinstance(a, int) and isinstance(b, int):
        return False
    difference = _terms(_size(polynomial.added(_terms(a), _terms(b), -1)))
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


def total(sizes: Iterable[Size]) -> Size:
    """The sum of sizes; in one step, since each addition sorts all terms."""
    terms: Terms = {}
    for size in sizes:
        polynomial.added(terms, _terms(size))
    return _size(terms)


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
    found = polynomial.quotient(_terms(a), _terms(b))
    return None if found is None else _size(found)


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
    for size, other in ((a, b), (b, a)):
        # Of max(max(x, -1), 0) the -1 may go, of max(max(x, 1), 0) the 0: so a chain of slices
        # does not nest.
        for kept, side in _sides(function, size):
            gap = other - side if function == "max" else side - other
            if nonnegative(gap):
                return _extremum(function, kept, other)
            if nonnegative(-gap):
                return size
    a, b = sorted((a, b), key=str)
    return _call(function, a, b)


def _sides(function: str, size: Size) -> Iterator[tuple[Size, Size]]:
    """For a size max(x, y) + rest: x + rest and y + rest, of which it is the maximum, either way
    round; none for a size of another form.  For min likewise."""
    for monomial, coefficient in () if isinstance(size, int) else size.terms:
        atom, power = monomial[0] if len(monomial) == 1 else ("", 0)
        if isinstance(atom, Call) and atom.function == function and coefficient == power == 1:
            rest = size - Dim(((monomial, 1),))
            yield atom.left + rest, atom.right + rest
            yield atom.right + rest, atom.left + rest


def _operand(given: object) -> Size | None:
    """A size, of NumPy's integers too; None for what is none."""
    if isinstance(given, int | Dim):
        return given
    return int(given) if isinstance(given, Integral) else None


def _terms(size: Size) -> Terms:
    """The terms in a table of their own."""
    if isinstance(size, Dim):
        return dict(size.terms)
    return {(): size} if size else {}


def _size(terms: Terms) -> Size:
    """The polynomial as a size: an int if it is constant."""
    kept = polynomial.ordered(terms)
    if not kept:
        return 0
    return kept[0][1] if kept[0][0] == () else Dim(kept)


def _nonnegative(monomial: Monomial) -> bool:
    for atom, _ in monomial:
        if isinstance(atom, str):
            continue
        # A remainder has the sign of its divisor.
        left = atom.function == "mod" or nonnegative(atom.left)
        sides = left, nonnegative(atom.right)
        if not (any(sides) if atom.function == "max" else all(sides)):
            return False
    return True
