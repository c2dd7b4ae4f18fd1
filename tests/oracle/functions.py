"""What each function name of the golden cases is here.

`FUNCTIONS[op](*inputs, **attributes)` gives the output or a list of outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import staticad as sad

from .networks import NETWORKS
from .shapes import SHAPES
from .spatial import SPATIAL

Axis = int | list[int] | None


def _axis(axis: Axis) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def _upper_triangle(x: Any) -> Any:
    """The triangular factor, with signs for which its diagonal is above 0."""
    r = sad.linalg.qr(x, mode="r")
    return r * sad.sign(sad.linalg.diagonal(r))[:, None]


def _reduce(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(x: Any, axis: Axis = None, keepdims: bool = False, **more: Any) -> Any:
        return function(x, axis=_axis(axis), keepdims=keepdims, **more)

    return reduce


def _gemm(a: Any, b: Any, c: Any, alpha: float, beta: float, transA: int, transB: int) -> Any:
    left, right = a.T if transA else a, b.T if transB else b
    return alpha * (left @ right) + beta * c


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **SPATIAL,
    **NETWORKS,
    **SHAPES,
    **{
        name: getattr(sad, name)
        for name in (
            "abs", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square",
            "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
            "asinh", "acosh", "atanh", "floor", "ceil", "round", "trunc", "sign",
            "isnan", "isinf", "isfinite", "signbit", "reciprocal", "sigmoid", "erf", "erfc",
            "maximum", "minimum", "hypot", "remainder", "logaddexp", "copysign", "atan2", "pow",
            "floor_divide", "equal", "not_equal", "less", "less_equal", "greater_equal", "greater",
            "logical_or", "logical_and", "logical_xor", "logical_not", "where", "matmul", "clip",
            "cbrt", "exp2", "fmod", "log_sigmoid", "logit", "rsqrt", "softplus",
        )
    },
    "neg": sad.negative,
    "add": sad.add,
    "sub": sad.subtract,
    "mul": sad.multiply,
    "div": sad.divide,
    "pow_scalar": lambda x, exponent: sad.pow(x, exponent),
    "cast": lambda x, to: sad.cast(x, to),
    "squared_difference": sad.squared_difference,
    "lerp": sad.lerp,
    "linear": lambda x, weights, bias: x @ weights.mT + bias,
    "resize_nearest": lambda x, scale: sad.nn.interpolate(x, scale_factor=scale, mode="nearest"),
    "fma": lambda a, b, c: a * b + c,
    "where_log_guard": lambda x: sad.where(x > 0, sad.log(x), 0.0),
    "nonzero_mask_sum": lambda x: sad.sum(sad.where(x > 0, x, 0.0)),
    "dropout_mask": lambda x, m, rate: x * m / (1 - rate),
    "sinc": sad.sinc,
    "sort": lambda x, axis, descending: sad.sort(x, axis=axis, descending=descending),
    "argsort": lambda x, axis, descending: sad.argsort(x, axis=axis, descending=descending),
    "topk": lambda x, k, axis, largest: sad.top_k(x, k, axis=axis, largest=largest)[0],
    **{
        name: _reduce(getattr(sad, name))
        for name in (
            "sum", "mean", "max", "min", "prod", "var", "std", "logsumexp", "argmax", "argmin",
            "any", "all",
        )
    },
    "sumsq": _reduce(lambda x, axis, keepdims: sad.sum(x * x, axis=axis, keepdims=keepdims)),
    "norm_l1": _reduce(lambda x, **over: sad.linalg.vector_norm(x, ord=1, **over)),
    "norm_l2": _reduce(lambda x, **over: sad.linalg.vector_norm(x, **over)),
    "count_nonzero": _reduce(sad.count_nonzero),
    "cumprod": lambda x, axis: sad.cumulative_prod(x, axis=axis),
    "cumsum": lambda x, axis: sad.cumulative_sum(x, axis=axis),
    "cummax": lambda x, axis: sad.cummax(x, axis=axis)[0],
    "logcumsumexp": lambda x, axis: sad.logcumsumexp(x, axis=axis),
    "einsum": lambda *xs, equation: sad.einsum(equation, *xs),
    "gemm": _gemm,
    "tensordot": lambda x, y, axes: sad.tensordot(x, y, axes=axes),
    **{name: getattr(sad, name) for name in ("cross", "kron", "outer", "vecdot")},
    "trace": sad.linalg.trace,
    "matrix_norm_fro": sad.linalg.matrix_norm,
    "erfinv": sad.special.erfinv,
    "lgamma": sad.special.gammaln,
    "digamma": sad.special.digamma,
    "diff": lambda x, axis: sad.diff(x, axis=axis),
    "cholesky": sad.linalg.cholesky,
    "slogdet": lambda x: sad.linalg.slogdet(x).logabsdet,
    "solve_triangular": lambda a, b, lower: sad.linalg.solve_triangular(a, b, lower=lower),
    **{
        name: getattr(sad.linalg, name)
        for name in ("det", "inv", "matrix_power", "solve", "svdvals")
    },
    "eigvalsh": lambda x: sad.linalg.eigvalsh((x + x.mT) / 2),
    "qr_r": _upper_triangle,
}  # fmt: skip
