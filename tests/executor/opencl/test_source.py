"""The text of generated kernels, read in review; STATICAD_UPDATE_GOLDEN=1 writes it anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.parse import parse
from staticad_executor.devices.opencl.region import Operand, Region, Step, together
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, INT64, UINT32, UINT64, DType, TensorType

GOLDEN = Path(__file__).parent / "golden"
CPU = Target(vector_bytes=32, many_items=False, units=2, local_bytes=1 << 16)
GPU = Target(vector_bytes=16, units=80)


class Building:
    """A region under construction over contiguous operands."""

    def __init__(self, *types: tuple[DType, tuple[int, ...]]) -> None:
        self.operands = tuple(Operand.contiguous(d, s) for d, s in types)
        self.types = [TensorType(d, s) for d, s in types]
        self.steps: list[Step] = []

    def add(self, op: str, *inputs: int, **attributes: Any) -> int:
        complete = OPS[op].attributes(attributes)
        types = OPS[op].output_types([self.types[i] for i in inputs], complete)
        self.steps.append(Step(op, complete, inputs, types))
        self.types += types
        return len(self.types) - len(types)

    def region(self, *outputs: int) -> Region:
        return Region(self.operands, tuple(self.steps), outputs)


def _bias_relu(rows: int, columns: int) -> Region:
    b = Building((FLOAT32, (rows, columns)), (FLOAT32, (columns,)))
    return b.region(b.add("relu", b.add("add", 0, 1)))


def _softmax(rows: int, columns: int) -> Region:
    b = Building((FLOAT32, (rows, columns)))
    return b.region(b.add("softmax", 0, axis=1))


def _column_sums(rows: int, columns: int) -> Region:
    b = Building((FLOAT32, (rows, columns)))
    return b.region(b.add("sum", b.add("square", 0), axis=(0,), keepdims=False))


def _rows_by_number(rows: int, columns: int) -> Region:
    b = Building((FLOAT32, (rows, columns)), (INT64, (5,)))
    return b.region(b.add("take", 0, 1, axis=0))


def _mask(rows: int, columns: int) -> Region:
    b = Building((UINT64, ()), (UINT32, ()))
    bits = b.add("random_bits", 0, key=1, path=0, shape=(rows, columns), dtype=UINT32)
    return b.region(b.add("less", bits, 1))


def _normalized(rows: int, columns: int) -> Region:
    b = Building((FLOAT32, (rows, columns)))
    return b.region(b.add("normalize", 0, axis=(1,), epsilon=1e-5, center=True))


def _layer(rows: int, columns: int) -> Region:
    b = Building((FLOAT32, (rows, columns)), (FLOAT32, (columns, 64)), (FLOAT32, (64,)))
    return b.region(b.add("relu", b.add("add", b.add("matmul", 0, 1), 2)))


CASES: dict[str, tuple[Callable[[int, int], Region], Target]] = {
    "bias_relu": (_bias_relu, CPU),
    "softmax_cpu": (_softmax, CPU),
    "softmax_gpu": (_softmax, GPU),
    "column_sums": (_column_sums, CPU),
    "rows_by_number": (_rows_by_number, CPU),
    "mask": (_mask, GPU),
    "normalized": (_normalized, CPU),
    "layer_cpu": (_layer, CPU),
    "layer_gpu": (_layer, GPU),
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_what_was_reviewed(name: str) -> None:
    make, target = CASES[name]
    source, _ = together(generate(make(300, 44), target).kernels)
    path = GOLDEN / f"{name}.cl"
    if os.environ.get("STATICAD_UPDATE_GOLDEN"):
        path.write_text(source)
    assert source == path.read_text()


@pytest.mark.parametrize("name", CASES)
def test_text_does_not_depend_on_sizes(name: str) -> None:
    """A build takes longer than most runs; sizes are arguments."""
    make, target = CASES[name]
    texts = {together(generate(make(r, c), target).kernels)[0] for r, c in ((300, 44), (700, 92))}
    assert len(texts) == 1


@pytest.mark.parametrize("text", ["{x} +", "exp {x}", "({x}", "{x} $ {y}", "1 2"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|unexpected|no token"):
        parse(text)


def test_every_expression_of_the_registry_is_understood() -> None:
    texts = [t for d in OPS.values() if isinstance(d.expr, str) for t in [d.expr]]
    texts += [t for d in OPS.values() if isinstance(d.expr, dict) for t in d.expr.values()]
    assert len(texts) > 100
    for text in texts:
        assert parse(text)


def test_the_least_that_has_to_be_moved() -> None:
    operand = Operand(FLOAT32, (4, 6), (0, 1))
    region = Region((operand,), (), (0,))
    assert region.bytes_moved == 4 * 6 + 4 * 24
