"""The version of the file format, and the way from each version to the next.

A change to what a file means, or to any registered op's signature, adds one to FORMAT and
an entry here: a pure function from the message of the old version to that of the new.
Entries are never removed, so that every file ever written loads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from .errors import FormatError

if TYPE_CHECKING:
    from .graph_pb2 import Graph as GraphMessage

FORMAT = 1

Step: TypeAlias = "Callable[[GraphMessage], GraphMessage]"

# MIGRATIONS[n] makes version n + 1 of version n.
MIGRATIONS: dict[int, Step] = {}


def upgrade(
    message: GraphMessage, version: int, target: int, steps: Mapping[int, Step]
) -> GraphMessage:
    """The message as the version `target` has it.  Raises FormatError if that is older."""
    if version > target:
        raise FormatError(
            "the file is newer than this version of staticad",
            expected=f"format {target} or older",
            found=f"format {version}",
            hint="install a newer staticad",
        )
    if version < 1:
        raise FormatError(
            "not a staticad file", expected=f"format 1 to {target}", found=f"format {version}"
        )
    for step in range(version, target):
        message = steps[step](message)
    return message
