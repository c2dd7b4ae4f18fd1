"""What instructions do on other devices than NumPy: launch, copy, tell, wait."""

from __future__ import annotations

from typing import NamedTuple

from ..devices.opencl.region import Recipe


class Launched(NamedTuple):
    """The kernels of some nodes.

    offsets: of operands in the memory that they are in, in bytes.  replaces: operands and outputs
    of which the one may be in the place of the other.  outputs: how many of the values that are
    written are results; behind them is scratch.  flagged: the nodes that can find an index out of
    range, by the number that the kernel gives them; empty if none can.  small: whether they are
    for one group, as those of a `Merged` are.
    """

    device: str
    recipe: Recipe
    offsets: tuple[int, ...]
    replaces: frozenset[tuple[int, int]]
    outputs: int
    flagged: tuple[int, ...]
    small: bool = False

    @property
    def text(self) -> str:
        """The algorithm, for `explain`."""
        count = len(self.recipe.kernels)
        return self.recipe.algorithm or f"{count} generated kernel{'s' if count > 1 else ''}"


class Part(NamedTuple):
    """Kernels with the cells that they read and write."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    launched: Launched


class Merged(NamedTuple):
    """Small kernels of one device that are one launch."""

    device: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The algorithm, for `explain`."""
        return f"{len(self.parts)} small ones as one"


class Transfer(NamedTuple):
    """A copy of one operand to another memory space."""

    source: str
    target: str


class Given(NamedTuple):
    """Tells a device where the arrays of a run are: the cells that the instruction reads."""

    device: str


class Wait(NamedTuple):
    """Waits until a device has done what it was given."""

    device: str


class End(NamedTuple):
    """The last wait for a device, which looks whether kernels have found an index out of range."""

    device: str
