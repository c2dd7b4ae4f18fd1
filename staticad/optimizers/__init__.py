"""Optimizers as nodes: their state and schedule are in the graph, and so in its file."""

from . import schedules
from .adam import Adam
from .base import Optimizer
from .sgd import SGD, Momentum

__all__ = ["SGD", "Adam", "Momentum", "Optimizer", "schedules"]
