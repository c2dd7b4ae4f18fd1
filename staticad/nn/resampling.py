"""Images of other sizes: interpolation between elements, channels that become pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.dims import Dim, Shape, Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64, INEXACT, INT64

from .. import dimensions, methods, numbers, sizes
from ..building import build, renamed
from ..operands import Operand, result, tensor
from ..options import flag
from ..tensor import Tensor
from .adaptive_pooling import adaptive_mean
from .spatial import any_image

Mode = Literal[
    "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "cubic", "bicubic", "area"
]

_RANKS = {"bilinear": 2, "trilinear": 3, "bicubic": 2}


def interpolate(
    x: Operand,
    size: Any = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: Mode = "nearest",
    align_corners: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """x with other spatial sizes, each axis interpolated by itself.

    x: (batch, channels, *sizes), floats; of any dtype for the nearest modes.  size: the spatial
    sizes, one for all axes or one each; or scale_factor: what to multiply them by, rounded down.
    mode: "nearest" (the element that the new one begins in), "nearest-exact" (that its middle
    lies in), "linear" or "cubic" (the kernel with a = -0.75; the edges repeat), also named by the
    number of axes, or "area" (means, as `adaptive_avg_pool2d`).  align_corners: the outermost
    elements stay at the edges, for the linear and cubic modes.  Elements of weight 0 do not
    matter, also infinite ones.  The definitions are PyTorch's.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.interpolate([[[0.0, 4.0]]], 4, mode="linear")
    >>> sad.Session(graph).run(y)
    array([[[0., 1., 3., 4.]]], dtype=float32)
    """
    with asking("interpolate", name):
        image = any_image(tensor("interpolate", x))
        rank = image.ndim - 2
        if mode not in get_args(Mode) or _RANKS.get(mode, rank) != rank:
            raise ArgumentError(
                "not a mode of interpolation here",
                expected=", ".join(repr(m) for m in get_args(Mode) if _RANKS.get(m, rank) == rank),
                found=f"{mode!r}, for {rank} spatial axes",
            )
        nearest = mode.startswith("nearest")
        if not nearest and image.type.kind not in INEXACT:
            raise DTypeError(
                f"{mode} interpolation is for floats",
                expected="a floating or complex dtype, or mode 'nearest'",
                found=image.describe(),
                hint="use .astype('float32')",
            )
        if flag("align_corners", align_corners) and (nearest or mode == "area"):
            raise ArgumentError(
                "align_corners has no meaning for this mode",
                expected="a linear or cubic mode",
                found=repr(mode),
            )
        target, scales = _target(image, size, scale_factor)
        for have, want in zip(image.shape[2:], target, strict=True):
            if have == 0 and want != 0:
                raise ShapeError(
                    "there is nothing to interpolate",
                    expected="at least one element",
                    found=image.describe(),
                )
        if mode == "area":
            return result(renamed(adaptive_mean(image, target), name))
        if nearest:
            y: Any = image
            for axis, (n, scale) in enumerate(zip(target, scales, strict=True), 2):
                y = _nearest(y, axis, n, scale, mode == "nearest-exact")
            return result(renamed(y, name))
        rule = _cubic if "cubic" in mode else _linear
        y = methods.widened(image)
        for axis, (n, scale) in enumerate(zip(target, scales, strict=True), 2):
            y = rule(y, axis, _sources(y, axis, n, scale, align_corners))
        return result(methods.cast(y, image.dtype, name))


def _target(image: Tensor, size: Any, scale_factor: Any) -> tuple[Shape, list[float | None]]:
    """The new spatial sizes, and by what those are scaled that are given so."""
    rank = image.ndim - 2
    if (size is None) == (scale_factor is None):
        raise UsageError(
            "not one of size and scale_factor",
            expected="one of them",
            found="both" if size is not None else "neither",
        )
    if size is not None:
        several = size if isinstance(size, tuple | list) else (size,) * rank
        target = dimensions.shape_of(several)
        scales: list[float | None] = [None] * rank
    else:
        several = scale_factor if isinstance(scale_factor, tuple | list) else (scale_factor,) * rank
        scales = [numbers.real("scale_factor", s) for s in several]
        if not all(s is not None and 0 < s < float("inf") for s in scales):
            raise ArgumentError(
                "a scale factor is not positive", expected="above 0", found=repr(scale_factor)
            )
        target = tuple(
            _scaled(n, float(s or 0)) for n, s in zip(image.shape[2:], scales, strict=False)
        )
    if len(several) != rank:
        raise ArgumentError(
            "not one size or scale factor a spatial axis",
            expected=f"one, or {rank}",
            found=repr(several),
        )
    return target, scales


def _scaled(size: Size, scale: float) -> Size:
    if isinstance(size, int):
        return int(size * scale)
    # A float as a fraction of small integers, such as 1.5 and 1/3, scales symbolic sizes too.
    for denominator in range(1, 65):
        numerator = round(scale * denominator)
        if numerator and numerator / denominator == scale:
            return dims.floordiv(size * numerator, denominator)
    raise ShapeError(
        "a symbolic size cannot be scaled by this factor",
        expected="a fraction of whole numbers up to 64, or a known size",
        found=f"{scale} times {size}",
    )


def _count(x: Any, n: Size) -> Any:
    """0, 1, ... n - 1 as int64."""
    return x.graph.source("iota", {"shape": (n,), "axis": 0, "dtype": INT64})


def _number(x: Any, size: Size, dtype: Any = FLOAT64) -> Any:
    """A size as something to compute with: an int, or a scalar tensor."""
    return sizes.value(x.graph, size, dtype) if isinstance(size, Dim) else size


def _nearest(x: Any, axis: int, n: Size, scale: float | None, middle: bool) -> Any:
    size = x.type.shape[axis]
    if n == size and scale in (None, 1.0):
        return x
    times = None if size == 0 else dims.divide_exactly(n, size)
    if isinstance(times, int) and times > 0 and scale in (None, times):
        # Whole multiples repeat elements, whose gradients are sums.
        lead, rest = x.type.shape[:axis], x.type.shape[axis + 1 :]
        single = methods.reshape(x, (*lead, size, 1, *rest))
        wide = build("broadcast_to", (single,), {"shape": (*lead, size, times, *rest)})
        return methods.reshape(wide, (*lead, n, *rest))
    count, last = _count(x, n), _number(x, size, INT64) - 1
    if scale is None:
        have, want = _number(x, size, INT64), _number(x, n, INT64)
        at = (2 * count + 1) * have // (2 * want) if middle else count * have // want
    else:
        begin = count.astype(FLOAT64)
        at = build("floor", ((begin + 0.5 if middle else begin) * (1.0 / scale),)).astype(INT64)
    return build("take", (x, build("minimum", (at, at.coerce(last)))), {"axis": axis})


def _sources(x: Any, axis: int, n: Size, scale: float | None, align_corners: bool) -> Any:
    """Where on an axis each new element lies, in float64."""
    count, size = _count(x, n).astype(FLOAT64), x.type.shape[axis]
    have, want = _number(x, size), _number(x, n)
    if align_corners:
        if isinstance(want, int):
            return count * ((have - 1) / (want - 1) if want > 1 else 0.0)
        # One element alone lies at the start.
        return count * ((have - 1) / build("maximum", (want - 1, want.coerce(1.0))))
    step = have / want if scale is None and n != 0 else 1.0 / (scale or 1.0)
    return (count + 0.5) * step - 0.5


def _weighted(x: Any, axis: int, terms: Sequence[tuple[Any, Any]]) -> Any:
    """The sum of elements at places, times weights; those of weight 0 do not matter."""
    last = _number(x, x.type.shape[axis]) - 1.0
    total = None
    for place, weight in terms:
        inside = build("clip", (place, place.coerce(0.0), place.coerce(last)))
        taken = build("take", (x, inside.astype(INT64)), {"axis": axis})
        shape = (-1, *(1,) * (x.type.ndim - 1 - axis))
        factor = methods.reshape(weight, shape).astype(x.type.dtype)
        term = build("multiply_no_nan", (taken, factor))
        total = term if total is None else total + term
    return total


def _linear(x: Any, axis: int, source: Any) -> Any:
    source = build("maximum", (source, source.coerce(0.0)))
    low = build("floor", (source,))
    share = source - low
    return _weighted(x, axis, [(low, 1.0 - share), (low + 1.0, share)])


def _cubic(x: Any, axis: int, source: Any) -> Any:
    low = build("floor", (source,))
    weights = cubic_weights(source - low)
    return _weighted(x, axis, [(low + (k - 1.0), w) for k, w in enumerate(weights)])


def cubic_weights(share: Any) -> list[Any]:
    """The weights of four neighbours in a row, for a point at `share` between the inner two.

    Keys 1981, with a = -0.75.
    """
    a, other = -0.75, 1.0 - share

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1.0

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(share + 1.0), near(share), near(other), far(other + 1.0)]


# ------------------------------------------------------------------ channels and pixels


def pixel_shuffle(x: Operand, /, factor: int, *, name: str | None = None) -> Tensor:
    """Channels as pixels: (batch, channels r^k, *sizes) to (batch, channels, *sizes times r).

    x: any dtype, with k spatial axes.  factor: r.  Element (c r^2 + i r + j, y, x) of an image goes
    to (c, y r + i, x r + j) (Shi et al. 2016).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.pixel_shuffle([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]], 2)
    >>> sad.Session(graph).run(y)
    array([[[[1., 2.],
             [3., 4.]]]], dtype=float32)
    """
    with asking("pixel_shuffle", name):
        image = any_image(tensor("pixel_shuffle", x))
        r, rank = _factor(factor), image.ndim - 2
        batch, channels, *rest = image.shape
        fewer = _divided(channels, r**rank, image)
        split = methods.reshape(image, (batch, fewer, *(r,) * rank, *rest))
        order = [0, 1]
        for a in range(rank):
            order += [2 + rank + a, 2 + a]
        moved = methods.permute(split, tuple(order))
        return result(methods.reshape(moved, (batch, fewer, *(n * r for n in rest)), name))


def pixel_unshuffle(x: Operand, /, factor: int, *, name: str | None = None) -> Tensor:
    """Pixels as channels: what undoes `pixel_shuffle`.

    x: (batch, channels, *sizes) of any dtype, with sizes that are multiples of `factor`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.nn.pixel_unshuffle(sad.zeros((8, 3, 32, 32)), 4)
    >>> y.shape
    (8, 48, 8, 8)
    """
    with asking("pixel_unshuffle", name):
        image = any_image(tensor("pixel_unshuffle", x))
        r, rank = _factor(factor), image.ndim - 2
        batch, channels, *rest = image.shape
        smaller = [_divided(n, r, image) for n in rest]
        pairs = [size for n in smaller for size in (n, r)]
        split = methods.reshape(image, (batch, channels, *pairs))
        order = (0, 1, *(3 + 2 * a for a in range(rank)), *(2 + 2 * a for a in range(rank)))
        moved = methods.permute(split, order)
        return result(methods.reshape(moved, (batch, channels * r**rank, *smaller), name))


def _factor(factor: Any) -> int:
    r = dimensions.integer(factor)
    if r < 1:
        raise ArgumentError("the factor is below 1", expected="1 or more", found=str(r))
    return r


def _divided(size: Size, by: int, image: Tensor) -> Size:
    if isinstance(size, int) and size % by:
        raise ShapeError(
            "a size is not a multiple of the factor",
            expected=f"a multiple of {by}",
            found=f"{size} in {image.describe()}",
        )
    return dims.floordiv(size, by)
