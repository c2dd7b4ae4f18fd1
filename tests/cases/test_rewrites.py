"""Family I: a rewrite must not change what a graph means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import rewrite, select
from staticad_executor.compile.rewrite import Report
from staticad_executor.compile.rules import RULES
from staticad_executor.compile.verify import verify
from staticad_executor.options import KINDS
from staticad_schema.op import OPS

from .running import Function, build, value

inf, nan = math.inf, math.nan


def unchanged(f: Function, *inputs: Any, dtype: str = "float64") -> np.ndarray[Any, Any]:
    """f of the inputs, which must be the same bits, shape and dtype with and without rewrites,
    and whether the operands are fed or constants that can be folded."""
    plain = value(f, *inputs, dtype=dtype, rewrites=())
    for found in (value(f, *inputs, dtype=dtype), folded(f, *inputs, dtype=dtype)):
        assert (found.dtype, found.shape) == (plain.dtype, plain.shape)
        np.testing.assert_array_equal(found, plain)
        assert found.dtype.kind != "f" or (np.signbit(found) == np.signbit(plain)).all()
    return plain


def folded(f: Function, *inputs: Any, dtype: str) -> np.ndarray[Any, Any]:
    """f of constants."""
    with sad.Graph() as graph:
        y = f(
            *(sad.constant(x if isinstance(x, np.ndarray) else np.array(x, dtype)) for x in inputs)
        )
    with sad.Session(graph) as session:
        result: np.ndarray[Any, Any] = session.run(y)
    return result


def test_I2_reciprocal_of_reciprocal_is_computed() -> None:
    found = unchanged(lambda x: 1 / (1 / x), [7.0, 13.0, 52.0, 0.0, 3e38], dtype="float32")
    one = np.float32(1)
    assert found[0] == one / (one / np.float32(7))
    assert found[3] == 0


def test_I4_overflow_between_inverse_functions_is_seen() -> None:
    assert unchanged(lambda x: sad.log(sad.exp(x)), [89.0], dtype="float32").tolist() == [inf]
    assert unchanged(lambda x: sad.sqrt(x**2), [1e20], dtype="float32").tolist() == [inf]
    assert unchanged(lambda x: sad.sqrt(sad.square(x)), [1e20], dtype="float32").tolist() == [inf]
    found = unchanged(lambda x: sad.exp(x) * sad.exp(-x), [100.0], dtype="float32")
    with np.errstate(over="ignore"):
        expected = np.exp(np.float32(100)) * np.exp(np.float32(-100))
    assert np.array_equal(found, [expected])
    assert found[0] == inf


def test_I5_angle_of_equal_comparisons() -> None:
    def f(x: Any) -> Any:
        same = sad.astype(sad.logical_xor(x > 0, x > 0), "float32")
        return sad.atan2(same, same)

    assert unchanged(f, [1.0, -1.0], dtype="float32").tolist() == [0, 0]


def test_I7_root_of_square_and_square_of_root() -> None:
    assert unchanged(lambda x: sad.sqrt(x * x), [-3.0]).tolist() == [3]
    assert np.isnan(unchanged(lambda x: sad.sqrt(x) * sad.sqrt(x), [-3.0])).all()
    assert np.isnan(unchanged(lambda x: sad.square(sad.sqrt(x)), [-3.0])).all()


@pytest.mark.parametrize("b", [[2.0, 4.0], [0.0, nan]])
def test_I9_division_is_not_moved_into_a_select(b: list[float]) -> None:
    c = np.array([True, False])

    def f(a: Any, b: Any) -> Any:
        return sad.where(sad.constant(c), a, 0.0) / b

    unchanged(f, [3.0, 5.0], b)
    found = unchanged(
        lambda a, b: sad.astype(sad.where(sad.constant(c), a, 0), "float64") / b,
        np.array([3, 5], np.int8),
        b,
    )
    assert found.dtype == np.float64


def test_I12_equal_means_op_attributes_operands_and_order() -> None:
    with sad.Graph(seed=1) as graph:
        a = sad.constant(np.array([1.0, 2.0]), name="scope/a")
        b = sad.constant(np.array([3.0, 4.0]), name="scope/b")
        x = sad.placeholder("float64", (2,))
        pairs = [(x + a) * (x + b), sad.cast(x, "float32"), sad.cast(x, "int32")]
        signs = [x * sad.constant(np.array(0.0)), x * sad.constant(np.array(-0.0))]
    with sad.Session(graph) as session:
        product, single, integer = session.run(pairs, {x: [1.0, 1.0]})
        plus, minus = session.run(signs, {x: [1.0, 1.0]})
    assert product.tolist() == [8, 15]
    assert (single.dtype, integer.dtype) == (np.float32, np.int32)
    assert not np.signbit(plus).any()
    assert np.signbit(minus).all()


def test_I14_effects_of_folded_nodes_still_happen(capsys: pytest.CaptureFixture[str]) -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.array(1.0), name="v")
        write = v.assign_add(1.0)
        # x + 0 can be simplified and the sum folded: the order stays.
        zero = sad.constant(np.array(0.0)) + 0.0
        late = sad.after(zero, write) + v.read(after=[write])
        shown = sad.print_(sad.constant(np.array(2.0)) * 1.0, "shown")
        y = late + shown * 0
    with sad.Session(graph) as session:
        assert float(session.run(y)) == 2
        assert float(session.variables["v"]) == 2
    assert capsys.readouterr().out.count("shown") == 1


def test_I15_equal_assigns_are_both_kept() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.array(1.0), name="v")
        first, second = v.assign(v * 2), v.assign(v * 2)
    with sad.Session(graph) as session:
        assert [float(r) for r in session.run([first, second])] == [2, 2]
        assert float(session.variables["v"]) == 2

    with sad.Graph() as graph:
        v = sad.variable(np.array(1.0), name="v")
        first = v.assign(v * 2)
        second = v.assign(v.read(after=[first]) * 2)
        last = v.read(after=[second])
    with sad.Session(graph) as session:
        assert float(session.run(last)) == 4
        assert float(session.variables["v"]) == 4

    with sad.Graph() as graph:
        v = sad.variable(np.array(1.0), name="v")
        both = sad.group(v.assign_add(1.0), v.assign_add(1.0))
    with sad.Session(graph) as session:
        session.run(both)
        assert float(session.variables["v"]) == 3


def test_I17_values_used_twice_are_not_overwritten() -> None:
    def f(x: Any) -> Any:
        shared = sad.exp(x)
        # Each of these could be computed in place of `shared`.
        return sad.stack([shared + 1, shared * 2, -shared, shared])

    x = np.linspace(-1, 1, 7)
    found = unchanged(f, x)
    e = np.exp(x)
    np.testing.assert_array_equal(found, np.stack([e + 1, e * 2, -e, e]))


@pytest.mark.parametrize("rewrites", [(), *((rule,) for rule in RULES), KINDS], ids=str)
@pytest.mark.parametrize("rows", [4, "n"])
def test_I19_every_pass_output_passes_the_verifier(rewrites: Any, rows: int | str) -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (rows, 3), name="x")
        labels = sad.placeholder("int32", (rows,), name="labels")
        hidden = sad.nn.gelu(sad.nn.dense(x, 5, name="first")) ** 2.0 / 3.0
        scores = sad.nn.dense(sad.nn.layer_norm(sad.nn.dropout(hidden, 0.5)), 2, name="second")
        loss = sad.nn.cross_entropy(scores, labels)
        train = sad.optimizers.Adam(0.1).minimize(loss)
    feeds = {x.id: x.type, labels.id: labels.type}
    program = select(graph, [loss.id], [train.node_index], feeds)
    verify(program)
    report = Report()
    verify(rewrite(program, rewrites, report=report))
    assert not report.failed
    if rewrites == KINDS:
        assert {"merge", "fold"} <= set(report.applied)


def test_I20_quotient_and_remainder_of_negatives() -> None:
    x = np.arange(-23, 24)
    found = unchanged(lambda x: (x // 5) * 5 + x % 5, x)
    np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(unchanged(lambda x: (x // -5) * -5 + x % -5, x), x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 0,
        lambda x: x - 0,
        lambda x: 0 - x,
        lambda x: x * 1,
        lambda x: x * 0,
        lambda x: x / 1,
        lambda x: x - x,
        lambda x: x / x,
        lambda x: sad.negative(-x),
        lambda x: x**1,
        lambda x: x**0,
        lambda x: sad.maximum(x, x),
        lambda x: sad.where(x == x, x, 0),
        lambda x: sad.astype(sad.astype(x, "float32"), "float64"),
        lambda x: sad.abs(sad.abs(x)),
        lambda x: OPS["multiply_no_nan"](x, x * 0),
        lambda x: (x + 1e16) - 1e16,
        lambda x: x * 3 * 7,
        lambda x: x + 0.1 + 0.2,
    ],
)
def test_identities_that_only_hold_for_ordinary_numbers(f: Function) -> None:
    unchanged(f, [0.0, -0.0, 1.5, -2.5, inf, -inf, nan, 5e-324, 1e308])


def test_a_built_graph_is_not_changed_by_running_it() -> None:
    graph, xs, y = build(lambda x: sad.exp(x) * 1 + 0, ([1.0],), "float64")
    before = list(graph.nodes)
    with sad.Session(graph) as session:
        session.run(y, {xs[0]: [1.0]})
    assert graph.nodes == before
