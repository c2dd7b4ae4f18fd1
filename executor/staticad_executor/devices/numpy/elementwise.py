"""Elementwise kernels: functions of the operands and the array that takes the result.

Most ops are a ufunc already.  The others are a few ufunc calls here, equal bit for bit to the
op's meaning; what is left, the half floats among it, computes the meaning and copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.op import OPS
from staticad_schema.ops.arithmetic import float_power
from staticad_schema.types import KINDS, REAL_OF, WIDENED, Array, DType, TensorType

from .cost import nanoseconds
from .meaning import meaning

Function = Callable[..., Any]


class Elementwise(NamedTuple):
    """function: called with the operands and then the output array.  overlap: whether the
    output may be the memory of an operand of the same size.  native: whether it avoids
    temporaries.  spreads_nan: whether the result is NaN wherever an operand is.  unguarded:
    for a kernel that looks for NaN and then corrects, the part before that.  cost: the nanoseconds,
    about, for an element of four bytes."""

    function: Function
    overlap: bool
    native: bool
    spreads_nan: bool = False
    unguarded: Function | None = None
    cost: float = nanoseconds("add")


def elementwise(
    op: str,
    attributes: Mapping[str, Any],
    dtypes: tuple[DType, ...],
    out: DType,
    scalar: bool = False,
) -> Elementwise:
    """The kernel of an elementwise op for operands and an output of these dtypes.

    scalar: for 0-d arrays only.
    """
    return _elementwise(op, tuple(attributes.items()), dtypes, out, scalar)


@lru_cache(maxsize=4096)
def _elementwise(
    op: str,
    attributes: tuple[tuple[str, Any], ...],
    dtypes: tuple[DType, ...],
    out: DType,
    scalar: bool,
) -> Elementwise:
    definition = OPS[op]
    halves = any(dtype in WIDENED for dtype in (*dtypes, out))
    if not halves or not definition.widen:
        special = (_SCALAR.get(op) if scalar else None) or _SPECIAL.get(op)
        special = special or (_FLOAT_SPECIAL.get(op) if out.kind == "f" else None)
        if special is not None and not (op == "cast" and dtypes[0] in REAL_OF):
            unguarded = np.multiply if special in _GUARDED else None
            spreads = op in _SPREAD_NAN or unguarded is not None
            cost = nanoseconds(op)
            return Elementwise(special, op in _OVERLAPPING, True, spreads, unguarded, cost)
        ufunc = _FLOAT_UFUNCS.get(op) if out.kind == "f" else definition.numpy
        ufunc = ufunc or definition.numpy
        if isinstance(ufunc, np.ufunc) and _computes(ufunc, dtypes, out):
            # Complex products of one element round differently in place.
            spreads = op in _SPREAD_NAN
            return Elementwise(ufunc, out.kind != "c", True, spreads, None, nanoseconds(op))
    run = meaning(op, dict(attributes), [TensorType(out, ())])
    return Elementwise(run, True, False, cost=nanoseconds(op, native=False))


def _computes(ufunc: np.ufunc, dtypes: tuple[DType, ...], out: DType) -> bool:
    """Whether the ufunc has a loop from these dtypes to that, which it would also choose."""
    if ufunc.nin != len(dtypes) or ufunc.nout != 1:
        return False
    try:
        resolved = ufunc.resolve_dtypes((*dtypes, None))
    except TypeError:
        return False
    return resolved == (*dtypes, out)


# From here on BLAS hands dot products to threads, which the threads of a region would wait for.
BLAS_ELEMENTS = 10_000


def has_nan(array: Array) -> Any:
    """Whether an element is NaN; of complex numbers perhaps also if there are infinite ones."""
    if array.size < BLAS_ELEMENTS or array.dtype.kind != "f":
        # A NaN is one in the sum of squares; infinities are not.
        found = np.vdot(array, array)
    else:
        # NaN is the largest of all: this takes a third of the time of `isnan`.
        found = np.maximum.reduce(array, None)
    return found != found


def _multiply_no_nan(d: Array, g: Array, out: Array) -> None:
    np.multiply(d, g, out)
    if has_nan(out):
        spoiled = np.isnan(out)
        spoiled &= np.equal(g, 0)
        np.copyto(out, g, where=spoiled)


def _multiply_zero(x: Array, y: Array, out: Array) -> None:
    np.multiply(x, y, out)
    if has_nan(out):
        spoiled = np.isnan(out)
        spoiled &= np.equal(x, 0) | np.equal(y, 0)
        np.copyto(out, 0, where=spoiled)


_GUARDED = (_multiply_no_nan, _multiply_zero)


def _multiply_no_nan_scalar(d: Array, g: Array, out: Array) -> None:
    np.multiply(d, g, out)
    product = out.item()
    if product != product and g == 0:
        np.copyto(out, g)


# From here on fewer passes over the elements are worth more calls.
MANY_ELEMENTS = 2048
_WORDS: dict[int, tuple[DType, DType]] = {
    4: (np.dtype(np.int32), np.dtype(np.uint32)),
    8: (np.dtype(np.int64), np.dtype(np.uint64)),
}


def _where(condition: Array, x: Array, y: Array, out: Array) -> None:
    words = _WORDS.get(out.dtype.itemsize) if out.size >= MANY_ELEMENTS else None
    if words is None or out.dtype.kind == "c":
        np.copyto(out, y)
        np.copyto(out, x, where=condition)
        return
    # By masks of bits: choosing element by element would wait for each condition.
    word = words[0]
    chosen = out.view(word)
    if x.ndim == 0 and not x.view(word).any():
        np.copyto(chosen, np.subtract(condition.view(np.int8), _ONE))
        np.bitwise_and(chosen, y.view(word), chosen)
        return
    np.copyto(chosen, np.negative(condition.view(np.int8)))
    if y.ndim == 0 and not y.view(word).any():
        np.bitwise_and(chosen, x.view(word), chosen)
        return
    difference = np.bitwise_xor(x.view(word), y.view(word))
    np.bitwise_and(chosen, difference, chosen)
    np.bitwise_xor(chosen, y.view(word), chosen)


_ONE = np.int8(1)


def mask_dtype(out: DType) -> DType | None:
    """The dtype of masks for choices among values of that dtype; None where there are none."""
    words = _WORDS.get(out.itemsize) if out.kind != "c" else None
    return None if words is None else words[0]


def _mask(condition: Array, out: Array) -> None:
    np.copyto(out, np.negative(condition.view(np.int8)))


def _choose(mask: Array, x: Array, y: Array, out: Array) -> None:
    word = mask.dtype
    chosen = out.view(word)
    if y.ndim == 0 and not y.view(word).any():
        np.bitwise_and(mask, x.view(word), chosen)
        return
    np.bitwise_xor(x.view(word), y.view(word), chosen)
    np.bitwise_and(mask, chosen, chosen)
    np.bitwise_xor(chosen, y.view(word), chosen)


def _cast(x: Array, out: Array) -> None:
    np.copyto(out, x, casting="unsafe")


def _sigmoid(x: Array, out: Array) -> None:
    if out.size < MANY_ELEMENTS:
        one = np.ones((), x.dtype)
        small = np.empty(out.shape, x.dtype)
        np.abs(x, small)
        np.negative(small, small)
        np.exp(small, small)
        np.add(small, one, small)
        top = np.empty(out.shape, x.dtype)
        np.minimum(x, _ZEROS[x.dtype], out=top)
        np.exp(top, top)
        np.divide(top, small, out)
        return
    # The exponential of the lower of x and 0 is that of -|x|, or 1: one exponential is enough.
    signed, unsigned = _WORDS[x.dtype.itemsize]
    one, sign = _ONES[x.dtype], _SIGNS[x.dtype]
    top = np.empty(out.shape, signed)
    np.right_shift(x.view(signed), _SHIFTS[x.dtype], top)
    np.bitwise_and(top, one.view(signed), top)
    np.bitwise_xor(top, one.view(signed), top)
    np.bitwise_or(x.view(unsigned), sign, out.view(unsigned))
    np.exp(out, out)
    np.maximum(out, top.view(x.dtype), out=top.view(x.dtype))
    np.add(out, one, out)
    np.divide(top.view(x.dtype), out, out)


def _rsqrt(x: Array, out: Array) -> None:
    np.sqrt(x, out)
    np.reciprocal(out, out)


def _tail(x: Array) -> Array:
    """log(1 + exp(-|x|)), what softplus adds to the larger of x and 0."""
    small = np.empty(x.shape, x.dtype)
    np.abs(x, small)
    np.negative(small, small)
    np.exp(small, small)
    np.log1p(small, small)
    return small


def _softplus(x: Array, out: Array) -> None:
    tail = _tail(x)
    _maximum(x, _ZEROS[x.dtype], out)
    np.add(out, tail, out)


def _log_sigmoid(x: Array, out: Array) -> None:
    tail = _tail(x)
    _minimum(x, _ZEROS[x.dtype], out)
    np.subtract(out, tail, out)


def _limit(ufunc: Any) -> Function:
    def run(x: Array, y: Array, out: Array) -> None:
        if out.size >= MANY_ELEMENTS and not (x.ndim and y.ndim):
            # NumPy compares with a scalar element by element, at thrice the time.
            other = x if x.ndim else y
            wide = np.empty_like(out) if np.may_share_memory(other, out) else out
            wide.fill(y if x.ndim else x)
            x, y = (x, wide) if x.ndim else (wide, y)
        # NumPy wants this output by keyword.
        ufunc(x, y, out=out)

    return run


_maximum, _minimum = _limit(np.maximum), _limit(np.minimum)


def _clip(x: Array, low: Array, high: Array, out: Array) -> None:
    raised = np.empty_like(out)
    _maximum(x, low, raised)
    _minimum(raised, high, out)


def _relu(x: Array, out: Array) -> None:
    if out.size < MANY_ELEMENTS:
        np.maximum(x, _ZEROS[x.dtype], out=out)
    else:
        _maximum(x, _ZEROS[x.dtype], out)


_ZEROS = {dtype: np.zeros((), dtype) for dtype in KINDS}
_ONES = {dtype: np.ones((), dtype) for dtype in KINDS}
_SHIFTS = {np.dtype(f"f{k}"): np.array(8 * k - 1, f"i{k}") for k in (4, 8)}
_SIGNS = {np.dtype(f"f{k}"): np.array(1 << (8 * k - 1), f"u{k}") for k in (4, 8)}

_SPECIAL: dict[str, Function] = {
    "multiply_no_nan": _multiply_no_nan,
    "multiply_zero": _multiply_zero,
    "where": _where,
    "cast": _cast,
    "sigmoid": _sigmoid,
    "rsqrt": _rsqrt,
    "softplus": _softplus,
    "log_sigmoid": _log_sigmoid,
    "maximum": _maximum,
    "minimum": _minimum,
    "clip": _clip,
    "relu": _relu,
}
_FLOAT_SPECIAL: dict[str, Function] = {"pow": float_power}

# A choice in two steps: the first is the same for all choices by one condition.
MASK = Elementwise(_mask, False, True)
CHOOSE = Elementwise(_choose, False, True)

# Not among them: pow (1 ** NaN is 1), hypot, copysign, comparisons and choices.
_SPREAD_NAN = frozenset(
    {
        "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil",
        "conj", "cos", "cosh", "divide", "exp", "exp2", "expm1", "floor", "fmod", "log", "log10",
        "log1p", "log2", "log_sigmoid", "logit", "maximum", "minimum", "multiply", "negative",
        "positive", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "softplus",
        "sqrt", "square", "subtract", "tan", "tanh", "trunc",
    }
)  # fmt: skip

_SCALAR: dict[str, Function] = {"multiply_no_nan": _multiply_no_nan_scalar}
_OVERLAPPING = frozenset(
    {"sigmoid", "cast", "clip", "relu", "maximum", "minimum", "softplus", "log_sigmoid"}
)

# Ops whose meaning asks for the dtype first; on floats it is this ufunc.
_FLOAT_UFUNCS: dict[str, np.ufunc] = {
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.rint, "log1p": np.log1p,
}  # fmt: skip
