"""What rules of rewriting apply to: graphs by rule, and what exact rules leave of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import staticad as sad
from staticad_schema.op import OPS
from staticad_schema.types import as_dtype

from .planning import Array, Compiled
from .random_graphs import SPECIAL

Build = Callable[[Any], Any]
WHOLE = (None, None, 1)


def number(x: Any, value: float) -> Any:
    """A number of the dtype of x."""
    return x.coerce(value)


def chosen(compare: str, a: float, first: bool = True) -> Build:
    """where(x compare a, a, x), or where(x compare a, x, a)."""

    def build(x: Any) -> Any:
        bound = number(x, a)
        test = OPS[compare](x, bound)
        return OPS["where"](test, bound, x) if first else OPS["where"](test, x, bound)

    return build


def held(low: float, high: float) -> Build:
    """x within bounds, as activations write it."""

    def build(x: Any) -> Any:
        bounds = number(x, low), number(x, high)
        above = OPS["where"](x < bounds[0], bounds[0], x)
        return OPS["where"](x > bounds[1], bounds[1], above)

    return build


def halves(x: Any) -> tuple[Any, Any]:
    return x[:, :1], x[:, 1:]


LEFT = (WHOLE, (0, 2, 1))


def taken(x: Any) -> Any:
    return OPS["slice"](x, slices=LEFT)


def cubes(x: Any) -> Any:
    return sad.reshape(x, (-1, 2, 2))


def swapped(x: Any) -> Any:
    return sad.permute_dims(x, (1, 0, 2))


def wide(x: Any) -> Any:
    return sad.broadcast_to(x, (2, *x.shape))


def share(terms: Any) -> Any:
    return sad.log(terms / sad.sum(terms, axis=1, keepdims=True))


def placed(x: Any) -> Any:
    first, whole = (WHOLE, (1, 2, 1), WHOLE), (WHOLE, WHOLE, WHOLE)
    part = OPS["slice"](x, slices=(WHOLE, (0, 1, 1), WHOLE))
    return OPS["place"](part, x, slices=(*first, *whole), shape=x.type.shape)


def updated(x: Any, value: float, columns: slice = slice(0, 2)) -> Any:
    bounds = (WHOLE, (columns.start, columns.stop, 1))
    u = x[:, columns] + number(x, value)
    return OPS["slice_set"](x, u, slices=bounds)


CASES: dict[str, list[tuple[str, Build, str]]] = {
    "where_of_bound": [
        ("float32", chosen("less", 2.0), "constant maximum"),
        ("float32", chosen("less_equal", -1.0), "constant maximum"),
        ("float64", chosen("greater", 0.5), "constant minimum"),
        ("float16", chosen("greater_equal", -3.5), "constant minimum"),
        ("float32", chosen("less", float("inf")), "constant maximum"),
        ("float32", lambda x: OPS["where"](number(x, 2.0) > x, number(x, 2.0), x),
         "constant maximum"),
        ("float32", chosen("less", 0.0), "constant less where"),
        ("float32", chosen("less", float("nan")), "constant less where"),
        ("float32", chosen("less", 2.0, False), "constant less where"),
        ("float32", held(-2.0, 1.5), "constant constant maximum minimum"),
        ("float32", held(1.5, -2.0), "constant constant maximum greater where"),
        ("float32", held(-1.0, 0.0), "constant constant maximum greater where"),
        ("int32", chosen("less", 0), "constant maximum"),
        ("int32", chosen("less", 3, False), "constant minimum"),
        ("int32", chosen("greater", 3, False), "constant maximum"),
    ],
    "where_of_constant": [
        ("float32", lambda x: OPS["where"](sad.constant(True), x, -x), ""),
        ("float32", lambda x: OPS["where"](sad.constant(False), x, number(x, 2.0)),
         "constant broadcast_to"),
    ],
    "where_of_negation": [
        ("float32", lambda x: OPS["where"](OPS["logical_not"](x < 1), x, -x),
         "constant less negative where"),
    ],
    "where_of_where": [
        ("float32", lambda x: OPS["where"](x < 1, OPS["where"](x < 1, x, -x), x * x),
         "constant less multiply where"),
        ("float32", lambda x: OPS["where"](x < 1, x, OPS["where"](x < 1, -x, x * x)),
         "constant less multiply where"),
    ],
    "bounds_of_bound": [
        ("float32", lambda x: sad.maximum(sad.maximum(x, -1.0), 2.0), "constant maximum"),
        ("float32", lambda x: sad.minimum(2.0, sad.minimum(x, -1.0)), "constant minimum"),
        ("float32", lambda x: sad.maximum(sad.maximum(x, -1.0), 0.0),
         "constant maximum constant maximum"),
    ],
    "bound_beyond": [
        ("int32", lambda x: sad.maximum(sad.minimum(x, 2), 5), "constant broadcast_to"),
        ("int32", lambda x: sad.maximum(sad.minimum(x, 5), 2),
         "constant minimum constant maximum"),
        ("float32", lambda x: sad.maximum(sad.minimum(x, 2.0), 5.0),
         "constant minimum constant maximum"),
    ],
    "divide_by_power_of_two": [
        ("float32", lambda x: x / 4, "constant multiply"),
        ("float16", lambda x: x / -0.125, "constant multiply"),
        ("bfloat16", lambda x: x / 1024, "constant multiply"),
        ("float32", lambda x: x / 2.0**-149, "constant divide"),
        ("float32", lambda x: x / 2.0**127, "constant multiply"),
        ("float32", lambda x: x / 3, "constant divide"),
        ("complex64", lambda x: x / 2, "constant divide"),
    ],
    "add_negative": [
        ("float32", lambda x: x + -(x * x), "multiply subtract"),
        ("float32", lambda x: -x + x * x, "multiply subtract"),
        ("int32", lambda x: x + -(x * x), "multiply subtract"),
    ],
    "subtract_negative": [("float32", lambda x: x - -(x * x), "multiply add")],
    "signs_of_factors": [
        ("float32", lambda x: -x * -(x + 1), "constant add multiply"),
        ("float32", lambda x: -x * 3, "constant multiply"),
        ("float32", lambda x: 3 / -x, "constant divide"),
        ("complex64", lambda x: -x * -(x + 1), "negative constant add negative multiply"),
        ("int32", lambda x: -x * -(2**31), "constant multiply"),
    ],
    "negative_of_product": [
        ("float32", lambda x: -(x * 3), "constant multiply"),
        ("float32", lambda x: -(x / 3), "constant divide"),
        ("float32", lambda x: -(x - x * x), "multiply subtract negative"),
        ("int32", lambda x: -(x - x * x), "multiply subtract"),
    ],
    "multiply_by_minus_one": [("float32", lambda x: x * -1, "negative")],
    "sign_dropped": [
        ("float32", lambda x: abs(-x), "abs"),
        ("float32", lambda x: sad.square(abs(x)), "square"),
        ("complex64", lambda x: abs(-x), "abs"),
        ("uint8", lambda x: abs(-x), "negative abs"),
        ("uint8", lambda x: sad.square(-x), "square"),
    ],
    "multiply_by_zero": [
        ("int32", lambda x: x * 0, "constant broadcast_to"),
        ("float32", lambda x: x * 0, "constant multiply"),
    ],
    "product_of_numbers": [
        ("float32", lambda x: x * 4 * 3, "constant multiply"),
        ("float32", lambda x: x * 0.5 * 0.5, "constant multiply multiply"),
        ("float32", lambda x: x * 3 * 5, "constant multiply constant multiply"),
        ("float32", lambda x: x * 2.0**127 * 3, "constant multiply constant multiply"),
        ("int32", lambda x: x * 3 * (2**30), "constant multiply"),
    ],
    "sum_of_numbers": [
        ("int32", lambda x: x + 3 + (2**31 - 1), "constant add"),
        ("float32", lambda x: x + 3 + 4, "constant add constant add"),
    ],
    "common_factor": [
        ("int32", lambda x: x * (x + 1) + (x + 2) * x, "constant add constant add add multiply"),
        ("float32", lambda x: x * (x + 1) + (x + 2) * x,
         "constant add multiply constant add multiply add"),
    ],
    "negated_equality": [
        ("float32", lambda x: OPS["logical_not"](x == 1), "constant not_equal"),
        ("float32", lambda x: OPS["logical_not"](x < 1), "constant less logical_not"),
        ("int32", lambda x: OPS["logical_not"](x < 1), "constant greater_equal"),
    ],
    "cast_of_cast": [
        ("float16", lambda x: x.astype("float32").astype("float64"), "cast"),
        ("float32", lambda x: x.astype("float64").astype("float16"), "cast"),
        ("float32", lambda x: x.astype("float16").astype("float64"), "cast cast"),
        ("float32", lambda x: x.astype("float64").astype("int32"), "cast cast"),
        ("int32", lambda x: x.astype("int64").astype("uint8"), "cast"),
        ("int32", lambda x: x.astype("float32").astype("float64"), "cast cast"),
        ("int32", lambda x: x.astype("float64").astype("float16"), "cast cast"),
        ("uint8", lambda x: x.astype("int32").astype("float32"), "cast"),
        ("bool", lambda x: x.astype("float32").astype("complex64"), "cast"),
    ],
    "slice_of_slice": [
        ("float32", lambda x: x[:, 1:][:, ::2], "slice"),
        ("float32", lambda x: x[:, ::-1][:, 1:3], "slice"),
        ("float32", lambda x: x[1:][:, ::-2], "slice"),
        ("float32", lambda x: x[1:][1:], "slice slice"),
    ],
    "slice_of_concat": [
        ("float32", lambda x: sad.concat([x, x * x], axis=1)[:, 5:7], "multiply slice"),
        ("float32", lambda x: sad.concat([x, x * x], axis=1)[:, 4:8], "multiply"),
        ("float32", lambda x: sad.concat([x, x * x], axis=1)[:, 7:4:-1], "multiply slice"),
        ("float32", lambda x: sad.concat([x, x * x], axis=1)[:, 3:6],
         "multiply concat slice"),
    ],
    "concat_of_slices": [
        ("float32", lambda x: sad.concat(halves(x), axis=1), ""),
        ("float32", lambda x: sad.concat(halves(x)[::-1], axis=1), "slice slice concat"),
        ("float32", lambda x: sad.concat([x[:, :1], x[:, 1:3]], axis=1), "slice slice concat"),
    ],
    "concat_of_concat": [
        ("float32", lambda x: sad.concat([sad.concat([x, x * x]), x]), "multiply concat"),
        ("float32", lambda x: sad.concat([sad.concat([x, x * x]), sad.concat([x, x], axis=0)]),
         "multiply concat"),
    ],
    "slice_of_update": [
        ("float32", lambda x: updated(x, 1.0)[:, :2], "slice constant add"),
        ("float32", lambda x: updated(x, 1.0)[:, 1:2], "slice constant add slice_set slice"),
    ],
    "dead_update": [
        ("float32", lambda x: updated(updated(x, 1.0, slice(0, 4)), 2.0, slice(0, 4)),
         "constant add constant add"),
        ("float32", lambda x: OPS["slice_set"](x, taken(x), slices=LEFT), ""),
        ("float32", lambda x: OPS["slice_set"](updated(x, 1.0), -x[:, :2],
                                               slices=(WHOLE, (0, 2, 1))),
         "slice negative slice_set"),
    ],
    "flip_of_flip": [
        ("float32", lambda x: sad.flip(sad.flip(x, axis=0), axis=1), "flip"),
        ("float32", lambda x: sad.flip(sad.flip(x, axis=(0, 1)), axis=1), "flip"),
    ],
    "permute_of_ones": [
        ("float32", lambda x: sad.permute_dims(x[:, None, :], (1, 0, 2)), "reshape"),
        ("float32", lambda x: sad.permute_dims(x[:, None, :], (2, 1, 0)),
         "reshape permute_dims"),
    ],
    "permute_of_parts": [
        ("float32", lambda x: sad.concat([x, x * x], axis=1).T,
         "multiply concat permute_dims"),
        ("float32", lambda x: swapped(sad.concat([cubes(x), cubes(x * x)], axis=1)),
         "reshape multiply reshape permute_dims permute_dims concat"),
        ("float32", lambda x: swapped(placed(cubes(x))),
         "reshape slice reshape permute_dims place"),
    ],
    "broadcast_of_reshape": [
        ("float32", lambda x: sad.broadcast_to(x[None], (3, *x.shape)), "broadcast_to"),
    ],
    "drop_identity": [
        ("float32", lambda x: sad.identity(sad.stop_gradient(OPS["positive"](x))), ""),
    ],
    "drop_after": [("float32", lambda x: sad.after(sad.exp(x)), "exp")],
    "multiply_by_one": [
        ("float32", lambda x: 1 * x * 1, ""),
        ("complex64", lambda x: x * 1, "constant multiply"),
    ],
    "divide_by_one": [
        ("float32", lambda x: x / 1, ""),
        ("float16", lambda x: x / sad.ones((1, 4), dtype="float16"), ""),
        ("complex64", lambda x: x / 1, "constant divide"),
    ],
    "add_nothing": [
        ("float32", lambda x: x + -0.0, ""),
        ("float32", lambda x: x + 0.0, "constant add"),
        ("int32", lambda x: 0 + x, ""),
    ],
    "subtract_nothing": [
        ("float32", lambda x: x - 0.0, ""),
        ("float32", lambda x: x - -0.0, "constant subtract"),
    ],
    "double_negation": [
        ("float32", lambda x: sad.negative(-x), ""),
        ("int32", lambda x: sad.bitwise_invert(sad.bitwise_invert(x)), ""),
        ("complex64", lambda x: sad.conj(sad.conj(x)), ""),
    ],
    "idempotent": [
        ("float32", lambda x: sad.maximum(x, sad.minimum(x, x)), ""),
        ("int32", lambda x: sad.bitwise_and(x, sad.bitwise_or(x, x)), ""),
    ],
    "where_same": [("float32", lambda x: sad.where(x < 1, x, x), "")],
    "cast_nothing": [
        ("float32", lambda x: x.astype("float32"), ""),
        ("int16", lambda x: x.astype("int64").astype("int16"), ""),
        ("int16", lambda x: x.astype("float32").astype("int16"), ""),
        ("int64", lambda x: x.astype("float32").astype("int64"), "cast cast"),
        ("float32", lambda x: x.astype("float64").astype("float32"), "cast cast"),
    ],
    "reshape_chain": [
        ("float32", lambda x: sad.reshape(sad.reshape(x, (-1,)), x.shape), ""),
        ("float32", lambda x: sad.reshape(cubes(x), (-1,)), "reshape"),
    ],
    "permute_chain": [
        ("float32", lambda x: x.T.T, ""),
        ("float32", lambda x: sad.permute_dims(swapped(cubes(x)), (2, 0, 1)),
         "reshape permute_dims"),
    ],
    "broadcast_chain": [
        ("float32", lambda x: wide(wide(x)), "broadcast_to"),
        ("float32", lambda x: OPS["broadcast_to"](x, shape=x.type.shape), ""),
    ],
    "reshape_of_scalar": [
        ("float32", lambda x: sad.reshape(sad.broadcast_to(sad.sum(x), (2, 3)), (6,)),
         "sum broadcast_to"),
    ],
    "reorder_of_scalar": [
        ("float32", lambda x: sad.flip(sad.broadcast_to(sad.sum(x), (2, 3)).T),
         "sum broadcast_to"),
    ],
    "sum_to_nothing": [("float32", lambda x: OPS["sum_to"](x, shape=x.type.shape), "")],
    "reduce_nothing": [
        ("float32", lambda x: sad.sum(sad.max(x, axis=()), axis=()), ""),
    ],
    "flip_nothing": [("float32", lambda x: sad.flip(x, axis=()), "")],
    "slice_everything": [("float32", lambda x: x[:, 0:4], "")],
    "concat_of_one": [("float32", lambda x: sad.concat([x]), "")],
    "multiply_finite": [
        ("float32", lambda x: OPS["multiply_no_nan"]((x < 1).astype("float32"), x),
         "constant less cast multiply"),
        ("float32", lambda x: OPS["multiply_no_nan"](x, number(x, 0.25)), "constant multiply"),
        ("float32", lambda x: OPS["multiply_no_nan"](x, number(x, 0.0)),
         "constant multiply_no_nan"),
        ("float32", lambda x: OPS["multiply_no_nan"](x, x), "multiply_no_nan"),
    ],
    "multiply_both_finite": [
        ("float32", lambda x: OPS["multiply_zero"](x, number(x, -0.25)), "constant multiply"),
        ("float32", lambda x: OPS["multiply_zero"]((x < 1).astype("float32"),
                                                   (x > 0).astype("float32")),
         "constant less cast constant greater cast multiply"),
        ("float32", lambda x: OPS["multiply_zero"](x, number(x, 0.0)), "constant multiply_zero"),
        ("float32", lambda x: OPS["multiply_zero"](x, number(x, float("inf"))),
         "constant multiply_zero"),
    ],
    "unbroadcast": [
        ("float32", lambda x: sad.broadcast_to(sad.sum(x), x.shape) * x, "sum multiply"),
        ("float32", lambda x: sad.exp(sad.broadcast_to(sad.sum(x), x.shape)),
         "sum exp broadcast_to"),
    ],
}  # fmt: skip
EXACT = [(name, k) for name, cases in CASES.items() for k in range(len(cases))]


def values(dtype: str) -> Array:
    """Special values, four to a row."""
    whole = SPECIAL + [5.0] * (-len(SPECIAL) % 4)
    array = np.array(whole, np.float64).reshape(-1, 4)
    with np.errstate(all="ignore"):
        if as_dtype(dtype).kind in "iub":
            array = np.nan_to_num(np.clip(array, 0 if dtype == "uint8" else -100, 100))
        return np.asarray(array.astype(as_dtype(dtype)))


def applied(build: Build, dtype: str) -> tuple[Any, Any, Any]:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, ("n", 4), name="x")
        return graph, x, build(x)


def results(build: Build, dtype: str, feed: Array, rewrites: tuple[str, ...]) -> Array:
    graph, x, y = applied(build, dtype)
    return Compiled(graph, [y], {x: feed.astype(dtype)}, rewrites=rewrites).run()[0]
