"""Derivatives as nodes of the same graph: reverse mode, forward mode, and their checks."""

from .check import check_gradients
from .custom import custom_gradient, custom_jvp
from .explain import Explanation, explain_gradient
from .forward import jvp
from .overrides import override_gradients
from .recompute import recompute
from .report import GradientReport
from .reverse import gradients

__all__ = [
    "Explanation",
    "GradientReport",
    "check_gradients",
    "custom_gradient",
    "custom_jvp",
    "explain_gradient",
    "gradients",
    "jvp",
    "override_gradients",
    "recompute",
]
