"""Generated elementwise kernels against the meanings of the ops, over dtypes and layouts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from staticad_executor.devices.opencl.elementwise import elementwise
from staticad_executor.devices.opencl.native import native
from staticad_schema.op import OPS
from staticad_schema.types import BFLOAT16, BOOL, FLOAT16, FLOAT32, KINDS, NAMES, Array, DType
from tests.ops.running import meaning, types_of
from tests.ops.samples import every_sample
from tests.ops.test_expr import SPECIAL, TRANSCENDENTAL, ULPS, ULPS_OF
from tests.tolerance import units

from .generated import Building, Case, device, run_many, target_here

LENGTH = 45
"""Elements: whole vectors, and a rest."""
ELEMENTWISE = sorted(n for n, d in OPS.items() if d.elementwise and d.expr and n in every_sample())
REAL = [d for d in NAMES.values() if KINDS[d] != "complex"]
QUICK = [NAMES[n] for n in ("bool", "int32", "float32")]
CHUNKS = [ELEMENTWISE[k : k + 20] for k in range(0, len(ELEMENTWISE), 20)]

Application = tuple[str, tuple[Array, ...], dict[str, DType]]


def tiled(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """One axis of `LENGTH` elements, which repeat if they are few."""
    flat = [a.reshape(-1) for a in np.broadcast_arrays(*arrays)]
    return tuple(np.resize(a, LENGTH) for a in flat) if flat[0].size else ()


def applications(name: str, dtypes: list[DType]) -> Iterator[Application]:
    """The samples, each in all dtypes that the op takes, and special values."""
    seen = set()
    for sample in every_sample()[name]:
        arrays = tiled(sample.arrays)
        if not arrays:
            continue
        for dtype in dtypes:
            if KINDS[dtype] != KINDS[arrays[-1].dtype]:
                continue
            with np.errstate(all="ignore"):
                given = tuple(a if a.dtype == BOOL else a.astype(dtype) for a in arrays)
            yield name, given, sample.attributes
            seen.add(tuple(a.dtype for a in given))
        if {a.dtype for a in arrays} <= {*dtypes}:
            yield name, arrays, sample.attributes
    for combined in seen:
        if len(set(combined)) == 1 and combined[0] in (FLOAT32, FLOAT16) and name != "cast":
            pairs = np.array(list(itertools.product(SPECIAL, repeat=len(combined)))).T
            with np.errstate(over="ignore"):
                yield name, tuple(np.ascontiguousarray(p.astype(combined[0])) for p in pairs), {}


def runs(application: Application) -> bool:
    name, arrays, attributes = application
    types = types_of(arrays)
    complete = OPS[name].attributes(attributes)
    outputs = OPS[name].output_types(types, complete)
    return native(name, complete, types, outputs, target_here())


@pytest.mark.parametrize("names", CHUNKS, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_every_op_is_its_meaning(names: list[str]) -> None:
    compare(names, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("names", CHUNKS, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_every_op_is_its_meaning_in_every_dtype(names: list[str]) -> None:
    compare(names, [d for d in REAL if d not in QUICK])


def compare(names: list[str], dtypes: list[DType]) -> None:
    """Short vectors: compilers take long over the longest ones."""
    target = target_here()._replace(vector_bytes=16)
    applied = [a for n in names for a in applications(n, dtypes) if runs(a)]
    cases: list[Case] = []
    for name, arrays, attributes in applied:
        building = Building(*arrays)
        region = building.region(building.add(name, *range(len(arrays)), **attributes))
        cases.append((region, [elementwise(region, target)], arrays))
    for (name, arrays, attributes), (results, _) in zip(applied, run_many(cases), strict=True):
        (expected,) = meaning(OPS[name], arrays, attributes)
        check(name, arrays, results[0], expected)


def check(name: str, arrays: tuple[Array, ...], found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype
    where = name, [a.dtype.name for a in arrays]
    if KINDS[expected.dtype] != "float":
        same = found == expected
        if name == "cast" and KINDS[arrays[0].dtype] == "float":
            # What an integer cannot hold depends on the machine.
            same |= ~(np.abs(arrays[0].astype(np.float64)) < 2.0**31)
        assert same.all(), (*where, [a[~same] for a in arrays], found[~same], expected[~same])
        return
    loose = name in TRANSCENDENTAL
    a, b = found.astype(np.float64), expected.astype(np.float64)
    count = ULPS_OF.get(name, ULPS) if loose else 0
    if expected.dtype in (FLOAT16, BFLOAT16) and loose:
        # What float32 computes lies on this or that side of the middle of two half floats.
        count = 1
    tiny = float(np.finfo(np.float32).tiny) if expected.dtype != FLOAT16 else 6e-5
    size = np.maximum(np.abs(b), tiny)
    if name.startswith("logaddexp"):
        # A sum that cancels where the result is near 0.
        size = np.maximum(size, np.abs(arrays[0].astype(np.float64)))
    with np.errstate(all="ignore"):
        close = np.abs(a - b) <= units(expected.dtype, count) * size
    close |= (a == b) | (np.isnan(a) & np.isnan(b))
    # Of two zeros of unlike sign NumPy takes another one for half floats than for others.
    zero = (a == 0) & (b == 0) & (expected.dtype != FLOAT16)
    close &= ~zero | (np.signbit(a) == np.signbit(b))
    assert close.all(), (*where, [x[~close] for x in arrays], found[~close], expected[~close])


def test_device_is_there() -> None:
    assert device().handle.available
