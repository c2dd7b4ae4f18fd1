"""Elementwise functions of statistics and information, each right in both tails."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, divide, multiply, negative, reciprocal, subtract
from .comparison import equal, isinf, isnan, less, logical_and
from .exponential import exp, log, log1p
from .pointwise import pointwise, same, select


def _erf(x: Array) -> Array:
    from scipy import special

    result: Array = special.erf(x)
    return result


def _erfc(x: Array) -> Array:
    from scipy import special

    result: Array = special.erfc(x)
    return result


def _bell(x: Any, scale: float) -> Any:
    return multiply(exp(negative(multiply(x, x))), scale)


@pointwise(numpy=_erf, expr="erf({x})", d=lambda x, out: _bell(x, 2 / math.sqrt(math.pi)))
def erf(x: Operand) -> TensorType:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    return same(FLOATING, x)


@pointwise(numpy=_erfc, expr="erfc({x})", d=lambda x, out: _bell(x, -2 / math.sqrt(math.pi)))
def erfc(x: Operand) -> TensorType:
    """1 - erf(x), accurate for large x."""
    return same(FLOATING, x)


def _sigmoid(x: Array) -> Array:
    result: Array = np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))
    return result


def _sigmoid_slope(x: Any, out: Any) -> Any:
    # Not out * (1 - out), which is 0 long before the derivative is.
    return multiply(out, sigmoid(negative(x)))


@pointwise(
    numpy=_sigmoid,
    expr="({x} < 0 ? exp({x}) / (1 + exp({x})) : 1 / (1 + exp(-{x})))",
    d=_sigmoid_slope,
)
def sigmoid(x: Operand) -> TensorType:
    """1 / (1 + exp(-x))."""
    return same(FLOATING, x)


def _softplus(x: Array) -> Array:
    result: Array = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    return result


@pointwise(
    numpy=_softplus,
    expr="({x} > 0 ? {x} + log1p(exp(-{x})) : log1p(exp({x})))",
    d=lambda x, out: sigmoid(x),
)
def softplus(x: Operand) -> TensorType:
    """log(1 + exp(x)), to the last digit on both sides: there is no cut-off."""
    return same(FLOATING, x)


def _log_sigmoid(x: Array) -> Array:
    result: Array = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    return result


@pointwise(
    numpy=_log_sigmoid,
    expr="({x} < 0 ? {x} - log1p(exp({x})) : 0 - log1p(exp(-{x})))",
    d=lambda x, out: sigmoid(negative(x)),
)
def log_sigmoid(x: Operand) -> TensorType:
    """log(sigmoid(x)), which is -softplus(-x)."""
    return same(FLOATING, x)


def _logit(x: Array) -> Array:
    # Near a half the logarithm cancels, and 2 x - 1 is exact.
    twice = 2 * x - 1
    middle = np.abs(twice) < 0.5
    result: Array = np.where(middle, np.log1p(twice) - np.log1p(-twice), np.log(x / (1 - x)))
    return result


def _logit_slope(x: Any, out: Any) -> Any:
    # A sum of what is infinite at 0 and at 1 stays so in all derivatives.  Adding 0 makes 0 of
    # -0, whose other side has no logit.
    slope = add(reciprocal(add(x, 0.0)), reciprocal(subtract(1, x)))
    return select(isnan(out), out, slope)


@pointwise(
    numpy=_logit,
    expr=(
        "({x} * 4 > 1 && {x} * 4 < 3 ? log1p(2 * {x} - 1) - log1p(1 - 2 * {x})"
        " : log({x} / (1 - {x})))"
    ),
    d=_logit_slope,
)
def logit(x: Operand) -> TensorType:
    """log(x / (1 - x)), the inverse of sigmoid; -inf at 0, inf at 1, with derivative +inf;
    NaN outside, and its derivative too."""
    return same(FLOATING, x)


def share(x: Any, y: Any) -> Any:
    """The part of exp(x) in exp(x) + exp(y): a half where both are inf, 0 where both are -inf."""
    return sigmoid(_difference(x, y))


def _difference(x: Any, y: Any) -> Any:
    """x - y, but 0 where both are inf and -inf where both are -inf."""
    alike = logical_and(equal(x, y), isinf(x))
    infinite = select(less(x, 0), x, x.coerce(0.0))
    return select(alike, infinite, subtract(x, y))


@pointwise(
    numpy=np.logaddexp,
    expr=(
        "({x} == {y} && {x} - {x} != 0 ? {x}"
        " : {x} > {y} ? {x} + log1p(exp({y} - {x})) : {y} + log1p(exp({x} - {y})))"
    ),
    d=(lambda x, y, out: share(x, y), lambda x, y, out: share(y, x)),
)
def logaddexp(x: Operand, y: Operand) -> TensorType:
    """log(exp(x) + exp(y)) without overflow."""
    return same(FLOATING, x, y)


def _binary_share(x: Any, y: Any) -> Any:
    return sigmoid(multiply(_difference(x, y), math.log(2)))


@pointwise(
    numpy=np.logaddexp2,
    expr=(
        "({x} == {y} ? {x} + 1"
        " : {x} > {y} ? {x} + log1p(exp2({y} - {x})) * 1.4426950408889634"
        " : {y} + log1p(exp2({x} - {y})) * 1.4426950408889634)"
    ),
    d=(lambda x, y, out: _binary_share(x, y), lambda x, y, out: _binary_share(y, x)),
)
def logaddexp2(x: Operand, y: Operand) -> TensorType:
    """log2(2**x + 2**y) without overflow."""
    return same(FLOATING, x, y)


def _xlogy(x: Array, y: Array) -> Array:
    result: Array = np.where((x == 0) & ~np.isnan(y), np.zeros((), x.dtype), x * np.log(y))
    return result


def _xlogy_slope(x: Any, y: Any, out: Any) -> Any:
    # A quotient, because 1 / y and its derivatives overflow where x / y does not.
    origin = logical_and(equal(x, 0), equal(y, 0))
    return select(origin, x.coerce(0.0), divide(x, y))


@pointwise(
    numpy=_xlogy,
    expr="({x} == 0 && {y} == {y} ? 0 : {x} * log({y}))",
    d=(lambda x, y, out: log(y), _xlogy_slope),
)
def xlogy(x: Operand, y: Operand) -> TensorType:
    """x * log(y), and 0 where x is 0, whatever number y is."""
    return same(FLOATING, x, y)


def _entr(x: Array) -> Array:
    ends = np.where(x < 0, -np.inf, 0.0).astype(x.dtype)
    result: Array = np.where(x <= 0, ends, -_xlogy(x, x))
    return result


def _entr_slope(x: Any, out: Any) -> Any:
    # Adding 0 makes 0 of -0, whose other side is constant.
    return select(less(x, 0), x.coerce(0.0), subtract(-1.0, log(add(x, 0.0))))


@pointwise(
    numpy=_entr,
    expr="({x} < 0 ? log(0 * exp({x})) : {x} == 0 ? 0 : -({x} * log({x})))",
    d=_entr_slope,
)
def entr(x: Operand) -> TensorType:
    """-x * log(x); 0 at 0, -inf below, with derivative inf and 0 there."""
    return same(FLOATING, x)


def _xlog1py(x: Array, y: Array) -> Array:
    result: Array = np.where((x == 0) & ~np.isnan(y), np.zeros((), x.dtype), x * np.log1p(y))
    return result


def _xlog1py_slope(x: Any, y: Any, out: Any) -> Any:
    origin = logical_and(equal(x, 0), equal(y, -1))
    return select(origin, x.coerce(0.0), divide(x, add(y, 1)))


@pointwise(
    numpy=_xlog1py,
    expr="({x} == 0 && {y} == {y} ? 0 : {x} * log1p({y}))",
    d=(lambda x, y, out: log1p(y), _xlog1py_slope),
)
def xlog1py(x: Operand, y: Operand) -> TensorType:
    """x * log(1 + y), accurate for small y, and 0 where x is 0, whatever number y is."""
    return same(FLOATING, x, y)
