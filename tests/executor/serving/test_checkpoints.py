"""Training on a server that is killed, has no room, or may not write: what is kept is whole."""

from __future__ import annotations

import os
import random
import resource
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor import Target, connect
from staticad_executor.checkpoint import load

from .graphs import DATA, saved, trainer
from .servers import Server, failing

FEEDS = {"x": DATA}


def arguments(folder: Path, every: float = 3600) -> list[str | Path]:
    return [
        "--listen", f"unix:{folder}/s", "--checkpoints", folder / "kept",
        "--checkpoint-every", str(every),
    ]  # fmt: skip


def files(folder: Path, name: str = "run") -> list[Path]:
    return sorted((folder / "kept" / name).glob("*.safetensors"))


def state(session: sad.Session) -> Any:
    held = session.snapshot()
    return held.run_number, held.step, {name: a.tobytes() for name, a in held.arrays.items()}


def reference(steps: int) -> Any:
    """The state after so many steps, of which none was lost."""
    graph = trainer()
    with sad.Session(graph) as session:
        for _ in range(steps):
            session.run("train", FEEDS)
        return state(session)


def test_a_restarted_server_goes_on_where_it_was(tmp_path: Path) -> None:
    model = saved(tmp_path)
    with Server(model, *arguments(tmp_path)) as server, connect(server.address) as connection:
        with connection.session("train", name="run") as session:
            for _ in range(3):
                session.run("train", FEEDS)
            file, step = connection.checkpoint("run")
            assert (step, files(tmp_path)) == (3, [Path(file)])
            session.run("train", FEEDS)
        assert connection.info().sessions[0].checkpoint_step == 3
        server.kill()
    with Server(model, *arguments(tmp_path)) as server, connect(server.address) as connection:
        server.said(rf"session run can go on from {file}")
        with connection.session("train", name="run") as session:
            assert session.run("count") == 3
            server.said(rf"session run goes on from {file}, step 3")
            (told,) = connection.info().sessions
            assert (told.step, told.resumed_from, told.checkpoint_step) == (3, file, 3)
            session.run("train", FEEDS)
            assert state(session) == reference(4)
        # The end of a server is a reason to write, too.
        assert server.stop() == 0
    assert load(files(tmp_path)[-1]).step == 4


def test_checkpoints_at_intervals_are_few_and_whole(tmp_path: Path) -> None:
    with Server(*arguments(tmp_path, every=0.05)) as server:
        target = Target(server.address, session="run")
        with sad.Session(trainer(), target=target) as session:
            until = time.monotonic() + 1.0
            while time.monotonic() < until:
                session.run("train", FEEDS)
            server.said("is kept")
    kept = files(tmp_path)
    assert 1 <= len(kept) <= 4
    for path in kept:
        assert load(path).step == int(path.stem)


def test_what_does_not_change_is_written_once(tmp_path: Path) -> None:
    with Server(*arguments(tmp_path, every=0.02)) as server:
        target = Target(server.address, session="run")
        with sad.Session(trainer(), target=target) as session:
            session.run("train", FEEDS)
            server.said("is kept")
            time.sleep(0.3)
            before = [path.stat().st_mtime_ns for path in files(tmp_path)]
            time.sleep(0.2)
            assert [path.stat().st_mtime_ns for path in files(tmp_path)] == before
            session.variables["count"] = 17
            server.said("is kept")
            assert load(files(tmp_path)[-1]).arrays["count"] == 17


@pytest.mark.slow
def test_kill_in_thirty_random_places_and_go_on(tmp_path: Path) -> None:
    order = random.Random(5)
    graph = trainer()
    done, kept = 0, 0
    for _ in range(30):
        with Server(*arguments(tmp_path, every=0.004)) as server:
            target = Target(server.address, session="run")
            session = sad.Session(graph, target=target)
            started = int(session.run("count"))
            # Never less than a checkpoint that was told, never more than what was run.
            assert kept <= started <= done
            assert state(session) == reference(started)
            kill = threading.Timer(order.uniform(0.0, 0.12), server.process.kill)
            kill.start()
            done = started
            try:
                while True:
                    # The step that is in progress at the end may have been kept.
                    done += 1
                    session.run("train", FEEDS)
            except sad.ConnectionLostError:
                pass
            kill.join()
            server.process.wait()
            session.close()
        told = [line for line in server.lines if "is kept as" in line]
        kept = int(told[-1].rpartition(" ")[2]) if told else kept
        for path in files(tmp_path):
            load(path)
    assert done > 30


def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path) -> None:
    with Server(*arguments(tmp_path)) as server, connect(server.address) as connection:
        with connection.session(trainer(), name="run") as session:
            for _ in range(2):
                session.run("train", FEEDS)
                connection.checkpoint("run")
        server.kill()
    first, second = files(tmp_path)
    second.write_bytes(second.read_bytes()[:-3])
    half = second.with_name(".half.tmp")
    half.write_bytes(b"begun by a process that was killed")
    with Server(*arguments(tmp_path)) as server, connect(server.address) as connection:
        server.said(f"{second} is passed over")
        with connection.session(trainer(), name="run") as session:
            assert session.run("count") == 1
            assert connection.info().sessions[0].resumed_from == str(first)
            session.run("train", FEEDS)
            connection.checkpoint("run")
    assert not half.exists()
    assert load(second).step == 2


def test_a_checkpoint_of_another_graph_is_told(tmp_path: Path) -> None:
    with Server(*arguments(tmp_path)) as server, connect(server.address) as connection:
        with connection.session(trainer(), name="run") as session:
            session.run("train", FEEDS)
        connection.end("run")
        before = files(tmp_path)[0].read_bytes()
        with (
            connection.session(trainer(width=7), name="run") as other,
            pytest.raises(sad.PlanError, match="does not fit the graph") as raised,
        ):
            other.run("count")
        assert "'w' is float32[6, 4]" in str(raised.value)
    assert files(tmp_path)[0].read_bytes() == before


def test_two_servers_on_one_folder_refuse_each_other(tmp_path: Path) -> None:
    with Server(*arguments(tmp_path)) as server:
        other = tmp_path / "other"
        other.mkdir()
        more = ("--listen", f"unix:{other}/s", "--checkpoints", tmp_path / "kept")
        code, said = failing(*more)
        assert code == 4
        assert "another server uses this folder" in said
        assert f"process {server.process.pid}" in said
        server.kill()
        with Server(*more):
            pass


def test_only_named_sessions_of_a_server_with_a_folder_are_kept(
    tmp_path: Path, unix_server: Server
) -> None:
    with connect(unix_server.address) as connection:
        with connection.session(trainer(), name="unkept") as session:
            session.run("train", FEEDS)
            with pytest.raises(sad.PlanError, match="no checkpoints"):
                connection.checkpoint("unkept")
        with pytest.raises(sad.ExecutionError, match="no such session"):
            connection.checkpoint("none")
        connection.end("unkept")


def limit_files(process: int, size: int) -> None:
    """No file of the process grows beyond that: as a disk that is full."""
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the size of files is limited")
def test_a_full_disk_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    with (
        Server(*arguments(tmp_path)) as server,
        connect(server.address) as connection,
        connection.session(trainer(), name="run") as session,
    ):
        session.run("train", FEEDS)
        connection.checkpoint("run")
        session.run("train", FEEDS)
        limit_files(server.process.pid, 100)
        with pytest.raises(sad.ExecutionError, match="cannot be written") as raised:
            connection.checkpoint("run")
        assert "whole" in str(raised.value)
        assert "File too large" in connection.info().sessions[0].checkpoint_error
        assert [path.stem[-1] for path in files(tmp_path)] == ["1"]
        assert os.listdir(tmp_path / "kept" / "run") == [files(tmp_path)[0].name]
        # Training goes on meanwhile, and is kept when there is room again.
        session.run("train", FEEDS)
        limit_files(server.process.pid, resource.RLIM_INFINITY)
        assert connection.checkpoint("run")[1] == 3
        assert connection.info().sessions[0].checkpoint_error == ""
        assert state(session) == reference(3)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with (
        Server(*arguments(tmp_path)) as server,
        connect(server.address) as connection,
        connection.session(trainer(), name="run") as session,
    ):
        session.run("train", FEEDS)
        # Root may write everywhere, but not in a file as if it were a folder.
        folder = tmp_path / "kept" / "run"
        folder.write_text("in the way")
        with pytest.raises(sad.ExecutionError, match="cannot be written"):
            connection.checkpoint("run")
        folder.unlink()
        connection.checkpoint("run")
        session.run("train", FEEDS)
        if os.geteuid() != 0:
            folder.chmod(0o500)
            with pytest.raises(sad.ExecutionError, match="Permission denied"):
                connection.checkpoint("run")
            folder.chmod(0o700)
        assert connection.checkpoint("run")[1] == 2
    wrong = tmp_path / "file"
    wrong.write_text("")
    assert failing("--listen", f"unix:{tmp_path}/t", "--checkpoints", wrong)[0] == 3


def test_the_interval_goes_on_after_a_failure(tmp_path: Path) -> None:
    with Server(*arguments(tmp_path, every=0.05)) as server:
        folder = tmp_path / "kept" / "run"
        folder.write_text("in the way")
        target = Target(server.address, session="run")
        with sad.Session(trainer(), target=target) as session:
            session.run("train", FEEDS)
            server.said("no checkpoint of session run")
            folder.unlink()
            server.said("is kept")
            assert np.array_equal(load(files(tmp_path)[-1]).arrays["w"], session.variables["w"])
