"""What users feed: for which values, and converted to what runs take.  Feeds are never written
and not kept.

Lists and Python scalars are weak: they take the dtype of what they are fed for.  Arrays
convert as an assignment to an array would (NumPy's same_kind rule), and integers are
checked for range.  NaN values are data.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.errors import FeedTypeError, PlanError, Site
from staticad_schema.graph import Graph
from staticad_schema.handle import WEAK, Effect, Handle
from staticad_schema.types import INTEGER, KINDS, Array, DType, TensorType

from .fetches import find, meant, own


class Fed(NamedTuple):
    """A value that is fed: its id and type, and its name and line for messages."""

    value: int
    type: TensorType
    name: str
    site: Site | None

    def array(self, given: Any) -> Array:
        """What is given for it, as `convert` does."""
        return convert(given, self.type, f"feed {self.name!r}", self.site)


def targets(graph: Graph, keys: Any, asked: str) -> list[Fed]:
    """What is fed, by tensors and names.  Raises PlanError."""
    if isinstance(keys, str | Handle) or not isinstance(keys, Iterable):
        raise FeedTypeError(
            "feeds are no sequence",
            asked=asked,
            expected="a list of tensors or names, such as [x, labels]",
            found=repr(keys)[:200],
        )
    found: dict[int, Fed] = {}
    for key in keys:
        value = fed_value(graph, key)
        name = graph.value_name(value)
        if value in found:
            raise PlanError(
                f"{name!r} is fed twice", asked="feed", expected="one value", found="two"
            )
        site = graph.site(graph.nodes[graph.producers[value]].site)
        found[value] = Fed(value, graph.types[value], name, site)
    return list(found.values())


def mapped(graph: Graph, feeds: Any, asked: str) -> tuple[list[Fed], list[Any]]:
    """What a mapping from tensors and names to values feeds, and the values.  Raises PlanError."""
    if feeds is None:
        return [], []
    if not isinstance(feeds, Mapping):
        raise FeedTypeError(
            "feeds are no mapping",
            asked=asked,
            expected="a dict from tensors or names to values",
            found=f"{feeds!r:.80}, a {type(feeds).__name__}",
            hint="write {x: value}",
        )
    return targets(graph, feeds, asked), list(feeds.values())


def fed_value(graph: Graph, key: Any) -> int:
    """The value id that a key of the feeds means.  Raises PlanError."""
    if isinstance(key, str):
        value, index = find(graph, key, "feed")
        if value is not None:
            return value
        key = graph.effect(index)
    handle = key if isinstance(key, Handle) else meant(key)
    if handle is not None:
        own(graph, handle, "feed")
        return handle.id
    raise FeedTypeError(
        "this has no value that could be fed",
        asked="feed",
        expected="a tensor, a variable, or a name",
        found=repr(key)[:200],
    )


# How much the kinds of dtypes hold; a value goes into its own kind and those above.
_RANK = {"bool": 0, "uint": 1, "int": 2, "float": 3, "complex": 4}


def convert(value: Any, type_: TensorType, what: str, site: Site | None) -> Array:
    """`value` as a C-contiguous, aligned array in native byte order of the type's dtype.

    An array that is so already is returned itself; shapes are not looked at.  what and site:
    the target, for messages.  Raises FeedTypeError, or PlanError for integers out of range.
    """
    dtype = type_.dtype
    if type(value) is np.ndarray and value.dtype == dtype:
        array = value
    else:
        try:
            array = _convert(value, dtype)
        except PlanError as error:
            error.expected = error.expected or f"a value for {type_}"
            raise error.locate(asked=what, site=site) from None
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array
    return np.array(array, dtype, order="C")


def _convert(value: Any, dtype: DType) -> Array:
    if isinstance(value, Handle | Effect):
        raise FeedTypeError(
            "a tensor of the graph is fed, which has no value yet",
            found=repr(value),
            hint="run it and feed the result, or use it in the graph",
        )
    if value is None:
        raise FeedTypeError("None is fed", found="None")
    if isinstance(value, np.ma.MaskedArray):
        raise FeedTypeError(
            "a masked array is fed, whose mask would be lost",
            found="a masked array",
            hint="use .filled(...)",
        )
    if isinstance(value, WEAK):
        return _weak(np.asarray(value), value, dtype)
    if isinstance(value, list | tuple):
        return _weak(_listed(value), value, dtype)
    try:
        array = np.asarray(value)
    except Exception as error:
        raise FeedTypeError(
            f"it cannot be converted to an array: {error}", found=type(value).__name__
        ) from error
    return _same_kind(array, value, dtype)


def _listed(value: list[Any] | tuple[Any, ...]) -> Array:
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        ragged = "inhomogeneous" in str(error)
        raise FeedTypeError(
            "the nested lists are not rectangular" if ragged else str(error),
            found=_short(value),
        ) from None


def _weak(array: Array, value: Any, dtype: DType) -> Array:
    """Python numbers, which NumPy has given some dtype of its own."""
    if array.size == 0:
        return array.astype(dtype)
    if array.dtype == object and _all_integers(array):
        # Integers beyond 64 bits.
        if KINDS[dtype] in INTEGER:
            raise _out_of_range(max(array.flat, key=abs), dtype)
        kind = "int"
    elif array.dtype in KINDS:
        kind = KINDS[array.dtype]
    else:
        raise FeedTypeError("it holds no numbers", found=_short(value))
    target = KINDS[dtype]
    # A Python integer is of no width and no sign, so it may go into any integer dtype.
    if not (kind in INTEGER and target in INTEGER) and _RANK[kind] > _RANK[target]:
        exact = np.asarray(value, dtype=object)
        if target in INTEGER and _all_integers(exact):
            # NumPy makes floats of integers of which one fits only uint64 and one fits int64.
            limits = np.iinfo(dtype)
            for integer in exact.flat:
                if not limits.min <= integer <= limits.max:
                    raise _out_of_range(integer, dtype)
            return exact.astype(dtype)
        raise FeedTypeError(
            f"{kind} values do not go into {dtype.name}",
            found=_short(value),
            hint=_advice(kind, target),
        )
    return _cast(_rounded(array, dtype) if array.dtype == object else array, dtype)


def _same_kind(array: Array, value: Any, dtype: DType) -> Array:
    native = array.dtype.newbyteorder("=")
    if native not in KINDS:
        raise FeedTypeError(
            "it holds no numbers of a dtype that graphs have",
            found=f"{type(value).__name__} of dtype {array.dtype}",
        )
    if native == dtype:
        return array
    kind, target = KINDS[native], KINDS[dtype]
    if _RANK[kind] > _RANK[target]:
        raise FeedTypeError(
            f"{native.name} does not convert to {dtype.name} by itself",
            found=f"an array of dtype {native.name}, shape {array.shape}",
            hint=f"convert it: .astype({dtype.name!r})",
        )
    return _cast(array, dtype)


def _cast(array: Array, dtype: DType) -> Array:
    """The values in `dtype`.  Raises PlanError for an integer out of range."""
    if KINDS[dtype] in INTEGER and array.dtype != np.bool_ and array.size:
        limits = np.iinfo(dtype)
        low, high = int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise _out_of_range(low if low < limits.min else high, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype, order="C")


def _all_integers(array: Array) -> bool:
    return all(type(x) in (int, bool) for x in array.flat)


def _rounded(array: Array, dtype: DType) -> Array:
    """Python integers of any size as float64.  Raises PlanError for one that is too large."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        largest = max(array.flat, key=abs)
        raise PlanError(
            f"an integer of {largest.bit_length()} bits does not fit {dtype.name}",
            expected="at most 1024 bits",
            found=_short(largest),
        ) from None


def _out_of_range(value: int, dtype: DType) -> PlanError:
    limits = np.iinfo(dtype)
    return PlanError(
        f"the integer {_short(value)} does not fit {dtype.name}",
        expected=f"{limits.min} to {limits.max}",
        found=_short(value),
    )


def _advice(kind: str, target: str) -> str | None:
    if kind == "float" and target in INTEGER:
        return "convert it: int(…), or np.asarray(…).astype(…)"
    if kind == "complex":
        return "take its real part"
    return None


def _short(value: object) -> str:
    try:
        text = reprlib.repr(value)
    except ValueError:
        # Python does not print integers of thousands of digits.
        text = f"{type(value).__name__} too long to print"
    return text if len(text) <= 80 else text[:77] + "..."
