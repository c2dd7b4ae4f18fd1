"""The methods of the service, as both sides of gRPC take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import grpc

from staticad_schema import run_pb2 as pb

SERVICE = "staticad.v1.ExecutorService"
# Of gRPC's metadata: an error in parts, and what a caller shows.
FAILURE = "staticad-failure-bin"
AUTHORIZATION = "authorization"
# The pieces in which large tensors follow a message.
PIECE = 1 << 20
# Tensors of a call that take no more than this together travel within its message.
INLINE = 1 << 15
# Room in a message for everything but tensors, and in metadata for an error.
MESSAGE = 32 << 20
METADATA = 1 << 16
# What a private server says when it listens.
READY = b"ready\n"


class Method(NamedTuple):
    """A method: its messages, and which of them come in streams."""

    request: Any
    response: Any
    many_requests: bool = False
    many_responses: bool = False

    @property
    def kind(self) -> str:
        """As gRPC calls it."""
        sides = (self.many_requests, self.many_responses)
        return "_".join("stream" if many else "unary" for many in sides)


METHODS = {
    "Info": Method(pb.InfoRequest, pb.InfoResponse),
    "Open": Method(pb.OpenRequest, pb.OpenResponse, many_responses=True),
    "Share": Method(pb.ShareRequest, pb.ShareResponse),
    "Call": Method(pb.CallRequest, pb.CallResponse),
    "CallInPieces": Method(pb.CallInPiecesRequest, pb.CallInPiecesResponse, True, True),
    "Checkpoint": Method(pb.CheckpointRequest, pb.CheckpointResponse),
    "Cancel": Method(pb.CancelRequest, pb.CancelResponse),
    "Close": Method(pb.CloseRequest, pb.CloseResponse),
}


def handlers(answers: dict[str, Callable[..., Any]]) -> Any:
    """What a server adds: a function for each method."""
    made = {}
    for name, method in METHODS.items():
        make = getattr(grpc, f"{method.kind}_rpc_method_handler")
        made[name] = make(
            answers[name],
            request_deserializer=method.request.FromString,
            response_serializer=method.response.SerializeToString,
        )
    return grpc.method_handlers_generic_handler(SERVICE, made)


class Stub:
    """The methods, called through a channel."""

    def __init__(self, channel: Any) -> None:
        made = {}
        for name, method in METHODS.items():
            make = getattr(channel, method.kind)
            made[name] = make(
                f"/{SERVICE}/{name}",
                request_serializer=method.request.SerializeToString,
                response_deserializer=method.response.FromString,
            )
        self.info = made["Info"]
        self.open = made["Open"]
        self.share = made["Share"]
        self.call = made["Call"]
        self.call_in_pieces = made["CallInPieces"]
        self.checkpoint = made["Checkpoint"]
        self.cancel = made["Cancel"]
        self.close = made["Close"]
