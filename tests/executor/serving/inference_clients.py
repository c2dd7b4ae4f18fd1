"""A network to serve, and clients of both forms of the protocol, by hand."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

import staticad as sad
from staticad_schema import inference_pb2 as pb

from .servers import Server

F32 = np.float32
X = np.arange(8, dtype=F32).reshape(2, 4) / 7


def network() -> sad.Graph:
    """Rows through a layer: a graph that may be batched; and two signatures that may not."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 4), name="x")
        w = sad.variable(sad.random.normal((4, 3)), name="w")
        y = sad.tanh(x @ w, name="y")
        count = sad.variable(np.zeros((), np.int64), name="count")
        k = sad.placeholder("int64", (), name="k")
        graph.signature("serve", inputs={"x": x}, outputs={"y": y, "best": sad.argmax(y, axis=1)})
        graph.signature("mean", inputs={"x": x}, outputs={"mean": sad.mean(y)})
        added = count.assign_add(k)
        graph.signature("count", inputs={"k": k}, outputs={"count": added}, effects=[])
        kinds = [
            sad.placeholder(d, ("n",), name=f"of_{d}")
            for d in ("bool", "int8", "uint64", "float16", "bfloat16", "float64")
        ]
        graph.signature("kinds", {t.name: t for t in kinds}, {t.name: t[::-1] for t in kinds})
        graph.signature(
            "checked",
            {"x": x},
            {"y": sad.assert_(sad.all(x > 0), "not positive", y)},  # noqa: PT009
        )
        graph.signature("log", {"x": x}, {"y": sad.log(x)})
    return graph


def expected(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with sad.Session(network()) as session:
        found: np.ndarray[Any, Any] = session.run("y", {"x": x})
    return found


class Http:
    """A client of the HTTP form."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, Any]:
        """The status, the body (parsed if it is JSON), and the headers."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, data, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        is_json = (answer.getheader("Content-Type") or "").startswith("application/json")
        plain = is_json and not answer.getheader("Content-Encoding")
        return answer.status, json.loads(content) if plain else content, answer.headers

    def infer(self, model: str, body: Any, **headers: str) -> tuple[int, Any]:
        path = f"/v2/models/{model}/infer"
        status, answer, _ = self.ask(
            "POST", path, body, {k.replace("_", "-"): v for k, v in headers.items()}
        )
        return status, answer


def tensor(x: np.ndarray[Any, Any] = X, **other: Any) -> dict[str, Any]:
    parts = {"name": "x", "datatype": "FP32", "shape": list(x.shape), "data": x.tolist()}
    return {name: value for name, value in (parts | other).items() if value is not None}


class Grpc:
    """A client of the gRPC form."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(address)

    def ask(self, method: str, compression: Any = None, **parts: Any) -> Any:
        request = getattr(pb, f"{method}Request")(**parts)
        call = self.channel.unary_unary(
            f"/inference.GRPCInferenceService/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=getattr(pb, f"{method}Response").FromString,
        )
        return call(request, compression=compression)

    def infer(self, x: np.ndarray[Any, Any] = X, model: str = "net", **parts: Any) -> Any:
        given = pb.ModelInferRequest.InferInputTensor(name="x", datatype="FP32", shape=x.shape)
        made = {"model_name": model, "inputs": [given], "raw_input_contents": [x.tobytes()]}
        return self.ask("ModelInfer", **made | parts)

    def code(self, *arguments: Any, **parts: Any) -> str:
        with pytest.raises(grpc.RpcError) as raised:
            self.infer(*arguments, **parts)
        return str(raised.value.code().name)


class Both(Server):
    """A server on both forms; `http` and `grpc` are clients."""

    def __init__(self, *arguments: str | Path) -> None:
        super().__init__("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", *arguments)
        self.http = Http(self.said(r"answering HTTP on (\S+)")[1])
        self.grpc = Grpc(self.address)

    def kill(self) -> None:
        self.grpc.channel.close()
        super().kill()


def raw(x: np.ndarray[Any, Any] = X, **other: Any) -> tuple[bytes, dict[str, str]]:
    """A body with a raw tensor, and its headers."""
    described = tensor(x, data=None, parameters={"binary_data_size": x.nbytes})
    head = json.dumps({"inputs": [described], "parameters": {"binary_data_output": True}} | other)
    return head.encode() + x.tobytes(), {"Inference-Header-Content-Length": str(len(head))}
