"""Images looked at in other places: grids of coordinates, and what lies there."""

from __future__ import annotations

import itertools
from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.dims import Dim, Size
from staticad_schema.errors import DTypeError, ShapeError
from staticad_schema.shapes import product
from staticad_schema.sites import asking
from staticad_schema.types import FLOATING, INT64

from .. import dimensions, methods, sizes
from ..building import build
from ..finding import expected
from ..operands import Operand, result, tensor, tensors
from ..options import choice, flag
from ..tensor import Tensor
from .resampling import cubic_weights
from .spatial import any_image

SampleMode = Literal["bilinear", "nearest", "bicubic"]
Outside = Literal["zeros", "border", "reflection"]


def grid_sample(
    x: Operand,
    grid: Operand,
    mode: SampleMode = "bilinear",
    padding_mode: Outside = "zeros",
    align_corners: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """x at the places of a grid, interpolated.

    x: floats, (batch, channels, *sizes).  grid: (batch, *counts, k) for k spatial axes: in its
    last axis the coordinates, that of the last spatial axis first, from -1 at one edge of the
    image to 1 at the other.  align_corners: these are the middles of the outermost elements, not
    their outer edges.  mode: "bilinear" (linear along every axis), "nearest" (even ones if two
    are as near), "bicubic" (a = -0.75).  padding_mode: outside are zeros, the nearest element
    ("border"), or the image mirrored ("reflection").

    Returns (batch, channels, *counts).  Where a coordinate is held at the border its gradient is
    0.  The definitions are PyTorch's (Jaderberg et al. 2015).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.grid_sample([[[0.0, 4.0]]], [[[-1.0], [0.0], [0.5]]], align_corners=True)
    >>> sad.Session(graph).run(y)
    array([[[0., 2., 3.]]], dtype=float32)
    """
    with asking("grid_sample", name):
        image, places = tensors("grid_sample", x, grid)
        rank = any_image(image).ndim - 2
        choice("mode", mode, get_args(SampleMode))
        choice("padding_mode", padding_mode, get_args(Outside))
        if image.type.kind not in FLOATING:
            raise DTypeError("not floating", expected="floats", found=image.describe())
        fits = (
            places.ndim == rank + 2
            and dims.same_size(places.shape[0], image.shape[0]) is not False
            and dims.same_size(places.shape[-1], rank) is not False
        )
        if not fits:
            raise ShapeError(
                "the grid does not fit the image",
                expected=f"({image.shape[0]}, *counts, {rank}), of rank {rank + 2}",
                found=places.describe(),
            )
        if 0 in image.shape[2:]:
            raise ShapeError(
                "there is nothing to look at",
                expected="at least one element along each spatial axis",
                found=image.describe(),
            )
        dtype = image.dtype
        places = expected(places, (image.shape[0], *places.shape[1:-1], rank))
        image, places = methods.widened(image), methods.widened(places)
        sampler = _Sampler(image, padding_mode, flag("align_corners", align_corners))
        counts = places.shape[1:-1]
        flat = methods.reshape(places, (places.shape[0], 1, product(counts), rank))
        along = []
        for a in range(rank):
            k = rank - 1 - a
            one = methods.slice_along(flat, 3, k, k + 1)
            at = methods.reshape(one, flat.shape[:3])
            along.append(sampler.neighbours(at, a, mode))
        total = None
        for near in itertools.product(*along):
            term = sampler.at([place for place, _ in near])
            for _, weight in near:
                # What has weight 0 does not matter.
                term = term if weight is None else build("multiply_no_nan", (term, weight))
            total = term if total is None else total + term
        found = methods.reshape(total, (*image.shape[:2], *counts))
        return result(methods.cast(found, dtype, name))


class _Sampler:
    """An image, and what lies outside of it."""

    def __init__(self, image: Any, outside: Outside, align_corners: bool) -> None:
        self.image, self.outside, self.align = image, outside, align_corners
        self.sizes = image.type.shape[2:]
        self.flat = methods.reshape(image, (*image.type.shape[:2], product(self.sizes)))

    def _size(self, axis: int) -> Any:
        """A size in the image's dtype, as an int or a scalar tensor."""
        size = self.sizes[axis]
        return (
            sizes.value(self.image.graph, size, self.image.type.dtype)
            if isinstance(size, Dim)
            else size
        )

    def neighbours(self, at: Any, axis: int, mode: SampleMode) -> list[tuple[Any, Any]]:
        """The elements that count along an axis, with their weights; None is 1.

        at: coordinates from -1 to 1.
        """
        n = self._size(axis)
        place = (at + 1.0) * ((n - 1) * 0.5) if self.align else ((at + 1.0) * n - 1.0) * 0.5
        if mode == "bicubic":
            low = build("floor", (place,))
            weights = cubic_weights(place - low)
            return [
                (self._inside(low + (k - 1.0), axis), weight) for k, weight in enumerate(weights)
            ]
        place = self._inside(place, axis)
        if mode == "nearest":
            return [(build("round", (place,)), None)]
        low = build("floor", (place,))
        share = place - low
        return [(low, 1.0 - share), (low + 1.0, share)]

    def _inside(self, place: Any, axis: int) -> Any:
        """The coordinate at the border or mirrored, if that is what lies outside."""
        if self.outside == "zeros":
            return place
        last = self._size(axis) - 1.0
        if self.outside == "reflection":
            place = _mirrored(place, last, self.align)
        return build("clip", (place, place.coerce(0.0), place.coerce(last)))

    def at(self, places: list[Any]) -> Any:
        """The elements at whole coordinates, 0 outside of the image."""
        index: Any = None
        inside: Any = None
        for axis, place in enumerate(places):
            last = self._size(axis) - 1.0
            low, high = place.coerce(0.0), place.coerce(last)
            if self.outside == "zeros":
                here = build(
                    "logical_and",
                    (build("greater_equal", (place, low)), build("less_equal", (place, high))),
                )
                inside = here if inside is None else build("logical_and", (inside, here))
            # A linear neighbour behind the last element has weight 0.
            held = build("clip", (place, low, high)).astype(INT64)
            size = self.sizes[axis]
            pitch = sizes.value(self.image.graph, size, INT64) if isinstance(size, Dim) else size
            index = held if index is None else index * pitch + held
        # A coordinate that is NaN has no place; its weight is NaN.
        index = build("maximum", (index, index.coerce(0)))
        found = build("take_along_axis", (self.flat, index), {"axis": 2})
        return found if inside is None else build("where", (inside, found, found.coerce(0.0)))


def _mirrored(place: Any, last: Any, align: bool) -> Any:
    """The coordinate with the image mirrored at its edges, again and again."""
    low, span = (0.0, last) if align else (-0.5, last + 1.0)
    # One element alone is everywhere; what is clipped later does not matter here.
    span = (
        build("maximum", (span, span.coerce(1.0))) if isinstance(span, Tensor) else max(span, 1.0)
    )
    distance = build("abs", (place - low,))
    turns = build("floor", (distance / span,))
    rest = distance - turns * span
    even = build("equal", (turns % 2.0, turns.coerce(0.0)))
    return build("where", (even, rest + low, (span + low) - rest))


# ------------------------------------------------------------------ grids


def affine_grid(
    theta: Operand, size: Any, align_corners: bool = False, *, name: str | None = None
) -> Tensor:
    """The grid for `grid_sample` that an affine map of the image makes.

    theta: floats, (batch, k, k + 1), k spatial axes: the map of coordinates, that of the last
    axis first.  size: (batch, channels, *sizes) of the result of grid_sample.
    Returns (batch, *sizes, k).

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     grid = sad.nn.affine_grid(np.eye(2, 3, dtype="float32")[None], (1, 1, 2, 2))
    >>> sad.Session(graph).run(grid[0, :, :, 0])
    array([[-0.5,  0.5],
           [-0.5,  0.5]], dtype=float32)
    """
    with asking("affine_grid", name):
        maps = tensor("affine_grid", theta)
        shape = dimensions.shape_of(size)
        rank = len(shape) - 2
        if maps.type.kind not in FLOATING:
            raise DTypeError("not floating", expected="floats", found=maps.describe())
        fits = (
            rank >= 1
            and maps.ndim == 3
            and all(
                dims.same_size(have, want) is not False
                for have, want in zip(maps.shape, (shape[0], rank, rank + 1), strict=True)
            )
        )
        if not fits:
            raise ShapeError(
                "theta is not an affine map of such an image",
                expected="(batch, k, k + 1), for a size (batch, channels, and k sizes)",
                found=f"{maps.describe()} for {size!r}",
            )
        area = shape[2:]
        columns = [
            methods.reshape(
                _spread(_coordinates(maps, area[a], flag("align_corners", align_corners)), a, area),
                (-1, 1),
            )
            for a in reversed(range(rank))
        ]
        one = build("broadcast_to", (maps.coerce(1.0),), {"shape": (product(area), 1)})
        base = build("concat", (*columns, one), {"axis": 1})
        found = build("matmul", (base, methods.matrix_transpose(maps)))
        return result(methods.reshape(found, (maps.shape[0], *area, rank), name))


def _coordinates(like: Any, n: Size, align: bool) -> Any:
    """n coordinates from -1 to 1: at the middles of the outermost elements, or within edges."""
    at = like.graph.source("iota", {"shape": (n,), "axis": 0, "dtype": like.type.dtype})
    if not isinstance(n, Dim):
        if not align:
            return (at * 2.0 + 1.0) / max(n, 1) - 1.0
        return at * (2.0 / (n - 1)) - 1.0 if n > 1 else at * 0.0
    count = sizes.value(like.graph, n, like.type.dtype)
    if not align:
        return (at * 2.0 + 1.0) / count - 1.0
    single = build("equal", (count, count.coerce(1.0)))
    spread = at * (2.0 / build("maximum", (count - 1.0, count.coerce(1.0)))) - 1.0
    return build("where", (single, at, spread))


def _spread(along: Any, axis: int, area: tuple[Size, ...]) -> Any:
    """Coordinates along one axis, repeated along the others."""
    shape = [1] * len(area)
    one = methods.reshape(along, (*shape[:axis], area[axis], *shape[axis + 1 :]))
    return build("broadcast_to", (one,), {"shape": area})
