"""Elements more than once: whole tensors side by side, or each element in a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.handle import Handle
from staticad_schema.shapes import product
from staticad_schema.sites import asking
from staticad_schema.types import INT64, INTEGER

from .. import dimensions, methods
from ..building import build
from ..finding import found
from ..index_parts import reshaped
from ..numbers import weak_list
from ..operands import Operand, result, tensor
from ..tensor import Tensor


def tile(x: Operand, /, repetitions: Any, *, name: str | None = None) -> Tensor:
    """x repeated `repetitions` times along each axis, aligned at the last.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tile([1, 2], (2, 2))
    >>> sad.Session(graph).run(y)
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    with asking("tile", name):
        value = tensor("tile", x)
        counts = dimensions.shape_of(repetitions)
        rank = len(counts) if len(counts) > value.ndim else value.ndim
        counts = (1,) * (rank - len(counts)) + counts
        shape = (1,) * (rank - value.ndim) + value.shape
        if all(c == 1 for c in counts):
            return result(methods.reshape(value, shape, name))
        spread, wide, final = [], [], []
        for size, count in zip(shape, counts, strict=True):
            spread += [1, size]
            wide += [count, size]
            final.append(size * count)
        ready = build("reshape", (value,), {"shape": tuple(spread)})
        ready = build("broadcast_to", (ready,), {"shape": tuple(wide)})
        return result(build("reshape", (ready,), {"shape": tuple(final)}, label=name))


def repeat(
    x: Operand,
    repeats: Any,
    /,
    axis: int | None = None,
    *,
    total_repeat_length: Any = None,
    name: str | None = None,
) -> Tensor:
    """Each element of x, or each slice along an axis, `repeats` times in a row.

    repeats: a count for all, an int, a name of a size or a Dim; a list of one count each; or a
    tensor of integers, when the size along the axis is found by each run.
    axis: None repeats the elements of the flattened x.  total_repeat_length: for a tensor of
    counts the size of the result, so that no run has to find it: what is beyond is left out,
    and the last element fills what is missing.
    Raises ShapeError if there are not as many counts as elements along the axis, DTypeError for
    counts that are no integers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.repeat([1, 2], 2)
    ...     z = sad.repeat([[1, 2], [3, 4]], [1, 2], axis=0)
    >>> session = sad.Session(graph)
    >>> session.run(y)
    array([1, 1, 2, 2])
    >>> session.run(z)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    """
    with asking("repeat", name):
        value: Any = tensor("repeat", x)
        if axis is None:
            value = methods.reshape(value, (product(value.shape),))
        place = dimensions.axis_of(0 if axis is None else axis, value.type.ndim)
        if isinstance(repeats, list | tuple | np.ndarray):
            counts = _counts(repeats)
            if counts.size != 1:
                return _each_repeated(value, counts, place, name)
            repeats = int(counts.reshape(()))
        if isinstance(repeats, Handle):
            return _by_tensor(value, repeats, place, total_repeat_length, name)
        if total_repeat_length is not None:
            raise ArgumentError(
                "the size of the result follows from the counts",
                expected="total_repeat_length beside a tensor of counts",
                found=f"{repeats!r:.80}",
            )
        count = dimensions.size(repeats)
        lead, size, rest = value.shape[:place], value.shape[place], value.shape[place + 1 :]
        thin = reshaped(value, (*lead, size, 1, *rest))
        wide = build("broadcast_to", (thin,), {"shape": (*lead, size, count, *rest)})
        return result(methods.reshape(wide, (*lead, size * count, *rest), name))


def _counts(repeats: Any) -> np.ndarray[Any, Any]:
    counts = repeats if isinstance(repeats, np.ndarray) else weak_list(repeats)
    if counts is None or (counts.size and counts.dtype.kind not in "iu"):
        raise DTypeError("counts are integers", expected="integers", found=f"{repeats!r:.80}")
    if counts.ndim > 1 or (counts.size and int(counts.min()) < 0):
        raise ShapeError(
            "not a list of counts", expected="ints of 0 or more", found=f"{repeats!r:.80}"
        )
    if counts.size > 1:
        dimensions.listed(sum(counts.tolist()))
    return counts


def _by_tensor(value: Any, repeats: Any, axis: int, total: Any, name: str | None) -> Tensor:
    value.graph.check_owner(repeats, "repeat", value)
    if repeats.type.kind not in INTEGER:
        raise DTypeError("counts are integers", expected="integers", found=repeats.describe())
    size = value.shape[axis]
    given = repeats.type.shape
    one_each = given in ((), (1,)) or (len(given) == 1 and dims.same_size(given[0], size))
    if len(given) > 1 or one_each is False:
        raise ShapeError(
            "not one count each",
            expected=f"{size} counts, for axis {axis} of {value.describe()}",
            found=repeats.describe(),
        )
    counts = build("broadcast_to", (repeats,), {"shape": (size,)}) if given != (size,) else repeats
    places = (
        found("repeated_positions", counts)
        if total is None
        else _places(counts.astype(INT64), dimensions.size(total))
    )
    return result(build("take", (value, places), {"axis": axis}, label=name))


def _places(counts: Any, total: Size) -> Any:
    """Which element stands at each of `total` places; the last one behind all."""
    ends = build("cumulative_sum", (counts,), {"axis": 0, "reverse": False})
    places = counts.graph.source("iota", {"shape": (total,), "axis": 0, "dtype": INT64})
    last = build("size_of", (counts,), {"axis": (0,), "dtype": INT64}) - 1
    return build("minimum", (build("searchsorted", (ends, places), {"right": True}), last))


def _each_repeated(value: Any, counts: np.ndarray[Any, Any], axis: int, name: str | None) -> Tensor:
    size = value.shape[axis]
    if isinstance(size, int) and size != counts.size:
        raise ShapeError(
            "not one count each",
            expected=f"{size} counts, for axis {axis} of {value.describe()}",
            found=str(counts.size),
        )
    shape = (*value.shape[:axis], counts.size, *value.shape[axis + 1 :])
    places = value.graph.constant(
        np.repeat(np.arange(counts.size, dtype=INT64), counts.astype(INT64))
    )
    return result(build("take", (reshaped(value, shape), places), {"axis": axis}, label=name))
