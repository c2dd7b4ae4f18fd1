"""Session: runs a graph, and holds the values of its variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from staticad_schema.errors import FeedTypeError, PlanError, StaticadError
from staticad_schema.graph import Graph
from staticad_schema.sites import asking, user_site

from . import checkpoint
from .address import Target
from .chosen import devices_for
from .compile.rewrite import DEFAULT, require_known
from .engine import Prepared
from .feeds import Fed, mapped, targets
from .fetches import Fetches
from .local import Local
from .memory import MemoryPrediction
from .options import check_options, checked_repeat, checked_sizes, missing_package
from .predict import placeholders_for
from .profile import Profile
from .runner import Runner
from .state import Snapshot, Store
from .stored import StoredVariables
from .variables import Variables

if TYPE_CHECKING:
    from .devices.opencl.device import OpenCLDevice


class Session:
    """Runs a graph on a device, in this process or, with `target`, in another.

    graph: what to run; it may grow meanwhile.  device: "auto", "numpy", or "opencl" for the first
    OpenCL device, "opencl:1" for the second, "opencl:pocl" for one by its platform; what that does
    not run, NumPy does.  target: "process" for a private child that ends with the session; or the
    address of a `staticad-executor serve`, "unix:PATH" or "HOST:PORT", or a `Target` with more to
    say.  variables: another session's `variables`, to share its state.
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
        target: str | Target | None = None,
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
            check_options(device, threads, rewrites, memory_budget, check_numerics)
            require_known(rewrites, "Session(rewrites=…)")
            if variables is not None and not isinstance(variables, Variables):
                raise FeedTypeError(
                    "these are no variables of a session",
                    asked="Session(variables=…)",
                    expected="another session's .variables",
                    found=repr(variables)[:200],
                )
            options = (device, threads, check_numerics, tuple(rewrites), memory_budget)
            self._runner: Runner = (
                _here(graph, variables, *options)
                if target is None
                else _elsewhere(graph, target, variables, *options)
            )
        self.graph = graph

    @property
    def variables(self) -> Variables:
        """The values of the variables, by name: they are read, and assigned to."""
        return self._runner.variables

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
            engine = self._runner.engine(_prepared(resolved, fed))
            arrays = [f.array(v) for f, v in zip(fed, values, strict=True)]
            return self._runner.execute(engine, arrays, step, resolved.rebuild)

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
            engine = self._runner.checked(_prepared(resolved, fed))
        execute, rebuild, ndarray = self._runner.execute, resolved.rebuild, np.ndarray
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
        self._runner.cancel()

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
            given = None if sizes is None else checked_sizes(sizes)
            return self._runner.explain(self._looked_at(fetches, feeds, "explain"), given)

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
            return self._runner.memory(self._looked_at(fetches, feeds, "memory"), given)

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
            arrays = [f.array(v) for f, v in zip(fed, values, strict=True)]
            times = checked_repeat(repeat)
            measured, last = self._runner.profile(_prepared(resolved, fed), arrays, step, times)
            measured.result = resolved.rebuild(last)
            if path is not None:
                measured.save(path)
            return measured

    def _looked_at(self, fetches: Any, feeds: Iterable[Any] | None, asked: str) -> Prepared:
        resolved = Fetches(self.graph, fetches)
        if feeds is None:
            needed = placeholders_for(self.graph, resolved.values, resolved.effects)
            feeds = [self.graph.handle(value) for value in needed]
        return _prepared(resolved, targets(self.graph, feeds, asked))

    # ---------------------------------------------------------------- state

    def initialize(self) -> None:
        """Set every variable of the graph to its initial value, and the counters to zero.

        Not needed before running: variables initialise themselves when they are first needed.
        """
        with asking("initialize", keeps=True):
            self._runner.initialize()

    def snapshot(self) -> Snapshot:
        """A copy of all variables of the graph and of the counters, for `restore`."""
        with asking("snapshot", keeps=True):
            return self._runner.snapshot()

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
        return self._runner.trim()

    def memory_in_use(self) -> int:
        """Bytes of the blocks that variables and results hold now; tiny arrays are not counted."""
        return self._runner.memory_in_use()

    def close(self) -> None:
        """Cancel what runs and drop what was prepared.  Results and shared state stay."""
        self._runner.close()

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


def _prepared(fetches: Fetches, fed: Sequence[Fed]) -> Prepared:
    return Prepared(fetches.values, fetches.effects, tuple(f.value for f in fed))


def _here(
    graph: Graph,
    variables: Variables | None,
    device: str | OpenCLDevice,
    threads: int | None,
    check_numerics: bool,
    rewrites: tuple[str, ...],
    memory_budget: int | None,
) -> Local:
    """The runner of this process.  Raises PlanError."""
    # Opened at once, so that what is not there is told here.
    devices_for(device, ())
    if variables is None:
        store = Store()
    elif isinstance(variables, StoredVariables):
        store = variables.store
    else:
        raise PlanError(
            "these variables are in another process",
            asked="Session(variables=…)",
            expected="variables of a session in this process, or its target= for this one too",
            found=repr(variables)[:200],
        )
    return Local(graph, store, device, threads, check_numerics, rewrites, memory_budget)


def _elsewhere(
    graph: Graph,
    target: str | Target,
    variables: Variables | None,
    device: str | OpenCLDevice,
    threads: int | None,
    check_numerics: bool,
    rewrites: tuple[str, ...],
    memory_budget: int | None,
) -> Runner:
    """The runner of another process.  Raises PlanError, ConnectionFailedError."""
    # gRPC is imported when a session elsewhere is first asked for.
    try:
        from .serving.remote import Remote
    except ModuleNotFoundError as error:
        raise missing_package(error, "Session(target=…)") from None
    if not isinstance(device, str):
        raise PlanError(
            "a device of this process is asked for in another",
            asked="Session(device=…)",
            expected="the name of a device there",
            found=repr(device)[:200],
        )
    return Remote.open(
        graph, Target.of(target), variables, device, threads, check_numerics, rewrites,
        memory_budget,
    )  # fmt: skip
