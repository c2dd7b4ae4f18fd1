"""The numerical conventions, as data: `tests/test_conventions.py` asserts them, and
`docs/generate.py` renders them as `docs/conventions.md`, with the expressions as written here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, nan
from typing import Any, NamedTuple

import numpy as np

import staticad as sad


class Row(NamedTuple):
    """`expression` of tensors made from `inputs` has this value, or these gradients."""

    point: str
    expression: Callable[..., Any]
    inputs: tuple[Any, ...]
    value: Any = None
    gradients: tuple[Any, ...] | None = None
    error: type[Exception] | None = None


def value(point: str, expression: Callable[..., Any], inputs: tuple[Any, ...], is_: Any) -> Row:
    """The expression's value; Python numbers are float64, arrays keep their dtype."""
    return Row(point, expression, inputs, value=is_)


def slope(point: str, expression: Callable[..., Any], inputs: tuple[Any, ...], *are: Any) -> Row:
    """The gradients of the expression's sum with respect to each input."""
    return Row(point, expression, inputs, gradients=are)


def error(
    point: str, expression: Callable[..., Any], inputs: tuple[Any, ...], is_: type[Exception]
) -> Row:
    """Building or running the expression raises this."""
    return Row(point, expression, inputs, error=is_)


uint8 = np.uint8
int32 = np.int32

# fmt: off
CONVENTIONS = (
    slope("abs, sign", lambda x: sad.abs(x), ([0.0, -0.0],), [0, 0]),
    slope("abs, sign", lambda x: sad.sign(x), ([0.0, 2.0, nan],), [0, 0, 0]),
    slope("floor, ceil, round", lambda x: sad.floor(x), ([0.5, 1.0, nan],), [0, 0, 0]),
    slope("floor, ceil, round", lambda x: sad.ceil(x), ([0.5, 1.0, nan],), [0, 0, 0]),
    slope("floor, ceil, round", lambda x: sad.round(x), ([0.5, 1.0, nan],), [0, 0, 0]),
    slope("relu at 0", lambda x: sad.nn.relu(x), ([-1.0, 0.0, 1.0],), [0, 0, 1]),
    slope("relu6 at 0 and 6", lambda x: sad.nn.relu6(x), ([0.0, 3.0, 6.0],), [0, 1, 0]),
    slope("hardtanh at its ends", lambda x: sad.nn.hard_tanh(x), ([-1.0, 0.0, 1.0],), [0, 1, 0]),
    slope("hard_sigmoid at -3, 3", lambda x: sad.nn.hard_sigmoid(x), ([-3.0, 3.0],), [0, 0]),
    slope("hard_swish at -3, 3", lambda x: sad.nn.hard_swish(x), ([-3.0, 3.0],), [0, 1]),
    slope("leaky_relu at 0", lambda x: sad.nn.leaky_relu(x), ([-1.0, 0.0, 1.0],), [.01, .01, 1]),
    value("digamma at its poles", lambda x: sad.special.digamma(x), ([0.0, -1.0, -2.0],),
          [-inf, nan, nan]),
    slope("digamma at its poles", lambda x: sad.special.digamma(x), ([0.0, -1.0, -2.0],),
          [inf, inf, inf]),
    slope("i0e, i1e at 0", lambda x: sad.special.i0e(x), ([0.0],), [0]),
    slope("entr at 0 and below", lambda x: sad.special.entr(x), ([0.0, -1.0],), [inf, 0]),
    slope("rel_entr(0, y), rel_entr(x, 0)", lambda x, y: sad.special.rel_entr(x, y),
          ([0.0, 1.0], [1.0, 0.0]), [-inf, 0], [0, 0]),
    slope("ndtri, erfinv at their ends", lambda x: sad.special.ndtri(x), ([0.0, 1.0],),
          [inf, inf]),
    value("silu, mish at -inf", lambda x: sad.nn.silu(x), ([-inf, inf],), [0, inf]),
    slope("silu, mish at -inf", lambda x: sad.nn.mish(x), ([-inf, inf],), [0, 1]),
    slope("maximum, minimum of equals", lambda a, b: sad.maximum(a, b), (1.0, 1.0), 0.5, 0.5),
    slope("maximum, minimum of equals", lambda a, b: sad.minimum(a, b), (1.0, 1.0), 0.5, 0.5),
    slope("max of a tensor with itself", lambda x: sad.maximum(x, x), (1.0,), 1),
    slope("max, min: k ties", lambda x: sad.max(x), ([0.6, 0.6, 0.3],), [0.5, 0.5, 0]),
    slope("max, min: k ties", lambda x: sad.min(x), ([1.0, 1.0, 1.0, 2.0],), [1/3, 1/3, 1/3, 0]),
    value("max, min with NaN", lambda x: sad.max(x), ([1.0, nan, 2.0],), nan),
    value("max, min with NaN", lambda a, b: sad.minimum(a, b), (nan, 1.0), nan),
    value("argmax, argmin: ties and NaN", lambda x: sad.argmax(x), ([1.0, 3.0, 3.0],), 1),
    value("argmax, argmin: ties and NaN", lambda x: sad.argmin(x), ([1.0, nan, 0.0],), 1),
    value("round half to even", lambda x: sad.round(x), ([0.5, 1.5, -2.5],), [0, 2, -2]),
    slope("clip at a bound", lambda x: sad.clip(x, 0, 6), ([-1.0, 0.0, 6.0, 7.0],), [0, 1, 1, 0]),
    slope("std of a constant", lambda x: sad.std(x), ([3.0, 3.0, 3.0],), [0, 0, 0]),
    slope("norm at 0", lambda x: sad.linalg.norm(x), ([0.0, 0.0],), [0, 0]),
    slope("norm at 0", lambda x: sad.linalg.vector_norm(x, ord=1), ([0.0, -2.0],), [0, -1]),
    slope("norm at 0", lambda x: sad.linalg.vector_norm(x, ord=0.5), ([0.0, 1.0],), [0, 1]),
    slope("norm of order inf: ties", lambda x: sad.linalg.norm(x, inf), ([1.0, -1.0],), [.5, -.5]),
    value("norm: no overflow", lambda x: sad.linalg.norm(x), ([3e200, 4e200],), 5e200),
    slope("median: two middles", lambda x: sad.median(x), ([3.0, 1.0, 2.0, 9.0],), [.5, 0, .5, 0]),
    value("median of NaN", lambda x: sad.median(x), ([3.0, nan, 2.0],), nan),
    slope("bare sqrt at 0", lambda x: sad.sqrt(x), (0.0,), inf),
    slope("atan2 at (0, 0)", lambda y, x: sad.atan2(y, x), (0.0, 0.0), 0, 0),
    slope("copysign at 0", lambda x, y: sad.copysign(x, y), (0.0, 1.0), 0, 0),
    value("logsumexp of all -inf", lambda x: sad.logsumexp(x), ([-inf, -inf],), -inf),
    slope("logsumexp of all -inf", lambda x: sad.logsumexp(x), ([-inf, -inf],), [0, 0]),
    slope("logsumexp with inf", lambda x: sad.logsumexp(x), ([1.0, inf],), [0, 1]),
    slope("logsumexp with inf", lambda x: sad.logsumexp(x), ([inf, 1.0, inf],), [0.5, 0, 0.5]),
    value("softmax of all -inf", lambda x: sad.nn.softmax(x, axis=-1), ([-inf, -inf],), [nan, nan]),
    value("softmax under a mask", lambda x: sad.nn.softmax(x, where=x > 0), ([-1.0, nan],), [0, 0]),
    slope("softmax under a mask", lambda x: sad.nn.softmax(x, where=x > 0), ([-1.0, nan],), [0, 0]),
    value("attention without keys",
        lambda q: sad.nn.scaled_dot_product_attention(q, q, q, [[False]]), ([[3.0]],), [[0.0]]),
    slope("attention without keys",
        lambda q: sad.nn.scaled_dot_product_attention(q, q, q, [[False]]), ([[3.0]],), [[0.0]]),
    value("mean of no losses",
        lambda x: sad.nn.cross_entropy(x, [0], ignore_index=0), ([[1.0, 2.0]],), nan),
    slope("mean of no losses",
        lambda x: sad.nn.cross_entropy(x, [0], ignore_index=0), ([[1.0, 2.0]],), [[0, 0]]),
    slope("softmax far apart", lambda x: sad.nn.log_softmax(x, axis=-1)[1], ([1e3, 0.0],), [-1, 1]),
    slope("logaddexp of two inf", lambda x, y: sad.logaddexp(x, y), (inf, inf), 0.5, 0.5),
    slope("logaddexp of two -inf", lambda x, y: sad.logaddexp(x, y), (-inf, -inf), 0, 0),
    slope("remainder", lambda x, y: sad.remainder(x, y), (6.0, 4.0), 1, -1),
    slope("remainder", lambda x, y: sad.remainder(x, y), (8.0, 4.0), 1, -2),
    slope("remainder", lambda x, y: sad.remainder(x, y), (-1.0, 4.0), 1, 1),
    value("floor_divide, remainder: floor", lambda x, y: x // y, (int32(-21), int32(5)), -5),
    value("floor_divide, remainder: floor", lambda x, y: x % y, (int32(-21), int32(5)), 4),
    value("small and unsigned integers wrap", lambda x, y: x - y, (uint8(5), uint8(7)), 254),
    value("mean and var promote", lambda x: sad.mean(x), (np.array([255, 255], uint8),), 255),
    slope("xlogy at x = 0", lambda x, y: sad.xlogy(x, y), (0.0, 0.0), -inf, 0),
    slope("xlogy at x = 0", lambda x, y: sad.xlogy(x, y), (0.0, 3.0), log(3), 0),
    value("xlogy at x = 0", lambda x, y: sad.xlogy(x, y), (0.0, 0.0), 0),
    value("xlogy at x = 0", lambda x, y: sad.xlog1py(x, y), (0.0, -1.0), 0),
    slope("logit at 0 and 1", lambda x: sad.logit(x), ([0.0, -0.0, 1.0],), [inf, inf, inf]),
    slope("cbrt, rsqrt at 0", lambda x: sad.cbrt(x), ([0.0, -0.0],), [inf, inf]),
    slope("cbrt, rsqrt at 0", lambda x: sad.rsqrt(x), ([0.0, inf],), [-inf, 0]),
    value("sinc at integers", lambda x: sad.sinc(x), ([0.0, 1.0, 2.0],), [1, 0, 0]),
    slope("sinc at integers", lambda x: sad.sinc(x), ([0.0, 1.0, 2.0],), [0, -1, 0.5]),
    slope("fmod", lambda x, y: sad.fmod(x, y), (-7.5, 2.0), 1, 3),
    slope("fmax, fmin of NaN", lambda x, y: sad.fmax(x, y), (nan, 1.0), 0, 1),
    slope("0 times inf in the chain rule", lambda x: sad.sqrt(x) ** 2, (0.0,), 0),
    slope("0 times inf in the chain rule", lambda x: sad.where(x > 0, sad.log(x), x), (0.0,), 1),
    slope("pow at base 0", lambda x: x ** 2, (0.0,), 0),
    slope("pow at base 0", lambda x: x ** 1, (0.0,), 1),
    slope("pow at base 0", lambda x: x ** 0.5, (0.0,), inf),
    slope("pow at base 0", lambda x: x ** 0, (0.0,), 0),
    slope("pow at base 0", lambda x, p: x ** p, (0.0, 2.0), 0, 0),
    slope("pow at base 0", lambda x: x ** sad.constant(0.5, dtype="float64"), (0.0,), inf),
    slope("prod with zeros", lambda x: sad.prod(x), ([2.0, 0.0, 3.0, 4.0],), [0, 24, 0, 0]),
    slope("prod with zeros", lambda x: sad.prod(x), ([0.0, 0.0, 3.0],), [0, 0, 0]),
    slope("prod with zeros", lambda x: sad.cumulative_prod(x), ([2.0, 0.0, 4.0],), [1, 10, 0]),
    slope("max-pool ties: the first takes all",
          lambda x: sad.nn.max_pool1d(x[None, None], 3), ([1.0, 2.0, 2.0],), [0, 1, 0]),
    value("pooling with NaN", lambda x: sad.nn.max_pool1d(x[None, None], 2)[0, 0],
          ([1.0, nan, 2.0, 3.0],), [nan, 3]),
    slope("p-norms of windows of zeros",
          lambda x: sad.nn.lp_pool1d(x[None, None], 3, 2), ([0.0, 0.0],), [0, 0]),
    slope("cummax, cummin of equals", lambda x: sad.cummax(x)[0], ([1.0, 1.0, 0.0],), [1, 2, 0]),
    value("cummax, cummin of NaN", lambda x: sad.cummax(x)[0], ([1.0, nan, 2.0],), [1, nan, nan]),
    value("logcumsumexp of -inf", lambda x: sad.logcumsumexp(x), ([-inf, 0.0],), [-inf, 0]),
    slope("logcumsumexp of -inf", lambda x: sad.logcumsumexp(x), ([-inf, -inf, 0.0],), [0, 0, 1]),
    value("sort: stable, NaN last", lambda x: sad.sort(x), ([nan, 2.0, 1.0],), [1, 2, nan]),
    value("sort: stable, NaN last", lambda x: sad.sort(x, descending=True), ([nan, 1],), [1, nan]),
    value("sort: stable, NaN last", lambda x: sad.argsort(x, descending=True), ([1, 1],), [0, 1]),
    value("top_k of equals", lambda x: sad.top_k(x, 2)[1], ([1.0, 2.0, 2.0, 2.0],), [1, 2]),
    value("several updates: the last stays",
          lambda x, u: x.at[[0, 0]].set(u), ([0.0, 1.0], [2.0, 3.0]), [3, 1]),
    slope("several updates: the last stays",
          lambda x, u: x.at[[0, 0]].set(u), ([0.0], [2.0, 3.0]), [0], [0, 1]),
    slope("several updates: max, min share",
          lambda x, u: x.at[[0, 0]].max(u), ([3.0], [3.0, 2.0]), [0.5], [0.5, 0]),
    slope("several updates: products",
          lambda x, u: x.at[[0, 0]].multiply(u), ([2.0], [0.0, 3.0]), [0], [6, 0]),
    value("segments of nothing", lambda x: sad.segment_sum(x, [1], 2)[:1], ([1.0],), [0]),
    value("segments of nothing", lambda x: sad.segment_prod(x, [1], 2)[:1], ([1.0],), [1]),
    value("segments of nothing", lambda x: sad.segment_max(x, [1], 2)[:1], ([1.0],), [-inf]),
    value("segments of nothing", lambda x: sad.segment_mean(x, [1], 2)[:1], ([1.0],), [nan]),
    value("histogram: the last bin is closed",
          lambda x: sad.histogram(x, 2, (0, 2))[0], ([0.0, 1.0, 2.0, nan],), np.array([1, 2])),
    value("mirrored axis of one element", lambda x: sad.pad(x, 1, "reflect"), ([4.0],), [4, 4, 4]),
    slope("complex: d/d(real) + i d/d(imag)", lambda z: sad.real(z * z),
          (np.array([1 + 2j]),), [2 - 4j]),
    slope("complex: d/d(real) + i d/d(imag)", lambda z: sad.abs(z), (np.array([3 + 4j, 0]),),
          [0.6 + 0.8j, 0]),
    error("complex: d/d(real) + i d/d(imag)", lambda z: sad.gradients(z * z, z),
          (np.array([1 + 2j]),), sad.GradientError),
    slope("angle at 0", lambda z: sad.angle(z), (np.array([1j, 0]),), [-1, 0]),
    slope("transforms", lambda x: sad.abs(sad.fft.fft(x)) ** 2, ([1.0, 2.0],), [4, 8]),
    value("irfft: real ends", lambda z: sad.fft.irfft(z), (np.array([2 + 5j, 7j]),), [1, 1]),
    slope("irfft: real ends", lambda z: sad.fft.irfft(z)[0], (np.array([2 + 5j, 7j]),), [.5, .5]),
    slope("det: cofactors", lambda x: sad.linalg.det(x), ([[1.0, 2.0], [2.0, 4.0]],),
          [[4, -2], [-2, 1]]),
    slope("det: cofactors", lambda x: sad.linalg.det(x), ([[0.0, 0.0], [0.0, 0.0]],),
          [[0, 0], [0, 0]]),
    value("slogdet of a singular matrix", lambda x: sad.linalg.slogdet(x).logabsdet,
          ([[1.0, 2.0], [2.0, 4.0]],), -inf),
    slope("slogdet of a singular matrix", lambda x: 0 * sad.linalg.slogdet(x).logabsdet,
          ([[1.0, 2.0], [2.0, 4.0]],), [[0, 0], [0, 0]]),
    slope("cholesky: symmetric", lambda x: sad.linalg.cholesky(x), ([[4.0, 0.0], [0.0, 4.0]],),
          [[.25, .25], [.25, .25]]),
    value("cholesky: symmetric", lambda x: sad.linalg.cholesky(x), ([[4.0, 3.0], [1.0, 5.0]],),
          [[2, 0], [1, 2]]),
    error("no inverse", lambda x: sad.linalg.inv(x), ([[1.0, 2.0], [2.0, 4.0]],),
          sad.ExecutionError),
    slope("equal eigenvalues", lambda x: sad.linalg.eigvalsh(x), ([[1.0, 0.0], [0.0, 1.0]],),
          [[1, 0], [0, 1]]),
    slope("equal eigenvalues", lambda x: sad.linalg.eigh(x).eigenvectors,
          ([[1.0, 0.0], [0.0, 1.0]],), [[0, 0], [0, 0]]),
    slope("functions of symmetric matrices", lambda x: sad.linalg.eigvalsh(x)[1],
          ([[1.0, 2.0], [0.0, 1.0]],), [[.5, .5], [.5, .5]]),
    slope("equal and zero singular values", lambda x: sad.linalg.svd(x).U,
          ([[0.0, 0.0], [0.0, 0.0]],), [[0, 0], [0, 0]]),
    slope("equal and zero singular values", lambda x: sad.linalg.matrix_norm(x, ord="nuc"),
          ([[3.0, 0.0], [0.0, 0.0]],), [[1, 0], [0, 0]]),
    slope("equal and zero singular values", lambda x: sad.linalg.matrix_norm(x, ord=2),
          ([[3.0, 0.0], [0.0, 3.0]],), [[.5, 0], [0, .5]]),
    slope("root of a singular matrix", lambda x: sad.linalg.sqrtm(x), ([[4.0, 0.0], [0.0, 0.0]],),
          [[.25, .5], [.5, 0]]),
    value("empty sum, prod, mean", lambda x: sad.sum(x), ([],), 0),
    value("empty sum, prod, mean", lambda x: sad.prod(x), ([],), 1),
    value("empty sum, prod, mean", lambda x: sad.mean(x), ([],), nan),
    error("empty max, min", lambda x: sad.max(x), ([],), sad.StaticadError),
    error("no integer gradients", lambda x: sad.gradients(x, x), (uint8(3),), sad.GradientError),
)
# fmt: on
