"""Which application of a rewrite is the first that changes a result beyond its class.

Programs with the first k applications are evaluated naively, so that only rewrites count: no
kernel, no order and no memory.  Exact rules are tried alone first, for whose results every bit
is compared; then with the stable ones, and with the fast ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from staticad_schema.errors import Site, StaticadError
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.types import REAL_OF, Array, TensorType

from ..interpret import interpret
from ..options import KINDS
from ..program import Program
from .rewrite import Report, rewrite
from .rules import RULES, SWITCHES, is_chosen
from .select import select

_CLEANING = ("fold", "merge")


class Run(NamedTuple):
    """What is computed: value ids and effects (node indices) of a graph, from these arrays."""

    graph: Graph
    fetches: Sequence[int]
    effects: Sequence[int]
    feeds: Mapping[int, Array]
    variables: Mapping[str, Array]
    run_number: int


class Wrong(NamedTuple):
    """An application that changed a result.  number: which of `total` it is, from 1.  result: a
    fetch or variable by name.  difference: in words."""

    rule: str
    kind: str
    number: int
    total: int
    node: Node
    site: Site | None
    forward_site: Site | None
    result: str
    difference: str


class Tried(NamedTuple):
    """wrong: the first application that is, if one is.  total: how many there were, of `rules`."""

    wrong: Wrong | None
    total: int
    rules: tuple[str, ...]


def first_wrong(
    run: Run, chosen: Collection[str], claimed: Collection[str], tolerance: float | None = None
) -> Tried:
    """The first application of a chosen rewrite after which a result differs beyond its class.

    claimed: ops that are not expanded.  tolerance: how far results may differ after stable and fast
    rewrites, relative to the largest element; by default the 2/3rd power of the dtype's distance
    of 1 and the next number.  Raises what the naive evaluation raises.
    """
    program = select(run.graph, run.fetches, run.effects, _types(run))
    names = [run.graph.value_name(v) for v in run.fetches]
    names += [f"variable {name}" for name, _ in program.writes]
    naive = interpret(run.graph, run.fetches, run.effects, run.feeds, run.variables, run.run_number)
    expected = [*naive.values, *[naive.writes[name] for name, _ in program.writes]]
    report = Report()
    included: list[str] = []
    for kind in KINDS:
        added = [e.name for e in RULES.values() if e.kind == kind]
        added += [name for name in _CLEANING if SWITCHES[name].kind == kind]
        added = [name for name in added if is_chosen(name, kind, chosen)]
        included += added
        if not added:
            continue
        report = Report(traced=True)
        trial = _Trial(run, program, tuple(included), claimed, names, expected)
        bound = 0.0 if kind == "exact" else tolerance
        whole = rewrite(program, included, claimed, report)
        assert report.events is not None
        count = len(report.events)
        if trial.difference(whole, bound) is None:
            continue
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            if trial.difference(trial.limited(middle), bound) is None:
                low = middle
            else:
                high = middle
        found = trial.difference(trial.limited(high), bound)
        assert found is not None
        rule, node = report.events[high - 1]
        own = RULES[rule].kind if rule in RULES else SWITCHES[rule].kind
        graph = program.graph
        wrong = Wrong(
            rule, own, high, count, node, graph.site(node.site), graph.site(node.forward_site),
            *found,
        )  # fmt: skip
        return Tried(wrong, count, tuple(sorted(report.applied)))
    return Tried(None, sum(report.applied.values()), tuple(sorted(report.applied)))


class _Trial:
    """Programs with some of the rewrites, compared with the naive results."""

    def __init__(
        self,
        run: Run,
        program: Program,
        chosen: Collection[str],
        claimed: Collection[str],
        names: Sequence[str],
        expected: Sequence[Array],
    ) -> None:
        self.run = run
        self.program = program
        self.chosen = chosen
        self.claimed = claimed
        self.names = names
        self.expected = expected

    def limited(self, count: int) -> Program:
        """The program after so many applications."""
        return rewrite(self.program, self.chosen, self.claimed, limit=count)

    def difference(self, program: Program, tolerance: float | None) -> tuple[str, str] | None:
        """(the first result that differs, how); None if none does."""
        try:
            results = evaluated(program, self.run)
        except StaticadError as error:
            return self.names[0] if self.names else "the run", f"it fails: {error}"
        for name, before, after in zip(self.names, self.expected, results, strict=True):
            text = difference(before, after, tolerance)
            if text is not None:
                return name, text
        return None


def evaluated(program: Program, run: Run) -> list[Array]:
    """The outputs of a program by naive evaluation."""
    given: dict[int, Array] = {}
    for source in program.sources:
        match source.kind:
            case "variable":
                given[source.value] = run.variables[str(source.original)]
            case "run":
                given[source.value] = np.array(run.run_number, np.uint64)
            case _:
                given[source.value] = run.feeds[int(str(source.original))]
    return interpret(program.graph, program.outputs, program.effects, given, {}, 0).values


def difference(before: Array, after: Array, tolerance: float | None) -> str | None:
    """How two results differ, in words; None where they do not.

    tolerance: relative to the largest finite element, 0 for all bits, where one NaN is as good as
    another; None for what follows from the dtype.  With a tolerance anything is right where
    `before` is not finite.
    """
    if before.dtype != after.dtype or before.shape != after.shape:
        return f"{after.dtype.name}{list(after.shape)} for {before.dtype.name}{list(before.shape)}"
    if tolerance == 0 or before.dtype.kind in "iub":
        wrong = _other_bits(before, after)
    else:
        wrong = _far(before, after, tolerance)
    places = np.flatnonzero(wrong)
    if not len(places):
        return None
    first = tuple(map(int, np.unravel_index(places[0], before.shape)))
    at = f" at {list(first)}" if first else ""
    return (
        f"{len(places):,} of {before.size:,} elements, the first{at}: "
        f"{after[first]} for {before[first]}"
    )


def _other_bits(before: Array, after: Array) -> Array:
    if before.dtype.kind == "c":
        return _other_bits(before.real, after.real) | _other_bits(before.imag, after.imag)
    word = f"u{before.dtype.itemsize}"
    bits = [np.ascontiguousarray(array).reshape(-1).view(word) for array in (before, after)]
    unequal = (bits[0] != bits[1]).reshape(before.shape)
    return np.asarray(unequal & ~((before != before) & (after != after)))


def _far(before: Array, after: Array, tolerance: float | None) -> Array:
    wide = np.complex128 if before.dtype.kind == "c" else np.float64
    old, new = before.astype(wide), after.astype(wide)
    finite = np.isfinite(old)
    if tolerance is None:
        info: Any = ml_dtypes.finfo(REAL_OF.get(before.dtype, before.dtype))  # type: ignore[no-untyped-call]
        tolerance = float(info.eps) ** (2 / 3)
    largest = np.abs(old[finite]).max(initial=0)
    with np.errstate(invalid="ignore"):
        near = np.abs(new - old) <= tolerance * largest
    return np.asarray(finite & ~near)


def _types(run: Run) -> dict[int, TensorType]:
    return {value: run.graph.types[value] for value in run.feeds}
