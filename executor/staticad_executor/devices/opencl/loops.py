"""The loops of a kernel that reduces rows: which rows a unit takes, and how it goes through each.

What is summed is summed in blocks, whose sums are summed then: rounding grows with the root of
the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from .body import LANE, Body, Index
from .combine import Accumulator, begin
from .places import unravelled
from .region import Shape
from .split import Split
from .walk import Walk

# Vectors of a block.
_BLOCK = 128

Element = Callable[[Index, str, Sequence[Accumulator]], None]
"""What is done at an index, where the outer axes are at a step, with what is accumulated."""
Inside = Callable[[str, str, Sequence[Accumulator]], None]
"""The same between two ends of a range."""


class Loops:
    """group: work-items that share a row.  parts: into how many rows are cut."""

    def __init__(self, body: Body, split: Split, walk: Walk, group: int) -> None:
        self.body, self.split, self.walk, self.group = body, split, walk, group
        self.code, self.signature = body.code, body.signature
        self.kind = self.signature.index_type
        self.n = self.signature.number("length", walk.length)
        self.steps = self.signature.number("steps", walk.steps)
        # Short lines of a long row: the work-items of a group share all of their vectors.
        self.turning = group > 1 and walk.steps > 1
        self.outer, self.inner = self._pieces()
        self.kept: dict[int, str] = {}
        self.row = "row"

    def _pieces(self) -> tuple[int, int]:
        """Into how many pieces the outer and the inner axes of a row are cut."""
        parts, steps = self.split.parts, self.walk.steps
        if parts == 1 or self.turning:
            return parts, 1
        outer = max(1, min(parts, steps))
        return outer, 1 if self.walk.across else parts // outer

    def least(self, x: str, y: str) -> str:
        """The text of the smaller of two numbers, of which the second may be a literal."""
        return f"min({x}, ({self.kind}){y})" if y.isdigit() else f"min({x}, {y})"

    # -------------------------------------------------------------- rows

    def rows(self, each: int) -> None:
        """The first row of a unit, and the one behind its last; and its part of the row."""
        code, kind, signature = self.code, self.kind, self.signature
        code.line(f"const {kind} unit = get_{'global' if self.walk.across else 'group'}_id(0);")
        count = signature.number("rows", self.walk.rows)
        if self.split.parts == 1:
            size = signature.number("rows each", each)
            code.line(f"const {kind} first = unit * {size};")
            code.line(f"const {kind} last = {self.least(f'first + {size}', count)};")
            return
        part, row = "unit", "0"
        if self.walk.rows > 1 and self.walk.across:
            # Neighbours take neighbouring rows.
            part, row = f"unit / {count}", f"unit % {count}"
        elif self.walk.rows > 1:
            parts = signature.number("parts", self.split.parts)
            part, row = f"unit % {parts}", f"unit / {parts}"
        code.line(f"const {kind} part = {part};")
        code.line(f"const {kind} first = {row};")
        used = signature.number("used", self.outer * self.inner)
        code.line(f"const {kind} last = part < {used} ? first + 1 : first;")
        if self.turning:
            total = self.walk.steps * self.walk.vectors
            chunk = -(-total // self.split.parts)
            self._range("start", "stop", "part", chunk, signature.number("turns", total))
            return
        pieces = signature.number("pieces", self.inner)
        if self.outer > 1:
            own = f"part / {pieces}" if self.inner > 1 else "part"
            self._range("begin", "end", own, -(-self.walk.steps // self.outer), self.steps)
        if self.inner > 1:
            own = f"part % {pieces}" if self.outer > 1 else "part"
            step = self.walk.lanes * self.group
            self._range(
                "start", "stop", own, -(-self.walk.length // (self.inner * step)) * step, self.n
            )

    def _range(self, start: str, stop: str, part: str, size: int, end: str) -> None:
        each = self.signature.number((start, "chunk"), size)
        self.code.line(f"const {self.kind} {start} = {part} * {each};")
        self.code.line(f"const {self.kind} {stop} = {self.least(f'{start} + {each}', end)};")

    def place_row(self) -> None:
        """The index of the row, and where vectors hold several rows, of the first of them."""
        code, kind, walk, body = self.code, self.kind, self.walk, self.body
        lead, body.count = "row", None
        if walk.across:
            place = "row"
            if walk.lead:
                number = self.signature.number("vectors", walk.vectors)
                lead = code.index(f"row / {number}" if walk.vectors > 1 else "row", kind)
                place = f"row % {number}" if walk.vectors > 1 else "0"
            place = f"{place} * {walk.lanes}" if walk.lanes > 1 else place
            code.line(f"const {kind} {LANE} = {place};")
            self._tail()
        places = unravelled(body, lead, walk.sizes(walk.lead), "kept")
        self.kept = dict.fromkeys(self.split.kept, "0")
        self.kept |= dict(zip(walk.lead, places, strict=True))
        if walk.across:
            self.kept[walk.inner[-1]] = LANE if walk.length != 1 else "0"
            lead = f"{lead} * {self.n} + {LANE}" if walk.lead else LANE
        self.row = lead

    def _tail(self) -> None:
        """How many lanes there are at this place."""
        lanes, self.body.count = self.walk.lanes, None
        if lanes > 1 and self.walk.length % lanes:
            self.code.line(f"const int count = min({self.n} - {LANE}, ({self.kind}){lanes});")
            self.body.count = "count"

    # -------------------------------------------------------------- one row

    def through(self, accumulators: Sequence[Accumulator], lasting: bool, element: Element) -> None:
        """All elements of a row.  lasting: whether what is accumulated is of several rows."""
        walk = self.walk
        inside = 1 if walk.across else walk.vectors
        blocks = any(map(_summed, accumulators))
        blocks = blocks and (lasting or walk.steps * inside > _BLOCK)

        def ranged(
            start: str, stop: str, stride: str, each: int, taking: Sequence[Accumulator],
            within: Inside,
        ) -> None:  # fmt: skip
            if blocks:
                self._blocks(start, stop, stride, each, taking, within)
            else:
                within(start, stop, taking)

        if self.turning:
            turns = self.signature.number("turns", walk.steps * walk.vectors)
            start, stop = ("start", "stop") if self.split.parts > 1 else ("0", turns)
            ranged(
                f"{start} + lid", stop, "group", _BLOCK, accumulators,
                lambda a, b, taking: self._turns(a, b, taking, element),
            )  # fmt: skip
            return
        begin, end = ("begin", "end") if self.outer > 1 else ("0", self.steps)
        start, stop = ("start", "stop") if self.inner > 1 else ("0", self.n)
        stride = f"{walk.lanes}"
        if self.group > 1:
            start, stride = f"{start} + lid * {walk.lanes}", f"{stride} * group"

        def line(step: str) -> Inside:
            if walk.across:
                return lambda a, b, taking: self._at(step, taking, element)
            return lambda a, b, taking: self._line(a, b, stride, step, taking, element)

        def steps(a: str, b: str, taking: Sequence[Accumulator]) -> None:
            with self.code.block(f"for ({self.kind} step = {a}; step < {b}; ++step)"):
                line("step")(start, stop, taking)

        if walk.steps != 1 and inside <= _BLOCK:
            ranged(begin, end, "", max(1, _BLOCK // max(1, inside)), accumulators, steps)
        elif walk.steps != 1:
            with self.code.block(f"for ({self.kind} step = {begin}; step < {end}; ++step)"):
                ranged(start, stop, stride, _BLOCK, accumulators, line("step"))
        elif walk.across:
            line("0")("", "", accumulators)
        else:
            ranged(start, stop, stride, _BLOCK, accumulators, line("0"))

    def _blocks(
        self, start: str, stop: str, stride: str, each: int, taking: Sequence[Accumulator],
        within: Inside,
    ) -> None:  # fmt: skip
        """A range in blocks of so many strides, or numbers, of which each is summed for itself."""
        code = self.code
        size = f"{stride} * {each}" if stride else self.signature.number("block", each)
        with code.block(f"for ({self.kind} block = {start}; block < {stop}; block += {size})"):
            own = [begin(code, a.op, a.dtype, a.lanes) if _summed(a) else a for a in taking]
            code.line(f"const {self.kind} until = {self.least(f'block + {size}', stop)};")
            within("block", "until", own)
            for a, b in zip(taking, own, strict=True):
                if b is not a:
                    code.line(f"{a.value} += {b.value};")

    def _turns(
        self, start: str, stop: str, taking: Sequence[Accumulator], element: Element
    ) -> None:
        """The vectors of a row one after the other, as the work-items of a group share them."""
        walk, step = self.walk, "turn"
        with self.code.block(f"for ({self.kind} turn = {start}; turn < {stop}; turn += group)"):
            place = "0"
            if walk.vectors > 1:
                vectors = self.signature.number("vectors", walk.vectors)
                place, step = f"turn % {vectors} * {walk.lanes}", f"turn / {vectors}"
            self.code.line(f"const {self.kind} {LANE} = {place};")
            self._at(step, taking, element)

    def _line(
        self, start: str, stop: str, stride: str, step: str, taking: Sequence[Accumulator],
        element: Element,
    ) -> None:  # fmt: skip
        """The inner axes at one place of the outer ones."""
        head = f"for ({self.kind} {LANE} = {start}; {LANE} < {stop}; {LANE} += {stride})"
        with self.code.block(head):
            self._at(step, taking, element)

    def _at(self, step: str, taking: Sequence[Accumulator], element: Element) -> None:
        """One vector."""
        walk, outer = self.walk, self.walk.sizes(self.walk.outer)
        with self.code.block("") if step == "0" and walk.across else nullcontext():
            gone = dict.fromkeys(self.split.gone, "0")
            step = self.code.index(step, self.kind)
            gone |= dict(zip(walk.outer, unravelled(self.body, step, outer, "gone"), strict=True))
            if not walk.across:
                self._tail()
                if walk.length != 1:
                    gone[walk.inner[-1]] = LANE
            own = {**self.kept, **gone}
            element(tuple(own[a] for a in range(len(self.split.shape))), step, taking)

    # -------------------------------------------------------------- places

    def number(self, step: str) -> str:
        """Which element of its row the first lane is."""
        if self.walk.across:
            return f"(long){step}"
        return f"(long){LANE}" if step == "0" else f"(long){step} * {self.n} + {LANE}"

    def within(self, step: str) -> str:
        """The same where each line is filled up to whole vectors, or has a vector only."""
        walk = self.walk
        if walk.across:
            return f"{step} * {walk.lanes}"
        if step == "0":
            return LANE
        padded = self.signature.number("padded", walk.vectors * walk.lanes)
        return f"{step} * {padded} + {LANE}"

    def linear(self, index: Index) -> str:
        """The place of an element in row-major order."""
        if not self.walk.across and not self.walk.outer:
            return f"row * {self.n} + {LANE}"
        terms: list[str] = []
        size = 1
        for axis in range(len(index) - 1, -1, -1):
            if index[axis] != "0":
                factor = self.signature.number(("out", axis), size)
                terms.insert(0, index[axis] if factor == "1" else f"{index[axis]} * {factor}")
            size *= self.split.shape[axis]
        return " + ".join(terms) or "0"

    def row_index(self, shape: Shape) -> Index:
        """The index of what there is one of a row."""
        shapes = self.split.shape
        texts = iter([self.kept[a] for a in self.split.kept if shapes[a] != 1])
        return tuple("0" if n == 1 else next(texts) for n in shape)


def _summed(a: Accumulator) -> bool:
    """Whether rounding grows with what is taken up."""
    return a.op == "sum" and a.dtype.kind not in "iub"
