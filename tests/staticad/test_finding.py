"""Functions whose results are as large as each run finds, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import Array, apply

RNG = np.random.default_rng(0)
NUMBERS = np.round(RNG.normal(size=(5, 4)) * 2)
OTHERS = np.round(RNG.normal(size=(30,)) * 2)
NUMBERS[0, 0] = NUMBERS[1, 1] = OTHERS[3] = np.nan
NUMBERS[2, 2] = -0.0
DTYPES = ("float16", "float32", "float64", "int8", "int64", "uint8", "uint64", "bool", "complex64")


def converted(array: Array, dtype: str) -> Array:
    if dtype.startswith(("int", "uint", "bool")):
        array = np.nan_to_num(array)
        array = np.abs(array) if dtype.startswith("uint") else array
    return array.astype(dtype)


FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "nonzero": (lambda x, y: sad.nonzero(x), lambda x, y: np.nonzero(x)),
    "where": (lambda x, y: sad.where(x != 0), lambda x, y: np.where(x != 0)),
    "argwhere": (lambda x, y: sad.argwhere(x), lambda x, y: np.argwhere(x)),
    "flatnonzero": (lambda x, y: sad.flatnonzero(x), lambda x, y: np.flatnonzero(x)),
    "extract": (lambda x, y: sad.extract(x != 0, x), lambda x, y: np.extract(x != 0, x)),
    "masked_select": (
        lambda x, y: sad.masked_select(x, x[:, :1] != 0),
        lambda x, y: x[np.broadcast_to(x[:, :1] != 0, x.shape)],
    ),
    "compress": (
        lambda x, y: sad.compress([True, False, True], x, axis=-1),
        lambda x, y: np.compress([True, False, True], x, axis=-1),
    ),
    "compress flat": (
        lambda x, y: sad.compress(x[0] != 0, x), lambda x, y: np.compress(x[0] != 0, x),
    ),
    "unique": (
        lambda x, y: sad.unique(x, True, True, True), lambda x, y: np.unique(x, True, True, True),
    ),
    "unique of NaNs": (
        lambda x, y: sad.unique(x, equal_nan=False), lambda x, y: np.unique(x, equal_nan=False),
    ),
    "unique_all": (lambda x, y: sad.unique_all(x), lambda x, y: np.unique_all(x)),
    "unique_counts": (lambda x, y: sad.unique_counts(x), lambda x, y: np.unique_counts(x)),
    "unique_inverse": (lambda x, y: sad.unique_inverse(x), lambda x, y: np.unique_all(x)[::2]),
    "isin": (lambda x, y: sad.isin(x, y), lambda x, y: np.isin(x, y)),
    "isin few": (
        lambda x, y: sad.isin(x, y[:3], invert=True), lambda x, y: np.isin(x, y[:3], invert=True),
    ),
    "intersect1d": (lambda x, y: sad.intersect1d(x, y), lambda x, y: np.intersect1d(x, y)),
    "union1d": (lambda x, y: sad.union1d(x, y), lambda x, y: np.union1d(x, y)),
    "setdiff1d": (lambda x, y: sad.setdiff1d(x, y[:4]), lambda x, y: np.setdiff1d(x, y[:4])),
    "setxor1d": (lambda x, y: sad.setxor1d(x, y[:6]), lambda x, y: np.setxor1d(x, y[:6])),
}  # fmt: skip


def flat(result: Any) -> list[Array]:
    return list(result) if isinstance(result, tuple | list) else [result]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_are_those_of_numpy(name: str, dtype: str) -> None:
    ours, numpys = FUNCTIONS[name]
    a, b = converted(NUMBERS, dtype), converted(OTHERS, dtype)
    if dtype == "complex64" and name in ("setxor1d", "union1d"):
        # NumPy's functions do not agree on whether complex NaNs are one.
        a, b = np.nan_to_num(a), np.nan_to_num(b)
    expected = flat(numpys(a, b))
    for symbolic in (False, True):
        found = flat(apply(ours, a, b, symbolic=symbolic))
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)


@pytest.mark.parametrize("shape", [(0,), (1,), (0, 3), (3, 0)])
def test_nothing_to_find(shape: tuple[int, ...]) -> None:
    a = np.zeros(shape)
    for symbolic in (False, True):
        for found, expected in (
            (sad.nonzero, np.nonzero),
            (sad.argwhere, np.argwhere),
            (sad.unique_all, np.unique_all),
            (sad.flatnonzero, np.flatnonzero),
        ):
            results = flat(apply(found, a, symbolic=symbolic))
            for x, y in zip(results, flat(expected(a)), strict=True):
                np.testing.assert_array_equal(x, y, strict=True)


def test_of_scalars() -> None:
    for value in (0.0, 2.0):
        a = np.array(value)
        np.testing.assert_array_equal(apply(sad.argwhere, a), np.argwhere(a), strict=True)
        np.testing.assert_array_equal(apply(sad.flatnonzero, a), np.flatnonzero(a), strict=True)
        for x, y in zip(apply(sad.unique_all, a), np.unique_all(a), strict=True):
            np.testing.assert_array_equal(x, y)


def test_bfloat16() -> None:
    with sad.Graph() as graph:
        x = sad.constant([2.0, 0.0, 2.0, -1.0]).astype("bfloat16")
        values, counts = sad.unique_counts(x)
        fetches = [sad.nonzero(x)[0], values.astype("float32"), counts, x[x > 0].astype("float32")]
    places, distinct, number, positive = sad.Session(graph).run(fetches)
    assert places.tolist() == [0, 2, 3]
    assert distinct.tolist() == [-1, 0, 2]
    assert number.tolist() == [1, 1, 2]
    assert positive.tolist() == [2, 2]


def test_one_mask_has_one_size() -> None:
    with sad.Graph():
        x, y = (sad.placeholder("float64", ("n", 3), name=name) for name in "xy")
        mask = sad.any(x > 0, axis=1)
        assert x[mask].shape == y[mask].shape == (x[mask] - y[mask]).shape
        (rows,) = sad.nonzero(mask)
        assert x[rows].shape == x[mask].shape
        assert sad.flatnonzero(mask).shape == rows.shape


# ---------------------------------------------------------------- repeat


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16"])
def test_repeat_by_counts_that_are_fed(dtype: str) -> None:
    x, counts = np.arange(12.0).reshape(4, 3), np.array([2, 0, 1, 3], dtype)
    for symbolic in (False, True):
        found = apply(lambda x, n: sad.repeat(x, n, axis=0), x, counts, symbolic=symbolic)
        np.testing.assert_array_equal(found, np.repeat(x, counts, axis=0), strict=True)
        found = apply(lambda x, n: sad.repeat(x, n[2]), x, counts, symbolic=symbolic)
        np.testing.assert_array_equal(found, np.repeat(x, counts[2]), strict=True)
        found = apply(lambda x, n: sad.repeat(x, n[:1], axis=1), x, counts, symbolic=symbolic)
        np.testing.assert_array_equal(found, np.repeat(x, counts[:1], axis=1), strict=True)


@pytest.mark.parametrize("total", [0, 3, 6, 9])
def test_repeat_of_a_given_length(total: int) -> None:
    x, counts = np.arange(4.0), np.array([2, 0, 1, 3])
    found = apply(lambda x, n: sad.repeat(x, n, total_repeat_length=total), x, counts)
    whole = np.repeat(x, counts)
    expected = np.concatenate([whole, np.full(9, x[-1])])[:total]
    np.testing.assert_array_equal(found, expected, strict=True)


def test_a_negative_count_fails_in_the_run() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (2,), name="x")
        counts = sad.placeholder("int64", (2,), name="counts")
        y = sad.repeat(x, counts)
    with pytest.raises(sad.ExecutionError, match="negative"):
        sad.Session(graph).run(y, {x: [1.0, 2.0], counts: [1, -1]})


# ---------------------------------------------------------------- derivatives


CHOOSING: dict[str, Callable[[Any], Any]] = {
    "mask": lambda x: x[x > 0],
    "rows": lambda x: x[sad.sum(x, axis=1) > 0, 1:],
    "extract": lambda x: sad.extract(x < 1, x),
    "masked_select": lambda x: sad.masked_select(x, x[:1] > 0),
    "compress": lambda x: sad.compress(x[:, 0] > 0, x, axis=0),
    "unique": lambda x: sad.unique_values(x),
    "repeat": lambda x: sad.repeat(x, sad.constant([2, 0, 1, 3, 1]), axis=0),
    "set": lambda x: x.at[x > 0].set(2.0) * x,
    "add": lambda x: x.at[x > 0].add(x[x > 0] ** 2),
    "argsort": lambda x: sad.take(sad.reshape(x, (-1,)), sad.flatnonzero(x > 0.5)),
}


@pytest.mark.parametrize("name", CHOOSING)
def test_derivatives_to_second_order(name: str) -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("n", 4), name="x")
        y = CHOOSING[name](x)
        value = sad.mean(sad.sin(y))
    data = np.random.default_rng(3).uniform(-1, 1, size=(5, 4))
    sad.check_gradients(value, x, {x: data}, order=2)


def test_of_equal_elements_the_first_has_the_gradient() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (4,), name="x")
        (dx,) = sad.gradients(sad.sum(sad.unique_values(x) * 3), x)
    assert sad.Session(graph).run(dx, {x: [2.0, 1.0, 2.0, 1.0]}).tolist() == [3, 3, 0, 0]


def test_positions_are_not_differentiable() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (4,), name="x")
        (places,) = sad.nonzero(x)
        with pytest.raises(sad.GradientError, match="no y depends differentiably"):
            sad.gradients(sad.sum(places.astype("float64")), x)


# ---------------------------------------------------------------- mistakes

s: Any = sad

# x is float32 (2, 3), m bool (2, 3), v bool (4,).
MISTAKES: dict[str, tuple[str, Callable[[Any, Any, Any], Any]]] = {
    "positions of a scalar": ("a scalar has no positions", lambda x, m, v: s.nonzero(1.0)),
    "mask of another size": ("a mask of another shape", lambda x, m, v: x[v]),
    "mask of more axes": ("too many indices", lambda x, m, v: x[0][m]),
    "mask too deep": ("a mask of another shape", lambda x, m, v: x[:, m[:, 0]]),
    "set where no element is": ("a mask of another shape", lambda x, m, v: x.at[v].set(1.0)),
    "set what does not fit": ("do not broadcast", lambda x, m, v: x.at[m[:, 0]].set([1.0, 2.0])),
    "two masks": ("too many indices", lambda x, m, v: x[m, m]),
    "extract too long": ("longer than the axis", lambda x, m, v: s.extract(v, x[0])),
    "compress by a matrix": ("no vector", lambda x, m, v: s.compress(m, x)),
    "compress no axis": ("no axis 2", lambda x, m, v: s.compress(v, x, axis=2)),
    "compress by too much": ("longer than", lambda x, m, v: s.compress(v, x, axis=0)),
    "select by numbers": ("no bool", lambda x, m, v: s.masked_select(x, x)),
    "select by what does not fit": ("do not broadcast", lambda x, m, v: s.masked_select(x, v)),
    "unique along an axis": ("distinct slices", lambda x, m, v: s.unique(x, axis=0)),
    "where one side": ("one of two sides", lambda x, m, v: s.where(m, x)),
    "text": ("not a constant", lambda x, m, v: s.nonzero("abc")),
    "repeat by floats": ("counts are integers", lambda x, m, v: s.repeat(x, x[0], axis=1)),
    "repeat too few": ("one count each", lambda x, m, v: s.repeat(x, s.arange(2), axis=1)),
    "repeat by a matrix": ("one count each", lambda x, m, v: s.repeat(x, s.cast(x, "int64"))),
    "repeat to a length": ("follows from", lambda x, m, v: s.repeat(x, 2, total_repeat_length=3)),
    "repeat to a negative length": (
        "a size is negative",
        lambda x, m, v: s.repeat(x, s.arange(6), total_repeat_length=-1),
    ),
    "isin of text": ("not an operand", lambda x, m, v: s.isin("a", x)),
    "isin of no common dtype": (
        "no common dtype", lambda x, m, v: s.isin(s.cast(x, "int64"), s.cast(x, "uint64")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake(name: str) -> None:
    words, build = MISTAKES[name]
    with sad.Graph():
        x = sad.placeholder("float32", (2, 3), name="x")
        m, v = (sad.placeholder("bool", shape) for shape in ((2, 3), (4,)))
        with pytest.raises(sad.GraphError) as caught:
            build(x, m, v)
    text = str(caught.value)
    assert words in text, text
    for part in ("expected:", "found:", "at:", "test_finding.py"):
        assert part in text, text
