"""Sessions and the process around them: Ctrl-C as a terminal sends it, and forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

# Trains until it was interrupted often enough, each time as far as it came, and compares with
# a session that nobody interrupts.
INTERRUPTED = """
    import numpy as np
    import staticad as sad

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
    session = sad.Session(graph, threads=2)
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("equal\n", "", 0)
