"""Terms of entropies, and sums of exponentials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema.handle import floating
from staticad_schema.ops.checks import check_kind
from staticad_schema.shapes import product
from staticad_schema.sites import asking
from staticad_schema.types import FLOATING

from .. import dimensions, methods
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result, tensor, tensors
from ..tensor import Tensor
from .functions import applied


def xlogy(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x log(y), and 0 where x is 0, whatever number y is.

    x, y: floats that broadcast; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.xlogy([0.0, 2.0], [0.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 2.197], dtype=float32)
    """
    return applied("xlogy", "xlogy", x, y, name=name)


def xlog1py(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x log(1 + y), accurate for small y, and 0 where x is 0, whatever number y is.

    x, y: floats that broadcast; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.xlog1py([0.0, 2.0], [-1.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 2.773], dtype=float32)
    """
    return applied("xlog1py", "xlog1py", x, y, name=name)


def entr(x: Operand, /, *, name: str | None = None) -> Tensor:
    """-x log(x); 0 at 0, -inf below, with derivative inf and 0 there.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.entr([-1.0, 0.0, 0.5])
    >>> sad.Session(graph).run(y).round(3)
    array([ -inf, 0.   , 0.347], dtype=float32)
    """
    return applied("entr", "entr", x, name=name)


def rel_entr(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x log(x / y); 0 where x is 0 and y at least 0; else inf unless both are positive.

    x, y: floats that broadcast; integers become float32.  Where it is inf for another reason than
    a y of 0, and everywhere else it is constant, the derivative is 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.rel_entr([0.0, 0.5, 0.5], [0.5, 0.25, 0.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 0.347,   inf], dtype=float32)
    """
    return applied("rel_entr", "rel_entr", x, y, name=name)


def kl_div(x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x log(x / y) - x + y; y where x is 0 and y at least 0; else inf unless both are positive.

    x, y: floats that broadcast; integers become float32.  It keeps its digits where x and y are
    nearly equal.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.kl_div([0.0, 0.5, 0.5], [0.5, 0.25, 0.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.5  , 0.097,   inf], dtype=float32)
    """
    return applied("kl_div", "kl_div", x, y, name=name)


def logsumexp(
    a: Operand,
    /,
    axis: Axis = None,
    b: Operand | None = None,
    keepdims: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """log(sum(b exp(a))) without overflow, over all elements or along axes.

    a: floats; integers become float32.  b: weights that broadcast with a, by default 1; where the
    weighted sum is negative the result is NaN.  axis, keepdims: as in `sad.sum`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.logsumexp([1000.0, 1000.0], b=[0.5, 1.5])
    >>> sad.Session(graph).run(y).round(3)
    np.float32(1000.693)
    """
    with asking("logsumexp", name):
        if b is None:
            (value,) = floating(tensor("logsumexp", a))
            return result(methods.reduce("logsumexp", value, axis, keepdims, name))
        value, weights = floating(*tensors("logsumexp", a, b))
        check_kind(FLOATING, value.type)
        return result(
            methods.computed(
                lambda x, w: _weighted(x, w, axis, keepdims), value, weights, label=name
            )
        )


def _weighted(x: Any, w: Any, axis: Axis, keepdims: bool) -> Any:
    without = build("equal", (w, 0.0))
    counted = build("where", (without, x.coerce(-math.inf), x))
    if any(counted.type.shape[k] == 0 for k in dimensions.axes_of(axis, counted.type.ndim)):
        return methods.reduce("logsumexp", counted, axis, keepdims)
    top = methods.reduce("max", counted, axis, True)
    # Of nothing but -inf the logarithm is that of 0, and does not depend on them.
    nothing, beyond = build("equal", (top, -math.inf)), build("equal", (top, math.inf))
    top = build("where", (build("isfinite", (top,)), top, top.coerce(0.0)))
    top = build("stop_gradient", (top,))
    apart = x - top
    # What has no weight may be far above the others; its exponential is a slope in the weight.
    highest = math.log(np.finfo(x.type.dtype).max) - 1
    apart = build("where", (without, build("minimum", (apart, highest)), apart))
    total = methods.reduce("sum", w * build("exp", (apart,)), axis, True)
    logarithm = build("log", (build("where", (nothing, total.coerce(1.0), total)),))
    found = build("where", (nothing, total.coerce(-math.inf), logarithm + top))
    found = build("where", (beyond, _infinite(counted, w, beyond, axis), found))
    if keepdims:
        return found
    axes = dimensions.axes_of(axis, found.type.ndim)
    kept = tuple(n for k, n in enumerate(found.type.shape) if k not in axes)
    return methods.reshape(found, kept)


def _infinite(x: Any, w: Any, beyond: Any, axis: Axis) -> Any:
    """The weighted sum where some elements are inf: they have its slope, by their weights."""
    there = build("equal", (x, math.inf))
    none = x.coerce(0.0)
    given = build("where", (there, w, none))
    total = methods.reduce("sum", given, axis, True)
    total = build("where", (beyond, total, total.coerce(1.0)))
    share = build("stop_gradient", (given / total,))
    parts = build("where", (there, share * x, none))
    return methods.reduce("sum", parts, axis, True) + build("log", (total,))


def softmax(x: Operand, /, axis: Axis = None, *, name: str | None = None) -> Tensor:
    """exp(x) over its sum: over all elements, or along axes.

    x: floats; integers become float32.  `sad.nn.softmax` is the same along the last axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.softmax([[0.0, 0.0], [0.0, 0.0]])
    >>> sad.Session(graph).run(y)[0]
    array([0.25, 0.25], dtype=float32)
    """
    return _along("softmax", x, axis, name)


def log_softmax(x: Operand, /, axis: Axis = None, *, name: str | None = None) -> Tensor:
    """The logarithm of softmax, without overflow: over all elements, or along axes.

    x: floats; integers become float32.  `sad.nn.log_softmax` is the same along the last axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.log_softmax([0.0, 1000.0])
    >>> sad.Session(graph).run(y)
    array([-1000.,     0.], dtype=float32)
    """
    return _along("log_softmax", x, axis, name)


def _along(op: str, x: Operand, axis: Axis, name: str | None) -> Tensor:
    with asking(op, name):
        (value,) = floating(tensor(op, x))
        rank = value.type.ndim
        axes = dimensions.axes_of(axis, rank)
        if len(axes) == 1:
            return result(build(op, (value,), {"axis": axes[0]}, label=name))
        # The axes become one, the last.
        order = (*(k for k in range(rank) if k not in axes), *axes)
        shape = value.type.shape
        moved = build("permute_dims", (value,), {"axes": order})
        kept = tuple(shape[k] for k in order[: rank - len(axes)])
        flat = methods.reshape(moved, (*kept, product(tuple(shape[k] for k in axes))))
        found = build(op, (flat,), {"axis": len(kept)})
        back = methods.reshape(found, moved.type.shape)
        places = tuple(order.index(k) for k in range(rank))
        return result(build("permute_dims", (back,), {"axes": places}, label=name))
