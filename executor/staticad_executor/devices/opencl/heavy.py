"""Ops with kernels of their own kind: a region of one of them is that one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .convolution import CONVOLUTIONS
from .pooling import POOLS
from .products import PRODUCTS
from .region import Recipe, Region
from .scatter import SCATTERS
from .sorting import SORTS
from .target import Target

HEAVY: Mapping[str, Callable[[Region, Target, str], Recipe]] = MappingProxyType(
    {**CONVOLUTIONS, **POOLS, **PRODUCTS, **SCATTERS, **SORTS}
)
"""What makes their kernels, by op."""
