"""Softmax and what is made with it: elements along an axis, weighed against each other."""

from __future__ import annotations

from typing import Any

from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT32, FLOAT64

from .. import dimensions, operands, random
from ..building import build, part, renamed
from ..graph import Graph
from ..operands import Operand, graph_of, result, tensor
from ..options import flag, number
from ..tensor import Tensor
from .floats import float_tensor, wide_dtype

# The least normal number.
_TINY = {FLOAT32: 2.0**-126, FLOAT64: 2.0**-1022}

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


def softmax(
    x: Operand, /, axis: int = -1, *, where: Operand | None = None, name: str | None = None
) -> Tensor:
    """exp(x) over its sum along `axis`; where all of x is -inf: NaN.

    x: floats.  Returns a tensor of its shape and dtype; along the axis, the sum is 1.
    where: bools that broadcast with x.  Elements where it is false are 0 and have no part in the
    others, even if they are NaN; where it is false along the whole axis, all are 0, and so is
    their gradient.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.softmax([0.0, 0.0, np.log(2.0)])
    ...     z = sad.nn.softmax([[0.0, np.nan], [1.0, 2.0]], where=[[True, False], [False, False]])
    >>> sad.Session(graph).run(y).round(3)
    array([0.25, 0.25, 0.5 ], dtype=float32)
    >>> sad.Session(graph).run(z)
    array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    with asking("softmax", name):
        if where is None:
            return _along("softmax", tensor("softmax", x), axis, name)
        graph = graph_of("softmax", x, where)
        value = tensor("softmax", x, graph)
        keep = operands.condition("softmax", where, graph)
        rank = value.ndim if value.ndim > keep.ndim else keep.ndim
        attributes = {"axis": dimensions.axis_of(axis, rank)}
        return result(build("masked_softmax", (value, keep), attributes, label=name))


def log_softmax(x: Operand, /, axis: int = -1, *, name: str | None = None) -> Tensor:
    """The logarithm of softmax, without overflow; where all of x is -inf: NaN.

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.log_softmax([0.0, 1000.0])
    >>> sad.Session(graph).run(y)
    array([-1000.,     0.], dtype=float32)
    """
    with asking("log_softmax", name):
        return _along("log_softmax", tensor("log_softmax", x), axis, name)


def softmin(x: Operand, /, axis: int = -1, *, name: str | None = None) -> Tensor:
    """softmax of -x: the smallest element has the largest share.

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.softmin([0.0, np.log(3.0)])
    >>> sad.Session(graph).run(y).round(3)
    array([0.75, 0.25], dtype=float32)
    """
    with asking("softmin", name):
        return _along("softmax", -float_tensor("softmin", x), axis, name)


def gumbel_softmax(
    logits: Operand,
    /,
    *,
    temperature: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """A random choice along `axis`, relaxed so that it has a gradient (Jang et al. 2016).

    softmax((logits + noise) / temperature), where the noise is drawn from Gumbel's distribution:
    the largest element is class k with probability softmax(logits)[k].
    logits: floats.  hard: 1 at the largest and 0 elsewhere, with the gradient of the soft result.
    Raises ArgumentError for a temperature that is not above 0.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.nn.gumbel_softmax(sad.zeros((5, 3)), hard=True)
    >>> sad.Session(graph).run(y).sum(axis=1)
    array([1., 1., 1., 1., 1.], dtype=float32)
    """
    with asking("gumbel_softmax", name):
        sharpness = 1 / number("temperature", temperature, above=0)
        value = float_tensor("gumbel_softmax", logits)
        place = dimensions.axis_of(axis, value.ndim)
        graph = value.graph
        assert isinstance(graph, Graph)
        working = wide_dtype(value.dtype)
        with graph:
            label = part(name, "uniform")
            u = random.uniform(value.shape, dtype=working, name=label)
        # Without the 0, whose noise is -inf: that of all classes could be.
        positive = build("maximum", (u, u.coerce(_TINY[working])))
        noise = -_log(-_log(positive))
        scores = (value.astype(working) + noise) * sharpness
        soft: Any = build("softmax", (scores,), {"axis": place}).astype(value.dtype)
        if not flag("hard", hard):
            return result(renamed(soft, name))
        best = build("argmax", (soft,), {"axis": place, "keepdims": False})
        attributes = {"depth": value.shape[place], "dtype": value.dtype}
        chosen: Any = build("one_hot", (best,), attributes)
        if place != value.ndim - 1:
            order = (*range(place), value.ndim - 1, *range(place, value.ndim - 1))
            chosen = build("permute_dims", (chosen,), {"axes": order})
        # soft - soft is 0, but for its gradient.
        through = soft - build("stop_gradient", (soft,))
        return result(build("add", (chosen, through), label=name))


def _log(x: Any) -> Any:
    return build("log", (x,))


def _along(op: str, value: Handle, axis: int, name: str | None) -> Tensor:
    attributes = {"axis": dimensions.axis_of(axis, value.type.ndim)}
    return result(build(op, (value,), attributes, label=name))
