"""Sessions on OpenCL devices: state, randomness, threads, failures, memory, several devices.

Each test runs on memory that the device shares with the host, and on memory of its own.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from pyopencl import _cl

import staticad as sad
from staticad_executor.devices.opencl.device import OpenCLDevice
from tests.devices import lesser, opencl, others
from tests.executor.at_once import in_threads
from tests.lines import line_ahead

Array = np.ndarray[Any, Any]
F32 = np.float32


@pytest.fixture(params=["shared", "separate"])
def device(request: pytest.FixtureRequest) -> OpenCLDevice:
    return opencl() if request.param == "shared" else lesser(separate=True)


class Network:
    """A small network in training: dropout, batch norm, Adam."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.images = rng.standard_normal((40, 12)).astype(F32)
        self.classes = rng.integers(0, 3, 40).astype(np.int32)
        with sad.Graph(seed=7) as self.graph:
            x = sad.placeholder("float32", ("batch", 12), name="x")
            labels = sad.placeholder("int32", ("batch",), name="labels")
            w = sad.variable(sad.random.normal((12, 8), scale=0.3), name="w")
            v = sad.variable(sad.random.normal((8, 3), scale=0.3), name="v")
            hidden = sad.nn.dropout(sad.tanh(x @ w), 0.25)
            self.loss = sad.nn.cross_entropy(hidden @ v, labels, name="loss")
            self.train = sad.optimizers.Adam(0.05).minimize(self.loss)

    def steps(self, session: sad.Session, count: int) -> list[float]:
        """The losses of so many steps."""
        found = []
        for k in range(count):
            rows = np.arange(k * 10, k * 10 + 10) % 40
            feeds = {"x": self.images[rows], "labels": self.classes[rows]}
            found.append(float(session.run([self.loss, self.train], feeds)[0]))
        return found


@pytest.fixture(scope="module")
def network() -> Network:
    return Network()


# ---------------------------------------------------------------- state


def test_training_is_that_of_numpy(device: OpenCLDevice, network: Network) -> None:
    with sad.Session(network.graph, device="numpy") as session:
        expected = network.steps(session, 12)
        end = session.snapshot()
    with sad.Session(network.graph, device=device) as session:
        found = network.steps(session, 12)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert (session.snapshot().run_number, session.snapshot().step) == (
            end.run_number,
            end.step,
        )
        for name, right in end.arrays.items():
            np.testing.assert_allclose(session.variables[name], right, rtol=1e-4, atol=1e-6)


def test_a_checkpoint_goes_on_where_it_was_written(
    device: OpenCLDevice, network: Network, tmp_path: Path
) -> None:
    path = tmp_path / "state.safetensors"
    with sad.Session(network.graph, device=device) as session:
        network.steps(session, 3)
        session.save(path)
        held = session.snapshot()
        expected = network.steps(session, 3)
        session.restore(held)
        assert network.steps(session, 3) == expected
    for other in (device, "numpy"):
        with sad.Session(network.graph, device=other) as session:
            session.restore(path)
            np.testing.assert_allclose(network.steps(session, 3), expected, rtol=1e-5)


def test_reads_and_writes_have_their_order(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.arange(6, dtype=F32), name="v")
        first = v.assign_add(sad.ones(6))
        seen = v.read(after=first) * 2
        second = v.assign(seen, after=seen)
        start = v * 1
    with sad.Session(graph, device=device) as session:
        for _ in range(2):
            before = session.variables["v"].copy()
            values = session.run([start, seen, first, second])
            for found, right in zip(
                values, [before, 2 * (before + 1), before + 1, 2 * (before + 1)], strict=True
            ):
                np.testing.assert_array_equal(found, right)
            np.testing.assert_array_equal(session.variables["v"], 2 * (before + 1))
        session.variables["v"] = np.full(6, 5, F32)
        np.testing.assert_array_equal(session.run(start), np.full(6, 5, F32))
        session.initialize()
        np.testing.assert_array_equal(session.run(start), np.arange(6, dtype=F32))


def test_sessions_on_other_devices_share_variables(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(5, F32), name="v")
        step = v.assign_add(sad.ones(5))
        doubled = v * 2
    with (
        sad.Session(graph, device=device) as here,
        sad.Session(graph, device="numpy", variables=here.variables) as there,
    ):
        for k in range(3):
            here.run(step)
            there.run(step)
            for session in (here, there):
                np.testing.assert_array_equal(session.run(doubled), np.full(5, 4 * k + 4, F32))


def test_results_and_snapshots_are_never_written_again(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (1000,), name="x")
        v = sad.variable(np.zeros(1000, F32), name="v")
        step = v.assign_add(sad.sin(x))
        y = sad.exp(v.read(after=step))
    with sad.Session(graph, device=device) as session:
        fed = np.linspace(0, 1, 1000, dtype=F32)
        kept = fed.copy()
        held = [(session.run([y, step], {x: fed}), session.snapshot()) for _ in range(5)]
        copies = [(r[0].copy(), r[1].copy(), s.arrays["v"].copy()) for r, s in held]
        session.run([y, step], {x: fed})
        for (values, snapshot), (first, second, third) in zip(held, copies, strict=True):
            np.testing.assert_array_equal(values[0], first)
            np.testing.assert_array_equal(values[1], second)
            np.testing.assert_array_equal(snapshot.arrays["v"], third)
        np.testing.assert_array_equal(fed, kept)


# ---------------------------------------------------------------- randomness


def test_random_numbers_are_those_of_numpy(device: OpenCLDevice) -> None:
    with sad.Graph(seed=3) as graph:
        uniform = sad.random.uniform((7, 33))
        exact = {
            "uniform": uniform,
            "double": sad.random.uniform((50,), dtype="float64"),
            "coins": sad.random.bernoulli((1001,), 0.3),
            "dice": sad.random.randint(1, 7, (4, 5)),
            "dropped": sad.nn.dropout(uniform, 0.5),
        }
        near = sad.random.normal((513,), name="normal")
    results = []
    for where in ("numpy", device):
        with sad.Session(graph, device=where) as session:
            results.append([session.run([exact, near]) for _ in range(2)])
    for (right, normal), (found, other) in zip(*results, strict=True):
        for name, value in right.items():
            assert found[name].dtype == value.dtype
            assert found[name].tobytes() == value.tobytes(), name
        np.testing.assert_array_max_ulp(other, normal, 4)
    assert not np.array_equal(results[1][0][0]["uniform"], results[1][1][0]["uniform"])


# ---------------------------------------------------------------- threads


def test_many_threads_run_one_session(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        count = sad.variable(np.zeros((), np.int64), name="count")
        step = count.assign_add(sad.constant(np.int64(1)))
        y = sad.cumulative_sum(sad.square(x)) + sad.max(x)
    with sad.Session(graph, device=device) as session:

        def work(k: int) -> None:
            data = np.arange(100 + k, dtype=F32) / (k + 1)
            expected = np.cumsum(np.square(data)) + data.max()
            for _ in range(15):
                np.testing.assert_allclose(session.run(y, {x: data}), expected, rtol=1e-5)
                session.run(step)

        in_threads(6, work)
        assert session.variables["count"] == 6 * 15


def test_a_session_can_be_cancelled(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (200, 200), name="x")
        v = sad.variable(np.zeros((), F32), name="v")
        y = x
        for _ in range(400):
            y = sad.tanh(y @ x)
        step = v.assign_add(sad.sum(y))
    fed = np.full((200, 200), 0.01, F32)
    with sad.Session(graph, device=device) as session:
        started = threading.Event()
        found: list[BaseException] = []

        def run() -> None:
            started.set()
            try:
                while True:
                    session.run(step, {x: fed})
            except sad.StaticadError as error:
                found.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        started.wait()
        while thread.is_alive():
            session.cancel()
            thread.join(0.05)
        assert isinstance(found[0], sad.CancelledError)
        before = session.variables["v"].copy()
        session.run(step, {x: fed})
        assert np.isfinite(session.variables["v"] - before)


# ---------------------------------------------------------------- failures


def test_an_index_out_of_range_names_its_line(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (5, 3), name="x")
        i = sad.placeholder("int64", ("k",), name="i")
        j = sad.placeholder("int64", ("k",), name="j")
        v = sad.variable(np.zeros(3, F32), name="v")
        first = sad.exp(sad.take(x, i, axis=0, name="first"))
        where = line_ahead(1)
        second = sad.take(x * 2, j, axis=0, name="second") + first
        step = v.assign_add(sad.sum(second, axis=0))
    rows = np.arange(15, dtype=F32).reshape(5, 3) / 10
    good: dict[Any, Any] = {x: rows, i: [0, -5, 4], j: [4, 0, -1]}
    with sad.Session(graph, device=device) as session:
        expected = np.exp(rows[[0, 0, 4]]) + 2 * rows[[4, 0, 4]]
        np.testing.assert_allclose(session.run(second, good), expected, rtol=1e-6)
        for bad in ([0, 5, 1], [0, 1, -6], [2**40, 0, 0]):
            with pytest.raises(sad.ExecutionError, match="out of range") as raised:
                session.run([second, step], {**good, j: bad})
            assert "'second'" in str(raised.value)
            assert where in str(raised.value)
            with pytest.raises(sad.ExecutionError, match="'first'"):
                session.run(second, {**good, i: bad})
        np.testing.assert_array_equal(session.variables["v"], np.zeros(3, F32))
        np.testing.assert_allclose(session.run(second, good), expected, rtol=1e-6)


def test_an_empty_axis_has_no_indices(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 3), name="x")
        i = sad.placeholder("int64", ("k",), name="i")
        y = sad.take(x, i, axis=0) + 1
    with sad.Session(graph, device=device) as session:
        empty = np.zeros((0, 3), F32)
        assert session.run(y, {x: empty, i: np.zeros(0, np.int64)}).shape == (0, 3)
        with pytest.raises(sad.ExecutionError, match="out of range"):
            session.run(y, {x: empty, i: [0]})


def test_what_memory_lacks_is_told_and_variables_stay(device: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 1), name="x")
        v = sad.variable(np.zeros((), F32), name="v")
        where = line_ahead(1)
        far = sad.sort(x + sad.permute_dims(x, (1, 0)))
        step = v.assign_add(sad.sum(far))
    with sad.Session(graph, device=device) as session:
        session.run(step, {x: np.ones((3, 1), F32)})
        with pytest.raises(sad.ExecutionError, match="out of memory") as raised:
            session.run(step, {x: np.ones((10**6, 1), F32)})
        assert "'sort_" in str(raised.value)
        assert where in str(raised.value)
        assert session.variables["v"] == 18
        session.run(step, {x: np.ones((3, 1), F32)})
        assert session.variables["v"] == 36


def test_a_device_without_memory_is_told_and_variables_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = lesser(separate=True)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        v = sad.variable(np.zeros((), F32), name="v")
        where = line_ahead(1)
        step = v.assign_add(sad.sum(sad.sort(x)))

    def nothing(size: int) -> Any:
        raise MemoryError(f"{size} bytes are not there")

    with sad.Session(graph, device=device) as session:
        session.run(step, {x: np.ones(3, F32)})
        with monkeypatch.context() as patch:
            patch.setattr(device.buffers, "_buffer", nothing)
            with pytest.raises(sad.ExecutionError, match="out of memory") as raised:
                session.run(step, {x: np.ones(10**6, F32)})
        assert "'sort_" in str(raised.value)
        assert where in str(raised.value)
        assert session.variables["v"] == 3
        session.run(step, {x: np.ones(10**6, F32)})
        assert session.variables["v"] == 1_000_003


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (cl.MemoryError, cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE, "out of memory"),
        (cl.RuntimeError, cl.status_code.OUT_OF_RESOURCES, "out of memory"),
        (cl.LogicError, cl.status_code.INVALID_KERNEL_ARGS, "the device failed"),
    ],
)
def test_what_a_driver_refuses_to_enqueue_names_its_line(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, error: Any, code: Any, words: str
) -> None:
    def refused(*arguments: Any) -> None:
        raise error(_cl._ErrorRecord(msg="no", code=code, routine="enqueue"))

    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        where = line_ahead(1)
        y = sad.exp(x, name="y")
    given: Any = {x: np.ones(100_000, F32)}
    with sad.Session(graph, device=device) as session:
        with monkeypatch.context() as patch:
            patch.setattr(cl, "enqueue_nd_range_kernel", refused)
            with pytest.raises(sad.ExecutionError, match=words) as raised:
                session.run(y, given)
        assert "'y'" in str(raised.value)
        assert where in str(raised.value)
        np.testing.assert_allclose(session.run(y, given), np.exp(given[x]), rtol=1e-6)


def test_what_is_larger_than_a_buffer_runs_on_numpy_visibly() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.exp(x) + 1
    with sad.Session(graph, device=lesser(allocation_bytes=4096)) as session:
        for n in (1000, 2000):
            fed = np.linspace(0, 1, n, dtype=F32)
            np.testing.assert_allclose(session.run(y, {x: fed}), np.exp(fed) + 1, rtol=1e-6)
        assert "is larger than its largest buffer" in session.explain(y, {"n": 2000})
        assert "largest buffer" not in session.explain(y, {"n": 1000})


# ---------------------------------------------------------------- memory


def test_a_closed_session_gives_its_memory_back() -> None:
    device = lesser(separate=True)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        v = sad.variable(np.zeros(100_000, F32), name="v")
        step = v.assign_add(sad.sort(x) * 2)
    gc.collect()
    before = device.buffers.live_bytes
    with sad.Session(graph, device=device) as session:
        for _ in range(5):
            session.run(step, {x: np.ones(100_000, F32)})
        used = device.buffers.live_bytes
        assert used >= before + 400_000
        for _ in range(20):
            session.run(step, {x: np.ones(100_000, F32)})
        assert device.buffers.live_bytes <= used
    del session
    gc.collect()
    assert device.buffers.live_bytes == before
    assert device.trim() > 0
    assert device.buffers.idle_bytes == 0


# ---------------------------------------------------------------- several devices


def mixed(*hints: str) -> tuple[sad.Graph, Any, Any]:
    """A graph whose parts ask for devices in turn, and its value and gradient."""
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 6), name="x")
        y = x
        for k, hint in enumerate(hints):
            with sad.device(hint):
                y = sad.tanh(y @ sad.constant(np.eye(6, dtype=F32) * (k + 1))) + sad.sum(y) / 100
        loss = sad.sum(y * y)
        (slope,) = sad.gradients(loss, x)
    return graph, loss, slope


def devices_of_hints() -> Iterator[tuple[str, ...]]:
    yield opencl().name, "numpy", opencl().name, "numpy"
    for other in others():
        yield opencl().name, other, "numpy", opencl().name, other


@pytest.mark.parametrize("session_on", ["numpy", "opencl", "separate"])
def test_parts_of_a_graph_run_where_they_ask(session_on: str) -> None:
    devices: dict[str, Any] = {"numpy": "numpy", "opencl": opencl()}
    device = devices[session_on] if session_on in devices else lesser(separate=True)
    fed = np.random.default_rng(1).standard_normal((5, 6)).astype(F32)
    for hints in devices_of_hints():
        graph, loss, slope = mixed(*hints)
        with sad.Session(graph, device="numpy") as session:
            plain = sad.Session(mixed("numpy", *["numpy"] * (len(hints) - 1))[0], device="numpy")
            expected = plain.run([plain.graph.handle(loss.id), plain.graph.handle(slope.id)],
                                 {"x": fed})  # fmt: skip
        with sad.Session(graph, device=device) as session:
            for _ in range(3):
                found = session.run([loss, slope], {"x": fed})
                for value, right in zip(found, expected, strict=True):
                    np.testing.assert_allclose(value, right, rtol=1e-5, atol=1e-6)
            plan = session.explain([loss, slope])
        for hint in set(hints):
            assert f"@{hint} " in plan, plan


def test_a_hint_for_what_is_not_there_is_told() -> None:
    graph, loss, _ = mixed("opencl:no such platform")
    with sad.Session(graph, device="numpy") as session:
        assert session.run(loss, {"x": np.ones((1, 6), F32)}) > 0
        plan = session.explain(loss)
    assert "asks for opencl:no such platform, runs on numpy" in plan


def test_a_device_without_doubles_leaves_them_to_numpy() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (8,), name="x")
        y = sad.placeholder("float32", (8,), name="y")
        z = sad.exp(x) + sad.sum(sad.cast(sad.exp(y), "float64"))
    fed: dict[Any, Array] = {x: np.linspace(0, 1, 8), y: np.linspace(0, 1, 8, dtype=F32)}
    device = lesser(fp64=False)
    with sad.Session(graph, device=device) as session:
        right = np.exp(fed[x]) + np.exp(fed[y]).astype(np.float64).sum()
        np.testing.assert_allclose(session.run(z, fed), right, rtol=1e-6)
        plan = session.explain(z)
    assert "the device does not compute with float64" in plan
    assert f"@{device.name} exp" in plan
