"""What einsum is asked for: the indices of each operand and of the result.

Reads a text ("ij,jk->ik") or lists of integers.  Knows ranks, and neither sizes nor tensors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.errors import ArgumentError, ShapeError, UsageError

Index = str | int
Term = tuple[Index | EllipsisType, ...]


class Subscripts(NamedTuple):
    """The indices of each operand's axes and of the result's, the ellipsis spelt out.

    An index is a letter or the text of a number; the axes of the ellipsis are called "...0",
    "...1" from the last one on, as they broadcast.
    """

    operands: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]


def from_text(text: str, ranks: Sequence[int]) -> Subscripts:
    """The subscripts that a text means for operands of these ranks.  Raises GraphError."""
    left, arrow, right = text.partition("->")
    if "->" in right:
        raise ArgumentError("more than one arrow", expected="'->' once at most", found=repr(text))
    terms = [_term(part, text) for part in left.split(",")]
    return _resolved(terms, _term(right, text) if arrow else None, ranks, repr(text))


def from_lists(
    terms: Sequence[Any], output: Sequence[Any] | None, ranks: Sequence[int]
) -> Subscripts:
    """The same for lists of integers, in which Ellipsis may stand.  Raises GraphError."""
    shown = ", ".join(map(str, [*terms, *([] if output is None else [output])]))
    read = [_listed(term) for term in terms]
    return _resolved(read, None if output is None else _listed(output), ranks, shown)


def _term(part: str, text: str) -> Term:
    found = re.findall(r"\.\.\.|\S", part)
    for index in found:
        if index != "..." and not index.isalpha():
            raise ArgumentError(
                f"{index!r} is no index",
                expected="letters and '...', operands apart by ',' and the result after '->'",
                found=repr(text),
            )
    return tuple(... if index == "..." else index for index in found)


def _listed(term: Any) -> Term:
    if not isinstance(term, list | tuple | np.ndarray):
        raise UsageError(
            "not a list of indices",
            expected="after each operand a list of integers",
            found=f"{term!r:.80}, a {type(term).__name__}",
            hint="or a text first: einsum('ij,jk->ik', a, b)",
        )
    for index in term:
        number = isinstance(index, int | np.integer) and not isinstance(index, bool)
        if not (index is ... or (number and index >= 0)):
            raise UsageError(
                f"{index!r} is no index",
                expected="integers of at least 0, and Ellipsis",
                found=str(term),
            )
    return tuple(index if index is ... else int(index) for index in term)


def _resolved(
    terms: Sequence[Term], output: Term | None, ranks: Sequence[int], shown: str
) -> Subscripts:
    """Subscripts of which each axis has an index.  Raises ArgumentError, ShapeError."""
    if len(terms) != len(ranks):
        raise ArgumentError(
            "not the subscripts of as many operands as there are",
            expected=f"subscripts of {len(ranks)}",
            found=f"of {len(terms)}: {shown}",
        )
    spread = [
        _unnamed(term, rank, k, shown)
        for k, (term, rank) in enumerate(zip(terms, ranks, strict=True))
    ]
    widest = max(spread, default=0)
    if output is None:
        counted = Counter(i for term in terms for i in term if i is not ...)
        # An operand's subscripts are all letters or all numbers.
        once: list[Any] = [index for index, times in counted.items() if times == 1]
        output = (..., *sorted(once))
    elif widest and ... not in output:
        raise ArgumentError(
            "the result has no place for the axes of the ellipsis",
            expected="'...' in the result's subscripts",
            found=shown,
        )
    else:
        _check_output(output, terms, shown)
    return Subscripts(
        tuple(_spelt(term, count) for term, count in zip(terms, spread, strict=True)),
        _spelt(output, widest),
    )


def _unnamed(term: Term, rank: int, k: int, shown: str) -> int:
    """How many axes the ellipsis of operand k stands for."""
    named = sum(i is not ... for i in term)
    if len(term) - named > 1:
        raise ArgumentError("an ellipsis twice", expected="'...' once an operand", found=shown)
    open_ended = len(term) > named
    if rank < named or (rank > named and not open_ended):
        raise ShapeError(
            f"operand {k} has another rank than its subscripts",
            expected=f"rank {named}" + (" or more" if open_ended else ""),
            found=f"rank {rank}, for {shown}",
            hint="'...' stands for axes without a letter" if rank > named else None,
        )
    return rank - named


def _check_output(output: Term, terms: Sequence[Term], shown: str) -> None:
    known = {i for term in terms for i in term}
    for index, times in Counter(output).items():
        name = "..." if index is ... else index
        if times > 1:
            raise ArgumentError(
                f"index {name!r} stands twice in the result",
                expected="each index of the result once",
                found=shown,
            )
        if index is not ... and index not in known:
            raise ArgumentError(
                f"index {name!r} of the result is no operand's",
                expected="indices that an operand has",
                found=shown,
            )


def _spelt(term: Term, count: int) -> tuple[str, ...]:
    spelt: list[str] = []
    for index in term:
        if isinstance(index, EllipsisType):
            spelt += [f"...{k}" for k in reversed(range(count))]
        else:
            spelt.append(str(index))
    return tuple(spelt)
