"""Work is counted from types; limits are rates."""

from __future__ import annotations

import numpy as np
import pytest

import staticad_schema.ops  # noqa: F401
from staticad_executor.machine import LAST_LEVEL_CACHE, Limits, Work, limits
from staticad_executor.work import FLOPS, SPECIAL, count, operations, work
from staticad_schema.op import OPS
from staticad_schema.types import TensorType


def f32(*shape: int) -> TensorType:
    return TensorType(np.dtype(np.float32), shape)


def test_every_name_is_an_op() -> None:
    assert set(FLOPS) | SPECIAL <= set(OPS)


@pytest.mark.parametrize(
    ("op", "operands", "outputs", "flops"),
    [
        ("matmul", [f32(7, 2, 3), f32(7, 3, 5)], [f32(7, 2, 5)], 2 * 7 * 2 * 3 * 5),
        ("matmul", [f32(3), f32(3)], [f32()], 6),
        ("conv", [f32(2, 3, 8, 8), f32(5, 3, 3, 3)], [f32(2, 5, 6, 6)], 2 * 2 * 5 * 36 * 27),
        ("conv_input", [f32(2, 5, 6, 6), f32(5, 3, 3, 3)], [f32(2, 3, 8, 8)], 2 * 2 * 5 * 36 * 27),
        ("conv_weights", [f32(2, 3, 8, 8), f32(2, 5, 6, 6)], [f32(5, 3, 3, 3)], 4 * 5 * 36 * 27),
        ("cholesky", [f32(4, 6, 6)], [f32(4, 6, 6)], 4 * 216 / 3),
        ("solve_triangular", [f32(6, 6), f32(6, 2)], [f32(6, 2)], 72),
        ("add", [f32(9), f32(9)], [f32(9)], 0),
    ],
)  # fmt: skip
def test_flops(
    op: str, operands: list[TensorType], outputs: list[TensorType], flops: float
) -> None:
    found = work(op, operands, outputs)
    assert found.flops == pytest.approx(flops)
    elements = sum(map(count, [*operands, *outputs]))
    assert found.traffic == 4 * elements
    assert operations(op, operands, outputs) == int(found.flops) + elements


def test_special_functions_are_evaluations() -> None:
    assert work("exp", [f32(9)], [f32(9)]).special == 9
    assert work("add", [f32(9), f32(9)], [f32(9)]).special == 0


def test_the_tightest_limit_bounds() -> None:
    rates = Limits(100.0, 10.0, 1e9, 1e6)
    assert rates.bound(Work(200, 1, 1)) == 2
    assert rates.bound(Work(1, 50, 1)) == 5
    assert rates.bound(Work(0, 0, 1e6)) == 1e-3
    assert rates.bound(Work(0, 0, 2 * LAST_LEVEL_CACHE)) == 2 * LAST_LEVEL_CACHE / 1e6


def test_limits_are_measured_once() -> None:
    found = limits(1)
    assert all(rate > 0 for rate in found)
    assert limits(1) is found
    assert "product flops" in str(found)
