"""From a region to kernels: which way it is computed."""

from __future__ import annotations

from .combine import REDUCTIONS
from .decompose import decomposed
from .elementwise import elementwise
from .region import Recipe, Region
from .rows import rows
from .target import Target


def generate(region: Region, target: Target, name: str = "region") -> Recipe:
    """The kernels of a region.

    Raises ValueError for a region that is not one: outputs of several shapes that no reduction
    connects, reductions along different axes.
    """
    region = decomposed(region)
    if not any(step.op in REDUCTIONS for step in region.steps):
        return elementwise(region, target, name)
    return rows(region, target, name)
