"""Mistakes with functions of networks: what was asked, expected, found, and the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

nn = sad.nn
# What a type checker would refuse is a mistake all the same.
ANY: Any = b"?"
none: Any = None


def f(g: sad.Graph, *shape: Any, dtype: str = "float32") -> sad.Tensor:
    return g.placeholder(dtype, shape)


def i(g: sad.Graph, *shape: Any) -> sad.Tensor:
    return g.placeholder("int32", shape)


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[sad.Graph], Any]]] = {
    # activations
    "silu of integers": (TypeError, "float32", lambda g: nn.silu(i(g, 3))),
    "selu of integers": (TypeError, "use .astype('float32')", lambda g: nn.selu(i(g, 3))),
    "mish of complex numbers": (
        TypeError, "real, imag or abs", lambda g: nn.mish(f(g, 3, dtype="complex64")),
    ),
    "celu of alpha 0": (ValueError, "above 0", lambda g: nn.celu(f(g, 3), alpha=0)),
    "softplus of text": (TypeError, "no number", lambda g: nn.softplus(f(g, 3), beta=ANY)),
    "softplus of infinite beta": (
        ValueError, "finite", lambda g: nn.softplus(f(g, 3), beta=np.inf),
    ),
    "gelu with a number": (TypeError, "no bool", lambda g: nn.gelu(f(g, 3), approximate=ANY)),
    "ends in another order": (
        ValueError, "min below max", lambda g: nn.hard_tanh(f(g, 3), min=1.0, max=-1.0),
    ),
    "negative threshold": (
        ValueError, "at least 0", lambda g: nn.hard_shrink(f(g, 3), threshold=-1.0),
    ),
    "slopes that do not fit": (
        ValueError, "broadcast", lambda g: nn.prelu(f(g, 2, 3), f(g, 2, dtype="float32")),
    ),
    "slopes with more axes": (
        ValueError, "more axes", lambda g: nn.prelu(f(g, 3), f(g, 2, 3)),
    ),
    "halves of an odd number": (ValueError, "an even size", lambda g: nn.glu(f(g, 2, 3))),
    "halves of an unknown number": (ValueError, "known", lambda g: nn.swiglu(f(g, 2, "n"))),
    "no such axis": (ValueError, "no axis 2", lambda g: nn.softmax(f(g, 2, 3), axis=2)),
    "a mask of numbers": (
        TypeError, "no bool", lambda g: nn.softmax(f(g, 2, 3), where=f(g, 2, 3)),
    ),
    "temperature 0": (
        ValueError, "above 0", lambda g: nn.gumbel_softmax(f(g, 3), temperature=0.0),
    ),
    # dropout, normalisation
    "rate 1": (ValueError, "below 1", lambda g: nn.dropout(f(g, 3), 1.0)),
    "rates": (ValueError, "one number", lambda g: nn.dropout(f(g, 3), f(g, 3))),
    "a rate of NumPy above 1": (
        ValueError, "below 1", lambda g: nn.dropout(f(g, 3), np.float32(1.5)),
    ),
    "a rate beyond floats": (ValueError, "too large", lambda g: nn.dropout(f(g, 3), 10**400)),
    "dropout of integers": (TypeError, "not floating", lambda g: nn.dropout(i(g, 3), 0.5)),
    "training with a number": (
        TypeError, "a bool", lambda g: nn.dropout(f(g, 3), 0.5, training=ANY),
    ),
    "training with a vector": (
        ValueError,
        "one element",
        lambda g: nn.dropout(f(g, 3), 0.5, f(g, 3) > 0),
    ),
    "gain larger than x": (
        ValueError, "larger than x", lambda g: nn.layer_norm(f(g, 3), f(g, 2, 3)),
    ),
    "gain that is wider than x": (
        ValueError, "larger than x", lambda g: nn.rms_norm(f(g, 2, 1), f(g, 3)),
    ),
    "negative epsilon": (
        ValueError, "at least 0", lambda g: nn.layer_norm(f(g, 3), epsilon=-1.0),
    ),
    "groups that do not divide": (
        ValueError, "a divisor of 6", lambda g: nn.group_norm(f(g, 2, 6), 4),
    ),
    "no group": (ValueError, "a divisor", lambda g: nn.group_norm(f(g, 2, 6), 0)),
    "features along the first axis": (
        ValueError, "counts examples", lambda g: nn.group_norm(f(g, 2, 6), 2, axis=0),
    ),
    "gain of other features": (
        ValueError, "each feature", lambda g: nn.group_norm(f(g, 2, 6), 2, f(g, 3)),
    ),
    "instances without extent": (
        ValueError, "nothing to normalise", lambda g: nn.instance_norm(f(g, 2, 6)),
    ),
    "batch norm of a vector": (
        ValueError, "axis of examples", lambda g: nn.batch_norm(f(g, 6)),
    ),
    "batch norm of unknown features": (
        ValueError, "known size", lambda g: nn.batch_norm(f(g, 6, "c")),
    ),
    "one statistic": (
        TypeError,
        "mean and variance",
        lambda g: nn.batch_norm(f(g, 2, 3), mean=g.variable(np.zeros(3, np.float32))),
    ),
    "statistics that are no variables": (
        TypeError,
        "batch_norm_infer",
        lambda g: nn.batch_norm(f(g, 2, 3), mean=ANY, variance=ANY),
    ),
    "statistics of other features": (
        ValueError,
        "each feature",
        lambda g: nn.batch_norm_infer(f(g, 2, 3), f(g, 4), f(g, 4)),
    ),
    "norm of order 0": (ValueError, "at least 1", lambda g: nn.normalize(f(g, 3), p=0)),
    # attention
    "attention of vectors": (
        ValueError,
        "rank 2",
        lambda g: nn.scaled_dot_product_attention(f(g, 3), f(g, 3), f(g, 3)),
    ),
    "other features of keys": (
        ValueError,
        "features of query and key",
        lambda g: nn.scaled_dot_product_attention(f(g, 2, 3), f(g, 2, 4), f(g, 2, 4)),
    ),
    "other positions of values": (
        ValueError,
        "positions of key and value",
        lambda g: nn.scaled_dot_product_attention(f(g, 2, 3), f(g, 5, 3), f(g, 4, 3)),
    ),
    "mask that does not fit": (
        ValueError,
        "queries, keys",
        lambda g: nn.scaled_dot_product_attention(
            f(g, 2, 3), f(g, 5, 3), f(g, 5, 3), f(g, 5, 2) > 0
        ),
    ),
    "mask of integers": (
        TypeError,
        "mask != 0",
        lambda g: nn.scaled_dot_product_attention(f(g, 2, 3), f(g, 5, 3), f(g, 5, 3), i(g, 2, 5)),
    ),
    "heads that cannot be shared": (
        ValueError,
        "divides 6",
        lambda g: nn.scaled_dot_product_attention(
            f(g, 6, 2, 3), f(g, 4, 5, 3), f(g, 4, 5, 3)
        ),
    ),
    "heads that do not divide": (
        ValueError,
        "divides",
        lambda g: nn.multi_head_attention(
            f(g, 2, 6), f(g, 2, 6), f(g, 2, 6), [f(g, 6, 6)] * 4, 4
        ),
    ),
    "two projections": (
        ValueError,
        "wq, wk, wv, wo",
        lambda g: nn.multi_head_attention(f(g, 2, 6), f(g, 2, 6), f(g, 2, 6), [f(g, 6, 6)] * 2, 2),
    ),
    "odd features to turn": (ValueError, "even", lambda g: nn.rotary_embedding(f(g, 2, 3))),
    # recurrence
    "an unknown number of steps": (
        ValueError,
        "known length",
        lambda g: nn.rnn(f(g, "t", 2, 3), (f(g, 4, 3), f(g, 4, 4))),
    ),
    "weights of another kind": (
        ValueError,
        "wh does not fit",
        lambda g: nn.lstm(f(g, 5, 2, 3), (f(g, 12, 3), f(g, 12, 4))),
    ),
    "weights for other inputs": (
        ValueError,
        "wi does not fit",
        lambda g: nn.gru(f(g, 5, 2, 3), (f(g, 12, 5), f(g, 12, 4))),
    ),
    "three weights": (
        ValueError, "(wi, wh, bi, bh)", lambda g: nn.rnn(f(g, 5, 2, 3), [f(g, 4, 3)] * 3),
    ),
    "a state of other units": (
        ValueError,
        "a state does not fit",
        lambda g: nn.rnn_cell(f(g, 2, 3), f(g, 2, 5), (f(g, 4, 3), f(g, 4, 4))),
    ),
    "an unknown activation": (
        ValueError,
        "'tanh', 'relu'",
        lambda g: nn.rnn_cell(f(g, 2, 3), f(g, 2, 4), (f(g, 4, 3), f(g, 4, 4)), activation=ANY),
    ),
    # losses
    "target of another shape": (
        ValueError, "squeeze", lambda g: nn.mse_loss(f(g, "n", 1), f(g, "n")),
    ),
    "target of another size": (
        ValueError, "differ in shape", lambda g: nn.l1_loss(f(g, 3), f(g, 4)),
    ),
    "losses of integers": (TypeError, "not floating", lambda g: nn.mse_loss(i(g, 3), i(g, 3))),
    "an unknown reduction": (
        ValueError, "'mean', 'sum', 'none'", lambda g: nn.mse_loss(f(g, 3), f(g, 3), reduction=ANY),
    ),
    "batchmean of a square": (
        ValueError,
        "not a reduction",
        lambda g: nn.mse_loss(f(g, 3), f(g, 3), reduction="batchmean"),  # type: ignore[arg-type]
    ),
    "weights of another shape": (
        ValueError,
        "do not fit the losses",
        lambda g: nn.mse_loss(f(g, 3), f(g, 3), weights=f(g, 2)),
    ),
    "delta 0": (ValueError, "above 0", lambda g: nn.huber_loss(f(g, 3), f(g, 3), delta=0)),
    "smoothing above 1": (
        ValueError,
        "from 0 to 1",
        lambda g: nn.cross_entropy(f(g, 2, 3), i(g, 2), label_smoothing=1.5),
    ),
    "weights of other classes": (
        ValueError,
        "a vector of 3",
        lambda g: nn.cross_entropy(f(g, 2, 3), i(g, 2), class_weights=f(g, 4)),
    ),
    "probabilities that are ignored": (
        ValueError,
        "use weights",
        lambda g: nn.cross_entropy(f(g, 2, 3), f(g, 2, 3), ignore_index=1),
    ),
    "labels of floats": (TypeError, "not integers", lambda g: nn.nll_loss(f(g, 2, 3), f(g, 2))),
    "labels of another shape": (
        ValueError, "do not fit", lambda g: nn.nll_loss(f(g, 2, 3), i(g, 3)),
    ),
    "an index that is no integer": (
        TypeError,
        "not an integer",
        lambda g: nn.nll_loss(f(g, 2, 3), i(g, 2), ignore_index=ANY),
    ),
    "power 3": (
        ValueError, "1, 2", lambda g: nn.multi_margin_loss(f(g, 2, 3), i(g, 2), p=3),
    ),
    "ctc of a matrix": (
        ValueError,
        "[steps, batch, classes]",
        lambda g: nn.ctc_loss(f(g, 5, 3), i(g, 2, 2), [5, 5], [2, 2]),
    ),
    "ctc of an unknown number of steps": (
        ValueError,
        "known number of steps",
        lambda g: nn.ctc_loss(f(g, "t", 2, 3), i(g, 2, 2), [5, 5], [2, 2]),
    ),
    "ctc with lengths of another batch": (
        ValueError,
        "input_lengths of another shape",
        lambda g: nn.ctc_loss(f(g, 5, 2, 3), i(g, 2, 2), [5], [2, 2]),
    ),
    "a blank that is no class": (
        ValueError,
        "no class",
        lambda g: nn.ctc_loss(f(g, 5, 2, 3), i(g, 2, 2), [5, 5], [2, 2], blank=3),
    ),
    "a projection by a vector": (
        ValueError,
        "no matrix",
        lambda g: nn.multi_head_attention(*(f(g, 3, 4),) * 3, (*(f(g, 4, 4),) * 3, f(g, 4)), 2),
    ),
    "tensors of two graphs": (
        sad.GraphError, "graph", lambda g: nn.mse_loss(f(g, 3), f(sad.Graph(), 3)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_with_networks(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    graph = sad.Graph()
    with graph, pytest.raises(kind) as caught:
        mistake(graph)
    assert text in str(caught.value)
    check_parts(caught.value, mistake)


def test_a_layer_that_is_refused_makes_no_variables() -> None:
    graph = sad.Graph(seed=0)
    with graph:
        with pytest.raises(sad.ShapeError):
            nn.batch_norm(f(graph, 2, 3), f(graph, 4))
        with pytest.raises(sad.ArgumentError):
            nn.batch_norm(f(graph, 2, 3), momentum=-1)
        with pytest.raises(sad.ArgumentError):
            nn.batch_norm(f(graph, 2, 3), epsilon=-1)
        with pytest.raises(sad.ArgumentError):
            nn.recurrent_weights(ANY, 2, 3)
    assert graph.variables == {}
    assert graph.updates == []
