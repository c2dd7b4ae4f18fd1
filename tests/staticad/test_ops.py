"""The functions of tensors against NumPy, for known and unknown sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.ops import functions
from staticad_schema.op import OPS
from tests.staticad.running import agrees, apply, run

Function = Callable[..., Any]
X = np.linspace(-2, 3, 24, dtype=np.float32).reshape(2, 3, 4)
AXES: list[Any] = [None, 0, -1, (0, 2), (-1, 0, 1), ()]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all"])
def test_reductions(name: str, axis: Any, keepdims: bool, symbolic: bool) -> None:
    function, expected = getattr(sad, name), getattr(np, name)(X, axis=axis, keepdims=keepdims)
    found = apply(lambda x: function(x, axis=axis, keepdims=keepdims), X, symbolic=symbolic)
    agrees(found, expected, 1e-6)


@pytest.mark.parametrize("symbolic", [False, True])
def test_correction(symbolic: bool) -> None:
    expected = X.var(axis=1, ddof=1)
    agrees(apply(lambda x: sad.var(x, axis=1, correction=1), X, symbolic=symbolic), expected, 1e-6)
    agrees(
        apply(lambda x: sad.std(x, axis=1, correction=1), X, symbolic=symbolic),
        np.sqrt(expected),
        1e-6,
    )


def test_sums_of_small_integers_are_wide() -> None:
    a = np.full(10, 100, np.int8)
    agrees(apply(sad.sum, a), np.array(1000, np.int64))
    agrees(apply(sad.sum, a.astype(np.uint8)), np.array(1000, np.uint64))
    agrees(apply(sad.sum, a > 0), np.array(10, np.int64))
    agrees(apply(lambda x: sad.sum(x, dtype="int32"), a), np.array(1000, np.int32))
    agrees(apply(lambda x: x.sum(), a), np.array(1000, np.int64))


def test_B13_mean_and_var_of_integers_promote() -> None:
    a = np.array([250, 2], np.uint8)
    agrees(apply(sad.mean, a), np.array(126, np.float32))
    agrees(apply(sad.var, a), np.array(124.0**2, np.float32))


def test_B6_half_floats_are_summed_in_float32() -> None:
    a = np.array([32000] * 4 + [-32000] * 4, np.float16)
    agrees(apply(sad.sum, a), np.array(0, np.float16))
    agrees(apply(sad.mean, np.full(1000, 100, np.float16)), np.array(100, np.float16))
    ones = sad.ones
    with sad.Graph() as graph:
        y = sad.sum(ones(5000, dtype="bfloat16"))
    assert float(run(graph, y)) == 4992  # the bfloat16 next to 5,000


def test_B8_empty_reductions() -> None:
    empty = np.zeros((2, 0, 4), np.float32)
    assert apply(sad.sum, empty) == 0
    assert apply(sad.prod, empty) == 1
    assert np.isnan(apply(sad.mean, empty))
    assert apply(lambda x: sad.max(x, axis=0), empty).shape == (0, 4)


def test_A18_std_of_a_constant_and_of_one_element() -> None:
    for values in ([3.0], [2.0, 2.0, 2.0]):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", (None,))
            y = sad.std(x)
            (g,) = sad.gradients(y, [x])
        found = run(graph, [y, g], {x: values})
        assert found[0] == 0
        assert found[1].tolist() == [0.0] * len(values)


def test_logsumexp_argmax_argmin() -> None:
    expected = np.log(np.exp(X).sum(axis=1))
    agrees(apply(lambda x: sad.logsumexp(x, axis=1), X), expected, 1e-6)
    for name in ("argmax", "argmin"):
        function, reference = getattr(sad, name), getattr(np, name)
        agrees(apply(function, X), reference(X))
        agrees(apply(lambda x, f=function: f(x, axis=-2), X), reference(X, axis=-2))
        kept = apply(lambda x, f=function: f(x, keepdims=True), X)
        agrees(kept, reference(X, keepdims=True))


SHAPES: dict[str, tuple[Function, Function]] = {
    "reshape": (lambda x: sad.reshape(x, (3, -1)), lambda x: x.reshape(3, -1)),
    "permute_dims": (lambda x: sad.permute_dims(x, (2, 0, -2)), lambda x: x.transpose(2, 0, 1)),
    "matrix_transpose": (sad.matrix_transpose, lambda x: x.swapaxes(-1, -2)),
    "moveaxis": (lambda x: sad.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "moveaxes": (
        lambda x: sad.moveaxis(x, (0, 2), (1, 0)),
        lambda x: np.moveaxis(x, (0, 2), (1, 0)),
    ),
    "expand_dims": (
        lambda x: sad.expand_dims(x, axis=(0, -1)),
        lambda x: np.expand_dims(x, (0, -1)),
    ),
    "squeeze": (lambda x: sad.squeeze(x[:1], 0), lambda x: x[0]),
    "broadcast_to": (
        lambda x: sad.broadcast_to(x[:, :1], (5, *x.shape)),
        lambda x: np.broadcast_to(x[:, :1], (5, *x.shape)),
    ),
    "concat": (
        lambda x: sad.concat([x, x * 2], axis=-1),
        lambda x: np.concatenate([x, x * 2], -1),
    ),
    "concat flat": (
        lambda x: sad.concat([x, x], axis=None),
        lambda x: np.concatenate([x, x], None),
    ),
    "stack": (lambda x: sad.stack([x, x + 1], axis=1), lambda x: np.stack([x, x + 1], 1)),
    "flip": (sad.flip, np.flip),
    "flip one": (lambda x: sad.flip(x, axis=1), lambda x: np.flip(x, 1)),
    "roll": (lambda x: sad.roll(x, 2, axis=1), lambda x: np.roll(x, 2, 1)),
    "roll far": (lambda x: sad.roll(x, -7, axis=-1), lambda x: np.roll(x, -7, -1)),
    "roll flat": (lambda x: sad.roll(x, 5), lambda x: np.roll(x, 5)),
    "roll two": (
        lambda x: sad.roll(x, (1, -1), axis=(0, 2)),
        lambda x: np.roll(x, (1, -1), (0, 2)),
    ),
    "pad": (
        lambda x: sad.pad(x, ((0, 1), (2, 0), (1, 1)), value=7),
        lambda x: np.pad(x, ((0, 1), (2, 0), (1, 1)), constant_values=7),
    ),
    "pad all": (lambda x: sad.pad(x, 1), lambda x: np.pad(x, 1)),
    "tile": (lambda x: sad.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3))),
    "tile more": (lambda x: sad.tile(x, (2, 1, 1, 3)), lambda x: np.tile(x, (2, 1, 1, 3))),
    "tile last": (lambda x: sad.tile(x, 2), lambda x: np.tile(x, 2)),
    "clip": (lambda x: sad.clip(x, -1, 1.5), lambda x: np.clip(x, -1, 1.5)),
    "clip below": (lambda x: sad.clip(x, min=0), lambda x: np.maximum(x, 0)),
    "clip above": (lambda x: sad.clip(x, max=0), lambda x: np.minimum(x, 0)),
    "clip not": (sad.clip, lambda x: x),
    "where": (lambda x: sad.where(x > 0, x, -1), lambda x: np.where(x > 0, x, np.float32(-1))),
    "cast": (lambda x: sad.cast(x, "int32"), lambda x: x.astype(np.int32)),
    "zeros_like": (sad.zeros_like, np.zeros_like),
    "ones_like": (lambda x: sad.ones_like(x, dtype=bool), lambda x: np.ones_like(x, dtype=bool)),
    "full_like": (lambda x: sad.full_like(x, 2), lambda x: np.full_like(x, 2)),
    "square": (sad.square, np.square),
    "take": (
        lambda x: sad.take(x, [2, 0, -1], axis=1),
        lambda x: np.take(x, [2, 0, -1], axis=1),
    ),
    "take_along_axis": (
        lambda x: sad.take_along_axis(x, sad.argmax(x, axis=1, keepdims=True), axis=1),
        lambda x: x.max(axis=1, keepdims=True),
    ),
    "matmul": (
        lambda x: sad.matmul(x, sad.matrix_transpose(x)),
        lambda x: x @ x.swapaxes(-1, -2),
    ),
}


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_functions_of_one_tensor(name: str, symbolic: bool) -> None:
    function, reference = SHAPES[name]
    agrees(apply(function, X, symbolic=symbolic), reference(X), 1e-6)


def test_unstack_and_broadcast_arrays() -> None:
    parts = apply(lambda x: list(sad.unstack(x, axis=1)), X)
    assert len(parts) == 3
    agrees(parts[2], X[:, 2])
    a, b = apply(lambda x, y: sad.broadcast_arrays(x, y), X, np.arange(4))
    agrees(a, X)
    agrees(b, np.broadcast_to(np.arange(4), X.shape))


def test_one_hot() -> None:
    agrees(
        apply(lambda i: sad.one_hot(i, 3), np.array([[2, 0]], np.int32)),
        np.eye(3, dtype=np.float32)[[[2, 0]]],
    )


SOURCES: dict[str, tuple[Callable[[], Any], Any]] = {
    "zeros": (lambda: sad.zeros((2, 3)), np.zeros((2, 3), np.float32)),
    "zeros of one size": (lambda: sad.zeros(3), np.zeros(3, np.float32)),
    "ones": (lambda: sad.ones((), dtype="int8"), np.ones((), np.int8)),
    "full": (lambda: sad.full((2,), 7), np.full(2, 7)),
    "full of floats": (lambda: sad.full((2,), 7.5), np.full(2, 7.5, np.float32)),
    "full of a tensor": (lambda: sad.full((2,), sad.constant(3)), np.full(2, 3)),
    "arange": (lambda: sad.arange(5), np.arange(5)),
    "arange from": (lambda: sad.arange(2, 9, 3), np.arange(2, 9, 3)),
    "arange down": (lambda: sad.arange(5, 0, -2), np.arange(5, 0, -2)),
    "arange of floats": (lambda: sad.arange(0.0, 1.0, 0.25), np.arange(4, dtype=np.float32) / 4),
    "arange of none": (lambda: sad.arange(3, 1), np.arange(3, 1)),
    "linspace": (lambda: sad.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype=np.float32)),
    "linspace open": (
        lambda: sad.linspace(0, 1, 4, endpoint=False),
        np.linspace(0, 1, 4, False, dtype=np.float32),
    ),
    "eye": (lambda: sad.eye(2, 3, k=1), np.eye(2, 3, 1, np.float32)),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name: str) -> None:
    make, expected = SOURCES[name]
    with sad.Graph() as graph:
        y = make()
    agrees(run(graph, y), expected)


def test_sources_of_unknown_size() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",))
        (n,) = x.shape
        made = [sad.arange(n), sad.arange(1, n), sad.eye(n), sad.zeros((n, 2)), sad.full(n, 2.0)]
    found = run(graph, made, {x: np.zeros(3, np.float32)})
    expected = [np.arange(3), np.arange(1, 3), np.eye(3, dtype="f"), np.zeros((3, 2), "f")]
    for f, e in zip(found, [*expected, np.full(3, 2, "f")], strict=True):
        agrees(f, e)


# The elementwise functions of the Python array API standard 2024.12.
STANDARD = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_left_shift", "bitwise_invert", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan",
    "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign",
    "signbit", "sin", "sinh", "square", "sqrt", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip


@pytest.mark.parametrize("name", STANDARD)
def test_every_elementwise_function_of_the_standard_is_there(name: str) -> None:
    assert OPS[name].elementwise
    assert name in sad.__all__


@pytest.mark.parametrize("definition", functions.elementwise_ops(), ids=lambda d: d.name)
def test_every_elementwise_op_is_a_function(definition: Any) -> None:
    function = getattr(sad, definition.name)
    assert function.__name__ == definition.name
    assert (inspect.getdoc(function) or "").startswith(definition.doc)
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [*definition.inputs, "name"]
    assert parameters["name"].kind is inspect.Parameter.KEYWORD_ONLY
    with pytest.raises(TypeError):
        function(*[1.0] * (len(definition.inputs) + 1))


def test_functions_take_numbers_and_arrays_in_the_current_graph() -> None:
    with sad.Graph() as graph:
        made = [sad.exp(0.0), sad.add(1, np.array([1, 2])), sad.maximum(2.0, np.float32(3))]
        assert made[0].dtype == np.float32
        assert made[1].dtype == np.int64
    found = run(graph, made)
    assert found[0] == 1
    assert found[1].tolist() == [2, 3]
    assert found[2] == 3


def test_L13_the_smallest_integer_survives() -> None:
    smallest = np.iinfo(np.int64).min
    with sad.Graph() as graph:
        y = sad.full_like(sad.zeros(2, dtype="int64"), smallest)
    agrees(run(graph, y), np.full(2, smallest))
