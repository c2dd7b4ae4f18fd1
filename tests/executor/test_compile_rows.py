"""Regions that are computed by rows: the bits are those of naive evaluation."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.devices.numpy.extrema import extrema
from staticad_schema.op import OPS

from .planning import Array, Compiled, same_bits
from .random_graphs import special_array
from .test_compile_equals_meaning import RANDOM, small_tiles
from .test_compile_group import check_order, grouped, shapes_of

ROWS: list[tuple[int, ...]] = [(1,), (5,), (2, 3), (3, 1), (7, 2, 2), (67,)]
TAILS: list[tuple[int, ...]] = [(1,), (2,), (8,), (9,), (65,), (129,), (300,), (2, 5), (3, 1), (0,)]
DTYPES = [np.dtype(t) for t in ("float32", "float64", "float16", "int32", "complex64", "bool")]


def drawn_source(
    draw: Any, dtype: Any, shape: tuple[int, ...], name: str, symbolic: bool, feeds: dict[Any, Any]
) -> Any:
    """A tensor of that shape, from a placeholder or its transpose; what is fed is entered."""
    array = special_array(draw, dtype, shape)
    turned = draw(st.booleans())
    given_shape = array.T.shape if turned else shape
    declared = tuple(f"n{d}" if symbolic and d > 1 else d for d in given_shape)
    x = sad.placeholder(dtype, declared, name=name)
    feeds[x] = np.array(array.T, order="C") if turned else array
    order = tuple(reversed(range(len(shape))))
    return OPS["permute_dims"](x, axes=order) if turned else x


@st.composite
def row_programs(draw: Any) -> tuple[Any, list[Any], dict[Any, Array]]:
    """(graph, fetched tensors, feeds): values of shapes R + T, R + (1, …) and R, operands that
    are broadcast or strided, and ops over them, most of which work on rows."""
    rows, tail = draw(st.sampled_from(ROWS)), draw(st.sampled_from(TAILS))
    dtype = draw(st.sampled_from(DTYPES[:2] * 4 + DTYPES[2:]))
    symbolic = draw(st.booleans())
    ones = (1,) * len(tail)
    shapes = [(*rows, *tail)] * 2 + [(*rows, *ones), rows, tail, (rows[-1], *tail), ()]
    feeds: dict[Any, Array] = {}
    with sad.Graph(seed=1) as graph:
        values: list[Any] = []
        for k, shape in enumerate(draw(st.lists(st.sampled_from(shapes), min_size=1, max_size=4))):
            values.append(drawn_source(draw, dtype, shape, f"x{k}", symbolic, feeds))
        for _ in range(draw(st.integers(2, 14))):
            made = row_step(draw, values, len(rows))
            if made is not None:
                values.append(made)
        picked = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    return graph, [values[-1], *picked], feeds


def row_step(draw: Any, values: list[Any], lead: int) -> Any:
    """One more value, or None where the choice does not fit."""
    x = draw(st.sampled_from(values))
    kind, rank, shape = x.type.kind, x.type.ndim, x.type.shape
    trailing = tuple(range(lead, rank))
    choice = draw(st.integers(0, 14))
    if choice <= 3:
        fitting = [y for y in values if y.type.dtype == x.type.dtype and fits(x, y)]
        binary = {"bool": ["logical_and"], "int": ["add", "multiply"]}.get(
            kind, ["add", "multiply", "multiply_no_nan"]
        )
        return OPS[draw(st.sampled_from(binary))](x, draw(st.sampled_from(fitting)))
    if choice == 4 and kind == "float":
        return OPS[draw(st.sampled_from(["exp", "sigmoid", "negative", "sqrt"]))](x)
    if choice == 5 and kind == "float":
        return OPS["where"](OPS["less"](x, x.coerce(0)), x.coerce(1), x)
    if choice == 6 and rank == lead:
        return OPS["reshape"](x, shape=(*shape, 1))
    if choice == 7 and trailing and all(size == 1 for size in shape[lead:]):
        wide = [y.type.shape for y in values if y.type.ndim == rank and fits(x, y)]
        return OPS["broadcast_to"](x, shape=draw(st.sampled_from(wide)))
    if choice == 12 and kind != "complex" and kind != "bool":
        return OPS["less"](x, x.coerce(0))
    if choice >= 13:
        conditions = [c for c in values if c.type.kind == "bool" and fits(x, c)]
        others = [y for y in values if y.type.dtype == x.type.dtype and fits(x, y)]
        scalars = [x.coerce(0), x.coerce(1)] if kind != "bool" else []
        if not conditions:
            return None
        condition, y = draw(st.sampled_from(conditions)), draw(st.sampled_from(others + scalars))
        if not all(fits(condition, v) for v in (x, y)):
            return None
        return OPS["where"](condition, *((x, y) if draw(st.booleans()) else (y, x)))
    if not trailing or 0 in shape:
        return None
    keepdims = draw(st.booleans())
    if choice <= 9:
        names = {"bool": ["any", "all"], "complex": ["sum", "prod"]}.get(
            kind, ["sum", "prod", "max", "min"] + ["logsumexp"] * (kind == "float")
        )
        return OPS[draw(st.sampled_from(names))](x, axis=trailing, keepdims=keepdims)
    if kind != "float":
        return None
    if choice == 10:
        return OPS["normalize"](x, axis=trailing, epsilon=1e-5, center=keepdims)[not keepdims]
    return OPS[draw(st.sampled_from(["softmax", "log_softmax"]))](x, axis=rank - 1)


def fits(x: Any, y: Any) -> bool:
    """Whether y broadcasts to x, or x to y, for certain."""
    pairs = list(zip(reversed(x.type.shape), reversed(y.type.shape), strict=False))
    return all(b in (a, 1) for a, b in pairs) or all(a in (b, 1) for a, b in pairs)


@RANDOM
@given(
    row_programs(), st.sampled_from([1, 40, 700, 7000]), st.sampled_from([1, 2, 4]), st.booleans()
)
def test_rows_tiles_and_threads_change_no_bit(
    case: Any, elements: int, threads: int, whole: bool
) -> None:
    graph, fetches, feeds = case
    check_order(grouped(fetches, list(feeds)))
    if whole:
        Compiled(graph, fetches, feeds, threads=threads).check()
    with small_tiles(elements):
        Compiled(graph, fetches, feeds, threads=threads).check()


@RANDOM
@given(row_programs(), st.sampled_from([1, 2]))
def test_rows_that_are_too_long_are_computed_node_by_node(case: Any, threads: int) -> None:
    graph, fetches, feeds = case
    with small_tiles(40), pytest.MonkeyPatch.context() as patch:
        patch.setattr("staticad_executor.compile.on_numpy.LONG_ROW", 8)
        Compiled(graph, fetches, feeds, threads=threads).check()


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_extrema_of_rows_keep_the_sign_of_zero(dtype: str) -> None:
    rng = np.random.default_rng(4)
    for size in [*range(1, 100), 129, 300, 1000]:
        for numbers in ([0.0, -0.0], [0.0, -0.0, np.nan, 1.0], [np.inf, -np.inf, 3.0]):
            chosen = rng.choice(numbers, (5, size)).astype(dtype)
            for ufunc in (np.maximum, np.minimum):
                out = np.empty((5, 1), dtype)
                extrema(ufunc, size, chosen, out)
                assert same_bits(out, ufunc.reduce(chosen, 1, keepdims=True))


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64"])
def test_numpy_reduces_each_row_by_itself(dtype: str) -> None:
    # What regions rely on: of a contiguous array, whatever the number of rows.
    rng = np.random.default_rng(0)
    for size in [*range(1, 300), 511, 512, 1000, 4096, 5000, 9000]:
        many = (rng.standard_normal((11, size)) * 10).astype(dtype)
        for rows in (1, 2, 3, 8, 11):
            part = many[-rows:].copy()
            for ufunc in (np.add, np.multiply, np.maximum, np.minimum):
                if dtype == "complex64" and ufunc in (np.maximum, np.minimum):
                    continue
                whole = ufunc.reduce(many, 1, many.dtype)[-rows:]
                assert same_bits(np.asarray(ufunc.reduce(part, 1, part.dtype)), whole)
                divided = part.reshape(rows, -1, next(k for k in (4, 3, 2, 1) if size % k == 0))
                whole = ufunc.reduce(many.reshape(11, *divided.shape[1:]), (1, 2), many.dtype)
                both = ufunc.reduce(divided, (-2, -1), part.dtype)
                assert same_bits(np.asarray(both), whole[-rows:])


def test_choices_by_one_condition_share_its_mask() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (70, 8), name="x")
        keep = sad.placeholder("bool", (70, 1), name="keep")
        y = sad.where(keep, x, -np.inf)
        fetches = [y, sad.where(keep, sad.exp(y), 0.0), sad.where(keep, 0.0, x * y)]
        fetches.append(sad.where(keep, x, y) + sad.where(keep, fetches[2], x))
    rng = np.random.default_rng(2)
    feeds = {x: rng.standard_normal((70, 8)).astype(np.float32), keep: rng.random((70, 1)) < 0.5}
    feeds[x][3, 4] = np.nan
    with small_tiles(60):
        Compiled(graph, fetches, feeds, threads=2).check()


def test_softmax_and_its_gradient_are_one_region() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", 8), name="x")
        g = sad.placeholder("float32", ("n", 8), name="g")
        (dx,) = sad.gradients(sad.sum(sad.nn.softmax(x + 1) * g), [x])
    (only,) = [entry for entry in shapes_of(grouped([dx], [x, g])) if entry[0] != "view"]
    ops = "add max subtract exp sum divide multiply_no_nan sum subtract multiply_no_nan"
    assert only == ("region", ops)


def test_a_mean_over_a_symbolic_axis_does_not_end_a_region() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", "m"), name="x")
        y = sad.exp(x)
        z = y - sad.mean(y, axis=1, keepdims=True)
    steps = [entry for entry in shapes_of(grouped([z], [x])) if "size_of" not in entry[1]]
    assert steps == [("region", "exp sum divide subtract")]


def test_views_at_the_edge_of_a_region_stay_views() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (6, 8), name="x")
        s = sad.placeholder("float32", (6,), name="s")
        y = sad.sum(x * sad.reshape(s, (6, 1)), axis=1)
        z = sad.reshape(y, (6, 1))
    assert shapes_of(grouped([z], [x, s])) == [
        ("view", "reshape"), ("region", "multiply sum"), ("view", "reshape")
    ]  # fmt: skip


def test_views_within_a_region_are_copies_of_a_tile() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (60, 8), name="x")
        s = OPS["sum"](x, axis=(1,), keepdims=False)
        wide = OPS["broadcast_to"](OPS["reshape"](s, shape=(60, 1)), shape=(60, 8))
        y = OPS["max"](wide, axis=(1,), keepdims=True) * x + wide
    rng = np.random.default_rng(3)
    feeds = {x: rng.standard_normal((60, 8)).astype(np.float32)}
    for rewrites in ((), ("exact",)):
        with small_tiles(50):
            compiled = Compiled(graph, [y, wide], feeds, rewrites=rewrites, threads=2)
            compiled.check()
    assert len(compiled.plan.steps) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_a_label_that_names_no_class_names_its_node(threads: int) -> None:
    labels = np.zeros(400, np.int64)
    labels[333] = 9
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (400, 8), name="x")
        k = sad.placeholder("int64", (400,), name="k")
        losses = sad.nn.cross_entropy(sad.exp(x), k, reduction="none", name="losses")
        y = losses * 2.0
    feeds = {x: np.ones((400, 8), np.float32), k: labels}
    with small_tiles(80):
        compiled = Compiled(graph, [y], feeds, threads=threads)
        assert "cross_entropy" in compiled.plan.explain()
        with pytest.raises(sad.ExecutionError, match="a label names no class") as caught:
            compiled.run()
    message = str(caught.value)
    assert "cross_entropy 'cross_entropy" in message, message
    assert "found:    9" in message, message
    assert "test_compile_rows.py" in message


def test_a_region_over_rows_is_cancelled_between_tiles() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (400, 8), name="x")
        y = sad.nn.softmax(x * 2.0)
    with small_tiles(80):
        compiled = Compiled(graph, [y], {x: np.ones((400, 8), np.float32)})
    cancel = threading.Event()
    outputs = [np.empty((400, 8), np.float32)]
    compiled.plan.execute(compiled.inputs, outputs, cancel)
    cancel.set()
    with pytest.raises(sad.CancelledError):
        compiled.plan.execute(compiled.inputs, outputs, cancel)


def test_an_operand_of_the_shape_of_an_output_is_not_overwritten_across_rows() -> None:
    # m has the shape of the result, but every row of x needs all of it.
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (9, 9, 9), name="x")
        m = sad.exp(
            sad.placeholder("float32", (9, 9), name="m").T
            @ sad.constant(np.eye(9, dtype=np.float32))
        )
        y = sad.sum(x * m, axis=2) * 2.0
    rng = np.random.default_rng(1)
    feeds = {t: rng.standard_normal(t.shape).astype(np.float32) for t in graph.placeholders}
    with small_tiles(100):
        Compiled(graph, [y], feeds).check()


def test_the_threads_of_a_region_share_its_rows() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4096, 64), name="x")
        y = sad.nn.softmax(x * 2.0)
    feeds = {x: np.random.default_rng(0).standard_normal((4096, 64)).astype(np.float32)}
    compiled = Compiled(graph, [y], feeds, threads=2)
    assert "2 threads" in compiled.plan.explain()
    compiled.check()
