"""Blocks of pixels as channels, and channels as blocks of pixels or in another order."""

from __future__ import annotations

from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.dims import Size
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.sites import asking

from .. import dimensions
from ..building import build
from ..operands import Operand, result, tensor
from ..options import choice
from ..tensor import Tensor

Order = Literal["DCR", "CRD"]


def depth_to_space(
    x: Operand, /, block_size: int, *, mode: Order = "DCR", name: str | None = None
) -> Tensor:
    """Channels as square blocks of pixels: (n, c, h, w) becomes (n, c / b², h b, w b).

    mode: of the channels, "DCR" counts the place in the block before the channel of the result,
    as TensorFlow; "CRD" behind it, as `pixel_shuffle` of PyTorch.  As DepthToSpace of ONNX.
    Raises ShapeError unless x has rank 4 and the channels divide.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.reshape(sad.arange(4), (1, 4, 1, 1))
    ...     y = sad.nn.depth_to_space(x, 2)
    >>> sad.Session(graph).run(y)
    array([[[[0, 1],
             [2, 3]]]])
    """
    with asking("depth_to_space", name):
        value, b = _images("depth_to_space", x, block_size)
        choice("mode", mode, get_args(Order))
        n, channels, h, w = value.shape
        c = _divided(value, channels, b * b, 1)
        split = (n, b, b, c, h, w) if mode == "DCR" else (n, c, b, b, h, w)
        order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
        return _moved(value, split, order, (n, c, h * b, w * b), name)


def space_to_depth(
    x: Operand, /, block_size: int, *, mode: Order = "DCR", name: str | None = None
) -> Tensor:
    """Square blocks of pixels as channels: (n, c, h b, w b) becomes (n, c b², h, w).

    mode: as in `depth_to_space`, which this undoes.  As SpaceToDepth of ONNX.
    Raises ShapeError unless x has rank 4 and both sides divide.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.reshape(sad.arange(4), (1, 1, 2, 2))
    ...     y = sad.nn.space_to_depth(x, 2)
    >>> sad.Session(graph).run(y)[0, :, 0, 0]
    array([0, 1, 2, 3])
    """
    with asking("space_to_depth", name):
        value, b = _images("space_to_depth", x, block_size)
        choice("mode", mode, get_args(Order))
        n, c, height, width = value.shape
        h, w = _divided(value, height, b, 2), _divided(value, width, b, 3)
        order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
        return _moved(value, (n, c, h, b, w, b), order, (n, c * (b * b), h, w), name)


def channel_shuffle(x: Operand, /, groups: int, *, name: str | None = None) -> Tensor:
    """The channels of (n, c, ...) in turn from each of so many groups (Zhang et al. 2018).

    Raises ShapeError below rank 2, or if the channels do not divide.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.channel_shuffle([[0, 1, 2, 3]], 2)
    >>> sad.Session(graph).run(y)
    array([[0, 2, 1, 3]])
    """
    with asking("channel_shuffle", name):
        value = tensor("channel_shuffle", x)
        if value.ndim < 2:
            raise ShapeError("no channels", expected="rank 2 or more", found=value.describe())
        count = _count(groups)
        n, channels, *rest = value.shape
        c = _divided(value, channels, count, 1)
        order = (0, 2, 1, *range(3, value.ndim + 1))
        return _moved(value, (n, count, c, *rest), order, (n, c * count, *rest), name)


def _count(given: Any) -> int:
    count = dimensions.integer(given)
    if count < 1:
        raise ArgumentError("not a size", expected="1 or more", found=str(given))
    return count


def _images(asked: str, x: Operand, block_size: Any) -> tuple[Tensor, int]:
    value = tensor(asked, x)
    if value.ndim != 4:
        raise ShapeError(
            "not images", expected="(n, channels, height, width)", found=value.describe()
        )
    return value, _count(block_size)


def _divided(x: Tensor, size: Size, by: int, axis: int) -> Size:
    """The size of an axis over a divisor.  A symbolic one is checked when it is known."""
    exact = dims.divide_exactly(size, by)
    if exact is None and isinstance(size, int):
        raise ShapeError(
            "the size does not divide",
            expected=f"a multiple of {by} on axis {axis}",
            found=x.describe(),
        )
    return dims.floordiv(size, by) if exact is None else exact


def _moved(
    x: Tensor, split: tuple[Size, ...], order: tuple[int, ...], joined: tuple[Size, ...], name: Any
) -> Tensor:
    parts = build("reshape", (x,), {"shape": split})
    parts = build("permute_dims", (parts,), {"axes": order})
    return result(build("reshape", (parts,), {"shape": joined}, label=name))
