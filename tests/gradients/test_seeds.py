"""Cotangents and tangents that callers give: as data, and of sizes that the run decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

F = "float32"


def test_data_converts_as_an_assignment_would() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
        y = x * x
        given: list[Any] = [[1, 2, 3], [1.0, 2.0, 3.0], np.array([1.0, 2.0, 3.0])]
        reverse = [sad.gradients(y, x, [g])[0] for g in given]
        forward = [sad.jvp(y, x, [g])[0] for g in given]
    assert all(t.dtype == np.float32 for t in reverse + forward)
    with sad.Session(graph) as session:
        for value in session.run(reverse + forward, {x: [1.0, 1.0, 2.0]}):
            np.testing.assert_array_equal(value, np.array([2.0, 4.0, 12.0], F))


def test_sizes_that_are_not_known_yet_are_compared_by_the_run() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 2), name="x")
        (d,) = sad.gradients(x * x, x, np.array([[1.0, 2.0], [3.0, 4.0]]))
        (t,) = sad.jvp(x * x, x, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert d.shape == t.shape == x.shape
    with sad.Session(graph) as session:
        for value in session.run([d, t], {x: np.ones((2, 2))}):
            np.testing.assert_array_equal(value, [[2.0, 4.0], [6.0, 8.0]])
        for other in (d, t):
            with pytest.raises(sad.StaticadError, match=r"test_seeds\.py"):
                session.run(other, {x: np.ones((3, 2))})


def test_check_gradients_at_a_batch_of_any_size() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("batch", 3), name="x")
        w = sad.variable(np.linspace(-1.0, 1.0, 12).reshape(3, 4), name="w")
        y = sad.nn.softmax(sad.tanh(x @ w)) * sad.mean(x)
        at = np.linspace(-1.0, 1.0, 15).reshape(5, 3)
        report = sad.check_gradients(y, [x, w], {x: at}, order=2)
    assert report.worst.agrees


REFUSED: dict[str, tuple[str, Callable[[sad.Tensor], object]]] = {
    "a name": ("ys is no tensor", lambda x: sad.gradients("loss", x)),
    "a name in a list": ("holds something", lambda x: sad.gradients([x], ["loss"])),
    "no ys": ("ys is empty", lambda x: sad.gradients([], x)),
    "a policy": ("unknown policy", lambda x: sad.gradients(x, x, unconnected=_any("zeros"))),
    "text": ("no tensor", lambda x: sad.gradients(x, x, ["one"])),
    "ragged": ("no tensor", lambda x: sad.gradients(x, x, [[[1.0], [1.0, 2.0]]])),
    "complex for real": ("complex64", lambda x: sad.jvp(x, x, [np.ones((2, 3), "complex64")])),
    "another rank": ("type of its tensor", lambda x: sad.jvp(x, x, np.ones(3, F))),
    "another size": ("type of its tensor", lambda x: sad.gradients(x, x, np.ones((2, 4), F))),
    "another dtype": ("type of its", lambda x: sad.gradients(x, x, x.astype("float64"))),
    "two for one": ("wrong number", lambda x: sad.gradients(x, x, [1.0, 2.0])),
    "ys and xs exchanged": ("exchange the two", lambda x: sad.gradients(x, sad.sum(x, name="s"))),
    "two to explain": ("not one tensor", lambda x: sad.explain_gradient([x, x], x)),
    "order 0": ("at least 1", lambda x: sad.check_gradients(x, x, order=0)),
}


def _any(x: Any) -> Any:
    return x


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_seed_is_refused_with_the_users_line(name: str) -> None:
    text, mistake = REFUSED[name]
    x = sad.Graph().placeholder(F, ("n", 3), name="x")
    with pytest.raises(sad.GradientError) as caught:
        mistake(x)
    error = caught.value
    assert text in str(error)
    assert error.asked
    assert error.expected
    assert error.found
    assert error.site is not None
    assert error.site.file == "tests/gradients/test_seeds.py"
    assert error.site.line in {line for _, _, line in mistake.__code__.co_lines()}
