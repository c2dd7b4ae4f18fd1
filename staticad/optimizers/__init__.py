"""Optimizers as nodes: their state and schedule are in the graph, and so in its file."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from . import schedules
from .adam import Adam
from .base import Optimizer
from .sgd import SGD, Momentum

__all__ = ["SGD", "Adam", "Momentum", "Optimizer", "schedules"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("optimizers", name)
