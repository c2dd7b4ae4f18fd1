"""Session: runs a graph, and holds the values of its variables."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from staticad_schema.errors import (
    CancelledError,
    ExecutionError,
    FeedTypeError,
    PlanError,
    StaticadError,
)
from staticad_schema.graph import Graph
from staticad_schema.sites import asking, user_site
from staticad_schema.types import Array

from . import checkpoint
from .chain import planned
from .chosen import devices_for
from .compile import Devices
from .compile.rewrite import DEFAULT, require_known
from .engine import Engine, Interpreter, Known, Planning, Prepared, Watch, require_plans
from .feeds import Fed, mapped, targets
from .fetches import Fetches, Rebuild
from .memory import MemoryPrediction
from .numerics import check_numbers
from .options import check_options, checked_repeat, checked_sizes, checked_step, usable_cores
from .predict import explain, found_sizes, placeholders_for, shapes_for
from .profile import Profile
from .recent import Recent
from .scratch import Scratch
from .state import Snapshot, Store
from .variables import Variables

if TYPE_CHECKING:
    from .devices.opencl.device import OpenCLDevice

# Structures kept; plans by shape are bounded by the engine.
STRUCTURES = 256


class Session:
    """Runs a graph on a device, in this process.

    graph: what to run; it may grow meanwhile.  device: "auto", "numpy", or "opencl" for the first
    OpenCL device, "opencl:1" for the second, "opencl:pocl" for one by its platform; what that does
    not run, NumPy does.  variables: another session's `variables`, to share its state.
    threads: threads of a NumPy kernel, None for as many as pay.  check_numerics: watch every value,
    and fail at the first NaN, or infinity made of finite values.  rewrites: classes and names of
    rewrites that are applied, and names with - before them that are not.  memory_budget: the most
    bytes that `memory` may predict for a run: values are computed again where they are needed, with
    the same bits, instead of being kept; PlanError says the smallest budget where that is not
    enough.  "auto" is "numpy" then.

    Usable from many threads: runs that write variables, or draw random numbers, follow each
    other; others run beside them on the state they found.  A run that fails changes nothing.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", ("n",), name="x")
    ...     loss = sad.sum(x * x, name="loss")
    >>> with sad.Session(graph) as session:
    ...     print(session.run("loss", {"x": [1.0, 2.0, 3.0]}))
    14.0
    """

    def __init__(
        self,
        graph: Graph,
        device: str | OpenCLDevice = "auto",
        target: str | None = None,
        variables: Variables | None = None,
        threads: int | None = None,
        check_numerics: bool = False,
        rewrites: Sequence[str] = DEFAULT,
        memory_budget: int | None = None,
    ) -> None:
        with asking("Session", keeps=True):
            if not isinstance(graph, Graph):
                raise FeedTypeError(
                    "no graph is given", expected="a Graph", found=repr(graph)[:200]
                )
            check_options(device, target, threads, rewrites, memory_budget, check_numerics)
            require_known(rewrites, "Session(rewrites=…)")
            # Opened at once, so that what is not there is told here.
            devices_for(device, ())
            if variables is not None and not isinstance(variables, Variables):
                raise FeedTypeError(
                    "these are no variables of a session",
                    asked="Session(variables=…)",
                    expected="another session's .variables",
                    found=repr(variables)[:200],
                )
        self.graph = graph
        self._store = Store() if variables is None else variables.store
        observe = check_numbers if check_numerics else None
        self.variables = Variables(graph, self._store, observe)
        self._scratch = Scratch()
        self._device = device
        self._threads = int(threads or usable_cores())
        self._check_numerics = check_numerics
        self._rewrites = tuple(rewrites)
        self._budget = None if memory_budget is None else int(memory_budget)
        self._engines: Recent[Prepared, Engine] = Recent(STRUCTURES)
        # Replaced when it is set: later runs are not cancelled.
        self._cancel = threading.Event()
        self._closed = False

    # ---------------------------------------------------------------- running

    def run(
        self,
        fetches: Any,
        feeds: Mapping[Any, Any] | None = None,
        step: int | None = None,
    ) -> Any:
        """The values of `fetches`, in the same structure.

        fetches: a tensor, variable, effect or name, or lists, tuples and dicts of them; an
        effect gives None, everything else an array (0-d for scalars) that is the caller's own.
        feeds: values by tensor or name; any value may be fed.  step: the number of the random
        stream, instead of the session's own count of committed runs that drew.

        Raises PlanError for what does not fit the graph, ExecutionError for a node that fails,
        CancelledError.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     x = sad.placeholder("float32", ("n",), name="x")
        ...     y = sad.sum(x * x, name="y")
        >>> with sad.Session(graph) as session:
        ...     session.run({"value": y, "slope": sad.gradients(y, x)}, {x: [1.0, 2.0]})
        {'value': array(5., dtype=float32), 'slope': [array([2., 4.], dtype=float32)]}
        """
        with asking("run", keeps=True):
            resolved = Fetches(self.graph, fetches)
            fed, values = mapped(self.graph, feeds, "run")
            engine = self._engine(resolved, fed)
            arrays = [f.array(v) for f, v in zip(fed, values, strict=True)]
            return self._execute(engine, arrays, step, resolved.rebuild)

    def callable(self, fetches: Any, feeds: Iterable[Any] = ()) -> Callable[..., Any]:
        """The function from the values of `feeds`, in order, to `fetches`: `run` prepared.

        It takes `step=` as run does.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     x = sad.placeholder("float32", ())
        ...     total = sad.variable(0.0, name="total")
        ...     add = total.assign_add(x)
        >>> with sad.Session(graph) as session:
        ...     step = session.callable([x * 2, add], [x])
        ...     print(*step(3.0), *step(4.0))
        6.0 3.0 8.0 7.0
        """
        with asking("callable", keeps=True):
            resolved = Fetches(self.graph, fetches)
            fed = targets(self.graph, feeds, "callable")
            engine = self._engine(resolved, fed)
        execute, rebuild, ndarray = self._execute, resolved.rebuild, np.ndarray
        dtypes, count = [f.type.dtype for f in fed], len(fed)

        def call(*values: Any, step: int | None = None) -> Any:
            if len(values) != count:
                raise PlanError(
                    "wrong number of values",
                    asked="callable",
                    expected=f"{count}: {', '.join(f.name for f in fed)}",
                    found=str(len(values)),
                    site=user_site(),
                )
            # Not `with asking`, which costs something also when all is well.
            try:
                arrays = []
                for f, dtype, value in zip(fed, dtypes, values, strict=True):
                    if type(value) is ndarray and value.dtype is dtype:
                        flags = value.flags
                        if flags.c_contiguous and flags.aligned:
                            arrays.append(value)
                            continue
                    arrays.append(f.array(value))
                return execute(engine, arrays, step, rebuild)
            except StaticadError as error:
                error.locate(asked="run", site=user_site())
                raise

        return call

    def cancel(self) -> None:
        """Make the runs that are in progress in other threads raise CancelledError."""
        event, self._cancel = self._cancel, threading.Event()
        event.set()

    def _execute(
        self,
        engine: Engine,
        feeds: list[Array],
        step: object,
        rebuild: Rebuild,
        watch: Watch | None = None,
    ) -> Any:
        if self._closed:
            raise PlanError(
                "the session is closed",
                asked="run",
                expected="an open session",
                found=f"one that was closed, or left by its `with`: {self!r}",
            )
        cancel, store = self._cancel, self._store
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

    # ---------------------------------------------------------------- preparing

    def _engine(self, fetches: Fetches, fed: Sequence[Fed]) -> Engine:
        """The engine for fetches and feeds.  Graphs only grow, so an engine stays right."""
        prepared = Prepared(fetches.values, fetches.effects, tuple(f.value for f in fed))
        return self._engines.get(prepared, self._prepare)

    def _prepare(self, prepared: Prepared) -> Engine:
        pool = self._store.pool
        engine: Engine
        if self._check_numerics:
            engine = Interpreter(self.graph, prepared, pool, check_numbers)
        else:
            engine = planned(
                self.graph, prepared, pool, self._rewrites, self._threads, self._scratch,
                self._budget, self._devices(),
            )  # fmt: skip
        for name in {*engine.reads, *engine.writes}:
            self._store.declare(self.graph, self.graph.variable_specs[name])
        return engine

    def _devices(self) -> Devices:
        """The session's devices, and those that nodes ask for."""
        hints = {node.device for node in self.graph.nodes if node.device is not None}
        return devices_for(self._device, sorted(hints))

    # ---------------------------------------------------------------- looking inside

    def explain(
        self,
        fetches: Any,
        sizes: Mapping[str, int] | None = None,
        feeds: Iterable[Any] | None = None,
    ) -> str:
        """The plan for `fetches` in words: steps, memory, which rewrites applied.

        sizes: of the symbolic dimensions; without them the plan that ran last, and if there is
        none, the program.  feeds: what would be fed, by default the placeholders needed.
        """
        with asking("explain", keeps=True):
            given = checked_sizes({} if sizes is None else sizes)
            engine, fed = self._planner(fetches, feeds, "explain")
            known = engine.last
            if sizes is not None or known is None:
                try:
                    known = self._known(engine, fed, given)
                except PlanError:
                    if sizes is not None:
                        raise
            return explain(engine, known)

    def memory(
        self,
        fetches: Any,
        sizes: Mapping[str, int] | None = None,
        feeds: Iterable[Any] | None = None,
    ) -> MemoryPrediction:
        """The bytes that a run would need at its worst moment; printed, a table.

        sizes: of the symbolic dimensions, also of those that runs find.  Raises PlanError if one
        is missing.
        """
        with asking("memory", keeps=True):
            given = checked_sizes({} if sizes is None else sizes)
            engine, fed = self._planner(fetches, feeds, "memory")
            return engine.predict(self._known(engine, fed, given))

    def profile(
        self,
        fetches: Any,
        feeds: Mapping[Any, Any] | None = None,
        path: str | os.PathLike[str] | None = None,
        repeat: int = 1,
        step: int | None = None,
    ) -> Profile:
        """Run `repeat` times, as run does, and measure each step; printed, tables by op and line
        with bytes, operations, and the share of what the machine could do.

        path: where to write the trace, for chrome://tracing or ui.perfetto.dev.
        """
        with asking("profile", keeps=True):
            resolved = Fetches(self.graph, fetches)
            fed, values = mapped(self.graph, feeds, "profile")
            engine = self._engine(resolved, fed)
            require_plans(engine, "profile")
            arrays = [f.array(v) for f, v in zip(fed, values, strict=True)]
            measured = Profile(self._threads)
            for _ in range(checked_repeat(repeat)):
                start = time.perf_counter()
                result = self._execute(engine, arrays, step, resolved.rebuild, measured.watch)
                measured.seconds += time.perf_counter() - start
                measured.result = result
            if path is not None:
                measured.save(path)
            return measured

    def _planner(
        self, fetches: Any, feeds: Iterable[Any] | None, asked: str
    ) -> tuple[Planning, tuple[int, ...]]:
        resolved = Fetches(self.graph, fetches)
        if feeds is None:
            needed = placeholders_for(self.graph, resolved.values, resolved.effects)
            feeds = [self.graph.handle(value) for value in needed]
        fed = targets(self.graph, feeds, asked)
        engine = require_plans(self._engine(resolved, fed), asked)
        return engine, tuple(f.value for f in fed)

    def _known(self, engine: Planning, fed: tuple[int, ...], sizes: Mapping[str, int]) -> Known:
        """What plans for these sizes follow from.  Raises PlanError."""
        shapes = shapes_for(self.graph, engine, fed, sizes, self._store.snapshot.arrays)
        return Known(shapes, found_sizes(engine, sizes))

    # ---------------------------------------------------------------- state

    def initialize(self) -> None:
        """Set every variable of the graph to its initial value, and the counters to zero.

        Not needed before running: variables initialise themselves when they are first needed.
        """
        with asking("initialize", keeps=True):
            names = list(self.graph.variable_specs)
            self.variables.publish(self.variables.initial(names), Snapshot())

    def snapshot(self) -> Snapshot:
        """A copy of all variables of the graph and of the counters, for `restore`."""
        names = tuple(self.graph.variable_specs)
        held = self.variables.ready(names)
        arrays = {name: held.arrays[name].copy() for name in names}
        return Snapshot(run_number=held.run_number, step=held.step).with_arrays(arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write variables and counters to a checkpoint, in one step.  Raises OSError."""
        with asking("save", keeps=True):
            checkpoint.save(path, self.snapshot())

    def restore(self, source: str | os.PathLike[str] | Snapshot) -> None:
        """Set variables and counters to those of a checkpoint or snapshot.

        Raises FormatError for a damaged file, and PlanError naming all variables that are
        missing, extra, or of another type; then nothing is changed.
        """
        with asking("restore", keeps=True):
            if not isinstance(source, str | os.PathLike | Snapshot):
                raise FeedTypeError(
                    "nothing to restore from",
                    expected="the path of a checkpoint, or a snapshot",
                    found=repr(source)[:200],
                )
            held = source.copy() if isinstance(source, Snapshot) else checkpoint.load(source)
            checkpoint.require_match(self.graph, held)
            self.variables.publish(held.arrays, held)

    # ---------------------------------------------------------------- lifetime

    def trim(self) -> int:
        """Give idle memory back to the operating system; the bytes that were given back."""
        freed = sum(engine.trim() for engine in self._engines.values())
        return freed + self._store.pool.trim()

    def memory_in_use(self) -> int:
        """Bytes of the blocks that variables and results hold now; tiny arrays are not counted."""
        return self._store.pool.live_bytes

    def close(self) -> None:
        """Cancel what runs and drop what was prepared.  Results and shared state stay."""
        self._closed = True
        self.cancel()
        self._engines.clear()
        self.trim()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<session on {self.graph!r}>"
