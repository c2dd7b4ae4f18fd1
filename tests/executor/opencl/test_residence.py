"""Variables stay in the memory of a device of its own until the host asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.devices.opencl.device import OpenCLDevice, restricted_device
from staticad_executor.devices.opencl.discovery import Found
from staticad_executor.devices.opencl.transfer import Staging
from staticad_executor.residence import Resident, hosted
from staticad_schema.errors import ExecutionError
from staticad_schema.types import FLOAT32, Array

SIZES = (16, 40, 4)


class Traffic:
    """The bytes that went to a device and came from it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.up = self.down = 0
        upload, download = Staging.upload, Staging.download

        def counted_up(staging: Staging, array: Array, memory: Any) -> None:
            self.up += array.nbytes
            upload(staging, array, memory)

        def counted_down(staging: Staging, memory: Any, array: Array) -> None:
            self.down += array.nbytes
            download(staging, memory, array)

        monkeypatch.setattr(Staging, "upload", counted_up)
        monkeypatch.setattr(Staging, "download", counted_down)

    def taken(self) -> tuple[int, int]:
        """What went since this was asked last."""
        found = self.up, self.down
        self.up = self.down = 0
        return found


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    return Traffic(monkeypatch)


@pytest.fixture
def far(found: Found) -> Iterator[OpenCLDevice]:
    device = restricted_device(found.label, separate=True)
    yield device
    device.trim()


def network() -> tuple[Any, Any, Any, Any, Any]:
    """(graph, x, labels, loss, train)."""
    with sad.Graph(seed=4) as graph:
        x = sad.placeholder("float32", ("n", SIZES[0]), name="x")
        labels = sad.placeholder("int32", ("n",), name="labels")
        h = sad.nn.relu(sad.nn.dense(x, SIZES[1], name="first"))
        loss = sad.nn.cross_entropy(sad.nn.dense(h, SIZES[2], name="second"), labels, name="loss")
        train = sad.optimizers.Adam(1e-2).minimize(loss)
    return graph, x, labels, loss, train


def batch() -> tuple[Array, Array]:
    rng = np.random.default_rng(2)
    return rng.normal(size=(32, SIZES[0])).astype(np.float32), rng.integers(0, 4, 32, np.int32)


def test_training_moves_feeds_and_fetches_only(far: OpenCLDevice, traffic: Traffic) -> None:
    graph, x, labels, loss, train = network()
    data, classes = batch()
    with sad.Session(graph, far) as session, sad.Session(graph, "numpy") as host:
        for step in range(4):
            traffic.taken()
            value = session.run([loss, train], {x: data, labels: classes})[0]
            up, down = traffic.taken()
            expected = host.run([loss, train], {x: data, labels: classes})[0]
            np.testing.assert_allclose(value, expected, rtol=1e-5)
            if step:
                assert up == data.nbytes + classes.nbytes
                # The loss, and whether labels are in range.
                assert down == 8
        for name in session.variables:
            np.testing.assert_allclose(
                session.variables[name], host.variables[name], rtol=1e-4, atol=1e-6
            )
        session.run([loss, train], {x: data, labels: classes})
        # Variables that lie in one array are read one by one.
        session.run(loss, {x: data, labels: classes})
        traffic.taken()
        assert session.run(loss, {x: data, labels: classes}) < value
        assert traffic.taken() == (data.nbytes + classes.nbytes, 8)


def test_two_sessions_share_variables_across_memory_spaces(far: OpenCLDevice) -> None:
    graph, x, labels, loss, train = network()
    data, classes = batch()
    given = {x: data, labels: classes}
    with sad.Session(graph, "numpy") as alone:
        expected = [float(alone.run([loss, train], given)[0]) for _ in range(6)]
    with (
        sad.Session(graph, far) as there,
        sad.Session(graph, "numpy", variables=there.variables) as here,
    ):
        losses = []
        for session in (there, here, there, there, here, there):
            losses.append(float(session.run([loss, train], given)[0]))
    np.testing.assert_allclose(losses, expected, rtol=1e-5)


def test_checkpoints_snapshots_and_assignments_see_the_newest_values(
    far: OpenCLDevice, tmp_path: Any
) -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(3, np.float32), name="v")
        w = sad.variable(np.ones(3, np.float32), name="w")
        step = sad.group(v.assign_add(w * 2), w.assign(v + 1))
        swap = sad.group(v.assign(w), w.assign(v))
    with sad.Session(graph, far) as session:
        session.run(step)
        assert session.variables["v"].tolist() == [2, 2, 2]
        held = session.snapshot()
        session.save(tmp_path / "at.safetensors")
        session.run(step)
        assert session.variables["v"].tolist() == [4, 4, 4]
        session.run(swap)
        assert session.variables["w"].tolist() == [4, 4, 4]
        assert session.variables["v"].tolist() == [3, 3, 3]
        session.restore(held)
        assert session.variables["v"].tolist() == [2, 2, 2]
        session.variables["v"] = [7.0, 8.0, 9.0]
        value, _ = session.run([v.assign_add(np.ones(3, np.float32)), step])
        # Writes apply in the order in which they were created.
        assert value.tolist() == [10, 11, 12]
        session.restore(tmp_path / "at.safetensors")
        assert session.variables["v"].tolist() == [2, 2, 2]
        assert session.variables["w"].tolist() == [1, 1, 1]


def test_what_numpy_runs_between_gets_the_values(far: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.eye(3, dtype=np.float32) * 4, name="v")
        with sad.device("numpy"):
            root = sad.linalg.cholesky(v)
        train = v.assign(root * 2 + 1)
    with sad.Session(graph, far) as session, sad.Session(graph, "numpy") as host:
        for _ in range(1):
            session.run(train)
            host.run(train)
        np.testing.assert_allclose(session.variables["v"], host.variables["v"], rtol=1e-6)


def test_a_failed_run_leaves_what_was_resident(far: OpenCLDevice) -> None:
    with sad.Graph() as graph:
        i = sad.placeholder("int32", (2,), name="i")
        v = sad.variable(np.arange(4, dtype=np.float32), name="v")
        step = v.assign_add(sad.sum(sad.take(v, i)) + sad.zeros(4))
    with sad.Session(graph, far) as session:
        session.run(step, {i: [0, 1]})
        assert session.variables["v"].tolist() == [1, 2, 3, 4]
        with pytest.raises(ExecutionError, match="out of range"):
            session.run(step, {i: [0, 4]})
        session.run(step, {i: [0, 0]})
        assert session.variables["v"].tolist() == [3, 4, 5, 6]


def test_memory_comes_back_when_nobody_holds_it(found: Found) -> None:
    device = restricted_device(found.label, separate=True)
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(1 << 16, np.float32), name="v")
        step = v.assign_add(sad.ones(1 << 16))
    with sad.Session(graph, device) as session:
        session.run(step)
        session.run(step)
        held = device.buffers.live_bytes
        for _ in range(20):
            session.run(step)
        assert device.buffers.live_bytes <= held
    del session
    assert device.trim() > 0
    assert device.buffers.live_bytes < held


def test_a_value_is_copied_once_and_a_lost_device_is_told() -> None:
    copies = []

    def download(memory: Any, array: Array) -> None:
        copies.append(memory)
        array[...] = 5

    value = Resident((2,), FLOAT32, "far", "memory", download)
    assert hosted(value) is hosted(value)
    assert value.host().tolist() == [5, 5]
    assert not value.host().flags.writeable
    assert copies == ["memory"]

    def lost(memory: Any, array: Array) -> None:
        raise ExecutionError("the device failed", asked="far", expected="no failure", found="gone")

    with pytest.raises(ExecutionError, match=r"last snapshot or checkpoint"):
        Resident((2,), FLOAT32, "far", "memory", lost).host()
