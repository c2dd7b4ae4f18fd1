"""Kinds of attributes, as signatures write them."""

import numpy as np
import pytest

from staticad_schema import OPS, FunctionRef, conforms, symbol
from staticad_schema.attributes import identity

N = symbol("n")

RIGHT = [
    (True, "bool"),
    (3, "int"),
    (3, "int | Dim"),
    (N, "int | Dim"),
    (1.5, "float"),
    (1, "float"),
    ("a", "str"),
    (FunctionRef("f"), "FunctionRef"),
    (np.dtype("f4"), "DType"),
    (np.zeros(2), "ArrayValue"),
    ((0, 1), "Ints"),
    ((), "Ints"),
    ((2, N), "SymbolicShape"),
    (((None, None, -1), (0, N, 2)), "Slices"),
    (((0, 1), (2, 3)), "Widths"),
    (None, "str | None"),
    ("a", "Literal['a', 'b']"),
    ((1, "a"), "tuple[int, str]"),
]
WRONG = [
    (1, "bool"),
    (np.True_, "bool"),
    (True, "int"),
    (1.0, "int"),
    ("1", "float"),
    (FunctionRef("f"), "str"),
    ("f", "FunctionRef"),
    ("float32", "DType"),
    ([0, 1], "Ints"),
    ((True,), "Ints"),
    ((0, N), "Ints"),
    ((2, "n"), "SymbolicShape"),
    ((None,), "Slices"),
    (((0, 1, None),), "Slices"),
    (((0, 1, 2),), "Widths"),
    ("c", "Literal['a', 'b']"),
    ((1, "a", 2), "tuple[int, str]"),
    (None, "int | Dim"),
]


@pytest.mark.parametrize(("value", "annotation"), RIGHT)
def test_what_conforms(value: object, annotation: str) -> None:
    assert conforms(value, annotation)


@pytest.mark.parametrize(("value", "annotation"), WRONG)
def test_what_does_not(value: object, annotation: str) -> None:
    assert not conforms(value, annotation)


@pytest.mark.parametrize("name", OPS)
def test_every_annotation_of_the_registry_is_understood(name: str) -> None:
    for parameter in OPS[name].parameters.values():
        conforms(None, parameter.annotation)


def test_an_unknown_annotation_is_an_error() -> None:
    with pytest.raises(TypeError, match="Something"):
        conforms(None, "Something")


def test_identity_tells_apart_what_python_calls_equal() -> None:
    values = [
        0,
        0.0,
        -0.0,
        False,
        None,
        "0",
        FunctionRef("0"),
        (),
        (0,),
        (False,),
        np.zeros(2, np.float32),
        np.zeros(2, np.int32),
        np.zeros((2, 1), np.float32),
        -np.zeros(2, np.float32),
        np.dtype("f4"),
        "float32",
        symbol("float32"),
    ]
    assert len({identity(value) for value in values}) == len(values)
    assert identity(float("nan")) == identity(float("nan"))
    assert identity(np.float64(0.5)) == identity(0.5)
