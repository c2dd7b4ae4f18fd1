"""A model: one signature of a loaded graph, and the runs that its requests become."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from staticad_schema.declarations import Signature
from staticad_schema.dims import Dim, Size
from staticad_schema.errors import FeedTypeError, PlanError, UnknownFetchError, near_miss
from staticad_schema.shapes import shape_text
from staticad_schema.types import Array, TensorType

from ..engine import Prepared
from ..local import Local
from ..serving.limits import Gate, Run
from .datatypes import DATATYPES, datatype
from .statistics import Statistics

VERSION = "1"
Arrays = dict[str, Array]


class Tensor(NamedTuple):
    """An input or output: its key, its value in the graph, its type."""

    name: str
    value: int
    type: TensorType

    @property
    def datatype(self) -> str:
        """As the protocol says it."""
        return DATATYPES[self.type.dtype]

    @property
    def shape(self) -> list[int]:
        """With -1 for a size that varies."""
        return [size if isinstance(size, int) else -1 for size in self.type.shape]


class Model:
    """What answers the requests of one name.  Usable from many threads."""

    def __init__(self, name: str, signature: Signature, local: Local, gate: Gate) -> None:
        """Raises PlanError for a signature that the protocol cannot have."""
        graph = local.graph

        def tensors(bindings: Mapping[str, int], side: str) -> dict[str, Tensor]:
            for key, value in bindings.items():
                datatype(graph.types[value].dtype, f"{side} {key!r} of model {name!r}")
            return {key: Tensor(key, v, graph.types[v]) for key, v in bindings.items()}

        self.name = name
        self.inputs = tensors(signature.inputs, "input")
        self.outputs = tensors(signature.outputs, "output")
        self.statistics = Statistics()
        self._local = local
        self._gate = gate
        self._values = tuple(dict.fromkeys(signature.outputs.values()))
        self._prepared = Prepared(
            self._values, tuple(signature.effects), tuple(dict.fromkeys(signature.inputs.values()))
        )
        # Told now, not by the first request.
        engine = local.engine(self._prepared)
        self.batches = self._is_by_rows() and not (engine.writes or engine.draws)

    def check(self, inputs: Arrays) -> None:
        """Raises UnknownFetchError, FeedTypeError, PlanError for what the model does not take."""
        for name in inputs:
            if name not in self.inputs:
                raise UnknownFetchError(
                    f"no input {name[:100]!r}",
                    asked=f"model {self.name!r}",
                    expected=", ".join(map(repr, self.inputs)) or "no input",
                    found=repr(name[:100]),
                    hint=near_miss(name[:100], self.inputs),
                )
        for name, tensor in self.inputs.items():
            if name not in inputs:
                raise PlanError(
                    f"the input {name!r} is missing",
                    asked=f"model {self.name!r}",
                    expected=", ".join(map(repr, self.inputs)),
                    found=", ".join(map(repr, inputs)) or "none",
                )
            array, declared = inputs[name], tensor.type
            if array.dtype != declared.dtype:
                raise FeedTypeError(
                    "the input has another datatype",
                    asked=f"input {name!r} of model {self.name!r}",
                    expected=tensor.datatype,
                    found=DATATYPES[array.dtype],
                )
            fits = len(array.shape) == len(declared.shape) and all(
                a == b for a, b in zip(array.shape, declared.shape, strict=True) if type(b) is int
            )
            if not fits:
                raise PlanError(
                    "the input has another shape",
                    asked=f"input {name!r} of model {self.name!r}",
                    expected=shape_text(declared.shape),
                    found=shape_text(array.shape),
                )

    def checked_outputs(self, names: list[str]) -> list[str]:
        """The outputs to answer with; all if none are named.  Raises UnknownFetchError."""
        for name in names:
            if name not in self.outputs:
                raise UnknownFetchError(
                    f"no output {name[:100]!r}",
                    asked=f"model {self.name!r}",
                    expected=", ".join(map(repr, self.outputs)) or "no output",
                    found=repr(name[:100]),
                    hint=near_miss(name[:100], self.outputs),
                )
        return names or list(self.outputs)

    def run(self, inputs: Arrays, run: Run, requests: int = 1, queued_ns: int = 0) -> Arrays:
        """All outputs for inputs that are checked."""
        by_value = {tensor.value: inputs[name] for name, tensor in self.inputs.items()}
        feeds = [by_value[value] for value in self._prepared.fed]
        fetched: list[Array] = []
        asked = time.perf_counter_ns()
        with self._gate.entered(run):
            began = time.perf_counter_ns()
            engine = self._local.engine(self._prepared)
            self._local.execute(engine, feeds, None, fetched.extend, cancel=run.cancel)
        ended = time.perf_counter_ns()
        rows = feeds[0].shape[0] if self.batches else 1
        self.statistics.ran(rows, requests, queued_ns + (began - asked) * requests, ended - began)
        found = dict(zip(self._values, fetched, strict=True))
        return {name: found[tensor.value] for name, tensor in self.outputs.items()}

    def _is_by_rows(self) -> bool:
        """Whether all inputs and outputs have the same symbol as their first size."""
        firsts: set[Size] = set()
        for tensor in (*self.inputs.values(), *self.outputs.values()):
            if not tensor.type.shape:
                return False
            firsts.add(tensor.type.shape[0])
        first = next(iter(firsts), 0)
        return bool(self.inputs) and len(firsts) == 1 and isinstance(first, Dim)


Answer = Callable[[Arrays, Run], Arrays]
"""What makes outputs of inputs: a model's `run`, or a batcher's."""
