"""Whether a function acts as in training: a bool, or a tensor that says so in each run."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.errors import DTypeError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.types import BOOL

from ..building import build


def switch(asked: str, training: Any, graph: Any) -> Any:
    """The bool or the bool tensor of one element.  Raises GraphError for anything else."""
    if isinstance(training, np.bool_):
        training = bool(training)
    if not isinstance(training, bool | Handle):
        raise UsageError(
            "training is a switch", expected="a bool, or a bool tensor", found=repr(training)
        )
    if isinstance(training, bool):
        return training
    if training.graph is not graph:
        graph.check_owner(training, asked)
    if training.type.dtype != BOOL:
        raise DTypeError(
            "training is a switch", expected="a bool tensor", found=training.describe()
        )
    if any(size != 1 for size in training.type.shape):
        raise ShapeError(
            "training is one switch",
            expected="a bool tensor of one element",
            found=training.describe(),
        )
    if training.type.ndim:
        return build("reshape", (training,), {"shape": ()})
    return training


def chosen(training: Any, on: Any, off: Any) -> Any:
    """What the switch chooses."""
    if isinstance(training, bool):
        return on if training else off
    return build("where", (training, on, off))
