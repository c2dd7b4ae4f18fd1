"""Stage 2: rules by structure and on special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import rewrite, select, structure
from staticad_executor.compile.rewrite import Report
from staticad_executor.compile.rules import RULES, Rule
from staticad_executor.compile.verify import verify
from staticad_schema.errors import PlanError
from staticad_schema.op import OPS

from .planning import Compiled
from .random_graphs import SPECIAL

Build = Callable[[Any], Any]


def ops_after(build: Build, rewrites: tuple[str, ...] = ("exact",), dtype: str = "float32") -> str:
    """The ops left of `build(x)`, without the source."""
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, ("n", 4), name="x")
        y = build(x)
    program = rewrite(select(graph, [y.id], [], {x.id: x.type}), rewrites)
    verify(program)
    return " ".join(node.op for node in program.graph.nodes if node.op != "parameter")


EXACT: list[tuple[str, Build, str]] = [
    ("identity", lambda x: sad.identity(x), ""),
    ("stop_gradient", lambda x: sad.stop_gradient(sad.exp(x)), "exp"),
    ("times one", lambda x: 1 * x * 1, ""),
    ("divided by one", lambda x: x / 1, ""),
    ("minus zero", lambda x: x - 0, ""),
    ("plus zero stays, because of -0", lambda x: x + 0, "constant add"),
    ("plus minus zero", lambda x: x + -0.0, ""),
    ("minus minus zero stays", lambda x: x - -0.0, "constant subtract"),
    ("two negations", lambda x: sad.negative(-x), ""),
    ("maximum of one", lambda x: sad.maximum(x, x), ""),
    ("where of one", lambda x: sad.where(x < 1, x, x), ""),
    ("cast to itself", lambda x: x.astype("float32"), ""),
    ("bool there and back", lambda x: (x < 1).astype("int32").astype("bool"), "constant less"),
    ("float there and back stays", lambda x: x.astype("float64").astype("float32"), "cast cast"),
    ("two reshapes", lambda x: sad.reshape(sad.reshape(x, (-1,)), x.shape), ""),
    ("two permutations", lambda x: x.T.T, ""),
    ("sum to the same shape", lambda x: OPS["sum_to"](x, shape=x.type.shape), ""),
    ("sum over no axes", lambda x: sad.sum(x, axis=()), ""),
    ("two flips", lambda x: sad.flip(sad.flip(x, axis=0), axis=0), ""),
    ("whole slice", lambda x: x[:, 0:4], ""),
    ("concat of one", lambda x: sad.concat([x]), ""),
    ("broadcast operand", lambda x: sad.broadcast_to(sad.sum(x), x.shape) * x, "sum multiply"),
    (
        "only broadcast operands",
        lambda x: sad.exp(sad.broadcast_to(sad.sum(x), x.shape)),
        "sum exp broadcast_to",
    ),
    ("product with a bool", lambda x: OPS["multiply_no_nan"]((x < 1).astype("float32"), x),
     "constant less cast multiply"),
    ("product with a seed", lambda x: OPS["multiply_no_nan"](x, x.coerce(0.25)),
     "constant multiply"),
    ("product with zero", lambda x: OPS["multiply_no_nan"](x, x.coerce(0.0)),
     "constant multiply_no_nan"),
    ("product with what may be infinite", lambda x: OPS["multiply_no_nan"](x, x),
     "multiply_no_nan"),
    ("constants fold", lambda x: x * sad.exp(sad.constant(np.float32(0.5))), "constant multiply"),
    ("equal nodes merge", lambda x: sad.exp(x) + sad.exp(x), "exp add"),
    ("1/(1/x) stays", lambda x: 1 / (1 / x), "constant divide divide"),
    ("log of exp stays", lambda x: sad.log(sad.exp(x)), "exp log"),
    ("sqrt of a square stays", lambda x: sad.sqrt(sad.square(x)), "square sqrt"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "build", "left"), EXACT, ids=[case[0] for case in EXACT])
def test_exact_rules(name: str, build: Build, left: str) -> None:
    assert ops_after(build) == left
    values = np.array(SPECIAL + [5.0] * (-len(SPECIAL) % 4), np.float32).reshape(-1, 4)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 4), name="x")
        y = build(x)
    Compiled(graph, [y], {x: values}).check()
    Compiled(graph, [y], {x: values[:0]}).check()


BOTH = ("exact", "stable")
STABLE: list[tuple[str, Build, str]] = [
    ("log1p", lambda x: sad.log(1 + x), "log1p"),
    ("expm1", lambda x: sad.exp(x) - 1, "expm1"),
    ("square", lambda x: x**2, "multiply"),
    ("logsumexp", lambda x: sad.log(sad.sum(sad.exp(x), axis=1)), "logsumexp"),
    (
        "log_softmax",
        lambda x: sad.log(sad.exp(x) / sad.sum(sad.exp(x), axis=1, keepdims=True)),
        "log_softmax",
    ),
]


@pytest.mark.parametrize(("name", "build", "left"), STABLE, ids=[case[0] for case in STABLE])
def test_stable_rules_are_more_accurate_and_can_be_left_out(
    name: str, build: Build, left: str
) -> None:
    assert ops_after(build, ("exact", "stable")) == left
    assert ops_after(build, ("exact",)) != left
    values = np.array([[1e-6, -1e-6, 0.25, 3.0], [60.0, 80.0, 9.0, 1e-3]], np.float32)
    errors: list[Any] = []
    for dtype, rewrites in (("float64", ()), ("float32", ("exact",)), ("float32", BOTH)):
        with sad.Graph() as graph:
            x = sad.placeholder(dtype, ("n", 4), name="x")
            y = build(x)
        feed = {x: values.astype(dtype)}
        errors.append(Compiled(graph, [y], feed, rewrites=rewrites).run()[0].astype(np.float64))
    true, plain, rewritten = errors
    finite = np.isfinite(plain)
    assert np.isfinite(rewritten).all()
    assert (np.abs(rewritten - true)[finite].sum()) <= np.abs(plain - true)[finite].sum()


def test_a_stable_rewrite_does_not_depend_on_what_is_fetched() -> None:
    values = np.array([1e-8, 0.1], np.float32)
    results = []
    for count in (1, 2):
        with sad.Graph() as graph:
            x = sad.placeholder("float32", 2, name="x")
            shifted = 1 + x
            y = sad.log(shifted)
        fetches = [y, shifted][:count]
        compiled = Compiled(graph, fetches, {x: values}, rewrites=("exact", "stable"))
        results.append(compiled.run())
    assert results[0][0].tobytes() == results[1][0].tobytes()
    assert results[1][1].tolist() == [1.0, np.float32(1.1)]


def test_fast_rules_only_on_request() -> None:
    assert ops_after(lambda x: x / 3, ("exact", "stable")) == "constant divide"
    assert ops_after(lambda x: x / 3, ("exact", "stable", "fast")) == "constant multiply"
    assert ops_after(lambda x: x + 0, ("add_zero",)) == ""


def test_a_rule_can_be_left_out_by_name() -> None:
    assert (
        ops_after(lambda x: sad.negative(-x), ("exact", "-double_negation")) == "negative negative"
    )
    assert ops_after(lambda x: sad.exp(x) + sad.exp(x), ("exact", "-merge")) == "exp exp add"


def test_an_unknown_rewrite_is_named_with_the_near_miss() -> None:
    with pytest.raises(PlanError, match="double_negation"):
        ops_after(lambda x: x, ("exact", "-double_negatoin"))


def test_a_rule_that_fails_is_rolled_back_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(r: Any, node: Any) -> int | None:
        r.add("sin", node.inputs, node)
        raise ValueError("not today")

    monkeypatch.setitem(RULES, "careless", Rule("careless", "exact", ("exp",), careless))
    with sad.Graph() as graph:
        x = sad.placeholder("float32", 4, name="x")
        y = sad.exp(x) + sad.exp(x)
    report = Report()
    program = rewrite(select(graph, [y.id], [], {x.id: x.type}), ("exact",), report=report)
    assert [node.op for node in program.graph.nodes] == ["parameter", "exp", "add"]
    verify(program)
    assert "careless failed" in report.lines()[-1]
    compiled = structure(graph, [y.id], [], {x.id: x.type})
    assert "not today" in compiled.plan([(4,)]).explain()


def test_a_rule_of_another_type_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        RULES, "widening", Rule("widening", "exact", ("sum",), lambda r, node: node.inputs[0])
    )
    assert ops_after(lambda x: sad.sum(x)) == "sum"


def test_constants_are_merged_by_their_bits() -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    left = ops_after(lambda x: (x / sad.constant(zeros[0])) * (x / sad.constant(zeros[1])))
    assert left == "constant divide constant divide multiply"
    left = ops_after(lambda x: x * np.float32("nan") + x * np.float32("nan"))
    assert left == "constant multiply add"


def test_random_nodes_are_neither_merged_nor_dropped() -> None:
    with sad.Graph(seed=0) as graph:
        a = sad.random.uniform((4,))
        b = sad.random.uniform((4,))
        y = a + b
    program = rewrite(select(graph, [y.id], [], {}), ("exact", "stable", "fast"))
    assert [n.op for n in program.graph.nodes].count("random_bits") == 2


def test_a_folded_result_may_not_be_large() -> None:
    assert ops_after(lambda x: x * sad.constant(2.0)) == "constant multiply"
    ones = np.ones(2000)
    left = ops_after(
        lambda x: x * sad.sum(sad.broadcast_to(sad.constant(ones), (9000, 2000))), dtype="float64"
    )
    assert "sum" in left.split()


def test_what_cannot_be_folded_is_left_to_fail_with_the_users_line() -> None:
    with sad.Graph() as graph:
        bad = sad.take(sad.constant(np.arange(3.0)), sad.constant(np.array([8])) + 1)
    compiled = Compiled(graph, [bad])
    with pytest.raises(sad.ExecutionError, match=r"test_compile_rewrite\.py"):
        compiled.run()


def test_a_program_that_nothing_applies_to_is_returned_as_it_is() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", 4, name="x")
        y = sad.exp(x)
    program = select(graph, [y.id], [], {x.id: x.type})
    assert rewrite(program) is program
    assert rewrite(program, ()) is program


@pytest.mark.parametrize("case", ["indices", "size", "absolute value"])
def test_what_may_be_infinite_is_guarded(case: str) -> None:
    with sad.Graph() as graph:
        if case == "indices":
            g = sad.placeholder("float16", ("n",))
            d = graph.source("iota", {"shape": g.shape, "axis": 0, "dtype": g.dtype})
        elif case == "size":
            g = sad.placeholder("float16", ("n",))
            d = OPS["size_of"](g, axis=(0,), dtype=g.dtype)
        else:
            # Too many to be computed when the program is compiled.
            g = sad.placeholder("float32", ("n",))
            d = sad.abs(sad.constant(np.full(600_000, 3e38 + 3e38j, np.complex64)))
        y = OPS["multiply_no_nan"](d, g)
    zeros = np.zeros(70_000 if g.dtype == np.float16 else 600_000, g.dtype)
    compiled = Compiled(graph, [y], {g: zeros})
    compiled.check()
    assert not np.any(compiled.run()[0])


MISFITS: dict[str, tuple[Any, Any, Callable[[Any, Any], Any]]] = {
    "reshape of a scalar": ("n", "m", lambda x, y: sad.reshape(sad.zeros_like(x), y.shape)),
    "reshape twice": ("n", "n", lambda x, y: sad.reshape(sad.reshape(x, ("k",)), x.shape)),
    "broadcast twice": ("n", "m", lambda x, y: sad.broadcast_to(sad.zeros_like(x), y.shape)),
    "plus nothing": ("n", 5, lambda x, y: y - sad.zeros_like(x)),
    "times one": ("n", 5, lambda x, y: sad.ones_like(x) * y),
    "a scalar repeated": ("n", 5, lambda x, y: sad.zeros_like(x) + y),
    "both repeated": ("n", 5, lambda x, y: sad.zeros_like(x) + sad.zeros_like(y)),
    "where of the same": ("n", 5, lambda x, y: sad.where(x > 0, y, y)),
    "log of one plus": ("n", 5, lambda x, y: sad.log(sad.ones_like(x) + y)),
}


@pytest.mark.parametrize("name", MISFITS)
def test_no_rule_drops_what_checks_sizes(name: str) -> None:
    n, m, build = MISFITS[name]
    with sad.Graph() as graph:
        x, y = sad.placeholder("float32", (n,)), sad.placeholder("float32", (m,))
        k = sad.placeholder("float32", ("k",))
        z = build(x, y) + 0 * sad.sum(k)
    feeds = {x: np.ones(3), y: np.ones(3 if m == "n" else 5), k: np.ones(5)}
    for rewrites in ((), ("exact", "stable", "fast")):
        with sad.Session(graph, rewrites=rewrites) as session, pytest.raises(sad.ShapeError):
            session.run(z, feeds)
