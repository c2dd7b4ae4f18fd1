"""What a graph declares beside its nodes: named state, and named interfaces."""

from __future__ import annotations

from dataclasses import dataclass

from .types import TensorType


@dataclass(frozen=True)
class VariableSpec:
    """Named state: its type, the value id that initialises it, and whether optimizers see it."""

    name: str
    type: TensorType
    initial: int
    trainable: bool
    node: int  # the node that reads the value at the start of a run


@dataclass(frozen=True)
class Signature:
    """A named interface for callers that know no value ids: keys to values, and effects."""

    name: str
    inputs: dict[str, int]
    outputs: dict[str, int]
    effects: tuple[int, ...] = ()  # node indices
