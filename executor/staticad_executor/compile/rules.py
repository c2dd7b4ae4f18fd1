"""Rewrite rules as data, and what they are written with.

A rule is a function of one node whose operands are already rewritten.  It returns the value
that replaces the node's output, or None where it does not apply.  A rule looks only at what
the node is computed from, so whether it applies cannot depend on what is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from staticad_schema.dims import Shape, same_size
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.types import TensorType

from ..options import KINDS, Kind


class Rewriting(Protocol):
    """The program being rewritten, as rules see it."""

    def type(self, value: int) -> TensorType:
        """The type of a value."""
        ...

    def producer(self, value: int) -> Node:
        """The node that produces a value."""
        ...

    def constant(self, value: int) -> np.ndarray[Any, Any] | None:
        """The array of a value that is a constant, else None."""
        ...

    def add(self, op: str, inputs: tuple[int, ...], like: Node, **attributes: Any) -> int:
        """The output of a node with one output, itself rewritten; sites and name are those of
        `like`, which it helps to replace."""
        ...


class Rule(NamedTuple):
    """name: to switch it by.  kind: exact (bit for bit, also NaN, infinities and -0), stable
    (may only be more accurate), fast (may lose accuracy).  ops: where it is tried."""

    name: str
    kind: Kind
    ops: tuple[str, ...]
    apply: Callable[[Rewriting, Node], int | None]


ELEMENTWISE = "<elementwise>"
"""Among a rule's ops: every elementwise op."""

RULES: dict[str, Rule] = {}
"""Every rule by name, in the order in which they are tried."""


def rule(
    kind: Kind, *ops: str
) -> Callable[[Callable[[Rewriting, Node], int | None]], Callable[[Rewriting, Node], int | None]]:
    """Register the decorated function as the rule of its name."""

    def register(
        apply: Callable[[Rewriting, Node], int | None],
    ) -> Callable[[Rewriting, Node], int | None]:
        name = apply.__name__
        if name in RULES:
            raise TypeError(f"rule {name} is defined twice")
        RULES[name] = Rule(name, kind, ops, apply)
        return apply

    return register


def fits(small: Shape, large: Shape) -> bool:
    """Whether a shape is certain to broadcast to another: else the run has to find out, and no
    rule may drop the node that does."""
    lead = len(large) - len(small)
    return lead >= 0 and all(
        s == 1 or same_size(s, size) for s, size in zip(small, large[lead:], strict=True)
    )


def settled(r: Rewriting, node: Node) -> bool:
    """Whether the operands of an elementwise node are certain to fit."""
    shape = node.types[0].shape
    for v in node.inputs:
        own = r.type(v).shape
        if own and own != shape and not fits(own, shape):
            return False
    return True


def rules_by_op(chosen: Collection[str]) -> Mapping[str, tuple[Rule, ...]]:
    """The rules to try on each op: those whose kind or name is chosen and not excluded by
    "-name"."""
    table: dict[str, list[Rule]] = {}
    for entry in RULES.values():
        if is_chosen(entry.name, entry.kind, chosen):
            ops = [op for op in entry.ops if op != ELEMENTWISE]
            if ELEMENTWISE in entry.ops:
                ops += [name for name, definition in OPS.items() if definition.elementwise]
            for op in ops:
                table.setdefault(op, []).append(entry)
    return {op: tuple(entries) for op, entries in table.items()}


def is_chosen(name: str, kind: str, chosen: Collection[str]) -> bool:
    """Whether a choice includes a rewrite of this name and kind."""
    return (kind in chosen or name in chosen) and f"-{name}" not in chosen


class Switch(NamedTuple):
    """What can be chosen beside rules.  kind: as of a rule.  text: what it does."""

    kind: Kind
    text: str


SWITCHES: Mapping[str, Switch] = {
    "fold": Switch(
        "exact",
        "Nodes of constants → constants, where that takes little time and little more memory",
    ),
    "merge": Switch("exact", "Equal nodes → one; of sums and products in either order"),
    "hoist": Switch(
        "exact",
        "What follows from variables that the run does not write, and constants: computed when one"
        " of the variables has changed, and kept from run to run; not under a memory budget",
    ),
    "flat_updates": Switch(
        "exact",
        "Updates of small variables that are alike → one over all of them; not under a memory"
        " budget",
    ),
    "sink_into_branches": Switch(
        "exact",
        "What one branch of a choice alone uses → computed in that branch, where it is taken; not"
        " on OpenCL devices",
    ),
    "python_scalars": Switch(
        "fast", "0-d regions of float32 and float64 on Python's floats, in double precision"
    ),
}
"""By name."""


def chosen_switch(name: str, chosen: Collection[str]) -> bool:
    """Whether a choice includes one of the switches."""
    return is_chosen(name, SWITCHES[name].kind, chosen)


def unknown_choice(chosen: Collection[str]) -> str | None:
    """The first entry of a choice that names neither a kind, nor a rule, nor a switch."""
    for entry in chosen:
        if entry not in KINDS and entry.removeprefix("-") not in RULES.keys() | SWITCHES.keys():
            return entry
    return None
