"""Tensors put together and taken apart along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.shapes import normalize_axis, same_shape
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..operands import Operand, result, tensor, tensors
from ..tensor import Tensor


def concat(xs: Sequence[Operand], /, *, axis: int | None = 0, name: str | None = None) -> Tensor:
    """The tensors one after the other along `axis`; flattened first if that is None.

    xs: a list of tensors of one rank, brought to one dtype.  Raises ShapeError if their other
    sizes differ.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.concat([[1.0, 2.0], [3.0]])
    >>> sad.Session(graph).run(y)
    array([1., 2., 3.], dtype=float32)
    """
    with asking("concat", name):
        values = tensors("concat", *_several(xs))
        if axis is None:
            values = tuple(result(methods.reshape(v, (-1,))) for v in values)
        place = normalize_axis(dimensions.integer(axis or 0), values[0].ndim)
        return result(build("concat", values, {"axis": place}, label=name))


def stack(xs: Sequence[Operand], /, *, axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape side by side along a new axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.stack([[1.0, 2.0], [3.0, 4.0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    with asking("stack", name):
        values = tensors("stack", *_several(xs))
        for v in values[1:]:
            if same_shape(v.shape, values[0].shape) is False:
                raise ShapeError(
                    "only tensors of one shape can be stacked",
                    expected=values[0].describe(),
                    found=v.describe(),
                )
        place = normalize_axis(dimensions.integer(axis), values[0].ndim + 1)
        ready = [methods.reshape(v, (*v.shape[:place], 1, *v.shape[place:])) for v in values]
        return result(build("concat", ready, {"axis": place}, label=name))


def unstack(x: Operand, /, *, axis: int = 0, name: str | None = None) -> tuple[Tensor, ...]:
    """The parts of x along an axis of known size, without that axis.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3))
    >>> [part.shape for part in sad.unstack(x)]
    [(3,), (3,)]
    """
    with asking("unstack", name):
        value = tensor("unstack", x)
        place = normalize_axis(dimensions.integer(axis), value.ndim)
        size = value.shape[place]
        if not isinstance(size, int):
            raise ShapeError(
                "the number of parts is not known",
                expected=f"a known size on axis {place}",
                found=value.describe(),
            )
        lead = (slice(None),) * place
        return tuple(result(renamed(value[(*lead, i)], name)) for i in range(size))


def tile(x: Operand, repetitions: Any, /, *, name: str | None = None) -> Tensor:
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


def _several(xs: Any) -> list[Any]:
    if isinstance(xs, Handle) or not isinstance(xs, tuple | list):
        raise UsageError(
            "not a sequence of tensors",
            expected="a list or tuple of tensors",
            found=xs.describe() if isinstance(xs, Handle) else f"{xs!r:.80}",
        )
    if not xs:
        raise ArgumentError("nothing to join", expected="at least one tensor", found="none")
    return list(xs)
