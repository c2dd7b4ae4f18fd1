"""Mistakes in calls of samplers and densities: each is told in four parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

random, logpdf = sad.random, sad.random.logpdf
# What a type checker would refuse is a mistake all the same.
ANY: Any = "?"
COMPLEX: Any = 1j


def x(*shape: Any, dtype: str = "float32") -> sad.Tensor:
    return sad.placeholder(dtype, shape)


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "a negative scale": (ValueError, "scale", lambda: random.normal((3,), 0.0, -1.0)),
    "a scale of NaN": (ValueError, "scale", lambda: random.laplace((3,), 0.0, np.nan)),
    "one of several": (ValueError, "scale", lambda: random.gumbel((2,), 0.0, [1.0, -2.0])),
    "a complex scale": (ValueError, "real", lambda: random.logistic((3,), 0.0, COMPLEX)),
    "a complex tensor": (TypeError, "real", lambda: random.cauchy((3,), x(dtype="complex64"))),
    "parameters beyond the shape": (ValueError, "", lambda: random.normal((3,), x(2, 3))),
    "that do not fit": (ValueError, "", lambda: random.uniform((3,), x(2))),
    "integers": (TypeError, "dtype", lambda: random.exponential((3,), dtype="int32")),
    "a text": (TypeError, "", lambda: random.exponential((3,), ANY)),
    "no shape": (TypeError, "shape", lambda: random.gamma(None, 1.0)),
    "a shape of 0": (ValueError, "a is out of range", lambda: random.gamma((3,), 0.0)),
    "no Weibull shape": (ValueError, "a is out of range", lambda: random.weibull((3,), -1)),
    "a negative b": (ValueError, "b is out of range", lambda: random.beta((3,), 1.0, -1.0)),
    "no freedom": (ValueError, "df is out of range", lambda: random.student_t((3,), 0)),
    "nor squares": (ValueError, "df is out of range", lambda: random.chisquare((3,), 0)),
    "bounds that cross": (ValueError, "interval", lambda: random.truncated_normal(3, 2.0, 1.0)),
    "ends that cross": (ValueError, "interval", lambda: random.uniform(3, 2.0, 1.0)),
    "an end of NaN": (ValueError, "interval", lambda: random.uniform(3, 0.0, [1.0, np.nan, 2.0])),
    "equal bounds": (ValueError, "interval", lambda: random.truncated_normal(3, 2.0, 2.0)),
    "one weight": (ValueError, "vector", lambda: random.dirichlet((3,), 1.0)),
    "a weight of 0": (ValueError, "alpha", lambda: random.dirichlet((3,), [1.0, 0.0])),
    "a vector as cov": (
        ValueError,
        "matrix",
        lambda: random.multivariate_normal((3,), 0.0, x(3)),
    ),
    "no square": (ValueError, "", lambda: random.multivariate_normal((), 0.0, x(3, 2))),
    "a mean too long": (ValueError, "", lambda: random.multivariate_normal((), x(3), x(2, 2))),
    "more cov than shape": (
        ValueError,
        "",
        lambda: random.multivariate_normal((), x(2), x(5, 2, 2)),
    ),
    "a negative rate": (ValueError, "rate", lambda: random.poisson((3,), -1.0)),
    "float counts": (TypeError, "integers", lambda: random.poisson((3,), 1.0, "float32")),
    "more than certain": (ValueError, "p is out", lambda: random.binomial((3,), 5, 1.5)),
    "never": (ValueError, "p is out", lambda: random.geometric((3,), 0.0)),
    "signs without a sign": (TypeError, "signs", lambda: random.rademacher((3,), "uint8")),
    "no classes": (ValueError, "classes", lambda: random.categorical(x(3, 0))),
    "a number as logits": (ValueError, "classes", lambda: random.categorical(1.0)),
    "no such axis": (ValueError, "axis", lambda: random.categorical(x(3), axis=1)),
    "classes that do not fit": (ValueError, "", lambda: random.categorical(x(2, 3), (3,))),
    "an order of a number": (ValueError, "axis", lambda: random.permutation(x())),
    "of no axis": (ValueError, "axis", lambda: random.permutation(x(3), axis=1)),
    "a negative count": (ValueError, "negative", lambda: random.permutation(-1)),
    "too many": (ValueError, "more than", lambda: random.choice(3, (2, 2), replace=False)),
    "from nothing": (ValueError, "nothing to choose", lambda: random.choice(0, (2,))),
    "weights of another length": (
        ValueError,
        "fit",
        lambda: random.choice(3, (2,), p=[0.5, 0.5]),
    ),
    "negative weights": (ValueError, "weights", lambda: random.choice(2, (2,), p=[1.0, -0.5])),
    "no weight": (ValueError, "weights", lambda: random.choice(2, (2,), p=[0.0, 0.0])),
    "no bool": (TypeError, "replace", lambda: random.choice(2, (2,), ANY)),
    "a density of scale 0": (ValueError, "scale", lambda: logpdf.normal(x(3), 0.0, 0.0)),
    "of a negative rate": (ValueError, "rate", lambda: logpdf.poisson(x(3), -1.0)),
    "of no probability": (ValueError, "p is out", lambda: logpdf.bernoulli(x(3), 2.0)),
    "of complex numbers": (TypeError, "", lambda: logpdf.normal(x(3, dtype="complex64"))),
    "of shapes that differ": (ValueError, "", lambda: logpdf.gamma(x(3), x(2))),
    "of half a class": (TypeError, "class", lambda: logpdf.categorical(x(3), x(3, 2))),
    "of a number": (ValueError, "vector", lambda: logpdf.dirichlet(x(), x(3))),
    "of no matrix": (
        ValueError,
        "matrix",
        lambda: logpdf.multivariate_normal(x(3), 0.0, x(3)),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_in_four_parts(name: str) -> None:
    kind, words, mistake = MISTAKES[name]
    with sad.Graph(seed=0), pytest.raises(kind, match=words or None) as caught:
        mistake()
    check_parts(caught.value, mistake)
    # The sampler, not an op that it is made of.
    assert str(caught.value).startswith("random."), str(caught.value)


def test_mistakes_of_runs() -> None:
    with sad.Graph(seed=0) as graph:
        p = sad.placeholder("float64", (None,), name="p")
        ys = {
            "weights": random.choice(p.shape[0], (2,), p=p, name="a"),
            "fewer": random.choice(p.shape[0], (2,), replace=False, p=p, name="b"),
            "a rate": random.poisson(p.shape, p * 1e3, "int8", name="c"),
            "no count": random.binomial(p.shape, p, 0.5, name="d"),
            "positive definite": random.multivariate_normal((), 0.0, p[None, :1], name="e"),
        }
    bad = {"weights": [-1.0, 2.0], "fewer": [0.0, 1.0], "a rate": [1.0], "no count": [0.5]}
    session = sad.Session(graph)
    for words, y in ys.items():
        with pytest.raises(sad.ExecutionError, match=words) as caught:
            session.run(y, {p: np.array(bad.get(words, [-1.0]))})
        assert f" '{y.name}/" in str(caught.value)
