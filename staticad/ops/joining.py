"""Tensors put together along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.shapes import same_shape
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..operands import Operand, graph_of, result, tensor, tensors
from ..tensor import Tensor
from .shapes import atleast_1d, atleast_2d, atleast_3d


def concat(xs: Sequence[Operand], /, axis: int | None = 0, *, name: str | None = None) -> Tensor:
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
        place = dimensions.axis_of(0 if axis is None else axis, values[0].ndim)
        return result(build("concat", values, {"axis": place}, label=name))


def stack(xs: Sequence[Operand], /, axis: int = 0, *, name: str | None = None) -> Tensor:
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
        place = dimensions.axis_of(axis, values[0].ndim + 1)
        ready = [methods.reshape(v, (*v.shape[:place], 1, *v.shape[place:])) for v in values]
        return result(build("concat", ready, {"axis": place}, label=name))


def hstack(xs: Sequence[Operand], /, *, name: str | None = None) -> Tensor:
    """The tensors one after the other along the second axis, vectors along their only one.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.hstack([[[1], [2]], [[3], [4]]])
    >>> sad.Session(graph).run(y)
    array([[1, 3],
           [2, 4]])
    """
    with asking("hstack", name):
        values = [atleast_1d(v) for v in tensors("hstack", *_several(xs))]
        return concat(values, 0 if values[0].ndim == 1 else 1, name=name)


def vstack(xs: Sequence[Operand], /, *, name: str | None = None) -> Tensor:
    """The tensors one after the other along the first axis, vectors as rows.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.vstack([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[1, 2],
           [3, 4]])
    """
    with asking("vstack", name):
        return concat([atleast_2d(v) for v in tensors("vstack", *_several(xs))], 0, name=name)


def dstack(xs: Sequence[Operand], /, *, name: str | None = None) -> Tensor:
    """The tensors one after the other along the third axis, after `atleast_3d`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.dstack([[1, 2], [3, 4]])
    >>> y.shape
    (1, 2, 2)
    """
    with asking("dstack", name):
        return concat([atleast_3d(v) for v in tensors("dstack", *_several(xs))], 2, name=name)


def column_stack(xs: Sequence[Operand], /, *, name: str | None = None) -> Tensor:
    """Vectors as the columns of a matrix; matrices side by side.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.column_stack([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[1, 3],
           [2, 4]])
    """
    with asking("column_stack", name):
        columns = [
            v if v.ndim > 1 else methods.reshape(v, (-1, 1))
            for v in tensors("column_stack", *_several(xs))
        ]
        return concat(columns, 1, name=name)


def append(
    x: Operand, values: Operand, /, axis: int | None = None, *, name: str | None = None
) -> Tensor:
    """x followed by `values` along an axis; both flattened if that is None.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.append([1, 2], [[3], [4]])
    >>> sad.Session(graph).run(y)
    array([1, 2, 3, 4])
    """
    with asking("append", name):
        return concat([x, values], axis, name=name)


def block(parts: Any, /, *, name: str | None = None) -> Tensor:
    """A tensor of nested lists of tensors: the innermost joined along the last axis, those along
    the last but one, and so on.  As `numpy.block`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.constant([[1, 2]])
    ...     y = sad.block([[a, 3], [4, a]])
    >>> sad.Session(graph).run(y)
    array([[1, 2, 3],
           [4, 1, 2]])
    """
    with asking("block", name):
        depth = _depth(parts)
        graph = graph_of("block", *_leaves(parts))
        rank = max(depth, *(tensor("block", p, graph).ndim for p in _leaves(parts)))
        return result(renamed(_joined(parts, depth, rank, graph), name))


def _leaves(parts: Any) -> list[Any]:
    return [leaf for p in parts for leaf in _leaves(p)] if isinstance(parts, list) else [parts]


def _depth(parts: Any) -> int:
    if not isinstance(parts, list):
        return 0
    if not parts:
        raise ArgumentError("a list of no parts", expected="at least one tensor", found="[]")
    depths = {_depth(p) for p in parts}
    if len(depths) > 1:
        raise ShapeError(
            "the parts are not nested equally deep",
            expected="lists of one depth",
            found=", ".join(map(str, sorted(depths))),
        )
    return 1 + depths.pop()


def _joined(parts: Any, depth: int, rank: int, graph: Any) -> Tensor:
    if not isinstance(parts, list):
        value = tensor("block", parts, graph)
        return result(methods.reshape(value, (1,) * (rank - value.ndim) + value.shape))
    return concat([_joined(p, depth - 1, rank, graph) for p in parts], rank - depth)


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
