"""Kernels that read and add at positions have the bits of the ops' meanings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.numpy import positions
from staticad_executor.devices.numpy.kernels import kernel
from staticad_schema.errors import ExecutionError
from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.types import array_type

Array = np.ndarray[Any, Any]


def both(x: Array, updates: Array, indices: list[Array], axes: tuple[int, ...]) -> list[Array]:
    operands = [x, updates, *indices]
    types = [array_type(a) for a in operands]
    made = kernel("scatter_add", {"axes": axes}, types, types[:1])
    assert made.algorithm == "sparse product"
    out = np.full(x.shape, 7, x.dtype)
    with np.errstate(all="ignore"):
        made.function(*operands, out)
    (meaning,) = evaluate(OPS["scatter_add"], operands, {"axes": axes}, types[:1])
    return [out, meaning]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "WORTHWHILE", 0)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "complex64", "complex128", "int8", "uint16", "int64", "uint64"]
)
@pytest.mark.parametrize(
    ("axes", "block"), [((0,), (40,)), ((1,), (3, 5)), ((0, 1), (30,)), ((2, 0), (6, 2))]
)
def test_bits_are_those_of_adding_one_by_one(
    axes: tuple[int, ...], block: tuple[int, ...], dtype: str
) -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(4, 3, 5)) * 100).astype(dtype)
    rest = tuple(n for a, n in enumerate(x.shape) if a not in axes)
    updates = (rng.normal(size=block + rest) * 100).astype(dtype)
    indices = [rng.integers(-x.shape[a], x.shape[a], block) for a in axes]
    out, meaning = both(x, updates, indices, axes)
    assert out.tobytes() == meaning.tobytes()


def test_special_values() -> None:
    x = np.array([[0.0, -0.0], [-0.0, 1.0], [2.0, 3.0]])
    updates = np.array([[-0.0, -0.0], [np.inf, np.nan], [-np.inf, 1.0]])
    out, meaning = both(x, updates, [np.array([0, 2, 2])], (0,))
    assert out.tobytes() == meaning.tobytes()
    # Of other rows than those of -0, which nothing but -0 is added to.
    x, spread = np.concatenate([x, x[2:]]), np.array([2, 3, 3])
    out, meaning = both(x, updates, [spread], (0,))
    assert out.tobytes() == meaning.tobytes()
    out, meaning = both(x + 0j, updates * (1 + 1j), [np.array([0, 2, 2])], (0,))
    assert out.tobytes() == meaning.tobytes()


def test_nothing_to_add() -> None:
    x = np.arange(6.0).reshape(3, 2)
    out, meaning = both(x, np.zeros((0, 2)), [np.zeros(0, np.int64)], (0,))
    assert out.tolist() == meaning.tolist() == x.tolist()


def test_operands_in_other_layouts() -> None:
    x, updates = np.arange(6.0).reshape(2, 3).T, np.arange(8.0).reshape(2, 4).T
    out, meaning = both(x, updates, [np.array([0, 1, 1, 2, 2, 0, 0, 1])[::2]], (0,))
    assert out.tobytes() == meaning.tobytes()


def test_positions_out_of_range_are_refused_before_anything_is_written() -> None:
    x = np.zeros((3, 2))
    with pytest.raises(ExecutionError, match="out of range"):
        both(x, np.ones((2, 2)), [np.array([0, 3])], (0,))


@pytest.mark.parametrize(
    ("op", "attributes", "block"),
    [
        ("take", {"axis": 0}, (7,)),
        ("take", {"axis": 1}, (2, 3)),
        ("take", {"axis": 2}, ()),
        ("gather", {"axes": (0,)}, (2, 3)),
        ("gather", {"axes": (0, 1)}, (5,)),
        ("gather", {"axes": (0, 1, 2)}, (0,)),
        ("gather", {"axes": (1, 0)}, (5,)),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float16", "bool", "complex64"])
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_read(
    op: str, attributes: dict[str, Any], block: tuple[int, ...], dtype: str, turned: bool
) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(5, 3, 4)).astype(dtype)
    x = x.T if turned else x
    axes = attributes.get("axes") or (attributes["axis"],)
    indices = [np.asarray(rng.integers(-x.shape[a], x.shape[a], block)) for a in axes]
    operands = [x, *indices]
    types = [array_type(a) for a in operands]
    outputs = OPS[op].output_types(types, attributes)
    out = np.zeros(tuple(map(int, outputs[0].shape)), dtype)
    kernel(op, attributes, types, outputs).function(*operands, out)
    (meaning,) = evaluate(OPS[op], operands, attributes, outputs)
    np.testing.assert_array_equal(out, meaning)
