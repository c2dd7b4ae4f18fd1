"""The commands that compare, strip and measure graphs in files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
import staticad_schema
from staticad_executor.__main__ import main
from staticad_executor.commands.bench import PERCENTILES


def trained(folder: Path, name: str = "model.sad", units: int = 3, op: Any = sad.tanh) -> Path:
    """A layer with dropout at a rate, a loop, a loss and Adam's step, with two signatures."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 4), name="x")
        labels = sad.placeholder("int32", ("n",), name="labels")
        w = sad.variable(sad.random.normal((4, units)), name="w")
        shift = sad.variable(sad.zeros(()), name="shift", trainable=False)
        h = op(x @ w, name="h")
        h, _ = sad.scan(lambda c, _: (c * 0.5 + shift.read(), None), h, length=2)
        scores = sad.identity(h, name="scores")
        loss = sad.nn.cross_entropy(scores, labels, name="loss")
        train = sad.optimizers.Adam(0.1).minimize(loss)
        (dw,) = sad.gradients(loss, w)
        graph.signature("serve", {"x": x}, {"scores": scores})
        graph.signature("train", {"x": x, "labels": labels}, {"loss": loss, "dw": dw}, [train])
    graph.save(folder / name)
    return folder / name


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The real command, in a process that cannot find the builder."""
    root = Path(__file__).parents[2]
    path = os.pathsep.join(str(root / folder) for folder in ("schema", "executor"))
    return subprocess.run(
        [sys.executable, "-m", "staticad_executor", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=root / "schema",
        capture_output=True,
        text=True,
        check=False,
    )


# ------------------------------------------------------------------------ strip


def test_strip_keeps_what_inference_needs(tmp_path: Path) -> None:
    model, small = trained(tmp_path), tmp_path / "small.sad"
    full = sad.load(model)
    x = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    with sad.Session(full) as session:
        train = full.effect(full.signatures["train"].effects[0])
        for _ in range(3):
            session.run(train, {"x": x, "labels": [0, 1, 2, 0, 1]})
        expected = session.run("scores", {"x": x})
        session.save(tmp_path / "full.safetensors")
    done = command(
        "strip", model, f"--output={small}", "--signature=serve",
        f"--checkpoint={tmp_path / 'full.safetensors'}",
        f"--save-checkpoint={tmp_path / 'small.safetensors'}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 of 2 (without train) signatures" in done.stdout
    kept = sad.load(small)
    assert list(kept.variable_specs) == ["w", "shift"]
    assert list(kept.signatures) == ["serve"]
    assert not any(n.forward_site or n.definition.effect == "writes" for n in kept.nodes)
    assert len(kept.functions) == 1
    with sad.Session(kept) as session:
        np.testing.assert_array_equal(session.variables["w"], sad.Session(full).variables["w"])
        session.restore(tmp_path / "small.safetensors")
        np.testing.assert_array_equal(session.run("scores", {"x": x}), expected)


def test_strip_drops_effects_and_gradients_of_signatures(tmp_path: Path) -> None:
    model, small = trained(tmp_path), tmp_path / "small.sad"
    assert main(["strip", str(model), f"--output={small}"]) == 0
    kept = staticad_schema.load(small)
    train = kept.signatures["train"]
    assert (list(train.inputs), list(train.outputs), train.effects) == (
        ["x", "labels"],
        ["loss"],
        (),
    )
    assert main(["strip", str(small), f"--output={tmp_path / 'again.sad'}"]) == 0
    assert (tmp_path / "again.sad").read_bytes() == small.read_bytes()


def test_strip_keeps_state_that_inference_writes_and_slopes_that_are_asked_for(
    tmp_path: Path,
) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        state = sad.variable(1.0, name="state")
        energy = x * x * state
        (force,) = sad.gradients(energy, x)
        step = state.assign_add(x)
        graph.signature("next", {"x": x}, {"energy": energy, "state": step}, [step])
        graph.signature("forces", {"x": x}, {"force": force})
    graph.save(tmp_path / "g.sad")
    given = ["strip", str(tmp_path / "g.sad"), f"--output={tmp_path / 's.sad'}"]
    assert main(given) == 0
    kept = staticad_schema.load(tmp_path / "s.sad")
    assert list(kept.signatures) == ["next"]
    assert len(kept.signatures["next"].effects) == 1
    assert not any(node.forward_site for node in kept.nodes)
    assert main([*given, "--signature=forces"]) == 0
    kept = staticad_schema.load(tmp_path / "s.sad")
    assert list(kept.signatures["forces"].outputs) == ["force"]
    assert not any(node.definition.effect == "writes" for node in kept.nodes)


def test_strip_without_signatures_keeps_named_results(tmp_path: Path, capsys: Any) -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        w = sad.variable(1.0, name="w")
        loss = sad.square(x * w, name="loss")
        sad.optimizers.SGD(0.1).minimize(loss)
        sad.variable(2.0, name="alone")
    graph.save(tmp_path / "g.sad")
    assert main(["strip", str(tmp_path / "g.sad"), f"--output={tmp_path / 's.sad'}"]) == 0
    kept = sad.load(tmp_path / "s.sad")
    assert kept["loss"].eval(sad.Session(kept), {"x": 3.0}) == 9.0
    assert list(kept.variable_specs) == ["w"]
    assert "1 of 3 (without SGD/step, alone) variables" in capsys.readouterr().out


def test_strip_says_what_is_wrong(tmp_path: Path, capsys: Any) -> None:
    model, out = trained(tmp_path), f"--output={tmp_path / 'small.sad'}"
    assert main(["strip", str(model), out, "--signature=nope"]) == 4
    assert "no signature 'nope'" in capsys.readouterr().err
    assert main(["strip", str(model), out, "--fetch=nope"]) == 4
    with sad.Graph() as graph:
        w = sad.variable(1.0, name="w")
        sad.gradients(w * w, w)
    graph.save(tmp_path / "only.sad")
    assert main(["strip", str(tmp_path / "only.sad"), out]) == 4
    assert "nothing is left" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["strip", str(model), out, "--checkpoint=a"])
    assert not (tmp_path / "small.sad").exists()


# ------------------------------------------------------------------------ diff


def changes(capsys: Any, old: Path, new: Path) -> list[dict[str, str]]:
    code = main(["diff", str(old), str(new), "--json"])
    found: list[dict[str, str]] = json.loads(capsys.readouterr().out)
    assert code == (1 if found else 0)
    return found


def test_equal_graphs_do_not_differ(tmp_path: Path) -> None:
    first = trained(tmp_path, "a.sad")
    second = trained(tmp_path, "b.sad")
    done = command("diff", first, second)
    assert (done.returncode, done.stdout) == (0, "")


def test_changes_are_named(tmp_path: Path, capsys: Any) -> None:
    first = trained(tmp_path, "a.sad")
    wider = changes(capsys, first, trained(tmp_path, "b.sad", units=5))
    by_name = {(c["kind"], c["name"]): c for c in wider}
    assert by_name["variable", "w"]["detail"] == "float32[4, 3] -> float32[4, 5]"
    assert by_name["node", "h"]["detail"] == "float32[n, 3] -> float32[n, 5]"
    assert ("signature", "serve") in by_name
    other = changes(capsys, first, trained(tmp_path, "c.sad", op=sad.sin))
    (named,) = [c for c in other if c["name"] == "h"]
    assert named == {"change": "changed", "kind": "node", "name": "h", "detail": "tanh -> sin"}
    # What is computed from it is computed as before.
    assert not any(c["name"] in ("scores", "loss") for c in other)


def test_nodes_before_others_do_not_count(tmp_path: Path, capsys: Any) -> None:
    paths = []
    for k in range(2):
        with sad.Graph(seed=0) as graph:
            if k:
                sad.placeholder("float32", (), name="new")
            x = sad.placeholder("float32", (), name="x")
            sad.exp(x * 2.0 if k else x * 3.0, name="y")
        paths.append(tmp_path / f"{k}.sad")
        graph.save(paths[-1])
    found = changes(capsys, *paths)
    assert [(c["change"], c["name"]) for c in found] == [
        ("changed", "y"),
        ("added", "new"),
        ("removed", ""),
        ("added", ""),
    ]
    assert found[0]["detail"] == "computed from something else"
    assert main(["diff", *map(str, paths)]) == 1
    assert "+ node new: placeholder : float32[]" in capsys.readouterr().out


# ------------------------------------------------------------------------ bench


def test_bench_makes_up_what_is_not_fed(tmp_path: Path) -> None:
    model = trained(tmp_path)
    done = command("bench", model, "--signature=train", "--size=n=8", "--runs=20", "--json")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured["feeds"] == {"x": [8, 4], "labels": [8]}
    times = [measured[f"{name}_ms"] for name in ("min", *(f"p{p}" for p in PERCENTILES), "max")]
    assert times == sorted(times)
    assert measured["runs_per_second"] > 0


def test_bench_takes_sizes_from_feeds_and_names_those_it_lacks(tmp_path: Path, capsys: Any) -> None:
    model = trained(tmp_path)
    np.save(tmp_path / "x.npy", np.ones((6, 4), np.float32))
    arguments = ["bench", str(model), "--fetch=loss", "--runs=4", "--concurrency=2"]
    assert main([*arguments, f"--feed=x={tmp_path / 'x.npy'}"]) == 0
    out = capsys.readouterr().out
    assert "fed labels int32 (6,)" in out
    assert "runs/s, 2 at a time" in out
    assert main(arguments) == 4
    assert "--size n=N" in capsys.readouterr().err


# ------------------------------------------------------------------------ info


def test_info_tells_what_runs_take_once_sizes_are_known(tmp_path: Path, capsys: Any) -> None:
    model = trained(tmp_path)
    assert main(["info", str(model), "--json"]) == 0
    costs = json.loads(capsys.readouterr().out)["costs"]
    assert costs["serve"] == {"operations": None, "memory": None, "unknown_sizes": ["n"]}
    found = []
    for n in (8, 16):
        assert main(["info", str(model), "--json", f"--size=n={n}"]) == 0
        found.append(json.loads(capsys.readouterr().out)["costs"])
    small, large = found
    for name in ("serve", "train"):
        assert small[name]["operations"] < large[name]["operations"]
        assert small[name]["memory"]["peak_bytes"] < large[name]["memory"]["peak_bytes"]
    assert small["serve"]["operations"] < small["train"]["operations"]
    assert main(["info", str(model), "--size=n=8"]) == 0
    operations = small["serve"]["operations"]
    assert f"serve  {operations:,} operations, " in capsys.readouterr().out


@pytest.mark.parametrize("length", [1, 10])
def test_operations_of_loops_and_products_are_those_of_theory(
    length: int, tmp_path: Path, capsys: Any
) -> None:
    n = 50
    with sad.Graph() as graph:
        a = sad.placeholder("float32", (n, n), name="a")
        sad.scan(lambda c, _: (c @ a, None), a, length=length, name="power")
        graph.signature("power", {"a": a}, {"p": graph["power"]})
    graph.save(tmp_path / "g.sad")
    assert main(["info", str(tmp_path / "g.sad"), "--json"]) == 0
    counted = json.loads(capsys.readouterr().out)["costs"]["power"]["operations"]
    product = length * 2 * n**3
    assert product <= counted <= product + (length + 1) * 6 * n**2


def test_a_choice_counts_its_costliest_branch(tmp_path: Path, capsys: Any) -> None:
    counts = []
    for inner in (1, 2):
        with sad.Graph() as graph:
            a = sad.placeholder("float32", (30, 30), name="a")

            def power(x: Any, inner: int = inner) -> Any:
                for _ in range(inner):
                    x = x @ x
                return x

            y = sad.cond(sad.sum(a) > 0, power, lambda x: x, a)
            graph.signature("choice", {"a": a}, {"y": y})
        graph.save(tmp_path / "g.sad")
        assert main(["info", str(tmp_path / "g.sad"), "--json"]) == 0
        counts.append(json.loads(capsys.readouterr().out)["costs"]["choice"]["operations"])
    assert 2 * 30**3 <= counts[1] - counts[0] <= 2 * 30**3 + 3 * 30**2
