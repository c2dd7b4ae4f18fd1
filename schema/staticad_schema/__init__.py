"""What a graph means: types, ops, graphs and their file.  Knows neither builder nor executor."""

import importlib as _importlib
import typing as _typing

from . import ops
from .attributes import conforms
from .declarations import Signature, VariableSpec
from .dims import Dim, symbol
from .errors import (
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
    Site,
    StaticadError,
    UnknownFetchError,
    UnknownNameError,
    UsageError,
)
from .graph import Function, Graph
from .handle import Effect, Handle
from .migrate import FORMAT
from .node import Node
from .op import OPS, FunctionRef, Op
from .text import from_text, line, to_text
from .types import TensorType, as_dtype

if _typing.TYPE_CHECKING:
    from .codec import Verified, decode, encode, load, save, verify
else:

    def __getattr__(name: str) -> _typing.Any:
        """What reads and writes files is imported when it is first asked for: protobuf takes a
        tenth of the time of all other imports."""
        if name in ("Verified", "decode", "encode", "load", "save", "verify"):
            found = getattr(_importlib.import_module(".codec", __name__), name)
            globals()[name] = found
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    # Graphs
    "Graph",
    "Node",
    "Function",
    "Signature",
    "VariableSpec",
    "Handle",
    "Effect",
    "Site",
    # Types
    "TensorType",
    "Dim",
    "symbol",
    "as_dtype",
    # Ops
    "OPS",
    "Op",
    "FunctionRef",
    "conforms",
    "ops",
    # Files and text
    "FORMAT",
    "load",
    "save",
    "encode",
    "decode",
    "verify",
    "Verified",
    "to_text",
    "from_text",
    "line",
    # Errors
    "StaticadError",
    "GraphError",
    "DTypeError",
    "ShapeError",
    "ArgumentError",
    "UsageError",
    "UnknownNameError",
    "GradientError",
    "FormatError",
    "PlanError",
    "FeedTypeError",
    "UnknownFetchError",
    "ExecutionError",
    "CancelledError",
    "ConnectionLostError",
    "AccessError",
    "LimitError",
]
