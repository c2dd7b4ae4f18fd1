"""A request, however it came: which model, what it is fed, where its outputs go."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from staticad_schema.errors import LimitError, PlanError
from staticad_schema.types import Array, DType

from ..serving.limits import Limits, Run
from .datatypes import from_raw, nbytes
from .memory import SharedMemory
from .model import VERSION, Model
from .repository import Repository

REGION, OFFSET, SIZE = (f"shared_memory_{part}" for part in ("region", "offset", "byte_size"))
Parameters = Mapping[str, object]


class Place(NamedTuple):
    """Part of registered shared memory."""

    region: str
    offset: int
    size: int


@dataclass
class Request:
    """What is asked.

    outputs: names in the order of the answer, and of those that go to shared memory where;
    empty for all.
    """

    model: str
    version: str = ""
    id: str = ""
    inputs: dict[str, Array] = field(default_factory=dict)
    outputs: dict[str, Place | None] = field(default_factory=dict)


class Answered(NamedTuple):
    """The answer: outputs in order, of those in shared memory just their size and place."""

    model: Model
    version: str
    outputs: dict[str, Array]
    places: dict[str, Place]


class Inference:
    """Answers requests on a repository's models."""

    def __init__(self, repository: Repository, limits: Limits) -> None:
        self.repository = repository
        self.memory = SharedMemory()
        self.limits = limits

    def infer(self, request: Request, run: Run) -> Answered:
        """Raises UnknownFetchError, PlanError, LimitError, ExecutionError, CancelledError."""
        loaded = self.repository.get(request.model, request.version)
        model = loaded.model
        began = time.perf_counter_ns()
        well = False
        try:
            model.check(request.inputs)
            names = model.checked_outputs(list(request.outputs))
            outputs = loaded.answer(request.inputs, run)
            places = {name: at for name, at in request.outputs.items() if at is not None}
            for name, place in places.items():
                self.memory.write(*place, outputs[name])
            well = True
            return Answered(model, VERSION, {name: outputs[name] for name in names}, places)
        finally:
            model.statistics.answered(began, well)

    def shared_input(self, name: str, place: Place, dtype: DType, shape: tuple[int, ...]) -> Array:
        """The array of an input in shared memory."""
        self.check_size([(dtype, shape)])
        return from_raw(name, self.memory.read(*place), dtype, shape)

    def run(self) -> Run:
        """What a request becomes."""
        return Run(self.limits.run_seconds)

    def check_size(self, inputs: Iterable[tuple[DType, tuple[int, ...]]]) -> None:
        """Raises LimitError for inputs that are too large together, before they are read."""
        total = sum(nbytes(dtype, shape) for dtype, shape in inputs)
        if total > self.limits.call_bytes:
            raise LimitError(
                "the inputs are too large",
                asked="infer",
                expected=f"at most {self.limits.call_bytes:,} bytes",
                found=f"{total:,}",
            )


def place_of(parameters: Parameters, what: str) -> Place | None:
    """Where in shared memory a tensor is, None if it is not there.  Raises PlanError."""
    region = parameters.get(REGION)
    if region is None:
        return None
    offset, size = parameters.get(OFFSET, 0), parameters.get(SIZE)
    if not (isinstance(region, str) and type(offset) is int and type(size) is int):
        raise PlanError(
            "not a place in shared memory",
            asked=what,
            expected=f"{REGION}, {SIZE} and perhaps {OFFSET}",
            found=repr(dict(parameters))[:200],
        )
    return Place(region, offset, size)
