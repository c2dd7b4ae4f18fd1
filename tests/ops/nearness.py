"""How far the results of an op on a device may be from NumPy's.

Arithmetic, comparisons, casts, whatever only moves elements, and random bits are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from staticad_schema.op import Op
from staticad_schema.types import FLOAT16, FLOAT32, FLOAT64, KINDS, Array, DType

from .every import EPS
from .running import meaning
from .samples import Sample
from .test_every_special import PATTERNS

# What differs from NumPy in the last places: sums and products of many elements, whose order is
# the device's own, and functions that are not correctly rounded by either side.
SUMS = frozenset(
    {
        "attention", "conv", "conv_input", "conv_weights", "cross_entropy", "cumulative_logsumexp",
        "cumulative_prod", "cumulative_sum", "linear_recurrence", "log_softmax", "logsumexp",
        "masked_softmax", "matmul", "matmul_no_nan", "matmul_transposed", "norm", "norm_direction",
        "normalize", "prod", "scatter_add", "scatter_multiply", "slogdet", "softmax", "sum",
        "sum_to", "window_spread", "window_sum",
    }
)  # fmt: skip
FUNCTIONS = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh",
        "direction", "entr", "erf", "erfc", "exp", "exp2", "expm1", "gelu", "hypot",
        "kl_div", "log", "log10", "log1p", "log2", "log_ratio", "log_sigmoid",
        "logit", "mish", "pow", "rel_entr", "rsqrt", "sigmoid", "silu",
        "sin", "sinh", "softplus", "softsign", "tan", "tanh", "xlog1py", "xlogy",
    }
)  # fmt: skip
CONVOLUTIONS = frozenset({"conv", "conv_input", "conv_weights"})
SPECIAL_FUNCTIONS = frozenset(
    {
        "beta", "beta_density", "betainc", "betaincc", "betaln", "digamma", "erfcinv", "erfcx",
        "erfinv", "exp1", "expi", "exprel", "gamma", "gamma_density", "gammainc", "gammaincc",
        "gammaln", "iv", "ive", "jv", "kv", "kve", "log_gamma_quantile", "log_ndtr", "ndtri",
        "ndtri_exp", "normal_hazard", "polygamma", "polygamma_step", "riemann_zeta", "zeta",
    }
)  # fmt: skip
"""Computed in float64 on both sides, and rounded once: only float64 shows how they differ.  How
near each is to the truth is for test_special_accuracy.py and tests/executor/opencl."""
CANCELLING = frozenset({"inverse_power", "logaddexp", "logaddexp2", "sinc"})
"""Sums of such functions."""
EXTREMA = frozenset(
    {
        "cumulative_max", "cumulative_min", "max", "max_pool", "min", "scatter_max", "scatter_min",
    }
)  # fmt: skip
"""Of zeros of both signs they give either."""
UNDERFLOWING = frozenset({"betainc", "gamma_density", "gammainc"})
"""Of parameters below the normal numbers SciPy makes 0, where 1 or infinity is right."""
UNDEFINED = MappingProxyType(
    {
        "jv": "SciPy loses the phase of large numbers, the device does not",
        "log_ratio": "of numbers that are not negative",
        "searchsorted": "of sorted numbers",
    }
)
"""Ops for which special numbers mean nothing."""


def units_of(definition: Op, dtype: DType) -> float:
    """How many units in the last place a result may be from NumPy's."""
    if definition.name in SPECIAL_FUNCTIONS and dtype == FLOAT64:
        return 64.0
    if definition.name in SUMS | CANCELLING:
        return 16.0
    if definition.name in FUNCTIONS:
        return 4.0
    return 1.0 if definition.name in SPECIAL_FUNCTIONS else 0.0


MOVED = 2e-13
"""How far rounding within a special function of float64 moves its operands, relatively."""


def moved(definition: Op, attributes: Mapping[str, Any], operands: Sequence[Array]) -> Array:
    """How far a special function goes where its operands, of float64, are moved so far."""
    (exact,) = meaning(definition, operands, attributes)
    largest = np.zeros_like(exact)
    with np.errstate(all="ignore"):
        for k, x in enumerate(operands):
            for side in (1 + MOVED, 1 - MOVED, 1 + 2.0**-52, 1 - 2.0**-52):
                beside = (*operands[:k], x * side, *operands[k + 1 :])
                change = np.abs(meaning(definition, beside, attributes)[0] - exact)
                largest = np.maximum(largest, np.where(np.isfinite(change), change, 0.0))
    return largest


def differs(definition: Op, found: Array, expected: Array, allowed: Array | float = 0.0) -> bool:
    """Whether a result is not NumPy's: by more than it may be, relatively; where elements are
    sums, relatively to the largest of them.  Or by what is allowed beside that."""
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return True
    if KINDS[found.dtype] not in ("float", "complex"):
        return bool((found != expected).any())
    if not found.size:
        return False
    a, b = (x.astype(np.result_type(x.dtype, np.float64)) for x in (found, expected))
    close = (a == b) | (np.isnan(a) & np.isnan(b))
    count = units_of(definition, found.dtype)
    if count:
        eps = EPS.get(found.dtype, EPS[FLOAT32])
        finite = np.abs(b[np.isfinite(b)])
        scale = np.abs(b)
        if definition.name in SUMS | CANCELLING and finite.size:
            scale = np.broadcast_to(finite.max(), b.shape)
        own = np.float16 if found.dtype == FLOAT16 else np.float32
        least = float(np.finfo(own).smallest_subnormal)
        with np.errstate(invalid="ignore"):
            bound = np.maximum(count * (eps * scale + least), allowed)
            close |= np.isfinite(a) & (np.abs(a - b) <= bound)
    signs = (a == 0) & (b == 0) & (np.signbit(a.real) != np.signbit(b.real))
    # Where numbers leave the range on the way, and where zeros tie, either sign is right.
    either = definition.name in SPECIAL_FUNCTIONS | EXTREMA | {"linear_recurrence"}
    return not bool(close.all()) or bool(signs.any() and not either)


def patterns_for(name: str, dtype: DType) -> tuple[tuple[float, ...], ...]:
    """The special numbers for which an op has one result, however it is computed."""
    if name in UNDEFINED:
        return ()
    if name in UNDERFLOWING and dtype == FLOAT64:
        return tuple(p for p in PATTERNS if not any(0 < abs(x) < 1e-307 for x in p))
    if name in CONVOLUTIONS:
        # What lies in no window, or in the padding, is 0 times a weight, or is nothing.
        return tuple(p for p in PATTERNS if np.isfinite(p).all() and max(map(abs, p)) < 2)
    # Where sums leave the range of numbers, their order decides between infinity and NaN.
    return PATTERNS[1:] if name in SUMS else PATTERNS


def is_undefined(definition: Op, sample: Sample, result: Array) -> bool:
    """Whether special numbers are cast to integers, of which processors make what they like."""
    floats = any(KINDS[a.dtype] in ("float", "complex") for a in sample.arrays)
    return definition.name == "cast" and floats and KINDS[result.dtype] in ("int", "uint")
