"""Gradients kept from being too large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from staticad_schema.errors import ArgumentError, DTypeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT32, INEXACT, REAL_OF, WIDENED

from ..building import build, renamed
from ..numbers import real
from ..operands import result
from ..ops.elementwise import isinf
from ..ops.joining import stack
from ..ops.selection import clip, where
from ..tensor import Tensor
from .options import positive


def norm(x: Tensor) -> Tensor:
    """The 2-norm of all elements, of a real dtype of at least 32 bits."""
    wide = x.astype(WIDENED.get(x.dtype, x.dtype))
    return result(build("norm", (wide,), {"axis": tuple(range(x.ndim)), "keepdims": False}))


def global_norm(cotangents: Sequence[Tensor], *, name: str | None = None) -> Tensor:
    """The 2-norm of all elements of all tensors, as if they were one vector.

    cotangents: tensors of inexact dtypes.  The result is float32, or float64 if one of them is
    a float64 or complex128; it does not overflow before the norm itself does.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     length = sad.optimizers.global_norm([sad.constant([3.0, 0.0]), sad.constant(4.0)])
    >>> sad.Session(graph).run(length)
    array(5., dtype=float32)
    """
    with asking("global_norm", name):
        norms = [norm(g) for g in _gradients(cotangents)]
        widest = np.result_type(*(n.dtype for n in norms))
        lengths = [n.astype(widest) for n in norms]
        return result(renamed(norm(stack(lengths)) if len(lengths) > 1 else lengths[0], name))


@overload
def clip_by_value(cotangents: Tensor, low: float, high: float) -> Tensor: ...
@overload
def clip_by_value(cotangents: Sequence[Tensor], low: float, high: float) -> list[Tensor]: ...
def clip_by_value(cotangents: Tensor | Sequence[Tensor], low: float, high: float) -> Any:
    """Each element of each tensor brought between `low` and `high`; NaN stays.

    cotangents: a list of tensors, for a list; or a tensor, for a tensor.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     clipped = sad.optimizers.clip_by_value([sad.constant([3.0, -0.5])], -1.0, 1.0)
    >>> sad.Session(graph).run(clipped)
    [array([ 1. , -0.5], dtype=float32)]
    """
    with asking("clip_by_value"):
        bounds = real("low", low), real("high", high)
        if not bounds[0] <= bounds[1]:
            raise ArgumentError(
                "the bounds are out of order", expected="low <= high", found=f"{low!r} and {high!r}"
            )
        return _each(cotangents, lambda g: result(clip(g, *bounds)))


@overload
def clip_by_norm(cotangents: Tensor, limit: float) -> Tensor: ...
@overload
def clip_by_norm(cotangents: Sequence[Tensor], limit: float) -> list[Tensor]: ...
def clip_by_norm(cotangents: Tensor | Sequence[Tensor], limit: float) -> Any:
    """Each tensor scaled down so that its own 2-norm is at most `limit`.

    cotangents: a list of tensors, for a list; or a tensor, for a tensor.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     given = [sad.constant([3.0, 4.0]), sad.constant([0.5, 0.0])]
    ...     clipped = sad.optimizers.clip_by_norm(given, 1.0)
    >>> sad.Session(graph).run(clipped)
    [array([0.6, 0.8], dtype=float32), array([0.5, 0. ], dtype=float32)]
    """
    with asking("clip_by_norm"):
        bound = positive("limit", limit)
        return _each(cotangents, lambda g: _scaled(g, _shrinking(norm(g), bound)))


def clip_by_global_norm(cotangents: Sequence[Tensor], limit: float) -> list[Tensor]:
    """All tensors scaled down by one factor so that their global norm is at most `limit`.

    Gradients of 0 stay 0.  If the norm is not finite, no result is meant: NaN (Pascanu et al.
    2013 for the factor).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable([3.0, 4.0], name="w")
    ...     train = sad.optimizers.SGD(1.0).minimize(
    ...         sad.sum(w * w), transform=lambda gs: sad.optimizers.clip_by_global_norm(gs, 5.0)
    ...     )
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"]
    array([0., 0.], dtype=float32)
    """
    with asking("clip_by_global_norm"):
        bound = positive("limit", limit)
        given = _gradients(cotangents)
        factor = _shrinking(global_norm(given), bound)
        return [_scaled(g, factor) for g in given]


def _each(cotangents: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The change of each tensor, or of the only one."""
    if isinstance(cotangents, Tensor):
        return change(_gradients([cotangents])[0])
    return [change(g) for g in _gradients(cotangents)]


def _shrinking(length: Any, bound: float) -> Any:
    """bound / length where that is below 1, else 1; NaN where the length is not finite."""
    return where(length <= bound, 1.0, bound / where(isinf(length), np.nan, length))


def _scaled(g: Tensor, factor: Any) -> Tensor:
    # In the factor's dtype: a factor may vanish in float16 where the product does not.
    if g.dtype in WIDENED:
        return result((g.astype(FLOAT32) * factor.astype(FLOAT32)).astype(g.dtype))
    return result(g * factor.astype(REAL_OF.get(g.dtype, g.dtype)).astype(g.dtype))


def _gradients(cotangents: Any) -> list[Tensor]:
    """Tensors of inexact dtypes, at least one.  Raises UsageError, DTypeError."""
    if not isinstance(cotangents, list | tuple) or not cotangents:
        raise UsageError(
            "not a list of gradients",
            expected="a list of tensors, at least one",
            found=f"{cotangents!r:.80}, a {type(cotangents).__name__}",
            hint="write [gradient]" if isinstance(cotangents, Handle) else None,
        )
    for g in cotangents:
        if not isinstance(g, Tensor):
            raise UsageError(
                "a gradient is no tensor",
                expected="a list of tensors",
                found=f"{g!r:.80}, a {type(g).__name__}",
                hint="leave out the variables whose gradient is None" if g is None else None,
            )
        if g.type.kind not in INEXACT:
            raise DTypeError(
                "not a gradient", expected="a floating or complex dtype", found=g.describe()
            )
    return list(cotangents)
