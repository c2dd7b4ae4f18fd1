"""Dropout: elements, or whole features, that training leaves out at random."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.errors import DTypeError, ShapeError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.sites import asking
from staticad_schema.types import FLOATING

from .. import dimensions, random
from ..building import build, part, renamed
from ..checking import checked
from ..graph import Graph
from ..numbers import is_real
from ..operands import Operand, graph_of, result, tensor
from ..options import number
from ..tensor import Tensor
from .activations import SELU_ALPHA, SELU_SCALE
from .floats import computed, float_tensor
from .training import chosen, switch

__all__ = ["alpha_dropout", "dropout", "feature_dropout"]


def dropout(
    x: Operand, rate: Operand, training: bool | Handle = True, *, name: str | None = None
) -> Tensor:
    """x with elements set to 0 at random and the others divided by 1 - rate; x, if not training.

    x: floats.  rate: the share that is dropped, from 0 to below 1, a number or a scalar tensor.
    training: a bool, or a bool tensor of one element.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     training = sad.placeholder("bool", (), name="training")
    ...     y = sad.nn.dropout(sad.ones(1000), 0.5, training)
    >>> session = sad.Session(graph)
    >>> np.unique(session.run(y, {training: True})), np.unique(session.run(y, {training: False}))
    (array([0., 2.], dtype=float32), array([1.], dtype=float32))
    """
    with asking("dropout", name):
        value = _operand("dropout", x, rate, training)
        return _dropped("dropout", value, rate, training, value.shape, name)


def feature_dropout(
    x: Operand,
    rate: Operand,
    training: bool | Handle = True,
    *,
    axis: int = 1,
    name: str | None = None,
) -> Tensor:
    """dropout of whole features: of each example, all elements of one index along `axis` or none.

    x: floats, whose first axis counts examples; torch calls it dropout1d, 2d or 3d.
    rate, training: as in dropout.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.nn.feature_dropout(sad.ones((1, 4, 2)), 0.5)
    >>> value = sad.Session(graph).run(y)
    >>> bool((value[..., 0] == value[..., 1]).all())
    True
    """
    with asking("feature_dropout", name):
        value = _operand("feature_dropout", x, rate, training)
        place = dimensions.axis_of(axis, value.ndim)
        shape = tuple(s if a in (0, place) else 1 for a, s in enumerate(value.shape))
        return _dropped("feature_dropout", value, rate, training, shape, name)


def alpha_dropout(
    x: Operand, rate: float, training: bool | Handle = True, *, name: str | None = None
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for use with selu (Klambauer et al. 2017).

    Elements are set to the value that selu tends to, then all are scaled and shifted.
    x: floats.  rate: a number from 0 to below 1.  training: as in dropout.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.nn.alpha_dropout(sad.random.normal((10_000,)), 0.3)
    >>> value = sad.Session(graph).run(y)
    >>> bool(abs(value.mean()) < 0.1), bool(abs(value.std() - 1) < 0.1)
    (True, True)
    """
    with asking("alpha_dropout", name):
        value = float_tensor("alpha_dropout", x)
        share = _share(rate)
        on = switch("alpha_dropout", training, value.graph)
        if on is False or share == 0:
            return result(build("identity", (value,), label=name))
        low = -SELU_ALPHA * SELU_SCALE
        scale = 1 / math.sqrt((1 - share) * (1 + share * low * low))
        kept = _kept(value, 1 - share, value.shape, name)

        def moved(v: Any) -> Any:
            return build("where", (kept, v, v.coerce(low))) * scale - scale * share * low

        dropped = computed(moved, value, label=None)
        return result(renamed(chosen(on, dropped, value), name))


def _operand(asked: str, x: Operand, rate: Any, training: Any) -> Tensor:
    graph = graph_of(asked, x, rate, training)
    return float_tensor(asked, tensor(asked, x, graph))


def _share(rate: Any) -> float:
    return number("rate", rate, least=0, below=1)


def _one(asked: str, rate: Any) -> Tensor:
    """The rate as a tensor, which has no axes.  Raises ShapeError, DTypeError."""
    made = tensor(asked, rate)
    if made.ndim:
        raise ShapeError(
            "the rate is one number for all of x",
            expected="a tensor without axes",
            found=made.describe(),
            hint="use sad.random.bernoulli and sad.where for rates that differ",
        )
    if made.type.kind not in FLOATING:
        raise DTypeError("the rate is no share", expected="floats", found=made.describe())
    return result(checked(made, asked, "the rate is out of range", least=0, below=1))


def _kept(value: Tensor, keep: Operand, shape: Any, name: str | None) -> Any:
    graph = value.graph
    assert isinstance(graph, Graph)
    with graph:
        return random.bernoulli(shape, keep, name=part(name, "kept"))


def _dropped(
    asked: str, value: Tensor, rate: Any, training: Any, shape: Any, name: str | None
) -> Tensor:
    """Elements dropped by a mask of a shape that broadcasts to that of x."""
    graph = value.graph
    known = isinstance(rate, WEAK) or is_real(rate)
    share = _share(rate) if known else _one(asked, rate)
    on = switch(asked, training, graph)
    if on is False or (known and share == 0):
        return result(build("identity", (value,), label=name))
    keep: Any = 1 - share
    kept = _kept(value, keep, shape, name)
    scaled = value / keep if known else value / keep.astype(value.dtype)
    dropped = build("where", (kept, scaled, scaled.coerce(0.0)))
    return result(renamed(chosen(on, dropped, value), name))
