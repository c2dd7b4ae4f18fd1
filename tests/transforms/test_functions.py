"""grad, value_and_grad, jacfwd and jacrev: of any order, of nests, inside bodies, and what they
refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad


def evaluated(build: Callable[[], Any]) -> Any:
    """The values of what is built."""
    with sad.Graph(seed=0) as graph:
        made = build()
    with sad.Session(graph) as session:
        return session.run(made)


def number(value: float) -> Any:
    """A float64 scalar."""
    return sad.constant(value, dtype="float64")


def test_derivatives_of_any_order() -> None:
    def all_orders() -> list[Any]:
        found, f = [], sad.sin
        for _ in range(6):
            f = sad.grad(f)
            found.append(f(number(0.4)))
        return found

    sin, cos = math.sin(0.4), math.cos(0.4)
    np.testing.assert_allclose(evaluated(all_orders), [cos, -sin, -cos, sin, cos, -sin], rtol=1e-14)


def test_derivatives_within_derivatives_are_of_their_own_variable() -> None:
    # d/dx (x * d/dy (x + y)) = 1, and not 2 (Siskind and Pearlmutter 2005).
    assert evaluated(lambda: sad.grad(lambda x: x * sad.grad(lambda y: x + y)(1.0))(1.0)) == 1.0
    # d/dx of d/dy (x y) at y = x is 1.
    assert evaluated(lambda: sad.grad(lambda x: sad.grad(lambda y: x * y)(x))(3.0)) == 1.0
    # d/dx (x^3 * d/dy (x y^2)) at y = x is d/dx (2 x^5).
    nested = sad.grad(lambda x: x**3 * sad.grad(lambda y: x * y * y)(x))
    assert evaluated(lambda: nested(number(2.0))) == 10 * 2.0**4


def test_a_tensor_from_outside_is_constant_also_if_it_is_the_argument() -> None:
    def twice() -> Any:
        x = number(3.0)
        return sad.grad(lambda inside: inside * x)(x)

    assert evaluated(twice) == 3.0


def test_arguments_by_position_by_keyword_and_beside() -> None:
    def f(a: Any, b: Any, text: str, *, scale: float) -> Any:
        assert text == "as it is"
        return sad.sum(a["x"] * b[0] ** 2 + b[1]) * scale

    def build() -> Any:
        a = {"x": sad.constant([1.0, 2.0])}
        b = (sad.constant([3.0, 4.0]), sad.constant(5.0))
        one = sad.grad(f)(a, b, "as it is", scale=2.0)
        last = sad.grad(f, argnums=-2)(a, b, "as it is", scale=2.0)
        both = sad.grad(f, argnums=(1, 0))(a, b, "as it is", scale=2.0)
        return [one, last, both]

    one, last, both = evaluated(build)
    np.testing.assert_array_equal(one["x"], [18.0, 32.0])
    np.testing.assert_array_equal(last[0], [12.0, 32.0])
    assert last[1] == 4.0
    np.testing.assert_array_equal(both[0][0], last[0])
    np.testing.assert_array_equal(both[1]["x"], one["x"])


def test_what_f_returns_beside_comes_along() -> None:
    def f(x: Any) -> Any:
        square = x * x
        return sad.sum(square), {"square": square, "label": "text"}

    with sad.Graph() as graph:
        x = sad.constant([1.0, 3.0])
        g, aux = sad.grad(f, has_aux=True)(x)
        (value, same), again = sad.value_and_grad(f, has_aux=True)(x)
        matrix, _ = sad.jacrev(lambda v: (f(v)[1]["square"], 1), has_aux=True)(x)
        columns, _ = sad.jacfwd(lambda v: (f(v)[1]["square"], 1), has_aux=True)(x)
    assert aux["label"] == same["label"] == "text"
    with sad.Session(graph) as session:
        found = session.run([g, again, aux["square"], value, matrix, columns])
    np.testing.assert_array_equal(found[0], [2.0, 6.0])
    np.testing.assert_array_equal(found[1], [2.0, 6.0])
    np.testing.assert_array_equal(found[2], [1.0, 9.0])
    assert found[3] == 10.0
    np.testing.assert_array_equal(found[4], np.diag([2.0, 6.0]))
    np.testing.assert_array_equal(found[5], np.diag([2.0, 6.0]))


def test_jacobians_of_jacobians_are_the_same_in_every_order_of_modes() -> None:
    def f(x: Any) -> Any:
        return sad.stack([x[0] * x[1] ** 2, sad.exp(x[0]) * sad.sin(x[1])])

    def build() -> Any:
        x = sad.constant(np.array([0.7, -0.4]))
        pair = (sad.jacfwd, sad.jacrev)
        return [a(b(c(f)))(x) for a in pair for b in pair for c in pair]

    first, *others = evaluated(build)
    assert first.shape == (2, 2, 2, 2)
    e, s, c = math.exp(0.7), math.sin(-0.4), math.cos(-0.4)
    np.testing.assert_allclose(
        first[1], [[[e * s, e * c], [e * c, -e * s]], [[e * c, -e * s], [-e * s, -e * c]]],
        rtol=1e-13,
    )  # fmt: skip
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-12, atol=1e-14)


def test_jacobians_are_nested_as_results_and_arguments() -> None:
    def f(w: Any, x: Any) -> Any:
        return {"y": w["a"] * x, "s": [sad.sum(w["b"] * x)]}

    with sad.Graph() as graph:
        w = {"a": sad.constant([1.0, 2.0]), "b": sad.constant(3.0)}
        x = sad.constant([5.0, 7.0])
        made = [sad.jacrev(f)(w, x), sad.jacfwd(f, argnums=(0, 1))(w, x)]
    with sad.Session(graph) as session:
        rows, columns = session.run(made)
    np.testing.assert_array_equal(rows["y"]["a"], np.diag([5.0, 7.0]))
    np.testing.assert_array_equal(rows["y"]["b"], [0.0, 0.0])
    np.testing.assert_array_equal(rows["s"][0]["b"], 12.0)
    np.testing.assert_array_equal(columns["y"][0]["a"], rows["y"]["a"])
    np.testing.assert_array_equal(columns["s"][0][1], [3.0, 3.0])


def test_inside_of_bodies() -> None:
    # Newton's method, whose derivative is built in the body of a loop.
    def root(a: Any) -> Any:
        def step(x: Any) -> Any:
            value, slope = sad.value_and_grad(lambda v: v**3 - a)(x)
            return x - value / slope

        return sad.fori_loop(0, 40, lambda _, x: step(x), number(1.0))

    def build() -> Any:
        a = number(5.0)
        return [root(a), sad.grad(root)(a), sad.map(sad.grad(sad.sin), sad.constant([0.0, 1.0]))]

    value, slope, mapped = evaluated(build)
    assert value == pytest.approx(5 ** (1 / 3), rel=1e-15)
    assert slope == pytest.approx(5 ** (-2 / 3) / 3, rel=1e-14)
    np.testing.assert_allclose(mapped, [1.0, math.cos(1.0)], rtol=1e-6)


def test_of_a_function_that_reads_variables_and_draws() -> None:
    with sad.Graph(seed=0) as graph:
        scale = sad.variable(2.0, name="scale")
        noise: list[Any] = []

        def f(x: Any) -> Any:
            noise.append(sad.random.normal((3,)))
            return sad.sum(x * noise[0] * scale)

        g = sad.grad(f)(sad.ones(3))
    assert len(noise) == 1
    with sad.Session(graph) as session:
        found, drawn = session.run([g, noise[0]])
    np.testing.assert_array_equal(found, 2 * drawn)


def test_recompute_and_grad_compose() -> None:
    f = sad.grad(sad.recompute(lambda x: sad.sum(sad.sin(x) ** 2)))
    found = evaluated(lambda: sad.jacfwd(f)(sad.constant(np.array([0.3, 0.9]))))
    np.testing.assert_allclose(found, np.diag(2 * np.cos([0.6, 1.8])), rtol=1e-13)


def test_what_f_does_not_depend_on_has_zeros() -> None:
    found = evaluated(lambda: sad.grad(lambda x, y: sad.sum(x), (0, 1))(number(1.0), sad.ones(2)))
    assert found[0] == 1.0
    np.testing.assert_array_equal(found[1], [0.0, 0.0])
    assert evaluated(lambda: sad.grad(lambda x: 3.0)(1.0)) == 0.0


def test_what_is_refused() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="x")
        with pytest.raises(sad.UsageError, match="f is no function"):
            sad.grad(x)  # type: ignore[arg-type]
        with pytest.raises(sad.GradientError, match="the result is no real scalar"):
            sad.grad(lambda v: v * 2)(x)
        with pytest.raises(sad.GradientError, match="not differentiable"):
            sad.grad(lambda v: v * 2)(3)
        with pytest.raises(sad.ArgumentError, match="no argument of that position"):
            sad.grad(sad.sum, argnums=1)(x)
        with pytest.raises(sad.UsageError, match="argnums says no arguments"):
            sad.grad(sad.sum, argnums="x")  # type: ignore[arg-type]
        with pytest.raises(sad.UsageError, match="twice"):
            sad.grad(sad.sum, argnums=(0, 0))
        with pytest.raises(sad.UsageError, match="does not return two things"):
            sad.grad(sad.sum, has_aux=True)(x)
        with pytest.raises(sad.UsageError, match="returns nothing"):
            sad.jacrev(lambda v: None)(x)
        with pytest.raises(sad.GradientError) as caught:
            sad.grad(lambda v: sad.sum(sad.round(v)) + v)(x)
        assert caught.value.site is not None
        assert caught.value.site.file.endswith("test_functions.py")
    with pytest.raises(sad.GraphError, match="no graph is being built"):
        sad.grad(lambda v: v)(1.0)
