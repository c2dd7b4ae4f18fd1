"""In which order several tensors are contracted, two at a time.

The cost is the number of products, then the number of elements stored; equal costs are decided
by position, so that the order is a function of indices and sizes alone.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence

Indices = frozenset[str]

EXHAUSTIVE = 7
"""Up to so many operands every order is considered: 3**7 splits."""


def contraction_order(
    terms: Sequence[Indices], output: Indices, sizes: Mapping[str, int]
) -> list[tuple[int, int]]:
    """Pairs of operands by number; the result of pair k counts as operand len(terms) + k.

    terms: the indices of each operand.  output: those that are kept to the end.
    """
    if len(terms) <= EXHAUSTIVE:
        return _best(terms, output, sizes)
    return _greedy(terms, output, sizes)


def _size(indices: Iterable[str], sizes: Mapping[str, int]) -> int:
    # An empty axis must not make everything after it free.
    return math.prod(max(sizes[i], 1) for i in indices)


def _best(
    terms: Sequence[Indices], output: Indices, sizes: Mapping[str, int]
) -> list[tuple[int, int]]:
    """The cheapest order, from the cheapest orders of all sets of operands."""
    count = len(terms)
    whole = (1 << count) - 1
    having = [
        frozenset().union(*(t for k, t in enumerate(terms) if s >> k & 1)) for s in range(whole + 1)
    ]
    kept = [having[s] & (output | having[whole & ~s]) for s in range(whole + 1)]
    # By set: the cost of its cheapest order, and the two parts that this ends with.
    cheapest: list[tuple[int, int, int]] = [(0, 0, 0)] * (whole + 1)
    for s in range(1, whole + 1):
        first = s & -s
        if s == first:
            kept[s] = terms[s.bit_length() - 1]
            continue
        options = []
        part = (s - 1) & s
        while part:
            if part & first:
                a, b = cheapest[part], cheapest[s & ~part]
                products = _size(kept[part] | kept[s & ~part], sizes)
                options.append((a[0] + b[0] + products, a[1] + b[1], part))
            part = (part - 1) & s
        products, stored, part = min(options)
        cheapest[s] = products, stored + _size(kept[s], sizes), part
    return _listed(cheapest, whole, count)


def _listed(cheapest: Sequence[tuple[int, int, int]], s: int, count: int) -> list[tuple[int, int]]:
    order: list[tuple[int, int]] = []

    def visit(s: int) -> int:
        if s & (s - 1) == 0:
            return s.bit_length() - 1
        part = cheapest[s][2]
        a, b = visit(part), visit(s & ~part)
        order.append((min(a, b), max(a, b)))
        return count + len(order) - 1

    if count:
        visit(s)
    return order


def _greedy(
    terms: Sequence[Indices], output: Indices, sizes: Mapping[str, int]
) -> list[tuple[int, int]]:
    """At each step the pair whose result takes least more memory than the two."""
    alive: dict[int, Indices] = dict(enumerate(terms))
    having: dict[str, int] = {}
    for term in terms:
        for index in term:
            having[index] = having.get(index, 0) + 1

    def result(a: int, b: int) -> Indices:
        both = alive[a] & alive[b]
        return (alive[a] | alive[b]) - {i for i in both if having[i] == 2 and i not in output}

    def option(a: int, b: int) -> tuple[int, int, int, int]:
        grown = _size(result(a, b), sizes) - _size(alive[a], sizes) - _size(alive[b], sizes)
        return grown, _size(alive[a] | alive[b], sizes), a, b

    # What a pair keeps depends on others only through indices that these still have later.
    options = [option(a, b) for a in alive for b in alive if a < b]
    heapq.heapify(options)
    order: list[tuple[int, int]] = []
    while len(alive) > 1:
        _, _, a, b = heapq.heappop(options)
        if a not in alive or b not in alive:
            continue
        made = result(a, b)
        for index in alive[a] & alive[b]:
            having[index] -= 1 if index in made else 2
        del alive[a], alive[b]
        new = len(terms) + len(order)
        alive[new] = made
        order.append((a, b))
        for other in alive:
            if other != new:
                heapq.heappush(options, option(other, new))
    return order
