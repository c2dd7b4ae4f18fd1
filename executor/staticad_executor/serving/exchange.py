"""Calls of a client with their tensors: by shared memory where that is, else in pieces."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import grpc

from staticad_schema import run_pb2 as pb
from staticad_schema.errors import ConnectionLostError, StaticadError
from staticad_schema.types import Array

from ..pool import BlockPool
from . import transfer
from .channel import Channel
from .failures import received
from .regions import Region

# A first region is asked for to learn whether there can be any.
FIRST = 1 << 16


class Exchange:
    """Asks a session; each call has a region of its own while it lasts."""

    def __init__(self, channel: Channel, session: str, near: bool) -> None:
        """near: whether the server is on this machine, so that memory can be shared."""
        self._channel = channel
        self._session = session
        self._lock = threading.Lock()
        self._pool = BlockPool()
        first = self._shared(FIRST) if near else None
        self._shares = first is not None
        self._idle = [] if first is None else [first]

    def ask(
        self, call: pb.CallRequest, arrays: Sequence[Array], names: Sequence[str], asked: str
    ) -> tuple[pb.CallResponse, list[Array]]:
        """The answer, and its arrays, in memory of their own."""
        if self._shares:
            return self._ask(call, arrays, names, asked)
        return self._ask_in_pieces(call, arrays, names, asked)

    def close(self) -> None:
        """Give up what is shared."""
        self._idle.clear()
        self._pool.trim()

    def _ask(
        self, call: pb.CallRequest, arrays: Sequence[Array], names: Sequence[str], asked: str
    ) -> tuple[pb.CallResponse, list[Array]]:
        del call.tensors[:]
        small = transfer.is_small(arrays)
        region = self._taken(0 if small else transfer.room(arrays))
        if region is None:
            return self._ask_in_pieces(call, arrays, names, asked)
        call.region = region.id
        call.tensors.extend(
            transfer.inline(arrays, names)
            if small
            else transfer.in_region(arrays, region.buffer, names)
        )
        answer: pb.CallResponse = self._channel.ask(self._channel.stub.call, call, asked)
        if answer.region.id not in (0, region.id):
            found = Region.found(answer.region)
            if found is None:
                raise ConnectionLostError(
                    "the results are in memory that cannot be found", asked=asked
                )
            region = found
        results = transfer.received(answer.tensors, region.buffer, iter(()), self._pool)
        with self._lock:
            self._idle.append(region)
        return answer, results

    def _ask_in_pieces(
        self, call: pb.CallRequest, arrays: Sequence[Array], names: Sequence[str], asked: str
    ) -> tuple[pb.CallResponse, list[Array]]:
        del call.tensors[:]
        call.region = 0
        call.tensors.extend(transfer.following(arrays, names))

        def requests() -> Iterator[pb.CallInPiecesRequest]:
            yield pb.CallInPiecesRequest(call=call)
            for piece in transfer.pieces(arrays):
                yield pb.CallInPiecesRequest(data=piece)

        stream, first = self._channel.begin(self._channel.stub.call_in_pieces, requests(), asked)
        answer = first.answer
        try:
            parts = (piece.data for piece in stream)
            return answer, transfer.received(answer.tensors, None, parts, self._pool)
        except grpc.RpcError as error:
            raise received(error, asked, self._channel.address) from None
        finally:
            stream.cancel()

    def _taken(self, size: int) -> Region | None:
        """An idle region of at least that size, or a new one; None if there can be none."""
        with self._lock:
            for k, region in enumerate(self._idle):
                if region.size >= size:
                    return self._idle.pop(k)
        return self._shared(max(size, FIRST))

    def _shared(self, size: int) -> Region | None:
        request = pb.ShareRequest(session=self._session, size=size)
        try:
            told = self._channel.ask(self._channel.stub.share, request, "Session").region
        except ConnectionLostError:
            raise
        except StaticadError:
            return None
        return Region.found(told)
