"""The linter: each rule finds its pattern with the user's line, and nothing beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.__main__ import main
from staticad.linting import RULES


def squares_of_mask(x: Any, mask: Any) -> Any:
    return sad.sum(x) / sad.sum(sad.astype(mask, "float32"))


FOUND: dict[str, list[Callable[[Any, Any], Any]]] = {
    "float64-creep": [
        lambda x, m: x * np.ones(4),
        lambda x, m: sad.where(m, x, np.zeros(4)),
    ],
    "log-of-softmax": [
        lambda x, m: sad.log(sad.nn.softmax(x)),
        lambda x, m: sad.log(sad.reshape(sad.nn.sigmoid(x), (-1,))),
    ],
    "sum-of-exp": [
        lambda x, m: sad.log(sad.sum(sad.exp(x), axis=1)),
        lambda x, m: sad.exp(x) / sad.sum(sad.exp(x), axis=1, keepdims=True),
    ],
    "lost-digits": [
        lambda x, m: sad.log(1 + x),
        lambda x, m: sad.log(sad.exp(x) + 1),
        lambda x, m: sad.exp(x) - 1,
    ],
    "sqrt-at-zero": [
        lambda x, m: sad.sqrt(sad.sum(x**2)),
        lambda x, m: sad.sum(x * x) ** 0.5,
        lambda x, m: sad.sqrt(sad.mean(sad.square(x))),
    ],
    "division-by-count": [
        lambda x, m: sad.sum(x) / sad.sum(m),
        lambda x, m: sad.sum(x) / sad.count_nonzero(m),
        squares_of_mask,
    ],
}
CLEAN: list[Callable[[Any, Any], Any]] = [
    lambda x, m: sad.nn.log_softmax(x),
    lambda x, m: sad.logsumexp(x),
    lambda x, m: sad.log1p(x) + sad.expm1(x) + sad.log(2 + x),
    lambda x, m: sad.linalg.norm(x) + sad.std(x),
    lambda x, m: sad.sqrt(sad.sum(x * x) + 1e-6),
    lambda x, m: sad.sum(x) / sad.maximum(sad.sum(m), 1),
    lambda x, m: sad.mean(x),
    lambda x, m: sad.sum(sad.astype(x, "float64")),
    lambda x, m: x * np.ones(4, np.float32) * 2.5,
]


def built(make: Callable[[Any, Any], Any]) -> sad.Graph:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 4), name="x")
        mask = sad.placeholder("bool", ("n", 4), name="mask")
        made = make(x, mask)
        used = sad.sum(sad.where(mask, x, 1.0))
        sad.gradients([sad.sum(made), used], x)
    return graph


@pytest.mark.parametrize(
    ("rule", "make"), [(rule, make) for rule, makes in FOUND.items() for make in makes]
)
def test_patterns_are_found_with_the_line(rule: str, make: Callable[[Any, Any], Any]) -> None:
    (found,) = sad.lint(built(make))
    assert found.rule == rule
    assert found.site is not None
    assert found.site.file.endswith("test_linting.py")
    assert str(found).startswith(f"{found.site}: {rule}: ")
    assert sad.lint(built(make), rules=[f"-{rule}"]) == ()


@pytest.mark.parametrize("make", CLEAN)
def test_what_is_right_is_left_alone(make: Callable[[Any, Any], Any]) -> None:
    assert sad.lint(built(make)) == ()


def test_what_is_declared_and_unused() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        sad.placeholder("float32", (), name="dead")
        sad.variable(sad.zeros(3), name="unused")
        written = sad.variable(0.0, name="written")
        written.assign(x)
        counted = sad.variable(0.0, name="counted")
        counted.assign_add(x)
        inner = sad.variable(1.0, name="inner")
        y, _ = sad.scan(lambda c, _: (c * inner.read(), c), x, length=3)
        other = sad.placeholder("float32", (), name="other")
        z = sad.exp(other)
        graph.signature("serve", {"x": x, "other": other}, {"y": y})
        graph.signature("both", {"x": x, "other": other}, {"y": y, "z": z})
    found = [(f.rule, f.node) for f in sad.lint(graph)]
    assert found == [
        ("dead-feed", "dead"),
        ("unused-variable", "unused"),
        ("unused-variable", "written"),
        ("dead-feed", "other"),
    ]


def test_randomness_without_a_seed_is_found_in_files_too(tmp_path: Path) -> None:
    for seed, expected in ((None, ["unseeded-randomness"]), (2**31, [])):
        with sad.Graph(seed=seed) as graph:
            sad.random.normal((3,), name="noise")
            sad.random.normal((3,), name="more")
        graph.save(tmp_path / "g.sad")
        for seen in (graph, sad.load(tmp_path / "g.sad")):
            assert [f.rule for f in sad.lint(seen)] == expected


def test_bodies_are_looked_at_and_lines_named_once() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (4,), name="x")
        sad.scan(lambda c, z: (c + sad.log(sad.nn.softmax(x * z))[0], c), 0.0, x)
        for _ in range(5):
            sad.log(sad.nn.softmax(x))
    (outside, inside) = sad.lint(graph)
    assert (outside.body, inside.body) == ("", "scan/body")


def test_what_is_no_graph_and_no_rule_is_refused() -> None:
    with pytest.raises(sad.UsageError, match="not a graph"):
        sad.lint("file.sad")
    with pytest.raises(sad.ArgumentError, match="log-of-softmax"):
        sad.lint(sad.Graph(), rules=["log-of-softmaxx"])


def test_every_rule_is_documented() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "linting.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"| `{rule}` |" not in page] == []


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    bad, good = tmp_path / "bad.sad", tmp_path / "good.sad"
    built(lambda x, m: sad.log(sad.nn.softmax(x))).save(bad)
    built(lambda x, m: x).save(good)
    assert main(["lint", str(good)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["lint", str(good), str(bad)]) == 1
    assert "log-of-softmax" in capsys.readouterr().out
    assert main(["lint", str(bad), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)[str(bad)]
    assert found["rule"] == "log-of-softmax"
    assert found["file"].endswith("test_linting.py")
    assert main(["lint", str(bad), "--rules=-log-of-softmax"]) == 0
    assert main(["lint", str(bad), "--rules=dead-feed,float64-creep"]) == 0
    assert main(["lint", str(tmp_path / "none.sad")]) == 3
    with pytest.raises(SystemExit) as stopped:
        main(["lint", str(bad), "--rules=nope"])
    assert stopped.value.code == 2


def test_the_command_as_a_process(tmp_path: Path) -> None:
    built(lambda x, m: sad.exp(x) - 1).save(tmp_path / "bad.sad")
    done = subprocess.run(
        [sys.executable, "-m", "staticad", "lint", str(tmp_path / "bad.sad")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "lost-digits" in done.stdout
