"""Optimizers as nodes: their state and schedule are in the graph, and so in its file."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from . import schedules
from .accumulation import Accumulate
from .adam import Adam, Adamax, AdamW, NAdam
from .adaptive import Adadelta, Adagrad, RMSProp
from .averages import Average, ExponentialMovingAverage, StochasticWeightAverage
from .base import Optimizer
from .clipping import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from .groups import Groups
from .lamb import LAMB
from .lion import Lion
from .minimizer import Minimizer
from .sgd import SGD, Momentum, Nesterov

__all__ = [
    "SGD", "Momentum", "Nesterov", "Adam", "AdamW", "NAdam", "Adamax", "RMSProp", "Adagrad",
    "Adadelta", "Lion", "LAMB",
    # around optimizers
    "Accumulate", "Groups", "ExponentialMovingAverage", "StochasticWeightAverage",
    "clip_by_value", "clip_by_norm", "clip_by_global_norm", "global_norm", "schedules",
    # what they have in common
    "Optimizer", "Minimizer", "Average",
]  # fmt: skip

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("optimizers", name)
