"""Every exception the project raises on purpose.

    StaticadError
    ├── GraphError              building: an op was applied wrongly
    │   ├── DTypeError          (TypeError)
    │   ├── ShapeError          (ValueError)
    │   ├── ArgumentError       (ValueError)  an attribute or argument has no meaning
    │   ├── UsageError          (TypeError)   a thing of the wrong kind, or a tensor used as data
    │   └── UnknownNameError    (KeyError)
    ├── GradientError           (ValueError)  differentiating
    ├── FormatError             (ValueError)  a file is not what it says
    ├── PlanError               (ValueError)  fetches, feeds, devices or sizes do not fit the graph
    │   ├── FeedTypeError       (TypeError)
    │   └── UnknownFetchError   (KeyError)
    └── ExecutionError          (RuntimeError)  a running plan failed
        ├── CancelledError
        ├── ConnectionLostError another process cannot be reached, or is gone
        ├── AccessError         another process does not let this one in
        └── LimitError          more is asked of another process than it allows

A message has four parts: what was asked, what was expected, what was found, and the
user's line (for a gradient node the forward line too).  Code deep inside, such as type
inference, knows only the middle two; whoever knows the rest adds it with `locate`.
"""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Iterable
from typing import NamedTuple, Self


def shown(name: str) -> str:
    """A name in a line of text: as it is, or quoted where it is empty or would not print.

    Names are any text, also those in a file of somebody else's, and terminals obey some of it.
    """
    return name if name and name.isprintable() else repr(name)


class Site(NamedTuple):
    """A line of the user's: file (relative to its import root), line number, function."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{shown(self.file)}:{self.line}, in {shown(self.function)}"


class StaticadError(Exception):
    """Base of all errors.

    asked: what was being done, e.g. "matmul 'scores'"; expected, found: the two sides of
    the complaint; operands: what the op was applied to; site, forward_site: the user's lines;
    hint: the near miss, if there is one.
    """

    def __init__(
        self,
        problem: str,
        *,
        asked: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        site: Site | None = None,
        forward_site: Site | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.asked = asked
        self.expected = expected
        self.found = found
        self.site = site
        self.forward_site = forward_site
        self.hint = hint
        self.operands: tuple[str, ...] = ()

    def locate(
        self,
        *,
        asked: str | None = None,
        site: Site | None = None,
        forward_site: Site | None = None,
        operands: Iterable[str] = (),
    ) -> Self:
        """Add what is not known yet; what is known already stays."""
        self.asked = self.asked or asked
        self.operands = self.operands or tuple(operands)
        if self.site is None:
            self.site, self.forward_site = site, forward_site
        return self

    def __str__(self) -> str:
        lines = [f"{self.asked}: {self.problem}" if self.asked else self.problem]
        for label, part in (
            ("expected", self.expected),
            ("found", self.found),
            ("operands", f"\n{'':<12}".join(self.operands) or None),
            ("at", self.site),
            ("forward", self.forward_site),
            ("hint", self.hint),
        ):
            if part is not None:
                lines.append(f"  {label + ':':<9} {part}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.problem, self.__dict__.copy())


def _rebuild(cls: type[StaticadError], problem: str, state: dict[str, object]) -> StaticadError:
    error = cls(problem)
    error.__dict__.update(state)
    return error


class GraphError(StaticadError):
    """An op was applied wrongly, or a graph is used in a way it does not allow."""


class DTypeError(GraphError, TypeError):
    """A dtype that the op does not admit, or dtypes that do not go together."""


class ShapeError(GraphError, ValueError):
    """Shapes, ranks or axes that do not fit."""


class ArgumentError(GraphError, ValueError):
    """An argument whose value has no meaning here."""


class UsageError(GraphError, TypeError):
    """Something of the wrong kind altogether, or a tensor used as if it held data."""


class UnknownNameError(GraphError, KeyError):
    """No node, signature or function has that name."""

    __str__ = StaticadError.__str__


class GradientError(StaticadError, ValueError):
    """A derivative that does not exist, or was asked for wrongly."""


class FormatError(StaticadError, ValueError):
    """A file that is damaged, hostile, or newer than this version."""


class PlanError(StaticadError, ValueError):
    """Fetches, feeds, devices or sizes that do not fit the graph."""


class FeedTypeError(PlanError, TypeError):
    """A fetch or feed that is of the wrong kind altogether."""


class UnknownFetchError(PlanError, KeyError):
    """A fetch or feed that the graph does not hold."""

    __str__ = StaticadError.__str__


class ExecutionError(StaticadError, RuntimeError):
    """A plan failed while it ran; nothing was committed."""


class CancelledError(ExecutionError):
    """A run was cancelled; nothing was committed."""


class ConnectionLostError(ExecutionError):
    """The process that runs the graph cannot be reached; what it was asked last may be done."""


class AccessError(ExecutionError):
    """The process that runs graphs does not let this one in."""


class LimitError(ExecutionError):
    """More was asked of the process that runs graphs than it allows; nothing was committed."""


# A hint looks at no more names than these, those of about the same length first.
MOST_COMPARED = 2000


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """A hint naming the known names most like `name`, or None.

    The same in another case, or inside a scope, comes before what is merely similar.
    """
    folded: dict[str, list[str]] = {}
    for each in known:
        folded.setdefault(each.casefold(), []).append(each)
    wanted = name.casefold()
    same = [k for k in folded if k == wanted or k.rpartition("/")[2] == wanted]
    likely: Iterable[str] = folded
    if len(folded) > MOST_COMPARED:
        # Comparing takes a tenth of a millisecond a name.
        likely = heapq.nsmallest(MOST_COMPARED, folded, key=lambda k: abs(len(k) - len(wanted)))
    close = same or difflib.get_close_matches(wanted, likely, n=3, cutoff=0.6)
    names = [each for k in close for each in folded[k]][:3]
    return "did you mean " + " or ".join(map(repr, names)) + "?" if names else None
