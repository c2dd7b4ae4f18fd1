"""Questions about dtypes: the answers are those of operands that meet."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import KINDS, NAMES, DType

finfo: Any = ml_dtypes.finfo


def met(a: str, b: str) -> DType | None:
    """The dtype in which tensors meet."""
    with sad.Graph():
        x, y = (sad.placeholder(dtype, ()) for dtype in (a, b))
        try:
            return sad.where(True, x, y).dtype
        except sad.DTypeError:
            return None


@pytest.mark.parametrize("a", NAMES)
def test_tensors_meet_where_it_is_said(a: str) -> None:
    for b in NAMES:
        together = met(a, b)
        assert sad.can_cast(a, b) == (together == NAMES[b])
        if together is None:
            with pytest.raises(sad.DTypeError, match="no common dtype"):
                sad.result_type(a, b)
        else:
            assert sad.result_type(a, b) == together


@pytest.mark.parametrize("number", [True, 2, 2.5, 1j])
def test_numbers_are_weak(number: Any) -> None:
    for name in NAMES:
        with sad.Graph():
            x = sad.placeholder(name, (2,))
            assert sad.result_type(number, x) == sad.where(True, x, number).dtype
    with sad.Graph():
        assert sad.result_type(number) == sad.constant(number).dtype


def test_numbers_alone_take_the_defaults() -> None:
    assert sad.result_type(1, 2.5) == sad.float32
    assert sad.result_type(True, 1) == sad.int64
    assert sad.result_type(np.ones(2), 1) == sad.float64


def test_dtypes_are_attributes() -> None:
    for name, dtype in NAMES.items():
        assert getattr(sad, name) is dtype
        with sad.Graph():
            assert sad.zeros(3, dtype=getattr(sad, name)).dtype == dtype
    assert (sad.e, sad.pi, sad.inf, sad.newaxis) == (np.e, np.pi, np.inf, None)


def test_kinds_are_those_of_numpy() -> None:
    for name, dtype in NAMES.items():
        for kind in ("bool", "signed integer", "unsigned integer", "integral", "numeric",
                     "real floating", "complex floating"):  # fmt: skip
            # NumPy counts bfloat16 as nothing.
            wanted = "float32" if name == "bfloat16" else name
            assert sad.isdtype(dtype, kind) == np.isdtype(np.dtype(wanted), kind)
        assert sad.isdtype(name, name)
        assert sad.isdtype(name, ("bool", "numeric"))
        assert not sad.isdtype(name, ())
    assert not sad.isdtype("int8", ("int16", "real floating"))


@pytest.mark.parametrize("name", [n for n, d in NAMES.items() if KINDS[d] == "float"])
def test_ranges_of_floats(name: str) -> None:
    found, wanted = sad.finfo(name), finfo(NAMES[name])
    assert found.dtype == NAMES[name]
    assert found.bits == 8 * NAMES[name].itemsize
    assert [type(v) for v in found[1:5]] == [float] * 4
    for attribute in ("eps", "max", "min", "smallest_normal"):
        assert getattr(found, attribute) == float(getattr(wanted, attribute))


def test_ranges_of_parts_and_of_integers() -> None:
    with sad.Graph():
        z = sad.placeholder("complex64", (3,))
        assert sad.finfo(z) == sad.finfo("float32")
        n = sad.placeholder("uint16", ())
        assert sad.iinfo(n) == (16, 65535, 0, sad.uint16)
    assert sad.iinfo(np.ones(3, np.int8)).min == -128


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: sad.result_type(), "result_type: nothing to compare"),
        (lambda: sad.result_type("float12"), "result_type: not a dtype"),
        (lambda: sad.can_cast("int8", None), "can_cast: not a dtype"),
        (lambda: sad.isdtype("int8", "floating"), "isdtype: not a kind"),
        (lambda: sad.isdtype("int8", "real floatin"), "real floating"),
        (lambda: sad.finfo("int8"), "finfo: not a floating dtype"),
        (lambda: sad.iinfo("float32"), "iinfo: not an integer dtype"),
    ],
)
def test_mistakes(ask: Any, said: str) -> None:
    with pytest.raises(sad.StaticadError, match=said) as caught:
        ask()
    assert "test_data_types.py" in str(caught.value)
