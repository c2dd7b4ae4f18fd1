"""Generated from the registry by `make docs`."""

DOCS = {
    "abs": """
    The absolute value, real also for complex x; the lowest integer wraps to itself.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype, of complex
    numbers the real one.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.abs([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([1.5, 0. , 2.5], dtype=float32)
    """,
    "acos": """
    The angle whose cosine is x, from 0 to pi.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.acos([-0.5, 0.0, 0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([2.094, 1.571, 1.047], dtype=float32)
    """,
    "acosh": """
    The non-negative inverse of cosh; NaN below 1.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.acosh([1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 1.317], dtype=float32)
    """,
    "add": """
    x + y; integers wrap.

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.add([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([3., 4., 5.], dtype=float32)
    """,
    "asin": """
    The angle whose sine is x, from -pi/2 to pi/2.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.asin([-0.5, 0.0, 0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.524,  0.   ,  0.524], dtype=float32)
    """,
    "asinh": """
    The inverse of sinh.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.asinh([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.481, 0.881, 1.444], dtype=float32)
    """,
    "atan": """
    The angle whose tangent is x, from -pi/2 to pi/2.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.atan([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.464, 0.785, 1.107], dtype=float32)
    """,
    "atan2": """
    The angle of the point (x, y), from -pi to pi; its derivative at the origin is 0.

    y, x: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.atan2([1.0, -1.0], [0.0, -1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 1.571, -2.356], dtype=float32)
    """,
    "atanh": """
    The inverse of tanh; infinite at -1 and 1.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.atanh([-0.5, 0.0, 0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.549,  0.   ,  0.549], dtype=float32)
    """,
    "bitwise_and": """
    The bits set in both x and y.

    x, y: integers or bools.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_and([6, 5], 3)
    >>> sad.Session(graph).run(y)
    array([2, 1])
    """,
    "bitwise_invert": """
    All bits flipped; of a bool, not x.

    x: integers or bools.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_invert([0, 5])
    >>> sad.Session(graph).run(y)
    array([-1, -6])
    """,
    "bitwise_left_shift": """
    x shifted left by y bits; 0 where y is negative or at least the width of the dtype.

    x, y: integers.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_left_shift([6, -6], 1)
    >>> sad.Session(graph).run(y)
    array([ 12, -12])
    """,
    "bitwise_or": """
    The bits set in x or y.

    x, y: integers or bools.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_or([6, 5], 3)
    >>> sad.Session(graph).run(y)
    array([7, 7])
    """,
    "bitwise_right_shift": """
    x shifted right by y bits, keeping the sign; all sign where y is negative or at least
    the width of the dtype.

    x, y: integers.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_right_shift([6, -6], 1)
    >>> sad.Session(graph).run(y)
    array([ 3, -3])
    """,
    "bitwise_xor": """
    The bits set in exactly one of x and y.

    x, y: integers or bools.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bitwise_xor([6, 5], 3)
    >>> sad.Session(graph).run(y)
    array([5, 6])
    """,
    "cbrt": """
    The real cube root, negative for negative x; its derivative at 0 is +inf.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cbrt([-8.0, 1.0, 27.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-2.,  1.,  3.], dtype=float32)
    """,
    "ceil": """
    The smallest integer that is at least x, in x's dtype.

    x: integers or floats.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.ceil([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  3.], dtype=float32)
    """,
    "conj": """
    The complex conjugate; x itself if it is real.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.conj([(1+2j), 3j])
    >>> sad.Session(graph).run(y)
    array([1.-2.j, 0.-3.j], dtype=complex64)
    """,
    "copysign": """
    The magnitude of x with the sign of y; its derivative at x = 0 is 0.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.copysign([1.0, 2.0], [-0.0, 3.0])
    >>> sad.Session(graph).run(y)
    array([-1.,  2.], dtype=float32)
    """,
    "cos": """
    The cosine of x radians.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cos([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.878,  0.54 , -0.416], dtype=float32)
    """,
    "cosh": """
    The hyperbolic cosine.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cosh([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.128, 1.543, 3.762], dtype=float32)
    """,
    "divide": """
    x / y, of floating or complex dtype; IEEE-754 at zero divisors.

    x, y: floats or complex numbers; integers become float32.  Returns a tensor of the shape
    they broadcast to and their common dtype.  Raises DTypeError for other dtypes, ShapeError if
    they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.divide([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([0.5, 1. , 1.5], dtype=float32)
    """,
    "entr": """
    -x * log(x); 0 at 0, -inf below, with derivative inf and 0 there.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.entr([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.347, -0.   , -1.386], dtype=float32)
    """,
    "equal": """
    Whether x and y are equal; NaN equals nothing.

    x, y: any dtype.  Returns a tensor of the shape they broadcast to and dtype bool.  Raises
    ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([False,  True, False])
    """,
    "erf": """
    The error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.erf([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.52 , 0.843, 0.995], dtype=float32)
    """,
    "erfc": """
    1 - erf(x), accurate for large x.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.erfc([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.48 , 0.157, 0.005], dtype=float32)
    """,
    "exp": """
    e to the power of x.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.exp([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.649, 2.718, 7.389], dtype=float32)
    """,
    "exp2": """
    2 to the power of x.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.exp2([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.414, 2.   , 4.   ], dtype=float32)
    """,
    "expm1": """
    exp(x) - 1, accurate near 0.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.expm1([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.649, 1.718, 6.389], dtype=float32)
    """,
    "floor": """
    The largest integer that is at most x, in x's dtype.

    x: integers or floats.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.floor([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-2.,  0.,  2.], dtype=float32)
    """,
    "floor_divide": """
    x / y rounded down.  Integers: 0 where y is 0; wraps at the lowest integer by -1.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.floor_divide([-7, 7], 3)
    >>> sad.Session(graph).run(y)
    array([-3,  2])
    """,
    "fmod": """
    x - y * trunc(x / y), of the sign of x, as C's.  Integers: 0 where y is 0.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fmod([-7, 7], 3)
    >>> sad.Session(graph).run(y)
    array([-1,  1])
    """,
    "greater": """
    Whether x > y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.greater([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([False, False,  True])
    """,
    "greater_equal": """
    Whether x >= y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.greater_equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([False,  True,  True])
    """,
    "hypot": """
    sqrt(x * x + y * y) without overflow; its derivative at the origin is 0.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.hypot([3.0, 5.0], [4.0, 12.0])
    >>> sad.Session(graph).run(y)
    array([ 5., 13.], dtype=float32)
    """,
    "imag": """
    The imaginary part of a complex number.

    x: complex numbers.  Returns a tensor of the same shape and the same dtype, of complex
    numbers the real one.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.imag([(1+2j), 3j])
    >>> sad.Session(graph).run(y)
    array([2., 3.], dtype=float32)
    """,
    "isfinite": """
    Whether each element is neither infinite nor NaN.

    x: any dtype but bool.  Returns a tensor of the same shape and dtype bool.  Raises
    DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isfinite([1.0, np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """,
    "isinf": """
    Whether each element is infinite, of either sign.

    x: any dtype but bool.  Returns a tensor of the same shape and dtype bool.  Raises
    DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isinf([1.0, np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([False,  True, False])
    """,
    "isnan": """
    Whether each element is not a number.

    x: any dtype but bool.  Returns a tensor of the same shape and dtype bool.  Raises
    DTypeError for other dtypes.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isnan([1.0, np.inf, np.nan])
    >>> sad.Session(graph).run(y)
    array([False, False,  True])
    """,
    "less": """
    Whether x < y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.less([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """,
    "less_equal": """
    Whether x <= y.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and dtype bool.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.less_equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([ True,  True, False])
    """,
    "log": """
    The natural logarithm; -inf at 0, NaN below.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.693,  0.   ,  0.693], dtype=float32)
    """,
    "log10": """
    The logarithm to base 10.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log10([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.301,  0.   ,  0.301], dtype=float32)
    """,
    "log1p": """
    log(1 + x), accurate near 0.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log1p([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.405, 0.693, 1.099], dtype=float32)
    """,
    "log2": """
    The logarithm to base 2.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log2([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  1.], dtype=float32)
    """,
    "log_sigmoid": """
    log(sigmoid(x)), which is -softplus(-x).

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.log_sigmoid([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.701, -0.693, -0.079], dtype=float32)
    """,
    "logaddexp": """
    log(exp(x) + exp(y)) without overflow.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logaddexp([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([2.313, 2.693, 3.313], dtype=float32)
    """,
    "logaddexp2": """
    log2(2**x + 2**y) without overflow.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logaddexp2([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([2.585, 3.   , 3.585], dtype=float32)
    """,
    "logical_and": """
    x and y, of bools.

    x, y: bools.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_and([True, True, False], [True, False, False])
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """,
    "logical_not": """
    Not x, of bools.

    x: bools.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_not([True, False])
    >>> sad.Session(graph).run(y)
    array([False,  True])
    """,
    "logical_or": """
    x or y, of bools.

    x, y: bools.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_or([True, True, False], [True, False, False])
    >>> sad.Session(graph).run(y)
    array([ True,  True, False])
    """,
    "logical_xor": """
    x or y but not both, of bools.

    x, y: bools.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logical_xor([True, True, False], [True, False, False])
    >>> sad.Session(graph).run(y)
    array([False,  True, False])
    """,
    "logit": """
    log(x / (1 - x)), the inverse of sigmoid; -inf at 0, inf at 1, with derivative +inf;
    NaN outside, and its derivative too.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logit([0.0, 0.5, 0.9])
    >>> sad.Session(graph).run(y).round(3)
    array([ -inf, 0.   , 2.197], dtype=float32)
    """,
    "maximum": """
    The larger of x and y, or NaN if either is; in a tie each has half the derivative.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.maximum([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([2., 2., 3.], dtype=float32)
    """,
    "minimum": """
    The smaller of x and y, or NaN if either is; in a tie each has half the derivative.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.minimum([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([1., 2., 2.], dtype=float32)
    """,
    "multiply": """
    x * y; integers wrap.

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.multiply([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([2., 4., 6.], dtype=float32)
    """,
    "negative": """
    -x; integers wrap.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.negative([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([ 1.5, -0. , -2.5], dtype=float32)
    """,
    "nextafter": """
    The float next to x in the direction of y.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nextafter([1.0, 2.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([1.0000001, 2.       ], dtype=float32)
    """,
    "not_equal": """
    Whether x and y differ; NaN differs from everything.

    x, y: any dtype.  Returns a tensor of the shape they broadcast to and dtype bool.  Raises
    ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.not_equal([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([ True, False,  True])
    """,
    "positive": """
    +x, which is x.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.positive([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.5,  0. ,  2.5], dtype=float32)
    """,
    "pow": """
    x to the power of y.  Integers wrap, and round towards zero for negative y (0**-1 is 0).

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.pow([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([1., 4., 9.], dtype=float32)
    """,
    "real": """
    The real part; x itself if it is real.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype, of complex
    numbers the real one.  Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.real([(1+2j), 3j])
    >>> sad.Session(graph).run(y)
    array([1., 0.], dtype=float32)
    """,
    "reciprocal": """
    1 / x.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.reciprocal([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([2. , 1. , 0.5], dtype=float32)
    """,
    "remainder": """
    x - y * floor(x / y), of the sign of y.  Integers: 0 where y is 0.

    x, y: integers or floats.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.remainder([-7, 7], 3)
    >>> sad.Session(graph).run(y)
    array([2, 1])
    """,
    "rsqrt": """
    1 / sqrt(x); infinite at 0.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.rsqrt([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.414, 1.   , 0.707], dtype=float32)
    """,
    "sigmoid": """
    1 / (1 + exp(-x)).

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sigmoid([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([0.182, 0.5  , 0.924], dtype=float32)
    """,
    "sign": """
    -1, 0 or 1; of a complex number x / |x|, and 0 at 0; NaN of NaN.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sign([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  1.], dtype=float32)
    """,
    "signbit": """
    Whether the sign bit is set, also that of -0 and NaN.

    x: floats.  Returns a tensor of the same shape and dtype bool.  Raises DTypeError for other
    dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.signbit([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([ True, False, False])
    """,
    "sin": """
    The sine of x radians.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sin([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.479, 0.841, 0.909], dtype=float32)
    """,
    "sinh": """
    The hyperbolic sine.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sinh([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-2.129,  0.   ,  6.05 ], dtype=float32)
    """,
    "softplus": """
    log(1 + exp(x)), to the last digit on both sides: there is no cut-off.

    x: floats.  Returns a tensor of the same shape and the same dtype.  Raises DTypeError for
    other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.softplus([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([0.201, 0.693, 2.579], dtype=float32)
    """,
    "sqrt": """
    The square root; its derivative at 0 is +inf.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sqrt([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.707, 1.   , 1.414], dtype=float32)
    """,
    "square": """
    x * x; integers wrap.

    x: any dtype but bool.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.square([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([0.25, 1.  , 4.  ], dtype=float32)
    """,
    "subtract": """
    x - y; integers wrap.

    x, y: any dtype but bool.  Returns a tensor of the shape they broadcast to and their common
    dtype.  Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.subtract([1.0, 2.0, 3.0], 2.0)
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  1.], dtype=float32)
    """,
    "tan": """
    The tangent of x radians.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tan([0.5, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.546,  1.557, -2.185], dtype=float32)
    """,
    "tanh": """
    The hyperbolic tangent.

    x: floats or complex numbers.  Returns a tensor of the same shape and the same dtype.
    Raises DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tanh([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.905,  0.   ,  0.987], dtype=float32)
    """,
    "trunc": """
    x without its fraction.

    x: integers or floats.  Returns a tensor of the same shape and the same dtype.  Raises
    DTypeError for other dtypes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.trunc([-1.5, 0.0, 2.5])
    >>> sad.Session(graph).run(y)
    array([-1.,  0.,  2.], dtype=float32)
    """,
    "xlog1py": """
    x * log(1 + y), accurate for small y, and 0 where x is 0, whatever number y is.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.xlog1py([0.0, 2.0], [-1.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 2.773], dtype=float32)
    """,
    "xlogy": """
    x * log(y), and 0 where x is 0, whatever number y is.

    x, y: floats.  Returns a tensor of the shape they broadcast to and their common dtype.
    Raises DTypeError for other dtypes, ShapeError if they do not broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.xlogy([0.0, 2.0], [0.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 2.197], dtype=float32)
    """,
}
