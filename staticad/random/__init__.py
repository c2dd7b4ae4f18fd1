"""Random tensors: other numbers in every run, the same in every process and on every device.

A node's numbers follow from the graph's seed, the node's explicit name with its scope (without
one: its scope and its ordinal among the scope's random nodes), and the number of the run.
"""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from .basic import bernoulli, bits, normal, randint, uniform

__all__ = ["bernoulli", "bits", "normal", "randint", "uniform"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("random", name)
