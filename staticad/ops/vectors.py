"""Products of vectors, and of vectors with matrices, in stacks that broadcast."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build
from ..operands import Operand, result, tensors
from ..tensor import Tensor
from .contractions import agreeing
from .einsum import contract
from .subscripts import Subscripts


def vecdot(x1: Operand, x2: Operand, /, *, axis: int = -1, name: str | None = None) -> Tensor:
    """The sum of conj(x1) * x2 over `axis`; other axes broadcast.

    x1, x2: numbers of rank 1 or more, brought to one dtype.  axis: of each operand; its size is
    the same in both.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    >>> sad.Session(graph).run(y)
    array([21., 43.], dtype=float32)
    """
    with asking("vecdot", name):
        a, b = _vectors("vecdot", x1, x2)
        places = [dimensions.axis_of(axis, x.ndim) for x in (a, b)]
        b = agreeing(a, places[0], b, places[1])
        left, right = _stacked(a, (places[0],), "k"), _stacked(b, (places[1],), "k")
        return result(contract((_conjugated(a), b), _kept(left, right), name))


def matvec(x1: Operand, x2: Operand, /, *, name: str | None = None) -> Tensor:
    """Matrices times vectors, x1 @ x2 for each of a stack: (..., m, n) and (..., n) to (..., m).

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x, y = sad.zeros((5, 2, 3)), sad.zeros((5, 3))
    >>> sad.matvec(x, y).shape
    (5, 2)
    """
    with asking("matvec", name):
        a, b = _vectors("matvec", x1, x2)
        _require(a, 2)
        b = agreeing(a, a.ndim - 1, b, b.ndim - 1)
        left, right = _stacked(a, (a.ndim - 2, a.ndim - 1), "mn"), _stacked(b, (b.ndim - 1,), "n")
        return result(contract((a, b), _kept(left, right), name))


def vecmat(x1: Operand, x2: Operand, /, *, name: str | None = None) -> Tensor:
    """Conjugate vectors times matrices: (..., m) and (..., m, n) to (..., n).

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x, y = sad.zeros(2), sad.zeros((5, 2, 3))
    >>> sad.vecmat(x, y).shape
    (5, 3)
    """
    with asking("vecmat", name):
        a, b = _vectors("vecmat", x1, x2)
        _require(b, 2)
        b = agreeing(a, a.ndim - 1, b, b.ndim - 2)
        left, right = _stacked(a, (a.ndim - 1,), "m"), _stacked(b, (b.ndim - 2, b.ndim - 1), "mn")
        return result(contract((_conjugated(a), b), _kept(left, right), name))


def vdot(x1: Operand, x2: Operand, /, *, name: str | None = None) -> Tensor:
    """The sum of conj(x1) * x2 over all elements, which both have as many of.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.vdot([[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [10.0, 10.0]])
    >>> sad.Session(graph).run(y)
    array(73., dtype=float32)
    """
    with asking("vdot", name):
        a, b = (result(methods.reshape(x, (-1,))) for x in tensors("vdot", x1, x2))
        b = agreeing(a, 0, b, 0)
        return result(contract((_conjugated(a), b), Subscripts((("k",), ("k",)), ()), name))


def cross(x1: Operand, x2: Operand, /, *, axis: int = -1, name: str | None = None) -> Tensor:
    """The vector product along `axis`, of size 3; other axes broadcast.

    A vector of size 2 counts as one with a third element of 0; of two such vectors the result is
    the third element alone, without the axis.  axis: of each operand.  Raises ShapeError for
    other sizes and for sizes that are not known.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    >>> sad.Session(graph).run(y)
    array([0., 0., 1.], dtype=float32)
    """
    with asking("cross", name):
        a, b = _vectors("cross", x1, x2)
        places = [dimensions.axis_of(axis, x.ndim) for x in (a, b)]
        sizes = [x.shape[place] for x, place in zip((a, b), places, strict=True)]
        if not all(isinstance(size, int) and size in (2, 3) for size in sizes):
            raise ShapeError(
                "not vectors in space or in the plane",
                expected=f"size 3 or 2 on axis {axis}",
                found=f"{a.describe()} and {b.describe()}",
            )
        a, b = (_axis_last(x, place) for x, place in zip((a, b), places, strict=True))
        if sizes == [2, 2]:
            return result(methods.computed(_turned, a, b, label=name))
        product = methods.computed(_crossed, a, b)
        place = dimensions.axis_of(axis, product.ndim)
        order = [*range(product.ndim - 1)]
        order.insert(place, product.ndim - 1)
        return result(methods.permute(product, tuple(order), name))


def _turned(a: Any, b: Any) -> Any:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _crossed(a: Any, b: Any) -> Any:
    ahead, behind = zip(*map(_rotated, map(_in_space, (a, b))), strict=True)
    return ahead[0] * behind[1] - behind[0] * ahead[1]


def _axis_last(x: Tensor, axis: int) -> Tensor:
    order = (*(a for a in range(x.ndim) if a != axis), axis)
    return result(methods.permute(x, order))


def _in_space(x: Tensor) -> Tensor:
    """A vector of the plane with a third element of 0."""
    if x.shape[-1] == 3:
        return x
    widths = (*((0, 0),) * (x.ndim - 1), (0, 1))
    return result(build("pad", (x,), {"widths": widths, "value": 0.0}))


def _rotated(x: Tensor) -> tuple[Any, Any]:
    """The elements of a vector one place ahead, and two."""
    twice = build("concat", (x, x), {"axis": x.ndim - 1})
    return twice[..., 1:4], twice[..., 2:5]


def _vectors(asked: str, x1: Operand, x2: Operand) -> tuple[Tensor, Tensor]:
    a, b = tensors(asked, x1, x2)
    _require(a, 1)
    _require(b, 1)
    return a, b


def _require(x: Tensor, rank: int) -> None:
    if x.ndim < rank:
        what = "a vector" if rank == 1 else "a matrix"
        raise ShapeError(
            f"not {what}, nor a stack of them",
            expected=f"rank {rank} or more",
            found=x.describe(),
        )


def _conjugated(x: Any) -> Any:
    return build("conj", (x,)) if x.type.kind == "complex" else x


def _stacked(x: Tensor, own: tuple[int, ...], labels: str) -> tuple[str, ...]:
    """Labels of axes: those of `own`, and of the others counted from the last, to broadcast."""
    named = dict(zip(own, labels, strict=True))
    rest = [a for a in range(x.ndim) if a not in named]
    named.update({a: f"...{len(rest) - 1 - k}" for k, a in enumerate(rest)})
    return tuple(named[a] for a in range(x.ndim))


def _kept(left: tuple[str, ...], right: tuple[str, ...]) -> Subscripts:
    """The stack's axes in front, then those that only one operand has."""
    stack = max(left, right, key=lambda side: sum(i.startswith("...") for i in side))
    alone = set(left) ^ set(right)
    rest = tuple(i for i in left + right if i in alone and not i.startswith("..."))
    return Subscripts((left, right), (*(i for i in stack if i.startswith("...")), *rest))
