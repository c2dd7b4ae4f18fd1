"""Mistakes in calls of elementwise functions, sorts and scans: each is told in four parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

F = "float32"
# What a type checker would refuse is a mistake all the same.
ANY: Any = b"?"
none: Any = None

Build = Callable[[sad.Graph], Any]
FLOATS_ONLY = (
    "cbrt", "exp2", "rsqrt", "softplus", "log_sigmoid", "logit", "sinc", "frac", "modf",
)  # fmt: skip


def vector(graph: sad.Graph, dtype: str = F) -> sad.Tensor:
    return graph.placeholder(dtype, (3,))


def matrix(graph: sad.Graph, *shape: Any) -> sad.Tensor:
    return graph.placeholder(F, shape or (2, 3))


def of_integers(name: str) -> Build:
    return lambda g: getattr(sad, name)(vector(g, "int32"))


MISTAKES: dict[str, tuple[type[Exception], str, Build]] = {
    # dtypes
    **{
        f"{name} of integers": (TypeError, "does not admit", of_integers(name))
        for name in FLOATS_ONLY
    },
    "cbrt of complex": (TypeError, "real, imag or abs", lambda g: sad.cbrt(vector(g, "complex64"))),
    "fmod of bools": (TypeError, "astype", lambda g: sad.fmod(vector(g, "bool"), True)),
    "deg2rad of complex": (TypeError, "not a real", lambda g: sad.deg2rad(vector(g, "complex64"))),
    "nan_to_num of complex": (
        TypeError,
        "real dtype",
        lambda g: sad.nan_to_num(vector(g, "complex64")),
    ),
    "heaviside of complex": (
        TypeError,
        "does not admit",
        lambda g: sad.heaviside(vector(g, "complex64"), 0.5),
    ),
    "isposinf of complex": (
        TypeError,
        "does not admit",
        lambda g: sad.isposinf(vector(g, "complex64")),
    ),
    "sort of complex": (TypeError, "does not admit", lambda g: sad.sort(vector(g, "complex64"))),
    "top_k of complex": (
        TypeError,
        "does not admit",
        lambda g: sad.top_k(vector(g, "complex64"), 1),
    ),
    "cummax of complex": (
        TypeError,
        "does not admit",
        lambda g: sad.cummax(vector(g, "complex64")),
    ),
    "logcumsumexp of complex": (
        TypeError,
        "does not admit",
        lambda g: sad.logcumsumexp(vector(g, "complex64")),
    ),
    "searchsorted of complex": (
        TypeError,
        "does not admit",
        lambda g: sad.searchsorted(vector(g, "complex64"), 1.0),
    ),
    "cumulative_sum in text": (
        TypeError,
        "not a dtype",
        lambda g: sad.cumulative_sum(vector(g), dtype="flot"),
    ),
    # arguments
    "replacement of text": (TypeError, "no number", lambda g: sad.nan_to_num(vector(g), nan=ANY)),
    "tolerance of text": (TypeError, "no number", lambda g: sad.isclose(vector(g), 1.0, rtol=ANY)),
    "fmod of one": (TypeError, "wrong number", lambda g: as_any(sad.fmod)(vector(g))),
    "sum of text": (TypeError, "not an operand", lambda g: sad.lerp(vector(g), ANY, 0.5)),
    "k of text": (TypeError, "not an integer", lambda g: sad.top_k(vector(g), ANY)),
    "k too large": (ValueError, "0 to 3", lambda g: sad.top_k(vector(g), 4)),
    "k negative": (ValueError, "0 to 3", lambda g: sad.top_k(vector(g), -1)),
    "side of nothing": (
        ValueError,
        "not a side",
        lambda g: sad.searchsorted(vector(g), 1.0, side="middle"),
    ),
    "sorter of floats": (
        TypeError,
        "integers",
        lambda g: sad.searchsorted(vector(g), 1.0, sorter=vector(g)),
    ),
    "bins in no order": (TypeError, "no order", lambda g: sad.digitize(vector(g), [1.0, 3.0, 2.0])),
    "initial and exclusive": (
        TypeError,
        "include_initial or exclusive",
        lambda g: sad.cumulative_sum(vector(g), include_initial=True, exclusive=True),
    ),
    # shapes
    "no axis to sort": (ValueError, "no axis 1", lambda g: sad.sort(vector(g), axis=1)),
    "axis None": (TypeError, "not an integer", lambda g: sad.sort(vector(g), axis=none)),
    "sort of a scalar": (ValueError, "no axis -1", lambda g: sad.sort(g.placeholder(F, ()))),
    "scan without an axis": (ValueError, "axis=", lambda g: sad.cumulative_sum(matrix(g))),
    "scan of a scalar": (ValueError, "axis=", lambda g: sad.cummax(g.placeholder(F, ()))),
    "scan along no axis": (ValueError, "no axis 2", lambda g: sad.logcumsumexp(matrix(g), axis=2)),
    "search in a scalar": (
        ValueError,
        "a vector",
        lambda g: sad.searchsorted(g.placeholder(F, ()), 1.0),
    ),
    "search in other rows": (
        ValueError,
        "as many vectors",
        lambda g: sad.searchsorted(matrix(g), vector(g)),
    ),
    "bins of rank 2": (ValueError, "a vector", lambda g: sad.digitize(vector(g), matrix(g))),
    "lerp of other shapes": (
        ValueError,
        "broadcast",
        lambda g: sad.lerp(vector(g), matrix(g, 2, 2), 0.5),
    ),
}


def as_any(x: Any) -> Any:
    return x


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_while_building(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    graph = sad.Graph()
    with pytest.raises(kind) as caught:
        mistake(graph)
    assert text in str(caught.value)
    check_parts(caught.value, mistake)


def test_too_many_elements_are_asked_of_an_axis_whose_size_a_run_tells() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(F, ("n",))
        values, _ = sad.top_k(x, 3)
        found = sad.searchsorted(sad.placeholder(F, ("m", "n"), name="rows"), values)
    with sad.Session(graph) as session:
        with pytest.raises(sad.StaticadError, match="not a number of elements") as caught:
            session.run(values, {x: np.zeros(2)})
        assert "test_mistakes_elementwise.py" in str(caught.value)
        with pytest.raises(sad.StaticadError, match="does not fit the values"):
            session.run(found, {x: np.zeros(4), "rows": np.zeros((2, 4))})
