"""Remarks on graphs: what is unused, wider than meant, or may become NaN."""

from .finding import Finding
from .report import RULES, lint

__all__ = ["RULES", "Finding", "lint"]
