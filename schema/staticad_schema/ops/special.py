"""Elementwise functions of statistics and information, each right in both tails."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import divide, multiply, negative, subtract
from .comparison import equal, isinf, less, logical_and
from .exponential import exp, log
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
    small = np.exp(-np.abs(x))
    result: Array = np.where(x < 0, small, np.ones_like(small)) / (1 + small)
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


def _share(x: Any, y: Any) -> Any:
    """The part of exp(x) in exp(x) + exp(y): a half where both are inf, 0 where both are -inf."""
    alike = logical_and(equal(x, y), isinf(x))
    infinite = select(less(x, 0), x, x.coerce(0.0))
    return sigmoid(select(alike, infinite, subtract(x, y)))


@pointwise(
    numpy=np.logaddexp,
    expr=(
        "({x} == {y} && {x} - {x} != 0 ? {x}"
        " : {x} > {y} ? {x} + log1p(exp({y} - {x})) : {y} + log1p(exp({x} - {y})))"
    ),
    d=(lambda x, y, out: _share(x, y), lambda x, y, out: _share(y, x)),
)
def logaddexp(x: Operand, y: Operand) -> TensorType:
    """log(exp(x) + exp(y)) without overflow."""
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
