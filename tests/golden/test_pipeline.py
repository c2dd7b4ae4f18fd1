"""The training step of a small network, as text, before and after each stage.

To be read in review.  `make golden` rewrites the files.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import (
    STAGES,
    assign,
    bind,
    emit,
    group,
    order,
    place,
    rewrite,
    select,
    structure,
)
from staticad_executor.compile.bind import pending
from staticad_executor.compile.verify import verify
from staticad_executor.devices.numpy import NumpyDevice
from staticad_schema.shapes import bind_shape
from staticad_schema.text import line

FOLDER = Path(__file__).parent
SIZES = (784, 256, 128, 10)
BATCH = 128


def mlp() -> tuple[Any, Any, Any, list[Any]]:
    """(graph, loss, training effect, feeds): the workload mlp_train."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", SIZES[0]), name="x")
        labels = sad.placeholder("int32", ("batch",), name="labels")
        h = x
        for k, (a, b) in enumerate(pairwise(SIZES)):
            w = sad.variable(sad.random.normal((a, b), scale=0.05), name=f"w{k}")
            c = sad.variable(np.zeros(b, np.float32), name=f"b{k}")
            h = h @ w + c
            if k < len(SIZES) - 2:
                h = sad.nn.relu(h)
        loss = sad.nn.cross_entropy(h, labels, name="loss")
        train = sad.optimizers.Adam(1e-3).minimize(loss)
    return graph, loss, train, [x, labels]


def stages() -> dict[str, str]:
    """The text before the first stage and after each."""
    graph, loss, train, feeds = mlp()
    given = {f.id: f.type for f in feeds}
    texts = {"graph": "\n".join(line(graph, i) for i in range(len(graph.nodes))) + "\n"}
    program = select(graph, [loss.id], [train.node_index], given)
    verify(program)
    texts["select"] = program.text()
    program = rewrite(program, claimed=NumpyDevice().claimed)
    verify(program)
    texts["rewrite"] = program.text()
    placed = place(program)
    texts["place"] = placed.text()
    grouped = group(placed)
    texts["group"] = grouped.text()
    ordered = order(grouped)
    texts["order"] = ordered.text()
    sizes = {"batch": BATCH}
    shapes = [bind_shape(program.graph.types[s.value].shape, sizes) for s in program.sources]
    bound = bind(ordered, pending(program), shapes)
    texts["bind"] = bound.text()
    assigned = assign(bound)
    texts["assign"] = assigned.text()
    texts["emit"] = emit(assigned, 1).explain()
    return texts


TEXTS = stages()


def test_every_stage_has_a_golden_and_changes_something() -> None:
    assert list(TEXTS)[1:] == [stage.__name__ for stage in STAGES]
    texts = list(TEXTS.values())
    assert all(a != b for a, b in pairwise(texts))


@pytest.mark.parametrize("name", list(TEXTS))
def test_golden(name: str) -> None:
    path = FOLDER / f"mlp_train.{list(TEXTS).index(name)}.{name}.txt"
    if os.environ.get("STATICAD_UPDATE_GOLDEN"):
        path.write_text(TEXTS[name], encoding="utf-8")
    assert path.read_text(encoding="utf-8") == TEXTS[name], "read the diff; then `make golden`"


def test_the_plan_is_short_and_needs_little_memory() -> None:
    graph, loss, train, feeds = mlp()
    compiled = structure(graph, [loss.id], [train.node_index], {f.id: f.type for f in feeds})
    sizes = {"batch": BATCH}
    types = compiled.program.graph.types
    shapes = [bind_shape(types[s.value].shape, sizes) for s in compiled.sources]
    plan = compiled.plan(shapes)
    assert len(plan.steps) <= 40
    assert plan.slot_bytes <= 0.4 * plan.value_bytes
