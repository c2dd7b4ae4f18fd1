"""Recurrent networks, unrolled: one step, and all steps of sequences of a known length.

The weights of a layer are a tuple (wi, wh) or, with biases, (wi, wh, bi, bh): a step computes
x @ wi.T + bi + h @ wh.T + bh.  wi: [gates units, inputs], wh: [gates units, units], the gates one
behind the other, in the order that each function states; this is the layout of torch and of cuDNN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.sites import asking

from .. import dimensions, random
from ..building import build, renamed
from ..current import scope
from ..graph import Graph
from ..operands import Operand, result
from ..options import choice, flag
from ..tensor import Tensor
from .floats import float_tensor, floats

__all__ = ["gru", "gru_cell", "lstm", "lstm_cell", "recurrent_weights", "rnn", "rnn_cell"]

Activation = Literal["tanh", "relu"]
Weights = tuple[Operand, ...] | list[Operand]

GATES = {"rnn": 1, "lstm": 4, "gru": 3}


def rnn_cell(
    x: Operand,
    h: Operand,
    weights: Weights,
    *,
    activation: Activation = "tanh",
    name: str | None = None,
) -> Tensor:
    """The next state: activation(x @ wi.T + bi + h @ wh.T + bh) (Elman 1990).

    x: floats [..., inputs].  h: [..., units].  weights: (wi, wh) or (wi, wh, bi, bh), of
    [units, inputs], [units, units], [units], [units].  activation: "tanh" or "relu".

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     h = sad.nn.rnn_cell([[1.0, 2.0]], [[0.0]], ([[1.0, 1.0]], [[1.0]]), activation="relu")
    >>> sad.Session(graph).run(h)
    array([[3.]], dtype=float32)
    """
    with asking("rnn_cell", name):
        value, state, *given = _operands("rnn_cell", 1, (x, h), weights)
        step = _rnn_step(_activation(activation), given)
        return result(renamed(step(_inputs(value, given), (state,))[0], name))


def lstm_cell(
    x: Operand,
    h: Operand,
    c: Operand,
    weights: Weights,
    *,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(next h, next c) (Hochreiter and Schmidhuber 1997; Gers et al. 2000).

    The gates are i, f, g, o: c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c').
    x: floats [..., inputs].  h, c: [..., units].  weights: (wi, wh) or (wi, wh, bi, bh), of
    [4 units, inputs], [4 units, units], [4 units], [4 units].

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     weights = sad.zeros((4, 2)), sad.zeros((4, 1))
    ...     h, c = sad.nn.lstm_cell([[1.0, 2.0]], [[0.0]], [[4.0]], weights)
    >>> sad.Session(graph).run(c)
    array([[2.]], dtype=float32)
    """
    with asking("lstm_cell", name):
        value, h_state, c_state, *given = _operands("lstm_cell", 4, (x, h, c), weights)
        step = _lstm_step(given)
        new_h, new_c = step(_inputs(value, given), (h_state, c_state))
        return result(renamed(new_h, name)), result(new_c)


def gru_cell(x: Operand, h: Operand, weights: Weights, *, name: str | None = None) -> Tensor:
    """The next state of a gated recurrent unit (Cho et al. 2014), as torch and cuDNN have it.

    The gates are r, z, n: with i = x @ wi.T + bi and s = h @ wh.T + bh, r = sigmoid(i_r + s_r),
    z = sigmoid(i_z + s_z), n = tanh(i_n + r s_n), and h' = (1 - z) n + z h.
    x: floats [..., inputs].  h: [..., units].  weights: (wi, wh) or (wi, wh, bi, bh), of
    [3 units, inputs], [3 units, units], [3 units], [3 units].

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     weights = sad.zeros((3, 2)), sad.zeros((3, 1))
    ...     h = sad.nn.gru_cell([[1.0, 2.0]], [[4.0]], weights)
    >>> sad.Session(graph).run(h)
    array([[2.]], dtype=float32)
    """
    with asking("gru_cell", name):
        value, state, *given = _operands("gru_cell", 3, (x, h), weights)
        step = _gru_step(given)
        return result(renamed(step(_inputs(value, given), (state,))[0], name))


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
        make = _activation(activation)
        ys, last = _unrolled(
            "rnn", lambda w: _rnn_step(make, w), x, weights, (h,), batch_first, reverse
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
        ys, last = _unrolled("lstm", _lstm_step, x, weights, (h, c), batch_first, reverse)
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
        ys, last = _unrolled("gru", _gru_step, x, weights, (h,), batch_first, reverse)
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


# ------------------------------------------------------------------ steps

# From what the inputs add to the gates, and the states, to the next states.
Step = Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]


def _activation(name: str) -> Callable[[Any], Any]:
    choice("activation", name, get_args(Activation))
    return lambda x: build(name, (x,))


def _sigmoid(x: Any) -> Any:
    return build("sigmoid", (x,))


def _tanh(x: Any) -> Any:
    return build("tanh", (x,))


def _turned(w: Any) -> Any:
    return build("permute_dims", (w,), {"axes": (1, 0)})


def _inputs(x: Any, weights: list[Any]) -> Any:
    """x @ wi.T + bi."""
    y = build("matmul", (x, _turned(weights[0])))
    return y if len(weights) == 2 else y + weights[2]


def _recurrence(weights: list[Any]) -> Callable[[Any], Any]:
    """h @ wh.T + bh."""
    turned = _turned(weights[1])

    def product(h: Any) -> Any:
        y = build("matmul", (h, turned))
        return y if len(weights) == 2 else y + weights[3]

    return product


def _split(x: Any, parts: int) -> list[Any]:
    size = x.type.shape[-1] // parts
    lead = ((None, None, 1),) * (x.type.ndim - 1)
    return [
        build("slice", (x,), {"slices": (*lead, (k * size, (k + 1) * size, 1))})
        for k in range(parts)
    ]


def _rnn_step(activation: Callable[[Any], Any], weights: list[Any]) -> Step:
    recur = _recurrence(weights)

    def step(gates: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
        return (activation(gates + recur(states[0])),)

    return step


def _lstm_step(weights: list[Any]) -> Step:
    recur = _recurrence(weights)

    def step(gates: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
        h, c = states
        i, f, g, o = _split(gates + recur(h), 4)
        c = _sigmoid(f) * c + _sigmoid(i) * _tanh(g)
        return _sigmoid(o) * _tanh(c), c

    return step


def _gru_step(weights: list[Any]) -> Step:
    recur = _recurrence(weights)

    def step(gates: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
        (h,) = states
        (ir, iz, inew), (sr, sz, snew) = _split(gates, 3), _split(recur(h), 3)
        z = _sigmoid(iz + sz)
        n = _tanh(inew + _sigmoid(ir + sr) * snew)
        return ((1 - z) * n + z * h,)

    return step


# ------------------------------------------------------------------ checks and sequences


def _operands(asked: str, gates: int, given: tuple[Any, ...], weights: Any) -> list[Any]:
    """Inputs, states and weights in one dtype, of shapes that fit.  Raises GraphError."""
    if not isinstance(weights, tuple | list) or len(weights) not in (2, 4):
        raise ArgumentError(
            "not the weights of a layer",
            expected="(wi, wh) or (wi, wh, bi, bh)",
            found=f"{weights!r:.80}",
        )
    ready = list(floats(asked, *given, *weights))
    x, *states = ready[: len(given)]
    wi, wh, *biases = ready[len(given) :]
    if wi.ndim != 2 or wh.ndim != 2 or any(b.ndim != 1 for b in biases) or not x.ndim:
        raise ShapeError(
            "weights of another rank",
            expected=f"wi [{gates} units, inputs], wh [{gates} units, units], vectors bi and bh",
            found=", ".join(w.describe() for w in (wi, wh, *biases)),
        )
    rows, units = wh.shape
    if not isinstance(rows, int) or not isinstance(units, int):
        raise ShapeError(
            "the number of units is not known", expected="known sizes", found=wh.describe()
        )
    wanted = [
        ("wh", wh, (gates * units, units)),
        ("wi", wi, (gates * units, x.shape[-1])),
        *((f"b{'ih'[k]}", b, (gates * units,)) for k, b in enumerate(biases)),
        *(("a state", s, (*s.shape[:-1], units)) for s in states),
    ]
    for label, tensor, shape in wanted:
        if len(tensor.shape) != len(shape) or any(
            dims.same_size(a, b) is False for a, b in zip(tensor.shape, shape, strict=True)
        ):
            raise ShapeError(
                f"{label} does not fit",
                expected=f"shape ({', '.join(map(str, shape))}), for x {x.type} and wh {wh.type}",
                found=tensor.describe(),
            )
    return ready


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
        )
    given = [s for s in states if s is not None]
    value, *rest = _operands(asked, GATES[asked], (value, *given), weights)
    ready, arrays = rest[: len(given)], rest[len(given) :]
    for state in ready:
        if state.type.ndim != 2:
            raise ShapeError(
                "not a state for each example",
                expected="a tensor [batch, units]",
                found=state.describe(),
            )
    begin = iter(ready)
    shape = (value.shape[1 - axis], arrays[1].shape[1])
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
    gates = _inputs(value, arrays)
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
