"""What the compiler asks of a device."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from staticad_schema.node import Node


class Device(Protocol):
    """A place that runs nodes."""

    @property
    def name(self) -> str:
        """The name by which hints ask for it."""
        ...

    @property
    def claimed(self) -> Collection[str]:
        """Ops with an expansion that it runs as they are."""
        ...

    def supports(self, node: Node) -> bool:
        """Whether it runs the node."""
        ...
