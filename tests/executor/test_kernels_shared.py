"""Kernels cut into parts that threads share: the bits of their meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.devices.numpy import kernels, shares
from staticad_executor.devices.numpy.kernels import kernel
from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.types import TensorType

from .planning import Array, Compiled, same_bits

SIZES = [1, 2, 3, 4, 7, 8, 16, 33, 40, 129]


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "PARALLEL_SECONDS", 0.0)


def special(rng: Any, dtype: Any, shape: tuple[int, ...]) -> Array:
    values = rng.standard_normal(shape) * 10
    if rng.random() < 0.3:
        values = np.where(
            rng.random(shape) < 0.02, rng.choice([np.nan, np.inf, -0.0, 1e38]), values
        )
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def check(name: str, arrays: list[Array], attributes: dict[str, Any]) -> bool:
    """Compare kernel and meaning for 1, 2 and 4 threads; whether anything was cut."""
    definition = OPS[name]
    operands = [TensorType(a.dtype, a.shape) for a in arrays]
    types = definition.output_types(operands, attributes)
    expected = evaluate(definition, arrays, attributes, types)
    made = kernel(name, attributes, operands, types)
    cut = False
    for threads in (1, 2, 4):
        function = made.for_threads(threads)
        cut |= function is not made.function
        outputs = [np.empty(value.shape, value.dtype) for value in expected]
        with np.errstate(all="ignore"):
            function(*arrays, *outputs)
        for found, value in zip(outputs, expected, strict=True):
            assert same_bits(found, value), (name, threads, attributes, operands)
    return cut


def shapes(rng: Any, count: int) -> Any:
    for _ in range(count):
        shape = tuple(int(rng.choice(SIZES)) for _ in range(rng.integers(1, 5)))
        if np.prod(shape) < 60_000:
            yield shape


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
def test_reductions(name: str) -> None:
    rng = np.random.default_rng(1)
    dtypes = {"any": ["bool"], "all": ["bool"]}.get(name, ["float32", "float64", "int32"])
    if name in ("sum", "prod"):
        dtypes = [*dtypes, "complex64"]
    cut = 0
    for shape in shapes(rng, 150):
        axis = tuple(a for a in range(len(shape)) if rng.random() < 0.6)
        array = special(rng, rng.choice(dtypes), shape)
        if array.dtype == bool:
            array = rng.random(shape) < rng.choice([0.01, 0.99])
        cut += check(name, [array], {"axis": axis, "keepdims": bool(rng.random() < 0.5)})
    assert cut > 20


def test_sums_to_a_shape() -> None:
    rng = np.random.default_rng(2)
    cut = 0
    for shape in shapes(rng, 200):
        lead = int(rng.integers(0, len(shape) + 1))
        want = tuple(1 if rng.random() < 0.4 else size for size in shape[lead:])
        array = special(rng, rng.choice(["float32", "float64", "complex64", "int32"]), shape)
        cut += check("sum_to", [array], {"shape": want})
    assert cut > 20


@pytest.mark.parametrize("name", ["normalize", "softmax", "log_softmax"])
def test_kernels_of_several_passes(name: str) -> None:
    rng = np.random.default_rng(3)
    cut = 0
    for shape in shapes(rng, 150):
        array = special(rng, rng.choice(["float32", "float64"]), shape)
        axis: Any = int(rng.integers(len(shape)))
        attributes = {"axis": axis}
        if name == "normalize":
            axis = tuple(a for a in range(len(shape)) if rng.random() < 0.6)
            attributes = {"axis": axis, "epsilon": 1e-5, "center": bool(rng.random() < 0.7)}
        cut += check(name, [array], attributes)
    assert cut > 20


def test_what_fails_in_a_share_is_raised() -> None:
    def fail(x: Array) -> None:
        raise ValueError("no")

    function = shares.shared(fail, shares.Cut((0,), 10, 2), 2)
    with pytest.raises(ValueError, match="no"):
        function(np.zeros(10))


@pytest.mark.parametrize("shape", [(3, 4, 0), (3, 0, 4), (0, 3, 4), (3, 0), (2, 4, 0, 5)])
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_reductions_of_nothing_are_cut_like_others(
    shape: tuple[int, ...], axis: int | tuple[int, ...]
) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", shape)
        fetches = [sad.sum(x, axis=axis), sad.prod(x, axis=axis)]
    Compiled(graph, fetches, {x: np.zeros(shape, np.float32)}, threads=2).check()
