"""Rules of the user's own: against closed forms, in both modes, to higher orders, in files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import interpret
from staticad_schema.errors import (
    DTypeError,
    GradientError,
    GraphError,
    PlanError,
    ShapeError,
    UsageError,
)


@sad.custom_gradient(lambda x: sad.log(1.0 + sad.exp(x)))
def softplus(x: Any, y: Any, g: Any) -> Any:
    return g * sad.sigmoid(x)


@sad.custom_jvp(sad.sqrt)
def root(x: Any, y: Any, tangents: Any) -> Any:
    return 0.5 * tangents[0] / y


def run(fetches: Any, feeds: Any = None, device: str = "numpy") -> Any:
    first = fetches[0] if isinstance(fetches, list) else fetches
    with sad.Session(first.graph, device=device) as session:
        return session.run(fetches, feeds or {})


def sigmoid(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def test_a_gradient_of_ones_own_in_both_modes_to_order_three() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = softplus(x)
        (first,) = sad.gradients(y, x)
        (second,) = sad.gradients(first, x)
        (third,) = sad.gradients(second, x)
        (forwards,) = sad.jvp(y, x)
        mixed = [*sad.jvp(first, x), *sad.gradients(forwards, x), *sad.jvp(forwards, x)]
    found = run([y, first, second, third, forwards, *mixed], {x: 0.3})
    s = sigmoid(0.3)
    curve = s * (1 - s)
    expected = [np.log1p(np.exp(0.3)), s, curve, curve * (1 - 2 * s), s, curve, curve, curve]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_the_rule_is_what_counts_where_the_function_overflows() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3,), name="x")
        derivatives = [*sad.gradients(softplus(x), x), *sad.jvp(softplus(x), x)]
    for found in run(derivatives, {x: [1000.0, -1000.0, 0.0]}):
        np.testing.assert_array_equal(found, np.array([1.0, 0.0, 0.5], np.float32))


def test_a_forward_rule_in_both_modes_to_order_three() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = root(x)
        (first,) = sad.jvp(y, x)
        (second,) = sad.jvp(first, x)
        (reverse,) = sad.gradients(y, x)
        (again,) = sad.gradients(reverse, x)
        (third,) = sad.gradients(again, x)
    found = run([y, first, second, reverse, again, third], {x: 4.0})
    np.testing.assert_allclose(found, [2, 1 / 4, -1 / 32, 1 / 4, -1 / 32, 3 / 256], rtol=1e-15)


def test_arguments_and_results_may_be_nested() -> None:
    def function(pair: Any, options: Any, scale: float) -> Any:
        return {"sum": pair[0] + pair[1] * scale, "product": pair[0] * options["by"]}

    @sad.custom_gradient(function)
    def wrong(pair: Any, options: Any, y: Any, g: Any, scale: float) -> Any:
        # A hundredfold of the truth, and nothing for what is multiplied by.
        a = g["sum"] + g["product"] * options["by"]
        return [100.0 * a, 100.0 * scale * g["sum"]], None

    with sad.Graph():
        a, b, c = (sad.placeholder("float64", (), name=n) for n in "abc")
        made = wrong([a, b], {"by": c}, scale=3.0)
        total = made["sum"] * 2.0 + made["product"]
        da, db = sad.gradients(total, [a, b])
        (dc,) = sad.gradients(total, c, unconnected="none")
        alone = sad.gradients(made["product"], b)
        (forwards,) = sad.jvp(total, [a, b], [1.0, 0.0])
    assert dc is None
    found = run([total, da, db, *alone, forwards], {a: 2.0, b: 5.0, c: 7.0})
    assert found == [2 * 17 + 14, 900, 600, 0, 900]


def test_integers_have_no_cotangent() -> None:
    @sad.custom_gradient(lambda x, k: (sad.take(x, k), k + 1))
    def pick(x: Any, k: Any, y: Any, g: Any) -> Any:
        assert g[1] is None
        return sad.zeros(x.shape, dtype=x.dtype).at[k].add(g[0] * 5.0), None

    with sad.Graph():
        x = sad.placeholder("float32", (3,), name="x")
        k = sad.placeholder("int64", (), name="k")
        y, following = pick(x, k)
        (dx,) = sad.gradients(y, x)
    found = run([y, following, dx], {x: [1.0, 2.0, 3.0], k: 1})
    assert found[:2] == [2.0, 2]
    np.testing.assert_array_equal(found[2], [0, 5, 0])
    with sad.Graph():
        k = sad.placeholder("int64", (), name="k")
        rule = sad.custom_gradient(lambda k: k * 1.5)(lambda k, y, g: g)
        with pytest.raises(DTypeError, match="of what has none"):
            rule(k)


def test_numbers_stay_numbers() -> None:
    """In float64 a tenth is what it is in Python; the rule is traced for each of them."""
    seen = []

    @sad.custom_gradient(lambda x, factor, flag: x * factor if flag else x)
    def scaled(x: Any, factor: Any, flag: Any, y: Any, g: Any) -> Any:
        seen.append((factor, flag))
        return g * factor * 10.0, "dropped", None

    @sad.custom_jvp(lambda factor, x: x * factor)
    def pushed(factor: Any, x: Any, y: Any, tangents: Any) -> Any:
        assert tangents[0] is None
        return tangents[1] * factor * 10.0

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        made = [scaled(x, 0.1, True), scaled(x, 0.1, True), scaled(x, 0.25, False)]
        made += [pushed(0.1, x), softplus(0.0)]
        slopes = [sad.gradients(y, x)[0] for y in made[:4]]
    assert seen == [(0.1, True), (0.25, False)]
    assert len(graph.functions) == 4
    found = run([*made, *slopes], {x: 3.0})
    assert found[:4] == [3.0 * 0.1, 3.0 * 0.1, 3.0, 3.0 * 0.1]
    assert found[4] == np.log(np.float32(2.0))
    assert found[5:] == [1.0, 1.0, 2.5, 1.0]


def test_a_rule_may_not_call_what_it_is_the_rule_of() -> None:
    itself: Any = sad.custom_gradient(sad.exp)(lambda x, y, g: g * itself(x))
    sine: Any = sad.custom_gradient(sad.sin)(lambda x, y, g: g * cosine(x))
    cosine: Any = sad.custom_gradient(sad.cos)(lambda x, y, g: -g * sine(x))
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        for function in (itself, sine, cosine):
            with pytest.raises(UsageError, match="that it is the rule of") as error:
                function(x)
            assert "test_custom.py" in str(error.value)
        assert not graph.functions
        powers: Any = sad.custom_gradient(lambda x, *, n: x**n)(
            lambda x, y, g, *, n: g * n * (powers(x, n=n - 1) if n > 1 else 1.0)
        )
        orders = [powers(x, n=3)]
        for _ in range(3):
            orders += sad.gradients(orders[-1], x)
    assert run(orders, {x: 2.0}) == [8, 12, 12, 6]


def test_what_has_no_cotangent_is_explained() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        w = sad.placeholder("float64", (), name="w")
        y = sad.custom_gradient(lambda x, w: x * w)(lambda x, w, y, g: (g * w, None))(x, w)
        assert sad.explain_gradient(y, x).connected
        reason = sad.explain_gradient(y, w).reason
        assert "custom_gradient/rule' gives no derivative for it" in reason
        with pytest.raises(GradientError, match="gives no derivative for it"):
            sad.gradients(y, w)


def test_a_rule_may_use_tensors_from_outside() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", ("n",), name="x")
        w = sad.variable(np.array(3.0), name="w")
        scale = sad.placeholder("float64", (), name="scale")
        scaled = sad.custom_gradient(lambda a: a + 0.0)(lambda a, y, g: g * scale * w)
        (dx,) = sad.gradients(sad.sum(scaled(x) ** 2), x)
        (dscale,) = sad.gradients(sad.sum(dx), scale)
    found = run([dx, dscale], {x: [1.0, 2.0], scale: 5.0})
    np.testing.assert_array_equal(found[0], [30, 60])
    assert found[1] == 18


@pytest.mark.parametrize("checked", [False, True], ids=["plan", "interpreter"])
def test_values_do_not_wait_for_what_only_the_rule_reads(checked: bool) -> None:
    """A model is used without what its training is fed, also where the result is cut off."""
    inside: list[Any] = []

    def function(a: Any) -> Any:
        inside.append(a * 2.0)
        return inside[-1] + 1.0

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        scale = sad.placeholder("float64", (), name="scale")
        y = sad.custom_gradient(function)(lambda a, y, g: g * scale)(x)
        z = sad.identity(y * 10.0)
        scanned, _ = sad.scan(
            lambda c, _: (sad.custom_gradient(sad.exp)(lambda a, y, g: g * scale)(c), None),
            x, length=1,
        )  # fmt: skip
        (dx,) = sad.gradients(z, x)
    with sad.Session(graph, device="numpy", check_numerics=checked) as session:
        assert session.run(z, {x: 3.0}) == 70
        assert session.run(z, {inside[0]: 4.0}) == 50
        assert session.run(z, {y: 4.0}) == 40
        assert session.run([z, dx], {x: 3.0, scale: 0.5}) == [70, 5]
        assert session.run(scanned, {x: 0.0, scale: 0.5}) == 1
        with pytest.raises(PlanError, match="not fed"):
            session.run(dx, {x: 3.0})


def test_a_function_may_not_hide_what_it_depends_on() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        w = sad.placeholder("float32", (), name="w")
        v = sad.variable(1.0, name="v")
        rule = lambda a, y, g: g  # noqa: E731
        for hidden in (w, v):
            with pytest.raises(GraphError, match="uses a tensor from outside") as error:
                sad.custom_gradient(lambda a, hidden=hidden: a * hidden)(rule)(x)
            assert "test_custom.py" in str(error.value)
        with pytest.raises(GraphError, match="uses a tensor from outside"):
            sad.custom_gradient(lambda a: sad.cond(a > 0, lambda: a * v, lambda: a))(rule)(x)
        cut = sad.custom_gradient(lambda a: a * sad.stop_gradient(w) + (w > 0))(rule)(x)
        constant = sad.custom_gradient(lambda a: a * sad.constant(2.0))(rule)(x)
    assert run([cut, constant], {x: 2.0, w: 3.0}) == [7.0, 4.0]


@pytest.mark.parametrize(
    ("rule", "kind", "match"),
    [
        (lambda x, y, g: (g, g), UsageError, "nested in another way"),
        (lambda x, y, g: sad.sum(g), ShapeError, "another shape"),
        (lambda x, y, g: g.astype("float64"), DTypeError, "another dtype"),
        (lambda x, y, g: {"x": g}, UsageError, "nested in another way"),
    ],
)
def test_what_a_rule_may_not_return(rule: Any, kind: type[Exception], match: str) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        before = len(graph.functions)
        with pytest.raises(kind, match=match) as error:
            sad.custom_gradient(lambda x: x * 2)(rule)(x)
        assert "test_custom.py" in str(error.value)
        assert len(graph.functions) == before


def test_what_is_no_function_is_refused() -> None:
    for given in (None, 3):
        with pytest.raises(UsageError, match="no function"):
            sad.custom_gradient(given)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="no function"):
            sad.custom_jvp(sad.exp)(given)  # type: ignore[arg-type]
    with sad.Graph():
        with pytest.raises(UsageError, match="without arguments"):
            sad.custom_gradient(lambda: sad.constant(1.0))(lambda y, g: ())()
        with pytest.raises(UsageError, match="returns no tensors"):
            sad.custom_gradient(lambda x: None)(lambda x, y, g: g)(1.0)
    with (
        sad.Graph(),
        pytest.raises(UsageError, match=r"no function[\s\S]*custom_gradient\(function\)\(rule\)"),
    ):
        sad.custom_gradient(sad.exp)(sad.placeholder("float32", ()))  # type: ignore[arg-type]


def test_a_rule_that_is_not_linear_has_one_direction_only() -> None:
    clipped = sad.custom_gradient(lambda x: x * 1.0)(lambda x, y, g: sad.clip(g, -1.0, 1.0))
    squared = sad.custom_jvp(lambda x: x * 1.0)(lambda x, y, t: t[0] * t[0])
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        (dx,) = sad.gradients(5.0 * clipped(x), x)
        with pytest.raises(GradientError, match="not linear in the cotangent"):
            sad.jvp(clipped(x), x)
        (t,) = sad.jvp(squared(x), x, [3.0])
        with pytest.raises(GradientError, match="not linear in the tangent"):
            sad.gradients(squared(x), x)
    assert run([dx, t], {x: 0.0}) == [1.0, 9.0]


@pytest.mark.parametrize(
    "rule",
    [
        lambda x, y, g: sad.sign(g),
        lambda x, y, g: g + 0.1 * sad.sign(g),
        lambda x, y, g: sad.round(g * 8.0) / 8.0,
        lambda x, y, g: sad.where(g > 0, 1.0, x),
        lambda x, y, g: g.astype("int32").astype("float64"),
        lambda x, y, g: sad.stop_gradient(g),
    ],
)
def test_steps_of_what_flows_are_not_linear_either(rule: Any) -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = sad.custom_gradient(lambda x: x * 1.0)(rule)(x)
        sad.gradients(y, x)
        with pytest.raises(GradientError, match="not linear in the cotangent"):
            sad.jvp(y, x)


@pytest.mark.parametrize(
    "rule",
    [
        lambda x, y, g: sad.where(x > 0, g, 0.0) * 2.0,
        lambda x, y, g: sad.assert_(sad.isfinite(g), "not finite", g) + g,  # noqa: PT009
        lambda x, y, g: sad.zeros_like(g) + 2.0 * g,
        lambda x, y, g: (g.astype("float32") * 2.0).astype("float64"),
        lambda x, y, g: sad.real(sad.sign(x * 1j) * g * -2j),
    ],
)
def test_what_is_linear_is_known_as_such(rule: Any) -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = sad.custom_gradient(lambda x: x * 1.0)(rule)(x)
        derivatives = [*sad.gradients(y, x), *sad.jvp(y, x)]
    assert run(derivatives, {x: 3.0}) == [2.0, 2.0]


def test_complex_arguments() -> None:
    """The tangent of x * c is t * c, its cotangent g * conj(c)."""
    c = 2.0 + 1.0j
    both: list[Callable[[Any], Any]] = [
        sad.custom_gradient(lambda x: x * c)(lambda x, y, g: g * np.conj(c)),
        sad.custom_jvp(lambda x: x * c)(lambda x, y, t: t[0] * c),
        lambda x: x * c,
    ]
    with sad.Graph():
        x = sad.placeholder("complex128", (), name="x")
        t = 1.0 - 3.0j
        fetches = []
        for function in both:
            y = function(x)
            fetches += [*sad.gradients(y, x, [t]), *sad.jvp(y, x, [t])]
    found = run(fetches, {x: 1.0})
    assert found[:2] == found[2:4] == found[4:] == [t * np.conj(c), t * c]


def test_in_bodies_of_loops_and_choices() -> None:
    """A rule that doubles what is true, in a scan, a choice and a body that is called."""
    double = sad.custom_gradient(lambda x: x * x)(lambda x, y, g: 4.0 * g * x)
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        p = sad.placeholder("bool", (), name="p")
        body = graph.define("body", double, x)
        scanned, _ = sad.scan(lambda c, e: (double(c) * e, None), x, sad.ones(2, dtype="float64"))
        chosen = sad.cond(p, lambda: double(x), lambda: x)
        fetches = []
        for y in (scanned, chosen, body(x)):
            (first,) = sad.gradients(y, x)
            fetches += [y, first, *sad.jvp(y, x), *sad.gradients(first, x)]
    found = run(fetches, {x: 3.0, p: True})
    # Of the scan, c = x * x twice: 16 c x by the rule, whose derivative is 16 (4 x x + c).
    assert found == [81, 432, 432, 720, 9, 12, 12, 4, 9, 12, 12, 4]
    feeds = {x.id: np.array(3.0), p.id: np.array(True)}
    naive = interpret(graph, [f.id for f in fetches], (), feeds, {}, 0)
    assert [float(v) for v in naive.values] == [float(v) for v in found]


def test_a_rule_is_stored_once_however_often_it_is_used() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        y = x
        for _ in range(200):
            y = softplus(y) - 0.5
        (dx,) = sad.gradients(sad.sum(y), x)
    assert len(graph.functions) == 1
    value, slope = 0.7, 1.0
    for _ in range(200):
        slope *= sigmoid(value)
        value = np.log1p(np.exp(value)) - 0.5
    (found,) = run(dx, {x: [0.7]})
    np.testing.assert_allclose(found, slope, rtol=1e-12)


def test_random_numbers_in_a_rule_are_its_own() -> None:
    noisy = sad.custom_gradient(lambda x: x * 1.0)(
        lambda x, y, g: g * sad.random.uniform(x.shape, dtype=x.dtype)
    )
    with sad.Graph(seed=1):
        x = sad.placeholder("float64", (4,), name="x")
        first, second = (sad.gradients(noisy(x), x)[0] for _ in range(2))
    found = run([first, second], {x: np.ones(4)})
    assert len({*found[0].tolist(), *found[1].tolist()}) == 8


CHILD = """
import sys
import numpy as np
from staticad_executor import Session
from staticad_schema import load
assert "staticad" not in sys.modules
graph = load(sys.argv[1])
with Session(graph, device=sys.argv[2]) as session:
    found = session.run(["y", "dx", "ddx"], {"x": np.linspace(-2, 2, 7)})
print(b"".join(np.asarray(v).tobytes() for v in found).hex())
"""


def test_a_file_holds_the_rule(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (7,), name="x")
        y = softplus(x) * root(x * x + 1.0)
        y = sad.add(y, 0.0, name="y")
        (dx,) = sad.gradients(sad.sum(y), x)
        (ddx,) = sad.gradients(sad.sum(dx), x)
        sad.multiply(dx, 1.0, name="dx")
        sad.multiply(ddx, 1.0, name="ddx")
    graph.save(tmp_path / "rule.sad")
    feeds = {"x": np.linspace(-2, 2, 7)}
    with sad.Session(graph, device="numpy") as session:
        expected = session.run(["y", "dx", "ddx"], feeds)
    loaded = sad.load(tmp_path / "rule.sad")
    (again,) = sad.gradients(sad.sum(loaded["y"]), loaded["x"])
    np.testing.assert_array_equal(run(again, feeds), expected[1])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "rule.sad"), "numpy"],
        capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
    )  # fmt: skip
    assert done.stdout.strip() == b"".join(np.asarray(v).tobytes() for v in expected).hex()
