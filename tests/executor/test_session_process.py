"""Sessions and the process around them: Ctrl-C as a terminal sends it, and forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import staticad as sad
from staticad_executor.devices.opencl.discovery import found_devices

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

# Trains until it was interrupted often enough, each time as far as it came, and compares with
# a session that nobody interrupts.
INTERRUPTED = """
    import signal
    import numpy as np
    import staticad as sad

    # Where the tests run in the background, their processes are born deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    with sad.Graph(seed=3) as graph:
        x = sad.placeholder("float32", ("n", 64), name="x")
        w = sad.variable(sad.random.normal((64, 64), scale=0.1), name="w")
        noise = sad.random.normal((4096, 64))
        hidden = x
        for _ in range(8):
            hidden = sad.tanh(hidden @ w + noise) * sad.exp(-sad.square(hidden))
        loss = sad.mean(sad.square(hidden))
        train = sad.optimizers.Adam(0.01).minimize(loss)
    data = np.random.default_rng(0).normal(size=(4096, 64)).astype(np.float32)
    session, twin = (sad.Session(graph, threads=2) for _ in range(2))

    def state(of):
        held = of.snapshot()
        return held.run_number, held.step, {k: a.tobytes() for k, a in held.arrays.items()}

    call = session.callable([loss, train], [x])
    call(data)
    interrupts = 0
    print("ready", flush=True)
    while interrupts < 5:
        try:
            while True:
                call(data)
        except KeyboardInterrupt:
            interrupts += 1
            print("interrupted", flush=True)
    for _ in range(session.snapshot().step):
        twin.run([loss, train], {x: data})
    assert state(session) == state(twin)
    assert call(data)[0] == twin.run([loss, train], {x: data})[0]
    print("equal", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT is sent to a process")
def test_ctrl_c_from_outside_changes_nothing_half() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED)],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        for k in range(5):
            time.sleep(0.05 + 0.013 * k)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
        out, err = process.communicate(timeout=120)
    assert (out, err, process.returncode) == ("equal\n", "", 0)


FORKED = """
    import os
    import numpy as np
    import staticad as sad

    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.exp(sad.sin(x) * 2 + 1) * x
    session = sad.Session(graph, "numpy", threads=2)
    data = np.ones(1 << 20, np.float32)
    expected = session.run(y, {x: data})
    assert "2 threads" in session.explain(y)
    child = os.fork()
    same = (session.run(y, {x: data}) == expected).all()
    if child == 0:
        os._exit(0 if same else 1)
    assert same and os.waitpid(child, 0)[1] == 0
    print("equal")
"""


FORKED_DEVICES = """
    import os
    import numpy as np
    import staticad as sad

    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.exp(sad.sin(x) * 2 + 1) * x
    data = np.linspace(0, 1, 1 << 20, dtype=np.float32)
    given = {x: data}
    auto, asked = sad.Session(graph), sad.Session(graph, "opencl")
    expected = auto.run(y, given)
    assert "@opencl" in auto.explain(y) and (asked.run(y, given) == expected).all()
    child = os.fork()
    if child == 0:
        result = auto.run(y, given)
        assert np.allclose(result, expected, rtol=1e-6) and "@opencl" not in auto.explain(y)
        try:
            asked.run(y, given)
        except sad.PlanError as error:
            os._exit(0 if "does not survive a fork" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    print("equal")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.skipif(not found_devices(), reason="no OpenCL platform is installed here")
def test_a_forked_process_has_no_opencl_devices() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED_DEVICES)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("equal\n", "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("equal\n", "", 0)


def model() -> sad.Graph:
    """Dropout, noise drawn inside a body, a schedule, Adam: everything that counts steps."""
    with sad.Graph(seed=11) as graph:
        x = sad.placeholder("float32", ("n", 6), name="x")
        labels = sad.placeholder("int32", ("n",), name="labels")
        noisy = graph.define(
            "noisy", lambda v: v + 0.01 * sad.random.normal((6,)), ("float32", ("n", 6))
        )
        hidden = sad.nn.dropout(sad.nn.dense(noisy(noisy(x)), 16, activation=sad.nn.relu), 0.3)
        loss = sad.nn.cross_entropy(sad.nn.dense(hidden, 3), labels, name="loss")
        rate = sad.optimizers.schedules.cosine(0.05, 100)
        train = sad.optimizers.Adam(rate).minimize(loss)
        graph.signature("train", {"x": x, "labels": labels}, {"loss": loss}, [train])
    return graph


def test_a_saved_step_trains_the_same_bits_where_the_builder_cannot_be_imported(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(7, 32, 6)).astype(np.float32)
    labels = rng.integers(0, 3, (5, 32)).astype(np.int32)
    graph = model()
    graph.save(tmp_path / "step.sad")
    np.save(tmp_path / "x.npy", data)
    np.save(tmp_path / "labels.npy", labels)

    def there(*arguments: str) -> None:
        code = "import sys, runpy; sys.modules['staticad'] = None; sys.argv[0] = 'executor'; "
        code += "runpy.run_module('staticad_executor', run_name='__main__')"
        command = [sys.executable, "-c", code, "run", "step.sad", "--signature=train"]
        command += ["--feed=x=x.npy", "--feed=labels=labels.npy", *arguments]
        subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, check=True, timeout=120)

    there("--steps=120", "--output=first.npz", "--save-checkpoint=120.safetensors")
    there("--steps=30", "--output=second.npz", "--checkpoint=120.safetensors")
    with sad.Session(graph) as session:
        train = graph.signatures["train"]
        call = session.callable(
            [graph.handle(train.outputs["loss"]), *map(graph.effect, train.effects)],
            [graph.handle(v) for v in train.inputs.values()],
        )
        losses = [call(data[k % 7], labels[k % 5])[0] for k in range(120)]
        session.save(tmp_path / "here.safetensors")
        more = [call(data[k % 7], labels[k % 5])[0] for k in range(30)]
    with np.load(tmp_path / "first.npz") as first, np.load(tmp_path / "second.npz") as second:
        assert first["loss"].tobytes() == np.stack(losses).tobytes()
        assert second["loss"].tobytes() == np.stack(more).tobytes()
    saved = (tmp_path / name for name in ("here.safetensors", "120.safetensors"))
    assert len({file.read_bytes() for file in saved}) == 1
    assert len(set(map(float, losses))) == 120
