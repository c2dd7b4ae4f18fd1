"""Recurrent cells: one step of a network along a sequence.

The weights of a layer are a tuple (wi, wh) or, with biases, (wi, wh, bi, bh): a step computes
x @ wi.T + bi + h @ wh.T + bh.  wi: [gates units, inputs], wh: [gates units, units], the gates one
behind the other, in the order that each function states; this is the layout of torch and of cuDNN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.sites import asking

from .. import methods
from ..building import build, renamed
from ..finding import expected
from ..operands import Operand, result
from ..options import choice
from ..tensor import Tensor
from .floats import floats

__all__ = ["gru_cell", "lstm_cell", "rnn_cell"]

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
        value, state, *given = fitting("rnn_cell", 1, (x, h), weights)
        step = rnn_step(activation_of(activation), given)
        return result(renamed(step(added(value, given), (state,))[0], name))


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
        value, h_state, c_state, *given = fitting("lstm_cell", 4, (x, h, c), weights)
        step = lstm_step(given)
        new_h, new_c = step(added(value, given), (h_state, c_state))
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
        value, state, *given = fitting("gru_cell", 3, (x, h), weights)
        step = gru_step(given)
        return result(renamed(step(added(value, given), (state,))[0], name))


# ------------------------------------------------------------------ steps

# From what the inputs add to the gates, and the states, to the next states.
Step = Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]


def activation_of(name: str) -> Callable[[Any], Any]:
    choice("activation", name, get_args(Activation))
    return lambda x: build(name, (x,))


def _sigmoid(x: Any) -> Any:
    return build("sigmoid", (x,))


def _tanh(x: Any) -> Any:
    return build("tanh", (x,))


def _turned(w: Any) -> Any:
    return build("permute_dims", (w,), {"axes": (1, 0)})


def added(x: Any, weights: list[Any]) -> Any:
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
    last = x.type.ndim - 1
    return [methods.slice_along(x, last, k * size, (k + 1) * size) for k in range(parts)]


def rnn_step(activation: Callable[[Any], Any], weights: list[Any]) -> Step:
    recur = _recurrence(weights)

    def step(gates: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
        return (activation(gates + recur(states[0])),)

    return step


def lstm_step(weights: list[Any]) -> Step:
    recur = _recurrence(weights)

    def step(gates: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
        h, c = states
        i, f, g, o = _split(gates + recur(h), 4)
        c = _sigmoid(f) * c + _sigmoid(i) * _tanh(g)
        return _sigmoid(o) * _tanh(c), c

    return step


def gru_step(weights: list[Any]) -> Step:
    recur = _recurrence(weights)

    def step(gates: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
        (h,) = states
        (ir, iz, inew), (sr, sz, snew) = _split(gates, 3), _split(recur(h), 3)
        z = _sigmoid(iz + sz)
        n = _tanh(inew + _sigmoid(ir + sr) * snew)
        return ((1 - z) * n + z * h,)

    return step


def fitting(asked: str, gates: int, given: tuple[Any, ...], weights: Any) -> list[Any]:
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
    rest = [expected(tensor, shape) for _, tensor, shape in wanted]
    return [x, *rest[2 + len(biases) :], rest[1], wh, *rest[2 : 2 + len(biases)]]
