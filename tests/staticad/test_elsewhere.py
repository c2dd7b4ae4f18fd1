"""Names that users bring along from other libraries lead to the ones here."""

from __future__ import annotations

import math
import operator
import pickle
import re
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.special

import staticad as sad
from staticad import elsewhere
from staticad.equivalents import EQUIVALENTS


@pytest.mark.parametrize("table", [EQUIVALENTS, elsewhere.METHODS], ids=["sad", "x"])
def test_what_is_advised_exists(table: dict[str, str]) -> None:
    for advice in table.values():
        for name in re.findall(r"\bsad\.([\w.]*\w)", advice):
            assert operator.attrgetter(name)(sad), name
        for name in re.findall(r"\bx\.(\w+)", advice):
            assert hasattr(sad.Variable, name), name


IN_WORDS = {"random.laplace", "random.triangular"}
RANDOM = [n for n, advice in EQUIVALENTS.items() if n.startswith("random.") and "(" in advice]


@pytest.mark.parametrize("name", [name for name in RANDOM if name not in IN_WORDS])
def test_what_is_advised_for_random_numbers_runs(name: str) -> None:
    with sad.Graph(seed=0) as graph:
        given = {
            "a": 2.0, "p": 0.5, "n": 3, "k": 2, "shape": (3,), "mean": 1.0, "math": math,
            "sad": sad, "x": sad.constant([1.0, 2.0, 3.0]), "values": sad.constant([1.0, 2.0, 3.0]),
            "factor": sad.eye(2), "categories": [0, 1],
        }  # fmt: skip
        y = eval(EQUIVALENTS[name], given)  # noqa: S307 - our own table
    assert len(sad.Session(graph).run(y)) == 3


SPECIAL: dict[str, tuple[Any, ...]] = {
    "rgamma": (scipy.special.rgamma,),
    "factorial": (scipy.special.factorial,),
    "poch": (scipy.special.poch, 2.5),
    "binom": (scipy.special.binom, 1.5),
    "comb": (scipy.special.comb, 2.0),
    "chdtr": (lambda x, m: scipy.special.chdtr(m, x), 3.0),
    "pdtr": (lambda x, m: scipy.special.pdtr(m, x), 3.0),
    "boxcox": (scipy.special.boxcox, 0.3),
    "powm1": (scipy.special.powm1, 1.7),
    "cosm1": (scipy.special.cosm1,),
    "log1mexp": (lambda x: np.log1p(-np.exp(-x)),),
    "circulant": (scipy.linalg.circulant,),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_is_advised_for_functions_of_scipy_is_equal(name: str) -> None:
    function, *parameter = SPECIAL[name]
    x = np.array([2.0, 3.25, 4.0])
    with sad.Graph() as graph:
        given = {"sad": sad, "x": sad.constant(x), "m": (*parameter, 0.0)[0]}
        y = eval(EQUIVALENTS[name], given)  # noqa: S307 - our own table
    found = sad.Session(graph).run(y)
    np.testing.assert_allclose(found, function(x, *parameter), rtol=1e-13)


def test_a_power_of_a_matrix_may_be_a_fraction() -> None:
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    with sad.Graph() as graph:
        given = {"sad": sad, "a": sad.constant(a), "p": 0.3}
        y = eval(EQUIVALENTS["fractional_matrix_power"], given)  # noqa: S307 - our own table
    found = sad.Session(graph).run(y)
    np.testing.assert_allclose(found, scipy.linalg.fractional_matrix_power(a, 0.3), rtol=1e-13)


def test_no_name_is_advised_against_that_is_here() -> None:
    assert [name for name in EQUIVALENTS if hasattr(sad, name)] == []
    assert [name for name in elsewhere.METHODS if hasattr(sad.Tensor, name)] == []


@pytest.mark.parametrize(
    ("namespace", "name", "advice"),
    [
        (sad, "relu", "use sad.nn.relu"),
        (sad, "reduce_mean", "use sad.mean"),
        (sad, "concatenate", "use sad.concat"),
        (sad, "Adam", "use sad.optimizers.Adam"),
        (sad, "normal", "use sad.random.normal"),
        (sad, "vmap", "it is not here: functions take leading axes"),
        (sad, "map_fn", "use sad.map"),
        (sad, "batch_jacobian", "use sad.map(sad.jacrev(f), xs)"),
        (sad.nn, "functional", "use sad.nn"),
        (sad, "logsumexpp", "did you mean 'logsumexp'"),
        (sad.nn, "Linear", "use sad.nn.dense"),
        (sad.nn, "exp", "use sad.exp"),
        (sad.random, "randn", "use sad.random.normal"),
        (sad.optimizers, "Momentun", "did you mean 'Momentum'?"),
        (sad.optimizers.schedules, "cosin", "did you mean 'cosine'"),
        (sad, "signal", "use sad.fft.fftconvolve, sad.fft.correlate"),
        (sad.fft, "correlate2d", "use sad.fft.correlate"),
        (sad.fft, "next_fast_len", "use scipy.fft.next_fast_len"),
        (sad.fft, "lfilter", "it is not here: recursive filters"),
        (sad, "optimize", "use scipy.optimize.minimize(session.callable("),
        (sad.testing, "check_gradient", "did you mean 'check_gradients'?"),
    ],
)
def test_a_name_of_another_library(namespace: Any, name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(advice)):
        getattr(namespace, name)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("numpy", "use session.run(x)"),
        ("backward", "use sad.gradients"),
        ("exp", "use sad.exp(x)"),
        ("unsqueeze", "use sad.expand_dims"),
        ("argmax", "use sad.argmax(x)"),
        ("fft", "use sad.fft.fft"),
        ("linalg", "use the functions of sad.linalg"),
        ("H", "use sad.conj(x.mT)"),
    ],
)
def test_a_method_of_another_library(name: str, advice: str) -> None:
    x = sad.Graph().placeholder("float32", (3,), "x")
    with pytest.raises(AttributeError, match=re.escape(advice)):
        getattr(x, name)


def test_probing_for_protocols_is_not_advised() -> None:
    x = sad.Graph().placeholder("float32", (3,), "x")
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(AttributeError, match=r"has no attribute '__fspath__'$"):
        operator.attrgetter("__fspath__")(x)


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda x: np.sum(x), "use sad.sum"),
        (lambda x: np.concatenate([x, x]), "use sad.concat"),
        (lambda x: np.dot(np.ones((2, 3)), x), "use sad.dot"),
        (lambda x: np.where(x, 1, 2), "use sad.where"),
        (lambda x: np.linalg.norm(x), "use sad.linalg.norm"),
        (lambda x: np.fft.fft(x), "use sad.fft.fft"),
        (lambda x: np.fft.irfft2(x), "use sad.fft.irfft2"),
        (lambda x: scipy.fft.dct(x), "session.run(x)"),
        (lambda x: scipy.linalg.expm(x), "session.run(x)"),
        (lambda x: np.asarray(x), "session.run"),
        (lambda x: x.graph.constant([x, x]), "sad.stack"),
        (lambda x: f"{x:.3f}", "run it"),
        (lambda x: sad.Tensor(np.ones(3)), "sad.constant"),  # type: ignore[arg-type]
        (lambda x: sad.Variable(np.ones(3), name="w"), "sad.variable"),  # type: ignore[arg-type]
        (lambda x: pickle.dumps(x), "graph.save"),
    ],
)
def test_uses_as_data_are_refused_with_the_line(function: Any, advice: str) -> None:
    x = sad.Graph().placeholder("float32", ("n", 3), "x")
    with pytest.raises(sad.UsageError) as caught:
        function(x)
    assert advice in str(caught.value)
    assert caught.value.site is not None
    assert caught.value.site.file == "tests/staticad/test_elsewhere.py"


def test_shape_and_rank_are_known_to_numpy() -> None:
    x = sad.Graph().placeholder("float32", (2, 3), "x")
    assert np.shape(x) == (2, 3)  # type: ignore[arg-type]
    assert np.ndim(x) == 2  # type: ignore[arg-type]
    assert f"{x}" == "<tensor 'x' float32[2, 3]>"
