"""Stage 2, rule by rule: what each leaves of a graph, on special values, and alone in random
graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad.numbers import RoundingWarning
from staticad_executor.compile import rewrite, select
from staticad_executor.compile.bisect import Run, evaluated
from staticad_executor.compile.rewrite import Report
from staticad_executor.compile.rules import RULES
from staticad_executor.compile.verify import verify
from staticad_executor.devices.numpy import NumpyDevice
from staticad_schema.errors import StaticadError
from staticad_schema.op import OPS
from staticad_schema.types import as_dtype

from ..tolerance import units
from .planning import Array, Compiled, same_bits
from .random_graphs import SPECIAL, programs

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


@pytest.mark.parametrize(("name", "k"), EXACT, ids=[f"{n}-{k}" for n, k in EXACT])
def test_what_exact_rules_leave(name: str, k: int) -> None:
    dtype, build, left = CASES[name][k]
    graph, x, y = applied(build, dtype)
    program = rewrite(select(graph, [y.id], [], {x.id: x.type}), ("exact",))
    verify(program)
    assert " ".join(n.op for n in program.graph.nodes if n.op != "parameter") == left
    alone = rewrite(select(graph, [y.id], [], {x.id: x.type}), (name,))
    verify(alone)
    for feed in (values(dtype), values(dtype)[:0], values(dtype)[:1]):
        for rewrites in (("exact",), (name,)):
            Compiled(graph, [y], {x: feed}, rewrites=rewrites).check()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "uint64", "int64", "bool", "float16", "float64", "complex64"]
)
def test_exact_rules_keep_all_bits_of_every_dtype(name: str, dtype: str) -> None:
    feed = values(dtype)
    if feed.dtype.kind in "iu":
        limits = np.iinfo(feed.dtype)
        feed[0] = limits.min, limits.max, limits.min + 1, limits.max - 1
    for _, build, _ in CASES[name]:
        try:
            graph, x, y = applied(build, dtype)
        except (StaticadError, OverflowError, TypeError, RoundingWarning):
            # Not every dtype has every op and number.
            continue
        Compiled(graph, [y], {x: feed}).check()


@settings(max_examples=150, deadline=None, derandomize=True,
          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
@given(st.data())
def test_exact_rules_alone_and_together_keep_all_bits(data: Any) -> None:
    """Over random graphs, on whose values the graphs of the table are built."""
    graph, fetches, feeds = data.draw(programs(6))
    names = set()
    with graph:
        for _ in range(data.draw(st.integers(1, 4))):
            x = data.draw(st.sampled_from(fetches))
            name, k = data.draw(st.sampled_from(EXACT))
            dtype, build, _left = CASES[name][k]
            if x.dtype != as_dtype(dtype) or x.ndim != 2 or x.shape[1] != 4:
                x = sad.placeholder(dtype, (3, 4))
                feeds[x] = values(dtype)[data.draw(st.integers(0, 1)) :][:3]
            names.add(name)
            fetches.append(build(x))
    for rewrites in (("exact",), *((name,) for name in sorted(names)), tuple(sorted(names))):
        Compiled(graph, fetches, feeds, rewrites=rewrites).check()


NEARER: dict[str, list[Build]] = {
    "log_of_share": [
        lambda x: sad.log(sad.nn.softmax(x, axis=1)),
        lambda x: sad.log(sad.sigmoid(x)),
    ],
    "log_one_plus_exp": [lambda x: sad.log1p(sad.exp(x))],
    "log_of_sum": [lambda x: sad.log(sad.exp(x) + sad.exp(-2 * x))],
    "one_minus_sigmoid": [lambda x: 1 - sad.sigmoid(x)],
    "log_one_plus": [lambda x: sad.log(1 + x)],
    "exp_minus_one": [lambda x: sad.exp(x) - 1],
    "square_as_product": [lambda x: x**2],
    "log_sum_exp": [
        lambda x: sad.broadcast_to(sad.log(sad.sum(sad.exp(x), axis=1, keepdims=True)), x.shape)
    ],
    "logistic": [lambda x: 1 / (1 + sad.exp(-x)), lambda x: sad.reciprocal(sad.exp(x) + 1)],
}
STABLE = [(name, k) for name, builds in NEARER.items() for k in range(len(builds))]


def results(build: Build, dtype: str, feed: Array, rewrites: tuple[str, ...]) -> Array:
    graph, x, y = applied(build, dtype)
    return Compiled(graph, [y], {x: feed.astype(dtype)}, rewrites=rewrites).run()[0]


@pytest.mark.parametrize(("name", "k"), STABLE, ids=[f"{n}-{k}" for n, k in STABLE])
def test_stable_rules_are_no_less_accurate(name: str, k: int) -> None:
    build = NEARER[name][k]
    sizes = np.array([1e-30, 1e-10, 1e-3, 0.5, 1.0, 5.0, 17.0, 60.0])
    feed = np.concatenate([sizes, -sizes, [0.0, -0.0, 80.0, -80.0]]).reshape(-1, 4)
    graph, x, y = applied(build, "float32")
    report = Report()
    rewrite(select(graph, [y.id], [], {x.id: x.type}), (name,), NumpyDevice.claimed, report)
    assert report.applied[name] == 1
    true = results(build, "float64", feed, (name,))
    naive, nearer = (results(build, "float32", feed, r).astype(float) for r in ((), (name,)))
    with np.errstate(invalid="ignore"):
        lost = np.abs(nearer - true) - np.abs(naive - true)
    assert not np.any(lost > units("float32") * np.abs(true)), (true, naive, nearer)
    special = np.array([[np.nan, np.inf, -np.inf, 0.0]])
    naive, nearer = (results(build, "float32", special, r) for r in ((), (name,)))
    kept = np.isnan(naive) & ~np.isnan(special)
    assert np.array_equal(np.isnan(nearer) | kept, np.isnan(naive))


@pytest.mark.parametrize("offset", [0.0, 70.0, -70.0])
def test_logarithms_of_shares_do_not_round_what_is_beside_them(offset: float) -> None:
    rng = np.random.default_rng(0)
    feed = rng.uniform(-9, 9, (64, 4)).astype(np.float32) + np.float32(offset)
    build: Build = lambda x: share(sad.exp(x))  # noqa: E731
    wide = feed.astype(float)
    true = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    naive, nearer = (
        results(build, "float32", feed, r).astype(float) for r in ((), ("log_softmax",))
    )
    assert not np.array_equal(naive, nearer)
    # A share near 1 is rounded, by itself or as the sum that it is one over.
    assert np.abs(nearer - true).max() <= np.abs(naive - true).max() + units("float32")
    assert np.all(np.abs(nearer - true) <= units("float32") * np.maximum(np.abs(true), 1))
    special = np.array([[np.nan, np.inf, -np.inf, 0.0], [200.0, -np.inf, 0.0, 1.0]])
    found = results(build, "float32", special, ("log_softmax",))
    assert np.isnan(found[0]).all()
    assert np.array_equal(found[1], np.array([0.0, -np.inf, -200.0, -199.0], np.float32))


FAST: dict[str, list[tuple[Build, str]]] = {
    "product_of_factors": [(lambda x: x * 3 * 5, "constant multiply")],
    "factor_out": [(lambda x: x * (x + 1) + (x + 2) * x,
                    "constant add constant add add multiply")],
    "divide_by_constant": [(lambda x: x / 3, "constant multiply")],
    "add_zero": [(lambda x: x + 0, ""), (lambda x: 0.0 + x, "")],
}  # fmt: skip


def test_every_rule_is_tried() -> None:
    elsewhere = {
        "log_softmax",
        "order_of_products",
        "rows_by_number",
        "product_with_transpose",
        "joined_products",
    }
    assert CASES.keys() | NEARER.keys() | FAST.keys() | elsewhere == RULES.keys()


@pytest.mark.parametrize("name", FAST)
def test_fast_rules_are_near(name: str) -> None:
    feed = np.linspace(-3, 3, 20).reshape(-1, 4)
    for build, left in FAST[name]:
        graph, x, y = applied(build, "float32")
        selected = select(graph, [y.id], [], {x.id: x.type})
        program = rewrite(selected, (name, "exact"))
        assert " ".join(n.op for n in program.graph.nodes if n.op != "parameter") == left
        assert [n.op for n in rewrite(selected).graph.nodes] != [n.op for n in program.graph.nodes]
        naive, near = (results(build, "float32", feed, r) for r in ((), (name,)))
        np.testing.assert_allclose(near, naive, rtol=units("float32"), atol=units("float32", 16))


def test_fast_products_of_three_are_taken_in_the_cheaper_order() -> None:
    rng = np.random.default_rng(0)
    for shapes in (
        ((30, 20), (20, 10), (10,)),
        ((4,), (4, 30), (30, 20)),
        ((9, 2), (2, 9), (9, 2)),
    ):
        with sad.Graph() as graph:
            a, b, c = (sad.placeholder("float64", shape) for shape in shapes)
            left, right = (a @ b) @ c, a @ (b @ c)
        feeds = {v: rng.standard_normal(v.shape) for v in (a, b, c)}
        shapes_after = set()
        for y in (left, right):
            compiled = Compiled(graph, [y], feeds, rewrites=("order_of_products",))
            np.testing.assert_allclose(compiled.run()[0], compiled.expected()[0], rtol=1e-12)
            program = compiled.structure.program
            shapes_after.add(str([n.types for n in program.graph.nodes if n.op == "matmul"]))
        assert len(shapes_after) == 1


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8"])
def test_fast_products_with_one_hot_read_rows(dtype: str) -> None:
    rng = np.random.default_rng(0)
    with sad.Graph() as graph:
        i = sad.placeholder(dtype, ("n", 3))
        w = sad.placeholder("float32", (5, 2))
        y = OPS["one_hot"](i, depth=5, dtype=w.dtype) @ w
        (dw,) = sad.gradients(sad.sum(sad.sin(y)), [w])
    numbers = rng.integers(0, 7, (4, 3)) - (dtype != "uint8")
    for count in (4, 1, 0):
        feeds = {i: numbers[:count].astype(dtype), w: rng.standard_normal((5, 2), np.float32)}
        compiled = Compiled(graph, [y, dw], feeds, rewrites=("exact", "rows_by_number"))
        ops = {node.op for node in compiled.structure.program.graph.nodes}
        assert {"take", "scatter_add"} <= ops
        assert "matmul" not in ops
        for found, expected in zip(compiled.run(), compiled.expected(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2, 40, 100, 0])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_products_with_transposes(rows: int, lead: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    size = 300
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (*lead, "n", size))
        w = sad.placeholder("float32", (size, size))
        y = sad.tanh(x @ w)
        dx, dw = sad.gradients(sad.sum(y), [x, w])
    feeds = {v: rng.standard_normal(shape, np.float32)
             for v, shape in ((x, (*lead, rows, size)), (w, (size, size)))}  # fmt: skip
    alone = Compiled(graph, [dx, dw], feeds, rewrites=("product_with_transpose",))
    program = alone.structure.program
    ops = [node.op for node in program.graph.nodes]
    assert (ops.count("matmul_transposed"), ops.count("matmul")) == (1, 2)
    run = Run(graph, [dx.id, dw.id], [], alone.feeds, {}, 0)
    for found, same, naive in zip(
        alone.run(), evaluated(program, run), alone.expected(), strict=True
    ):
        assert same_bits(found, same)
        # Both are within the bound of a sum of so many products, whatever their order.
        terms = size * float(np.abs(feeds[x]).max(initial=0) + 1) * 4
        np.testing.assert_allclose(found, naive, rtol=0, atol=units("float32", 1) * terms)
    Compiled(graph, [dx, dw], feeds).check()


@pytest.mark.parametrize("steps", [1, 2, 5, 70])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_fast_sums_of_products_are_one_product(steps: int, rows: int) -> None:
    rng = np.random.default_rng(0)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 4))
        y = sad.placeholder("float32", ("n", 3))
        total = sad.sin(x).T @ sad.cos(y)
        for k in range(1, steps):
            total = total + sad.sin(x + k).T @ sad.cos(y - k)
    feeds = {x: rng.standard_normal((rows, 4), np.float32),
             y: rng.standard_normal((rows, 3), np.float32)}  # fmt: skip
    compiled = Compiled(graph, [total], feeds, rewrites=("exact", "joined_products"))
    ops = [node.op for node in compiled.structure.program.graph.nodes]
    # As many as a concatenation may have make one product.
    assert ops.count("matmul") == -(-steps // 64)
    found, naive = compiled.run()[0], compiled.expected()[0]
    np.testing.assert_allclose(found, naive, rtol=1e-5, atol=1e-5 * np.abs(naive).max(initial=1))
