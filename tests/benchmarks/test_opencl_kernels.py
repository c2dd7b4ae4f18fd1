"""What the benchmarks of OpenCL kernels count and compare."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import staticad as sad
from benchmarks import opencl_kernels
from benchmarks.on_opencl.cases import cases
from benchmarks.on_opencl.planned import Planned
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_executor.machine import Limits

from ..devices import lesser, opencl

LIMITS = Limits(1e12, 1e12, 1e12, 1e12)


@pytest.fixture(params=["of the host", "its own"])
def device(request: pytest.FixtureRequest) -> OpenCLDevice:
    """The device, with its memory of either kind."""
    return opencl() if request.param == "of the host" else lesser(separate=True)


@pytest.mark.parametrize("workload", opencl_kernels.ELEMENTWISE)
def test_regions_move_nothing_beyond_what_flows_in_and_out(workload: str) -> None:
    moved = opencl_kernels.traffic(workload, opencl())
    assert max(each.ends for each in moved) > 1 << 20


def test_what_is_moved_is_counted_for_each_kernel(device: OpenCLDevice) -> None:
    x = np.ones((64, 64), np.float32)
    with sad.Graph():
        a = sad.placeholder("float32", x.shape, name="a")
        y = sad.tanh(a) + 1.0
        products = y @ a
    planned = Planned([products], {a: x}, device)
    region, product = planned.moved()
    assert region.ops == ("tanh", "add")
    # The number is a part of the kernel.
    assert (region.ends, region.touched) == (2 * x.nbytes + 4, 2 * x.nbytes)
    assert product.touched >= 3 * x.nbytes
    np.testing.assert_allclose(planned.results()[0], (np.tanh(x) + 1) @ x, rtol=1e-5)


def test_a_chain_is_a_launch_a_product(device: OpenCLDevice) -> None:
    chain = opencl_kernels.chain(5, device)
    launches = chain.launches()
    assert len(launches) == 5
    before = chain.results()[0].copy()
    for launch in launches:
        launch()
    device.runtime.finish()
    np.testing.assert_array_equal(chain.results()[0], before)
    assert sorted(before.sum(0)) == [1.0] * 8


def test_kernels_of_the_table_are_right(device: OpenCLDevice) -> None:
    for case in islice(cases("tiny"), None, None, 3):
        record = opencl_kernels.roofline(case, device, LIMITS, 1e-3, False)
        assert record["ok"], record
        assert record["launches"] > 0
        row = opencl_kernels.roofline_row(record)
        assert len(row) == len(opencl_kernels.ROOFLINE)


def test_numbers_are_compared() -> None:
    right = np.array([1.0, 1000.0], np.float32)
    assert opencl_kernels.close(right + np.float32(1e-3), right)
    assert not opencl_kernels.close(right + np.float32(1.0), right)
    assert not opencl_kernels.close(np.array([1, 2]), np.array([1, 3]))
