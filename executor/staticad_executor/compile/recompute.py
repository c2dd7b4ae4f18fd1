"""What to compute again, so that the peak gets lower at little extra time.

Where most memory is in use, of the values that wait there for a later use one is dropped and
computed again before that use, from what is there then: the one that frees the most bytes for
the longest at the least cost, of those by which the peak gets lower.  That is repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from .lifetimes import Lifetimes, Time

# What is worth a closer look at a time.
SHORTLIST = 24
# How many groups may be computed again for one value, and whether what they compute beside it is
# kept for later uses: so a long chain is computed again in pieces, each from a value that stays.
WAYS = ((1, False), (24, False), (4, True), (12, True), (48, True))
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
    known: set[Proposal] = set()
    for most, along in WAYS:
        proposal = closure(lifetimes, value, time, at, most, along)
        if proposal is not None and proposal not in known:
            known.add(proposal)
            yield proposal


def closure(
    lifetimes: Lifetimes, value: int, time: Time, at: int, most: int, along: bool
) -> Proposal | None:
    """How to compute a value again before a time, so that memory gets free at a place before it;
    None if none does.

    most: of groups that are computed again; operands that are not there then are kept beyond
    that.  along: what waits for later uses is computed again with it where a group computes both.
    """
    now = lifetimes.keys[at]
    again: dict[int, list[int]] = {}
    kept: dict[int, None] = {}
    lost = 0
    waiting = [value]
    while waiting:
        group = lifetimes.home[waiting[-1]]
        values = again.setdefault(group, [])
        values.append(waiting.pop())
        for read in lifetimes.part(group, tuple(sorted(values))).reads:
            if read in kept or read in again.get(lifetimes.home[read], ()) or read in waiting:
                continue
            _, last = lifetimes.life(read, time)
            if last >= time:
                continue
            size = lifetimes.size[read]
            across = last < now
            if (
                len(again) + len(waiting) < most
                and across
                and SMALL_PART * size > lifetimes.size[value]
                and lifetimes.movable(lifetimes.home[read])
            ):
                waiting.append(read)
                continue
            kept[read] = None
            lost += size if across else 0
    freed = lifetimes.size[value] - lost
    if along:
        freed += sum(lifetimes.size[v] for v in _along(lifetimes, again, kept, time, now))
    if freed <= 0:
        return None
    ordered = tuple((g, tuple(sorted(again[g]))) for g in sorted(again))
    cost = sum(lifetimes.part(g, values).cost for g, values in ordered)
    steps = lifetimes.index(time) - at
    return Proposal(time, ordered, tuple(kept), freed * steps / cost)


def _along(
    lifetimes: Lifetimes,
    again: dict[int, list[int]],
    kept: Collection[int],
    time: Time,
    now: Time,
) -> list[int]:
    """Values that wait for later uses, entered into `again` beside those of their groups."""
    taken = []
    for group, values in again.items():
        for other in lifetimes.grouped.groups[group].outputs:
            if other in values or not lifetimes.size.get(other):
                continue
            following = lifetimes.waits(other, now)
            if following is None or following <= time:
                continue
            reads = lifetimes.part(group, tuple(sorted([*values, other]))).reads
            if all(
                read in kept
                or read in again.get(lifetimes.home[read], ())
                or lifetimes.life(read, time)[1] >= time
                for read in reads
            ):
                values.append(other)
                taken.append(other)
    return taken


def costs(lifetimes: Lifetimes) -> tuple[float, float]:
    """The nanoseconds, roughly, of what is computed again, and of all that a run computes once."""
    again = sum(lifetimes.part(g, values).cost for g, values in lifetimes.repeats.values())
    groups = lifetimes.grouped.groups
    once = sum(lifetimes.part(g, groups[g].outputs).cost for g in lifetimes.taken)
    return again, once
