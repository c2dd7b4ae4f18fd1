"""The methods of the service, on the server's side."""

from __future__ import annotations

import hmac
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from staticad_schema import run_pb2 as pb
from staticad_schema.errors import (
    AccessError,
    ExecutionError,
    FormatError,
    LimitError,
    PlanError,
    StaticadError,
)
from staticad_schema.migrate import FORMAT
from staticad_schema.types import Array

from . import transfer
from .calls import Context, answer
from .checkpoints import Folder
from .failures import described, status
from .keeper import Keeper
from .limits import Gate, Limits, Run, require
from .models import Models
from .protocol import AUTHORIZATION, FAILURE, MESSAGE
from .sessions import Options, Served, Sessions

# Of a session: as many are made as are asked for.
MOST_THREADS = 64
LOG = logging.getLogger("staticad.serving")


class Admission:
    """Who gets in."""

    def __init__(self, token: str) -> None:
        """token: what callers show, "" for nothing."""
        self._token = token

    def admit(self, shown: Callable[[], Iterable[tuple[str, Any]]]) -> None:
        """Raises AccessError for a caller whose metadata, or headers, do not show the token."""
        if self._token:
            given = dict(shown()).get(AUTHORIZATION, "")
            if not hmac.compare_digest(str(given).encode(), f"Bearer {self._token}".encode()):
                raise AccessError(
                    "the server does not let this caller in",
                    expected="its token",
                    found="another one" if given else "none",
                    hint="Target(address, token=…), or STATICAD_TOKEN in the environment",
                )


class Asked:
    """While this is open, its run is one of the session's, and ends when its caller goes away."""

    __slots__ = ("_context", "_run", "_session")

    def __init__(self, session: Served, context: Any, limits: Limits) -> None:
        self._session = session
        self._context = context
        self._run = Run(limits.run_seconds)

    def __enter__(self) -> Run:
        run = self._run
        self._session.runs.add(run)
        if not self._context.add_callback(run.cancel.set):
            run.cancel.set()
        return run

    def __exit__(self, *error: object) -> None:
        self._session.runs.discard(self._run)


class Service:
    """Sessions for callers; what they ask is answered in threads of gRPC's."""

    def __init__(
        self,
        limits: Limits,
        models: Models,
        folder: Folder | None,
        admission: Admission,
        device: str,
    ) -> None:
        """device: of sessions that ask for "auto"."""
        self.limits = limits
        self.sessions = Sessions(limits)
        self.gate = Gate(limits)
        self.keeper = None if folder is None else Keeper(folder, self.sessions)
        self._context = Context(self.gate, models, folder)
        self._admission = admission
        self._device = device
        self._leases: set[threading.Event] = set()
        self._ending = False

    def answers(self) -> dict[str, Callable[..., Any]]:
        """The functions of the methods, by name."""
        single: dict[str, Callable[..., Any]] = {
            "Info": self.info, "Share": self.share, "Call": self.call,
            "Checkpoint": self.checkpoint, "Cancel": self.cancel, "Close": self.close,
        }  # fmt: skip
        streams: dict[str, Callable[..., Any]] = {
            "Open": self.open,
            "CallInPieces": self.call_in_pieces,
        }
        return {name: self._guarded(f) for name, f in single.items()} | {
            name: self._guarded_stream(f) for name, f in streams.items()
        }

    # ---------------------------------------------------------------- methods

    def info(self, request: pb.InfoRequest, context: Any) -> pb.InfoResponse:
        """What the server is, serves and allows."""
        try:
            release = version("staticad")
        except PackageNotFoundError:
            release = "unknown"
        return pb.InfoResponse(
            version=release,
            format=FORMAT,
            models=self._context.models.names(),
            sessions=[_told(session) for session in self.sessions.named()],
            limits=self.limits.described(),
        )

    def open(self, request: pb.OpenRequest, context: Any) -> Iterator[pb.OpenResponse]:
        """Begin a session, or join one; the session lasts as long as the call, if it has no
        name."""
        require(len(self._leases) + 1, self.limits.sessions, "sessions", "Session")
        if self._ending:
            raise LimitError("the server is being shut down", asked="Session")
        options = Options(
            self._device if request.device in ("", "auto") else request.device,
            min(request.threads, MOST_THREADS) or None,
            request.check_numerics,
            tuple(request.rewrites),
            request.memory_budget or None,
        )
        session = self.sessions.opened(request.name, options, request.variables_of)
        ended = threading.Event()
        self._leases.add(ended)
        try:
            if context.add_callback(ended.set):
                yield pb.OpenResponse(session=session.id, message_bytes=MESSAGE)
                ended.wait()
        finally:
            self._leases.discard(ended)
            if not session.name:
                self.sessions.close(session.id)

    def share(self, request: pb.ShareRequest, context: Any) -> pb.ShareResponse:
        """Memory for a session and its client."""
        region = self.sessions.get(request.session).share(request.size)
        return pb.ShareResponse(region=region.told())

    def call(self, request: pb.CallRequest, context: Any) -> pb.CallResponse:
        """Ask something of a session."""
        session = self.sessions.get(request.session)
        region = session.region(request.region) if request.region else None
        buffer = None if region is None else region.buffer
        pool, limit = session.store.pool, self.limits.call_bytes
        arrays = transfer.received(request.tensors, buffer, iter(()), pool, limit)
        response = pb.CallResponse()

        def send(values: Sequence[Array], names: Sequence[str]) -> None:
            room = transfer.room(values)
            if region is None or transfer.is_small(values):
                require(room, MESSAGE, "bytes of results in a message", "a call")
                response.tensors.extend(transfer.inline(values, names))
                return
            used = region if room <= region.size else session.replaced(region, room)
            response.tensors.extend(transfer.in_region(values, used.buffer, names))
            response.region.CopyFrom(used.told())

        with Asked(session, context, self.limits) as run:
            answer(self._context, session, request, arrays, run, response, send)
        return response

    def call_in_pieces(
        self, requests: Iterator[pb.CallInPiecesRequest], context: Any
    ) -> Iterator[pb.CallInPiecesResponse]:
        """Ask something of a session, tensors behind messages."""
        first = next(requests, None)
        if first is None or first.WhichOneof("part") != "call":
            raise FormatError("nothing is asked", expected="a call, then its tensors' bytes")
        request = first.call
        session = self.sessions.get(request.session)
        following = (piece.data for piece in requests)
        pool, limit = session.store.pool, self.limits.call_bytes
        arrays = transfer.received(request.tensors, None, following, pool, limit)
        response = pb.CallResponse()
        kept: list[Array] = []

        def send(values: Sequence[Array], names: Sequence[str]) -> None:
            kept.extend(values)
            response.tensors.extend(transfer.following(values, names))

        with Asked(session, context, self.limits) as run:
            answer(self._context, session, request, arrays, run, response, send)
        yield pb.CallInPiecesResponse(answer=response)
        for piece in transfer.pieces(kept):
            yield pb.CallInPiecesResponse(data=piece)

    def checkpoint(self, request: pb.CheckpointRequest, context: Any) -> pb.CheckpointResponse:
        """Write a checkpoint of a named session, now."""
        session = self.sessions.get(request.session)
        if self.keeper is None or not session.name:
            raise PlanError(
                "this session has no checkpoints",
                asked="checkpoint",
                expected="a named session of a server with --checkpoints",
                found="a session without a name" if not session.name else "no --checkpoints",
                hint="session.save(path) writes a file on this side",
            )
        path, step = self.keeper.write(session)
        return pb.CheckpointResponse(step=step, file=str(path))

    def cancel(self, request: pb.CancelRequest, context: Any) -> pb.CancelResponse:
        """End the runs of a session."""
        self.sessions.get(request.session).cancel()
        return pb.CancelResponse()

    def close(self, request: pb.CloseRequest, context: Any) -> pb.CloseResponse:
        """End a session."""
        session = self.sessions.get(request.session)
        if self.keeper is not None and session.name:
            self.keeper.keep(session)
        self.sessions.close(request.session)
        return pb.CloseResponse()

    # ---------------------------------------------------------------- around them

    def end(self) -> None:
        """Let no session in any more, and those who are there go."""
        self._ending = True
        for lease in list(self._leases):
            lease.set()

    def _guarded(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def guarded(request: Any, context: Any) -> Any:
            try:
                self._admission.admit(context.invocation_metadata)
                return method(request, context)
            except Exception as error:
                _refuse(context, error)

        return guarded

    def _guarded_stream(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def guarded(request: Any, context: Any) -> Iterator[Any]:
            try:
                self._admission.admit(context.invocation_metadata)
                yield from method(request, context)
            except Exception as error:
                _refuse(context, error)

        return guarded


def _refuse(context: Any, error: Exception) -> None:
    """End a call with an error in its parts.  Always raises."""
    if not isinstance(error, StaticadError):
        if not isinstance(error, MemoryError | OSError):
            LOG.exception("a call has failed")
        error = ExecutionError(f"{type(error).__name__}: {error}"[:2000])
    context.set_trailing_metadata(((FAILURE, described(error).SerializeToString()),))
    context.abort(status(error), error.problem[:1000])


def _told(session: Served) -> pb.SessionInfo:
    return pb.SessionInfo(
        name=session.name,
        step=session.store.snapshot.step,
        checkpoint_step=session.checkpoint_step,
        resumed_from=session.resumed_from,
        checkpoint_error=session.checkpoint_error,
    )
