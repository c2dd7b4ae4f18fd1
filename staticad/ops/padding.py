"""Elements put around a tensor: a constant, or its own, repeated or mirrored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from staticad_schema.dims import Dim, Size
from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.sites import asking
from staticad_schema.types import BOOL, INT64

from .. import dimensions, sizes
from ..building import build, renamed
from ..index_parts import reshaped
from ..numbers import stored
from ..operands import Operand, result, tensor
from ..options import choice
from ..tensor import Tensor

PadMode = Literal["constant", "reflect", "symmetric", "edge", "wrap"]
Widths = tuple[tuple[Size, Size], ...]

ELSEWHERE = {
    "replicate": "it is called 'edge' here",
    "circular": "it is called 'wrap' here",
    "periodic": "it is called 'wrap' here",
    "mirror": "it is called 'reflect' here",
}
"""What other libraries call the modes."""


def pad(
    x: Operand,
    /,
    widths: Any,
    mode: PadMode = "constant",
    *,
    value: Operand = 0.0,
    name: str | None = None,
) -> Tensor:
    """x with elements around it, as many as `widths` says: a number, a (before, after), a list of
    one such an axis, or a dictionary of them by axis.  A negative number crops.

    mode: "constant" puts `value`, a number or a scalar tensor; "edge" repeats the elements at the
    ends, "wrap" continues at the other end, "reflect" mirrors at the elements at the ends,
    "symmetric" behind them, all of them as often as it takes.  As `numpy.pad`.
    Raises ShapeError for widths that do not fit, or where an axis without elements is to be
    continued.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.pad([1.0, 2.0], (1, 2), value=-1.0)
    ...     z = sad.pad([1.0, 2.0, 3.0], 2, "reflect")
    >>> session = sad.Session(graph)
    >>> session.run(y)
    array([-1.,  1.,  2., -1., -1.], dtype=float32)
    >>> session.run(z)
    array([3., 2., 1., 2., 3., 2., 1.], dtype=float32)
    """
    with asking("pad", name):
        inner = tensor("pad", x)
        choice("mode", mode, get_args(PadMode), ELSEWHERE)
        pairs = _widths(widths, inner.ndim)
        _check_crops(inner, pairs)
        if mode == "constant":
            return result(renamed(_with_constant(inner, pairs, value), name))
        padded: Any = inner
        for axis, (low, high) in enumerate(pairs):
            if (low, high) != (0, 0):
                positions = _continued(padded, axis, low, high, PLACES[mode])
                padded = build("take", (padded, positions), {"axis": axis})
        return result(renamed(padded, name))


# ------------------------------------------------------------------ widths


def _widths(widths: Any, ndim: int) -> Widths:
    """(before, after) of each axis.  Raises GraphError."""
    if isinstance(widths, np.ndarray):
        widths = widths.tolist()
    if isinstance(widths, dict):
        pairs: list[tuple[Size, Size]] = [(0, 0)] * ndim
        for axis, width in widths.items():
            pairs[dimensions.axis_of(axis, ndim)] = _pair(width)
        return tuple(pairs)
    if not isinstance(widths, tuple | list):
        return (_pair(widths),) * ndim
    if widths and not any(isinstance(w, tuple | list) for w in widths):
        if len(widths) in (1, 2):
            return (_pair(widths),) * ndim
    elif len(widths) == ndim:
        return tuple(map(_pair, widths))
    elif len(widths) == 1:
        return (_pair(widths[0]),) * ndim
    raise ShapeError("not one (before, after) an axis", expected=f"{ndim} pairs", found=str(widths))


def _pair(width: Any) -> tuple[Size, Size]:
    if not isinstance(width, tuple | list):
        return (_width(width),) * 2
    if len(width) not in (1, 2):
        raise ShapeError(
            "not a (before, after)", expected="a number or two", found=f"{width!r:.80}"
        )
    return _width(width[0]), _width(width[-1])


def _width(width: Any) -> Size:
    if isinstance(width, int | np.integer) and not isinstance(width, bool):
        return dimensions.integer(width)
    return dimensions.size(width)


def _check_crops(x: Tensor, widths: Widths) -> None:
    for axis, (size, pair) in enumerate(zip(x.shape, widths, strict=True)):
        crop = sum(-w for w in pair if isinstance(w, int) and w < 0)
        if isinstance(size, int) and crop > size:
            raise ShapeError(
                "more is cropped than there is",
                expected=f"at most {size} elements less on axis {axis}",
                found=f"widths {pair} for {x.describe()}",
            )


# ------------------------------------------------------------------ a constant


def _with_constant(x: Tensor, widths: Widths, value: Any) -> Any:
    """x cropped, then with `value` around it."""
    inner = _cropped(x, widths)
    around = tuple((_positive(low), _positive(high)) for low, high in widths)
    plain = _plain(value)
    if plain is not None:
        return build("pad", (inner,), {"widths": around, "value": plain})
    fill = stored(inner, value)
    if fill.type.ndim:
        raise ShapeError(
            "the value around is not one number", expected="a scalar", found=fill.describe()
        )
    # What the op's attribute does not hold: a tensor, a complex number, a large integer.
    blank = build("pad", (inner,), {"widths": around, "value": 0.0})
    yes = x.graph.handle(x.graph.scalar(True, BOOL))
    inside = build("broadcast_to", (yes,), {"shape": inner.type.shape})
    inside = build("pad", (inside,), {"widths": around, "value": 0.0})
    return build("where", (inside, blank, fill))


def _positive(width: Size) -> Size:
    return max(width, 0) if isinstance(width, int) else width


def _plain(value: Any) -> float | None:
    """The value as a float, if that is exact."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Handle):
        return None
    if not isinstance(value, WEAK):
        raise UsageError(
            "not a value to pad with",
            expected="a number or a scalar tensor",
            found=f"{value!r:.80}",
        )
    if isinstance(value, complex) or (isinstance(value, int) and abs(value) > 2**53):
        return None
    return float(value)


def _cropped(x: Tensor, widths: Widths) -> Any:
    """x without what negative widths take away."""
    slices: list[tuple[Size | None, Size | None, int]] = []
    shape: list[Size] = []
    for size, (low, high) in zip(x.shape, widths, strict=True):
        first = -low if isinstance(low, int) and low < 0 else 0
        less = -high if isinstance(high, int) and high < 0 else 0
        slices.append((first, size - less, 1) if first or less else (None, None, 1))
        shape.append(size - first - less)
    if all(bounds == (None, None, 1) for bounds in slices):
        return x
    # The shape says that there is as much: a run in which there is not, fails.
    return reshaped(build("slice", (x,), {"slices": tuple(slices)}), tuple(shape))


# ------------------------------------------------------------------ x's own elements

SHORT = 1 << 12
"""Positions on an axis of so many elements are constants, on others they are computed."""

# The position on an axis of size n of what stands at position p of the axis without ends, p and n
# being arrays or tensors.
Place = Callable[[Any, Any], Any]


def _least(a: Any, b: Any) -> Any:
    return build("minimum", (a, b)) if isinstance(a, Handle) else np.minimum(a, b)


def _most(a: Any, b: Any) -> Any:
    return build("maximum", (a, b)) if isinstance(a, Handle) else np.maximum(a, b)


def _reflected(p: Any, n: Any) -> Any:
    period = _most(2 * n - 2, 1)
    q = p % period
    return _least(q, period - q)


def _mirrored(p: Any, n: Any) -> Any:
    q = p % (2 * n)
    return _least(q, 2 * n - 1 - q)


PLACES: dict[str, Place] = {
    "edge": lambda p, n: _least(_most(p, 0), n - 1),
    "wrap": lambda p, n: p % n,
    "reflect": _reflected,
    "symmetric": _mirrored,
}


def _continued(x: Any, axis: int, low: Size, high: Size, place: Place) -> Any:
    """Where on an axis the elements of the padded axis stand."""
    size = x.type.shape[axis]
    if size == 0 and (low + high) != 0:
        raise ShapeError(
            "an axis without elements is to be continued",
            expected=f"elements on axis {axis}, or mode 'constant'",
            found=x.describe(),
        )
    graph = x.graph
    length = size + low + high
    # Constants are for short axes: a file should not grow with images.
    if isinstance(low, int) and isinstance(length, int) and length <= SHORT:
        at = np.arange(-low, size + high, dtype=np.int64)
        return graph.constant(np.asarray(place(at, size), np.int64))
    count = graph.source("iota", {"shape": (length,), "axis": 0, "dtype": INT64})
    start, n = (
        sizes.value(graph, s, INT64) if isinstance(s, Dim) else graph.handle(graph.scalar(s, INT64))
        for s in (low, size)
    )
    # An axis that turns out empty has no position at all, which `take` says.
    return place(count - start, build("maximum", (n, 1)))
