"""Interfaces for callers without handles: keys to tensors, and effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from staticad_schema.declarations import Signature
from staticad_schema.errors import UsageError
from staticad_schema.handle import Handle

from .current import named
from .variable import after_nodes


def declared(graph: Any, name: str, inputs: Any, outputs: Any, effects: Any) -> Signature:
    """A signature of tensors and effects of the graph.  Raises GraphError."""
    sides = [_values(graph, inputs or {}), _values(graph, outputs or {})]
    return Signature(name, sides[0], sides[1], after_nodes(graph, effects))


def _values(graph: Any, given: Any) -> dict[str, int]:
    """The value ids by key."""
    if not isinstance(given, Mapping):
        raise UsageError(
            "a signature gives its tensors keys",
            expected="a dict from texts to tensors",
            found=f"{given!r:.80}, a {type(given).__name__}",
        )
    for key, value in given.items():
        if not isinstance(value, Handle):
            raise UsageError(
                "not a key with its tensor",
                expected="a str and a tensor",
                found=f"{key!r:.80}: {value!r:.80}",
            )
        named(key, "a key of a signature")
        graph.check_owner(value, "signature")
    return {key: value.id for key, value in given.items()}
