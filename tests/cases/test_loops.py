"""Cases about choices and loops: family H, and the rows of J and L that are about bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad


def run(fetches: Any, feeds: Any, **options: Any) -> Any:
    """What a session of these options gives."""
    first = fetches[0] if isinstance(fetches, list) else fetches
    with sad.Session(first.graph, **options) as session:
        return session.run(fetches, feeds)


def test_H9_derivatives_of_derivatives_go_through_a_fold() -> None:
    with sad.Graph():
        a = sad.placeholder("float64", (3, 3))
        x = sad.placeholder("float64", ())
        m = x * a
        power, _ = sad.scan(
            lambda carry, _: (carry @ m, carry[0, 0]),
            sad.eye(3, dtype="float64"),
            sad.zeros(3, dtype="float64"),
        )
        cost = sad.linalg.trace(power)
        (slope,) = sad.gradients(cost, [a])
        (again,) = sad.gradients(sad.sum(slope), [x])
    found = run([cost, slope, again], {a: np.ones((3, 3)), x: 1.0})
    assert found[0] == 27
    np.testing.assert_array_equal(found[1], np.full((3, 3), 9.0))
    assert found[2] == 243


def test_H10_a_loop_has_derivatives_of_any_order() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ())
        y, _ = sad.while_loop(
            lambda value, i: i < 3, lambda value, i: (value * x, i + 1), (x, sad.constant(0))
        )
        orders = [y]
        for _ in range(4):
            orders += sad.gradients(orders[-1], [x])
        forward = sad.jvp([orders[1]], [x])
    found = run([*orders, *forward], {x: 2.0})
    np.testing.assert_array_equal(found, [16, 32, 48, 48, 24, 48])


def test_H12_slopes_of_a_scan_that_stops_early_are_where_the_elements_were() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("n",))

        def body(stopped: Any, value: Any) -> Any:
            stopped = sad.logical_or(stopped, value > 5)
            return stopped, sad.where(stopped, 0.0, value * value)

        _, squares = sad.scan(body, sad.constant(False), x)
        (slope,) = sad.gradients(sad.sum(squares), [x])
    found = run(slope, {x: np.arange(20.0)})
    assert found.tolist() == [0, 2, 4, 6, 8, 10] + [0] * 14
    assert run(slope, {x: np.zeros(0)}).shape == (0,)


def test_H17_gradients_go_through_a_choice_and_integers_have_none() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,))
        k = sad.placeholder("int64", (), name="k")
        middle = sad.cond(k > 0, lambda h: h * h, sad.exp, sad.tanh(x))
        y = sad.sum(middle * 3)
        (slope,) = sad.gradients(y, [x])
        with pytest.raises(sad.GradientError, match="int64 is not differentiable"):
            sad.gradients(y, [k])
    at = np.array([0.1, 0.2, 0.3])
    inner = 1 - np.tanh(at) ** 2
    np.testing.assert_allclose(run(slope, {x: at, k: 1}), 6 * np.tanh(at) * inner, rtol=1e-14)
    np.testing.assert_allclose(
        run(slope, {x: at, k: 0}), 3 * np.exp(np.tanh(at)) * inner, rtol=1e-14
    )


def test_H20_the_second_order_goes_by_the_rule_too() -> None:
    """A function that is 1, whose derivative is declared to be x: of its square the second is
    2 x**2 + 2."""
    declared = [
        sad.custom_gradient(lambda x: x * 0.0 + 1.0)(lambda x, y, g: g * x),
        sad.custom_jvp(lambda x: x * 0.0 + 1.0)(lambda x, y, t: t[0] * x),
    ]
    with sad.Graph():
        x = sad.placeholder("float64", ())
        fetches = []
        for f in declared:
            y = f(x) ** 2
            (first,) = sad.gradients(y, [x])
            fetches += [y, first, *sad.gradients(first, [x]), *sad.jvp(first, [x])]
    assert run(fetches, {x: 0.5}) == [1.0, 1.0, 2.5, 2.5] * 2


def test_H24_integer_state_carries_no_cotangent() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ())
        n, y = sad.while_loop(
            lambda n, value: n < 4,
            lambda n, value: (n + 1, value * x + sad.cast(n, "float64")),
            (sad.constant(0), x),
        )
        (slope,) = sad.gradients(y, [x])
    # x**5 + x**2 + 2 x + 3, for n = 0, 1, 2, 3.
    found = run([n, y, slope], {x: 1.5})
    assert found[0] == 4
    assert found[1] == 1.5**5 + 1.5**2 + 2 * 1.5 + 3
    assert found[2] == 5 * 1.5**4 + 2 * 1.5 + 2


def test_J6_a_branch_that_is_not_taken_does_nothing_and_writes_are_refused() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        v = sad.variable(np.zeros((), np.float64), name="v")
        y = sad.cond(
            x > 0,
            lambda u: sad.assert_(u > 0, "only above zero", sad.sqrt(u)),  # noqa: PT009
            lambda u: sad.assert_(u <= 0, "only up to zero", -u),  # noqa: PT009
            x,
        )
        write = v.assign_add(x)
        with pytest.raises(sad.GraphError, match="a body depends on an effect") as captured:
            sad.cond(x > 0, lambda u: u + write, lambda u: u, x)
        with pytest.raises(sad.GraphError, match="a body writes a variable") as within:
            sad.cond(x > 0, lambda u: v.assign_add(u), lambda u: u, x)
    assert run(y, {x: 4.0}) == 2
    assert run(y, {x: -3.0}) == 3
    for raised in (captured, within):
        # Where the variable, or the write, was made, and where the body wants it.
        assert str(raised.value).count("test_loops.py") == 2
    assert graph.variable_specs.keys() == {"v"}


def test_J6_what_one_branch_alone_uses_is_computed_in_it() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("n",), name="x")
        p = sad.placeholder("bool", (), name="p")
        alpha, beta, both = sad.exp(x) * 2.0, sad.log(x), sad.sin(x)
        seen = sad.tanh(x)
        y = sad.cond(p, lambda: alpha + both, lambda: sad.sum(beta) * both + seen)
    session = sad.Session(y.graph, device="numpy")
    plan = session.explain([y, seen], {"n": 3})
    assert "sink_into_branches x3" in plan
    outside = [line for line in plan.splitlines() if "@numpy" in line and "switch" not in line]
    assert {op for op in ("exp", "log", "sin", "tanh") for line in outside if op in line} == {
        "sin", "tanh",
    }  # fmt: skip
    minus = np.array([-1.0, -2.0, -3.0])
    found = session.run(y, {x: minus, p: True})
    np.testing.assert_array_equal(found, np.exp(minus) * 2 + np.sin(minus))
    found = session.run(y, {x: -minus, p: False})
    np.testing.assert_allclose(found, np.log(6.0) * np.sin(-minus) + np.tanh(-minus), rtol=1e-15)
    whole = sad.Session(y.graph, device="numpy", rewrites=("exact", "-sink_into_branches"))
    assert "exp" in whole.explain(y, {"n": 3}).partition("switch")[0]


def test_J6_choices_in_a_row_do_not_nest_without_end() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        p = sad.placeholder("bool", (), name="p")
        y = x
        for _ in range(200):
            y = sad.cond(p, lambda y=y: y * 1.01, lambda: x)
        (slope,) = sad.gradients(y, x)
    np.testing.assert_allclose(run([y, slope], {x: 1.0, p: True}), [1.01**200] * 2, rtol=1e-13)
    assert run([y, slope], {x: 3.0, p: False}) == [3.0, 1.0]


def test_J14_numeric_checks_work_in_bodies_and_say_in_which_iteration() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ())
        _, y = sad.while_loop(
            lambda n, value: n < 4,
            lambda n, value: (n + 1, sad.log(value - 1.0, name="inner")),
            (sad.constant(0), x),
            name="steps",
        )
    with pytest.raises(sad.ExecutionError) as raised:
        run(y, {x: 3.0}, check_numerics=True)
    message = str(raised.value)
    assert "log 'steps[1]/inner': NaN is born here" in message
    assert "test_loops.py" in message


def test_L8_sixty_nested_bodies_are_saved_loaded_and_run(tmp_path: Path) -> None:
    def nested(depth: int) -> Any:
        if depth == 0:
            return lambda v: v * 1.25
        inner = nested(depth - 1)
        return lambda v: sad.cond(v > 0, inner, lambda u: u - 1, v)

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        y = sad.identity(nested(60)(x), name="y")
        slope = sad.identity(sad.gradients(y, [x])[0], name="slope")
        assert y.graph is slope.graph
    graph.save(tmp_path / "deep.sad")
    loaded = sad.load(tmp_path / "deep.sad")
    with sad.Session(loaded) as session:
        assert [float(v) for v in session.run(["y", "slope"], {"x": 2.0})] == [2.5, 1.25]
        assert [float(v) for v in session.run(["y", "slope"], {"x": -2.0})] == [-3, 1]
