"""What to compute again, so that the peak gets lower at little extra time.

Where most memory is in use, of the values that wait there for a later use one is dropped and
computed again before that use, from what is there then: the one that frees the most bytes for
the longest at the least cost, of those by which the peak gets lower.  That is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .lifetimes import Lifetimes, Time

# What is worth a closer look at a time, and how much one value may be computed again from.
SHORTLIST = 24
MOST_STEPS = 24
# An operand of so small a part of a value is kept for it, not computed again.
SMALL_PART = 16


class Proposal(NamedTuple):
    """Groups whose values are computed again before a time, and values that are kept for that.
    score: bytes freed at the peak, times steps, over nanoseconds."""

    time: Time
    again: tuple[tuple[int, tuple[int, ...]], ...]
    kept: tuple[int, ...]
    score: float


def lower(lifetimes: Lifetimes, target: int) -> bool:
    """Compute values again until no more than `target` bytes are in use at any time; False if
    that cannot be reached: then the peak is as low as it gets here."""
    while lifetimes.peak > target:
        if not _step(lifetimes):
            return False
    return True


def _step(lifetimes: Lifetimes) -> bool:
    """Drop one value at the peak; False if none helps."""
    peak = lifetimes.peak
    at = int(np.argmax(lifetimes.live))
    height = int(np.count_nonzero(lifetimes.live >= peak))
    waiting = _waiting(lifetimes, at)
    for first in range(0, len(waiting), SHORTLIST):
        some = waiting[first : first + SHORTLIST]
        proposals = [p for value, time in some for p in _proposals(lifetimes, value, time, at)]
        for proposal in sorted(proposals, key=lambda p: -p.score):
            change = lifetimes.repeat(proposal.time, proposal.again, proposal.kept)
            if np.count_nonzero(lifetimes.live >= peak) < height:
                return True
            lifetimes.undo(change)
    return False


def _waiting(lifetimes: Lifetimes, at: int) -> list[tuple[int, Time]]:
    """The values that wait at a place for a later use, and when that is, the best first."""
    now = lifetimes.keys[at]
    found: list[tuple[float, int, Time]] = []
    for value, size in lifetimes.size.items():
        if not size or not lifetimes.movable(lifetimes.home[value]):
            continue
        time = lifetimes.waits(value, now)
        if time is not None:
            part = lifetimes.part(lifetimes.home[value], (value,))
            steps = lifetimes.index(time) - at
            found.append((-size * steps / part.cost, value, time))
    return [(value, time) for _, value, time in sorted(found)]


def _proposals(lifetimes: Lifetimes, value: int, time: Time, at: int) -> Iterator[Proposal]:
    """The ways to compute a value again before a time: from operands that are kept, or that are
    computed again too."""
    made = [closure(lifetimes, value, time, at, deep) for deep in (False, True)]
    for k, proposal in enumerate(made):
        if proposal is not None and (not k or made[0] != proposal):
            yield proposal


def closure(lifetimes: Lifetimes, value: int, time: Time, at: int, deep: bool) -> Proposal | None:
    """How to compute a value again before a time, so that memory gets free at a place before it;
    None if none does.  deep: operands that are not there then are computed again too."""
    now = lifetimes.keys[at]
    again: dict[int, list[int]] = {}
    kept: dict[int, None] = {}
    lost = 0
    waiting = [value]
    while waiting:
        group = lifetimes.home[waiting[-1]]
        values = again.setdefault(group, [])
        values.append(waiting.pop())
        if len(again) > MOST_STEPS:
            return None
        for read in lifetimes.part(group, tuple(sorted(values))).reads:
            if read in kept or read in again.get(lifetimes.home[read], ()) or read in waiting:
                continue
            _, last = lifetimes.life(read, time)
            if last >= time:
                continue
            size = lifetimes.size[read]
            across = last < now
            if (
                deep
                and across
                and SMALL_PART * size > lifetimes.size[value]
                and lifetimes.movable(lifetimes.home[read])
            ):
                waiting.append(read)
                continue
            kept[read] = None
            lost += size if across else 0
    freed = lifetimes.size[value] - lost
    if freed <= 0:
        return None
    ordered = tuple((g, tuple(sorted(again[g]))) for g in sorted(again))
    cost = sum(lifetimes.part(g, values).cost for g, values in ordered)
    steps = lifetimes.index(time) - at
    return Proposal(time, ordered, tuple(kept), freed * steps / cost)


def costs(lifetimes: Lifetimes) -> tuple[float, float]:
    """The nanoseconds, roughly, of what is computed again, and of all that a run computes once."""
    again = sum(lifetimes.part(g, values).cost for g, values in lifetimes.repeats.values())
    groups = lifetimes.grouped.groups
    once = sum(lifetimes.part(g, groups[g].outputs).cost for g in lifetimes.taken)
    return again, once
