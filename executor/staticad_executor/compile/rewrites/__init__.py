"""The rewrites, one module a subject; importing this package registers all rules."""

from . import algebra, choice, exact, fast, parts, products, stable

__all__ = ["algebra", "choice", "exact", "fast", "parts", "products", "stable"]
