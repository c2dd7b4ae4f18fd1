"""Orders against NumPy's stable ones: ties, signed zeros, NaN, every dtype, every axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array, as_dtype

from ..cases.running import grad
from .running import agrees, apply, run

nan, inf = np.nan, np.inf

DTYPES = ("bool", "int8", "uint8", "int64", "uint64", "float16", "bfloat16", "float32", "float64")


def tied(dtype: str, *shape: int) -> Array:
    """Few different values, extreme ones among them; of floats NaN and both zeros."""
    of = as_dtype(dtype)
    rng = np.random.default_rng(shape)
    if of.kind in "iu":
        least, most = np.iinfo(of).min, np.iinfo(of).max
        return rng.choice(np.array([least, 0, 1, 2, most], of), shape)
    values = [0, 1] if dtype == "bool" else [0.0, -0.0, 1, -1, inf, -inf, nan]
    return rng.choice(np.array(values), shape).astype(of)


def order(x: Array, axis: int, descending: bool) -> Array:
    """The stable order of one row after the other, by Python's sort."""

    def of_row(row: Array) -> Array:
        numbers = [float(v) if row.dtype.kind not in "iu" else int(v) for v in row]
        sign = -1 if descending else 1
        keys = [(v != v, 0 if v != v else sign * v) for v in numbers]
        return np.array(sorted(range(len(row)), key=lambda i: keys[i]), np.int64)

    return np.apply_along_axis(of_row, axis, x)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_order_is_stable_and_nan_is_last(dtype: str, descending: bool) -> None:
    x = tied(dtype, 4, 9, 3)
    for axis in (0, 1, -1):
        expected = order(x, axis, descending)
        for symbolic in (False, True):
            values, indices = apply(
                lambda x, axis=axis: [
                    f(x, axis=axis, descending=descending) for f in (sad.sort, sad.argsort)
                ],
                x,
                symbolic=symbolic,
            )
            agrees(indices, expected)
            same = np.take_along_axis(x, expected, axis)
            assert values.dtype == x.dtype
            assert values.tobytes() == same.tobytes()


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [*DTYPES, "int32", "uint32"])
def test_so_it_is_of_many_numbers(dtype: str, descending: bool) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (None, None))
        outputs = [
            f(x, axis, descending=descending) for axis in (0, 1) for f in (sad.sort, sad.argsort)
        ]
    few = tied(dtype, 120, 60)
    some = np.random.default_rng(0).standard_normal((120, 60)) * 100
    for given in (few, np.where(few == 1, few, some.astype(few.dtype))):
        results = sad.Session(graph).run(outputs, {x: given})
        for axis in (0, 1):
            expected = order(given, axis, descending)
            agrees(results[2 * axis + 1], expected)
            values = np.take_along_axis(given, expected, axis)
            assert results[2 * axis].tobytes() == values.tobytes()


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_top_k_is_the_beginning_of_the_order(dtype: str, largest: bool) -> None:
    x = tied(dtype, 3, 40)
    expected = order(x, 1, largest)
    for k in (0, 1, 3, 5, 17, 40):
        values, indices = apply(lambda x, k=k: sad.top_k(x, k, largest=largest), x, symbolic=True)
        agrees(indices, expected[:, :k])
        assert values.tobytes() == np.take_along_axis(x, expected[:, :k], 1).tobytes()
    columns = apply(lambda x: sad.top_k(x, 2, axis=0, largest=largest)[1], x)
    agrees(columns, order(x, 0, largest)[:2])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("bool", "bfloat16")])
def test_searchsorted_of_one_row_and_of_many(dtype: str, side: Any) -> None:
    rows, values = np.sort(tied(dtype, 5, 7), -1), tied(dtype, 5, 4, 2)
    one = apply(lambda a, v: sad.searchsorted(a, v, side=side), rows[0], values, symbolic=True)
    agrees(one, np.searchsorted(rows[0], values, side))
    many = apply(lambda a, v: sad.searchsorted(a, v, side=side), rows, values, symbolic=True)
    agrees(many, np.stack([np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)]))


def test_searchsorted_through_a_sorter_and_among_nothing() -> None:
    x = np.random.default_rng(0).normal(size=(2, 9))
    v = np.array([[0.0, 1.0]] * 2)
    found = apply(lambda x, v: sad.searchsorted(x, v, sorter=sad.argsort(x)), x, v)
    agrees(found, [np.searchsorted(np.sort(r), w) for r, w in zip(x, v, strict=True)])
    agrees(apply(sad.searchsorted, np.zeros(0), v), np.zeros((2, 2), np.int64))
    agrees(apply(sad.searchsorted, np.array([1, 2]), np.array([1.5, 0.0])), [1, 0])
    agrees(apply(lambda x: sad.searchsorted(x, 2), np.array([1, 2, 3])), np.array(1))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[-1.0, 0, 0.5], [0.5, 0, -1.0], [0.3], [0.0, 0.0, 1.0]])
def test_digitize(bins: list[float], right: bool) -> None:
    x = np.array([[-2, -1.0, -0.5, 0, 0.2], [0.3, 0.5, 0.7, 1, inf]])
    expected = np.digitize(x, bins, right)
    agrees(apply(lambda x: sad.digitize(x, bins, right=right), x), expected)
    edges = np.array(bins)
    found = apply(lambda x, b: sad.digitize(x, b, right=right), x, edges, symbolic=True)
    agrees(found, expected)
    agrees(apply(sad.digitize, x, np.zeros(0), symbolic=True), np.zeros(x.shape, np.int64))


def test_the_derivative_goes_where_the_values_came_from() -> None:
    x = np.array([[3.0, nan, 1.0, 1.0]])
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    agrees(grad(lambda x: sad.sort(x) * weights, x), [[3.0, 4, 1, 2]])
    agrees(grad(lambda x: sad.sort(x, descending=True) * weights, x), [[1.0, 4, 2, 3]])
    agrees(grad(lambda x: sad.top_k(x, 2)[0] * weights[:2], x), [[1.0, 0, 2, 0]])
    agrees(grad(lambda x: sad.top_k(x, 2, largest=False)[0] * weights[:2], x), [[0.0, 0, 1, 2]])


def test_names_and_files(tmp_path: Any) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        sad.sort(x, name="sorted")
        values, _ = sad.top_k(x, 2, name="best")
        sad.sum(values, name="total")
    graph.save(tmp_path / "g.sad")
    found = run(sad.load(tmp_path / "g.sad"), ["sorted", "total"], {"x": [3, 1, 2]})
    np.testing.assert_array_equal(found[0], [1, 2, 3])
    assert found[1] == 5
