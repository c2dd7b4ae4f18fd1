"""Putting something in the place of symbols: sizes that are known, or other dimensions."""

from __future__ import annotations

from collections.abc import Mapping

from .dims import Atom, Size, apply, symbol
from .errors import PlanError


def bind(size: Size, sizes: Mapping[str, int]) -> int:
    """The value of a size for given sizes of its symbols.  Raises PlanError for a missing one."""
    if isinstance(size, int):
        return size
    total = 0
    for monomial, coefficient in size.terms:
        for atom, power in monomial:
            coefficient *= _bind_atom(atom, sizes) ** power
        total += coefficient
    return total


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
