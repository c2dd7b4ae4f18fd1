"""Runs graphs: compiles them to plans, holds variables.  Needs no model code."""

from .address import Target
from .connecting import connect
from .session import Session

__all__ = ["Session", "Target", "connect"]
