"""How much a server does for its callers, and who waits for what."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass

from staticad_schema.errors import CancelledError, LimitError

from ..options import usable_cores
from .failures import LateError

# How often those who wait look whether they still want to, in seconds.
TICK = 0.05
# Threads for what takes no time.
SPARE = 16


@dataclass(frozen=True)
class Limits:
    """What one server allows.

    call_bytes: of the tensors of a call.  graph_bytes, graph_nodes: of a graph.  sessions: that
    are open.  shared_bytes: of all memory that is shared with clients.  concurrency: runs at a
    time, others wait, at most `queue` of them.  run_seconds: that a run may take, waiting
    included; zero for any time.
    """

    call_bytes: int = 4 << 30
    graph_bytes: int = 1 << 30
    graph_nodes: int = 2_000_000
    sessions: int = 64
    shared_bytes: int = 8 << 30
    concurrency: int = 0
    queue: int = 1024
    run_seconds: float = 0.0

    @property
    def at_once(self) -> int:
        """Runs at a time."""
        return self.concurrency or max(usable_cores(), 2)

    @property
    def threads(self) -> int:
        """For all that wait, or run."""
        return self.sessions + self.at_once + self.queue + SPARE

    @property
    def http_bytes(self) -> int:
        """Of a request's body: numbers in JSON take more room than their bytes."""
        return min(4 * self.call_bytes, 1 << 28)

    def described(self) -> dict[str, int]:
        """The limits by name, as whole numbers."""
        return {name: int(value) for name, value in asdict(self).items()} | {
            "concurrency": self.at_once
        }


def require(count: int, limit: int, what: str, asked: str) -> None:
    """Raises LimitError for more than a limit."""
    if count > limit:
        raise LimitError(
            f"too many {what}", asked=asked, expected=f"at most {limit:,}", found=f"{count:,}"
        )


class Run:
    """A run that is asked for: the event that ends it, and why it was ended."""

    def __init__(self, seconds: float) -> None:
        self.cancel = threading.Event()
        self.began = time.monotonic()
        self.until = self.began + seconds if seconds else None
        self.late = False


class Gate:
    """Lets some runs in at a time, and ends those that take too long."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._changed = threading.Condition()
        self._running: set[Run] = set()
        self._waiting = 0
        self._timekeeper: threading.Thread | None = None
        self._shut = False

    def entered(self, run: Run) -> Entered:
        """While this is open, the run is one of those in progress.

        Raises LimitError where too many wait already, and for a run that took too long,
        CancelledError.
        """
        return Entered(self, run)

    def enter(self, run: Run) -> None:
        """Begin a run, or wait until it may begin."""
        with self._changed:
            if self._shut:
                raise LimitError("the server is being shut down", asked="run")
            if len(self._running) >= self._limits.at_once:
                self._wait(run)
            self._running.add(run)
            if run.until is not None and self._timekeeper is None:
                self._timekeeper = threading.Thread(target=self._keep_time, daemon=True)
                self._timekeeper.start()

    def leave(self, run: Run) -> None:
        """End a run."""
        with self._changed:
            self._running.discard(run)
            if self._waiting or self._shut:
                self._changed.notify_all()

    @property
    def running(self) -> int:
        """Runs in progress."""
        return len(self._running)

    def shut(self, seconds: float) -> None:
        """Let nothing in any more, and wait so long for what is in progress to end."""
        until = time.monotonic() + seconds
        with self._changed:
            self._shut = True
            while (self._running or self._waiting) and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def _wait(self, run: Run) -> None:
        if self._waiting >= self._limits.queue:
            raise LimitError(
                "too many runs wait",
                asked="run",
                expected=f"at most {self._limits.queue} beside {self._limits.at_once} in progress",
                found="one more",
                hint="try again later",
            )
        self._waiting += 1
        try:
            while len(self._running) >= self._limits.at_once:
                self._changed.wait(TICK)
                if run.cancel.is_set():
                    raise CancelledError("the run was cancelled", asked="run")
                if run.until is not None and time.monotonic() > run.until:
                    raise self.too_late()
        finally:
            self._waiting -= 1

    def _keep_time(self) -> None:
        """End what takes too long, until nothing with a time runs."""
        while True:
            time.sleep(min(TICK, self._limits.run_seconds))
            with self._changed:
                timed = [run for run in self._running if run.until is not None]
                if not timed:
                    self._timekeeper = None
                    return
                for run in timed:
                    if run.until is not None and time.monotonic() > run.until:
                        run.late = True
                        run.cancel.set()

    def too_late(self) -> LateError:
        """What to raise for a run that took too long."""
        return LateError(
            "the run took too long",
            asked="run",
            expected=f"at most {self._limits.run_seconds:g} s, waiting included",
            found="more",
        )


class Entered:
    """A run inside a gate."""

    __slots__ = ("_gate", "_run")

    def __init__(self, gate: Gate, run: Run) -> None:
        self._gate = gate
        self._run = run

    def __enter__(self) -> None:
        self._gate.enter(self._run)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._gate.leave(self._run)
        if self._run.late and isinstance(error, CancelledError):
            raise self._gate.too_late() from None
