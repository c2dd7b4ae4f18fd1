"""Recurrent networks, unrolled: all steps of sequences of a known length, and their weights.

Weights and steps are those of `recurrent_cells`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from staticad_schema.errors import ShapeError
from staticad_schema.shapes import same_shape
from staticad_schema.sites import asking

from .. import dimensions, random
from ..building import build, renamed
from ..current import scope
from ..finding import expected
from ..graph import Graph
from ..operands import Operand, result
from ..options import choice, flag
from ..tensor import Tensor
from .floats import float_tensor
from .recurrent_cells import (
    GATES,
    Activation,
    Step,
    Weights,
    activation_of,
    added,
    fitting,
    gru_step,
    lstm_step,
    rnn_step,
)

__all__ = ["gru", "lstm", "recurrent_weights", "rnn"]


def rnn(
    x: Operand,
    weights: Weights,
    h: Operand | None = None,
    *,
    activation: Activation = "tanh",
    batch_first: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(the state after each step, the last state) of rnn_cell along a sequence.

    x: floats [steps, batch, inputs], or [batch, steps, inputs] if batch_first, as is the first
    result; the number of steps must be known.  h: [batch, units], zeros unless given.
    weights, activation: as in rnn_cell.  reverse: from the last step to the first.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     one = sad.ones((1, 1))
    ...     y, h = sad.nn.rnn([[[1.0]], [[2.0]], [[3.0]]], (one, one), activation="relu")
    >>> sad.Session(graph).run(h)
    array([[6.]], dtype=float32)
    """
    with asking("rnn", name):
        make = activation_of(activation)
        ys, last = _unrolled(
            "rnn", lambda w: rnn_step(make, w), x, weights, (h,), batch_first, reverse
        )
        return result(renamed(ys, name)), result(last[0])


def lstm(
    x: Operand,
    weights: Weights,
    h: Operand | None = None,
    c: Operand | None = None,
    *,
    batch_first: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """(h after each step, the last h, the last c) of lstm_cell along a sequence.

    x: floats [steps, batch, inputs], or [batch, steps, inputs] if batch_first, as is the first
    result; the number of steps must be known.  h, c: [batch, units], zeros unless given.
    weights: as in lstm_cell.  reverse: from the last step to the first.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     weights = sad.nn.recurrent_weights("lstm", 3, 5)
    ...     y, h, c = sad.nn.lstm(sad.ones((7, 2, 3)), weights)
    >>> y.shape, h.shape, c.shape
    ((7, 2, 5), (2, 5), (2, 5))
    """
    with asking("lstm", name):
        ys, last = _unrolled("lstm", lstm_step, x, weights, (h, c), batch_first, reverse)
        return result(renamed(ys, name)), result(last[0]), result(last[1])


def gru(
    x: Operand,
    weights: Weights,
    h: Operand | None = None,
    *,
    batch_first: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(the state after each step, the last state) of gru_cell along a sequence.

    x: floats [steps, batch, inputs], or [batch, steps, inputs] if batch_first, as is the first
    result; the number of steps must be known.  h: [batch, units], zeros unless given.
    weights: as in gru_cell.  reverse: from the last step to the first.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     weights = sad.nn.recurrent_weights("gru", 3, 5)
    ...     y, h = sad.nn.gru(sad.ones((2, 7, 3)), weights, batch_first=True)
    >>> y.shape, h.shape
    ((2, 7, 5), (2, 5))
    """
    with asking("gru", name):
        ys, last = _unrolled("gru", gru_step, x, weights, (h,), batch_first, reverse)
        return result(renamed(ys, name)), result(last[0])


def recurrent_weights(
    kind: Literal["rnn", "lstm", "gru"],
    inputs: int,
    units: int,
    *,
    dtype: Any = "float32",
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Variables (wi, wh, bi, bh) for one layer, uniform between -1 and 1 over sqrt(units).

    kind: "rnn", "lstm" or "gru".  The variables are `name/wi`, `name/wh`, `name/bi`, `name/bh`.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     weights = sad.nn.recurrent_weights("gru", 3, 5, name="encoder")
    >>> [w.shape for w in weights], list(graph.variables)[0]
    ([(15, 3), (15, 5), (15,), (15,)], 'encoder/wi')
    """
    with asking("recurrent_weights", name):
        choice("kind", kind, GATES)
        first, size = dimensions.size(inputs), dimensions.size(units)
        if not isinstance(first, int) or not isinstance(size, int):
            raise ShapeError(
                "the size of the weights is not known", expected="ints", found=f"{first}, {size}"
            )
        rows, limit = GATES[kind] * size, 1 / math.sqrt(max(size, 1))
        start = random.uniform((rows, first), -limit, limit, dtype=dtype)
        graph = start.graph
        assert isinstance(graph, Graph)
        made = []
        with graph, scope(graph.free_scope(kind, "wi") if name is None else name):
            made.append(graph.variable(start, name="wi"))
            for label, shape in (("wh", (rows, size)), ("bi", (rows,)), ("bh", (rows,))):
                value = random.uniform(shape, -limit, limit, dtype=dtype)
                made.append(graph.variable(value, name=label))
        return tuple(made)


def _unrolled(
    asked: str,
    make_step: Callable[[list[Any]], Step],
    x: Any,
    weights: Any,
    states: tuple[Any, ...],
    batch_first: bool,
    reverse: bool,
) -> tuple[Any, tuple[Any, ...]]:
    """(h after each step, the last states)."""
    axis = 1 if flag("batch_first", batch_first) else 0
    backwards = flag("reverse", reverse)
    value = float_tensor(asked, x)
    if value.ndim != 3 or not isinstance(value.shape[axis], int):
        raise ShapeError(
            "not sequences of a known length",
            expected="a tensor [batch, steps, inputs]"
            if batch_first
            else "a tensor [steps, batch, inputs]",
            found=value.describe(),
            hint="the steps are unrolled: their number is an int, shorter sequences are padded"
            if value.ndim == 3
            else None,
        )
    given = [s for s in states if s is not None]
    value, *rest = fitting(asked, GATES[asked], (value, *given), weights)
    ready, arrays = rest[: len(given)], rest[len(given) :]
    shape = (value.shape[1 - axis], arrays[1].shape[1])
    for state in ready:
        if same_shape(state.type.shape, shape) is False:
            raise ShapeError(
                "not a state for each example",
                expected=f"a tensor [batch, units]: {value.type.with_shape(shape)}",
                found=state.describe(),
            )
    begin = iter([expected(state, shape) for state in ready])
    zero = None
    current = []
    for state in states:
        if state is None:
            if zero is None:
                zero = build("broadcast_to", (value.coerce(0.0),), {"shape": shape})
            current.append(zero)
        else:
            current.append(next(begin))
    step = make_step(arrays)
    # What the inputs add, for all steps in one product.
    gates = added(value, arrays)
    states_now: tuple[Any, ...] = tuple(current)
    seen: list[Any] = []
    steps = range(value.shape[axis])
    for t in reversed(steps) if backwards else steps:
        states_now = step(gates[:, t] if batch_first else gates[t], states_now)
        seen.append(states_now[0])
    if not seen:
        empty = (*value.shape[:2], shape[1])
        return build("broadcast_to", (value.coerce(0.0),), {"shape": empty}), states_now
    if backwards:
        seen.reverse()
    place = (shape[0], 1, shape[1]) if batch_first else (1, *shape)
    rows = [build("reshape", (h,), {"shape": place}) for h in seen]
    return build("concat", tuple(rows), {"axis": axis}), states_now
