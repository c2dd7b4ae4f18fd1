"""Plan: straight-line code over numbered cells, for one choice of feeds, fetches and sizes.

A plan is frozen data.  What a run changes lives in a workspace, leased for the time of the
run, so that one plan runs from many threads at once.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.errors import CancelledError, Site, StaticadError, shown
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.types import TensorType, nbytes

from .failure import InBodyError, InNodeError, node_failure
from .residence import Held, Resident

Call = tuple[Callable[..., Any], Callable[[Any], Sequence[Any]]]
# A call with its arguments, or with None and how to pick them at each run.
BoundCall = tuple[Callable[..., Any], Sequence[Any] | None, Callable[[Any], Sequence[Any]]]
# Called before and after each step of a run that is watched: (number of the step, phase).
Observe = Callable[[int, str], None]


class Step(NamedTuple):
    """One kernel launch, as `explain` and `profile` see it.

    nodes: indices in the plan's graph.  algorithm: e.g. "BLAS", "4 tiles of 64x1024".
    reads, writes: cells by name.  calls: the range of its calls.  live_bytes: scratch in use.
    """

    kind: str
    device: str
    nodes: tuple[int, ...]
    algorithm: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    calls: range
    live_bytes: int


def picking(cells: tuple[int, ...]) -> Callable[[Any], Sequence[Any]]:
    """What takes the values of these cells out of all of them, in C."""
    if len(cells) > 1:
        return operator.itemgetter(*cells)
    # An itemgetter of one index gives no sequence, but one of a slice does.
    start = cells[0] if cells else 0
    return operator.itemgetter(slice(start, start + len(cells)))


class Workspace(NamedTuple):
    """cells: the arrays of a run, scratch arrays in place.  token: who cancels, for calls
    that take long.  chunks: the calls, with the arguments that are the same in every run.
    quiet: a context in which NumPy says nothing about floats; entering one that is there costs
    a tenth of making one."""

    cells: list[Any]
    token: list[threading.Event | None]
    chunks: tuple[list[BoundCall], ...]
    quiet: Context


def workspace(
    chunks: Iterable[Iterable[Call]], cells: list[Any], token: list[threading.Event | None]
) -> Workspace:
    """The workspace of calls over cells; what is not there yet is None, and given at each run."""
    quiet = Context()
    quiet.run(np.seterr, all="ignore")
    return Workspace(cells, token, tuple([_bound(chunk, cells) for chunk in chunks]), quiet)


def _bound(calls: Iterable[Call], cells: list[Any]) -> list[BoundCall]:
    bound: list[BoundCall] = []
    for function, pick in calls:
        arguments = pick(cells)
        called = arguments[0] if function is operator.call else None
        if isinstance(called, partial) and not called.keywords and _all_known(called.args):
            # It is known what that calls in turn: nothing has to stand between.
            function, arguments = called.func, called.args
        bound.append((function, arguments if _all_known(arguments) else None, pick))
    return bound


def _all_known(arguments: Sequence[Any]) -> bool:
    return all(argument is not None for argument in arguments)


def user_site(graph: Graph, node: Node) -> Site | None:
    """The user's line of a node; of a gradient node that of what it is the gradient of."""
    return graph.site(node.forward_site) or graph.site(node.site)


class MemoryUse(NamedTuple):
    """What a value takes: its bytes, its node, by op and name, and the user's line."""

    nbytes: int
    op: str
    name: str
    type: TensorType
    site: Site | None


def memory_use(graph: Graph, index: int, type_: TensorType) -> MemoryUse:
    """What a value of static type takes, which a node computes."""
    node = graph.nodes[index]
    name, site = graph.node_name(index), user_site(graph, node)
    return MemoryUse(nbytes(type_), node.op, name, type_, site)


class Account(NamedTuple):
    """What is told of a plan, and not needed to run it.  memory: the values that are live when it
    needs the most memory, the largest first.  value_bytes: of all computed values."""

    steps: tuple[Step, ...]
    memory: tuple[MemoryUse, ...]
    value_bytes: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Runs with `execute`; `explain` prints it.

    graph: the nodes that steps and calls name.  input_types: of the sources in order.
    output_types: of fetches, then writes.  prologue: (cell, cell looked at, how) of the views
    of what is given.  chunks: the calls, cut where cancelling is looked for.  owners: the
    nodes of each call.  speaks: whether calls act on the world outside, which they do in the
    caller's context.  workspace_bytes: the scratch of one run, which may be kept for the next.
    temporary_bytes: what the hungriest call takes beyond that while it runs.  notes, account:
    what is told of it, made when somebody asks.  settle: waits for all devices on which calls
    only enqueue, if there are any.  translated: what to raise instead of an error of a call, where
    such devices raise their own.  on_host: the inputs that have to be arrays of the host; others
    may be where they are.  lenders: for each output what gives the memory of a device that it is
    written to; None for an array of the host.  process: the one that made it.
    """

    graph: Graph
    input_types: tuple[TensorType, ...]
    output_types: tuple[TensorType, ...]
    prologue: tuple[tuple[int, int, Callable[[Any], Any]], ...]
    chunks: tuple[tuple[Call, ...], ...]
    owners: tuple[tuple[int, ...], ...]
    speaks: bool
    build_workspace: Callable[[], Workspace]
    workspace_bytes: int
    temporary_bytes: int
    slot_bytes: int
    make_notes: Callable[[], Sequence[str]]
    make_account: Callable[[], Account]
    idle: list[Workspace]
    settle: Callable[[], None] | None = None
    translated: Callable[[Exception], Exception] | None = None
    on_host: tuple[int, ...] = ()
    lenders: tuple[Callable[[], Resident] | None, ...] = ()
    process: int = field(default_factory=os.getpid)

    def execute(
        self,
        inputs: Sequence[Held],
        outputs: Sequence[Held],
        cancel: threading.Event | None = None,
        observe: Observe | None = None,
    ) -> None:
        """Compute into `outputs` what follows from `inputs`.

        inputs: C-contiguous, of `input_types`; they are not written and not kept.  outputs:
        C-contiguous, of `output_types`, or what `lenders` gave; they share no memory with anything,
        and are written completely.
        Raises ExecutionError with the node's line; CancelledError; whatever else interrupts
        passes through.  Then outputs hold anything.
        """
        try:
            workspace = self.idle.pop()
        except IndexError:
            workspace = self.build_workspace()
        cells, token = workspace.cells, workspace.token
        count = len(inputs)
        given = count + len(outputs)
        cells[:count] = inputs
        cells[count:given] = outputs
        for cell, source, look in self.prologue:
            cells[cell] = look(cells[source])
        token[0] = cancel
        try:
            if observe is None and not self.speaks:
                workspace.quiet.run(self._run, workspace, cancel)
            else:
                with np.errstate(all="ignore"):
                    if observe is None:
                        self._run(workspace, cancel)
                    else:
                        self._run_watched(cells, cancel, observe)
        except BaseException:
            if self.settle is not None:
                # What is enqueued uses the caller's arrays, which are the caller's again now.
                with suppress(Exception):
                    self.settle()
            raise
        cells[:given] = [None] * given
        for cell, _, _ in self.prologue:
            cells[cell] = None
        token[0] = None
        # Not after a run that failed: an interrupt can come so that a thread is still at work
        # in this memory, and what was left half done may hold on to the caller's arrays.
        self.idle.append(workspace)

    def _run(self, workspace: Workspace, cancel: threading.Event | None) -> None:
        cells = workspace.cells
        done = 0
        for chunk in workspace.chunks:
            if cancel is not None and cancel.is_set():
                raise CancelledError("the run was cancelled", asked="run")
            calls: Any = iter(chunk)
            try:
                for function, arguments, pick in calls:
                    if arguments is None:
                        function(*pick(cells))
                    else:
                        function(*arguments)
            except Exception as error:
                # The iterator knows how far it came, so that no call has to be counted.
                index = done + len(chunk) - calls.__length_hint__() - 1
                raise self._failure(index, error) from _cause(error)
            done += len(chunk)

    def _run_watched(
        self, cells: list[Any], cancel: threading.Event | None, observe: Observe
    ) -> None:
        calls = [call for chunk in self.chunks for call in chunk]
        for number, step in enumerate(self.steps):
            if cancel is not None and cancel.is_set():
                raise CancelledError("the run was cancelled", asked="run")
            observe(number, "before")
            for index in step.calls:
                function, pick = calls[index]
                try:
                    function(*pick(cells))
                except Exception as error:
                    raise self._failure(index, error) from _cause(error)
            if self.settle is not None:
                self.settle()
            observe(number, "after")

    def _failure(self, call: int, error: Exception) -> Exception:
        """The error of a call in the user's terms."""
        if isinstance(error, CancelledError):
            return error
        if isinstance(error, InBodyError):
            return node_failure(error.graph, error.index, error.error, error.operands, error.within)
        index, operands, error = self.failed(call, error)
        return node_failure(self.graph, index, error, operands)

    def failed(self, call: int, error: Exception) -> tuple[int, list[TensorType], Exception]:
        """The node in which a call failed, the types of its operands, and the error there."""
        position = 0
        if self.translated is not None:
            error = self.translated(error)
        if isinstance(error, InNodeError) and isinstance(error.__cause__, Exception):
            position, error = error.position, error.__cause__
        index = self.owners[call][position]
        types = self.graph.types
        return index, [types[v] for v in self.graph.nodes[index].inputs], error

    @property
    def is_lost(self) -> bool:
        """Whether its devices are those of another process, of which this one is a fork."""
        return self.settle is not None and self.process != os.getpid()

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes of the compiler."""
        return tuple(self.make_notes())

    @cached_property
    def account(self) -> Account:
        """What is told of the plan."""
        return self.make_account()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The kernel launches, in order."""
        return self.account.steps

    @property
    def memory(self) -> tuple[MemoryUse, ...]:
        """The values that are live when it needs the most memory, the largest first."""
        return self.account.memory

    @property
    def value_bytes(self) -> int:
        """The bytes of all computed values."""
        return self.account.value_bytes

    @property
    def peak_bytes(self) -> int:
        """The scratch of one run, with what calls take beyond it."""
        return self.workspace_bytes + self.temporary_bytes

    @property
    def kept_bytes(self) -> int:
        """The scratch memory that is kept for further runs."""
        return len(self.idle) * self.workspace_bytes

    def trim(self) -> int:
        """Give back the scratch memory of runs that are over; its bytes."""
        freed = self.kept_bytes
        self.idle.clear()
        return freed

    def explain(self) -> str:
        """The plan for readers: notes of the compiler, steps, memory.

        A step is told by its number, kind, device, ops, algorithm, the cells that it reads and
        writes, and the name of its last node.
        """
        lines = list(self.notes)
        width = len(str(len(self.steps)))
        for number, step in enumerate(self.steps):
            told = step.nodes and step.kind not in ("copy", "give", "wait")
            last = f"  # {shown(self.node_name(step.nodes[-1]))}" if told else ""
            lines.append(
                f"{number:>{width}} {step.kind} @{step.device} {self.step_name(step)}"
                f" [{step.algorithm}] {', '.join(step.reads)} -> {', '.join(step.writes)}{last}"
            )
        lines.append(
            f"{len(self.steps)} steps, {len(self.owners)} calls; peak {self.peak_bytes:,} bytes of"
            f" scratch, slots {self.slot_bytes:,}, values {self.value_bytes:,}"
        )
        return "\n".join(lines) + "\n"

    def step_name(self, step: Step) -> str:
        """The ops of a step, e.g. "add+maximum"; of many the first few and their number."""
        if step.kind in ("give", "wait"):
            return step.kind
        ops = [self.graph.nodes[i].op for i in step.nodes]
        if step.kind == "copy":
            return "copy of " + shown(self.node_name(step.nodes[0]))
        return "+".join(ops[:8]) + (f"+… ({len(ops)})" if len(ops) > 8 else "")

    def node_name(self, index: int) -> str:
        """The name of a node as the user knows it."""
        return self.graph.node_name(index)


def _cause(error: Exception) -> BaseException | None:
    """What was raised, where what is raised now is another error."""
    if isinstance(error, InBodyError):
        return None if isinstance(error.error, StaticadError) else error.error
    if isinstance(error, InNodeError):
        return None if isinstance(error.__cause__, StaticadError) else error.__cause__
    return None if isinstance(error, StaticadError) else error
