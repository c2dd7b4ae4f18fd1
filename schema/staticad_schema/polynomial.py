"""Integer polynomials: the arithmetic beneath dimensions.

A polynomial is a table of monomials and their coefficients.  What an atom is, `dims` says;
here it is ordered by its text, so that equal polynomials are written alike in every process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from typing import TypeVar

from .errors import ShapeError

A = TypeVar("A", bound=Hashable)
"""The atoms: names, and things that are written as calls are."""

# The powers of the atoms, in order: (("batch", 1), ("time", 2)).
Monomial = tuple[tuple[A, int], ...]
Terms = dict[Monomial[A], int]
Ordered = tuple[tuple[Monomial[A], int], ...]

# What a hostile file says must not take for ever to multiply out.
_MAX_TERMS = 1000
# Nor must a division go on (x**1000 by x + y); a longer quotient counts as none.
_MAX_QUOTIENT = 200

FUNCTIONS = ("floordiv", "mod", "min", "max", "broadcast")
"""What calls are written with; a name that is the same is quoted."""

PLAIN = re.compile(r"[^\W\d]\w*")
"""A name that is written without quotes."""


def added(a: Terms[A], b: Terms[A], sign: int = 1) -> Terms[A]:
    """a + b, or a - b; made of a, which is used up."""
    for monomial, coefficient in b.items():
        a[monomial] = a.get(monomial, 0) + sign * coefficient
    return a


def multiplied(a: Terms[A], b: Terms[A]) -> Terms[A]:
    """a * b.  Raises ShapeError where that has too many terms."""
    if len(a) * len(b) > _MAX_TERMS:
        raise ShapeError(
            "a dimension's polynomial has too many terms",
            expected=f"products of at most {_MAX_TERMS} terms",
            found=f"{len(a)} times {len(b)} terms",
        )
    product: Terms[A] = {}
    for left, x in a.items():
        for right, y in b.items():
            monomial = _times(left, right)
            product[monomial] = product.get(monomial, 0) + x * y
    return product


def quotient(a: Terms[A], b: Terms[A]) -> Terms[A] | None:
    """q with a = q * b, or None where there is none with integer coefficients; uses up a."""
    if not b:
        return None
    lead = max(b, key=_order)
    found: Terms[A] = {}
    while a:
        if len(found) > _MAX_QUOTIENT:
            return None
        top = max(a, key=_order)
        monomial = _over(top, lead)
        if monomial is None or a[top] % b[lead]:
            return None
        coefficient = a[top] // b[lead]
        found[monomial] = found.get(monomial, 0) + coefficient
        for m, c in b.items():
            t = _times(monomial, m)
            left = a.get(t, 0) - coefficient * c
            if left:
                a[t] = left
            else:
                a.pop(t, None)
    return found


def ordered(terms: Terms[A]) -> Ordered[A]:
    """The terms that are not zero, in the one order."""
    kept = [(m, c) for m, c in terms.items() if c]
    return tuple(sorted(kept, key=lambda term: _order(term[0]), reverse=True))


def text(terms: Ordered[A]) -> str:
    """The polynomial as it is written: "2*batch*time + 1"."""
    written = ""
    for monomial, coefficient in terms:
        factors = [
            _atom_text(atom) + (f"**{power}" if power > 1 else "") for atom, power in monomial
        ]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = "-" if coefficient < 0 else "+"
        written += (f" {sign} " if written else "-" * (sign == "-")) + "*".join(factors)
    return written


def _atom_text(atom: Hashable) -> str:
    if not isinstance(atom, str) or (PLAIN.fullmatch(atom) and atom not in FUNCTIONS):
        return str(atom)
    return json.dumps(atom, ensure_ascii=False)


def _order(monomial: Monomial[A]) -> tuple[int, list[tuple[str, int]]]:
    """The graded lexicographic order, which division needs: a < b implies a*c < b*c."""
    powers = [(_atom_text(a), p) for a, p in monomial]
    return sum(p for _, p in monomial), sorted(powers, reverse=True)


def _times(a: Monomial[A], b: Monomial[A]) -> Monomial[A]:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return _monomial(powers)


def _over(a: Monomial[A], b: Monomial[A]) -> Monomial[A] | None:
    powers = dict(a)
    for atom, power in b:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        if left:
            powers[atom] = left
        else:
            del powers[atom]
    return _monomial(powers)


def _monomial(powers: dict[A, int]) -> Monomial[A]:
    return tuple(sorted(powers.items(), key=lambda item: _atom_text(item[0])))
