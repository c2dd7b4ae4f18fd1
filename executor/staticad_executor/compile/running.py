"""A body that is run many times within one call of its caller's plan.

Its plan is leased once for all iterations, whose arrays are put into cells: what one iteration
costs beyond the body's own calls is a few microseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from staticad_schema.errors import CancelledError
from staticad_schema.types import Array

from ..failure import InBodyError
from ..interpret import interpret
from ..plan import Plan
from .lowered import Lowered

# More scratch than this is not kept between runs: nobody else can ask for it back.
KEPT_BYTES = 1 << 20


class Running(Protocol):
    """A body, ready to run again and again in one thread."""

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute into `outputs`, as `Plan.execute` does.  Raises InBodyError."""
        ...

    def close(self) -> None:
        """All runs are over, and went well."""
        ...


class PlanRunning:
    """The runs of a plan."""

    __slots__ = ("_calls", "_cells", "_given", "_plan", "_workspace")

    def __init__(self, plan: Plan, cancel: threading.Event | None) -> None:
        try:
            workspace = plan.idle.pop()
        except IndexError:
            workspace = plan.build_workspace()
        workspace.token[0] = cancel
        self._plan = plan
        self._workspace = workspace
        self._cells = workspace.cells
        chunks = workspace.chunks
        self._calls = chunks[0] if len(chunks) == 1 else [c for chunk in chunks for c in chunk]
        self._given = 0

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute into `outputs`.  Raises InBodyError."""
        cells = self._cells
        count = len(inputs)
        self._given = given = count + len(outputs)
        cells[:count] = inputs
        cells[count:given] = outputs
        for cell, source, look in self._plan.prologue:
            cells[cell] = look(cells[source])
        calls: Any = iter(self._calls)
        try:
            for function, arguments, pick in calls:
                if arguments is None:
                    function(*pick(cells))
                else:
                    function(*arguments)
        except Exception as error:
            # The iterator knows how far it came, so that no call has to be counted.
            raise self._failed(len(self._calls) - calls.__length_hint__() - 1, error) from error

    def _failed(self, call: int, error: Exception) -> Exception:
        if isinstance(error, InBodyError | CancelledError):
            return error
        index, operands, error = self._plan.failed(call, error)
        return InBodyError(self._plan.graph, index, operands, error)

    def close(self) -> None:
        """Leave the workspace for the next run."""
        plan, workspace = self._plan, self._workspace
        if plan.workspace_bytes > KEPT_BYTES:
            return
        self._cells[: self._given] = [None] * self._given
        for cell, _, _ in plan.prologue:
            self._cells[cell] = None
        workspace.token[0] = None
        plan.idle.append(workspace)


class NaiveRunning:
    """The runs of a body that finds sizes, which has no plan of one piece."""

    def __init__(self, body: Lowered, sizes: dict[str, int], cancel: threading.Event | None):
        self._body = body
        self._sizes = sizes
        self._cancel = cancel

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute into `outputs`, node by node."""
        body, program = self._body, self._body.program
        given = dict(zip(body.inputs, inputs, strict=True))
        found = interpret(
            program.graph, program.fetches, program.effects, given, {}, 0, None, self._cancel,
            self._sizes,
        )  # fmt: skip
        for out, array in zip(outputs, found.values, strict=True):
            np.copyto(out, array)

    def close(self) -> None:
        """Nothing is kept."""
