"""What tritonclient's users do, run by an interpreter that has it: HTTP and gRPC addresses are the
arguments.  Its protobuf messages cannot share a process with this project's."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import tritonclient.grpc as over_grpc
import tritonclient.http as over_http
import tritonclient.utils.shared_memory as shm
from tritonclient.utils import InferenceServerException

X = np.arange(8, dtype=np.float32).reshape(2, 4) / 7


def given(module: Any, x: Any, **how: Any) -> Any:
    tensor = module.InferInput("x", x.shape, "FP32")
    tensor.set_data_from_numpy(x, **how)
    return tensor


def fails(call: Any, words: str) -> None:
    said = "no error"
    try:
        call()
    except InferenceServerException as error:
        said = str(error)
    assert words in said, said


def check(module: Any, address: str) -> Any:
    client = module.InferenceServerClient(address)
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("net")
    assert not client.is_model_ready("none")
    as_json = {} if module is over_http else {"as_json": True}
    assert client.get_server_metadata(**as_json)["name"] == "staticad-executor"
    assert client.get_model_metadata("net", **as_json)["inputs"][0]["datatype"] == "FP32"

    result = client.infer("net", [given(module, X)], request_id="one")
    y = result.as_numpy("y")
    assert y.shape == (2, 3)
    assert result.as_numpy("best").tolist() == y.argmax(1).tolist()
    outputs = [module.InferRequestedOutput("best")]
    result = client.infer("net", [given(module, X)], outputs=outputs, model_version="1")
    assert result.as_numpy("y") is None

    if module is over_http:
        for raw_in in (True, False):
            for raw_out in (True, False):
                outputs = [module.InferRequestedOutput("y", binary_data=raw_out)]
                tensor = given(module, X, binary_data=raw_in)
                for algorithm in (None, "gzip", "deflate"):
                    found = client.infer(
                        "net", [tensor], outputs=outputs,
                        request_compression_algorithm=algorithm,
                        response_compression_algorithm=algorithm,
                    )  # fmt: skip
                    assert found.as_numpy("y").tobytes() == y.tobytes()
    else:
        for algorithm in (None, "gzip", "deflate"):
            found = client.infer("net", [given(module, X)], compression_algorithm=algorithm)
            assert found.as_numpy("y").tobytes() == y.tobytes()

    handle = shm.create_shared_memory_region("in", f"staticad-{module.__name__}", 256)
    try:
        shm.set_shared_memory_region(handle, [X])
        client.register_system_shared_memory("in", f"staticad-{module.__name__}", 256)
        tensor = module.InferInput("x", X.shape, "FP32")
        tensor.set_shared_memory("in", X.nbytes)
        output = module.InferRequestedOutput("y")
        output.set_shared_memory("in", y.nbytes, offset=128)
        client.infer("net", [tensor], outputs=[output])
        found = shm.get_contents_as_numpy(handle, np.float32, [2, 3], offset=128)
        assert found.tobytes() == y.tobytes()
        client.unregister_system_shared_memory("in")
    finally:
        shm.destroy_shared_memory_region(handle)

    fails(lambda: client.infer("none", [given(module, X)]), "no model 'none'")
    fails(lambda: client.infer("net", [given(module, X)], model_version="9"), "no version")
    fails(lambda: client.infer("net", [given(module, X[:, :2])]), "another shape")
    fails(lambda: client.infer("net", []), "is missing")

    names = {m["name"] for m in index(client, module)}
    assert names == {"net", "net:mean", "net:count", "net:kinds", "net:checked", "net:log"}
    client.unload_model("net")
    assert not client.is_model_ready("net")
    client.load_model("net")
    assert client.is_model_ready("net")
    client.infer("net", [given(module, X)])
    stats = client.get_inference_statistics("net", **as_json)["model_stats"][0]
    assert int(stats["inference_stats"]["success"]["count"]) == 1

    def ask(k: int) -> bool:
        x = np.full((1, 4), k / 50, np.float32)
        found = connection.infer("net", [given(module, x)]).as_numpy("y")
        return bool(np.allclose(found, client_values[k], rtol=1e-5, atol=1e-6))

    many = np.repeat(np.arange(50, dtype=np.float32)[:, None] / 50, 4, axis=1)
    client_values = client.infer("net", [given(module, many)]).as_numpy("y")
    concurrency = {"concurrency": 10} if module is over_http else {}
    connection = module.InferenceServerClient(address, **concurrency)
    if module is over_http:
        # Its client is of one thread and many requests.
        asked = [connection.async_infer("net", [given(module, many[k : k + 1])]) for k in range(50)]
        found = np.concatenate([a.get_result().as_numpy("y") for a in asked])
        assert np.allclose(found, client_values, rtol=1e-5, atol=1e-6)
    else:
        with ThreadPoolExecutor(10) as pool:
            assert all(pool.map(ask, range(50)))
    return y


def index(client: Any, module: Any) -> Any:
    if module is over_http:
        return client.get_model_repository_index()
    return client.get_model_repository_index(as_json=True)["models"]


if __name__ == "__main__":
    results = [check(over_http, sys.argv[1]), check(over_grpc, sys.argv[2])]
    assert results[0].tobytes() == results[1].tobytes()
    print("all well")
