"""Tensors made from nothing: values, dtypes, sizes that are known and sizes that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.staticad.running import run

inf, nan = float("inf"), float("nan")
# What a type checker would refuse is a mistake all the same.
half: Any = 1.5
text: Any = "text"
# Called with as many positions as a case has.
arange: Any = sad.arange


@pytest.mark.parametrize("dtype", ["int64", "float16", "uint8", "float32", "bfloat16"])
@pytest.mark.parametrize("n", [0, 1, 5, 8])
def test_ranges_of_symbolic_sizes(n: int, dtype: str) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        size: Any = x.shape[0]
        ends: list[Callable[[Any], Any]] = [
            lambda n: (n,),
            lambda n: (2, n),
            lambda n: (0, n, 2),
            lambda n: (1, n, 3),
            lambda n: (n, 0, -1),
            lambda n: (10, n, -2),
            lambda n: (n, 2 * n, 3),
        ]
        ranges = [arange(*end(size), dtype=dtype, name=f"r{i}") for i, end in enumerate(ends)]
    assert [r.name for r in ranges] == [f"r{i}" for i in range(len(ends))]
    for found, end in zip(run(graph, ranges, {x: np.zeros(n)}), ends, strict=True):
        assert found.dtype.name == dtype
        assert found.tolist() == np.arange(*end(n)).tolist()


def test_a_range_from_1_is_as_long_as_what_a_slice_leaves() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n",), name="x")
        assert sad.arange(1, x.shape[0]).shape == x[1:].shape


MADE: dict[str, Callable[..., sad.Tensor]] = {
    "zeros": lambda **given: sad.zeros((2, 3), **given),
    "ones": lambda **given: sad.ones(4, **given),
    "empty": lambda **given: sad.empty((0, 2), **given),
    "eye": lambda **given: sad.eye(2, 3, k=-1, **given),
    "full": lambda **given: sad.full((2,), 1.0, **given),
    "linspace": lambda **given: sad.linspace(0, 1, 3, **given),
    "arange": lambda **given: sad.arange(0.0, 1.0, 0.25, **given),
}


@pytest.mark.parametrize("name", MADE)
def test_no_dtype_is_float32(name: str) -> None:
    with sad.Graph():
        for given in ({}, {"dtype": None}):
            assert MADE[name](**given).dtype == np.float32
        assert MADE[name](dtype="float16").dtype == np.float16


def test_numbers_between_complex_ones_are_complex() -> None:
    with sad.Graph() as graph:
        z = sad.linspace(0, 1j, 3)
    found = run(graph, z)
    assert found.dtype == np.complex64
    assert found.tolist() == [0, 0.5j, 1j]


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize(("start", "stop"), [(0.0, 1.0), (2.5, -7.0), (3.0, 3.0), (1.0, 2 + 1j)])
def test_how_many_numbers_lie_between_may_be_found_by_the_run(
    start: complex, stop: complex, endpoint: bool
) -> None:
    dtype = "complex128" if np.iscomplexobj(stop) else "float64"
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        n = x.shape[0]
        exact = sad.linspace(start, stop, n, endpoint, dtype=dtype)
        more = sad.linspace(start, stop, 2 * n + 1, endpoint)
        named = sad.linspace(start, stop, "n", endpoint)
    assert (exact.shape, more.shape, named.shape) == ((n,), (2 * n + 1,), (n,))
    for count in (0, 1, 2, 7, 100):
        whole, odd, again = run(graph, [exact, more, named], {x: np.zeros(count)})
        expected = np.linspace(start, stop, count, endpoint)
        np.testing.assert_allclose(whole, expected, rtol=1e-15, atol=1e-15)
        single = np.complex64 if dtype == "complex128" else np.float32
        assert odd.dtype == again.dtype == single
        np.testing.assert_allclose(again, expected, rtol=2e-7)
        expected = np.linspace(start, stop, 2 * count + 1, endpoint)
        np.testing.assert_allclose(odd, expected, rtol=2e-7)


def test_what_is_empty_is_zero() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("int8", ("n", 2), name="x")
        both = [sad.empty_like(x), sad.empty(x.shape)]
    like, plain = run(graph, both, {x: np.ones((3, 2), np.int8)})
    assert (like.dtype, plain.dtype) == (np.int8, np.float32)
    assert not like.any()
    assert not plain.any()
    assert like.shape == plain.shape == (3, 2)


def test_arrays_of_other_libraries_become_constants() -> None:
    given = np.arange(6.0).reshape(2, 3)[:, ::-1]
    with sad.Graph() as graph:
        made = [sad.from_dlpack(given), sad.asarray(given, dtype=sad.float16, name="half")]
    whole, half = run(graph, made)
    assert whole.dtype == np.float64
    assert half.dtype == np.float16
    assert whole.tolist() == half.tolist() == given.tolist()
    assert made[1].name == "half"


def test_a_tensor_is_an_array_already() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n",), name="x")
        assert sad.asarray(x) is x
        assert sad.asarray(x, dtype="int8").dtype == np.int8
        assert sad.asarray(x, name="y").name == "y"
        assert sad.asarray(x.shape[0]).dtype == np.int64


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "step of 0": (ValueError, "arange: the step is 0", lambda: sad.arange(1, 2, 0)),
    "step of 0.0": (ValueError, "arange: the step is 0", lambda: sad.arange(1, 2, 0.0)),
    "endless": (ValueError, "arange: numbers without an end", lambda: sad.arange(inf)),
    "no number": (ValueError, "without an end", lambda: sad.arange(0, 1, nan)),
    "300": (ValueError, "299 does not fit uint8", lambda: sad.arange(300, dtype="uint8")),
    "300.0": (ValueError, "299 does not fit", lambda: sad.arange(0.5, 300, dtype="uint8")),
    "conditions": (
        TypeError,
        "not a range's dtype",
        lambda: sad.arange(sad.placeholder("bool", ("n",)).shape[0], dtype="bool"),
    ),
    "infinite end": (ValueError, "linspace: numbers without", lambda: sad.linspace(0, inf, 3)),
    "200 and 300": (
        ValueError,
        "linspace: the integer 300",
        lambda: sad.linspace(200, 300, 2, dtype="uint8"),
    ),
    "imaginary end": (
        TypeError,
        "linspace: complex numbers do not become real",
        lambda: sad.linspace(0, 1j, 2, dtype="float64"),
    ),
    "so many integers": (
        TypeError,
        "n numbers at equal distances",
        lambda: sad.linspace(0, 9, "n", dtype="int32"),
    ),
    "so many, to an imaginary end": (
        TypeError,
        "linspace: complex numbers do not become real",
        lambda: sad.linspace(0, 1j, "n", dtype="float64"),
    ),
    "half a diagonal": (TypeError, "eye: not an integer", lambda: sad.eye(3, k=half)),
    "full of i": (TypeError, "full: the fill value", lambda: sad.full(3, 1j, dtype="int8")),
    "full of halves": (TypeError, "full: the fill", lambda: sad.full(3, 1.5, dtype="int8")),
    "full of 300": (ValueError, "full: the integer 300", lambda: sad.full(3, 300, dtype="uint8")),
    "constant i": (TypeError, "constant: complex", lambda: sad.constant(1j, dtype="float32")),
    "constant nan": (ValueError, "nan is no integer", lambda: sad.constant(nan, dtype="int8")),
    "an array with nan": (
        ValueError,
        "nan is no integer",
        lambda: sad.constant([1.0, nan, 2.0], dtype="int8"),
    ),
    "a large float": (ValueError, "does not fit", lambda: sad.constant([1e9], dtype="int16")),
    "text as an array": (TypeError, "asarray: not a constant", lambda: sad.asarray(text)),
    "text of another library": (TypeError, "from_dlpack: not an", lambda: sad.from_dlpack(text)),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    kind, said, make = MISTAKES[case]
    with sad.Graph(), pytest.raises(kind, match=said) as caught:
        make()
    assert isinstance(caught.value, sad.StaticadError)
    assert "test_creation.py" in str(caught.value)
