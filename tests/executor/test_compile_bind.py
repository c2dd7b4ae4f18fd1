"""Stage 6: sizes become concrete, and errors name who said what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import ONCE, STAGES, structure
from staticad_executor.compile.bind import bind
from staticad_schema.errors import PlanError, ShapeError
from staticad_schema.op import OPS

from .planning import Compiled


def size(x: Any) -> Any:
    return OPS["size_of"](x, axis=(0, 1), dtype=np.dtype(np.float32))


def test_a_second_size_reuses_the_first_five_stages() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 4), name="x")
        y = sad.mean(sad.exp(x), axis=0)
    compiled = structure(graph, [y.id], [], {x.id: x.type})
    first, second = compiled.plan([(2, 4)]), compiled.plan([(5, 4)])
    assert {stage.__name__: compiled.runs[stage.__name__] for stage in STAGES} == {
        stage.__name__: 1 if stage in ONCE else 2 for stage in STAGES
    }
    line = next(line for line in second.explain().splitlines() if line.startswith("stages"))
    assert line == (
        "stages: select 1, rewrite 1, place 1, group 1, order 1, bind 2, assign 2, emit 2"
    )
    assert first.output_types == second.output_types


def test_two_sizes_of_one_dimension_name_both_sources_and_lines() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("batch",), name="images")
        y = sad.placeholder("float32", ("batch",), name="labels")
        z = x + y
    compiled = structure(graph, [z.id], [], {x.id: x.type, y.id: y.type})
    with pytest.raises(PlanError) as info:
        compiled.plan([(3,), (4,)])
    text = str(info.value)
    assert "images" in text
    assert "labels" in text
    assert "3" in text
    assert "4" in text
    assert "test_compile_bind.py" in text


def test_what_inference_could_not_know_fails_with_the_users_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("a", 4), name="x")
        y = sad.placeholder("float32", ("b", 4), name="y")
        z = x + y
    compiled = structure(graph, [z.id], [], {x.id: x.type, y.id: y.type})
    compiled.plan([(3, 4), (1, 4)])
    with pytest.raises(ShapeError, match=r"test_compile_bind\.py") as info:
        compiled.plan([(3, 4), (2, 4)])
    assert "add" in str(info.value)


def test_sizes_as_data_become_constants_and_what_follows_from_them() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 4), name="x")
        y = x / sad.sqrt(size(x))
    compiled = Compiled(graph, [y], {x: np.ones((9, 4), np.float32)})
    compiled.check()
    assert [step.kind for step in compiled.plan.steps] == ["region"]
    assert len(compiled.plan.owners) == 1


def test_a_value_that_only_its_size_is_asked_of_is_not_computed() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 4), name="x")
        y = size(sad.exp(x)) + size(x)
    compiled = Compiled(graph, [y], {x: np.ones((9, 4), np.float32)})
    compiled.check()
    assert [step.kind for step in compiled.plan.steps] == ["copy"]


def test_only_what_is_symbolic_is_inferred_again() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3, 4), name="x")
        y = sad.exp(x) @ sad.placeholder("float32", (4, 4), name="w")
    feeds = {p.id: p.type for p in graph.placeholders}
    compiled = structure(graph, [y.id], [], feeds)
    assert compiled.waiting.nodes == ()
    bound = bind(compiled.grouped, compiled.waiting, [(3, 4), (4, 4)])
    assert bound.types == compiled.program.graph.types


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_sizes_0_and_1_are_legal(n: int) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 3), name="x")
        y = sad.placeholder("float32", ("n",), name="y")
        z = sad.reshape(x.T, (-1,)) * 2
        m = sad.mean(x, axis=1) + y
        s = sad.concat([m, y])[::-1]
    rng = np.random.default_rng(n)
    feeds = {x: rng.random((n, 3)).astype("f4"), y: rng.random(n).astype("f4")}
    Compiled(graph, [z, m, s], feeds).check()


def test_the_wrong_number_of_shapes_is_told() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
        y = sad.exp(x)
    with pytest.raises(PlanError, match="1 sources"):
        structure(graph, [y.id], [], {x.id: x.type}).plan([])
