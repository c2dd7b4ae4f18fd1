"""Gathering, scattering, segments and bins, against NumPy and against loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.gradients import check_gradients

from .running import agrees, apply, run

Array = np.ndarray[Any, Any]
HOW = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}
FLOATS = ("float16", "bfloat16", "float32", "float64")


def put(how: str, x: Array, at: tuple[Array, ...], updates: Any) -> Array:
    out = x.copy()
    if how == "set":
        out[at] = updates
    else:
        HOW[how].at(out, at, updates)
    return out


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("how", ["set", *HOW])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements(how: str, axis: int, symbolic: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4))
    shape = (5, 2) if axis == 0 else (2, 6)
    indices = rng.integers(-x.shape[axis], x.shape[axis], shape)
    updates = rng.normal(size=shape)
    at: list[Any] = list(np.meshgrid(*map(np.arange, shape), indexing="ij"))
    at[axis] = indices
    named: Any = how
    found = apply(
        lambda x, i, u: sad.scatter_elements(x, i, u, axis, reduction=named),
        x, indices, updates, symbolic=symbolic,
    )  # fmt: skip
    agrees(found, put(how, x, tuple(at), updates), 1e-15)
    found = apply(lambda x, i: sad.gather_elements(x, i, axis), x, indices, symbolic=symbolic)
    agrees(found, x[tuple(at)])


@pytest.mark.parametrize("how", ["set", *HOW])
def test_along_an_axis(how: str) -> None:
    x = np.arange(6.0).reshape(2, 3)
    indices = np.array([[2, 0, 2]])
    rows = np.arange(2)[:, None]
    named: Any = how
    found = apply(lambda x, i: sad.put_along_axis(x, i, 10.0, 1, reduction=named), x, indices)
    agrees(found, put(how, x, (rows, np.broadcast_to(indices, (2, 3))), 10.0))
    if how == "set":
        expected = x.copy()
        np.put_along_axis(expected, np.array([[2], [0]]), 7.0, 1)
        agrees(apply(lambda x: sad.put_along_axis(x, [[2], [0]], 7.0, axis=1), x), expected)


@pytest.mark.parametrize("how", ["set", *HOW])
def test_points(how: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 4, 2))
    named: Any = how
    for count in (1, 2, 3):
        points = rng.integers(-2, 2, size=(5, count))
        at = tuple(points[:, k] for k in range(count))
        updates = rng.normal(size=x[at].shape)
        found = apply(lambda x, i, u: sad.scatter_nd(x, i, u, reduction=named), x, points, updates)
        agrees(found, put(how, x, at, updates), 1e-15)
        agrees(apply(lambda x, i: sad.gather_nd(x, i), x, points), x[at])
    batch = rng.integers(0, 4, size=(3, 2, 1))
    agrees(
        apply(lambda x, i: sad.gather_nd(x, i, batch_axes=1), x, batch),
        np.stack([x[b][batch[b, :, 0]] for b in range(3)]),
    )
    none = np.zeros((2, 0), np.int64)
    agrees(apply(lambda x, i: sad.gather_nd(x, i), x, none), np.stack([x, x]))


def test_D2_points_read_twice_in_every_dtype() -> None:
    for dtype in FLOATS:
        with sad.Graph() as graph:
            x = sad.placeholder(dtype, (2, 2))
            y = sad.gather_nd(x, [[1, 1], [1, 1], [0, 0]])
            (slope,) = sad.gradients(sad.sum(y * y) / 2, x)
            (curve,) = sad.gradients(sad.sum(slope), x)
        first, second = run(graph, [slope, curve], {x: np.ones((2, 2), x.dtype)})
        assert first.dtype == x.dtype
        assert first.tolist() == second.tolist() == [[1, 0], [0, 2]]


# ---------------------------------------------------------------- several for one place


def test_the_last_update_stays() -> None:
    with sad.Graph() as graph:
        x, u = sad.placeholder("float64", (3,)), sad.placeholder("float64", (4,))
        y = x.at[[1, 1, 0, 1]].set(u)
        dx, du = sad.gradients(y, [x, u])
    found = run(graph, [y, dx, du], {x: np.zeros(3), u: [1.0, 2, 3, 4]})
    assert [a.tolist() for a in found] == [[3, 4, 0], [0, 0, 1], [0, 0, 1, 1]]


@pytest.mark.parametrize("how", ["max", "min"])
def test_ties_share_the_derivative_and_what_stands_there_is_one_of_them(how: str) -> None:
    with sad.Graph() as graph:
        x, u = sad.placeholder("float64", (4,)), sad.placeholder("float64", (6,))
        y = getattr(x.at[[0, 0, 1, 2, 2, 2]], how)(u)
        dx, du = sad.gradients(y, [x, u])
        (along,) = sad.jvp(y, [x, u], [sad.ones_like(x), sad.ones_like(u)])
    # Places: three equal; x itself; two equal of three, NaN left aside; untouched NaN.
    sign = 1.0 if how == "max" else -1.0
    given = {x: sign * np.array([5.0, 9, 0, np.nan]), u: sign * np.array([5.0, 5, 8, 3, 3, 2])}
    found, gx, gu, pushed = run(graph, [y, dx, du, along], given)
    np.testing.assert_array_equal(found, sign * np.array([5, 9, 3, np.nan]))
    third = 1 / 3
    np.testing.assert_allclose(gx, [third, 1, 0, 1])
    np.testing.assert_allclose(gu, [third, third, 0, 0.5, 0.5, 0])
    np.testing.assert_allclose(pushed, np.ones(4))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("how", ["max", "min"])
def test_nan_stays_where_it_is(how: str, dtype: str) -> None:
    with sad.Graph() as graph:
        x, u = sad.placeholder(dtype, (3,)), sad.placeholder(dtype, (3,))
        y = getattr(x.at[[0, 1, 1]], how)(u)
    given = {x: np.array([np.nan, 0, 1], x.dtype), u: np.array([1, np.nan, 2], x.dtype)}
    found = run(graph, y, given).astype(np.float64)
    np.testing.assert_array_equal(found, [np.nan, np.nan, 1])


def test_products_with_zeros_are_exact_to_second_order() -> None:
    indices = np.array([0, 1, 0, 1, 0, 2, 2])
    x = np.array([2.0, 3.0, 0.0])
    for u in ([0.0, 4, 5, 0, 6, 7, 8], [0.0, 4, 0, 0, 6, 0, 8]):
        with sad.Graph() as graph:
            px, pu = sad.placeholder("float64", (3,)), sad.placeholder("float64", (7,))
            y = px.at[indices].multiply(pu)
            dx, du = sad.gradients(y, [px, pu])
            rows = [sad.gradients(du[k], pu, unconnected="zero")[0] for k in range(7)]
        found = run(graph, [y, dx, du, *rows], {px: x, pu: u})
        a = np.array(u)

        def others(*left_out: int, a: Array = a) -> float:
            """x times all updates of their common place but those left out."""
            place = indices[left_out[0]]
            if any(indices[k] != place for k in left_out) or len(set(left_out)) < len(left_out):
                return 0.0
            kept = [k for k in range(7) if indices[k] == place and k not in left_out]
            return float(x[place] * np.prod(a[kept]))

        np.testing.assert_array_equal(found[0], [x[p] * np.prod(a[indices == p]) for p in range(3)])
        np.testing.assert_array_equal(found[1], [np.prod(a[indices == p]) for p in range(3)])
        np.testing.assert_array_equal(found[2], [others(k) for k in range(7)])
        np.testing.assert_array_equal(
            found[3:], [[others(k, j) for j in range(7)] for k in range(7)]
        )


def test_a_product_that_overflows_does_not_reach_its_neighbours() -> None:
    with sad.Graph() as graph:
        x, u = sad.placeholder("float64", (2,)), sad.placeholder("float64", (5,))
        y = x.at[[0, 0, 0, 1, 1]].mul(u)
        (du,) = sad.gradients(y[1], u)
    for first in (1e200, np.nan, np.inf):
        found = run(graph, du, {x: [1.0, 2.0], u: [first, first, first, 3.0, 4.0]})
        assert found.tolist() == [0, 0, 0, 8, 6]


def test_at_divides_and_subtracts() -> None:
    x = np.array([12.0, 5.0, 7.0])
    agrees(apply(lambda x: x.at[[0, 0]].divide([2.0, 3.0]), x), [2.0, 5.0, 7.0])
    agrees(apply(lambda x: x.at[1:].divide(2), x), [12, 2.5, 3.5])
    agrees(apply(lambda x: x.at[[0, 0]].subtract([2.0, 3.0]), x), [7.0, 5.0, 7.0])
    agrees(apply(lambda x: x.at[[0, 2]].get(), x), [12.0, 7.0])
    small = np.array([1, 2], np.uint8)
    agrees(apply(lambda x: x.at[0].subtract(2), small), np.array([255, 2], np.uint8))


def test_D14_rows_of_a_variable_in_every_way() -> None:
    start, rows = np.arange(12.0).reshape(6, 2), np.array([0, 2])
    for how in ("set", *HOW):
        with sad.Graph() as graph:
            v = sad.variable(start, name="v")
            update = v.assign(getattr(v.at[rows], how)(np.full((2, 2), 3.0)))
        with sad.Session(graph) as session:
            session.run(update)
            found = session.variables["v"]
        np.testing.assert_array_equal(found, put(how, start, (rows,), 3.0))


def test_H15_second_order_of_a_selection_in_every_dtype() -> None:
    for dtype in FLOATS:
        with sad.Graph() as graph:
            x = sad.placeholder(dtype, (2, 3))
            y = sad.take(x, [[0, 2], [0, 0]], axis=1)
            (slope,) = sad.gradients(sad.sum(y**2), x)
            (curve,) = sad.gradients(sad.sum(slope), x)
            (pushed,) = sad.jvp(slope, [x], [sad.ones_like(x)])
        for found in run(graph, [curve, pushed], {x: np.ones((2, 3), x.dtype)}):
            assert found.dtype == x.dtype
            assert found.tolist() == [[6, 0, 2]] * 2


def test_H22_where_sums_per_operand() -> None:
    condition = np.array([[True], [False], [True]])
    for dtype in FLOATS:
        with sad.Graph() as graph:
            c = sad.placeholder("bool", (3, 1))
            x, y = sad.placeholder(dtype, (3, 4)), sad.placeholder(dtype, (1,))
            z = sad.where(c, x, y)
            slopes = sad.gradients(z, [x, y])
            again = sad.gradients(sad.sum(sad.gradients(z**2, x)[0]), x)
        given = {c: condition, x: np.ones((3, 4), x.dtype), y: np.ones(1, x.dtype)}
        dx, dy, curve = run(graph, [*slopes, *again], given)
        assert dx.tolist() == [[1] * 4, [0] * 4, [1] * 4]
        assert dy.tolist() == [4]
        assert curve.tolist() == [[2] * 4, [0] * 4, [2] * 4]


# ---------------------------------------------------------------- segments

SEGMENTS: dict[str, tuple[Any, Any, float]] = {
    "sum": (sad.segment_sum, np.sum, 0.0),
    "mean": (sad.segment_mean, np.mean, np.nan),
    "prod": (sad.segment_prod, np.prod, 1.0),
    "max": (sad.segment_max, np.max, -np.inf),
    "min": (sad.segment_min, np.min, np.inf),
}


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", SEGMENTS)
def test_segments(name: str, symbolic: bool) -> None:
    function, meaning, empty = SEGMENTS[name]
    rng = np.random.default_rng(3)
    for shape, depth in (((7,), 1), ((7, 2), 1), ((3, 4, 2), 2), ((0, 2), 1)):
        x = rng.normal(size=shape)
        ids = rng.choice([0, 1, 3], size=shape[:depth])
        expected = np.full((4, *shape[depth:]), empty)
        for k in range(4):
            if (ids == k).any():
                expected[k] = meaning(x[ids == k], axis=0)
        found = apply(lambda x, i: function(x, i, 4), x, ids, symbolic=symbolic)
        agrees(found, expected, 1e-15)


@pytest.mark.parametrize("name", SEGMENTS)
def test_derivatives_of_segments(name: str) -> None:
    ids = np.array([2, 0, 2, 0, 2])
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (5,))
        y = sad.sum(SEGMENTS[name][0](x, ids, 3)[::2] ** 2)
    data = {x: np.array([1.0, -2, 3, 4, 5])}
    check_gradients(y, x, data)
    with graph:
        (slope,) = sad.gradients(y, x)
        total = sad.sum(slope * np.arange(5.0))
    check_gradients(total, x, data)


def test_extrema_of_infinite_elements_have_whole_derivatives() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,))
        (dx,) = sad.gradients(sad.segment_max(x, [0, 1, 1], 3), x)
        (dn,) = sad.gradients(sad.segment_min(x, [0, 1, 1], 3), x)
    low = -np.inf
    assert run(graph, dx, {x: [low, low, low]}).tolist() == [1, 0.5, 0.5]
    assert run(graph, dn, {x: [np.inf, 1.0, 2.0]}).tolist() == [1, 1, 0]


def test_segments_of_integers() -> None:
    x = np.array([3, 5, 4], np.int8)
    for name, expected in (("max", [5, -128, 4]), ("min", [3, 127, 4]), ("sum", [8, 0, 4])):
        found = apply(lambda x, f=SEGMENTS[name][0]: f(x, [0, 0, 2], 3), x)
        agrees(found, np.array(expected, np.int8))
    agrees(apply(lambda x: sad.segment_mean(x, [0, 0, 1], 2), x), np.array([4, 4], np.float32))


def test_half_floats_are_summed_in_float32() -> None:
    x = np.full(5000, 60000 / 5000 * 10, np.float16)
    ids = np.zeros(5000, np.int64)
    found = apply(lambda x, i: sad.segment_mean(x, i, 1), x, ids)
    agrees(found, np.array([120], np.float16))


def test_a_symbolic_number_of_segments() -> None:
    with sad.Graph() as graph:
        x, ids = sad.placeholder("float32", ("n",)), sad.placeholder("int32", ("n",))
        y = sad.segment_sum(x, ids, x.shape[0])
    assert run(graph, y, {x: [1, 2, 3], ids: [2, 0, 2]}).tolist() == [2, 0, 4]


# ---------------------------------------------------------------- bins


def test_bincount() -> None:
    x, w = np.array([0, 2, 2, 5]), np.array([0.5, 1, 2, 3])
    agrees(apply(lambda x: sad.bincount(x, length=7), x), np.bincount(x, minlength=7))
    agrees(apply(lambda x, w: sad.bincount(x, w, length=7), x, w), np.bincount(x, w, 7))
    agrees(apply(lambda x: sad.bincount(x, length=3), x[:0]), np.zeros(3, np.int64))
    with sad.Graph() as graph:
        pw = sad.placeholder("float64", (4,))
        (dw,) = sad.gradients(sad.sum(sad.bincount(x, pw, length=7) ** 2), pw)
    assert run(graph, dw, {pw: w}).tolist() == [1, 6, 6, 6]


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("bins", "limits"),
    [
        (5, None), (3, (-1.0, 1.0)), (1, (0.5, 0.5)), (7, (0, 1)), ([0.0, 0.5, 0.5, 2.0], None),
        (np.array([-1.0, 0.0, 1.0]), None),
    ],
)  # fmt: skip
def test_histogram(bins: Any, limits: Any, weighted: bool, density: bool) -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(size=50), [0, 0.5, 1, -1, 2]]).reshape(5, 11)
    w = rng.normal(size=x.shape) if weighted else None
    if isinstance(bins, list) and density:
        return  # a bin of no width
    expected = np.histogram(x, bins, limits, weights=w, density=density)
    arrays = (x,) if w is None else (x, w)
    for symbolic in (False, True):
        counts, edges = apply(
            lambda x, *w: sad.histogram(
                x, bins, limits, weights=w[0] if w else None, density=density
            ),
            *arrays,
            symbolic=symbolic,
        )
        np.testing.assert_allclose(edges, expected[1], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(counts, expected[0], rtol=1e-12, atol=1e-15)


def test_histogram_of_edges_infinities_and_nan() -> None:
    x = np.array([0.0, 1.0, 2.0, 2.5, -0.5, np.nan, np.inf])
    counts, _ = apply(lambda x: sad.histogram(x, 2, (0.0, 2.0)), x)
    assert counts.tolist() == [1, 2]
    counts, edges = apply(lambda x: sad.histogram(x, 4), np.array([3, 3], np.int64))
    assert (counts.tolist(), edges.tolist()) == ([0, 0, 2, 0], [2.5, 2.75, 3, 3.25, 3.5])
    counts, _ = apply(lambda x: sad.histogram(x, 2), np.zeros(0))
    assert counts.tolist() == [0, 0]


def test_coordinates_and_positions() -> None:
    rows, columns, planes = np.array([0, 1]), np.array([[1], [2]]), np.array([3, 0])
    flat = np.ravel_multi_index((rows, columns, planes), (2, 3, 4))
    found = apply(
        lambda a, b, c: sad.ravel_multi_index((a, b, c), (2, 3, 4)), rows, columns, planes
    )
    agrees(found, flat)
    for a, b in zip(
        apply(lambda i: sad.unravel_index(i, (2, 3, 4)), flat),
        np.unravel_index(flat, (2, 3, 4)),
        strict=True,
    ):
        agrees(a, b)


# ---------------------------------------------------------------- embeddings


@pytest.mark.parametrize("padding", [2, -2])
def test_embedding_of_padding_carries_no_gradient(padding: int) -> None:
    with sad.Graph() as graph:
        table = sad.placeholder("float64", (4, 2))
        words = sad.placeholder("int32", ("n",))
        y = sad.nn.embedding(words, table, padding_index=padding)
        (slope,) = sad.gradients(y, table)
    data = np.arange(8.0).reshape(4, 2)
    found, dt = run(graph, [y, slope], {table: data, words: [2, 1, -2, 1]})
    np.testing.assert_array_equal(found, data[[2, 1, 2, 1]])
    np.testing.assert_array_equal(dt, [[0, 0], [2, 2], [0, 0], [0, 0]])


def test_embedding_trains_a_table_of_its_own() -> None:
    with sad.Graph(seed=0) as graph:
        y = sad.nn.embedding(np.array([[1, 1]]), (5, 3), name="words")
        train = sad.optimizers.SGD(0.5).minimize(sad.sum(y))
    with sad.Session(graph) as session:
        before = session.variables["words/table"].copy()
        session.run(train)
        after = session.variables["words/table"]
    np.testing.assert_allclose(before - after, [[0] * 3, [1] * 3, [0] * 3, [0] * 3, [0] * 3])
