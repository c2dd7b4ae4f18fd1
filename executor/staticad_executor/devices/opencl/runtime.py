"""One device in use: its context, its queue, its programs.

The queue runs in order, so what is enqueued later sees what was enqueued before, and memory
may be used again as soon as its last user is enqueued.  Programs and buffers may be used from
any thread, kernels by one at a time: whoever enqueues from several threads has kernels of its
own for each.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress

import pyopencl as cl
from pyopencl import _cl

from staticad_schema.errors import ExecutionError, PlanError

from ...recent import Recent
from .cache import DiskCache, default_cache, key_of
from .discovery import Found, require_process
from .limits import Limits, limits_of

# Raised when programs are built in another way from the same source.
BUILD_VERSION = "1"
# Programs that a process keeps at hand; those in use live on without that.
MOST_PROGRAMS = 1000
KERNEL_NAMES = re.compile(r"\bkernel\s+void\s+(\w+)\s*\(")
STANDARD = "-cl-std=CL1.2"
NO_CONTRACTION = "#pragma OPENCL FP_CONTRACT OFF\n"
OUT_OF_MEMORY = frozenset(
    {
        cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
        cl.status_code.OUT_OF_RESOURCES,
        cl.status_code.OUT_OF_HOST_MEMORY,
        cl.status_code.INVALID_BUFFER_SIZE,
    }
)


class Runtime:
    """A device's context, in-order queue and programs.

    limits: what kernels may use, the driver's or less.  shares_host: buffers are made over the
    host's own memory, and moving between NumPy and the device is `finish`; else memory is the
    device's own, and moving is a copy.  separate: have it so for a CPU too.
    """

    def __init__(
        self,
        found: Found,
        limits: Limits | None = None,
        *,
        separate: bool = False,
        cache: DiskCache | None = None,
    ) -> None:
        self.found = found
        self.process = os.getpid()
        self.limits = limits or limits_of(found)
        self.shares_host = found.is_plain_cpu and not separate
        self.cache = cache or default_cache()
        try:
            self.context = cl.Context([found.handle])
            self.queue = cl.CommandQueue(self.context, found.handle)
        except cl.Error as error:
            raise PlanError(
                "the device cannot be used",
                asked=f"device {found.label!r}",
                expected="a context and a queue",
                found=str(error),
            ) from error
        self._built: Recent[str, cl.Program] = Recent(MOST_PROGRAMS)

    def __repr__(self) -> str:
        return f"Runtime({self.found})"

    @property
    def options(self) -> tuple[str, ...]:
        """Options of every build: no fast mathematics; division and sqrt correctly rounded where
        the driver has that."""
        exact = ("-cl-fp32-correctly-rounded-divide-sqrt",) if self.limits.exact_division else ()
        return (STANDARD, *exact)

    @property
    def prelude(self) -> str:
        """What stands before every source."""
        extensions = [
            name
            for name, there in (
                ("cl_khr_fp64", self.limits.fp64),
                ("cl_khr_fp16", self.limits.fp16),
                ("cl_khr_int64_base_atomics", self.limits.int64_atomics),
                ("cl_khr_int64_extended_atomics", self.limits.int64_atomics),
            )
            if there
        ]
        pragmas = "".join(f"#pragma OPENCL EXTENSION {name} : enable\n" for name in extensions)
        return pragmas + NO_CONTRACTION

    def program(self, source: str, options: Sequence[str] = (), *, keep: bool = True) -> cl.Program:
        """The source, built; from the process's own memory or the cache on disk if it is there.

        Kernels are declared as "kernel void name(".  keep: whether to store it on disk, which is
        not for nothing: asked for its binary, PoCL compiles once more, for any size of a group.
        Raises ExecutionError with the compiler's words.
        """
        whole = self.prelude + source
        flags = (*self.options, *options)
        key = key_of(("program", BUILD_VERSION, *self.found.identity, *flags, "", whole))
        return self._built.get(key, lambda key: self._made(key, whole, flags, keep))

    def _made(self, key: str, source: str, flags: Sequence[str], keep: bool) -> cl.Program:
        names = set(KERNEL_NAMES.findall(source))
        loaded = self._loaded(key, flags)
        if loaded is not None:
            if self._lacks(loaded, names):
                self.cache.discard(key)
            else:
                return loaded
        program = None
        with suppress(ExecutionError):
            program = self._compiled(source, flags)
        if program is None or self._lacks(program, names):
            # PoCL keeps for ever what a process left that ended while it compiled, and may fail
            # where several compile one text at once; another text has another place in its cache.
            program = self._compiled(f"{source}\n// {uuid.uuid4()}\n", flags)
        if keep and self.cache.folder is not None:
            self._keep(key, program)
        return program

    @staticmethod
    def _lacks(program: cl.Program, names: set[str]) -> bool:
        try:
            return not names <= set(program.kernel_names.split(";"))
        except cl.Error:
            # A driver that does not tell is taken at its word that it has built.
            return False

    def _loaded(self, key: str, flags: Sequence[str]) -> cl.Program | None:
        binary = self.cache.load(key)
        if binary is None:
            return None
        try:
            program = _cl._Program(self.context, [self.found.handle], [binary])
            program._build(" ".join(flags).encode(), [self.found.handle])
        except (cl.Error, MemoryError):
            # Whole, but not what this driver wants after all.
            self.cache.discard(key)
            return None
        return cl.Program(program)

    def _compiled(self, source: str, flags: Sequence[str]) -> cl.Program:
        # pyopencl's own way to build keeps another cache, and warns of whatever compilers say.
        program = _cl._Program(self.context, source)
        try:
            program._build(" ".join(flags).encode(), [self.found.handle])
        except cl.Error as error:
            raise ExecutionError(
                "a kernel does not build",
                asked=f"device {self.found.label!r}",
                expected="a program",
                found=f"{error}\n{self._log(program)}\n{numbered(source)}",
            ) from error
        return cl.Program(program)

    def _keep(self, key: str, program: cl.Program) -> None:
        try:
            (binary,) = program.binaries
        except (cl.Error, ValueError):
            # A driver that does not give its binaries builds each time.
            return
        if binary:
            self.cache.store(key, bytes(binary))

    def _log(self, program: _cl._Program) -> str:
        try:
            log = program.get_build_info(self.found.handle, cl.program_build_info.LOG)
        except cl.Error:
            return ""
        return str(log).strip()

    def kernel(self, program: cl.Program, name: str) -> cl.Kernel:
        """A kernel of the caller's own.  Raises ExecutionError, MemoryError."""
        try:
            return cl.Kernel(program, name)
        except (cl.Error, MemoryError) as error:
            raise failure(error, f"kernel {name!r} of {self.found.label}") from error

    def require_alive(self) -> None:
        """Raises PlanError in a fork of the process that opened the device."""
        require_process(self.process)

    def flush(self) -> None:
        """Let the device begin with what is enqueued."""
        self.queue.flush()

    def finish(self) -> None:
        """Wait until all that is enqueued is done; what it wrote to shared memory is then there.

        Raises ExecutionError or MemoryError for what failed meanwhile.
        """
        try:
            self.queue.finish()
        except cl.Error as error:
            raise failure(error, self.found.label) from error

    def mark(self) -> cl.Event:
        """An event that is complete when all that is enqueued now is done."""
        return cl.enqueue_marker(self.queue)

    def wait(self, event: cl.Event) -> None:
        """Wait for an event of this device or another.  Raises as `finish` does."""
        try:
            event.wait()
        except cl.Error as error:
            raise failure(error, self.found.label) from error


def failure(error: cl.Error | MemoryError, what: str = "") -> Exception:
    """What to raise instead of an error of the binding: MemoryError where memory is missing.
    what: failed; a plan names its node otherwise."""
    if isinstance(error, MemoryError) or error.code in OUT_OF_MEMORY:
        return MemoryError(f"{what}: {error}" if what else str(error))
    return ExecutionError(
        "the device failed",
        asked=what,
        expected="no failure",
        found=str(error),
    )


def translated(error: Exception) -> Exception:
    """What to raise instead of an error of a plan's call: of the binding's ours, else the same."""
    return failure(error) if isinstance(error, cl.Error) else error


def numbered(source: str) -> str:
    """The source with the numbers of lines that compilers speak of."""
    return "\n".join(f"{i:4d}  {line}" for i, line in enumerate(source.splitlines(), 1))
