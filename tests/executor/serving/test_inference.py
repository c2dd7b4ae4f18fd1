"""The inference protocol over HTTP and gRPC, spoken by hand."""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

import staticad as sad
from staticad_schema import inference_pb2 as pb

from .inference_clients import F32, Both, X, expected, network, raw, tensor

# ------------------------------------------------------------------ what it tells


def test_health_and_metadata(net: Both) -> None:
    for path in ("health/live", "health/ready", "models/net/ready", "models/net/versions/1/ready"):
        assert net.http.ask("GET", f"/v2/{path}")[0] == 200
    for path in ("models/none/ready", "models/net/versions/2/ready", "models/none", "elsewhere"):
        assert net.http.ask("GET", f"/v2/{path}")[0] == 404
    assert net.http.ask("POST", "/v2/models/net")[0] == 405
    server = net.http.ask("GET", "/v2")[1]
    assert server["name"] == "staticad-executor"
    assert server["extensions"] == list(net.grpc.ask("ServerMetadata").extensions)
    model = net.http.ask("GET", "/v2/models/net")[1]
    assert model["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}]
    assert [o["datatype"] for o in model["outputs"]] == ["FP32", "INT64"]
    told = net.grpc.ask("ModelMetadata", name="net", version="1")
    assert [(t.name, t.datatype, list(t.shape)) for t in told.outputs] == [
        ("y", "FP32", [-1, 3]), ("best", "INT64", [-1]),
    ]  # fmt: skip
    assert net.grpc.ask("ServerLive").live
    assert net.grpc.ask("ServerReady").ready
    assert net.grpc.ask("ModelReady", name="net:mean").ready
    assert not net.grpc.ask("ModelReady", name="none").ready
    assert not net.grpc.ask("ModelReady", name="net", version="3").ready


def test_the_repository(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    graph = network()
    graph.save(folder / "good.sad")
    (folder / "bad.sad").write_bytes(b"no graph")
    with sad.Graph() as bare:
        sad.placeholder("float32", ())
    bare.save(folder / "bare.sad")
    with Both("--models", folder) as server:
        states = {m["name"]: m for m in server.http.ask("POST", "/v2/repository/index")[1]}
        assert states["good"] == {"name": "good", "version": "1", "state": "READY", "reason": ""}
        assert states["bad"]["state"] == states["bare"]["state"] == "UNAVAILABLE"
        assert "no signature" in states["bare"]["reason"]
        ready = server.grpc.ask("RepositoryIndex", ready=True).models
        assert {m.name for m in ready} == {n for n, m in states.items() if m["state"] == "READY"}
        before = server.http.infer("good", {"inputs": [tensor()]})[1]["outputs"][0]["data"]
        # The values of variables come from a checkpoint beside the graph.
        with sad.Session(graph) as session:
            session.variables["w"] = np.zeros((4, 3), F32)
            session.save(folder / "good.safetensors")
        assert server.http.ask("POST", "/v2/repository/models/good/load")[0] == 200
        after = server.http.infer("good", {"inputs": [tensor()]})[1]["outputs"][0]["data"]
        assert any(before)
        assert not any(after)
        server.grpc.ask("RepositoryModelUnload", model_name="good")
        assert server.http.infer("good", {"inputs": [tensor()]})[0] == 404
        graph.save(folder / "bad.sad")
        server.grpc.ask("RepositoryModelLoad", model_name="bad")
        assert server.http.infer("bad", {"inputs": [tensor()]})[0] == 200
        for name in ("none", "..%2Fgood", "%2Fetc%2Fpasswd", "good.sad", "a" * 3000):
            status, answer, _ = server.http.ask("POST", f"/v2/repository/models/{name}/load")
            assert (status, "no model" in answer["error"]) == (404, True), name
        config = {"parameters": {"config": "{}"}}
        assert server.http.ask("POST", "/v2/repository/models/good/load", config)[0] == 400


def test_statistics_and_metrics(tmp_path: Path) -> None:
    network().save(tmp_path / "net.sad")
    with Both(tmp_path / "net.sad") as server:
        for _ in range(3):
            server.grpc.infer()
        assert server.http.infer("net", {"inputs": []})[0] == 400
        (one,) = server.http.ask("GET", "/v2/models/net/stats")[1]["model_stats"]
        assert one["inference_count"] == 6
        assert one["execution_count"] == 3
        assert one["inference_stats"]["success"]["count"] == 3
        assert one["inference_stats"]["fail"]["count"] == 1
        assert one["inference_stats"]["compute_infer"]["ns"] > 0
        assert one["batch_stats"][0]["batch_size"] == 2
        assert abs(one["last_inference"] / 1000 - time.time()) < 600
        (told,) = server.grpc.ask("ModelStatistics", name="net").model_stats
        assert told.inference_stats.success.ns == one["inference_stats"]["success"]["ns"]
        assert len(server.http.ask("GET", "/v2/models/stats")[1]["model_stats"]) == 6
        assert server.http.ask("GET", "/v2/models/none/stats")[0] == 404
        status, text, headers = server.http.ask("GET", "/metrics")
        assert status == 200
        assert headers["Content-Type"].startswith("text/plain")
        assert b'staticad_requests_total{model="net",outcome="success"} 3\n' in text
        assert b'staticad_rows_total{model="net"} 6\n' in text


# ------------------------------------------------------------------ inference


def test_json(net: Both) -> None:
    status, answer = net.http.infer("net", {"id": "seven", "inputs": [tensor()]})
    assert status == 200
    assert (answer["id"], answer["model_name"], answer["model_version"]) == ("seven", "net", "1")
    y, best = answer["outputs"]
    assert (y["name"], y["datatype"], y["shape"]) == ("y", "FP32", [2, 3])
    # Numbers in JSON mean the same bits.
    assert np.array(y["data"], F32).tobytes() == expected(X).tobytes()
    assert best["data"] == expected(X).argmax(1).tolist()
    flat = tensor(data=X.ravel().tolist())
    some = {"inputs": [flat], "outputs": [{"name": "best"}]}
    status, answer = net.http.infer("net/versions/1", some)
    assert [output["name"] for output in answer["outputs"]] == ["best"]
    assert net.http.infer("net:mean", {"inputs": [flat]})[1]["outputs"][0]["shape"] == []


def test_raw_tensors_both_ways(net: Both) -> None:
    body, headers = raw()
    status, answer, told = net.http.ask("POST", "/v2/models/net/infer", body, headers)
    assert status == 200
    length = int(told["Inference-Header-Content-Length"])
    y, best = json.loads(answer[:length])["outputs"]
    assert y["parameters"] == {"binary_data_size": 24}
    assert answer[length : length + 24] == expected(X).tobytes()
    assert np.frombuffer(answer[length + 24 :], np.int64).tolist() == expected(X).argmax(1).tolist()
    mixed = [{"name": "best", "parameters": {"binary_data": False}}, {"name": "y"}]
    body, headers = raw(outputs=mixed)
    _, answer, told = net.http.ask("POST", "/v2/models/net/infer", body, headers)
    best, y = json.loads(answer[: int(told["Inference-Header-Content-Length"])])["outputs"]
    assert "data" in best
    assert "data" not in y


def test_compression(net: Both) -> None:
    x = np.ones((5000, 4), F32)
    body, headers = raw(x)
    plain = net.http.ask("POST", "/v2/models/net/infer", body, headers)[1]
    for name, packed in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
        more = {"Content-Encoding": name, "Accept-Encoding": name}
        status, answer, told = net.http.ask("POST", "/v2/models/net/infer", packed, headers | more)
        assert (status, told["Content-Encoding"]) == (200, name)
        assert len(answer) < len(plain) / 10
        assert (gzip.decompress(answer) if name == "gzip" else zlib.decompress(answer)) == plain
    found = net.grpc.infer(x, compression=grpc.Compression.Gzip)
    assert found.raw_output_contents[0] == expected(x).tobytes()
    wrong = headers | {"Content-Encoding": "gzip"}
    assert net.http.ask("POST", "/v2/models/net/infer", b"no gzip", wrong)[0] == 400


def test_grpc(net: Both) -> None:
    found = net.grpc.infer(id="nine")
    assert (found.id, found.model_name, found.model_version) == ("nine", "net", "1")
    assert found.raw_output_contents[0] == expected(X).tobytes()
    assert [(o.name, o.datatype, list(o.shape)) for o in found.outputs] == [
        ("y", "FP32", [2, 3]), ("best", "INT64", [2]),
    ]  # fmt: skip
    typed = pb.ModelInferRequest.InferInputTensor(name="x", datatype="FP32", shape=[2, 4])
    typed.contents.fp32_contents.extend(X.ravel().tolist())
    again = net.grpc.infer(inputs=[typed], raw_input_contents=[])
    assert again.raw_output_contents == found.raw_output_contents
    wanted = [pb.ModelInferRequest.InferRequestedOutputTensor(name="best")]
    assert len(net.grpc.infer(outputs=wanted).raw_output_contents) == 1


def test_all_datatypes(net: Both) -> None:
    bits = {
        "bool": ("BOOL", np.array([True, False, False])),
        "int8": ("INT8", np.array([-128, 0, 127], np.int8)),
        "uint64": ("UINT64", np.array([0, 1, 2**64 - 1], np.uint64)),
        "float16": ("FP16", np.array([1.5, -2, 65504], np.float16)),
        "bfloat16": ("BF16", np.array([0x3FC0, 0x8000, 0x7F7F], np.uint16)),
        "float64": ("FP64", np.array([1e300, -0.0, 5e-324])),
    }
    inputs = [
        pb.ModelInferRequest.InferInputTensor(name=f"of_{d}", datatype=name, shape=[3])
        for d, (name, _) in bits.items()
    ]
    contents = [array.tobytes() for _, array in bits.values()]
    call: dict[str, Any] = {"inputs": inputs, "raw_input_contents": contents}
    found = net.grpc.infer(model="net:kinds", **call)
    for (name, array), told, content in zip(
        bits.values(), found.outputs, found.raw_output_contents, strict=True
    ):
        assert told.datatype == name
        assert content == array[::-1].tobytes()
    numbers: dict[str, list[Any]] = {
        "bool": [True, False], "int8": [-5, 7], "uint64": [2**64 - 1, 0], "float16": [0.5, 2],
        "bfloat16": [0.5, 3], "float64": [1e300, -5e-324],
    }  # fmt: skip
    document = {
        "inputs": [
            {"name": f"of_{d}", "datatype": bits[d][0], "shape": [2], "data": data}
            for d, data in numbers.items()
        ]
    }
    status, answer = net.http.infer("net:kinds", document)
    assert status == 200
    assert [o["data"] for o in answer["outputs"]] == [data[::-1] for data in numbers.values()]


def test_state_that_a_signature_changes(net: Both) -> None:
    k = {"name": "k", "datatype": "INT64", "shape": [], "data": [3]}
    found = [
        net.http.infer("net:count", {"inputs": [k]})[1]["outputs"][0]["data"] for _ in range(2)
    ]
    assert found[1][0] - found[0][0] == 3


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="shared memory is looked up there")
def test_shared_memory(net: Both) -> None:
    memory = shared_memory.SharedMemory(create=True, size=4096)
    view: Any = memory.buf
    try:
        view[64:96] = X.tobytes()
        place = {"key": memory.name, "byte_size": 4000, "offset": 64}
        for register in (True, False):
            if register:
                path = "/v2/systemsharedmemory/region/some"
                assert net.http.ask("POST", f"{path}/register", place)[0] == 200
                assert net.http.ask("POST", f"{path}/register", place)[0] == 400
                assert net.http.ask("GET", f"{path}/status")[1] == [{"name": "some"} | place]
            else:
                net.grpc.ask("SystemSharedMemoryRegister", name="some", **place)
                regions = net.grpc.ask("SystemSharedMemoryStatus").regions
                assert regions["some"].byte_size == 4000
            given = {"shared_memory_region": "some", "shared_memory_byte_size": 32}
            out = {"shared_memory_region": "some", "shared_memory_byte_size": 24,
                   "shared_memory_offset": 128}  # fmt: skip
            document = {
                "inputs": [tensor(data=None, parameters=given)],
                "outputs": [{"name": "y", "parameters": out}],
            }
            status, answer = net.http.infer("net", document)
            assert (status, answer["outputs"][0]["parameters"]) == (200, out)
            assert bytes(view[192:216]) == expected(X).tobytes()
            view[192:216] = bytes(24)
            for wrong in (
                {"shared_memory_byte_size": 31}, {"shared_memory_offset": 3990},
                {"shared_memory_offset": -1}, {"shared_memory_byte_size": "32"},
                {"shared_memory_byte_size": 1 << 62},
            ):  # fmt: skip
                inputs = [tensor(data=None, parameters=given | wrong)]
                assert net.http.infer("net", {"inputs": inputs})[0] == 400, wrong
            small = {"name": "y", "parameters": out | {"shared_memory_byte_size": 23}}
            document["outputs"] = [small]
            assert net.http.infer("net", document)[0] == 400
            if register:
                assert net.http.ask("POST", f"{path}/unregister")[0] == 200
                assert net.http.infer("net", document)[0] == 404
            else:
                # A client that takes its memory back while it is registered.
                os.truncate(f"/dev/shm/{memory.name}", 70)
                assert net.http.infer("net", document)[0] == 400
                net.grpc.ask("SystemSharedMemoryUnregister")
        for key in ("../../etc/passwd", "/etc/passwd", "", ".hidden", "a/b", "none", "/"):
            body = {"key": key, "byte_size": 8}
            path = "/v2/systemsharedmemory/region/other/register"
            assert net.http.ask("POST", path, body)[0] == 400, key
        assert net.http.ask("GET", "/v2/systemsharedmemory/region/other/status")[0] == 404
    finally:
        del view
        memory.close()
        memory.unlink()


# ------------------------------------------------------------------ many at once


@pytest.mark.parametrize("batch", [(), ("--max-batch", "64", "--max-delay-ms", "5")])
def test_a_thousand_requests_at_once(tmp_path: Path, batch: tuple[str, ...]) -> None:
    network().save(tmp_path / "net.sad")
    xs = np.random.default_rng(0).normal(size=(1000, 2, 4)).astype(F32)
    wanted = expected(xs.reshape(2000, 4)).reshape(1000, 2, 3)
    with Both(tmp_path / "net.sad", *batch) as server:

        def ask(k: int) -> np.ndarray[Any, Any]:
            x = xs[k]
            if k % 2:
                answer = server.grpc.infer(x).raw_output_contents[0]
                return np.frombuffer(answer, F32).reshape(2, 3)
            body, headers = raw(x, outputs=[{"name": "y"}])
            status, answer, told = server.http.ask("POST", "/v2/models/net/infer", body, headers)
            assert status == 200, answer
            return np.frombuffer(
                answer[int(told["Inference-Header-Content-Length"]) :], F32
            ).reshape(2, 3)

        with ThreadPoolExecutor(100) as pool:
            found = list(pool.map(ask, range(1000)))
        stats = server.http.ask("GET", "/v2/models/net/stats")[1]["model_stats"][0]
    # Batches change the order of additions in products.
    np.testing.assert_allclose(np.stack(found), wanted, rtol=1e-5, atol=1e-6)
    assert stats["inference_count"] == 2000
    if batch:
        assert stats["execution_count"] < 700
        assert max(entry["batch_size"] for entry in stats["batch_stats"]) > 10
    else:
        assert stats["execution_count"] == 1000


def test_what_is_not_batched(tmp_path: Path) -> None:
    network().save(tmp_path / "net.sad")
    with Both(tmp_path / "net.sad", "--max-batch", "8", "--max-delay-ms", "1") as server:
        # More rows than a batch has, none, other signatures, and a wrong request among right ones.
        for rows in (0, 1, 7, 8, 20):
            x = np.ones((rows, 4), F32)
            assert len(server.grpc.infer(x).raw_output_contents[0]) == rows * 12
        assert server.http.infer("net:mean", {"inputs": [tensor()]})[0] == 200
        found: list[int] = []
        threads = [
            threading.Thread(
                target=lambda k=k: found.append(
                    server.http.infer("net:checked", {"inputs": [tensor(X + k)]})[0]
                )
            )
            for k in (1, 1, -1)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 3


def test_a_server_answers_before_it_ends(tmp_path: Path) -> None:
    network().save(tmp_path / "net.sad")
    with Both(tmp_path / "net.sad") as server:
        found: list[int] = []
        body = {"inputs": [tensor(np.ones((200_000, 4), F32))]}
        thread = threading.Thread(target=lambda: found.append(server.http.infer("net", body)[0]))
        thread.start()
        time.sleep(0.5)
        assert server.stop() == 0
        thread.join()
        assert found == [200]
