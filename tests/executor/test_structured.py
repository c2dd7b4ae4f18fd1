"""Choices and loops in plans: the bits of naive evaluation, one kernel each, errors, cancelling."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import prepare
from staticad_executor.compile.verify import verify
from staticad_executor.interpret import interpret
from staticad_schema.dims import symbol
from staticad_schema.errors import CancelledError, ExecutionError
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.types import INT64

STEP = {"carried": 1, "sequences": 1, "length": symbol("n")}


def apply(op: str, *operands: Any, **attributes: Any) -> Any:
    """An op of tensors, with the names of bodies."""
    named = {k: FunctionRef(v) if k in ("body", "condition") else v for k, v in attributes.items()}
    return OPS[op](*operands, **named)


def program() -> tuple[sad.Graph, dict[str, Any], list[Any]]:
    """Each construct, with variables, random numbers, symbolic sizes and one in the other."""
    with sad.Graph(seed=3) as graph:
        w = sad.variable(2.0, name="w")
        x = sad.placeholder("float32", ("n", 3), name="x")
        p = sad.placeholder("bool", (), name="p")
        k = sad.placeholder("int64", (), name="k")
        row = ("float32", (3,))
        graph.define("double", lambda a: a * 2 * w.read(), x)
        noise = graph.define("noise", lambda a: a + sad.random.normal((3,)), x)
        chosen = OPS["switch"](p, x, functions=(FunctionRef("double"), FunctionRef("noise")))
        graph.define(
            "step",
            lambda c, e, s: (c + e * s + sad.random.uniform(()), c * e * w.read()),
            row, row, ("float32", ()),
        )  # fmt: skip
        begin, half = sad.zeros(3), sad.constant(0.5)
        forwards = apply("scan", begin, x, half, body="step", **STEP)
        backwards = apply("scan", begin, x, half, body="step", reverse=True, **STEP)
        count = ("int64", ())
        graph.define("less", lambda c, i, m: i < m, row, count, count)
        graph.define(
            "grow", lambda c, i, m: (c * 2 + sad.random.uniform(()), i + 1), row, count, count
        )
        zero = sad.constant(0)
        loop = {"condition": "less", "body": "grow", "carried": 2}
        looped = apply("while_loop", begin, zero, k, **loop)

        def outer(c: Any, e: Any, m: Any) -> Any:
            start = c.graph.handle(c.graph.scalar(0, INT64))
            grown, _, trips = apply("while_loop", c, start, m, **loop)
            which = apply(
                "switch",
                e[0] > 5,
                noise(sad.reshape(grown, (1, 3))),
                functions=(FunctionRef("noise"), FunctionRef("double")),
            )
            return grown, which[0], trips

        graph.define("outer", outer, row, row, count)
        nested = apply("scan", begin, x, k, body="outer", **STEP)
    return graph, {"x": x, "p": p, "k": k}, [chosen, *forwards, *backwards, *looped, *nested]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "count", "chosen"), [(5, 3, True), (1, 1, False), (0, 0, True)])
def test_plans_have_the_bits_of_naive_evaluation(
    rows: int, count: int, chosen: bool, threads: int
) -> None:
    graph, given, fetches = program()
    values = np.arange(3.0 * rows, dtype=np.float32).reshape(rows, 3)
    feeds = {"x": values, "p": np.array(chosen), "k": np.array(count)}
    with sad.Session(graph, device="numpy", threads=threads) as session:
        once = session.run(fetches, feeds, step=6)
        again = session.run(fetches, feeds, step=6)
    ids = {given[name].id: array for name, array in feeds.items()}
    state = {"w": np.array(2.0, np.float32)}
    naive = interpret(graph, [f.id for f in fetches], (), ids, state, 6).values
    for fetch, a, b, expected in zip(fetches, once, again, naive, strict=True):
        assert a.dtype == fetch.dtype
        np.testing.assert_array_equal(a, expected, strict=True)
        np.testing.assert_array_equal(b, expected, strict=True)


def test_programs_with_bodies_are_valid() -> None:
    graph, _, fetches = program()
    feeds = {p.id: graph.types[p.id] for p in graph.placeholders}
    made: Any = prepare(graph, [f.id for f in fetches], (), feeds)
    verify(made.program)


def test_a_file_runs_to_the_same_bits(tmp_path: Any) -> None:
    graph, _, fetches = program()
    graph.save(tmp_path / "loops.sad")
    feeds = {"x": np.ones((4, 3), np.float32), "p": True, "k": 3}
    with sad.Session(graph, device="numpy") as session:
        expected = session.run(fetches, feeds, step=1)
    with sad.Session(sad.load(tmp_path / "loops.sad"), device="numpy") as session:
        found = session.run([f.name for f in fetches], feeds, step=1)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def failing() -> tuple[sad.Graph, Any]:
    """A loop that fails in its third iteration, within another one."""
    with sad.Graph() as graph:
        x = sad.placeholder("int64", (), name="x")
        number = ("int64", ())
        graph.define("check", lambda c: sad.assert_(c != 2, "two", c) + 1, number)  # noqa: PT009
        one = {"carried": 1, "sequences": 0, "length": 4}
        graph.define("outer", lambda c: apply("scan", c, body="check", **one), number)
        y = apply("scan", x, body="outer", **one)
    return graph, sad.identity(y, name="y")


@pytest.mark.parametrize("naive", [False, True])
def test_an_error_names_iteration_and_line_of_a_body(naive: bool) -> None:
    graph, y = failing()
    with sad.Session(graph, device="numpy", check_numerics=naive) as session:
        with pytest.raises(ExecutionError, match="two") as caught:
            session.run(y, {"x": 0})
        assert "[0]/" in str(caught.value.asked)
        assert "[2]/" in str(caught.value.asked)
        assert caught.value.site is not None
        assert caught.value.site.file.endswith("test_structured.py")
        # The session goes on.
        assert session.run(y, {"x": 3}) == 19


def test_j14_the_first_bad_number_is_found_in_a_loop() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        y, _ = sad.scan(lambda c, _: (sad.sqrt(c - 1.0), None), x, length=5, name="roots")
    with (
        sad.Session(y.graph, device="numpy", check_numerics=True) as session,
        pytest.raises(ExecutionError, match="NaN is born here") as caught,
    ):
        session.run(y, {x: 3.0})
    assert "'roots[2]/sqrt_" in str(caught.value.asked)


def endless() -> tuple[sad.Graph, Any]:
    with sad.Graph() as graph:
        number = ("float32", ())
        graph.define("ever", lambda c: c < 2, number)
        graph.define("same", lambda c: c * 1.0 + 0.0, number)
        x = sad.placeholder("float32", (), name="x")
        y, _ = apply("while_loop", x, condition="ever", body="same", carried=1)
    return graph, y


def test_a_loop_without_end_is_cancelled() -> None:
    graph, y = endless()
    with sad.Session(graph, device="numpy") as session:
        timer = threading.Timer(0.2, session.cancel)
        timer.start()
        with pytest.raises(CancelledError):
            session.run(y, {"x": 1.0})
        assert session.run(y, {"x": 3.0}) == 3.0


def test_what_a_body_prints_happens_in_order_and_each_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with sad.Graph() as graph:
        number = ("float32", ())
        graph.define("tell", lambda c: sad.print_(c, "c is") + 1, number)
        x = sad.placeholder("float32", (), name="x")
        y = apply("scan", sad.print_(x, "x is"), body="tell", carried=1, sequences=0, length=2)
        z = sad.print_(y, "y is")
    with sad.Session(graph, device="numpy") as session:
        session.run(z, {"x": 1.0})
    assert capsys.readouterr().out == "x is 1.\nc is 1.\nc is 2.\ny is 3.\n"


def test_a_body_may_find_sizes() -> None:
    with sad.Graph() as graph:
        row = ("float32", ("n",))
        graph.define("count", lambda c, e: (c + sad.sum(e[e > 0]), c), ("float32", ()), row)
        x = sad.placeholder("float32", ("m", "n"), name="x")
        attributes = {"carried": 1, "sequences": 1, "length": symbol("m")}
        y, before = apply("scan", sad.constant(0.0), x, body="count", **attributes)
    with sad.Session(graph, device="numpy") as session:
        found = session.run([y, before], {"x": [[1.0, -2.0], [3.0, 4.0], [-1.0, -1.0]]})
    assert found[0] == 8.0
    np.testing.assert_array_equal(found[1], [0.0, 1.0, 8.0])


def test_results_do_not_share_memory_with_the_carry_of_a_later_run() -> None:
    graph, y = endless()
    with sad.Session(graph, device="numpy") as session:
        first = session.run(y, {"x": 3.0})
        session.run(y, {"x": 5.0})
        assert first == 3.0


def test_memory_of_a_loop_does_not_grow_with_its_length() -> None:
    with sad.Graph() as graph:
        big = ("float32", (256, 256))
        graph.define("step", lambda c: sad.tanh(c @ c), big)
        x = sad.placeholder("float32", (256, 256), name="x")
        peaks = []
        for length in (2, 2000):
            y = apply("scan", x, body="step", carried=1, sequences=0, length=length)
            with sad.Session(graph, device="numpy") as session:
                peaks.append(session.memory(y, {}).scratch_bytes)
    assert peaks[0] == peaks[1]
    assert peaks[0] >= 2 * 256 * 256 * 4


def test_a_deep_table_of_bodies_runs() -> None:
    with sad.Graph() as graph:
        number = ("float32", ())
        graph.define("f0", lambda c: c + 1, number)
        one = {"carried": 1, "sequences": 0, "length": 1}
        for k in range(60):
            graph.define(f"f{k + 1}", lambda c, k=k: apply("scan", c, body=f"f{k}", **one), number)
        x = sad.placeholder("float32", (), name="x")
        y = apply("scan", x, body="f60", **one)
    with sad.Session(graph, device="numpy") as session:
        assert session.run(y, {"x": 1.0}) == 2.0


def lesson(outer: bool, noisy: bool) -> tuple[sad.Graph, Any, list[Any]]:
    """A loss by scans, its gradient, and the gradient of that."""
    with sad.Graph(seed=1) as graph:
        xs = sad.placeholder("float64", ("n", 2), name="xs")
        w = sad.variable(sad.constant([[0.5, -0.3], [0.2, 0.7]], dtype="float64"), name="w")

        def inner(c: Any, x: Any) -> Any:
            noise = sad.random.uniform((2,), dtype="float64") if noisy else 0.0
            h = sad.tanh(c @ w + x + noise)
            return h, h * x

        def step(c: Any, x: Any) -> Any:
            last, ys = sad.scan(inner, c, xs)
            return last, sad.sum(ys) * x

        last, ys = sad.scan(step if outer else inner, sad.zeros(2, "float64"), xs)
        loss = sad.sum(last) + sad.sum(ys * ys)
        (dw,) = sad.gradients(loss, w)
        (ddw,) = sad.gradients(sad.sum(dw * dw), w)
    return graph, xs, [loss, dw, ddw]


@pytest.mark.parametrize("outer", [False, True])
@pytest.mark.parametrize("noisy", [False, True])
def test_a_scan_and_what_its_derivative_needs_of_it_run_once(outer: bool, noisy: bool) -> None:
    graph, xs, fetches = lesson(outer, noisy)
    feeds = {p.id: graph.types[p.id] for p in graph.placeholders}
    made: Any = prepare(graph, [f.id for f in fetches[:2]], (), feeds)
    verify(made.program)
    # Forwards and backwards, also within.
    programs = [made.program.graph, *(f.body for f in made.program.graph.functions.values())]
    for each in programs[: None if outer else 1]:
        scans = [node for node in each.nodes if node.op == "scan"]
        keys = {(node.inputs, node.attributes["reverse"]) for node in scans}
        assert len(keys) == len(scans)
    values = np.arange(6.0).reshape(3, 2) / 7
    state = {"w": np.array([[0.5, -0.3], [0.2, 0.7]])}
    naive = interpret(graph, [f.id for f in fetches], (), {xs.id: values}, state, 2).values
    with sad.Session(graph, device="numpy", rewrites=("exact",)) as session:
        together = session.run(fetches, {xs: values}, step=2)
        alone = [session.run(f, {xs: values}, step=2) for f in fetches]
    for a, b, expected in zip(together, alone, naive, strict=True):
        np.testing.assert_allclose(a, expected, rtol=1e-12)
        np.testing.assert_allclose(b, expected, rtol=1e-12)


def test_scans_that_carry_other_values_stay_apart() -> None:
    with sad.Graph() as graph:
        xs = sad.placeholder("float64", (3,), name="xs")
        a, _ = sad.scan(lambda c, x: (c + x, c), 0.0, xs.astype("float32"))
        b, ys = sad.scan(lambda c, x: (c * x, c), 0.0, xs.astype("float32"))
        c, zs = sad.scan(lambda c, x: (c + x, x * 2), 0.0, xs.astype("float32"))
    feeds = {xs.id: graph.types[xs.id]}
    made: Any = prepare(graph, [a.id, b.id, ys.id, c.id, zs.id], (), feeds)
    assert [node.op for node in made.program.graph.nodes].count("scan") == 2
    with sad.Session(graph, device="numpy") as session:
        found = session.run([a, b, ys, c, zs], {xs: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(found[0], 6.0)
    np.testing.assert_array_equal(found[1], 0.0)
    np.testing.assert_array_equal(found[2], np.zeros(3))
    np.testing.assert_array_equal(found[3], 6.0)
    np.testing.assert_array_equal(found[4], [2.0, 4.0, 6.0])
