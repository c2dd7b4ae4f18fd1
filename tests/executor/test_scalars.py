"""Scalar regions on Python floats: what the kernels compute, but for rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.devices.numpy.elementwise import elementwise
from staticad_executor.devices.numpy.scalars import COMPARISONS, FLOATS, Scalar, scalar_region
from staticad_schema.errors import PlanError
from staticad_schema.op import OPS
from staticad_schema.types import BOOL, FLOAT64

from .planning import Array, Compiled, same_bits
from .random_graphs import SPECIAL

PYTHON = ("exact", "python_scalars")
VALUES = [*SPECIAL, 0.3, -0.7, 1e300, -1e300, 710.0, -745.0]


@pytest.mark.parametrize("op", [*FLOATS, *COMPARISONS])
def test_an_expression_computes_what_the_kernel_does(op: str) -> None:
    arity = len(OPS[op].inputs)
    out = FLOAT64 if op in FLOATS else BOOL
    kernel = elementwise(op, {}, (FLOAT64,) * arity, out, True)
    expression = FLOATS.get(op) or COMPARISONS[op]
    region = scalar_region(
        [Scalar(expression, kernel, tuple(range(arity)), out)], arity, {}, [arity]
    )
    for x in VALUES:
        for y in VALUES if arity == 2 else [0.0]:
            operands: list[Array] = [np.array(v) for v in (x, y)][:arity]
            found, expected = np.empty((), out), np.empty((), out)
            with np.errstate(all="ignore"):
                region(*operands, found)
                kernel.function(*operands, expected)
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0, err_msg=f"{x} {y}")
            if op not in ("sigmoid", "softplus"):
                assert np.signbit(found) == np.signbit(expected) or found != found, (x, y)


OPERATIONS = ["add", "subtract", "multiply", "divide", "negative", "square", "maximum", "minimum",
              "multiply_no_nan", "multiply_zero", "sqrt", "reciprocal", "relu", "abs", "where",
              "sign", "floor"]  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_operations_that_round_once_keep_their_bits(data: Any) -> None:
    with sad.Graph() as graph:
        feeds = {
            sad.placeholder("float64", (), name=f"x{k}"): np.array(
                data.draw(st.sampled_from(VALUES))
            )
            for k in range(3)
        }
        values = [*feeds, sad.constant(np.array(0.5))]
        for _ in range(data.draw(st.integers(4, 20))):
            op = OPS[data.draw(st.sampled_from(OPERATIONS))]
            operands = [data.draw(st.sampled_from(values)) for _ in op.inputs]
            if op.name == "where":
                operands[0] = operands[0] < operands[1]
            values.append(op(*operands))
    fetches = [values[-1], data.draw(st.sampled_from(values[3:]))]
    Compiled(graph, fetches, feeds, rewrites=PYTHON).check()


def chain(x: Any, length: int) -> Any:
    for _ in range(length):
        x = sad.tanh(sad.sin(x * 1.01 + 0.1) / 0.9) - 0.01
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_chain_is_one_call_and_rounded_once(dtype: str) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (), name="x")
        y = chain(x, 20)
        (slope,) = sad.gradients(y, [x])
    compiled = Compiled(graph, [y, slope], {x: np.array(0.4, dtype)}, rewrites=PYTHON)
    assert len(compiled.plan.owners) == 1
    assert "Python floats" in compiled.plan.explain()
    # Each of a hundred operations may be off by one rounding.
    tolerance = 100 * float(np.finfo(dtype).eps)
    for found, expected in zip(compiled.run(), compiled.expected(), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance)


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan, 800.0])
def test_where_python_raises_the_kernels_compute(value: float) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        fetches = [sad.log(x) + 1, 1 / x - 2, sad.exp(x) * 2, sad.sin(x) + x]
    compiled = Compiled(graph, fetches, {x: np.array(value)}, rewrites=PYTHON)
    for found, expected in zip(compiled.run(), compiled.expected(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_integers_and_half_floats_stay_with_the_kernels() -> None:
    with sad.Graph() as graph:
        n = sad.placeholder("int64", (), name="n")
        h = sad.placeholder("float16", (), name="h")
        steps = n + 1
        rate = 1 - sad.exp(sad.log(sad.constant(0.9)) * steps.astype("float64"))
        halves = (h + h) * (h + h) * h * h * 3
    feeds = {n: np.array(2**62), h: np.array(90.0, np.float16)}
    compiled = Compiled(graph, [steps, rate, halves], feeds, rewrites=PYTHON)
    for found, expected in zip(compiled.run(), compiled.expected(), strict=True):
        assert same_bits(found, expected)


def test_it_is_of_class_fast_and_can_be_left_out() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        y = chain(x, 3)
    for chosen, expected in [
        (("exact", "stable"), False), (("exact", "stable", "fast"), True),
        (("exact", "fast", "-python_scalars"), False), (PYTHON, True),
    ]:  # fmt: skip
        plan = Compiled(graph, [y], {x: np.float32(1)}, rewrites=chosen).plan
        assert ("Python floats" in plan.explain()) is expected
    with pytest.raises(PlanError, match="no rewrite"):
        Compiled(graph, [y], {x: np.float32(1)}, rewrites=("python_scalar",))
