"""Write graphs, differentiate them, save them: `import staticad as sad`.

A graph is built inside `with sad.Graph() as graph:`, and run by a `Session`, in this process
or in another that has never seen the code which built it.

>>> import staticad as sad
>>> with sad.Graph() as graph:
...     x = sad.placeholder("float32", ("n",), name="x")
...     y = sad.sum(x**2, name="y")
...     (dx,) = sad.gradients(y, x)
>>> with sad.Session(graph) as session:
...     print(*session.run([y, dx], {x: [1.0, 2.0]}))
5.0 [2. 4.]
"""

import importlib as _importlib
import typing as _typing
from math import e, inf, nan, pi

from staticad_executor import Session, Target
from staticad_schema.dims import Dim
from staticad_schema.errors import (
    AccessError,
    ArgumentError,
    CancelledError,
    ConnectionLostError,
    DTypeError,
    ExecutionError,
    FeedTypeError,
    FormatError,
    GradientError,
    GraphError,
    LimitError,
    PlanError,
    ShapeError,
    StaticadError,
    UnknownFetchError,
    UnknownNameError,
    UsageError,
)
from staticad_schema.handle import Effect

from .current import device, scope
from .dimensions import ceildiv
from .dtypes import (
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .elsewhere import NAMESPACES as _NAMESPACES
from .elsewhere import missing as _missing
from .gradients import (
    check_gradients,
    custom_gradient,
    custom_jvp,
    explain_gradient,
    gradients,
    jvp,
    override_gradients,
    recompute,
)
from .graph import Graph, load
from .linting import lint
from .numbers import RoundingWarning
from .ops import elementwise as _elementwise
from .ops.arithmetic import (
    angle,
    deg2rad,
    divmod,
    float_power,
    fmax,
    fmin,
    frac,
    heaviside,
    lerp,
    modf,
    nan_to_num,
    rad2deg,
    sinc,
    squared_difference,
)
from .ops.branches import cond, switch
from .ops.calls import function
from .ops.comparison import allclose, isclose, isneginf, isposinf
from .ops.complex_numbers import complex, polar, view_as_complex, view_as_real
from .ops.contractions import dot, inner, kron, matmul, outer, tensordot, trace
from .ops.control import after, assert_, group, identity, print_, stop_gradient
from .ops.convolution import convolve, correlate
from .ops.curves import diff, interp, polyval, trapezoid, vander
from .ops.data_types import can_cast, finfo, iinfo, isdtype, result_type
from .ops.diagonals import (
    diag,
    diag_embed,
    diagflat,
    diagonal,
    fill_diagonal,
    tri,
    tril,
    tril_indices,
    triu,
    triu_indices,
)
from .ops.einsum import einsum
from .ops.elementwise import *  # noqa: F403
from .ops.finding import argwhere, compress, extract, flatnonzero, masked_select, nonzero
from .ops.gathering import (
    gather_elements,
    gather_nd,
    one_hot,
    put_along_axis,
    ravel_multi_index,
    scatter_elements,
    scatter_nd,
    take,
    take_along_axis,
    unravel_index,
)
from .ops.joining import (
    append,
    block,
    column_stack,
    concat,
    dstack,
    hstack,
    stack,
    vstack,
)
from .ops.loops import fori_loop, map, scan, while_loop
from .ops.nan_reductions import nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar
from .ops.padding import pad
from .ops.quantiles import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from .ops.ranges import arange, linspace
from .ops.reductions import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    logsumexp,
    max,
    mean,
    min,
    prod,
    ptp,
    sum,
)
from .ops.reordering import (
    flip,
    fliplr,
    flipud,
    matrix_transpose,
    moveaxis,
    permute_dims,
    roll,
    rot90,
    swapaxes,
    transpose,
)
from .ops.repeating import repeat, tile
from .ops.rounding import round
from .ops.scans import cummax, cummin, cumulative_prod, cumulative_sum, logcumsumexp
from .ops.segments import (
    bincount,
    histogram,
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
)
from .ops.selection import astype, cast, clip, where
from .ops.sets import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from .ops.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    flatten,
    meshgrid,
    ravel,
    reshape,
    squeeze,
)
from .ops.sorting import argsort, digitize, searchsorted, sort, top_k
from .ops.sources import (
    asarray,
    constant,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    ones,
    ones_like,
    placeholder,
    variable,
    zeros,
    zeros_like,
)
from .ops.splitting import array_split, dsplit, hsplit, split, unstack, vsplit
from .ops.statistics import average, corrcoef, cov, std, var
from .ops.vectors import cross, matvec, vdot, vecdot, vecmat
from .recorder import GrowthWarning
from .tensor import Tensor
from .transforms import (
    divergence,
    fisher_product,
    fixed_point,
    gauss_newton_product,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    laplacian,
    linearize,
    minimize,
    root,
    value_and_grad,
    vjp,
)
from .variable import Variable

__version__ = "0.1.0"

newaxis = None

__all__ = [
    # graphs and what is in them
    "Graph", "Tensor", "Variable", "Effect", "Dim", "ceildiv", "Session", "Target", "load",
    "lint",
    "fft", "linalg", "nn", "optimizers", "random", "special", "testing",
    "placeholder", "variable", "constant", "scope", "device",
    # derivatives
    "gradients", "explain_gradient", "jvp", "check_gradients", "recompute",
    "custom_gradient", "custom_jvp", "override_gradients",
    "vjp", "linearize", "hvp", "gauss_newton_product", "fisher_product",
    "jacobian", "hessian", "laplacian", "divergence",
    "grad", "value_and_grad", "jacfwd", "jacrev",
    "fixed_point", "root", "minimize",
    # order and effects
    "cond", "switch", "while_loop", "scan", "map", "fori_loop", "function",
    "after", "group", "identity", "stop_gradient", "assert_", "print_",
    # creation
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "ones", "ones_like", "zeros", "zeros_like",
    # dtypes and numbers
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "bfloat16", "complex64", "complex128",
    "can_cast", "finfo", "iinfo", "isdtype", "result_type",
    "e", "inf", "nan", "newaxis", "pi",
    # shapes
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes",
    "broadcast_to", "expand_dims", "flatten", "meshgrid", "ravel", "reshape", "squeeze",
    "flip", "fliplr", "flipud", "matrix_transpose", "moveaxis", "permute_dims", "roll", "rot90",
    "swapaxes", "transpose",
    "append", "block", "column_stack", "concat", "dstack", "hstack", "stack", "vstack",
    "array_split", "dsplit", "hsplit", "split", "unstack", "vsplit",
    "repeat", "tile", "pad",
    "diag", "diag_embed", "diagflat", "diagonal", "fill_diagonal", "tri", "tril",
    "tril_indices", "triu", "triu_indices",
    # choosing
    "astype", "cast", "clip", "where",
    "gather_elements", "gather_nd", "one_hot", "put_along_axis", "ravel_multi_index",
    "scatter_elements", "scatter_nd", "take", "take_along_axis", "unravel_index",
    "bincount", "histogram", "segment_max", "segment_mean", "segment_min", "segment_prod",
    "segment_sum",
    # sizes that runs find
    "argwhere", "compress", "extract", "flatnonzero", "masked_select", "nonzero",
    "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
    # elementwise, beside the ops
    "allclose", "angle", "deg2rad", "divmod", "float_power", "fmax", "fmin", "frac", "heaviside",
    "isclose", "isneginf", "isposinf", "lerp", "modf", "nan_to_num", "rad2deg", "round", "sinc",
    "squared_difference",
    # complex numbers
    "complex", "polar", "view_as_complex", "view_as_real",
    # prefixes
    "cummax", "cummin", "cumulative_prod", "cumulative_sum", "logcumsumexp",
    # order
    "argsort", "digitize", "searchsorted", "sort", "top_k",
    # along axes
    "all", "any", "argmax", "argmin", "count_nonzero", "logsumexp", "max", "mean", "min", "prod",
    "ptp", "sum",
    # statistics
    "average", "corrcoef", "cov", "median", "percentile", "quantile", "std", "var",
    "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile",
    "nanstd", "nansum", "nanvar",
    # curves
    "diff", "interp", "polyval", "trapezoid", "vander",
    # contractions
    "convolve", "correlate", "cross", "dot", "einsum", "inner", "kron", "matmul", "matvec", "outer",
    "tensordot", "trace", "vdot", "vecdot", "vecmat",
    # errors and warnings
    "StaticadError", "GraphError", "DTypeError", "ShapeError", "ArgumentError", "UsageError",
    "UnknownNameError", "GradientError", "FormatError", "PlanError", "FeedTypeError",
    "UnknownFetchError", "ExecutionError", "CancelledError", "ConnectionLostError",
    "AccessError", "LimitError", "GrowthWarning",
    "RoundingWarning",
]  # fmt: skip
# Every elementwise op.
__all__ += _elementwise.__all__

# A namespace is imported when it is first used: theirs are half of the package's modules.
if _typing.TYPE_CHECKING:
    from . import fft, linalg, nn, optimizers, random, special, testing
else:

    def __getattr__(name: str) -> _typing.Any:
        if name in _NAMESPACES:
            return _importlib.import_module(f"{__name__}.{name}")
        raise _missing("", name)
