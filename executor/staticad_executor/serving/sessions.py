"""The sessions of a server: what each holds, and who they are for."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from staticad_schema.errors import LimitError, PlanError
from staticad_schema.sidecar import Tensor
from staticad_schema.types import Array

from ..address import check_name
from ..checkpoint import require_match
from ..chosen import devices_for
from ..compile.rewrite import require_known
from ..local import Local
from ..options import check_options
from ..state import Snapshot, Store
from . import graphs
from .checkpoints import LOG, Folder
from .failures import UnknownGraphError, UnknownSessionError
from .limits import Limits, Run, require
from .regions import POSSIBLE, Region

# Graphs of a session that are kept ready: it has a new one each time that its graph has grown.
GRAPHS = 4


class Options(NamedTuple):
    """The options of a session, as they came from elsewhere.  Checked by `check`."""

    device: str
    threads: int | None
    check_numerics: bool
    rewrites: tuple[str, ...]
    memory_budget: int | None

    def check(self) -> None:
        """Raises PlanError."""
        check_options(
            self.device, self.threads, self.rewrites, self.memory_budget, self.check_numerics
        )
        require_known(self.rewrites, "Session(rewrites=…)")
        devices_for(self.device, ())


class Shared:
    """The memory that all sessions share with their clients."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._bytes = 0
        self._made = 0

    def made(self, size: int) -> Region:
        """A region of at least that size.  Raises LimitError."""
        rounded = 1 << max(size - 1, 4095).bit_length()
        with self._lock:
            if self._bytes + rounded > self._limit:
                raise LimitError(
                    "too much memory is shared with clients",
                    expected=f"at most {self._limit:,} bytes",
                    found=f"{self._bytes:,}, and {rounded:,} more",
                )
            self._bytes += rounded
            self._made += 1
            id = self._made
        try:
            return Region.made(id, rounded)
        except BaseException:
            self._bytes -= rounded
            raise

    def closed(self, region: Region) -> None:
        """A region is given up."""
        region.close()
        with self._lock:
            self._bytes -= region.size


class Served:
    """A session of a server: one store of variables, and the graphs that run on it."""

    def __init__(
        self, name: str, options: Options, store: Store, shared: Shared, limits: Limits
    ) -> None:
        self.id = name or secrets.token_hex(16)
        self.name = name
        self.store = store
        self.options = options
        self.runs: set[Run] = set()
        self.resumed_from = ""
        self.checkpoint_step: int | None = None
        self.checkpoint_error = ""
        # What the newest checkpoint holds.
        self.kept: Snapshot | None = None
        self._limits = limits
        self._shared = shared
        self._regions: dict[int, Region] = {}
        self._graphs: dict[bytes, Local] = {}
        self._constants: dict[str, Tensor] = {}
        self._lock = threading.RLock()
        self._closed = False

    # ---------------------------------------------------------------- graphs

    def local(self, digest: bytes) -> Local:
        """The runner of a graph.  Raises UnknownGraphError."""
        found = self._graphs.get(digest)
        if found is None:
            raise UnknownGraphError("the session does not know the graph")
        return found

    @property
    def newest(self) -> Local | None:
        """The runner of the graph that came last."""
        with self._lock:
            return next(reversed(self._graphs.values()), None)

    def missing(self, digest: bytes, constants: Sequence[str]) -> list[str]:
        """Which constants are not known, and "" for the graph itself; nothing if that is."""
        if digest in self._graphs:
            return []
        return ["", *[name for name in constants if name not in self._constants]]

    def extend(self, digest: bytes, data: bytes, given: dict[str, Array], names: set[str]) -> None:
        """Run a graph from now on.  Raises FormatError, LimitError, PlanError.

        given: constants that were missing; names: all that the graph calls.
        """
        require(len(data), self._limits.graph_bytes, "bytes of a graph", "a graph")
        if hashlib.sha256(data).digest() != digest:
            raise PlanError("the graph is not the one that was announced")
        fresh = {name: graphs.entry(name, array) for name, array in given.items()}
        known = {name: t for name, t in (self._constants | fresh).items() if name in names}
        graph = graphs.unpacked(data, known)
        require(len(graph.nodes), self._limits.graph_nodes, "nodes in a graph", "a graph")
        options = self.options
        local = Local(graph, self.store, *options)
        with self._lock:
            if self._closed:
                raise _unknown()
            self._constants = known
            self._graphs[digest] = local
            while len(self._graphs) > GRAPHS:
                del self._graphs[next(iter(self._graphs))]

    def resume(self, folder: Folder) -> None:
        """Go on from the newest checkpoint of the session's name, if it has one.

        Raises PlanError for one of another graph.
        """
        local = self.newest
        if local is None or self.resumed_from or self.store.snapshot.step:
            return
        found = folder.newest(self.name)
        if found is not None:
            require_match(local.graph, found.snapshot)
            local.variables.publish(found.snapshot.arrays, found.snapshot)
            self.kept = self.store.snapshot
            self.resumed_from = str(found.path)
            self.checkpoint_step = found.snapshot.step
            LOG.info(
                "session %s goes on from %s, step %d", self.name, found.path, found.snapshot.step
            )

    # ---------------------------------------------------------------- shared memory

    def share(self, size: int) -> Region:
        """A new region.  Raises LimitError where there can be none."""
        if not POSSIBLE:
            raise LimitError("this system shares no memory with clients", expected="Linux")
        region = self._shared.made(size)
        with self._lock:
            if not self._closed:
                self._regions[region.id] = region
                return region
        self._shared.closed(region)
        raise _unknown()

    def region(self, id: int) -> Region:
        """The session's region of that number.  Raises PlanError."""
        found = self._regions.get(id)
        if found is None:
            raise PlanError("the session has no such region", found=str(id))
        return found

    def replaced(self, old: Region, size: int) -> Region:
        """A larger region instead of one."""
        made = self.share(size)
        with self._lock:
            if self._regions.pop(old.id, None) is not None:
                self._shared.closed(old)
        return made

    # ---------------------------------------------------------------- lifetime

    def cancel(self) -> None:
        """End the runs that are in progress."""
        for run in list(self.runs):
            run.cancel.set()

    def close(self) -> None:
        """Give everything back."""
        with self._lock:
            self._closed = True
            for local in self._graphs.values():
                local.close()
            for region in self._regions.values():
                self._shared.closed(region)
            self._graphs.clear()
            self._constants.clear()
            self._regions.clear()
        self.cancel()


class Sessions:
    """All sessions of a server, by their ids; names are the ids of those that have one."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._shared = Shared(limits.shared_bytes)
        self._open: dict[str, Served] = {}
        self._lock = threading.Lock()

    def opened(self, name: str, options: Options, variables_of: str) -> Served:
        """A new session, or the one of that name.  Raises PlanError, LimitError."""
        if name:
            check_name(name, "Session(target=…)")
        options.check()
        with self._lock:
            if name and name in self._open:
                return self._open[name]
            store = Store()
            if variables_of:
                if variables_of not in self._open:
                    raise _unknown()
                store = self._open[variables_of].store
            require(len(self._open) + 1, self._limits.sessions, "sessions", "Session")
            made = Served(name, options, store, self._shared, self._limits)
            self._open[made.id] = made
            return made

    def get(self, id: str) -> Served:
        """The session of an id.  Raises UnknownSessionError."""
        found = self._open.get(id)
        if found is None:
            raise _unknown()
        return found

    def close(self, id: str) -> None:
        """End a session, if it is there."""
        with self._lock, suppress(KeyError):
            self._open.pop(id).close()

    def named(self) -> list[Served]:
        """The sessions that have a name."""
        with self._lock:
            return [session for session in self._open.values() if session.name]

    def __len__(self) -> int:
        return len(self._open)


def _unknown() -> UnknownSessionError:
    return UnknownSessionError(
        "there is no such session",
        expected="one that is open",
        found="one that was closed, or is of another server",
    )
