"""The devices that a session may use without having been told to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .opencl.device import OpenCLDevice

Pair = tuple["OpenCLDevice | None", "OpenCLDevice | None"]


@dataclass(frozen=True, eq=False)
class Auto:
    """Devices that are looked for when there is something for them to do.

    find: the one that works in the host's memory, and the one that has its own; asked each time,
    since a fork of this process has none of them.
    """

    find: Callable[[], Pair]

    @property
    def near(self) -> OpenCLDevice | None:
        """The device on the processor, in the host's memory."""
        return self.find()[0]

    @property
    def far(self) -> OpenCLDevice | None:
        """The device with memory of its own."""
        return self.find()[1]
