"""Node: one application of an op, as plain data."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import dims
from .op import CALLERS, FINDERS, OPS, FunctionRef, Op
from .types import TensorType


class Node(NamedTuple):
    """One application of an op.

    Output k has the value id `start + k`; every input id is smaller than `start`.
    `after` holds indices of nodes that run first (control dependencies).  `name` is the
    explicit name with its scope, or None; `scope` the scope it was made in.  `site` and
    `forward_site` index the graph's table of sites, where 0 is "unknown".
    """

    op: str
    inputs: tuple[int, ...]
    attributes: dict[str, Any]
    types: tuple[TensorType, ...]
    start: int
    after: tuple[int, ...] = ()
    name: str | None = None
    scope: str = ""
    device: str | None = None
    site: int = 0
    forward_site: int = 0

    @property
    def definition(self) -> Op:
        """The op's definition."""
        return OPS[self.op]

    @property
    def finds(self) -> tuple[str, ...]:
        """The symbols of the sizes that the node finds when it runs."""
        if self.op not in FINDERS:
            return ()
        given = (self.attributes[name] for name in OPS[self.op].run_time_sizes)
        return tuple(name for d in given for name in sorted(dims.symbols_of(d)))

    @property
    def calls(self) -> tuple[str, ...]:
        """The names of the bodies that the node has, in the order of its attributes."""
        if self.op not in CALLERS:
            return ()
        given = (self.attributes[name] for name in OPS[self.op].bodies)
        return tuple(name for v in given for name in ((v,) if type(v) is FunctionRef else v))

    def moved(self, inputs: tuple[int, ...], start: int, after: tuple[int, ...] = ()) -> Node:
        """The node elsewhere: other operands, outputs and control dependencies."""
        # A fifth of the time of `_replace`.
        return Node(
            self.op, inputs, self.attributes, self.types, start, after, self.name, self.scope,
            self.device, self.site, self.forward_site,
        )  # fmt: skip

    @property
    def outputs(self) -> range:
        """The value ids of the outputs."""
        return range(self.start, self.start + len(self.types))
