"""What it costs to run a graph in another process, beside what gRPC itself costs.

    python benchmarks/serving.py

A run over a unix socket is timed in turns with a bare echo of as many bytes over another; 100 MB
are fed through shared memory; a server is started and asked once; and requests of one row go to a
network of three layers from many threads, with and without batches, beside the same runs in a
loop in one process.
"""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import grpc
import numpy as np

import staticad as sad
from benchmarks import measure
from staticad_schema import inference_pb2 as pb

ECHO = """
import sys, grpc
from concurrent.futures import ThreadPoolExecutor

echo = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
service = grpc.method_handlers_generic_handler("echo", {"Echo": echo})
server = grpc.server(ThreadPoolExecutor(8), handlers=[service])
server.add_insecure_port(sys.argv[1])
server.start()
print("listening", file=sys.stderr, flush=True)
server.wait_for_termination()
"""
SIZES = (16, 4096, 65536)
LAYERS = (784, 256, 128, 10)
CALLERS = 32


@contextmanager
def running(*command: str) -> Iterator[None]:
    """A server in a process of its own, from when it listens."""
    with subprocess.Popen(
        [sys.executable, *command], stderr=subprocess.PIPE, text=True, env=measure.environment()
    ) as process:
        assert process.stderr is not None
        try:
            while "listening" not in process.stderr.readline():
                pass
            yield
        finally:
            process.kill()


def in_turns(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """The median seconds of each call."""
    seconds: list[list[float]] = [[] for _ in calls]
    for number in range(rounds + rounds // 10):
        for call, spent in zip(calls, seconds, strict=True):
            start = time.perf_counter()
            call()
            if number >= rounds // 10:
                spent.append(time.perf_counter() - start)
    return [statistics.median(spent) for spent in seconds]


def overhead(folder: Path, rounds: int) -> None:
    """A run beside an echo, and beside a run in this process."""
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y, total = x * 2, sad.sum(x)
    address = f"unix:{folder}/echo"
    with (
        running("-c", ECHO, address),
        grpc.insecure_channel(address) as channel,
        sad.Session(graph, target="process") as there,
        sad.Session(graph) as here,
    ):
        echo = channel.unary_unary("/echo/Echo")
        run, local = there.callable(y, [x]), here.callable(y, [x])
        for size in SIZES:
            data = np.ones(size, np.float32)
            octets = data.tobytes()
            times = in_turns(
                rounds,
                partial(echo, octets),
                partial(run, data),
                partial(local, data),
            )
            words = ("echo", "run there", "run here")
            told = ", ".join(f"{w} {t * 1e6:.0f} µs" for w, t in zip(words, times, strict=True))
            print(f"{data.nbytes} bytes both ways: {told}")
        data, feed = np.ones(25_000_000, np.float32), there.callable(total, [x])
        (seconds,) = in_turns(max(rounds // 50, 3), lambda: feed(data))
        print(f"100 MB of feed: {seconds * 1e3:.1f} ms, {data.nbytes / seconds / 1e9:.1f} GB/s")


def network(path: Path) -> None:
    """Dense layers with ReLU, for any number of rows."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", LAYERS[0]), name="x")
        y: Any = x
        for inner, outer in itertools.pairwise(LAYERS):
            weight = sad.variable(sad.random.normal((inner, outer), scale=inner**-0.5))
            y = sad.nn.relu(y @ weight)
        graph.signature("serve", inputs={"x": x}, outputs={"y": y})
    graph.save(path)


class Caller:
    """Asks a served network about one row."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(address)
        row = np.ones((1, LAYERS[0]), np.float32)
        tensor = pb.ModelInferRequest.InferInputTensor(name="x", datatype="FP32", shape=row.shape)
        self.request = pb.ModelInferRequest(
            model_name="network", inputs=[tensor], raw_input_contents=[row.tobytes()]
        )
        self.infer = self.channel.unary_unary(
            "/inference.GRPCInferenceService/ModelInfer",
            request_serializer=pb.ModelInferRequest.SerializeToString,
            response_deserializer=pb.ModelInferResponse.FromString,
        )

    def __call__(self, number: int = 0) -> None:
        """One request."""
        self.infer(self.request)


def throughput(folder: Path, requests: int) -> None:
    """Requests a second of one row each, and the time from a server's start to its first answer."""
    path = folder / "network.sad"
    network(path)
    graph = sad.load(path)
    with sad.Session(graph) as session:
        name = graph.value_name(graph.signatures["serve"].outputs["y"])
        call = session.callable(name, ["x"])
        row = np.ones((1, LAYERS[0]), np.float32)
        (seconds,) = in_turns(requests, lambda: call(row))
        print(f"a loop in one process: {1 / seconds:.0f} rows/s")
    for words, options in (("alone", ()), ("in batches", ("--max-batch", str(CALLERS)))):
        address = f"unix:{folder}/{words[:2]}"
        start = time.perf_counter()
        serve = ("-m", "staticad_executor", "serve", str(path), "--listen", address)
        with running(*serve, *options):
            caller = Caller(address)
            caller()
            print(f"start to first answer: {time.perf_counter() - start:.2f} s")
            with ThreadPoolExecutor(CALLERS) as pool:
                list(pool.map(caller, range(requests // 4)))
                start = time.perf_counter()
                list(pool.map(caller, range(requests)))
                seconds = time.perf_counter() - start
            print(f"{CALLERS} callers, {words}: {requests / seconds:.0f} requests/s")
            caller.channel.close()


def main(rounds: int = 1000, requests: int = 2000) -> None:
    """Print all of it."""
    with tempfile.TemporaryDirectory() as folder:
        overhead(Path(folder), rounds)
        throughput(Path(folder), requests)


if __name__ == "__main__":
    main()
