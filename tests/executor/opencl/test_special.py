"""Special functions in OpenCL C against their meanings: over their domains, and at special values.

A result may be as far off as float64 is where operands are rounded: the meaning of operands that
are moved by some 1e-13 of themselves says how far.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import special

from benchmarks.special_accuracy import points
from benchmarks.special_functions import FUNCTIONS
from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.native import why_not
from staticad_executor.devices.opencl.special.library import (
    LIBRARY,
    SPECIAL,
    needed,
    why_not_special,
)
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT16, FLOAT32, FLOAT64, Array, DType
from tests.ops.nearness import moved
from tests.ops.running import inferred, meaning, types_of
from tests.ops.samples import every_sample
from tests.tolerance import units

from .generated import Building, Case, run, run_many, target_here

DOMAINS = {
    name: f
    for name, f in FUNCTIONS.items()
    if f.op in SPECIAL and why_not_special(f.op, OPS[f.op].attributes(f.attributes)) is None
}
SPECIAL_VALUES = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, -2.5, 3.0, 10.0, 30.0, -30.0, 1e-30, -1e-30, 1e30,
    -1e30, np.inf, -np.inf, np.nan,
)  # fmt: skip
FEW = (0.0, 1.0, 0.5, -1.0, 2.0, 20.0, 1e-30, 1e30, np.inf, np.nan)

Applied = tuple[str, dict[str, Any], tuple[Array, ...]]


def on_device(applied: list[Applied]) -> list[Array]:
    """The results of generated kernels, which are built as one program."""
    cases: list[Case] = []
    for op, attributes, arrays in applied:
        building = Building(*arrays)
        region = building.region(building.add(op, *range(len(arrays)), **attributes))
        cases.append((region, [generate(region, target_here())], arrays))
    return [results[0] for results, _ in run_many(cases)]


def within(name: str, applied: Applied, found: Array, ulps: float) -> None:
    """found is the meaning, but for rounding of results by so many units and of operands."""
    op, attributes, arrays = applied
    (expected,) = meaning(OPS[op], arrays, attributes)
    wide = tuple(a.astype(FLOAT64) for a in arrays)
    (exact,) = meaning(OPS[op], wide, attributes)
    a, b = found.astype(FLOAT64), expected.astype(FLOAT64)
    tiny = {FLOAT16: 2.0**-14, FLOAT32: 2.0**-126, FLOAT64: 2.0**-1022}[expected.dtype]
    with np.errstate(all="ignore"):
        allowed = units(expected.dtype, ulps) * np.maximum(np.abs(b), tiny)
        allowed = np.maximum(allowed, moved(OPS[op], attributes, wide))
        close = np.abs(a - b) <= allowed
    close |= (a == b) | (np.isnan(a) & np.isnan(b))
    # Meanings underflow early.
    close |= (np.abs(a) < tiny) & (np.abs(b) < tiny) & (expected.dtype == FLOAT64)
    close &= (exact != 0) | (a != 0) | (np.signbit(a) == np.signbit(b))
    bad = [[float(x[k]) for x in arrays] for k in np.flatnonzero(~close)]
    assert close.all(), (name, attributes, bad, a[~close], b[~close])


def over_domain(name: str, dtype: DType, count: int) -> Applied:
    function = DOMAINS[name]
    with np.errstate(over="ignore"):
        arrays = tuple(c.astype(dtype) for c in points(function, count))
    return function.op, function.attributes, arrays


def at_special_values(name: str, dtype: DType) -> Applied:
    function = DOMAINS[name]
    count = len(OPS[function.op].inputs)
    values: tuple[float, ...] = SPECIAL_VALUES if count < 3 else FEW
    if function.op == "jv":
        # Beyond, the phase has no digit.
        values = tuple(v for v in values if not 1e9 < abs(v) < np.inf)
    with np.errstate(over="ignore"):
        columns = np.array(list(itertools.product(values, repeat=count))).T.astype(dtype)
    return function.op, function.attributes, tuple(map(np.ascontiguousarray, columns))


def compare(names: list[str], dtype: DType, count: int, ulps: float) -> None:
    applied = [over_domain(name, dtype, count) for name in names]
    applied += [at_special_values(name, dtype) for name in names]
    found = on_device(applied)
    for name, given, result in zip(names * 2, applied, found, strict=True):
        within(name, given, result, ulps)


def test_bessel_functions_of_the_largest_numbers() -> None:
    x = np.array([1e150, 1e300, 1e307, 1e308, np.finfo(np.float64).max])
    applied: list[Applied] = [
        (op, OPS[op].attributes({"n": n}), (x,)) for op in ("iv", "ive", "kve") for n in range(2)
    ]
    for given, result in zip(applied, on_device(applied), strict=True):
        within(given[0], given, result, 64.0)


def samples(op: str, dtype: DType) -> list[Applied]:
    """Those of the op's own tests for which it has a function, each once in shape and order."""
    found: dict[Any, tuple[Array, ...]] = {}
    for sample in every_sample()[op]:
        attributes = OPS[op].attributes(sample.attributes)
        with np.errstate(over="ignore"):
            arrays = tuple(np.broadcast_arrays(*(a.astype(dtype) for a in sample.arrays)))
        if why_not_special(op, attributes) is None and arrays[0].size:
            given = tuple(np.ascontiguousarray(a.reshape(-1)) for a in arrays)
            key = tuple(attributes.items())
            known = found.get(key, tuple(np.empty(0, dtype) for _ in given))
            found[key] = tuple(np.concatenate(pair) for pair in zip(known, given, strict=True))
    return [(op, dict(key), arrays) for key, arrays in found.items()]


CHUNKS = [list(DOMAINS)[k : k + 8] for k in range(0, len(DOMAINS), 8)]


@pytest.mark.parametrize("names", CHUNKS, ids=lambda names: names[0])
def test_float32(names: list[str]) -> None:
    compare(names, FLOAT32, 300, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("op", sorted(SPECIAL))
def test_samples(op: str) -> None:
    for dtype, ulps in ((FLOAT32, 1.0), (FLOAT64, 64.0)):
        applied = samples(op, dtype)
        for given, result in zip(applied, on_device(applied), strict=True):
            within(op, given, result, ulps)


def test_quantiles_of_logarithms() -> None:
    y = np.concatenate([-(10.0 ** np.linspace(-30, 30, 400)), np.array(SPECIAL_VALUES)])
    narrow, wide = y.astype(FLOAT32), y[:400]
    given: Applied = ("ndtri_exp", {}, (narrow,))
    found, exact = on_device([given, ("ndtri_exp", {}, (wide,))])
    within("ndtri_exp", given, found, 1.0)
    # SciPy's own has 12 digits far out.
    np.testing.assert_allclose(special.log_ndtr(exact), wide, 1e-13)


def test_quantiles_of_gamma_numbers() -> None:
    rng = np.random.default_rng(3)
    a = np.exp(rng.uniform(np.log(1e-3), np.log(1e5), 500))
    u = np.where(rng.uniform(size=500) < 0.5, rng.uniform(size=500), 10 ** rng.uniform(-9, 0, 500))
    pairs = np.array(list(itertools.product(SPECIAL_VALUES, SPECIAL_VALUES))).T
    narrow = tuple(np.concatenate(p).astype(FLOAT32) for p in zip((a, u), pairs, strict=True))
    given: Applied = ("log_gamma_quantile", {}, narrow)
    found, exact = on_device([given, ("log_gamma_quantile", {}, (a, u))])
    within("log_gamma_quantile", given, found, 1.0)
    # Others are not numbers but logarithms only.
    near = exact > -600
    share = special.gammainc(a[near], np.exp(exact[near]))
    np.testing.assert_allclose(share, u[near], 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("names", CHUNKS, ids=lambda names: names[0])
def test_float64(names: list[str]) -> None:
    compare(names, FLOAT64, 3000, 32.0)


@pytest.mark.slow
@pytest.mark.parametrize("names", CHUNKS, ids=lambda names: names[0])
def test_half_floats(names: list[str]) -> None:
    compare(names, FLOAT16, 300, 1.0)


@pytest.mark.parametrize("many_items", [False, True])
def test_between_other_steps(many_items: bool) -> None:
    x = np.linspace(-3, 3, 6 * 1000, dtype=FLOAT32).reshape(6, 1000)
    building = Building(x)
    power = building.add("exp", 0)
    inner = building.add("multiply", building.add("gammaln", power), 0)
    total = building.add("sum", inner, axis=(1,), keepdims=True)
    weight = building.add("log_ndtr", building.add("add", inner, total))
    target = target_here()._replace(many_items=many_items, work_group=16)
    region = building.region(inner, weight)
    found, _ = run(region, [generate(region, target)], [x])
    middle = special.gammaln(np.exp(x.astype(FLOAT64))) * x
    last = special.log_ndtr(middle + middle.sum(1, keepdims=True))
    for result, exact in zip(found, (middle, last), strict=True):
        np.testing.assert_allclose(result, exact, units(FLOAT32, 16), 1e-4)


def test_functions_are_written_where_they_are_called() -> None:
    for name, text in LIBRARY.items():
        assert f" {name}" in text
        assert [n for n, _ in needed(name)][-1] == name


def test_devices_without_doubles() -> None:
    x = np.ones(3, FLOAT32)
    definition = OPS["gammaln"]
    types = types_of([x])
    outputs = inferred(definition, types, {})
    target = target_here()
    assert why_not("gammaln", {}, types, outputs, target) is None
    assert why_not("gammaln", {}, types, outputs, target._replace(fp64=False)) is not None
