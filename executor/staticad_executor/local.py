"""The runner of this process: engines, their devices, and the store of variables."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from staticad_schema.errors import CancelledError, ExecutionError, PlanError
from staticad_schema.graph import Graph
from staticad_schema.types import Array

from .chain import planned
from .chosen import devices_for
from .compile import Devices
from .engine import Engine, Interpreter, Known, Planning, Prepared, Watch, require_plans
from .fetches import Rebuild
from .memory import MemoryPrediction
from .numerics import check_numbers
from .options import checked_step, usable_cores
from .predict import explain, found_sizes, shapes_for
from .profile import Profile
from .recent import Recent
from .scratch import Scratch
from .state import Snapshot, Store
from .stored import StoredVariables

if TYPE_CHECKING:
    from .devices.opencl.device import OpenCLDevice

# Structures kept; plans by shape are bounded by the engine.
STRUCTURES = 256


class Local:
    """Runs a graph in this process.  The options are those of a session, checked."""

    def __init__(
        self,
        graph: Graph,
        store: Store,
        device: str | OpenCLDevice = "auto",
        threads: int | None = None,
        check_numerics: bool = False,
        rewrites: Sequence[str] = (),
        memory_budget: int | None = None,
    ) -> None:
        self.graph = graph
        self.store = store
        observe = check_numbers if check_numerics else None
        self.variables = StoredVariables(graph, store, observe)
        self.engines: Recent[Prepared, Engine] = Recent(STRUCTURES)
        self._scratch = Scratch()
        self._device = device
        self._threads = int(threads or usable_cores())
        self._check_numerics = check_numerics
        self._rewrites = tuple(rewrites)
        self._budget = None if memory_budget is None else int(memory_budget)
        # Replaced when it is set: later runs are not cancelled.
        self._cancel = threading.Event()
        self._closed = False

    # ---------------------------------------------------------------- running

    def execute(
        self,
        engine: Engine,
        feeds: list[Array],
        step: object,
        rebuild: Rebuild,
        watch: Watch | None = None,
        cancel: threading.Event | None = None,
    ) -> object:
        """Run once; what `rebuild` makes of the fetched arrays.

        cancel: set by whoever cancels this run, instead of `cancel()`.
        Raises PlanError, ExecutionError, CancelledError; then nothing has changed.
        """
        if self._closed:
            raise PlanError(
                "the session is closed",
                asked="run",
                expected="an open session",
                found="one that was closed, or left by its `with`",
            )
        cancel, store = self._cancel if cancel is None else cancel, self.store
        store.pool.settle()
        drew = engine.draws and step is None
        number = None if step is None else checked_step(step)
        try:
            if not (engine.writes or drew):
                held = store.snapshot if engine.started else self.variables.ready(engine.reads)
                engine.started = True
                number = held.run_number if number is None else number
                values, _ = engine.compute(feeds, held, number, cancel, watch)
                return rebuild(values)
            with store.writer:
                if not engine.started:
                    self.variables.ready_for_writer(engine.reads, engine.writes, engine.arenas)
                    engine.started = True
                held = store.snapshot
                number = held.run_number if number is None else number
                values, writes = engine.compute(feeds, held, number, cancel, watch)
                result = rebuild(values)
                following = held.after_run(writes, drew)
                if cancel.is_set():
                    raise CancelledError("the run was cancelled", asked="run")
                # The commit: nothing before it has changed anything, and nothing that could
                # fail is left after it.
                store.snapshot = following
            return result
        except MemoryError as error:
            raise ExecutionError(
                f"out of memory: {error}",
                asked="run",
                expected="memory for the results and the new values of variables",
                hint="session.memory(fetches, sizes) predicts what a run needs",
            ) from error
        finally:
            self.graph.note_run()

    def cancel(self) -> None:
        """Make the runs that are in progress in other threads raise CancelledError."""
        event, self._cancel = self._cancel, threading.Event()
        event.set()

    # ---------------------------------------------------------------- preparing

    def engine(self, prepared: Prepared) -> Engine:
        """The engine for fetches and feeds.  Graphs only grow, so an engine stays right."""
        return self.engines.get(prepared, self._prepare)

    checked = engine

    def _prepare(self, prepared: Prepared) -> Engine:
        pool = self.store.pool
        engine: Engine
        if self._check_numerics:
            engine = Interpreter(self.graph, prepared, pool, check_numbers)
        else:
            engine = planned(
                self.graph, prepared, pool, self._rewrites, self._threads, self._scratch,
                self._budget, self._devices(),
            )  # fmt: skip
        for name in {*engine.reads, *engine.writes}:
            self.store.declare(self.graph, self.graph.variable_specs[name])
        return engine

    def _devices(self) -> Devices:
        """The session's devices, and those that nodes ask for."""
        hints = {node.device for node in self.graph.nodes if node.device is not None}
        return devices_for(self._device, sorted(hints))

    # ---------------------------------------------------------------- looking inside

    def explain(self, prepared: Prepared, sizes: Mapping[str, int] | None) -> str:
        """The plan in words; without sizes the one that ran last, or the program."""
        engine = require_plans(self.engine(prepared), "explain")
        known = engine.last
        if sizes is not None or known is None:
            try:
                known = self._known(engine, prepared.fed, {} if sizes is None else sizes)
            except PlanError:
                if sizes is not None:
                    raise
        return explain(engine, known)

    def memory(self, prepared: Prepared, sizes: Mapping[str, int]) -> MemoryPrediction:
        """The bytes that a run would need.  Raises PlanError if a size is missing."""
        engine = require_plans(self.engine(prepared), "memory")
        return engine.predict(self._known(engine, prepared.fed, sizes))

    def profile(
        self,
        prepared: Prepared,
        feeds: list[Array],
        step: object,
        repeat: int,
        cancel: threading.Event | None = None,
    ) -> tuple[Profile, list[Array]]:
        """The measured steps of some runs, and what the last one fetched."""
        engine = require_plans(self.engine(prepared), "profile")
        measured, fetched = Profile(self._threads), list[Array]()

        def keep(values: list[Array]) -> None:
            fetched[:] = values

        for _ in range(repeat):
            start = time.perf_counter()
            self.execute(engine, feeds, step, keep, measured.watch, cancel)
            measured.seconds += time.perf_counter() - start
        return measured, fetched

    def _known(self, engine: Planning, fed: tuple[int, ...], sizes: Mapping[str, int]) -> Known:
        """What plans for these sizes follow from.  Raises PlanError."""
        shapes = shapes_for(self.graph, engine, fed, sizes, self.store.snapshot.arrays)
        return Known(shapes, found_sizes(engine, sizes))

    # ---------------------------------------------------------------- state

    def initialize(self) -> None:
        """Set every variable of the graph to its initial value, and the counters to zero."""
        names = list(self.graph.variable_specs)
        self.variables.publish(self.variables.initial(names), Snapshot())

    def snapshot(self) -> Snapshot:
        """A copy of all variables of the graph and of the counters."""
        names = tuple(self.graph.variable_specs)
        held = self.variables.ready(names)
        arrays = {name: held.arrays[name].copy() for name in names}
        return Snapshot(run_number=held.run_number, step=held.step).with_arrays(arrays)

    # ---------------------------------------------------------------- lifetime

    def trim(self) -> int:
        """Give idle memory back to the operating system; the bytes that were given back."""
        freed = sum(engine.trim() for engine in self.engines.values())
        return freed + self.store.pool.trim()

    def memory_in_use(self) -> int:
        """Bytes of the blocks that variables and results hold now."""
        return self.store.pool.live_bytes

    def close(self) -> None:
        """Cancel what runs and drop what was prepared.  Results and shared state stay."""
        self._closed = True
        self.cancel()
        self.engines.clear()
        self.trim()
