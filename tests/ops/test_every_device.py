"""Every op on an OpenCL device, over its samples: what NumPy computes, and where it does not run.

The samples of an op are one graph, so that few programs are built.  Their sizes are symbols where
they may be.  Each graph runs again on numbers that are special.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_schema.errors import StaticadError
from staticad_schema.op import OPS, Op
from staticad_schema.types import FLOAT32, KINDS, NAMES, Array, as_dtype

from ..devices import lesser, opencl, others
from .every import EPS, SAMPLES, names
from .on_device import Batch, small_ones, with_dtype
from .samples import Sample
from .test_every_special import PATTERNS, special

# What differs from NumPy in the last places: sums and products of many elements, whose order is
# the device's own, and functions that are not correctly rounded by either side.
SUMS = frozenset(
    {
        "attention", "conv", "conv_input", "conv_weights", "cross_entropy", "cumulative_logsumexp",
        "cumulative_prod", "cumulative_sum", "linear_recurrence", "log_softmax", "logsumexp",
        "masked_softmax", "matmul", "matmul_no_nan", "matmul_transposed", "norm", "norm_direction",
        "normalize", "prod", "scatter_add", "scatter_multiply", "softmax", "sum", "sum_to",
        "window_spread", "window_sum",
    }
)  # fmt: skip
FUNCTIONS = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh",
        "direction", "entr", "erf", "erfc", "exp", "exp2", "expm1", "gelu", "hypot",
        "inverse_power", "kl_div", "log", "log10", "log1p", "log2", "log_ratio", "log_sigmoid",
        "logaddexp", "logaddexp2", "logit", "mish", "pow", "rel_entr", "rsqrt", "sigmoid", "silu",
        "sin", "sinc", "sinh", "softplus", "softsign", "tan", "tanh", "xlog1py", "xlogy",
    }
)  # fmt: skip
CONVOLUTIONS = frozenset({"conv", "conv_input", "conv_weights"})
SPECIAL_FUNCTIONS = frozenset(
    {
        "beta", "beta_density", "betainc", "betaincc", "betaln", "digamma", "erfcinv", "erfcx",
        "erfinv", "exp1", "expi", "exprel", "gamma", "gamma_density", "gammainc", "gammaincc",
        "gammaln", "iv", "ive", "jv", "kv", "kve", "log_ndtr", "ndtri", "ndtri_exp",
        "normal_hazard", "polygamma", "polygamma_step", "riemann_zeta", "zeta",
    }
)  # fmt: skip
"""Computed in float64 on both sides, and rounded once."""


def units_of(definition: Op) -> float:
    """How many units in the last place a result may be from NumPy's."""
    if definition.name in SUMS:
        return 16.0
    if definition.name in FUNCTIONS:
        return 4.0
    return 1.0 if definition.name in SPECIAL_FUNCTIONS else 0.0


def differs(definition: Op, found: Array, expected: Array) -> bool:
    """Whether a result is not NumPy's: by more than it may be, relatively; where elements are
    sums, relatively to the largest of them."""
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return True
    if KINDS[found.dtype] not in ("float", "complex"):
        return bool((found != expected).any())
    if not found.size:
        return False
    a, b = (x.astype(np.result_type(x.dtype, np.float64)) for x in (found, expected))
    close = (a == b) | (np.isnan(a) & np.isnan(b))
    count = units_of(definition)
    if count:
        eps = EPS.get(found.dtype, EPS[FLOAT32])
        finite = np.abs(b[np.isfinite(b)])
        scale = np.abs(b)
        if definition.name in SUMS and finite.size:
            scale = np.broadcast_to(finite.max(), b.shape)
        least = float(np.finfo(np.float32).smallest_subnormal)
        with np.errstate(invalid="ignore"):
            close |= np.isfinite(a) & (np.abs(a - b) <= count * (eps * scale + least))
    signs = (a == 0) & (b == 0) & (np.signbit(a.real) != np.signbit(b.real))
    return not bool(close.all()) or bool(signs.any())


def patterns_for(name: str) -> tuple[tuple[float, ...], ...]:
    """The special numbers for which an op has one result, however it is computed."""
    if name in CONVOLUTIONS:
        # What lies in no window, or in the padding, is 0 times a weight, or is nothing.
        return tuple(p for p in PATTERNS if np.isfinite(p).all() and max(map(abs, p)) < 2)
    # Where sums leave the range of numbers, their order decides between infinity and NaN.
    return PATTERNS[1:] if name in SUMS else PATTERNS


def is_undefined(definition: Op, sample: Sample, result: Array) -> bool:
    """Whether special numbers are cast to integers, of which processors make what they like."""
    floats = any(KINDS[a.dtype] in ("float", "complex") for a in sample.arrays)
    return definition.name == "cast" and floats and KINDS[result.dtype] in ("int", "uint")


def without_a_reason(plan: str) -> set[str]:
    """The ops that a plan runs on NumPy and does not say why."""
    told = " ".join(part for part in plan.splitlines() if part.startswith("on numpy: "))
    found: set[str] = set()
    for ops in re.findall(r"^\d+ (?:region|kernel) @numpy (\S+)", plan, re.MULTILINE):
        found.update(re.findall(r"\w+", ops))
    return {op for op in found if not re.search(rf"\b{op}\b", told)}


def check(name: str, dtype: Any, device: str | OpenCLDevice) -> None:
    """All samples of an op on a device are what NumPy makes of them, also with special numbers."""
    definition = OPS[name]
    kept = with_dtype(SAMPLES[name], dtype)
    batch = Batch(definition, [*kept, *small_ones(definition, kept)])
    if not batch.outputs:
        pytest.skip(f"no sample of {dtype.name}")
    patterns = patterns_for(name)
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
        for sample, value, wanted in zip(batch.samples, values, right, strict=True):
            if run and is_undefined(definition, sample, wanted):
                continue
            assert not differs(definition, value, wanted), (
                f"{sample} of numbers {'its own' if not run else patterns[run - 1]}: "
                f"{value}, not {wanted}"
            )


@pytest.mark.parametrize("name", names())
def test_float32_is_as_on_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each kernel by itself, as with many elements.
    _apart(monkeypatch)
    check(name, FLOAT32, opencl())


@pytest.mark.parametrize("name", names())
def test_int64_is_as_on_numpy(name: str) -> None:
    check(name, as_dtype("int64"), opencl())


def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["staticad_executor.compile.on_opencl"]
    monkeypatch.setattr(module, "SMALL_NANOSECONDS", 0)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", sorted(NAMES))
@pytest.mark.parametrize("name", names())
def test_every_dtype_on_every_device(name: str, dtype: str) -> None:
    for device in (opencl().name, *others()):
        check(name, as_dtype(dtype), device)


LIMITS = [
    {"work_group": 1, "separate": True},
    {"work_group": 12, "local_bytes": 1024},
    {"work_group": 16, "fp64": False},
]


@pytest.mark.slow
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("name", names())
def test_float32_on_lesser_devices(name: str, limits: dict[str, Any]) -> None:
    check(name, FLOAT32, lesser(**limits))
