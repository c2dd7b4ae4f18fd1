"""A kernel with its arguments set: calling it enqueues it, and nothing else is left to do.

Setting a number takes longer than launching, so arguments are set when a launch is made, once
for a workspace; `bind` replaces the few that change from run to run.  So is the call that enqueues
it: each layer of Python around that costs a tenth of what it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl

from .runtime import Runtime, failure

Argument = cl.Buffer | cl.LocalMemory | np.generic


class Launch:
    """One kernel, its arguments and its sizes.  Used by one thread at a time.

    global_size: work-items along each axis; where one is 0 nothing is ever launched.
    local_size: those of a group, which divide them; None leaves it to the driver.
    enqueue: enqueues it, even where there is nothing to do, and raises the driver's own errors,
    which `runtime.translated` tells in ours.

    Raises ValueError where a group is larger than `group_limit` says, MemoryError where the
    device lacks memory, ExecutionError for what else it refuses.
    """

    __slots__ = ("_number", "enqueue", "global_size", "kernel", "local_size", "name")

    def __init__(
        self,
        runtime: Runtime,
        program: cl.Program,
        name: str,
        arguments: Sequence[Argument],
        global_size: Sequence[int],
        local_size: Sequence[int] | None = None,
    ) -> None:
        self.name = name
        self.global_size = tuple(map(int, global_size))
        self.local_size = None if local_size is None else tuple(map(int, local_size))
        self.kernel = runtime.kernel(program, name)
        self.enqueue: partial[cl.Event] = partial(
            cl.enqueue_nd_range_kernel, runtime.queue, self.kernel, self.global_size,
            self.local_size,
        )  # fmt: skip
        self._number = getattr(self.kernel, "_set_arg_buf", self.kernel.set_arg)
        for position, argument in enumerate(arguments):
            self.bind(position, argument)
        if self.local_size is not None:
            check_group(runtime, self.kernel, self.global_size, self.local_size)

    def bind(self, position: int, argument: Argument) -> None:
        """Replace an argument for the launches to come."""
        try:
            # The binding's own types leave out local memory.
            given: Any = argument
            self.kernel.set_arg(position, given)
        except (cl.Error, MemoryError) as error:
            raise failure(error, f"argument {position} of kernel {self.name!r}") from error

    def bind_number(self, position: int, number: np.generic) -> None:
        """Replace an argument that is a number."""
        try:
            # The binding's public way tries everything else first, which takes 100 times as long.
            self._number(position, number)
        except (cl.Error, MemoryError) as error:
            raise failure(error, f"argument {position} of kernel {self.name!r}") from error

    def __call__(self) -> cl.Event | None:
        """Enqueue it; the event of its end, or None where there is nothing to do."""
        if 0 in self.global_size:
            return None
        try:
            return self.enqueue()
        except (cl.Error, MemoryError) as error:
            raise failure(error, f"kernel {self.name!r}") from error


def group_limit(runtime: Runtime, kernel: cl.Kernel, local_bytes_per_item: int = 0) -> int:
    """The work-items that a group of this kernel may have: the least of what the device allows,
    what the built kernel allows, and what local memory holds."""
    most = int(
        kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, runtime.found.handle)
    )
    most = min(most, runtime.limits.work_group)
    if local_bytes_per_item:
        most = min(most, runtime.limits.local_bytes // local_bytes_per_item)
    return max(1, most)


def check_group(
    runtime: Runtime, kernel: cl.Kernel, global_size: Sequence[int], local_size: Sequence[int]
) -> None:
    """Raises ValueError for a group that does not divide the whole or is too large."""
    limits = runtime.limits
    size = math.prod(local_size)
    if (
        len(local_size) != len(global_size)
        or any(
            part < 1 or whole % part for whole, part in zip(global_size, local_size, strict=True)
        )
        or any(part > most for part, most in zip(local_size, limits.work_items, strict=False))
        or size > group_limit(runtime, kernel)
    ):
        raise ValueError(
            f"groups of {tuple(local_size)} of {tuple(global_size)} work-items, "
            f"at most {group_limit(runtime, kernel)} a group"
        )
