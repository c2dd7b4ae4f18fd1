"""What may move over spatial axes: checks that take no time, and say what is wrong."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from staticad_schema import StaticadError
from staticad_schema.dims import Shape, symbol
from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.ops.windows import misses
from staticad_schema.types import FLOAT32, Array, TensorType
from tests.schema.test_hostile import within_a_second

from .running import inferred, types_of


def test_windows_beside_the_axis_are_found_as_by_a_loop() -> None:
    random = Random(0)
    found = 0
    for _ in range(20_000):
        size, kernel, stride = random.randrange(7), random.randrange(1, 6), random.randrange(1, 6)
        low, high, dilation = random.randrange(-3, 10), random.randrange(10), random.randrange(1, 7)
        count = (size + low + high - (kernel - 1) * dilation - 1) // stride + 1
        places = [i * stride - low + k * dilation for i in range(count) for k in range(kernel)]
        inside = [any(0 <= p < size for p in places[i * kernel :][:kernel]) for i in range(count)]
        found += not all(inside)
        assert misses(size, count, kernel, stride, low, dilation) == (not all(inside))
    assert 2_000 < found < 18_000


def of(shape: Shape) -> TensorType:
    return TensorType(FLOAT32, shape)


ONE: dict[str, Any] = {"strides": (1,), "dilation": (1,)}
WHOLE: dict[str, Any] = {**ONE, "padding": ((0, 0),)}
X, W, G = of((1, 1, 4)), of((1, 1, 2)), of((1, 1, 3))


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "message"),
    [
        ("conv", (of((1, 0, 4)), of((0, 0, 2))), {**WHOLE, "groups": -1}, "groups is negative"),
        ("conv_input", (G, W), {**WHOLE, "groups": -1, "shape": (4,)}, "groups is negative"),
        ("conv_weights", (X, G), {**WHOLE, "groups": -1, "shape": (1, 2)}, "groups is negative"),
        ("conv_input", (G, W), {**WHOLE, "groups": 1, "shape": (4, 4)}, "not one size"),
        ("conv_input", (G, W), {**WHOLE, "groups": 1, "shape": ()}, "not one size"),
        ("window_spread", (G,), {**WHOLE, "window": (2,), "shape": (4, 4)}, "not one size"),
        ("max_pool", (X,), {**ONE, "window": (2,), "padding": ((1 << 58, 0),)}, "in the padding"),
        # Without an element there is nothing but padding.
        ("max_pool", (of((1, 1, 0)),), {**ONE, "window": (2,), "padding": ((1, 1),)}, "padding"),
        (
            "max_pool",
            (of((1, 1, symbol("n"))),),
            {**ONE, "window": (2,), "padding": ((0, 2),)},
            "padding",
        ),
    ],
)
def test_what_does_not_fit(
    op: str, operands: tuple[TensorType, ...], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(StaticadError, match=message):
        OPS[op].output_types(operands, attributes)


def test_a_wide_stride_leaves_padding_that_no_window_reaches() -> None:
    """Of a known size and of an unknown one alike."""
    attributes = {"window": (2,), "strides": (4,), "dilation": (1,), "padding": ((0, 3),)}
    for size in (5, symbol("n")):
        values, _ = OPS["max_pool"].output_types((of((1, 1, size)),), attributes)
        assert values.ndim == 3


def test_places_of_a_window_are_not_gone_through_for_nothing() -> None:
    """No element, or one that few places of the kernel reach."""
    far: dict[str, Any] = {**ONE, "window": (1 << 30,), "padding": ((1 << 30, 0),)}
    with within_a_second():
        assert applied("window_sum", np.zeros((0, 1, 4)), **far).shape == (0, 1, 5)
        spread = applied("window_spread", np.zeros((0, 1, 5)), **far, shape=(4,))
        assert spread.shape == (0, 1, 4)
    stride = 5_000
    given = {"strides": (stride,), "dilation": (1,), "padding": ((0, 0),), "groups": 1}
    w = np.arange(float(stride)).reshape(1, 1, stride)
    with within_a_second():
        found = applied("conv_input", np.ones((1, 1, 1)), w, **given, shape=(stride,))
    np.testing.assert_array_equal(found, w)


def applied(op: str, *arrays: Array, **attributes: Any) -> Array:
    types = inferred(OPS[op], types_of(arrays), attributes)
    return evaluate(OPS[op], arrays, attributes, types)[0]
