"""explain, memory and profile say what runs do."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.lines import line_ahead

F32 = np.float32


def network() -> tuple[sad.Graph, Any, Any, str]:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 64), name="x")
        w = sad.variable(sad.random.normal((64, 32)), name="w")
        where = line_ahead(1)
        product = sad.matmul(x, w)
        y = sad.tanh(product) * 2 + 1
        train = sad.group(w.assign_add(sad.sum(y)), name="train")
    return graph, [y, train], x, where


def test_explain_shows_the_program_until_sizes_are_known() -> None:
    graph, fetches, x, _ = network()
    session = sad.Session(graph)
    assert "sizes are not known" in session.explain(fetches)
    text = session.explain(fetches, {"n": 3})
    assert "BLAS" in text
    assert "stages: select 1" in text
    session.run(fetches, {x: np.zeros((5, 64))})
    ran = session.explain(fetches)
    assert "BLAS" in ran
    assert session.explain(fetches, {"n": 2000}) != ran
    assert session.explain(fetches) == session.explain(fetches, {"n": 5})
    with pytest.raises(sad.PlanError, match="'n' is not given"):
        session.explain(fetches, {"m": 3})


def test_a_second_size_reuses_the_structure() -> None:
    graph, fetches, x, _ = network()
    session = sad.Session(graph)
    for n in (5, 6, 5):
        session.run(fetches, {x: np.zeros((n, 64))})
    text = session.explain(fetches)
    session.run(fetches, {x: np.zeros((7, 64))})
    text = session.explain(fetches)
    assert "select 1, rewrite 1, place 1, group 1, order 1, bind 3, assign 3, emit 3" in text


def test_explain_tells_for_each_step_what_it_reads_and_which_node_it_makes() -> None:
    graph, fetches, x, _ = network()
    with graph:
        # In place, in one region that two others read, and in steps of many calls.
        h = sad.exp(x @ sad.ones((64, 64)))
        total = sad.sum(sad.where(h > 1, h, 0.0) @ h.T, name="total")
    lines = sad.Session(graph).explain([fetches, total], {"n": 5}).splitlines()
    steps = [line for line in lines if line[:2].strip().isdecimal() and " @numpy " in line]
    assert len(steps) > 5
    known: set[str] = set()
    for line in steps:
        _, _, cells = line.partition("] ")
        reads, _, rest = cells.partition("-> ")
        slots = set(re.findall(r"slot\d+", reads))
        assert re.search(r"slot|source|constant|output", reads), line
        assert slots <= known, line
        known |= set(re.findall(r"slot\d+", rest.partition("  # ")[0]))
    assert any(line.endswith("  # total") for line in steps)


def test_memory_predicts_the_bytes_of_a_run() -> None:
    graph, fetches, _, where = network()
    session = sad.Session(graph)
    small, large = (session.memory(fetches, {"n": n}) for n in (10, 1000))
    assert small.result_bytes == 10 * 32 * 4
    assert small.write_bytes == small.variable_bytes == 64 * 32 * 4
    assert small.feed_bytes == 10 * 64 * 4
    assert large.scratch_bytes >= 1000 * 32 * 4
    assert large.peak_bytes == sum(large[1:6])
    assert large.largest[0].nbytes == 1000 * 32 * 4
    assert f"{large.peak_bytes:,}" in str(large)
    assert where.partition(":")[0] in str(large)
    with pytest.raises(sad.PlanError, match="'n' is not given"):
        session.memory(fetches)


@pytest.mark.parametrize(
    "sizes", [{"n": -1}, {"n": 1.5}, {"n": "3"}, {"n": True}, {1: 1}, [3], "n", {"n": None}]
)
def test_sizes_are_numbers_by_name(sizes: Any) -> None:
    graph, fetches, x, _ = network()
    session = sad.Session(graph)
    three: Any = np.int64(3)
    assert session.memory(fetches, {"n": three}) == session.memory(fetches, {"n": 3})
    for look in (session.memory, session.explain):
        with pytest.raises(sad.PlanError, match="these are no sizes"):
            look(fetches, sizes)
    with pytest.raises(sad.PlanError, match=r"write \{'n': …\}"):
        session.memory(fetches, {x.shape[0]: 3})


@pytest.mark.parametrize("repeat", [0, -1, 1.0, None])
def test_profile_runs_at_least_once(repeat: Any) -> None:
    graph, fetches, x, _ = network()
    with pytest.raises(sad.PlanError, match="not a number of runs"):
        sad.Session(graph).profile(fetches, {x: np.zeros((2, 64))}, repeat=repeat)


def test_memory_names_each_value_by_its_own_node() -> None:
    # One region makes both; what is large is told by the node that a user would change.
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 100), name="x")
        a = sad.exp(x, name="a")
        b = sad.less(a, 2.0, name="b")
        total = sad.sum(a @ a.T) + sad.sum(sad.where(b, a @ sad.ones((100, 100)), 0.0))
    uses = sad.Session(graph).memory(total, {"n": 1000}).largest
    types = {use.name: str(use.type) for use in uses}
    assert types["a"] == "float32[1000, 100]"
    assert types["b"] == "bool[1000, 100]"


MEASURED = """
    import numpy as np
    import staticad as sad

    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 256), name="x")
        hidden = x
        for _ in range(3):
            hidden = sad.nn.dense(hidden, 256, activation=sad.nn.{activation})
        loss = sad.mean(sad.square(hidden))
        train = sad.optimizers.Adam(1e-3).minimize(loss)
        share = sad.nn.softmax(hidden)
    data = np.ones((30_000, 256), np.float32)

    def lines():
        return dict(line.split(":", 1) for line in open("/proc/self/status"))

    for fetches in ([loss, train], [loss], [share]):
        session = sad.Session(graph)
        session.run(fetches, {{x: data[:3]}})
        foreseen = session.memory(fetches, {{"n": len(data)}})
        assert foreseen.peak_bytes > 1 << 26
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = int(lines()["VmRSS"].split()[0]) * 1024
        session.run(fetches, {{x: data}})
        taken = int(lines()["VmHWM"].split()[0]) * 1024 - before
        new = foreseen.peak_bytes - foreseen.feed_bytes - foreseen.variable_bytes
        assert abs(taken - new) < 0.05 * new + (4 << 20), (taken, new, fetches)
        session.close()
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is not measured")
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_memory_is_what_a_run_takes(activation: str) -> None:
    code = textwrap.dedent(MEASURED).format(activation=activation)
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        check=True, timeout=120,
    )  # fmt: skip


def test_profile_measures_steps_by_op_and_line(tmp_path: Path) -> None:
    graph, fetches, x, where = network()
    session = sad.Session(graph)
    path = tmp_path / "trace.json"
    measured = session.profile(fetches, {x: np.zeros((400, 64))}, path, repeat=3)
    assert session.snapshot().step == 3
    assert measured.result[0].shape == (400, 32)
    assert next(row for row in measured.by_op() if row.name == "matmul").calls == 3
    lines = {row.name.rpartition("/")[2]: row for row in measured.by_line()}
    assert where in lines
    total = sum(row.seconds for row in measured.by_op())
    assert total == pytest.approx(sum(row.seconds for row in measured.by_line()))
    assert 0 < total <= measured.seconds
    trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    assert any(where in line for event in events for line in event["args"]["lines"])
    assert all(event["args"]["traffic_bytes"] > 0 for event in events)
    assert "by op:" in str(measured)
    assert "of limit" in str(measured)
    assert where in str(measured)


def test_profile_counts_work() -> None:
    with sad.Graph(seed=0) as graph:
        a = sad.placeholder("float32", (30, 400))
        b = sad.placeholder("float32", (400, 50))
        y = sad.sum(sad.exp(a @ b) * 2.0)
    feeds = {a: np.ones((30, 400)) * 1e-3, b: np.ones((400, 50))}
    measured = sad.Session(graph).profile(y, feeds, repeat=2)
    rows = {row.name: row for row in measured.by_op()}
    product = rows.pop("matmul")
    assert product.work.flops == 2 * (2 * 30 * 50 * 400)
    assert product.work.traffic == 2 * 4 * (30 * 400 + 400 * 50 + 30 * 50)
    assert product.of_limit > 0
    rest = [row.work for row in rows.values()]
    assert sum(work.special for work in rest) == 2 * 30 * 50
    assert sum(work.flops for work in rest) == 0
    lines = measured.by_line()
    assert sum(row.work.flops for row in lines) == product.work.flops
    assert measured.limits.product_flops > 0


def test_a_checking_session_has_no_plan() -> None:
    graph, fetches, x, _ = network()
    session = sad.Session(graph, check_numerics=True)
    for look in (
        lambda: session.explain(fetches),
        lambda: session.memory(fetches, {"n": 1}),
        lambda: session.profile(fetches, {x: np.zeros((1, 64))}),
    ):
        with pytest.raises(sad.PlanError, match="has no plan"):
            look()
