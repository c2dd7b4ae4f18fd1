"""Rules of one's own and cuts of gradients in loops, choices, functions, and each of them in
others: against closed forms, against what has no rules, and in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad

from ..devices import opencl_label

Step = Callable[[Any], Any]

# A rule of thrice the truth's half, which no derivative of x * x is taken for.
TRIPLE = sad.custom_gradient(lambda x: x * x)(lambda x, y, g: 3.0 * g * x)


def run(fetches: Any, feeds: Any = None, **options: Any) -> Any:
    first = fetches[0] if isinstance(fetches, list) else fetches
    with sad.Session(first.graph, **{"device": "numpy", **options}) as session:
        return session.run(fetches, feeds or {})


def scalar(name: str = "x") -> Any:
    return sad.placeholder("float64", (), name=name)


def twice(x: Any) -> Any:
    """TRIPLE of TRIPLE: x**4, with 9 x**3, 36 x**2 and, as 18 (3 x x' + TRIPLE(x)'), 81 x."""
    return TRIPLE(TRIPLE(x))


IN: dict[str, Step] = {
    "itself": twice,
    "while": lambda x: sad.while_loop(
        lambda i, c: i < 2, lambda i, c: (i + 1, TRIPLE(c)), (sad.constant(0), x)
    )[1],
    "fori": lambda x: sad.fori_loop(0, 2, lambda i, c: TRIPLE(c), x),
    "scan": lambda x: sad.scan(lambda c, _: (TRIPLE(c), None), x, length=2)[0],
    "scan by one": lambda x: sad.scan(lambda c, _: (TRIPLE(c), None), x, length=2, unroll=2)[0],
    "map": lambda x: sad.map(twice, sad.reshape(x, (1,)))[0],
    "switch": lambda x: sad.switch(1, [lambda v: v, twice], x),
    "cond": lambda x: sad.cond(x > 0, lambda: twice(x), lambda: x),
    "function": lambda x: sad.function(TRIPLE)(sad.function(TRIPLE)(x)),
    "recompute": lambda x: sad.recompute(twice)(x),
    "cond in scan": lambda x: sad.scan(
        lambda c, _: (sad.cond(c > 0, TRIPLE, lambda v: v, c), None), x, length=2
    )[0],
    "scan in cond": lambda x: sad.cond(
        x > 0, lambda: sad.scan(lambda c, _: (TRIPLE(c), None), x, length=2)[0], lambda: x
    ),
}


@pytest.mark.parametrize("where", IN)
def test_in_any_construct_to_order_three(where: str, tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = scalar()
        y = IN[where](x)
        (first,) = sad.gradients(y, x)
        (second,) = sad.gradients(first, x)
        (third,) = sad.gradients(second, x)
        forwards = [*sad.jvp(y, x), *sad.jvp(first, x), *sad.jvp(second, x)]
        for name, value in (("y", y), ("first", first), ("third", third)):
            sad.identity(value, name=name)
    at = 1.5
    expected = [at**4, 9 * at**3, 36 * at**2, 81 * at]
    found = run([y, first, second, third, *forwards], {x: at})
    np.testing.assert_allclose(found, [*expected, *expected[1:]], rtol=1e-14)
    # What is loaded is differentiated by the same rule.
    graph.save(tmp_path / "within.sad")
    loaded = sad.load(tmp_path / "within.sad")
    (again,) = sad.gradients(loaded["y"], loaded["x"])
    found = run([loaded["third"], again], {"x": at})
    np.testing.assert_allclose(found, [expected[3], expected[1]], rtol=1e-14)


def test_what_a_rule_reads_from_outside_of_a_loop_has_gradients() -> None:
    """Three times c * c with a slope of 2 c w: 8 x**7 w**3 in all."""
    with sad.Graph():
        x, w = scalar(), scalar("w")
        rule = sad.custom_gradient(lambda c: c * c)(lambda c, y, g: g * 2.0 * c * w)
        y, _ = sad.scan(lambda c, _: (rule(c), None), x, length=3)
        (first,) = sad.gradients(y, x)
        by = sad.gradients(first, [x, w])
        forwards = [*sad.jvp(y, x), *sad.jvp(first, w)]
    found = run([y, first, *by, *forwards], {x: 1.5, w: 2.0})
    slope, by_w = 8 * 1.5**7 * 8, 8 * 1.5**7 * 3 * 4
    # By x: the product of 2 w c_k, of which each c_k goes by the rule as well.
    c = [1.5, 1.5**2, 1.5**4]
    d = [1.0, 2 * 2 * c[0], 2 * 2 * c[0] * 2 * 2 * c[1]]
    by_x = slope * sum(b / a for a, b in zip(c, d, strict=True))
    np.testing.assert_allclose(found, [1.5**8, slope, by_x, by_w, slope, by_w], rtol=1e-14)


def test_sizes_that_a_run_finds() -> None:
    def positive(x: Any) -> Any:
        (i,) = sad.nonzero(x > 0)
        return sad.take(x, i), i

    def back(x: Any, y: Any, g: Any) -> Any:
        return sad.zeros_like(x).at[y[1]].add(5.0 * g[0])

    chosen = sad.custom_gradient(positive)(back)
    with sad.Graph():
        x = sad.placeholder("float64", ("n",), name="x")
        y, _ = chosen(x)
        (first,) = sad.gradients(sad.sum(y * y), x)
        (second,) = sad.gradients(sad.sum(first), x)
        (forwards,) = sad.jvp(sad.sum(y), x, [sad.ones_like(x)])
    for at, expected in (
        ([1.0, -2.0, 3.0], [[10, 0, 30], [50, 0, 50], 10]),
        ([-1.0], [[0], [0], 0]),
        ([], [[], [], 0]),
    ):
        for found, right in zip(
            run([first, second, forwards], {x: np.array(at)}), expected, strict=True
        ):
            np.testing.assert_array_equal(found, right)


def test_a_rule_draws_the_same_numbers_in_all_orders_and_both_modes() -> None:
    noisy = sad.custom_gradient(lambda x: x * 2.0)(
        lambda x, y, g: g * x * sad.random.uniform((), dtype="float64")
    )
    with sad.Graph(seed=1):
        x = scalar()
        fetches = []
        for y in (
            noisy(x), sad.function(noisy)(x), sad.cond(x > 0, noisy, lambda v: v, x),
            sad.scan(lambda c, _: (noisy(c), None), x, length=1)[0],
        ):  # fmt: skip
            (first,) = sad.gradients(y, x)
            fetches += [first, *sad.jvp(y, x), *sad.gradients(first, x), *sad.jvp(first, x)]
    found = run(fetches, {x: 4.0})
    numbers = [float(found[k]) / 4 for k in (0, 4, 8, 12)]
    assert len(set(numbers)) == 4
    for k, u in enumerate(numbers):
        assert 0 < u < 1
        np.testing.assert_allclose(found[4 * k : 4 * k + 4], [4 * u, 4 * u, u, u], rtol=1e-15)
    with sad.Graph(seed=2):
        x = scalar()
        y, _ = sad.scan(lambda c, _: (noisy(c), None), x, length=5)
        (first,) = sad.gradients(y, x)
        both = [first, *sad.jvp(y, x), *sad.gradients(first, x), *sad.jvp(first, x)]
    found = run(both, {x: 4.0})
    np.testing.assert_allclose([found[0], found[2]], [found[1], found[3]], rtol=1e-14)


# ------------------------------------------------------------ where gradients stop


def test_stops_inside_of_bodies() -> None:
    with sad.Graph():
        x = scalar()

        def body(c: Any, _: Any) -> Any:
            h = c * x
            # As if h were a number: of h * h * c by c it is h * h, c to be read in two places.
            (d,) = sad.gradients(h * h * c, c, stop_gradients=[h])
            return h, d

        carry, slopes = sad.scan(body, x, length=3)
        (dx,) = sad.gradients(sad.sum(slopes), x)
        cut, _ = sad.scan(lambda c, _: (sad.stop_gradient(c) * x, None), x, length=3)
        halved = sad.cond(x > 0, lambda: x * sad.stop_gradient(x), lambda: x)
        fetches = [carry, slopes, dx]
        for y in (cut, halved):
            fetches += [*sad.gradients(y, x), *sad.jvp(y, x)]
    found = run(fetches, {x: 2.0})
    assert found[0] == 16
    # x**4 + x**6 + x**8, and of that the derivative.
    assert found[1].tolist() == [16, 64, 256]
    assert found[2] == 4 * 2**3 + 6 * 2**5 + 8 * 2**7
    assert found[3:] == [8, 8, 2, 2]


def test_stops_at_what_bodies_read() -> None:
    with sad.Graph():
        x = scalar()
        w = x * x
        scanned, _ = sad.scan(lambda c, _: (c * w, None), x, length=2)
        chosen = sad.cond(x > 0, lambda: w * x, lambda: x)
        looped = sad.fori_loop(0, 2, lambda i, c: TRIPLE(c) * w, x)
        found = [sad.gradients(y, x, stop_gradients=[w])[0] for y in (scanned, chosen, looped)]
        whole = sad.gradients(scanned, x)
    # c * c * w with 3 c for the slope of the square: from 1.5, 3 c w twice.
    at, square = 1.5, 1.5**2
    once = at**2 * square
    expected = [square**2, square, 3 * at * square * 3 * once * square, 5 * at**4]
    np.testing.assert_allclose(run([*found, *whole], {x: at}), expected, rtol=1e-14)


# ------------------------------------------------------------ with and without rules

SINE = sad.custom_gradient(sad.sin)(lambda x, y, g: g * sad.cos(x))
LOGISTIC = sad.custom_jvp(sad.sigmoid)(lambda x, y, t: t[0] * y * (1.0 - y))
PRODUCT = sad.custom_gradient(lambda a, b: {"of": a * b})(
    lambda a, b, y, g: (g["of"] * b, g["of"] * a)
)
# What is the same but for the rule.
PAIRS: list[tuple[Step, Step]] = [
    (SINE, sad.sin),
    (LOGISTIC, sad.sigmoid),
    (lambda x: PRODUCT(x, x + 1.0)["of"], lambda x: x * (x + 1.0)),
    (lambda x: x + 0.25, lambda x: x + 0.25),
]
AROUND: list[Callable[[Step], Step]] = [
    lambda f: lambda x: sad.scan(lambda c, _: (f(c), None), x, length=2)[0],
    lambda f: lambda x: sad.cond(x < 0.5, f, lambda v: f(v) * 0.5, x),
    lambda f: lambda x: sad.fori_loop(0, 2, lambda i, c: f(c), x),
    lambda f: sad.function(f),
    lambda f: sad.recompute(f),
    # A rule around it all: the derivative that it has.
    lambda f: sad.custom_gradient(f)(lambda x, y, g: sad.gradients(f(x), x, grad_ys=[g])[0]),
    lambda f: sad.custom_jvp(f)(lambda x, y, t: sad.jvp(f(x), x, [t[0]])[0]),
]
PROGRAMS = st.lists(
    st.tuples(
        st.integers(0, len(PAIRS) - 1), st.lists(st.integers(0, len(AROUND) - 1), max_size=2)
    ),
    min_size=1,
    max_size=3,
)


def program(parts: Any, ruled: bool, x: Any) -> Any:
    for step, around in parts:
        f = PAIRS[step][0 if ruled else 1]
        for k in around:
            f = AROUND[k](f) if ruled or k < 5 else f
        x = f(x)
    return x


@settings(max_examples=20)
@given(parts=PROGRAMS, at=st.floats(-1.5, 1.5))
def test_true_rules_change_nothing(parts: Any, at: float) -> None:
    with sad.Graph():
        x = scalar()
        sides = []
        for ruled in (True, False):
            y = program(parts, ruled, x) * x
            (first,) = sad.gradients(y, x)
            sides.append([y, first, *sad.jvp(y, x), *sad.gradients(first, x), *sad.jvp(first, x)])
    found = run([*sides[0], *sides[1]], {x: at})
    np.testing.assert_allclose(found[:5], found[5:], rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------ depth, and other processes

CHILD = """
import sys
import numpy as np
from staticad_executor import Session
from staticad_schema import load
assert "staticad" not in sys.modules
with Session(load(sys.argv[1]), device=sys.argv[2]) as session:
    found = session.run(["y", "slope", "second"], {"x": np.linspace(0.1, 0.9, 5)}, step=3)
print(b"".join(np.asarray(v).tobytes() for v in found).hex())
"""


def test_sixty_functions_with_rules_in_each_other(tmp_path: Path) -> None:
    """Of sines of sines, each by a function that calls the next, which has a rule of its own."""

    def level(inner: Step, k: int) -> Step:
        return sad.function(lambda v: SINE(inner(v)) * 1.25, name=f"level{k}")

    function: Step = SINE
    for k in range(60):
        function = level(function, k)
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        y = sad.identity(function(x), name="y")
        slope = sad.identity(sad.gradients(sad.sum(y), x)[0], name="slope")
        sad.identity(sad.gradients(sad.sum(slope), x)[0], name="second")
    # Each function, and the rule, once.
    assert len(graph.functions) == 61
    graph.save(tmp_path / "deep.sad")
    expected = saved_run(tmp_path / "deep.sad", "numpy")
    value, first, second = np.linspace(0.1, 0.9, 5), np.ones(5), np.zeros(5)
    for k in range(61):
        c, s = np.cos(value), np.sin(value)
        factor = 1.25 if k else 1.0
        second = factor * (c * second - s * first**2)
        first, value = factor * c * first, factor * s
    for found, right in zip(expected, (value, first, second), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-11)
    assert from_child(tmp_path / "deep.sad", "numpy") == b"".join(v.tobytes() for v in expected)


def saved_run(path: Path, device: str) -> list[Any]:
    with sad.Session(sad.load(path), device=device) as session:
        found: list[Any] = session.run(
            ["y", "slope", "second"], {"x": np.linspace(0.1, 0.9, 5)}, step=3
        )
    return found


def from_child(path: Path, device: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), device],
        capture_output=True, text=True, check=True, cwd=path.parent,
        env={**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p)},
    )  # fmt: skip
    return bytes.fromhex(done.stdout.strip())


@pytest.mark.parametrize("device", ["numpy", "opencl"])
def test_the_same_bits_in_a_process_without_the_builder(device: str, tmp_path: Path) -> None:
    """Functions, loops, choices, random numbers, variables and rules in each other."""
    label = opencl_label() if device == "opencl" else device
    noisy = sad.custom_gradient(lambda v: v * sad.tanh(v))(
        lambda v, y, g: g * (y + 1.0) + sad.random.uniform(v.shape, dtype=v.dtype) * g
    )
    with sad.Graph(seed=5) as graph:
        x = sad.placeholder("float64", (5,), name="x")
        w = sad.variable(np.array(0.75), name="w")

        @sad.function
        def block(v: Any) -> Any:
            with sad.override_gradients({"floor": lambda a, y, g: g * 0.5}):
                return noisy(v) * w + sad.floor(v * 3.0) * 0.125 + LOGISTIC(v)

        h, _ = sad.scan(lambda c, _: (block(SINE(c)), None), block(x), length=3)
        y = sad.cond(sad.sum(h) > 0, lambda: block(h), lambda: h)
        slope = sad.gradients(sad.sum(y * y), x)[0]
        for name, value in (
            ("y", y), ("slope", slope), ("second", sad.gradients(sad.sum(slope), w)[0])
        ):  # fmt: skip
            sad.identity(value, name=name)
    graph.save(tmp_path / "all.sad")
    here = saved_run(tmp_path / "all.sad", label)
    assert all(np.isfinite(v).all() for v in here)
    assert from_child(tmp_path / "all.sad", label) == b"".join(v.tobytes() for v in here)
    with sad.Session(graph, device="numpy", check_numerics=True) as session:
        naive = session.run(["y", "slope", "second"], {x: np.linspace(0.1, 0.9, 5)}, step=3)
    for found, right in zip(here, naive, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12)
