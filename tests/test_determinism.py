"""Two processes of one program write the same bytes, whatever order Python gives to sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

PROGRAM = """
import sys
import numpy as np
import staticad as sad
from models import mlp
from staticad_schema.text import to_text

folder = sys.argv[1]
graph = mlp.build(seed=3)
with graph:
    # Named sizes in many places, several gradients, forward mode, bodies, scopes, constants.
    a = sad.placeholder("float64", ("rows", "columns", None), name="a")
    b = sad.placeholder("float64", ("columns", "more"), name="b")
    joined = sad.concat([sad.reshape(a, (-1,)), sad.reshape(b, (-1,))])
    with sad.scope("scope"):
        noise = sad.random.normal(joined.shape, dtype="float64")
        y = sad.logsumexp(sad.sin(joined) * noise + sad.constant(np.linspace(0, 1, 3))[0])
    first = sad.gradients(y, [a, b])
    second = sad.gradients([sad.sum(g) for g in first], [a, b])
    forward = sad.jvp(y, [a, b])
    body = graph.define("body", lambda x: x * sad.random.uniform(x.shape, dtype=x.dtype), a)
    total = sad.add(body(a)[0, 0, 0], forward[0] + sum(sad.sum(g) for g in second), name="total")
graph.save(f"{folder}/graph.sad")
open(f"{folder}/graph.txt", "w").write(to_text(graph))
rng = np.random.default_rng(0)
images, labels = rng.random((16, 784), np.float32), np.arange(16) % 10
feeds = {"a": rng.random((2, 3, 4)), "b": rng.random((3, 5))}
train = graph.signatures["train"]
with sad.Session(graph) as session:
    step = [graph.handle(v) for v in train.outputs.values()]
    effects = [graph.effect(e) for e in train.effects]
    by_key = {"images": images, "labels": labels.astype(np.int32)}
    given = {graph.handle(v): by_key[key] for key, v in train.inputs.items()}
    for _ in range(3):
        session.run([step, effects, total], {**given, **feeds})
    session.save(f"{folder}/checkpoint.safetensors")
    text = session.explain([step, effects, total])
open(f"{folder}/plan.txt", "w").write(text)
"""


def written(folder: Path, seed: str) -> dict[str, bytes]:
    folder.mkdir()
    path = os.pathsep.join(str(ROOT / part) for part in (".", "schema", "executor"))
    program = folder.parent / "program.py"
    program.write_text(PROGRAM)
    subprocess.run(
        [sys.executable, str(program), str(folder)],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
        check=True,
    )
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_what_is_written_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    first = written(tmp_path / "a", "0")
    assert {"graph.sad", "graph.txt", "plan.txt", "checkpoint.safetensors"} <= set(first)
    for seed in ("1", "4242"):
        other = written(tmp_path / seed, seed)
        assert other.keys() == first.keys()
        for name in first:
            assert other[name] == first[name], name
