"""What the compiler asks of a device."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from staticad_schema.types import TensorType

if TYPE_CHECKING:
    from .opencl.target import Target

HOST = "host"
"""The memory space of this process."""


class Device(Protocol):
    """A place that runs nodes."""

    @property
    def name(self) -> str:
        """The name by which hints ask for it."""
        ...

    @property
    def space(self) -> str:
        """Where its memory is: `HOST`, or a name of its own."""
        ...

    @property
    def claimed(self) -> Collection[str]:
        """Ops with an expansion that it runs as they are."""
        ...

    def why_not(
        self,
        op: str,
        attributes: Mapping[str, Any],
        operands: Sequence[TensorType],
        outputs: Sequence[TensorType],
    ) -> str | None:
        """Why it does not run a node, in a few words; None if it does."""
        ...


class OpenCL(Device, Protocol):
    """A device for which kernels are generated."""

    @property
    def target(self) -> Target:
        """The device as generated kernels see it."""
        ...

    @property
    def allocation_bytes(self) -> int:
        """The largest buffer."""
        ...

    @property
    def parameter_bytes(self) -> int:
        """The most bytes of a kernel's arguments."""
        ...
