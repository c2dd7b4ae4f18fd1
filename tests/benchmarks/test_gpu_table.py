"""The table of `gpu_check.sh` says what was measured, and what failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import gpu_table


def written(folder: Path, name: str, *records: dict[str, object]) -> None:
    """Leave records as a step does."""
    text = "".join(json.dumps(record) + "\n" for record in records)
    (folder / name).write_text(text, encoding="utf-8")


def test_table_has_steps_kernels_and_workloads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [("tests", "8", "ok"), ("more_tests", "50", "over 50 s"), ("kernels", "9", "ok")]
    text = "".join("\t".join(step) + "\n" for step in steps)
    (tmp_path / "steps.tsv").write_text(text, encoding="utf-8")
    (tmp_path / "tests.log").write_text("....  [100%]\n4 passed in 7.95s\n", encoding="utf-8")
    (tmp_path / "more_tests.log").write_text("...F. [ 10%]\n..", encoding="utf-8")
    (tmp_path / "kernels.log").write_text("", encoding="utf-8")
    kernel = {
        "part": "roofline", "kernel": "add 8 8", "seconds": 1e-3, "numpy_seconds": 4e-3, "ok": True,
        "gb_per_s": 5.0, "gflop_per_s": 0.0, "of_limit": 0.5, "told": "",
    }  # fmt: skip
    broken = {"part": "roofline", "kernel": "sort 8", "ok": False, "told": "ValueError: no"}
    written(tmp_path, "kernels.jsonl", kernel, broken)
    timed = {"workload": "pinn", "ok": True}
    written(
        tmp_path,
        "workloads.jsonl",
        {"peer": "staticad opencl:gpu", "seconds_median": 1e-3, **timed},
        {"peer": "staticad numpy", "seconds_median": 1e-2, **timed},
    )
    assert gpu_table.main(tmp_path) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    rows = {
        cells[0]: cells for line in lines if (cells := [c.strip() for c in line.split("|")[1:]])
    }
    assert rows["tests"][-2] == "ok, 4 passed"
    assert rows["more_tests"][-2] == "over 50 s, 6 passed and 1 failed until then"
    assert rows["add 8 8"][1:7] == ["1.0 ms", "4.0 ms", "4.0", "5.0", "-", "50.0%"]
    assert rows["sort 8"][-2] == "ValueError: no"
    assert rows["pinn"][1:4] == ["1.0 ms", "10.0 ms", "10.0"]
    assert last == "failed: more_tests, sort 8"
