"""Errors on their way from one process to the other: the same class, with the user's line."""

from __future__ import annotations

import inspect
from typing import Any

import grpc

from staticad_schema import errors
from staticad_schema import run_pb2 as pb
from staticad_schema.errors import (
    AccessError,
    CancelledError,
    ConnectionLostError,
    ExecutionError,
    LimitError,
    Site,
    StaticadError,
)

from .protocol import FAILURE

KINDS: dict[str, type[StaticadError]] = {
    name: kind
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, StaticadError)
}
_PARTS = ("asked", "expected", "found", "hint")
# Metadata are small: a part that is longer is cut.
LONGEST = 4000


class UnknownGraphError(StaticadError):
    """The session does not know the graph, or no longer; it never leaves this package."""


class UnknownSessionError(ExecutionError):
    """There is no such session; it arrives as an ExecutionError."""


class LateError(LimitError):
    """A run took too long; it arrives as a LimitError."""


_CODES: tuple[tuple[type[StaticadError], str], ...] = (
    (UnknownGraphError, "FAILED_PRECONDITION"),
    (UnknownSessionError, "NOT_FOUND"),
    (CancelledError, "CANCELLED"),
    (AccessError, "UNAUTHENTICATED"),
    (LateError, "DEADLINE_EXCEEDED"),
    (LimitError, "RESOURCE_EXHAUSTED"),
    (errors.UnknownFetchError, "NOT_FOUND"),
    (errors.UnknownNameError, "NOT_FOUND"),
    (ConnectionLostError, "UNAVAILABLE"),
    (ExecutionError, "ABORTED"),
    (StaticadError, "INVALID_ARGUMENT"),
)


def status(error: StaticadError) -> Any:
    """The status code that tells callers without this library what is wrong."""
    name = next(name for kind, name in _CODES if isinstance(error, kind))
    return grpc.StatusCode[name]


def described(error: StaticadError) -> pb.Failure:
    """The error in parts."""
    kind = next(k.__name__ for k in type(error).__mro__ if k.__name__ in KINDS)
    parts = {name: getattr(error, name)[:LONGEST] for name in _PARTS if getattr(error, name)}
    return pb.Failure(
        kind=kind,
        problem=error.problem[:LONGEST],
        operands=[operand[:200] for operand in error.operands[:20]],
        site=line(error.site),
        forward_site=line(error.forward_site),
        **parts,
    )


def error_of(failure: pb.Failure) -> StaticadError:
    """The error that was described."""
    error = KINDS.get(failure.kind, ExecutionError)(failure.problem)
    for name in _PARTS:
        if failure.HasField(name):
            setattr(error, name, getattr(failure, name))
    error.operands = tuple(failure.operands)
    error.site = site(failure.site)
    error.forward_site = site(failure.forward_site)
    return error


def line(place: Site | None) -> pb.Line | None:
    """A user's line as a message."""
    if place is None:
        return None
    return pb.Line(file=place.file, line=place.line, function=place.function)


def site(place: pb.Line) -> Site | None:
    """The user's line of a message; None where it has none."""
    if not place.file and not place.line:
        return None
    return Site(place.file, place.line, place.function)


def received(error: Any, asked: str, address: str) -> BaseException:
    """What to raise for a gRPC error that a client has met."""
    for key, value in error.trailing_metadata() or ():
        if key == FAILURE:
            if error.code() == grpc.StatusCode.FAILED_PRECONDITION:
                return UnknownGraphError("the session does not know the graph")
            return error_of(pb.Failure.FromString(value))
    code, details = error.code(), error.details() or ""
    kind: type[StaticadError] = {
        grpc.StatusCode.RESOURCE_EXHAUSTED: LimitError,
        grpc.StatusCode.UNAUTHENTICATED: AccessError,
        grpc.StatusCode.CANCELLED: CancelledError,
        grpc.StatusCode.UNAVAILABLE: ConnectionLostError,
    }.get(code, ExecutionError)
    problem = {
        grpc.StatusCode.UNAVAILABLE: "the process that runs graphs cannot be reached",
        grpc.StatusCode.CANCELLED: "the run was cancelled",
        grpc.StatusCode.UNIMPLEMENTED: "another service answers there",
    }.get(code, "the process that runs graphs has failed")
    return kind(problem, asked=asked, expected=f"an answer from {address}", found=details[:LONGEST])
