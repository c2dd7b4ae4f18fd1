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

import typing as _typing

from staticad_executor import Session
from staticad_schema.dims import Dim, ceildiv
from staticad_schema.errors import (
    ArgumentError,
    CancelledError,
    DTypeError,
    ExecutionError,
    FeedTypeError,
    FormatError,
    GradientError,
    GraphError,
    PlanError,
    ShapeError,
    StaticadError,
    UnknownFetchError,
    UnknownNameError,
    UsageError,
)
from staticad_schema.handle import Effect

from . import nn, optimizers, random, testing
from .current import device, scope
from .elsewhere import missing as _missing
from .gradients import check_gradients, explain_gradient, gradients, jvp
from .graph import Graph, load
from .numbers import RoundingWarning
from .ops import elementwise as _elementwise
from .ops.control import after, assert_, group, identity, print_, stop_gradient
from .ops.elementwise import *  # noqa: F403
from .ops.gathering import one_hot, take, take_along_axis
from .ops.joining import concat, stack, tile, unstack
from .ops.padding import pad
from .ops.reductions import all, any, argmax, argmin, logsumexp, max, mean, min, prod, std, sum, var
from .ops.reordering import flip, matrix_transpose, moveaxis, permute_dims, roll
from .ops.selection import astype, cast, clip, matmul, where
from .ops.shapes import broadcast_arrays, broadcast_to, expand_dims, reshape, squeeze
from .ops.sources import (
    arange,
    constant,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    placeholder,
    variable,
    zeros,
    zeros_like,
)
from .recorder import GrowthWarning
from .tensor import Tensor
from .variable import Variable

__version__ = "0.1.0"

__all__ = [
    # graphs and what is in them
    "Graph", "Tensor", "Variable", "Effect", "Dim", "ceildiv", "Session", "load",
    "nn", "optimizers", "random", "testing",
    "placeholder", "variable", "constant", "scope", "device",
    # derivatives
    "gradients", "explain_gradient", "jvp", "check_gradients",
    # order and effects
    "after", "group", "identity", "stop_gradient", "assert_", "print_",
    # creation
    "arange", "eye", "full", "full_like", "linspace", "ones", "ones_like", "zeros", "zeros_like",
    # shapes
    "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "matrix_transpose",
    "moveaxis", "pad", "permute_dims", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
    # choosing
    "astype", "cast", "clip", "one_hot", "take", "take_along_axis", "where",
    # along axes
    "all", "any", "argmax", "argmin", "logsumexp", "max", "mean", "min", "prod", "std", "sum",
    "var", "matmul",
    # errors and warnings
    "StaticadError", "GraphError", "DTypeError", "ShapeError", "ArgumentError", "UsageError",
    "UnknownNameError", "GradientError", "FormatError", "PlanError", "FeedTypeError",
    "UnknownFetchError", "ExecutionError", "CancelledError", "GrowthWarning",
    "RoundingWarning",
]  # fmt: skip
# Every elementwise op.
__all__ += _elementwise.__all__

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> _typing.NoReturn:
        raise _missing("", name)
