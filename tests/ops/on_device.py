"""All samples of an op in one graph, for devices that take long to build kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from staticad_executor import Session
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_schema.errors import StaticadError
from staticad_schema.graph import Graph
from staticad_schema.op import OPS, Op
from staticad_schema.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, Array, DType, TensorType

from .running import symbolic, types_of
from .samples import Sample

NARROWED = {FLOAT64: FLOAT32, COMPLEX128: COMPLEX64}


def narrowed(sample: Sample) -> Sample:
    """The sample with every 64-bit float in 32 bits."""
    with np.errstate(all="ignore"):
        arrays = [a.astype(NARROWED.get(a.dtype, a.dtype)) for a in sample.arrays]
    attributes = {
        k: NARROWED.get(v, v) if isinstance(v, np.dtype) else v
        for k, v in sample.attributes.items()
    }
    return Sample(tuple(arrays), attributes, symbolic=sample.symbolic)


def with_dtype(samples: Iterable[Sample], dtype: DType) -> list[Sample]:
    """The samples of that dtype, beside which only positions and conditions may be; of float32 also
    those that were of float64.  None twice."""
    found = {}
    for sample in samples:
        own = narrowed(sample) if dtype == FLOAT32 else sample
        beside = {a.dtype for a in own.arrays} - {dtype}
        if beside <= {np.dtype(t) for t in ("int64", "int32", "bool")}:
            key = tuple([(a.dtype, a.shape, a.tobytes()) for a in own.arrays])
            found[key, repr(own.attributes)] = own
    return [s for s in found.values() if dtype in {a.dtype for a in s.arrays} or not s.arrays]


def small_ones(definition: Op, samples: Sequence[Sample]) -> Iterator[Sample]:
    """Of an elementwise op samples of sizes 0 and 1, and of both broadcast with each other."""
    if not definition.elementwise or not samples or not samples[0].arrays:
        return
    first = samples[0]
    full = [a.reshape(-1).copy() for a in np.broadcast_arrays(*first.arrays)]
    for size in (0, 1):
        yield Sample(tuple([a[:size] for a in full]), first.attributes)
    if len(full) > 1:
        yield Sample((full[0][:1], *[a[:0] for a in full[1:]]), first.attributes)


class Batch:
    """A graph that applies an op to every sample.  symbols: whether sizes are symbols, where a
    sample allows that."""

    def __init__(self, definition: Op, samples: Iterable[Sample], symbols: bool = True) -> None:
        self.graph = Graph(seed=3)
        self.feeds: list[tuple[Any, Array]] = []
        self.outputs: list[Any] = []
        self.samples: list[Sample] = []
        for sample in samples:
            types = types_of(sample.arrays)
            if symbols and sample.symbolic:
                types = symbolic(types)
            try:
                definition.output_types(types, definition.attributes(sample.attributes))
            except StaticadError:
                # What it is of another dtype, it is not of this one.
                continue
            operands = [self._placeholder(t) for t in types]
            node = self.graph.append(definition, [x.id for x in operands], sample.attributes)
            self.feeds += zip(operands, sample.arrays, strict=True)
            for value in node.outputs:
                self.outputs.append(self.graph.handle(value))
                self.samples.append(sample)

    def _placeholder(self, type_: TensorType) -> Any:
        attributes = {"dtype": type_.dtype, "shape": type_.shape}
        return self.graph.handle(self.graph.append(OPS["placeholder"], (), attributes).start)

    def run(self, device: str | OpenCLDevice, *more: Sequence[Array]) -> Results:
        """The outputs on a device: of the samples, and of other operands of their shapes."""
        handles = [x for x, _ in self.feeds]
        with Session(self.graph, device=device) as session:
            runs = [
                session.run(self.outputs, dict(zip(handles, arrays, strict=True)), step=5)
                for arrays in ([a for _, a in self.feeds], *more)
            ]
            return runs, session.explain(self.outputs)


Results = tuple[list[list[Array]], str]
"""For each run its outputs; and the plan in words."""
