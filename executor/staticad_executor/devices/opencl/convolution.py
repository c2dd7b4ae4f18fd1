"""Convolution and its transposes: which way they are computed."""

from __future__ import annotations

from .conv_weights import conv_weights
from .panels import panels
from .region import Recipe, Region
from .target import Target


def convolution(region: Region, target: Target, name: str) -> Recipe:
    """The kernels of `conv` and `conv_input`."""
    return panels(region, target, name)


CONVOLUTIONS = {"conv": convolution, "conv_input": convolution, "conv_weights": conv_weights}
