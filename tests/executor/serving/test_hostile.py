"""Clients that send what they like: each call is refused, and the server goes on."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import numpy as np
import pytest

import staticad as sad
from staticad_executor.serving import regions
from staticad_executor.serving.graphs import Packer
from staticad_executor.serving.protocol import Stub
from staticad_schema import run_pb2 as pb

from .graphs import DATA, trainer
from .servers import Server


class Raw:
    """A client that sends what it likes."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(address)
        self.stub = Stub(self.channel)
        self.lease = self.stub.open(pb.OpenRequest(device="numpy", rewrites=["exact"]))
        self.session = next(self.lease).session
        packed = Packer().packed(trainer())
        self.graph = packed.digest
        self.ask(extend=pb.Extend(), tensors=[self.tensor(packed.octets)])
        graph = trainer()
        self.loss, self.x = graph["loss"].id, graph["x"].id

    @staticmethod
    def tensor(array: np.ndarray[Any, Any], **other: Any) -> pb.Tensor:
        parts: dict[str, Any] = {
            "dtype": array.dtype.name,
            "shape": array.shape,
            "data": array.tobytes(),
        }
        return pb.Tensor(**parts | other)

    def ask(self, **parts: Any) -> pb.CallResponse:
        made = {"session": self.session, "graph": self.graph} | parts
        answer: pb.CallResponse = self.stub.call(pb.CallRequest(**made))
        return answer

    def run(self, **parts: Any) -> pb.CallResponse:
        choice = {"values": [self.loss], "fed": [self.x]} | parts.pop("choice", {})
        made = {"tensors": [self.tensor(DATA)]} | parts
        return self.ask(run=pb.Run(choice=pb.Choice(**choice)), **made)

    def code(self, call: Callable[..., object], *arguments: Any, **parts: Any) -> str:
        with pytest.raises(grpc.RpcError) as raised:
            call(*arguments, **parts)
        return str(raised.value.code().name)

    def close(self) -> None:
        self.lease.cancel()
        self.channel.close()


@pytest.fixture
def raw(unix_server: Server) -> Iterator[Raw]:
    made = Raw(unix_server.address)
    yield made
    # Whatever was sent: the server answers.
    assert len(made.run().tensors) == 1
    made.close()


def test_hostile_tensors(raw: Raw) -> None:
    wrong_parts: tuple[dict[str, Any], ...] = (
        {"dtype": "object"}, {"dtype": "float33"}, {"dtype": ""}, {"data": b"123"},
        {"shape": [1 << 62]}, {"shape": [1 << 62, 1 << 62, 1 << 62]}, {"shape": [1] * 100},
        {"shape": [0, (1 << 64) - 1], "data": b""}, {"shape": [], "data": b""},
        {"dtype": "float64", "data": DATA.astype(np.float64).tobytes()},
        {"dtype": "bool", "shape": [4], "data": b"\2\1\0\7"},
    )  # fmt: skip
    for parts in wrong_parts:
        code = raw.code(raw.run, tensors=[raw.tensor(DATA, **parts)])
        assert code in ("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"), parts
    nowhere = pb.Tensor(dtype="float32", shape=[8, 6])
    for wrong in ([], [nowhere], [raw.tensor(DATA)] * 2):
        assert raw.code(raw.run, tensors=wrong) == "INVALID_ARGUMENT"


def test_hostile_ids(raw: Raw) -> None:
    for choice in (
        {"values": [10**6]}, {"values": [(1 << 64) - 1]}, {"fed": [10**6]}, {"effects": [0]},
        {"effects": [10**9]}, {"values": [raw.loss, raw.loss]}, {"fed": [raw.x, raw.x]},
    ):  # fmt: skip
        assert raw.code(raw.run, choice=choice) == "INVALID_ARGUMENT"
    assert raw.code(raw.run, choice={"fed": []}, tensors=[]) == "INVALID_ARGUMENT"
    assert raw.code(raw.run, session="other") == "NOT_FOUND"
    assert raw.code(raw.run, graph=b"other") == "FAILED_PRECONDITION"
    assert raw.code(lambda: raw.ask()) == "INVALID_ARGUMENT"
    assert raw.code(lambda: raw.ask(read=pb.Names(names=["none"]))) == "NOT_FOUND"
    assert raw.code(lambda: raw.ask(fetch=pb.Fetch(model="../../etc/passwd"))) == "NOT_FOUND"
    wrong = [raw.tensor(np.ones(3, np.float32), name="w")]
    assert raw.code(lambda: raw.ask(publish=pb.Publish(), tensors=wrong)) == "INVALID_ARGUMENT"


def test_hostile_graphs(raw: Raw) -> None:
    data = Packer().packed(trainer()).data
    other = b"\0" * 32

    def extend(content: bytes, graph: bytes = other) -> pb.CallResponse:
        octets = np.frombuffer(content, np.uint8)
        return raw.ask(extend=pb.Extend(), graph=graph, tensors=[raw.tensor(octets)])

    for content in (b"", b"nonsense", data[:-1], data):
        assert raw.code(extend, content) == "INVALID_ARGUMENT"
    constant = raw.tensor(np.ones(3, np.float32), name="a name that its content does not have")
    graph = raw.tensor(np.frombuffer(data, np.uint8))
    call: dict[str, Any] = {"extend": pb.Extend(constants=["x"]), "tensors": [graph, constant]}
    assert raw.code(lambda: raw.ask(**call)) == "INVALID_ARGUMENT"


@pytest.mark.skipif(not regions.POSSIBLE, reason="memory is shared on Linux")
def test_hostile_regions(raw: Raw, unix_server: Server) -> None:
    region = raw.stub.share(pb.ShareRequest(session=raw.session, size=5000)).region
    assert region.size == 8192
    away: dict[str, Any] = {"dtype": "float32", "shape": [8, 6]}
    for offset in (8192, 8192 - 191, (1 << 64) - 1, 1 << 63):
        tensors = [pb.Tensor(**away, offset=offset)]
        call: dict[str, Any] = {"tensors": tensors, "region": region.id}
        assert raw.code(raw.run, **call) == "INVALID_ARGUMENT"
    inside = [pb.Tensor(**away, offset=64)]
    for other in (0, region.id + 1, (1 << 64) - 1):
        assert raw.code(raw.run, tensors=inside, region=other) == ("INVALID_ARGUMENT")
    # A region is its session's only.
    stranger = Raw(unix_server.address)
    assert stranger.code(lambda: stranger.run(tensors=inside, region=region.id)) == (
        "INVALID_ARGUMENT"
    )
    stranger.close()
    # Nobody can take memory away from under the server.
    path = f"/proc/{region.process}/fd/{region.descriptor}"
    for size in (0, 1 << 20):
        with open(path, "r+b") as file, pytest.raises(PermissionError):
            file.truncate(size)
    assert len(raw.run(tensors=inside, region=region.id).tensors) == 1
    huge = pb.ShareRequest(session=raw.session, size=1 << 62)
    assert raw.code(lambda: raw.stub.share(huge)) == "RESOURCE_EXHAUSTED"


def test_hostile_streams(raw: Raw) -> None:
    call = pb.CallRequest(session=raw.session, graph=raw.graph)
    call.run.choice.CopyFrom(pb.Choice(values=[raw.loss], fed=[raw.x]))
    call.tensors.append(pb.Tensor(dtype="float32", shape=[8, 6], follows=True))
    whole = DATA.tobytes()

    def send(*parts: Any) -> list[Any]:
        requests = [
            pb.CallInPiecesRequest(data=p) if isinstance(p, bytes) else
            pb.CallInPiecesRequest(call=p) for p in parts
        ]  # fmt: skip
        return list(raw.stub.call_in_pieces(iter(requests)))

    assert len(send(call, whole)) == 2
    assert len(send(call, whole[:7], whole[7:])) == 2
    for parts in ((), (whole,), (call,), (call, whole[:-1]), (call, whole + b"x"), (call, b""),
                  (call, whole[:5], call)):  # fmt: skip
        assert raw.code(send, *parts) == "INVALID_ARGUMENT", parts


def test_bytes_that_are_no_messages(unix_server: Server) -> None:
    with grpc.insecure_channel(unix_server.address) as channel:
        for method in ("Call", "Share", "Info", "Cancel", "None"):
            send = channel.unary_unary(f"/staticad.v1.ExecutorService/{method}")
            for content in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f"):
                with pytest.raises(grpc.RpcError):
                    send(content)
        with pytest.raises(grpc.RpcError) as raised:
            channel.unary_unary("/staticad.v1.ExecutorService/Call")(b"\0" * (70 << 20))
        assert raised.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(unix_server.address.removeprefix("unix:"))
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n" * 1000)
    with sad.Session(trainer(), target=unix_server.address) as session:
        assert session.run("count") == 0
