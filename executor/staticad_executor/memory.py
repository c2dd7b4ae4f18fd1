"""The memory that a run needs, told before it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from staticad_schema.errors import shown
from staticad_schema.types import TensorType, nbytes

from .plan import MemoryUse


class MemoryPrediction(NamedTuple):
    """Bytes of one run.

    peak_bytes: all of the following together.  scratch_bytes: intermediate values, at the
    worst moment.  result_bytes: what is fetched.  write_bytes: new values of variables.
    variable_bytes: their values at the start.  feed_bytes: what is fed.  largest: the values
    that are live at the worst moment, the largest first.
    """

    peak_bytes: int
    scratch_bytes: int
    result_bytes: int
    write_bytes: int
    variable_bytes: int
    feed_bytes: int
    largest: tuple[MemoryUse, ...]

    def __str__(self) -> str:
        lines = [
            f"{getattr(self, name):>16,}  {name.replace('_', ' ')}"
            for name in self._fields
            if name != "largest"
        ]
        if self.largest:
            lines.append("largest values at the worst moment:")
            lines += [
                f"{use.nbytes:>16,}  {shown(use.name)} {use.type}  {use.site}"
                for use in self.largest[:10]
            ]
        return "\n".join(lines)


def predicted(
    sources: Iterable[tuple[str, TensorType]],
    results: Iterable[TensorType],
    writes: Iterable[TensorType],
    scratch: int,
    largest: tuple[MemoryUse, ...],
) -> MemoryPrediction:
    """All of them together.  sources: the kinds and types of what is given."""
    given = {"feed": 0, "variable": 0, "run": 0}
    for kind, type_ in sources:
        given[kind] += nbytes(type_)
    parts = (
        scratch, sum(map(nbytes, results)), sum(map(nbytes, writes)), given["variable"],
        given["feed"],
    )  # fmt: skip
    return MemoryPrediction(sum(parts), *parts, largest)
