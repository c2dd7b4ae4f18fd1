"""Arguments in the wrong place or of the wrong kind: the message says which one, and what to do."""

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


def logits(g: sad.Graph) -> sad.Tensor:
    return g.placeholder(F, ("batch", 3), "logits")


def labels(g: sad.Graph, *shape: Any) -> sad.Tensor:
    return g.placeholder("int32", shape or ("batch",), "labels")


def minimize(g: sad.Graph, variables: Any, rate: Any = 0.1) -> sad.Effect:
    w = g.variable(1.0, name="w")
    return sad.optimizers.SGD(rate).minimize(w * w, variables)


def inside(g: sad.Graph, function: Callable[[], Any]) -> Any:
    with g:
        return function()


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[sad.Graph], Any]]] = {
    "shape before dtype": (TypeError, "a shape stands", lambda g: g.placeholder((3,), F)),
    "shape with None before dtype": (
        TypeError,
        "a shape stands",
        lambda g: g.placeholder((None, 3), np.float32),
    ),
    "None as dtype": (TypeError, "NoneType", lambda g: logits(g).astype(None)),
    "fraction as shape": (TypeError, "not a size", lambda g: g.placeholder(F, 1.5)),
    "numbers before shape": (
        TypeError,
        "not a shape",
        lambda g: inside(g, lambda: sad.random.normal(0.0, 1.0, ANY)),
    ),
    "text to exp": (TypeError, "exp: not a constant", lambda g: inside(g, lambda: sad.exp(ANY))),
    "list with text to concat": (
        TypeError,
        "concat: not an operand",
        lambda g: sad.concat([logits(g), ANY]),
    ),
    "object array to add": (
        TypeError,
        "do not hold",
        lambda g: sad.add(logits(g), np.array([None])),
    ),
    "sqrt of integers": (
        TypeError,
        "use .astype('float32')",
        lambda g: sad.sqrt(labels(g)),
    ),
    "sum of conditions": (
        TypeError,
        "to count, or | and & to combine",
        lambda g: sad.add(x := logits(g) > 0, x),
    ),
    "bits of floats": (
        TypeError,
        "use .astype('int64')",
        lambda g: ~logits(g),
    ),
    "negation of numbers": (
        TypeError,
        "compare it",
        lambda g: sad.logical_not(logits(g)),
    ),
    "rounding of complex numbers": (
        TypeError,
        "use real, imag or abs",
        lambda g: sad.floor(g.placeholder("complex64", (2,))),
    ),
    "labels before logits": (
        TypeError,
        "the order is cross_entropy(logits, labels)",
        lambda g: sad.nn.cross_entropy(labels(g), logits(g)),
    ),
    "logits of integers": (
        TypeError,
        "logits of a floating dtype",
        lambda g: sad.nn.cross_entropy(labels(g, "batch", 3), [0]),
    ),
    "labels as a column": (
        ValueError,
        "sad.squeeze(labels, 1)",
        lambda g: sad.nn.cross_entropy(logits(g), labels(g, "batch", 1)),
    ),
    "one-hot labels of integers": (
        ValueError,
        "labels.astype",
        lambda g: sad.nn.cross_entropy(logits(g), labels(g, "batch", 3)),
    ),
    "name of an activation": (
        TypeError,
        "sad.nn.relu",
        lambda g: sad.nn.dense(logits(g), 3, activation=ANY),
    ),
    "dense of integers": (
        TypeError,
        "use .astype('float32')",
        lambda g: sad.nn.dense(labels(g, "batch", 3), 3),
    ),
    "list of inputs of a signature": (
        TypeError,
        "a dict from texts to tensors",
        lambda g: g.signature("s", inputs=[logits(g)]),  # type: ignore[arg-type]
    ),
    "minimize over names": (
        TypeError,
        "use graph.variables[name]",
        lambda g: minimize(g, ["w"]),
    ),
    "minimize over one variable": (
        TypeError,
        "write [variable]",
        lambda g: minimize(g, g.variable(1.0, name="v")),
    ),
    "minimize over a dict": (
        TypeError,
        "leave it out",
        lambda g: minimize(g, g.variables),
    ),
    "minimize over a placeholder": (
        TypeError,
        "'logits' float32",
        lambda g: minimize(g, [logits(g)]),
    ),
    "gradient that is None": (
        TypeError,
        "whose gradient is None",
        lambda g: sad.optimizers.SGD(0.1).apply([none], [g.variable(1.0, name="v")]),
    ),
    "vector as learning rate": (
        ValueError,
        "one real number",
        lambda g: minimize(g, None, g.placeholder(F, (2,), "rate")),
    ),
    "text in a schedule": (
        TypeError,
        "initial is no number",
        lambda g: sad.optimizers.schedules.cosine(ANY, 10),
    ),
    "text as a level of a schedule": (
        TypeError,
        "a value is no number",
        lambda g: sad.optimizers.schedules.piecewise([1], [0.1, ANY]),
    ),
    "dtype without shape": (
        TypeError,
        "a (dtype, shape)",
        lambda g: g.define("f", lambda a: a, F),
    ),
    "minimize over counters only": (
        ValueError,
        "begin with a float",
        lambda g: sad.optimizers.SGD(0.1).minimize(g.variable(0, name="count") * 1.0),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_an_argument(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    graph = sad.Graph()
    with pytest.raises(kind) as caught:
        mistake(graph)
    assert text in str(caught.value)
    check_parts(caught.value, mistake, minimize)


def test_a_layer_that_is_refused_makes_no_variables() -> None:
    graph = sad.Graph()
    x = logits(graph)
    with pytest.raises(sad.UsageError):
        sad.nn.dense(x, 3, activation=ANY)
    assert graph.variables == {}


def test_counters_are_not_trained() -> None:
    with sad.Graph() as graph:
        count = sad.variable(0, name="count")
        w = sad.variable(2.0, name="w")
        train = sad.optimizers.SGD(0.5).minimize(sad.square(w) + sad.astype(count, "float32"))
    with sad.Session(graph) as session:
        session.run(train)
        assert session.variables["w"] == 0.0
        assert session.variables["count"] == 0


def test_numbers_of_numpy_are_numbers() -> None:
    third: Any = np.float32(1) / 3
    half: Any = np.float32(0.5)
    two: Any = np.int16(2)
    schedules = sad.optimizers.schedules
    with sad.Graph() as graph:
        w = sad.variable(1.0, name="w")
        sad.optimizers.Momentum(half, half).minimize(w * w)
        rates = [
            rate(sad.constant(np.int64(1)))
            for rate in (
                schedules.exponential(third, half, two),
                schedules.cosine(third, two),
                schedules.warmup(third, two * two),
            )
        ]
        spread = sad.var([1.0, 2.0], correction=two - 1)
    with sad.Session(graph) as session:
        got = session.run([*rates, spread])
    np.testing.assert_allclose(got, [third * 0.5**0.5, third / 2, third / 2, 0.5], rtol=1e-6)
