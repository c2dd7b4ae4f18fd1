"""Every elementwise op under one roof, for those who write rules, expansions and rewrites."""

from __future__ import annotations

from .arithmetic import (
    abs,
    add,
    copysign,
    divide,
    floor_divide,
    fmod,
    multiply,
    multiply_no_nan,
    multiply_zero,
    negative,
    positive,
    pow,
    reciprocal,
    remainder,
    sign,
    square,
    subtract,
)  # fmt: skip
from .bitwise import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
)  # fmt: skip
from .comparison import (
    equal,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
    signbit,
)  # fmt: skip
from .conversion import cast, complex_, conj, imag, real
from .exponential import cbrt, exp, exp2, expm1, log, log1p, log2, log10, rsqrt, sqrt
from .plane import atan2, direction, hypot, inverse_power
from .rounding import ceil, floor, nextafter, round, trunc
from .selection import clip, maximum, minimum, where
from .special import (
    erf,
    erfc,
    log_sigmoid,
    logaddexp,
    logaddexp2,
    logit,
    sigmoid,
    softplus,
    xlog1py,
    xlogy,
)  # fmt: skip
from .trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)  # fmt: skip

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "cast", "cbrt", "ceil", "clip", "complex_", "conj", "copysign", "cos", "cosh",
    "direction", "divide",
    "equal", "erf", "erfc", "exp", "exp2", "expm1", "floor", "floor_divide", "fmod", "greater",
    "greater_equal", "hypot", "imag", "inverse_power", "isfinite", "isinf", "isnan", "less",
    "less_equal", "log", "log10", "log1p",
    "log2", "log_sigmoid", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logit", "maximum", "minimum", "multiply", "multiply_no_nan",
    "multiply_zero", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round",
    "rsqrt", "sigmoid", "sign", "signbit", "sin", "sinh", "softplus", "sqrt", "square", "subtract",
    "tan", "tanh", "trunc", "where", "xlog1py", "xlogy",
]  # fmt: skip
