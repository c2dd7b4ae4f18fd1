"""The benchmarks compute what they say, before anybody believes how fast."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import staticad as sad
from benchmarks import callable_overhead, graph_size, loops, measure, memory_growth, picture, table
from benchmarks.on_staticad.running import Built
from benchmarks.peer_staticad import BUILDERS
from benchmarks.peers import numpy_by_hand
from benchmarks.yardstick import WORKLOADS
from benchmarks.yardstick.chain import chain_program, chain_value
from staticad_executor.machine import Limits, Work
from staticad_executor.profile import plan_work

ROOT = Path(__file__).parent.parent.parent
FIELDS = {
    "peer",
    "workload",
    "seconds_median",
    "seconds_min",
    "first_call_seconds",
    "peak_rss_mb",
    "loss_after_k",
    "ok",
}


def run_script(*arguments: str) -> list[dict[str, Any]]:
    """The JSON lines that benchmarks/run.py prints."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "run.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_staticad_has_every_workload() -> None:
    assert list(BUILDERS) == list(WORKLOADS)


RUNNERS = {"staticad": BUILDERS, "numpy": numpy_by_hand.BUILDERS}


@pytest.mark.parametrize(
    ("runner", "name"), [(runner, name) for runner, b in RUNNERS.items() for name in b]
)
def test_expected_numbers(runner: str, name: str) -> None:
    w = WORKLOADS[name]()
    step = RUNNERS[runner][name](w)
    for i in range(w.k):
        result = step(w.batch(i))
    numbers = measure.checked_numbers(w, result)
    np.testing.assert_allclose(numbers, w.expected, rtol=1e-4)
    assert measure.agrees(numbers, w.expected)


@pytest.mark.parametrize("name", BUILDERS)
def test_builders_need_only_the_shared_attributes(name: str) -> None:
    # A harness from elsewhere has workloads of its own, with these attributes.
    w = WORKLOADS[name]()
    attributes = ("name", "kind", "params", "batches", "optimizer", "k", "wrt", "config")
    bare: Any = SimpleNamespace(**{a: getattr(w, a) for a in attributes})
    result = BUILDERS[name](bare)(w.batch(0))
    assert np.isfinite(measure.checked_numbers(w, result)).all()


@pytest.mark.parametrize("name", BUILDERS)
def test_differentiation_adds_few_nodes(name: str) -> None:
    found = graph_size.size(name)
    assert found.added_per_node < graph_size.MOST_ADDED
    assert found.steps <= found.nodes
    assert found.bytes_moved > 0
    assert bool(found.before) == (WORKLOADS[name]().kind != "infer")


def test_bytes_moved_are_those_that_enter_and_leave_steps() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (10,), name="x")
        total = sad.sum(sad.exp(x) + 1.0)
    built = Built(graph, [x], [total], lambda result: result[0])
    w: Any = SimpleNamespace(batch=lambda _: {"x": np.zeros(10, np.float32)})
    plan = graph_size.planned(built, w)
    assert [step.kind for step in plan.steps] == ["region", "kernel"]
    # x and the constant in, the region's result out; that in again, the sum out.
    assert [work.traffic for work in plan_work(plan)] == [40 + 4 + 40, 40 + 4]


def test_wrong_numbers_do_not_agree() -> None:
    assert measure.agrees([1.0, 2.0005], [1.0, 2.0])
    assert not measure.agrees([1.0, 2.01], [1.0, 2.0])
    assert not measure.agrees([1.0], [1.0, 2.0])
    assert not measure.agrees([np.nan], [1.0])


def test_chain_stays_near_one() -> None:
    value = chain_value(np.sin, np.tanh, chain_program(10_000), 0.5)
    assert abs(value) < 1
    assert [name for name, _ in chain_program(4)] == ["add", "sin", "mul", "tanh"]


def test_script_prints_one_line_with_the_fields() -> None:
    arguments = ("--workload", "mlp_train_small", "--budget", "0.02")
    records = run_script(*arguments, "--devices", "numpy", "auto")
    assert [r["peer"] for r in records] == ["staticad numpy", "staticad auto"]
    for record in records:
        assert set(record) >= FIELDS
        assert record["ok"]
        assert record["seconds_min"] <= record["seconds_median"]


def test_graph_scale_prints_a_line_a_phase() -> None:
    phases = ["build", "gradients", "save", "load", "plan", "run"]
    lines = run_script("--workload", "graph_scale", "--n", "1000", "2000", "--devices", "numpy")
    first, second, grown = lines[:6], lines[6:12], lines[12:]
    assert [r["phase"] for r in first] == [r["phase"] for r in second] == phases
    assert all(r["n"] == 1000 and r["peak_rss_mb"] > 0 for r in first)
    assert np.isclose(first[-1]["gradient"], WORKLOADS["small_ops"]().expected[1], rtol=1e-3)
    assert [r["growth"] for r in grown] == phases
    times = [b["seconds"] / a["seconds"] for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose([r["times"] for r in grown], times)


def test_bare_calls_compute_the_chain() -> None:
    program = chain_program(8)
    calls = callable_overhead.bare(program)
    assert calls(np.asarray(0.5, np.float32)) == pytest.approx(
        chain_value(np.sin, np.tanh, program, 0.5), rel=1e-5
    )


def test_table_columns_are_aligned() -> None:
    lines = list(table.aligned(["a", "bb"], [["long cell", "1"], ["x", "22"]]))
    assert len({len(line) for line in lines}) == 1
    assert lines[2] == "| long cell | 1  |"


def test_bound_is_that_of_the_scarcest() -> None:
    limits = Limits(product_flops=1e9, special=1e9, cache_bytes=1e9, memory_bytes=1e8)
    assert limits.bound(Work(flops=2e9, special=1e9, traffic=0)) == 2
    assert limits.bound(Work(flops=0, special=0, traffic=1e6)) == 1e-3
    assert limits.bound(Work(flops=0, special=0, traffic=1e9)) == 10
    # 3 products a layer but for the first, which has 2.
    assert WORKLOADS["mlp_train_small"]().cost.flops == 2 * 32 * (2 * 64 * 32 + 3 * 32 * 10)


def timed(seconds: float, ok: bool = True) -> measure.Record:
    """A record of a workload."""
    return {
        "seconds_median": seconds,
        "seconds_min": seconds,
        "first_call_seconds": 1.0,
        "peak_rss_mb": 10.0,
        "ok": ok,
    }


TIMES = {
    ("small_ops", "staticad numpy"): timed(2e-5),
    ("small_ops", "staticad opencl:0"): timed(1.5e-5),
    ("small_ops", "staticad opencl:1"): timed(1e-8, ok=False),
    ("small_ops", "numpy-by-hand"): timed(1e-6),
    ("small_ops", "fast"): timed(1e-5),
    ("small_ops", "wrong"): timed(1e-7, ok=False),
    ("small_ops", "broken"): {"ok": False, "error": "exit status 1"},
    ("pinn", "staticad numpy"): timed(1e-3),
    ("pinn", "numpy-by-hand"): timed(1e-4),
}


def test_table_compares_with_the_best_framework() -> None:
    limits = Limits(product_flops=1e9, special=7.5e8, cache_bytes=1e9, memory_bytes=1e8)
    rows = {row[1]: row for row in table.workload_rows(TIMES, limits) if row[0] == "small_ops"}
    assert rows["staticad numpy"][4:6] == ["2.00", "5.0%"]
    assert rows["fast"][4:6] == ["1.00", "10.0%"]
    assert rows["wrong"][-1] == "WRONG NUMBERS"
    assert rows["broken"][-1] == "exit status 1"


def test_summary_has_each_device_and_the_best_of_them() -> None:
    own = [f"staticad {device}" for device in ("numpy", "opencl:0", "opencl:1")]
    header, rows = table.summary(TIMES, own)
    assert header == ["workload", "best peer", *own, "best of these"]
    # Where nothing can be compared with, times; what is wrong or missing is never the best.
    assert rows == [
        ["small_ops", "fast 10.0 µs", "2.00", "1.50", "-", "1.50 staticad opencl:0"],
        ["pinn", "-", "1.0 ms", "-", "-", "1.0 ms staticad numpy"],
    ]


def test_first_calls_are_of_the_first_round_and_of_later_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = iter([(3.0, 2e-3), (1.0, 1e-3), (1.5, 3e-3)])

    def records(command: list[str], _limit: float) -> list[measure.Record]:
        if "--list" in command:
            return [{"workloads": ["pinn"]}]
        first, median = next(rounds)
        return [{**timed(median), "first_call_seconds": first}]

    monkeypatch.setattr(table, "records", records)
    ((key, record),) = table.best_rounds({"staticad numpy": []}, 1.0, 3, ["pinn"]).items()
    assert key == ("pinn", "staticad numpy")
    assert record["seconds_median"] == 1e-3
    assert (record["first_call_seconds"], record["again_seconds"]) == (3.0, 1.0)


def test_picture_has_a_dot_for_each_right_record() -> None:
    def record(seconds: float, ok: bool = True) -> dict[str, Any]:
        return {"seconds_median": seconds, "ok": ok}

    best = {
        ("pinn", "staticad numpy"): record(3.0),
        ("pinn", "staticad opencl:0"): record(2.0),
        ("pinn", "jax"): record(1.0),
        ("pinn", "tf1"): record(0.5, ok=False),
        ("pinn", "numpy-by-hand"): record(0.25),
        ("hvp", "staticad numpy"): record(1.0),
    }
    found = {"staticad numpy": 3, "staticad opencl:0": 2, "jax": 1, "numpy-by-hand": 0.25}
    assert picture.ratios(best) == {"pinn": found}
    root = ElementTree.fromstring(picture.drawn(best))
    space = "{http://www.w3.org/2000/svg}"
    dots = [c for c in root.iter(f"{space}circle") if c.find(f"{space}title") is not None]
    titles = [dot.findtext(f"{space}title") for dot in dots]
    own = ["staticad numpy: 3.00", "staticad: 2.00"]
    assert sorted(map(str, titles)) == ["jax: 1.00", "numpy-by-hand: 0.25", *own]
    places = [float(dot.attrib["cx"]) for dot in sorted(dots, key=lambda d: d.attrib["cx"])]
    assert places == sorted(places)
    assert len(set(places)) == 4


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is not measured")
@pytest.mark.parametrize("name", ["resnet20_train", "gpt_train"])
def test_growth_of_training_is_what_is_predicted(name: str) -> None:
    found = memory_growth.measured(name)
    # The interpreter's own memory is some megabytes.
    assert abs(found["growth_mb"] - found["predicted_mb"]) < 0.1 * found["predicted_mb"] + 8


def test_loops_are_timed_beside_what_is_unrolled(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "ROUNDS", 1)
    monkeypatch.setattr(loops, "LENGTH", 100)
    loops.lstm()
    loops.overhead()
    printed = capsys.readouterr().out
    fewer = re.search(r"of the loss and its gradients ([\d.]+) x", printed)
    # None of it is a time: the graph is what it is.
    assert fewer is not None
    assert float(fewer[1]) > 20
    assert printed.count("iterations of x + 1") == 2
