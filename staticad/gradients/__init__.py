"""Derivatives as nodes of the same graph: reverse mode, forward mode, and their checks."""

from .check import GradientReport, check_gradients
from .explain import Explanation, explain_gradient
from .forward import jvp
from .recompute import recompute
from .reverse import gradients

__all__ = [
    "Explanation",
    "GradientReport",
    "check_gradients",
    "explain_gradient",
    "gradients",
    "jvp",
    "recompute",
]
