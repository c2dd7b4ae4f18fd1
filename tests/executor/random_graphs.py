"""Random graphs for property tests: few ops, all shapes and dtypes, special values."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from hypothesis import strategies as st

import staticad as sad
from staticad_schema.op import OPS
from staticad_schema.types import BFLOAT16

Array = np.ndarray[Any, Any]

DTYPES = [
    np.dtype(t) for t in ("float32", "float64", "float16", "int32", "uint8", "complex64", "bool")
] + [BFLOAT16]
SHAPES: list[tuple[int, ...]] = [
    (), (1,), (4,), (3, 4), (1, 4), (3, 1), (0, 4), (2, 3, 4), (2, 1, 4), (40, 600),
]  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan, 1e-45, 3e38, 7.25, -3.5]

UNARY = {
    "float": ["negative", "exp", "tanh", "sin", "sqrt", "abs", "sign", "sigmoid", "log1p", "floor",
              "relu", "square", "reciprocal", "positive", "isnan"],
    "complex": ["negative", "exp", "abs", "square", "conj", "real", "imag"],
    "int": ["negative", "abs", "sign", "square", "floor", "relu", "bitwise_invert"],
    "uint": ["square", "floor", "bitwise_invert", "positive"],
    "bool": ["logical_not"],
}  # fmt: skip
BINARY = {
    "float": ["add", "subtract", "multiply", "divide", "maximum", "minimum", "multiply_no_nan",
              "less", "equal", "pow", "copysign", "xlogy", "atan2"],
    "complex": ["add", "subtract", "multiply", "multiply_no_nan", "equal"],
    "int": ["add", "subtract", "multiply", "maximum", "remainder", "floor_divide", "less"],
    "uint": ["add", "multiply", "bitwise_and", "bitwise_xor", "less"],
    "bool": ["logical_and", "logical_or", "logical_xor", "equal"],
}  # fmt: skip


def special_array(draw: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """An array of special and ordinary values."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    values = np.where(
        rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), rng.standard_normal(shape) * 3
    )
    with np.errstate(all="ignore"):
        if dtype.kind in "iub":
            whole: Array = np.asarray(np.nan_to_num(np.clip(values, -100, 100)) % 100).astype(dtype)
            return whole
        if dtype.kind == "c":
            pairs: Array = np.asarray(values + 1j * rng.standard_normal(shape)).astype(dtype)
            return pairs
        return np.asarray(values).astype(dtype)


@st.composite
def programs(
    draw: Any, size: int = 12, devices: tuple[str, ...] = ()
) -> tuple[Any, list[Any], dict[Any, Array]]:
    """(graph, fetched tensors, feeds): a few placeholders and constants, and ops over them.

    devices: what nodes ask for, each for one of them.
    """
    feeds: dict[Any, Array] = {}
    with sad.Graph(seed=1) as graph:
        values: list[Any] = []
        symbolic = draw(st.booleans())
        names: dict[int, str] = {}
        for k in range(draw(st.integers(1, 3))):
            dtype, shape = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(SHAPES))
            array = special_array(draw, dtype, shape)
            declared = tuple(
                names.setdefault(d, f"n{d}") if symbolic and d > 1 else d for d in shape
            )
            x = sad.placeholder(dtype, declared, name=f"x{k}")
            feeds[x] = array
            values.append(x)
        for _ in range(draw(st.integers(1, size))):
            asked = sad.device(draw(st.sampled_from(devices))) if devices else nullcontext()
            with asked:
                made = step(draw, graph, values)
            if made is not None:
                values.append(made)
        picked = draw(st.lists(st.sampled_from(values), min_size=1, max_size=4))
    return graph, [values[-1], *picked], feeds


def step(draw: Any, graph: Any, values: list[Any]) -> Any:
    """One more value, or None where the choice does not fit."""
    x = draw(st.sampled_from(values))
    kind = x.type.kind
    rank = x.type.ndim
    choice = draw(st.integers(0, 15))
    axis = draw(st.integers(0, max(rank - 1, 0)))
    if choice <= 4:
        return OPS[draw(st.sampled_from(UNARY[kind]))](x)
    if choice <= 9:
        fitting = [y for y in values if y.type.dtype == x.type.dtype and fits(x, y)]
        return OPS[draw(st.sampled_from(BINARY[kind]))](x, draw(st.sampled_from(fitting)))
    if choice == 10 and kind != "bool":
        scalar = draw(st.sampled_from([0, 1, 2]))
        op = draw(st.sampled_from(["add", "subtract", "multiply"]))
        return OPS[op](x, x.coerce(scalar))
    if choice == 11 and rank:
        axes = tuple(draw(st.permutations(range(rank))))
        return OPS["permute_dims"](x, axes=axes)
    if choice == 12 and rank and kind in ("float", "int"):
        keepdims = draw(st.booleans())
        return OPS["sum"](x, axis=(axis,), keepdims=keepdims)
    if choice == 13 and rank:
        step = draw(st.sampled_from([1, 2, -1]))
        bounds = [(None, None, 1)] * rank
        bounds[axis] = (None, None, step)
        return OPS["slice"](x, slices=tuple(bounds))
    if choice == 14:
        return OPS["broadcast_to"](x, shape=(2, *x.type.shape))
    if choice == 15 and kind == "float":
        condition = OPS["less"](x, x.coerce(0))
        return OPS["where"](condition, x.coerce(1), x)
    return None


def fits(x: Any, y: Any) -> bool:
    """Whether two shapes broadcast for certain."""
    pairs = zip(reversed(x.type.shape), reversed(y.type.shape), strict=False)
    return all(a == b or a == 1 or b == 1 for a, b in pairs)
