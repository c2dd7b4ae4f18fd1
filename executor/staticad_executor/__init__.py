"""Runs graphs: compiles them to plans, holds variables.  Needs no model code."""

from .session import Session

__all__ = ["Session"]
