"""Whatever goes wrong while a function builds, the error says that this function was asked for,
not one that it is made of."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

NAMESPACES: dict[str, ModuleType] = {
    "": sad, "nn.": sad.nn, "linalg.": sad.linalg, "fft.": sad.fft, "special.": sad.special,
    "random.": sad.random,
}  # fmt: skip
# What takes no tensors.
OTHERS = {"load", "custom_gradient", "check_gradients", "explain_gradient"}
# Operands of kinds and shapes that few functions take.
WRONG: tuple[Any, ...] = (
    b"?", np.array("x"), np.array([1 + 2j, 3]), np.ones((2, 3), np.float32), np.array(True),
    np.ones((0,)), -1, 2.5, [], np.ones((1, 2, 1, 2, 1), np.int32), None,
)  # fmt: skip


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for prefix, namespace in NAMESPACES.items():
        for name in namespace.__all__:
            function = getattr(namespace, name)
            if inspect.isfunction(function) and name not in OTHERS:
                yield prefix + name, function


FUNCTIONS = dict(functions())


def given(function: Callable[..., Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Arguments of all kinds for what a function has to be given, two of them in all pairs."""
    needed = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    for first in itertools.product(WRONG, repeat=min(len(needed), 2)):
        values = [*first, *[first[-1]] * (len(needed) - 2)] if needed else []
        both = list(zip(needed, values, strict=True))
        yield (
            [v for p, v in both if p.kind is not p.KEYWORD_ONLY],
            {p.name: v for p, v in both if p.kind is p.KEYWORD_ONLY},
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_error_names_the_function_that_was_called(name: str) -> None:
    function = FUNCTIONS[name]
    for arguments, keywords in given(function):
        error = failure(function, arguments, keywords)
        if error is not None:
            asked = str(error.asked).partition(" ")[0]
            assert asked in (name, name.rpartition(".")[2]), f"{arguments}: {error}"
            check_parts(error, failure)


def failure(
    function: Callable[..., Any], arguments: list[Any], keywords: dict[str, Any]
) -> sad.StaticadError | None:
    try:
        with sad.Graph(seed=0):
            function(*arguments, **keywords)
    except sad.StaticadError as error:
        return error
    return None


INNER: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "an op": ("fmax", lambda x: sad.fmax(x, sad.constant([1j]))),
    "an op of another name": ("conv2d", lambda x: sad.nn.conv2d(x, np.ones((2, 2, 2, 2), "f4"))),
    "a function": ("hsplit", lambda x: sad.hsplit(sad.zeros((2, 3)), 2)),
    "a function of another namespace": ("trace", lambda x: sad.linalg.trace(x, dtype="bool")),
    "with a name": ("fmax 'most'", lambda x: sad.fmax(x, sad.constant([1j]), name="most")),
    "a method": ("sum", lambda x: x.sum(axis=9)),
    "an operator": ("add", lambda x: x + sad.ones(7)),
    "an index": ("index of 'x'", lambda x: x[5]),
    "a scalar": ("full", lambda x: sad.full(3, 2**40, dtype="int8")),
    "a file": ("signature", lambda x: x.graph.signature("s", {"x": 1})),
}


@pytest.mark.parametrize("what", INNER)
def test_the_outermost_function_is_what_was_asked(what: str) -> None:
    asked, mistake = INNER[what]
    with sad.Graph():
        x = sad.placeholder("float32", (1, 3, 4, 4), name="x")
        with pytest.raises(sad.StaticadError) as raised:
            mistake(x)
    assert str(raised.value.asked).startswith(asked)
    check_parts(raised.value, mistake)


def test_what_a_user_s_own_function_asks_for_stays() -> None:
    def body(x: sad.Tensor) -> sad.Tensor:
        return sad.reshape(x, (5,))

    with sad.Graph() as graph, pytest.raises(sad.ShapeError) as raised:
        graph.define("body", body, ("float32", (3,)))
    assert raised.value.asked == "reshape"
    check_parts(raised.value, body)


def test_a_run_names_the_node_that_fails_also_on_the_line_that_made_it() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        with pytest.raises(sad.ShapeError) as raised:
            sad.Session(graph).run(sad.reshape(x, (5,), name="five"), {x: [1.0, 2.0]})
    assert raised.value.asked == "reshape 'five'"
