"""Clients that never saw a graph's code, private servers, and what each imports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import staticad as sad
from staticad_executor import Target, connect
from staticad_executor.serving.remote import Remote

from .graphs import DATA, saved, trainer
from .servers import ENVIRONMENT, Server

ROOT = Path(__file__).parents[3]


def run_python(code: str, *arguments: str | Path) -> str:
    """What an interpreter without the builder prints."""
    path = os.pathsep.join(str(ROOT / folder) for folder in ("schema", "executor"))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        env={**ENVIRONMENT, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
        cwd=ROOT / "docs",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


CLIENT = """
import sys
import numpy as np
import staticad_executor

with staticad_executor.connect(sys.argv[1]) as server:
    with server.session("train", name="there") as session:
        for _ in range(3):
            loss, _ = session.run(["loss", "train"], {"x": np.ones((8, 6), np.float32)})
        print(session.run("count"))
assert "staticad" not in sys.modules
print(sorted({"scipy", "pyopencl", "matplotlib", "tqdm"} & set(sys.modules)))
"""


def test_a_client_needs_no_builder(tmp_path: Path) -> None:
    with Server(saved(tmp_path), "--listen", f"unix:{tmp_path}/s") as server:
        assert run_python(CLIENT, server.address) == "3\n[]\n"
        # A session with a name goes on without its client.
        assert run_python(CLIENT, server.address) == "6\n[]\n"
        with connect(server.address) as connection:
            (session,) = connection.info().sessions
            assert (session.name, session.step, session.checkpoint_step) == ("there", 6, None)
            connection.end("there")
            assert connection.info().sessions == ()


def test_models_are_offered_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    saved(folder, "first")
    saved(folder, "second")
    single = saved(tmp_path, "third")
    with (
        Server(single, "--models", folder, "--listen", "127.0.0.1:0") as server,
        connect(server.address) as connection,
    ):
        info = connection.info()
        assert info.models == ("first", "second", "third")
        assert info.limits["sessions"] == 64
        graph = connection.graph("second")
        assert [n.op for n in graph.nodes] == [n.op for n in trainer().nodes]
        for name in ("secnd", "../third", "/etc/passwd", "", "first.sad", "a" * 10_000):
            with pytest.raises(sad.StaticadError, match="no model") as raised:
                connection.graph(name)
            assert isinstance(raised.value, KeyError)
        assert "did you mean" in str(_error(lambda: connection.graph("secnd")))


def _error(call: object) -> BaseException:
    assert callable(call)
    with pytest.raises(sad.StaticadError) as raised:
        call()
    return raised.value


def test_a_named_session_is_joined_by_whoever_names_it(unix_server: Server) -> None:
    graph = trainer()
    target = Target(unix_server.address, session="joined")
    with sad.Session(graph, target=target) as first, sad.Session(graph, target=target) as second:
        first.run("train", {"x": DATA})
        second.run("train", {"x": DATA})
        assert first.run("count") == 2
    with sad.Session(trainer(), target=target) as third:
        assert third.run("count") == 2
    with connect(target) as connection:
        connection.end("joined")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("localhost", "no address"), ("host:port", "no address"), ("unix:", "no address"),
        ("tcp://host:80", "no address"), (":80", "no address"), ("host:99999", "no address"),
        ("host:²", "no address"), ("", "no address"), (7, "no target"), (b"process", "no target"),
    ],
)  # fmt: skip
def test_addresses_that_are_none(address: object, words: str) -> None:
    with pytest.raises(sad.PlanError, match=words):
        sad.Session(trainer(), target=address)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["../x", ".x", "-x", "a/b", "a b", "ü", "x" * 101, "a\n"])
def test_names_that_sessions_cannot_have(name: str) -> None:
    with pytest.raises(sad.PlanError, match="no session can have this name"):
        Target("process", session=name)


def test_a_private_process_is_no_server() -> None:
    with pytest.raises(sad.PlanError, match=r"Session\(graph, target='process'\)"):
        connect("process")


def test_a_client_may_leave_without_a_word(unix_server: Server) -> None:
    code = (
        "import sys; from tests.executor.serving.graphs import trainer; import staticad as sad; "
        "session = sad.Session(trainer(), target=sys.argv[1]); print(session.run('count'))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, unix_server.address], env=ENVIRONMENT, cwd=ROOT,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_nobody_there(tmp_path: Path) -> None:
    for address in (f"unix:{tmp_path}/none", "127.0.0.1:1"):
        with pytest.raises(sad.ConnectionLostError, match="cannot be reached"):
            connect(address)
        with pytest.raises(sad.ConnectionLostError) as raised:
            sad.Session(trainer(), target=address)
        assert "test_connection.py" in str(raised.value)


def test_a_server_that_dies_is_told(tmp_path: Path) -> None:
    with Server("--listen", f"unix:{tmp_path}/s") as server:
        session = sad.Session(trainer(), target=server.address)
        session.run("train", {"x": DATA})
        server.kill()
        with pytest.raises(sad.ConnectionLostError, match="cannot be reached"):
            session.run("train", {"x": DATA})
        session.close()


# ------------------------------------------------------------------ private servers


def child_of(session: sad.Session) -> int:
    runner = session._runner
    assert isinstance(runner, Remote)
    child = runner._channel.child
    assert child is not None
    return child.process.pid


def is_gone(process: int, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


linux = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processes are looked up")


@linux
def test_a_private_server_ends_with_its_session() -> None:
    with sad.Session(trainer(), target="process") as session:
        child = child_of(session)
        session.run("train", {"x": DATA})
    assert is_gone(child)


PARENT = """
import sys, time
import numpy as np
import staticad as sad
from tests.executor.serving.graphs import endless, trainer
from tests.executor.serving.test_connection import child_of

graph, long, add = endless()
session = sad.Session(graph, target="process")
session.run(add)
runner = session._runner
print(child_of(session), runner._channel.address, flush=True)
if sys.argv[1] == "busy":
    session.run(long)
time.sleep(100)
"""


@linux
@pytest.mark.parametrize("what", ["idle", "busy"])
def test_a_private_server_ends_with_a_parent_that_is_killed(what: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, what], env=ENVIRONMENT, cwd=ROOT,
        stdout=subprocess.PIPE, text=True,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        child, address = parent.stdout.readline().split()
        if what == "busy":
            time.sleep(0.3)
        parent.kill()
    assert is_gone(int(child))
    assert not Path(address.removeprefix("unix:")).exists()


def test_a_session_that_nobody_closes_takes_its_server_along() -> None:
    code = (
        "import sys; from tests.executor.serving.graphs import trainer; import staticad as sad; "
        "session = sad.Session(trainer(), target='process'); print(session.run('count'))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=ENVIRONMENT, cwd=ROOT,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_results_of_a_session_outlive_it() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = x * 2
    with sad.Session(graph, target="process") as session:
        found = session.run(y, {"x": np.ones(1_000_000, np.float32)})
    assert found.sum() == 2_000_000
