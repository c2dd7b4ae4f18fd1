"""The definitions, one module a family.  Importing this package fills the registry."""

from . import (
    contract,
    control,
    elementwise,
    index,
    nn,
    norm,
    random,
    reduce,
    scan,
    shape,
    slicing,
    sources,
    state,
    take,
)

__all__ = [
    "contract",
    "control",
    "elementwise",
    "index",
    "nn",
    "norm",
    "random",
    "reduce",
    "scan",
    "shape",
    "slicing",
    "sources",
    "state",
    "take",
]
