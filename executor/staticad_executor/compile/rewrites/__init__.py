"""The rewrites, one module a subject; importing this package registers all rules."""

from . import exact, fast, stable

__all__ = ["exact", "fast", "stable"]
