"""What a client that never saw a graph's code does with a server."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple, Self

from staticad_schema import run_pb2 as pb
from staticad_schema.graph import Graph
from staticad_schema.sites import asking

from ..address import Target
from ..session import Session
from .channel import Channel
from .exchange import Exchange
from .graphs import entry, unpacked


class SessionInfo(NamedTuple):
    """A named session of a server.

    step: runs that wrote.  checkpoint_step: of the newest complete checkpoint, None without one.
    resumed_from: the file that it went on from, "" for none.  checkpoint_error: why the last
    attempt to write one failed.
    """

    name: str
    step: int
    checkpoint_step: int | None
    resumed_from: str
    checkpoint_error: str


class Info(NamedTuple):
    """A server: its release, the newest file format it reads, the names of its graphs, its named
    sessions, and its limits."""

    version: str
    format: int
    models: tuple[str, ...]
    sessions: tuple[SessionInfo, ...]
    limits: dict[str, int]


class Connection:
    """A server that graphs run on; a context manager."""

    def __init__(self, target: Target) -> None:
        """Raises AccessError, ConnectionLostError."""
        self.target = target
        with asking("connect", keeps=True):
            self._channel = Channel(target)
            try:
                self.info()
            except BaseException:
                self._channel.close()
                raise

    def info(self) -> Info:
        """What the server is, serves and allows."""
        with asking("info", keeps=True):
            told = self._channel.ask(self._channel.stub.info, pb.InfoRequest(), "info")
            sessions = [
                SessionInfo(
                    session.name,
                    session.step,
                    session.checkpoint_step if session.HasField("checkpoint_step") else None,
                    session.resumed_from,
                    session.checkpoint_error,
                )
                for session in told.sessions
            ]
            return Info(
                told.version, told.format, tuple(told.models), tuple(sessions), dict(told.limits)
            )

    def graph(self, model: str) -> Graph:
        """A graph that the server offers.  Raises UnknownFetchError."""
        with asking(f"graph {model!r}", keeps=True):
            lease, opened = self._channel.begin(
                self._channel.stub.open, pb.OpenRequest(rewrites=["exact"]), "graph"
            )
            try:
                exchange = Exchange(self._channel, opened.session, near=False)
                call = pb.CallRequest(session=opened.session, fetch=pb.Fetch(model=model))
                answer, arrays = exchange.ask(call, (), (), "graph")
                named = dict(zip((t.name for t in answer.tensors), arrays, strict=True))
                data = named.pop("").tobytes()
                return unpacked(data, {name: entry(name, array) for name, array in named.items()})
            finally:
                lease.cancel()

    def session(self, model: str | Graph, name: str = "", **options: Any) -> Session:
        """A session on a graph, or on the one of that name that the server offers.

        name: of a session that outlives this client, and that the server takes up again from its
        checkpoints.  options: those of Session.
        """
        graph = self.graph(model) if isinstance(model, str) else model
        return Session(graph, target=self.target.named(name), **options)

    def checkpoint(self, name: str) -> tuple[str, int]:
        """Have a checkpoint of a named session written in the server's folder, now: the file
        there, and the step.  Raises PlanError, ExecutionError."""
        with asking("checkpoint", keeps=True):
            request = pb.CheckpointRequest(session=name)
            told = self._channel.ask(self._channel.stub.checkpoint, request, "checkpoint")
            return told.file, told.step

    def end(self, name: str) -> None:
        """End a named session; a server with checkpoints keeps it first."""
        with asking("end", keeps=True):
            request = pb.CloseRequest(session=name)
            self._channel.ask(self._channel.stub.close, request, "end")

    def close(self) -> None:
        """Leave; sessions that were begun stay until they are closed."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
