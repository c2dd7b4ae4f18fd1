"""Servers that tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .inference_clients import Both, network, tensor
from .servers import Server


@pytest.fixture(scope="session")
def unix_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a unix socket."""
    folder: Path = tmp_path_factory.mktemp("s")
    with Server("--listen", f"unix:{folder / 'socket'}") as server:
        yield server


@pytest.fixture(scope="session")
def tcp_server() -> Iterator[Server]:
    """A server on a port of this machine."""
    with Server("--listen", "127.0.0.1:0") as server:
        yield server


@pytest.fixture(params=["local", "process", "unix", "tcp"])
def target(request: pytest.FixtureRequest) -> str | None:
    """Where a session runs."""
    if request.param == "local":
        return None
    if request.param == "process":
        return "process"
    server: Server = request.getfixturevalue(f"{request.param}_server")
    return server.address


@pytest.fixture(scope="session")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    path = tmp_path_factory.mktemp("models") / "net.sad"
    network().save(path)
    with Both(path) as server:
        yield server
        # Whatever it was asked, it answers.
        assert server.http.infer("net", {"inputs": [tensor()]})[0] == 200
