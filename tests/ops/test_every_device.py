"""Every op on an OpenCL device, over its samples: what NumPy computes, and where it does not run.

The samples of an op are one graph, so that few programs are built.  Their sizes are symbols where
they may be.  Each graph runs again on numbers that are special.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_schema.errors import StaticadError
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, FLOAT64, KINDS, NAMES, Array, as_dtype

from ..devices import lesser, like_a_gpu, opencl, others, without_a_reason
from .every import SAMPLES, names
from .nearness import SPECIAL_FUNCTIONS, differs, is_undefined, moved, patterns_for
from .on_device import Batch, small_ones, with_dtype
from .test_every_special import special

TINY = 2.0**-1022


def sampled(dtype: str) -> list[str]:
    """The ops with samples of that dtype."""
    return [name for name in names() if with_dtype(SAMPLES[name], as_dtype(dtype))]


def check(name: str, dtype: Any, device: str | OpenCLDevice) -> None:
    """All samples of an op on a device are what NumPy makes of them, also with special numbers."""
    definition = OPS[name]
    kept = with_dtype(SAMPLES[name], dtype)
    batch = Batch(definition, [*kept, *small_ones(definition, kept)])
    assert batch.outputs
    patterns = patterns_for(name, dtype)
    more = []
    if KINDS[dtype] in ("float", "complex"):
        more = [
            [special(a, pattern, 2 * k) if a.dtype == dtype else a
             for k, (_, a) in enumerate(batch.feeds)]
            for pattern in patterns
        ]  # fmt: skip
    with np.errstate(all="ignore"):
        try:
            expected, _ = batch.run("numpy", *more)
        except StaticadError:
            # Some op refuses such numbers, on every device: test_every_special.py.
            more = []
            expected, _ = batch.run("numpy")
        found, plan = batch.run(device, *more)
    assert without_a_reason(plan) == set(), plan
    for run, (values, right) in enumerate(zip(found, expected, strict=True)):
        places = iter(more[run - 1] if run else [a for _, a in batch.feeds])
        for sample, value, wanted in zip(batch.samples, values, right, strict=True):
            if run and is_undefined(definition, sample, wanted):
                continue
            allowed: Array | float = 0.0
            if name in SPECIAL_FUNCTIONS and dtype == FLOAT64:
                operands = [next(places) for _ in sample.arrays]
                # Meanings underflow early.
                allowed = np.maximum(moved(definition, sample.attributes, operands), TINY)
            assert not differs(definition, value, wanted, allowed), (
                f"{sample} of numbers {'its own' if not run else patterns[run - 1]}: "
                f"{value}, not {wanted}"
            )


@pytest.mark.parametrize("name", sampled("float32"))
def test_M14_float32_is_as_on_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each kernel by itself, as with many elements.
    _apart(monkeypatch)
    check(name, FLOAT32, opencl())


@pytest.mark.parametrize("name", sampled("int64"))
def test_M14_int64_is_as_on_numpy(name: str) -> None:
    check(name, as_dtype("int64"), opencl())


def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["staticad_executor.compile.on_opencl"]
    monkeypatch.setattr(module, "SMALL_NANOSECONDS", 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for dtype in sorted(NAMES) for name in sampled(dtype)]
)
def test_every_dtype_on_every_device(name: str, dtype: str) -> None:
    for device in (opencl().name, *others()):
        check(name, as_dtype(dtype), device)


LESSER: dict[str, Callable[[], OpenCLDevice]] = {
    "groups of 1": lambda: lesser(work_group=1, separate=True),
    "groups of 12": lambda: like_a_gpu(work_group=12, local_bytes=1024),
    "groups of 16": lambda: lesser(work_group=16, fp64=False),
    "like a GPU": like_a_gpu,
}


@pytest.mark.slow
@pytest.mark.parametrize("limits", LESSER)
@pytest.mark.parametrize("name", sampled("float32"))
def test_float32_on_lesser_devices(name: str, limits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _apart(monkeypatch)
    check(name, FLOAT32, LESSER[limits]())
