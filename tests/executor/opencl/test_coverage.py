"""What runs as generated kernels, what falls back and why: over all ops and their samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.native import why_not
from staticad_executor.devices.opencl.special.library import SPECIAL
from staticad_executor.devices.opencl.target import Target
from staticad_schema.errors import StaticadError
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, INT32, KINDS, NAMES, Array, DType
from tests.ops.running import meaning, types_of
from tests.ops.samples import Sample, every_sample
from tests.tolerance import units

from .generated import Building, Case, run_many, target_here

CPU = Target(vector_bytes=32, many_items=False, units=2, local_bytes=1 << 16)
LESS = CPU._replace(fp64=False, many_items=True, work_group=12, local_bytes=1024)

NOT_COMPUTED = frozenset(
    {
        "assign", "assign_add", "assign_sub", "call", "check", "check_only", "constant",
        "custom_rule", "group", "implicit",
        "parameter", "path_within", "placeholder", "print", "random_bits_at", "read_variable",
        "run_number", "scan", "switch", "variable", "while_loop",
    }
)  # fmt: skip
"""Sources, writes, checks, calls, choices and loops: a plan has no kernel for them there."""

ELSEWHERE = frozenset(
    {
        "cholesky", "commutators", "cosine", "determinant", "finding", "fourier", "lu",
        "matrix_functions", "orthogonal", "singular", "solving", "spectral", "triangular",
    }
)  # fmt: skip
"""Families that run on NumPy: linear algebra, transforms, sizes that runs find."""
REJECTION = frozenset({"binomial_quantile", "poisson_quantile"})
"""Samplers that search."""

NO_SAMPLE = "it has no sample of real numbers"
_ORDERS = "it has no function in OpenCL C for order=1; it has no function in OpenCL C for order=3"
FALL_BACK = {
    "attention": "it is expanded into other ops",
    "complex": NO_SAMPLE,
    "imag": NO_SAMPLE,
    "riemann_zeta": _ORDERS,
    "zeta": _ORDERS,
}
"""Why the others fall back."""


def counted() -> list[str]:
    """The ops of which most are to be native."""
    return [
        name
        for name, definition in sorted(OPS.items())
        if name not in NOT_COMPUTED | REJECTION and definition.family not in ELSEWHERE
    ]


def in_dtype(sample: Sample, dtype: DType) -> tuple[Array, ...] | None:
    """The operands of a sample with its floats in a dtype, or where it has none its first operand
    in one that is no float; None for complex ones."""
    kinds = [KINDS[a.dtype] for a in sample.arrays]
    if "complex" in kinds:
        return None
    if "float" in kinds:
        moved = [kind == "float" for kind in kinds]
    else:
        moved = [k == 0 and KINDS[dtype] != "float" for k in range(len(kinds))]
    with np.errstate(all="ignore"):
        return tuple(a.astype(dtype) if m else a for a, m in zip(sample.arrays, moved, strict=True))


Application = tuple[tuple[Array, ...], dict[str, object]]


def applications(name: str, dtypes: tuple[DType, ...]) -> Iterator[Application]:
    """The samples of an op in these dtypes, as far as it takes them; each layout once."""
    seen = set()
    definition = OPS[name]
    for sample in every_sample().get(name, []):
        complete = definition.attributes(sample.attributes)
        for dtype in dtypes:
            arrays = in_dtype(sample, dtype)
            if arrays is None:
                continue
            types = types_of(arrays)
            try:
                outputs = definition.output_types(types, complete)
            except StaticadError:
                continue
            layout = (types, str(sample.attributes))
            if any(KINDS[t.dtype] == "complex" for t in outputs) or layout in seen:
                continue
            seen.add(layout)
            yield arrays, complete


def why(name: str, arrays: tuple[Array, ...], attributes: dict[str, object], on: Target) -> str:
    """Why it does not run; nothing if it does."""
    types = types_of(arrays)
    return why_not(name, attributes, types, OPS[name].output_types(types, attributes), on) or ""


@cache
def reasons(name: str, on: Target = CPU) -> tuple[str, ...]:
    """Why samples of an op in float32 and int32 fall back; nothing if all are native."""
    found = {why(name, a, given, on) for a, given in applications(name, (FLOAT32, INT32))}
    return tuple(sorted(found - {""})) if found else (NO_SAMPLE,)


def share(on: Target = CPU) -> float:
    """How many of the counted ops are native."""
    names = counted()
    return sum(not reasons(name, on) for name in names) / len(names)


def table(on: Target = CPU) -> str:
    """What is native, and why the rest is not, one line an op."""
    lines = []
    for name in sorted(OPS):
        if name not in NOT_COMPUTED:
            lines.append(f"{name:22} {'; '.join(reasons(name, on)) or 'native'}")
    return "\n".join(lines)


# ---------------------------------------------------------------- what is covered


@pytest.mark.parametrize(("on", "least"), [(CPU, 0.9), (LESS, 0.8)], ids=["cpu", "less"])
def test_nine_of_ten_ops_are_native(on: Target, least: float) -> None:
    """Eight of ten without doubles, in which special functions are computed."""
    print(table(on))
    assert share(on) >= least


def test_what_falls_back_says_exactly_why() -> None:
    found = {name: "; ".join(reasons(name)) for name in counted() if reasons(name)}
    assert found == FALL_BACK


@pytest.mark.parametrize("name", sorted(OPS))
def test_what_runs_elsewhere_gives_a_reason(name: str) -> None:
    """No op of a family that runs on NumPy is native by chance, and none lacks its reason."""
    elsewhere = OPS[name].family in ELSEWHERE or name in REJECTION
    if elsewhere:
        for reason in reasons(name):
            assert reason == NO_SAMPLE or "NumPy" in reason or "the run finds" in reason
        assert reasons(name)


# ---------------------------------------------------------------- and right

APART = 64
"""Units in the last place: exponentials of sums, and long sums of few digits."""


def close(found: Array, expected: Array, contracted: bool) -> bool:
    """Equal, or near: of sums of products, as near as the largest of them all allows."""
    if KINDS[expected.dtype] != "float":
        return bool(np.array_equal(found, expected))
    a, b = found.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(b)
        if contracted and np.isfinite(size).any():
            size = np.maximum(size, size[np.isfinite(size)].max())
        near = np.abs(a - b) <= units(expected.dtype, APART) * np.maximum(size, 1e-30)
    return bool((near | (a == b) | (np.isnan(a) & np.isnan(b))).all())


COMPARED_ELSEWHERE = SPECIAL.keys() | {
    name for name, definition in OPS.items() if definition.elementwise and definition.expr
}
"""By test_special.py and test_elementwise.py, over more values."""
COMPARED = [n for n in counted() if n not in COMPARED_ELSEWHERE]
CONTRACTIONS = frozenset({"attention", "contract", "convolution", "pooling"})


def compare(name: str, dtypes: tuple[DType, ...], on: Target) -> None:
    cases: list[Case] = []
    wanted: list[tuple[str, tuple[Array, ...]]] = []
    for arrays, attributes in applications(name, dtypes):
        if why(name, arrays, attributes, on):
            continue
        building = Building(*arrays)
        first = building.add(name, *range(len(arrays)), **attributes)
        region = building.region(*range(first, len(building.types)))
        cases.append((region, [generate(region, on)], arrays))
        where = f"{name} {[a.dtype.name for a in arrays]} {attributes}"
        wanted.append((where, meaning(OPS[name], arrays, attributes)))
    contracted = OPS[name].family in CONTRACTIONS
    for (results, flag), (where, expected) in zip(
        run_many(cases) if cases else (), wanted, strict=True
    ):
        assert flag == 0, where
        for found, value in zip(results, expected, strict=True):
            assert found.dtype == value.dtype, where
            assert close(found, value, contracted), (where, found, value)


def short_vectors(**limits: Any) -> Target:
    """The device here: compilers take long over its longest vectors."""
    here = target_here()
    return here._replace(vector_bytes=min(16, here.vector_bytes), vector_sine=False, **limits)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_native_ops_are_their_meanings(name: str) -> None:
    compare(name, (FLOAT32, INT32), short_vectors())


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_native_ops_are_their_meanings_within_limits(name: str) -> None:
    less = short_vectors(many_items=True, work_group=12, local_bytes=1024, fp64=False)
    compare(name, (FLOAT32, INT32), less)


@pytest.mark.slow
@pytest.mark.parametrize("work_group", [1, 16, 256])
@pytest.mark.parametrize("name", COMPARED)
def test_native_ops_are_their_meanings_in_every_dtype(name: str, work_group: int) -> None:
    dtypes = tuple(d for d in NAMES.values() if KINDS[d] != "complex")
    many = work_group != 256
    compare(name, dtypes, short_vectors(many_items=many, work_group=work_group))
