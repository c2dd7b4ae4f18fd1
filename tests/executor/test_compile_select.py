"""Stage 1: state becomes data flow, feeds cut, effects keep their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import select
from staticad_executor.compile.verify import verify
from staticad_executor.program import Program
from staticad_schema.errors import PlanError
from staticad_schema.graph import Function, Graph
from staticad_schema.op import OPS, FunctionRef

from .planning import Compiled


def program_of(
    fetches: list[Any], effects: list[Any] | None = None, feeds: list[Any] | None = None
) -> Program:
    graph = (fetches or effects or [])[0].graph
    given = {x.id: x.type for x in feeds or []}
    program = select(graph, [f.id for f in fetches], [e.node_index for e in effects or []], given)
    verify(program)
    return program


def ops(program: Program) -> list[str]:
    return [node.op for node in program.graph.nodes]


def test_only_what_is_needed_is_selected() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", 3, name="x")
        y = sad.exp(x)
        sad.sin(y)
    program = program_of([y], feeds=[x])
    assert ops(program) == ["parameter", "exp"]
    assert [(s.kind, s.original) for s in program.sources] == [("feed", x.id)]


def test_a_fed_intermediate_cuts() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", 3, name="x")
        y = sad.exp(x)
        z = sad.sin(y)
    program = program_of([z, y], feeds=[y])
    assert ops(program) == ["parameter", "sin"]
    assert program.fetches == (1, 0)


def test_a_placeholder_that_is_not_fed_is_named() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", 3, name="images")
        y = sad.exp(x)
    with pytest.raises(PlanError, match="images"):
        program_of([y])


def test_a_plain_read_sees_the_start_and_writes_apply_in_creation_order() -> None:
    with sad.Graph():
        v = sad.variable(np.zeros(2, np.float32), name="v")
        first = v.assign_add(v + 1)
        second = v.assign_add(v * 10)
    program = program_of([first, second])
    # The read is one source; the second update starts from the first one's result.
    assert [s.kind for s in program.sources] == ["variable"]
    assert program.writes == (("v", program.fetches[1]),)
    nodes = program.graph.nodes
    update = nodes[program.graph.producers[program.fetches[1]]]
    assert update.op == "add"
    assert update.inputs[0] == program.fetches[0]


def test_a_read_behind_a_write_is_the_written_value() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones(2, np.float32), name="v")
        written = v.assign(v * 3)
        late = v.read(after=written)
        result = late + v
    compiled = Compiled(graph, [result], variables={"v": np.ones(2, np.float32)})
    compiled.check()
    assert compiled.run()[0].tolist() == [4, 4]


def test_case_j3_a_read_behind_a_write_of_another_size() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(1, np.float32), name="v", shape=("n",))
        written = v.assign(np.ones(3, np.float32))
        result = v.read(after=written) + 2
    compiled = Compiled(graph, [result], variables={"v": np.zeros(1, np.float32)})
    compiled.check()
    assert compiled.run()[0].tolist() == [3, 3, 3]


def test_case_i15_equal_writes_are_both_kept() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones((), np.float32), name="v")
        first, second = v.assign(v * 2), v.assign(v * 2)
        ordered = v.assign(v.read(after=first) * 2)
    for fetches, expected in (([first, second], [2, 2, 2]), ([first, ordered], [2, 4, 4])):
        compiled = Compiled(graph, fetches, variables={"v": np.ones((), np.float32)})
        compiled.check()
        assert [float(a) for a in compiled.run()] == expected


def test_effects_keep_the_order_in_which_they_were_written_down(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        last = sad.print_(x + 1, message="first")
        first = sad.print_(sad.exp(x), message="second")
        both = sad.group(first, last)
    compiled = Compiled(graph, [], {x: np.float32(0)}, effects=[both])
    verify(compiled.structure.program)
    compiled.run()
    assert capsys.readouterr().out.split() == ["first", "1.", "second", "1."]


def test_what_waits_for_a_check_runs_behind_it() -> None:
    with sad.Graph() as graph:
        i = sad.placeholder("int64", 2, name="i")
        checked = sad.assert_(i < 3, "an index is too large")  # noqa: PT009
        table = sad.constant(np.arange(3.0))
        taken = sad.take(sad.after(table, checked), i)
    compiled = Compiled(graph, [taken], {i: np.array([0, 7])})
    with pytest.raises(sad.ExecutionError, match="an index is too large"):
        compiled.run()


def called(graph: Graph, x: Any, name: str, path: int) -> Any:
    return OPS["call"](x, function=FunctionRef(name), path=path)


def test_calls_are_inlined_to_any_depth_with_sizes_and_paths_of_their_own() -> None:
    depth = 60
    graph = sad.Graph(seed=3)
    inner = Graph()
    p = inner.append(OPS["parameter"], (), {"index": 0, "dtype": np.dtype("f4"), "shape": ()})
    run = inner.append(OPS["run_number"])
    bits = inner.append(
        OPS["random_bits"],
        (run.start,),
        {"key": 5, "path": 0, "shape": (), "dtype": np.dtype(np.uint32)},
    )
    small = inner.append(OPS["cast"], (bits.start,), {"dtype": np.dtype("f4")})
    total = inner.append(OPS["add"], (p.start, small.start))
    graph.add_function(Function("body0", inner, (p.start,), (total.start,)))
    for k in range(1, depth):
        body = Graph()
        body.functions = graph.functions
        q = body.append(OPS["parameter"], (), {"index": 0, "dtype": np.dtype("f4"), "shape": ()})
        c = body.append(
            OPS["call"], (q.start,), {"function": FunctionRef(f"body{k - 1}"), "path": k}
        )
        graph.add_function(Function(f"body{k}", body, (q.start,), (c.start,)))
    with graph:
        x = sad.placeholder("float32", (), name="x")
    one = called(graph, x, f"body{depth - 1}", 1)
    two = called(graph, x, f"body{depth - 1}", 2)
    one, two = (y[0] if isinstance(y, tuple) else y for y in (one, two))
    compiled = Compiled(graph, [one, two], {x: np.float32(0)}, run_number=4)
    assert "call" not in ops(compiled.structure.program)
    verify(compiled.structure.program)
    compiled.check()
    first, second = compiled.run()
    assert first != second
