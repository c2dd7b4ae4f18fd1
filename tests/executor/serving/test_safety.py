"""What a server refuses: callers, addresses, and too much of anything; and how it ends."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor import Target, connect

from .graphs import DATA, endless, saved, trainer
from .servers import ENVIRONMENT, Server, failing
from .test_connection import ROOT

# ------------------------------------------------------------------ who gets in


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:80"])
def test_a_public_address_needs_callers_who_show_something(address: str) -> None:
    code, said = failing("--listen", address)
    assert code == 4
    assert "anybody could run graphs on this machine" in said
    assert "--token-file" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("--listen", "process"), ("--listen", "nowhere"), ("--listen", "host:99999"),
        ("--listen", "127.0.0.1:0", "--http", "unix:/tmp/none"),
        ("--listen", "127.0.0.1:0", "--http", "process"),
        ("--listen", "127.0.0.1:0", "--http", "0.0.0.0:0"),
    ],
)  # fmt: skip
def test_where_no_server_listens(arguments: tuple[str, ...]) -> None:
    code, said = failing(*arguments)
    assert code == 4
    assert said.startswith("error: serve --")
    assert "Traceback" not in said


def test_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "token"
    secret.write_text("open sesame\n")
    with Server("--listen", "0.0.0.0:0", "--token-file", secret) as server:
        address = server.address.replace("0.0.0.0", "127.0.0.1")
        for wrong in (None, "", "open", "open sesame!"):
            with pytest.raises(sad.AccessError):
                connect(Target(address, token=wrong))
        with pytest.raises(sad.PlanError, match="no token"):
            connect(Target(address, token="é"))
        with pytest.raises(sad.AccessError, match="does not let this caller in") as raised:
            sad.Session(trainer(), target=address)
        assert "STATICAD_TOKEN" in str(raised.value)
        target = Target(address, token="open sesame")
        assert "sesame" not in repr(target)
        with sad.Session(trainer(), target=target) as session:
            session.run("train", {"x": DATA})
        monkeypatch.setenv("STATICAD_TOKEN", "open sesame")
        with connect(address) as connection:
            assert connection.info().models == ()
    secret.write_text("\n")
    assert "no token" in failing("--listen", "127.0.0.1:0", "--token-file", secret)[1]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl")
def test_certificates(tmp_path: Path) -> None:
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=tmp_path, check=True, capture_output=True)

    names = tmp_path / "names"
    names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for authority in ("ca", "stranger"):
        openssl(
            *("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=" + authority).split(),
            "-keyout", f"{authority}.key", "-out", f"{authority}.crt",
        )  # fmt: skip
    for name, authority in (("server", "ca"), ("client", "ca"), ("other", "stranger")):
        openssl(
            *f"req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}.key".split(),
            "-out", f"{name}.csr",
        )  # fmt: skip
        openssl(
            *f"x509 -req -days 2 -in {name}.csr -CA {authority}.crt -CAkey {authority}.key".split(),
            *f"-CAcreateserial -extfile names -out {name}.crt".split(),
        )
    shown = ("--certificate", tmp_path / "server.crt", "--key", tmp_path / "server.key")
    with Server("--listen", "0.0.0.0:0", *shown, "--client-ca", tmp_path / "ca.crt") as server:
        address = "localhost:" + server.address.rpartition(":")[2]
        files = {name: str(tmp_path / name) for name in os.listdir(tmp_path)}
        target = Target(
            address, ca=files["ca.crt"], certificate=files["client.crt"], key=files["client.key"]
        )
        with sad.Session(trainer(), target=target) as session:
            session.run("train", {"x": DATA})
        for wrong in (
            Target(address),
            Target(address, ca=files["ca.crt"]),
            Target(address, ca=files["ca.crt"], certificate=files["other.crt"],
                   key=files["other.key"]),
            Target(address, ca=files["stranger.crt"], certificate=files["client.crt"],
                   key=files["client.key"]),
        ):  # fmt: skip
            with pytest.raises(sad.ConnectionLostError):
                connect(wrong)
    code, said = failing("--listen", "0.0.0.0:0", "--client-ca", tmp_path / "ca.crt")
    assert (code, "only over TLS" in said) == (4, True)


def test_a_socket_is_its_users_and_one_servers(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with Server("--listen", f"unix:{path}") as server:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        code, said = failing("--listen", f"unix:{path}")
        assert (code, "another server listens there" in said) == (4, True)
        server.kill()
        # What a killed server has left is no obstacle.
        assert path.exists()
        with Server("--listen", f"unix:{path}") as second:
            assert second.stop() == 0
        assert not path.exists()
    path.write_text("a letter")
    code, said = failing("--listen", f"unix:{path}")
    assert (code, "no socket" in said) == (4, True)
    assert path.read_text() == "a letter"


def test_a_port_is_one_servers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = failing("--listen", f"127.0.0.1:{port}")
    assert (code, "cannot listen there" in said) == (4, True)


# ------------------------------------------------------------------ how much


def refused(call: Callable[[], object], words: str) -> sad.LimitError:
    with pytest.raises(sad.LimitError, match=words) as raised:
        call()
    return raised.value


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Server]:
    """A server that allows little."""
    limits = {
        "sessions": 3, "call-bytes": 100_000, "graph-nodes": 200, "graph-bytes": 40_000,
        "run-seconds": 0.5, "concurrency": 1, "queue": 1, "shared-bytes": 1 << 20,
    }  # fmt: skip
    arguments = [text for name, n in limits.items() for text in (f"--max-{name}", str(n))]
    with Server("--listen", f"unix:{tmp_path}/s", *arguments) as server:
        yield server


def test_limits(strict: Server) -> None:
    graph = trainer()
    sessions = [sad.Session(graph, target=strict.address) for _ in range(3)]
    refused(lambda: sad.Session(graph, target=strict.address), "too many sessions")
    sessions.pop().close()
    first, second = sessions
    refused(lambda: first.run("loss", {"x": np.ones((5000, 6), np.float32)}), "too large")
    with sad.Graph() as chain:
        y = sad.placeholder("float32", ())
        for _ in range(300):
            y = y + 1
    with sad.Session(chain, target=strict.address) as session:
        refused(lambda: session.explain(y), "too many nodes in a graph")
    with sad.Graph() as heavy:
        ys = [sad.constant(np.arange(k, k + 10_000, dtype=np.float32)) for k in range(2)]
    with sad.Session(heavy, target=strict.address) as session:
        refused(lambda: session.explain(ys), "too many bytes of a graph")
    assert first.run(["count", "train"], {"x": DATA})[0] == 0
    assert first.run("count") == 1
    first.close()
    second.close()


def test_a_run_that_takes_too_long(strict: Server) -> None:
    graph, long, add = endless()
    with sad.Session(graph, target=strict.address) as session:
        session.run(add)
        found = refused(lambda: session.run([long, add]), "took too long")
        assert "0.5 s" in str(found)
        assert session.run(add).tolist() == [2] * 4


def test_runs_wait_and_not_too_many(tmp_path: Path) -> None:
    graph, long, add = endless()
    arguments = ("--max-concurrency", "1", "--max-queue", "1", "--listen", f"unix:{tmp_path}/s")
    with Server(*arguments) as server:
        first, second, third = (sad.Session(graph, target=server.address) for _ in range(3))
        ended: list[type[BaseException]] = []

        def run_long() -> None:
            try:
                first.run(long)
            except sad.StaticadError as error:
                ended.append(type(error))

        waited: list[Any] = []
        threads = [
            threading.Thread(target=run_long),
            threading.Thread(target=lambda: waited.append(second.run(add))),
        ]
        for thread in threads:
            thread.start()
            time.sleep(0.3)
        refused(lambda: third.run(add), "too many runs wait")
        assert waited == []
        first.cancel()
        for thread in threads:
            thread.join()
        assert ended == [sad.CancelledError]
        assert waited[0].tolist() == [1] * 4
        for session in (first, second, third):
            session.close()


CLIENT = """
import sys
import staticad as sad
from tests.executor.serving.graphs import endless

graph, long, add = endless()
session = sad.Session(graph, target=sys.argv[1])
session.run(add)
print("ready", flush=True)
session.run(long)
"""


def test_a_client_that_disconnects_frees_its_run_and_its_session(tmp_path: Path) -> None:
    arguments = ("--max-concurrency", "1", "--max-sessions", "1", "--listen", f"unix:{tmp_path}/s")
    graph, _, add = endless()
    with Server(*arguments) as server:
        for _ in range(2):
            with subprocess.Popen(
                [sys.executable, "-c", CLIENT, server.address],
                env=ENVIRONMENT, cwd=ROOT, stdout=subprocess.PIPE, text=True,
            ) as client:  # fmt: skip
                assert client.stdout is not None
                assert client.stdout.readline() == "ready\n"
                time.sleep(0.2)
                client.kill()
            until = time.monotonic() + 20
            while True:
                try:
                    with sad.Session(graph, target=server.address) as session:
                        assert session.run(add).tolist() == [1] * 4
                    break
                except sad.LimitError:
                    assert time.monotonic() < until
                    time.sleep(0.05)


def resident_bytes(process: int) -> int:
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is looked up")
def test_sessions_opened_and_closed_leave_memory_flat(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        v = sad.variable(np.ones(500_000, np.float32), name="v")
        add = v.assign_add(x)
    fed = np.ones(500_000, np.float32)

    def use() -> None:
        with sad.Session(graph, target=server.address) as session:
            assert session.run(add, {x: fed})[0] == 2

    with Server("--listen", f"unix:{tmp_path}/s") as server:
        for _ in range(24):
            use()
        before = resident_bytes(server.process.pid), descriptors(server.process.pid)
        for _ in range(24):
            use()
        after = resident_bytes(server.process.pid), descriptors(server.process.pid)
    # Each session holds 12 MB while it is open.
    assert after[0] - before[0] < 6_000_000
    assert after[1] <= before[1] + 2


def descriptors(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


# ------------------------------------------------------------------ the end


def test_a_server_lets_runs_end_before_it_does(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        long = sad.while_loop(lambda t: t < 30_000.0, lambda t: t + 1, x)
    with Server(saved(tmp_path), "--listen", f"unix:{tmp_path}/s") as server:
        session = sad.Session(graph, target=server.address)
        session.run(long, {x: 29_999})
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(session.run(long, {x: 0})))
        thread.start()
        time.sleep(0.05)
        assert server.stop() == 0
        thread.join()
        assert found == [30_000]
        session.close()
    assert any("stopping" in line for line in server.lines)


def test_the_log_is_json_where_that_is_asked_for(tmp_path: Path) -> None:
    server = Server("--listen", f"unix:{tmp_path}/s", "--log", "json")
    with server:
        assert server.stop() == 0
    assert all(line.startswith("{") and '"level": "info"' in line for line in server.lines)
