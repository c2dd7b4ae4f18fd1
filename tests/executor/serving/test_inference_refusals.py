"""Requests for inference that are wrong: the right status, and the server answers on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from staticad_schema import inference_pb2 as pb

from .inference_clients import Both, X, network, raw, tensor


def test_wrong_requests_over_http(net: Both) -> None:
    def infer(*parts: dict[str, Any], model: str = "net", **more: Any) -> int:
        status, answer = net.http.infer(model, {"inputs": list(parts)} | more)
        assert status == 200 or set(answer) == {"error"}
        return status

    assert infer(tensor()) == 200
    assert infer(tensor(), model="none") == 404
    assert infer(tensor(), model="net/versions/2") == 404
    assert infer(tensor(name="z")) == 404
    assert infer(tensor(), outputs=[{"name": "z"}]) == 404
    wrongs: tuple[dict[str, Any], ...] = (
        {"datatype": "FP64"}, {"datatype": "FP33"}, {"datatype": None}, {"datatype": 7},
        {"datatype": "BYTES"}, {"shape": [2, -4]}, {"shape": [8]}, {"shape": [2, 4, 1]},
        {"shape": [4, 2]}, {"shape": "2x4"}, {"shape": [2.0, 4]}, {"shape": [True, 8]},
        {"shape": [1 << 70, 4]}, {"shape": [1] * 50}, {"shape": None}, {"data": None},
        {"data": [1, 2]}, {"data": [[1, 2], [3]]}, {"data": ["a"] * 8}, {"data": {}},
        {"data": [None] * 8}, {"data": "12345678"}, {"name": 5}, {"parameters": []},
        {"parameters": {"binary_data_size": 32}}, {"parameters": {"binary_data_size": -1}},
        {"data": [1 << 2000] * 8},
    )  # fmt: skip
    for wrong in wrongs:
        assert infer(tensor(**wrong)) in (400, 404), wrong
    assert infer() == 400
    assert infer(tensor(), tensor()) == 400
    assert infer(tensor(), outputs="y") == 400
    assert infer(tensor(), outputs=[{"name": "y", "parameters": {"classification": 3}}]) == 400
    assert infer(tensor(), id=7) == 400
    # A row that the graph refuses, and results that JSON cannot hold.
    assert infer(tensor(-X), model="net:checked") == 500
    assert infer(tensor(-X), model="net:log") == 400
    huge = tensor(shape=[1 << 40, 4], data=None, parameters={"binary_data_size": 0})
    assert infer(huge) == 429


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"7", b"\xff\xfe", b'{"inputs": 3}', b"[" * 100_000, b"{}", b""]
)
def test_malformed_json(net: Both, body: bytes) -> None:
    for path in ("/v2/models/net/infer", "/v2/systemsharedmemory/region/x/register"):
        status, answer, _ = net.http.ask("POST", path, body)
        assert (status, list(answer)) == (400, ["error"])


def test_truncated_raw_tensors(net: Both) -> None:
    body, headers = raw()
    for wrong in (body[:-1], body + b"x", body[: len(body) - 32]):
        assert net.http.ask("POST", "/v2/models/net/infer", wrong, headers)[0] == 400
    for length in ("", "x", "-1", "1", "99999999", "9" * 50, "0"):
        wrong_headers = {"Inference-Header-Content-Length": length}
        assert net.http.ask("POST", "/v2/models/net/infer", body, wrong_headers)[0] == 400


def test_wrong_requests_over_grpc(net: Both) -> None:
    code = net.grpc.code
    assert code(model="none") == "NOT_FOUND"
    assert code(model_version="2") == "NOT_FOUND"
    assert code(X[:, :3]) == "INVALID_ARGUMENT"
    assert code(raw_input_contents=[b"123"]) == "INVALID_ARGUMENT"
    assert code(raw_input_contents=[]) == "INVALID_ARGUMENT"
    assert code(raw_input_contents=[X.tobytes()] * 2) == "INVALID_ARGUMENT"
    assert code(inputs=[]) == "INVALID_ARGUMENT"

    def one(**parts: Any) -> str:
        made = {"name": "x", "datatype": "FP32", "shape": [2, 4]} | parts
        return code(inputs=[pb.ModelInferRequest.InferInputTensor(**made)])

    assert one(name="z") == "NOT_FOUND"
    for wrong in (
        {"datatype": "INT32"}, {"datatype": "?"}, {"shape": [8]}, {"shape": [-1, 4]},
        {"shape": [1 << 62, 1 << 62]},
    ):  # fmt: skip
        assert one(**wrong) in ("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"), wrong
    wanted = [pb.ModelInferRequest.InferRequestedOutputTensor(name="z")]
    assert code(outputs=wanted) == "NOT_FOUND"
    assert code(-X, model="net:checked") == "ABORTED"


def test_a_token_is_asked_for_everywhere(tmp_path: Path) -> None:
    network().save(tmp_path / "net.sad")
    secret = tmp_path / "token"
    secret.write_text("sesame")
    with Both(tmp_path / "net.sad", "--token-file", secret) as server:
        body = json.dumps({"inputs": [tensor()]}).encode()
        for path in ("/v2/health/live", "/metrics", "/v2/models/net"):
            assert server.http.ask("GET", path)[0] == 401
        wrong = {"Authorization": "Bearer sesam"}
        assert server.http.ask("POST", "/v2/models/net/infer", body, wrong)[0] == 401
        right = {"Authorization": "Bearer sesame"}
        assert server.http.ask("POST", "/v2/models/net/infer", body, right)[0] == 200
        assert server.grpc.code() == "UNAUTHENTICATED"
