"""A tensor taken apart along an axis."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Dim, Size
from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import renamed
from ..index_parts import reshaped
from ..operands import Operand, result, tensor
from ..tensor import Tensor


def unstack(x: Operand, /, axis: int = 0, *, name: str | None = None) -> tuple[Tensor, ...]:
    """The parts of x along an axis of known size, without that axis.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3))
    >>> [part.shape for part in sad.unstack(x)]
    [(3,), (3,)]
    """
    with asking("unstack", name):
        value = tensor("unstack", x)
        place = dimensions.axis_of(axis, value.ndim)
        size = value.shape[place]
        if not isinstance(size, int):
            raise ShapeError(
                "the number of parts is not known",
                expected=f"a known size on axis {place}",
                found=value.describe(),
            )
        _check_parts(size)
        lead = (slice(None),) * place
        return tuple(result(renamed(value[(*lead, i)], name)) for i in range(size))


def split(
    x: Operand,
    /,
    indices_or_sections: int | Sequence[int | Dim],
    axis: int = 0,
    *,
    name: str | None = None,
) -> list[Tensor]:
    """The parts of x along an axis: so many equal ones, or those between the given indices.

    As `numpy.split`: of the indices [2, 3] the parts are x[:2], x[2:3] and x[3:].
    Raises ShapeError if the size does not divide; a symbolic one is checked by the run.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     parts = sad.split([1, 2, 3, 4, 5], [2, 3])
    >>> sad.Session(graph).run(parts)
    [array([1, 2]), array([3]), array([4, 5])]
    """
    with asking("split", name):
        value, place = _axis_of("split", x, axis)
        if _is_count(indices_or_sections):
            count = _positive(indices_or_sections)
            size = value.shape[place]
            each = dims.divide_exactly(size, count)
            if each is None:
                if isinstance(size, int):
                    raise ShapeError(
                        "the size does not divide",
                        expected=f"a multiple of {count} on axis {place}",
                        found=value.describe(),
                        hint="array_split makes parts of unequal sizes",
                    )
                each = dims.floordiv(size, count)
                shape = (*value.shape[:place], each * count, *value.shape[place + 1 :])
                value = reshaped(value, shape)
            return _parts(value, [each * k for k in range(count + 1)], place, name)
        return _between(value, indices_or_sections, place, name)


def array_split(
    x: Operand,
    /,
    indices_or_sections: int | Sequence[int | Dim],
    axis: int = 0,
    *,
    name: str | None = None,
) -> list[Tensor]:
    """As `split`, but the first parts are larger by one where the size does not divide.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     parts = sad.array_split([1, 2, 3, 4, 5], 3)
    >>> sad.Session(graph).run(parts)
    [array([1, 2]), array([3, 4]), array([5])]
    """
    with asking("array_split", name):
        value, place = _axis_of("array_split", x, axis)
        if _is_count(indices_or_sections):
            count = _positive(indices_or_sections)
            size = value.shape[place]
            each, larger = dims.floordiv(size, count), dims.modulo(size, count)
            starts = [each * k + dims.minimum(larger, k) for k in range(count)]
            return _parts(value, [*starts, size], place, name)
        return _between(value, indices_or_sections, place, name)


def vsplit(
    x: Operand, /, indices_or_sections: int | Sequence[int], *, name: str | None = None
) -> list[Tensor]:
    """`split` along the first axis.  Raises ShapeError below rank 2.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     parts = sad.vsplit(sad.zeros((4, 3)), 2)
    >>> [part.shape for part in parts]
    [(2, 3), (2, 3)]
    """
    with asking("vsplit", name):
        return split(_of_rank("vsplit", x, 2), indices_or_sections, 0, name=name)


def hsplit(
    x: Operand, /, indices_or_sections: int | Sequence[int], *, name: str | None = None
) -> list[Tensor]:
    """`split` along the second axis, of a vector along its only one.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     parts = sad.hsplit(sad.zeros((4, 3)), [1])
    >>> [part.shape for part in parts]
    [(4, 1), (4, 2)]
    """
    with asking("hsplit", name):
        value = _of_rank("hsplit", x, 1)
        return split(value, indices_or_sections, min(value.ndim - 1, 1), name=name)


def dsplit(
    x: Operand, /, indices_or_sections: int | Sequence[int], *, name: str | None = None
) -> list[Tensor]:
    """`split` along the third axis.  Raises ShapeError below rank 3.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     parts = sad.dsplit(sad.zeros((1, 1, 4)), 2)
    >>> [part.shape for part in parts]
    [(1, 1, 2), (1, 1, 2)]
    """
    with asking("dsplit", name):
        return split(_of_rank("dsplit", x, 3), indices_or_sections, 2, name=name)


def _of_rank(asked: str, x: Operand, least: int) -> Tensor:
    value = tensor(asked, x)
    if value.ndim < least:
        raise ShapeError("too few axes", expected=f"rank {least} or more", found=value.describe())
    return value


def _axis_of(asked: str, x: Operand, axis: Any) -> tuple[Any, int]:
    value = tensor(asked, x)
    return value, dimensions.axis_of(axis, value.ndim)


def _is_count(given: Any) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


MOST_PARTS = 1 << 20
"""More nodes are a mistake, and one that would take long to tell."""


def _positive(count: Any) -> int:
    known = dimensions.integer(count)
    if known < 1:
        raise ArgumentError("not a number of parts", expected="1 or more", found=str(known))
    return _check_parts(known)


def _check_parts(count: int) -> int:
    if count > MOST_PARTS:
        raise ArgumentError("too many parts", expected=f"{MOST_PARTS} at most", found=str(count))
    return count


def _between(value: Any, indices: Any, axis: int, name: str | None) -> list[Tensor]:
    """The slices between indices, as Python means them."""
    if isinstance(indices, np.ndarray):
        indices = indices.tolist()
    if not isinstance(indices, Sequence) or isinstance(indices, str):
        raise UsageError(
            "neither a number of parts nor indices",
            expected="an int or a list of ints",
            found=f"{indices!r:.80}",
        )
    cuts = [i if isinstance(i, Dim) else dimensions.integer(i) for i in indices]
    bounds = itertools.pairwise([None, *cuts, None])
    return [result(methods.slice_along(value, axis, start, stop, name)) for start, stop in bounds]


def _parts(value: Any, cuts: Sequence[Size], axis: int, name: str | None) -> list[Tensor]:
    """The parts between cuts that are ascending positions."""
    parts = []
    for start, stop in itertools.pairwise(cuts):
        part = methods.slice_along(value, axis, start, stop, name)
        # What is known to be in bounds has a plainer size than a slice's.
        shape = (*part.type.shape[:axis], stop - start, *part.type.shape[axis + 1 :])
        parts.append(result(reshaped(part, shape)))
    return parts
