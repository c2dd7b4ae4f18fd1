"""Samples of the elementwise ops: ordinary points of every dtype, and the special values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from staticad_schema.types import KINDS, Array, DType, as_dtype

from .samples import Sample, Table

HALVES = ("float16", "bfloat16")
FLOATS = (*HALVES, "float32", "float64")
COMPLEXES = ("complex64", "complex128")
INEXACT = FLOATS + COMPLEXES
INTS = ("int8", "int16", "int32", "int64")
UINTS = ("uint8", "uint16", "uint32", "uint64")
REALS = INTS + UINTS + FLOATS
NUMBERS = REALS + COMPLEXES
ANY = ("bool", *NUMBERS)

inf, nan = np.inf, np.nan


def ordinary(dtype: DType, shape: tuple[int, ...], low: float, high: float, seed: int) -> Array:
    """Values between low and high, away from integers and from each other's negatives; complex
    values have such parts.  Integers are of either sign unless low is not negative."""
    rng = np.random.default_rng(seed)
    kind = KINDS[dtype]
    if kind == "bool":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if kind in ("int", "uint"):
        least = 0 if kind == "uint" or low >= 0 else -7
        return np.asarray(rng.integers(least, 8, shape)).astype(dtype)
    values = rng.uniform(low, high, shape)
    if kind == "complex":
        values = values + 1j * rng.uniform(-0.8, 0.8, shape)
    return np.asarray(values).astype(dtype)


def _one(dtypes: Sequence[str], low: float = -2.0, high: float = 2.0) -> list[Sample]:
    """Samples of an op of one operand."""
    return [Sample((ordinary(as_dtype(d), (2, 3), low, high, 1),)) for d in dtypes] + [
        Sample((ordinary(as_dtype(d), (), low, high, 2),)) for d in dtypes[-1:]
    ]


def _two(
    dtypes: Sequence[str],
    low: float = -2.0,
    high: float = 2.0,
    second: tuple[float, float] | None = None,
) -> list[Sample]:
    """Samples of an op of two operands, alike and broadcast against each other."""
    low2, high2 = second or (low, high)
    samples = []
    for name in dtypes:
        d = as_dtype(name)
        a = ordinary(d, (2, 3), low, high, 3)
        samples.append(Sample((a, ordinary(d, (2, 3), low2, high2, 4))))
    for name in dtypes[-1:]:
        d = as_dtype(name)
        a, b = ordinary(d, (2, 1, 3), low, high, 5), ordinary(d, (4, 1), low2, high2, 6)
        samples.append(Sample((a, b)))
        samples.append(Sample((a, ordinary(d, (), low2, high2, 7))))
    return samples


def _points(dtype: str, *operands: Any, to: Any, tolerance: float = 0.0) -> Sample:
    """Special values: operands and result as lists; a dtype of the result may differ."""
    arrays = tuple(np.array(o, as_dtype(dtype)) for o in operands)
    expected = to if isinstance(to, np.ndarray) else np.array(to, as_dtype(dtype))
    return Sample(arrays, smooth=False, expected=expected, tolerance=tolerance)


def _bools(*values: Any) -> Array:
    return np.array(values, bool)


SAMPLES: Table = {
    # arithmetic
    "add": [*_two(NUMBERS), _points("int8", [127, -128], [1, -1], to=[-128, 127])],
    "subtract": [*_two(NUMBERS), _points("uint8", [5, 0], [7, 1], to=[254, 255])],
    "multiply": [*_two(NUMBERS), _points("int16", [256], [256], to=[0])],
    "multiply_zero": [
        *_two(INEXACT),
        _points(
            "float64",
            [inf, nan, 0, 0, -0.0, 2, inf, 0],
            [0, 0, inf, nan, 3, -0.0, 2, 0],
            to=[0, 0, 0, 0, -0.0, -0.0, inf, 0],
        ),
        _points("complex128", [complex(inf, 0), 0], [0, complex(nan, 1)], to=[0, 0]),
    ],
    "multiply_no_nan": [
        *_two(INEXACT),
        _points(
            "float64",
            [inf, nan, -inf, 2, -2, inf, nan],
            [0, 0, -0.0, 0, 0, 2, 1],
            to=[0, 0, -0.0, 0, -0.0, inf, nan],
        ),
        _points("complex128", [complex(inf, 0), complex(nan, 1)], [0, 0], to=[0, 0]),
    ],
    "divide": [
        *_two(INEXACT, second=(0.5, 3.0)),
        _points(
            "float32", [1, -1, 0, inf, 1], [0, 0, 0, inf, -0.0], to=[inf, -inf, nan, nan, -inf]
        ),
    ],
    "reciprocal": [
        *_one(INEXACT, 0.5, 3.0),
        _points("float32", [0, -0.0, inf, 1e-45], to=[inf, -inf, 0, inf]),
    ],
    "negative": [*_one(NUMBERS), _points("float32", [0, -0.0, inf], to=[-0.0, 0, -inf])],
    "positive": [*_one(NUMBERS), _points("float32", [-0.0, nan], to=[-0.0, nan])],
    "square": _one(NUMBERS),
    "floor_divide": [
        *_two(REALS, second=(0.6, 0.9)),
        _points(
            "float64", [0, 1, -1, 7, -7, -0.0], [1, 0, 0, 2, 2, 3], to=[0, inf, -inf, 3, -4, -0.0]
        ),
        _points("int32", [-21, 21, 5, -(2**31)], [5, -5, 0, -1], to=[-5, -5, 0, -(2**31)]),
        _points("uint8", [7, 7, 0], [2, 0, 0], to=[3, 0, 0]),
    ],
    "remainder": [
        *_two(REALS, second=(0.6, 0.9)),
        _points("float64", [-1, 7, -7, 7, 1, 5], [1, 2, 2, -2, 0, inf], to=[0, 1, 1, -1, nan, 5]),
        _points("int32", [-21, 21, 5, -(2**31)], [5, -5, 0, -1], to=[4, -4, 0, 0]),
    ],
    "fmod": [
        *_two(REALS, second=(0.6, 0.9)),
        _points(
            "float64",
            [-1, 7, -7, 7, 1, 5, inf, -0.0, nan],
            [1, 2, 2, -2, 0, inf, 2, 3, 1],
            to=[-0.0, 1, -1, 1, nan, 5, nan, -0.0, nan],
        ),
        _points("int32", [-21, 21, 5, -(2**31)], [5, -5, 0, -1], to=[-1, 1, 0, 0]),
    ],
    "pow": [
        *_two(NUMBERS, 0.5, 2.5, second=(0.5, 2.5)),
        _points(
            "float64", [0, 0, 0, -2, 2, 0], [0, 1.875, -1, 2, -1, 2], to=[1, 0, inf, 4, 0.5, 0]
        ),
        _points("float64", [-2, nan, 1, inf], [0.5, 0, nan, 0], to=[nan, 1, 1, 1]),
        _points(
            "int32",
            [2, 1, -1, -1, 0, 3, -2],
            [-1, -5, -3, -2, -1, 4, 3],
            to=[0, 1, -1, 1, 0, 81, -8],
        ),
        _points("uint8", [3, 2], [6, 8], to=[3**6 - 512, 0]),
    ],
    "sign": [
        *_one(COMPLEXES),
        # The sign of a real number is constant, and says so as part of a rule.
        *(replace(sample, smooth=False) for sample in _one(REALS)),
        _points("float32", [0, -0.0, nan, -inf, 1e-45], to=[0, 0, nan, -1, 1]),
        _points("complex128", [3 + 4j, 0], to=[0.6 + 0.8j, 0], tolerance=1e-15),
    ],
    "abs": [
        *_one(NUMBERS),
        _points("float64", [-0.0, -inf, nan], to=[0, inf, nan]),
        _points("int8", [-128, -7], to=[-128, 7]),
        _points("complex128", [3 + 4j, -2j], to=np.array([5.0, 2.0])),
    ],
    "copysign": [
        *_two(FLOATS),
        _points("float64", [1, 0, nan, -3], [-0.0, -1, 1, 2], to=[-1, -0.0, nan, 3]),
    ],
    # exponentials
    "exp": [*_one(INEXACT), _points("float32", [-inf, inf, 0, 89, nan], to=[0, inf, 1, inf, nan])],
    "expm1": [*_one(INEXACT), _points("float64", [-inf, 1e-20, -0.0], to=[-1, 1e-20, -0.0])],
    "log": [
        *_one(INEXACT, 0.3, 3.0),
        _points("float64", [0, -0.0, -1, inf, 1], to=[-inf, -inf, nan, inf, 0]),
    ],
    "log1p": [
        *_one(INEXACT, -0.6, 3.0),
        _points("float64", [-1, 1e-20, -2], to=[-inf, 1e-20, nan]),
    ],
    "log2": [*_one(INEXACT, 0.3, 3.0), _points("float64", [0, 8, 0.25], to=[-inf, 3, -2])],
    "log10": [*_one(INEXACT, 0.3, 3.0), _points("float64", [0, 1000, -1], to=[-inf, 3, nan])],
    "sqrt": [
        *_one(INEXACT, 0.3, 3.0),
        _points("float64", [0, -0.0, -1, inf, 4], to=[0, -0.0, nan, inf, 2]),
    ],
    "exp2": [
        *_one(INEXACT),
        _points("float32", [-inf, inf, 0, 128, nan], to=[0, inf, 1, inf, nan]),
    ],
    "rsqrt": [
        *_one(INEXACT, 0.3, 3.0),
        _points("float64", [0, -0.0, -1, inf, 4], to=[inf, -inf, nan, 0, 0.5]),
    ],
    "cbrt": [
        *_one(FLOATS, 0.3, 3.0),
        _points("float64", [0, -0.0, -8, -inf, nan, 27], to=[0, -0.0, -2, -inf, nan, 3]),
    ],
    # trigonometry
    "sin": [*_one(INEXACT), _points("float64", [0, -0.0, inf], to=[0, -0.0, nan])],
    "cos": [*_one(INEXACT), _points("float64", [0, inf], to=[1, nan])],
    "tan": [*_one(INEXACT, -1.2, 1.2), _points("float64", [-0.0, inf], to=[-0.0, nan])],
    "asin": [*_one(INEXACT, -0.8, 0.8), _points("float64", [1, 2], to=[np.pi / 2, nan])],
    "acos": [*_one(INEXACT, -0.8, 0.8), _points("float64", [1, -2], to=[0, nan])],
    "atan": [*_one(INEXACT), _points("float64", [inf, -inf], to=[np.pi / 2, -np.pi / 2])],
    "sinh": [*_one(INEXACT), _points("float64", [-0.0, 800], to=[-0.0, inf])],
    "cosh": [*_one(INEXACT), _points("float64", [0, -inf], to=[1, inf])],
    "tanh": [*_one(INEXACT), _points("float64", [inf, -inf, -0.0], to=[1, -1, -0.0])],
    "asinh": [*_one(INEXACT), _points("float64", [inf, -0.0], to=[inf, -0.0])],
    "acosh": [*_one(INEXACT, 1.3, 3.0), _points("float64", [1, 0.5, inf], to=[0, nan, inf])],
    "atanh": [*_one(INEXACT, -0.8, 0.8), _points("float64", [1, -1, 2], to=[inf, -inf, nan])],
    "hypot": [
        *_two(FLOATS, 0.5, 2.0),
        _points(
            "float64",
            [3e200, 0, nan, 3e-200],
            [4e200, -0.0, inf, 4e-200],
            to=[5e200, 0, inf, 5e-200],
            tolerance=1e-15,
        ),
    ],
    "direction": [
        *_two(FLOATS, 0.5, 2.0, second=(-2.0, -0.5)),
        _points(
            "float64",
            [3e200, -3e-200, 0, -0.0, 1.5e308, inf, -1, -inf, 2**-1074, 6e-320, nan, inf],
            [4e200, 4e-200, -0.0, 1, 1.5e308, 1, inf, inf, 0, 8e-320, 0, nan],
            to=[0.6, -0.6, 0, -0.0, 0.5**0.5, 1, -0.0, -(0.5**0.5), 1, 0.6, nan, nan],
            tolerance=1e-4,
        ),
    ],
    "inverse_power": [
        *(
            Sample(sample.arrays, {"order": order, "imaginary": imaginary})
            for order in (1, 2, 3)
            for imaginary in (False, True)
            for sample in _two(FLOATS, 0.5, 2.0, second=(-2.0, -0.5))
        ),
        *(
            Sample(
                (
                    np.array([3.0, 0, 0, inf, 1e200, 0, 1e-200]),
                    np.array([4.0, 2, 0, 1, 1, 1e-300, 0]),
                ),
                {"order": order, "imaginary": imaginary},
                smooth=False,
                expected=np.array(to),
                tolerance=1e-15,
            )
            for order, imaginary, to in (
                (1, False, [0.12, 0, 0, 0, 1e-200, 0, 1e200]),
                (1, True, [-0.16, -0.5, -0.0, -0.0, -0.0, -1e300, -0.0]),
                (2, False, [-0.0112, -0.25, 0, 0, 0, -inf, inf]),
                (2, True, [-0.0384, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0]),
            )
        ),
    ],
    "atan2": [
        *_two(FLOATS, 0.5, 2.0, second=(-2.0, -0.5)),
        _points(
            "float64",
            [0, -0.0, 0, 1, -0.0],
            [0, 0, -1, 0, -0.0],
            to=[0, -0.0, np.pi, np.pi / 2, -np.pi],
        ),
    ],
    # special
    "erf": [*_one(FLOATS), _points("float64", [0, inf, -inf, nan], to=[0, 1, -1, nan])],
    "erfc": [
        *_one(FLOATS),
        _points(
            "float64", [0, inf, -inf, 26], to=[1, 0, 2, 5.663192408856143e-296], tolerance=1e-14
        ),
    ],
    "sigmoid": [
        *_one(FLOATS),
        _points(
            "float64",
            [0, inf, -inf, nan, -745, 40],
            to=[0.5, 1, 0, nan, 5e-324, 1.0],
            tolerance=1e-15,
        ),
        _points("float32", [-103, 104], to=[1e-45, 1]),
    ],
    "logaddexp": [
        *_two(FLOATS),
        _points(
            "float64",
            [inf, -inf, inf, nan, 1000, -inf],
            [inf, -inf, -inf, 0, 0, 3],
            to=[inf, -inf, inf, nan, 1000, 3],
        ),
        _points("float64", [0], [-16], to=[1.1253516838717681e-07], tolerance=1e-15),
    ],
    "logaddexp2": [
        *_two(FLOATS),
        _points(
            "float64",
            [inf, -inf, inf, nan, 1000, -inf, 3],
            [inf, -inf, -inf, 0, 0, 3, 3],
            to=[inf, -inf, inf, nan, 1000, 3, 4],
        ),
    ],
    "softplus": [
        *_one(FLOATS),
        _points(
            "float64",
            [0, inf, -inf, nan, 16, -745, 40],
            to=[np.log(2), inf, 0, nan, 16.00000011253517, 5e-324, 40],
            tolerance=1e-15,
        ),
        _points("float32", [-103, 104], to=[1e-45, 104]),
    ],
    "log_sigmoid": [
        *_one(FLOATS),
        _points(
            "float64",
            [0, inf, -inf, nan, -16, 745, -40],
            to=[-np.log(2), 0, -inf, nan, -16.00000011253517, -5e-324, -40],
            tolerance=1e-15,
        ),
    ],
    "logit": [
        *_one(FLOATS, 0.2, 0.8),
        _points(
            "float64",
            [0, 1, 0.5, nan, -1, 2, 1e-300, 0.5000000001],
            to=[-inf, inf, 0, nan, nan, nan, -690.7755278982137, 4.000000330961484e-10],
            tolerance=1e-15,
        ),
    ],
    "sinc": [
        *(
            Sample(sample.arrays, {"order": order})
            for order in (0, 1, 2, 5)
            for sample in (*_one(FLOATS), *_one(("float64",), -6.0, 6.0))
        ),
        *(
            Sample((np.array(x),), {"order": order}, False, True, np.array(y), 1e-15)
            for order, x, y in (
                (0, [0, -0.0, 1, -3, 0.5, inf, nan], [1, 1, -0.0, 0, 2 / np.pi, nan, nan]),
                (1, [0.0, 1, 2], [-0.0, -1, 0.5]),
                (2, [0.0], [-(np.pi**2) / 3]),
                (4, [0.0], [np.pi**4 / 5]),
            )
        ),
    ],
    "xlog1py": [
        *_two(FLOATS, 0.5, 2.0),
        _points(
            "float64",
            [0, 0, 0, 2, 0, 1, 2],
            [-1, inf, -2, -1, nan, 0, 1e-20],
            to=[0, 0, 0, -inf, nan, 0, 2e-20],
        ),
    ],
    "xlogy": [
        *_two(FLOATS, 0.5, 2.0),
        _points("float64", [0, 0, 0, 2, 0, 1], [0, inf, -1, 0, nan, 1], to=[0, 0, 0, -inf, nan, 0]),
    ],
    "entr": [
        *_one(FLOATS, 0.3, 2.0),
        _points(
            "float64", [0, -0.0, -2, 1, inf, -inf, nan], to=[0, 0, -inf, -0.0, -inf, -inf, nan]
        ),
    ],
    # rounding
    "ceil": [*_one(REALS), _points("float64", [-0.5, 2.1, inf], to=[-0.0, 3, inf])],
    "floor": [*_one(REALS), _points("float64", [-0.5, -0.0, nan], to=[-1, -0.0, nan])],
    "trunc": [*_one(REALS), _points("float64", [-0.5, -2.7, 2.7], to=[-0.0, -2, 2])],
    "round": [
        *_one(NUMBERS),
        _points("float64", [0.5, 1.5, 2.5, -0.5, -1.5], to=[0, 2, 2, -0.0, -2]),
        _points("int64", [2**62 + 1], to=[2**62 + 1]),
    ],
    "nextafter": [
        *_two(("float16", "bfloat16", "float32", "float64")),
        _points("float16", [1, 0], [2, 1], to=[1.0009765625, 6e-8]),
        _points("float64", [0, nan], [-1, 1], to=[-5e-324, nan]),
    ],
    # selection
    "where": [
        *(
            Sample(
                (
                    _bools(1, 0, 1),
                    ordinary(as_dtype(d), (2, 3), -2, 2, 8),
                    ordinary(as_dtype(d), (), -2, 2, 9),
                )
            )
            for d in ANY
        ),
        Sample(
            (
                _bools([1], [0]),
                *(ordinary(as_dtype("float64"), s, -2, 2, 8) for s in ((3,), (2, 3))),
            )
        ),
        Sample(
            (_bools(1, 0), np.array([-0.0, nan]), np.array([nan, -0.0])),
            smooth=False,
            expected=np.array([-0.0, -0.0]),
        ),
    ],
    "maximum": [
        *_two(REALS),
        _points("float64", [nan, 1, inf, -inf, 3], [1, nan, 2, nan, 3], to=[nan, nan, inf, nan, 3]),
        _points("float32", [1e-45, 0], [0, 0], to=[1e-45, 0]),
    ],
    "minimum": [
        *_two(REALS),
        _points("float64", [nan, 1, -inf, 3], [1, nan, 2, 3], to=[nan, nan, -inf, 3]),
    ],
    "clip": [
        *(
            Sample(
                tuple(
                    ordinary(as_dtype(d), s, *r)
                    for s, r in (((2, 3), (-2, 2, 3)), ((), (0.1, 0.4, 4)), ((3,), (0.8, 1.2, 5)))
                )
            )
            for d in REALS
        ),
        _points("float64", [-1, 0, 1, 2, nan, 0.5], 0, 1, to=[0, 0, 1, 1, nan, 0.5]),
        _points("float64", [0.5, 2, 0.5], [nan, 0, 3], [1, nan, 1], to=[nan, nan, 1]),
    ],
    # conversion
    "real": [*_one(NUMBERS), _points("complex128", [3 - 4j], to=np.array([3.0]))],
    "imag": [*_one(COMPLEXES), _points("complex128", [3 - 4j], to=np.array([-4.0]))],
    "complex": [
        *_two(("float32", "float64")),
        # Each part for itself.
        _points(
            "float64",
            [inf, nan, 0.0],
            [nan, 1.0, -0.0],
            to=np.array([inf, nan, nan, 1.0, 0.0, -0.0]).view("complex128"),
        ),
    ],
    "conj": [*_one(NUMBERS), _points("complex128", [3 - 4j], to=[3 + 4j])],
    "cast": [
        *(
            Sample((ordinary(as_dtype(a), (2, 3), 0, 2, 1),), {"dtype": as_dtype(b)})
            for a in ANY
            for b in ANY
        ),
        Sample(
            (np.array([2.7, -2.7, 0.5]),),
            {"dtype": as_dtype("int32")},
            False,
            True,
            np.array([2, -2, 0], "int32"),
        ),
        Sample(
            (np.array([300, -1]),),
            {"dtype": as_dtype("uint8")},
            False,
            True,
            np.array([44, 255], "uint8"),
        ),
        Sample(
            (np.array([0, -0.0, nan, 1e-300]),),
            {"dtype": as_dtype("bool")},
            False,
            True,
            _bools(0, 0, 1, 1),
        ),
        Sample(
            (np.array([3 + 4j, 4j]),),
            {"dtype": as_dtype("float64")},
            True,
            True,
            np.array([3.0, 0.0]),
        ),
        Sample((np.array([3 + 4j, 4j]),), {"dtype": as_dtype("bool")}, False, True, _bools(1, 1)),
    ],
    # questions
    "equal": [*_two(ANY), _points("float64", [nan, 0, inf], [nan, -0.0, inf], to=_bools(0, 1, 1))],
    "not_equal": [*_two(ANY), _points("float64", [nan, 0], [nan, -0.0], to=_bools(1, 0))],
    "less": [*_two(REALS), _points("float64", [nan, -0.0, 1], [1, 0, nan], to=_bools(0, 0, 0))],
    "less_equal": [*_two(REALS), _points("float64", [nan, -0.0], [1, 0], to=_bools(0, 1))],
    "greater": [*_two(REALS), _points("uint8", [200, 3], [100, 3], to=_bools(1, 0))],
    "greater_equal": [*_two(REALS), _points("float64", [nan, 0], [1, -0.0], to=_bools(0, 1))],
    "isnan": [*_one(NUMBERS), _points("float32", [nan, inf, 0], to=_bools(1, 0, 0))],
    "isinf": [*_one(NUMBERS), _points("float32", [nan, inf, -inf, 1], to=_bools(0, 1, 1, 0))],
    "isfinite": [*_one(NUMBERS), _points("float32", [nan, inf, 3e38, 1], to=_bools(0, 0, 1, 1))],
    "signbit": [*_one(FLOATS), _points("float32", [0, -0.0, -inf, 1], to=_bools(0, 1, 1, 0))],
    "logical_and": _two(("bool",)),
    "logical_or": _two(("bool",)),
    "logical_xor": _two(("bool",)),
    "logical_not": _one(("bool",)),
    "bitwise_and": _two(("bool", *INTS, *UINTS)),
    "bitwise_or": _two(("bool", *INTS, *UINTS)),
    "bitwise_xor": _two(("bool", *INTS, *UINTS)),
    "bitwise_invert": [*_one(("bool", *INTS, *UINTS)), _points("int8", [0, -128], to=[-1, 127])],
    "bitwise_left_shift": [
        *_two((*INTS, *UINTS)),
        _points("int8", [1, 1, 1, -1], [7, 8, -1, 1], to=[-128, 0, 0, -2]),
    ],
    "bitwise_right_shift": [
        *_two((*INTS, *UINTS)),
        _points("int8", [-3, -3, 5, 64], [1, 9, 9, -1], to=[-2, -1, 0, 0]),
    ],
}
