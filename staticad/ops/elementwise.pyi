"""Generated from the registry by `make docs`."""

from ..operands import Operand
from ..tensor import Tensor

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "entr",
    "equal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmod",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_sigmoid",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "rsqrt",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "xlog1py",
    "xlogy",
]

def abs(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The absolute value, real also for complex x; the lowest integer wraps to itself.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype, of complex
    numbers the real one.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.abs([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([1.5, 0. , 2.5], dtype=float32)
    """

def acos(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The angle whose cosine is x, from 0 to pi.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.acos([-0.5, 0.0, 0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([2.094, 1.571, 1.047], dtype=float32)
    """

def acosh(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The non-negative inverse of cosh; NaN below 1.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.acosh([1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 1.317], dtype=float32)
    """

def add(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x + y; integers wrap.

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.add([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([3., 4., 5.], dtype=float32)
    """

def asin(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The angle whose sine is x, from -pi/2 to pi/2.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.asin([-0.5, 0.0, 0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.524,  0.   ,  0.524], dtype=float32)
    """

def asinh(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The inverse of sinh.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.asinh([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.481, 0.881, 1.444], dtype=float32)
    """

def atan(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The angle whose tangent is x, from -pi/2 to pi/2.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.atan([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.464, 0.785, 1.107], dtype=float32)
    """

def atan2(y: Operand, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), from -pi to pi; its derivative at the origin is 0.

    y, x: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.atan2([1.0, -1.0], [0.0, -1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 1.571, -2.356], dtype=float32)
    """

def atanh(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The inverse of tanh; infinite at -1 and 1.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.atanh([-0.5, 0.0, 0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.549,  0.   ,  0.549], dtype=float32)
    """

def bitwise_and(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The bits set in both x and y.

    x, y: integers or bools.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_and([6, 5], 3)
    >>> sad.Session(graph).run(y)
    array([2, 1])
    """

def bitwise_invert(x: Operand, /, *, name: str | None = None) -> Tensor:
    """All bits flipped; of a bool, not x.

    x: integers or bools.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_invert([0, 5])
    >>> sad.Session(graph).run(y)
    array([-1, -6])
    """

def bitwise_left_shift(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x shifted left by y bits; 0 where y is negative or at least the width of the dtype.

    x, y: integers.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_left_shift([6, -6], 1)
    >>> sad.Session(graph).run(y)
    array([ 12, -12])
    """

def bitwise_or(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The bits set in x or y.

    x, y: integers or bools.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_or([6, 5], 3)
    >>> sad.Session(graph).run(y)
    array([7, 7])
    """

def bitwise_right_shift(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x shifted right by y bits, keeping the sign; all sign where y is negative or at least
    the width of the dtype.

    x, y: integers.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_right_shift([6, -6], 1)
    >>> sad.Session(graph).run(y)
    array([ 3, -3])
    """

def bitwise_xor(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The bits set in exactly one of x and y.

    x, y: integers or bools.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_xor([6, 5], 3)
    >>> sad.Session(graph).run(y)
    array([5, 6])
    """

def cbrt(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The real cube root, negative for negative x; its derivative at 0 is +inf.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cbrt([-8.0, 1.0, 27.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-2.,  1.,  3.], dtype=float32)
    """

def ceil(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The smallest integer that is at least x, in x's dtype.

    x: integers or floats.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.ceil([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  3.], dtype=float32)
    """

def conj(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The complex conjugate; x itself if it is real.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.conj([(1+2j), 3j])
    >>> sad.Session(graph).run(y)
    array([1.-2.j, 0.-3.j], dtype=complex64)
    """

def copysign(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The magnitude of x with the sign of y; its derivative at x = 0 is 0.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.copysign([1.0, 2.0], [-0.0, 3.0])
    >>> sad.Session(graph).run(y)
    array([-1.,  2.], dtype=float32)
    """

def cos(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The cosine of x radians.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cos([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.878,  0.54 , -0.416], dtype=float32)
    """

def cosh(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The hyperbolic cosine.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cosh([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.128, 1.543, 3.762], dtype=float32)
    """

def divide(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x / y, of floating or complex dtype; IEEE-754 at zero divisors.

    x, y: floats or complex numbers; integers become float32.  Returns a tensor of the shape
    they broadcast to and their common dtype.  Raises DTypeError for other dtypes, ShapeError if
    they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.divide([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([0.5, 1. , 1.5], dtype=float32)
    """

def entr(x: Operand, /, *, name: str | None = None) -> Tensor:
    """-x * log(x); 0 at 0, -inf below, with derivative inf and 0 there.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.entr([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.347, -0.   , -1.386], dtype=float32)
    """

def equal(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether x and y are equal; NaN equals nothing.

    x, y: any dtype.  Returns a tensor of the shape they broadcast to and dtype bool.  Raises
    ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([False,  True, False])
    """

def erf(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.erf([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.52 , 0.843, 0.995], dtype=float32)
    """

def erfc(x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 - erf(x), accurate for large x.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.erfc([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.48 , 0.157, 0.005], dtype=float32)
    """

def exp(x: Operand, /, *, name: str | None = None) -> Tensor:
    """e to the power of x.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.exp([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.649, 2.718, 7.389], dtype=float32)
    """

def exp2(x: Operand, /, *, name: str | None = None) -> Tensor:
    """2 to the power of x.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.exp2([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.414, 2.   , 4.   ], dtype=float32)
    """

def expm1(x: Operand, /, *, name: str | None = None) -> Tensor:
    """exp(x) - 1, accurate near 0.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.expm1([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.649, 1.718, 6.389], dtype=float32)
    """

def floor(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The largest integer that is at most x, in x's dtype.

    x: integers or floats.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.floor([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-2.,  0.,  2.], dtype=float32)
    """

def floor_divide(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x / y rounded down.  Integers: 0 where y is 0; wraps at the lowest integer by -1.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.floor_divide([-7, 7], 3)
    >>> sad.Session(graph).run(y)
    array([-3,  2])
    """

def fmod(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x - y * trunc(x / y), of the sign of x, as C's.  Integers: 0 where y is 0.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fmod([-7, 7], 3)
    >>> sad.Session(graph).run(y)
    array([-1,  1])
    """

def greater(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether x > y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.greater([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([False, False,  True])
    """

def greater_equal(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether x >= y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.greater_equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([False,  True,  True])
    """

def hypot(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """sqrt(x * x + y * y) without overflow; its derivative at the origin is 0.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.hypot([3.0, 5.0], [4.0, 12.0])
    >>> sad.Session(graph).run(y)
    array([ 5., 13.], dtype=float32)
    """

def imag(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The imaginary part of a complex number.

    x: complex numbers.  Returns a tensor of the same shape and the same dtype, of complex
    numbers the real one.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.imag([(1+2j), 3j])
    >>> sad.Session(graph).run(y)
    array([2., 3.], dtype=float32)
    """

def isfinite(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether each element is neither infinite nor NaN.

    x: any dtype but bool.  Returns a tensor of the same shape and dtype bool.  Raises
    DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isfinite([1.0, np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """

def isinf(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether each element is infinite, of either sign.

    x: any dtype but bool.  Returns a tensor of the same shape and dtype bool.  Raises
    DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isinf([1.0, np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([False,  True, False])
    """

def isnan(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether each element is not a number.

    x: any dtype but bool.  Returns a tensor of the same shape and dtype bool.  Raises
    DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isnan([1.0, np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([False, False,  True])
    """

def less(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether x < y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.less([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """

def less_equal(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether x <= y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.less_equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([ True,  True, False])
    """

def log(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The natural logarithm; -inf at 0, NaN below.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.693,  0.   ,  0.693], dtype=float32)
    """

def log10(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The logarithm to base 10.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log10([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.301,  0.   ,  0.301], dtype=float32)
    """

def log1p(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(1 + x), accurate near 0.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log1p([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.405, 0.693, 1.099], dtype=float32)
    """

def log2(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The logarithm to base 2.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log2([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  1.], dtype=float32)
    """

def log_sigmoid(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), which is -softplus(-x).

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log_sigmoid([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.701, -0.693, -0.079], dtype=float32)
    """

def logaddexp(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """log(exp(x) + exp(y)) without overflow.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logaddexp([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([2.313, 2.693, 3.313], dtype=float32)
    """

def logaddexp2(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """log2(2**x + 2**y) without overflow.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logaddexp2([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([2.585, 3.   , 3.585], dtype=float32)
    """

def logical_and(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x and y, of bools.

    x, y: bools.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_and([True, True, False], [True, False, False])
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """

def logical_not(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Not x, of bools.

    x: bools.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_not([True, False])
    >>> sad.Session(graph).run(y)
    array([False,  True])
    """

def logical_or(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x or y, of bools.

    x, y: bools.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_or([True, True, False], [True, False, False])
    >>> sad.Session(graph).run(y)
    array([ True,  True, False])
    """

def logical_xor(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x or y but not both, of bools.

    x, y: bools.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_xor([True, True, False], [True, False, False])
    >>> sad.Session(graph).run(y)
    array([False,  True, False])
    """

def logit(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; -inf at 0, inf at 1, with derivative +inf;
    NaN outside, and its derivative too.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logit([0.0, 0.5, 0.9])
    >>> sad.Session(graph).run(y).round(3)
    array([ -inf, 0.   , 2.197], dtype=float32)
    """

def maximum(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The larger of x and y, or NaN if either is; in a tie each has half the derivative.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.maximum([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([2., 2., 3.], dtype=float32)
    """

def minimum(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The smaller of x and y, or NaN if either is; in a tie each has half the derivative.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.minimum([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([1., 2., 2.], dtype=float32)
    """

def multiply(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x * y; integers wrap.

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.multiply([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([2., 4., 6.], dtype=float32)
    """

def negative(x: Operand, /, *, name: str | None = None) -> Tensor:
    """-x; integers wrap.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.negative([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([ 1.5, -0. , -2.5], dtype=float32)
    """

def nextafter(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """The float next to x in the direction of y.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nextafter([1.0, 2.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([1.0000001, 2.       ], dtype=float32)
    """

def not_equal(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether x and y differ; NaN differs from everything.

    x, y: any dtype.  Returns a tensor of the shape they broadcast to and dtype bool.  Raises
    ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.not_equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([ True, False,  True])
    """

def positive(x: Operand, /, *, name: str | None = None) -> Tensor:
    """+x, which is x.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.positive([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.5,  0. ,  2.5], dtype=float32)
    """

def pow(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x to the power of y.  Integers wrap, and round towards zero for negative y (0**-1 is 0).

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.pow([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([1., 4., 9.], dtype=float32)
    """

def real(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The real part; x itself if it is real.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype, of complex
    numbers the real one.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.real([(1+2j), 3j])
    >>> sad.Session(graph).run(y)
    array([1., 0.], dtype=float32)
    """

def reciprocal(x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 / x.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.reciprocal([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([2. , 1. , 0.5], dtype=float32)
    """

def remainder(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x - y * floor(x / y), of the sign of y.  Integers: 0 where y is 0.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.remainder([-7, 7], 3)
    >>> sad.Session(graph).run(y)
    array([2, 1])
    """

def rsqrt(x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 / sqrt(x); infinite at 0.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.rsqrt([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.414, 1.   , 0.707], dtype=float32)
    """

def sigmoid(x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sigmoid([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([0.182, 0.5  , 0.924], dtype=float32)
    """

def sign(x: Operand, /, *, name: str | None = None) -> Tensor:
    """-1, 0 or 1; of a complex number x / |x|, and 0 at 0; NaN of NaN.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sign([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  1.], dtype=float32)
    """

def signbit(x: Operand, /, *, name: str | None = None) -> Tensor:
    """Whether the sign bit is set, also that of -0 and NaN.

    x: floats.  Returns a tensor of the same shape and dtype bool.  Raises DTypeError for other
    dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.signbit([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """

def sin(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The sine of x radians.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sin([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.479, 0.841, 0.909], dtype=float32)
    """

def sinh(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The hyperbolic sine.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sinh([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-2.129,  0.   ,  6.05 ], dtype=float32)
    """

def softplus(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(1 + exp(x)), to the last digit on both sides: there is no cut-off.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.softplus([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([0.201, 0.693, 2.579], dtype=float32)
    """

def sqrt(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The square root; its derivative at 0 is +inf.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sqrt([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.707, 1.   , 1.414], dtype=float32)
    """

def square(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x * x; integers wrap.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.square([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([0.25, 1.  , 4.  ], dtype=float32)
    """

def subtract(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x - y; integers wrap.

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.subtract([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  1.], dtype=float32)
    """

def tan(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The tangent of x radians.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tan([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.546,  1.557, -2.185], dtype=float32)
    """

def tanh(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The hyperbolic tangent.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tanh([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.905,  0.   ,  0.987], dtype=float32)
    """

def trunc(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x without its fraction.

    x: integers or floats.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.trunc([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  2.], dtype=float32)
    """

def xlog1py(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x * log(1 + y), accurate for small y, and 0 where x is 0, whatever number y is.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.xlog1py([0.0, 2.0], [-1.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 2.773], dtype=float32)
    """

def xlogy(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x * log(y), and 0 where x is 0, whatever number y is.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.xlogy([0.0, 2.0], [0.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 2.197], dtype=float32)
    """
