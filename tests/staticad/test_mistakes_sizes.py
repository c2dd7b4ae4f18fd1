"""Sizes that do not fit: what is refused where they are known is refused by the run that finds
them, before it becomes a wrong number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

nn = sad.nn


def f(*shape: int) -> Array:
    return np.ones(shape, np.float32)


def i(*shape: int) -> Array:
    return np.ones(shape, np.int64)


# What broadcasts, but would become the losses of other pairs, or more than was asked for.
MISTAKES: dict[str, tuple[Callable[..., Any], tuple[Array, ...]]] = {
    "targets of one column": (nn.mse_loss, (f(2, 3), f(2, 1))),
    "one target": (nn.hinge_loss, (f(2), f(1))),
    "one prediction": (nn.binary_cross_entropy_with_logits, (f(1), f(3))),
    "probabilities of one class": (nn.cross_entropy, (f(2, 3), f(2, 1))),
    "labels of another batch": (nn.cross_entropy, (f(2, 3), i(1))),
    "labels of one example": (nn.nll_loss, (f(2, 3), i(1))),
    "margins of one example": (nn.multi_margin_loss, (f(2, 3), i(1))),
    "weights of fewer classes": (
        lambda x, y, w: nn.cross_entropy(x, y, class_weights=w), (f(2, 3), i(2), f(2)),
    ),
    "one weight for all classes": (
        lambda x, y, w: nn.nll_loss(x, y, class_weights=w), (f(2, 3), i(2), f(1)),
    ),
    "more weights than losses": (
        lambda x, y, w: nn.l1_loss(x, y, weights=w, reduction="sum"), (f(1), f(1), f(3)),
    ),
    "more positive weights": (
        lambda x, y, w: nn.binary_cross_entropy_with_logits(x, y, pos_weight=w),
        (f(2, 1), f(2, 1), f(3)),
    ),
    "more variances": (nn.gaussian_nll_loss, (f(1), f(1), f(3))),
    "one target of pairs": (nn.cosine_embedding_loss, (f(2, 3), f(2, 3), f(1))),
    "labels of one of two sequences": (
        lambda x, y, n, m: nn.ctc_loss(x, y, n, m), (f(3, 2, 4), i(1, 1), i(2), i(2)),
    ),
    "one length of two": (
        lambda x, y, n, m: nn.ctc_loss(x, y, n, m), (f(3, 2, 4), i(2, 1), i(2), i(1)),
    ),
    "a state of one of two sequences": (
        lambda x, h, wi, wh: nn.gru(x, (wi, wh), h)[0],
        (f(3, 2, 4), f(1, 5), f(15, 4), f(15, 5)),
    ),
    "one bias of all units": (
        lambda x, wi, wh, bi, bh: nn.rnn(x, (wi, wh, bi, bh))[0],
        (f(3, 2, 4), f(5, 4), f(5, 5), f(1), f(5)),
    ),
    "a grid of three coordinates": (nn.grid_sample, (f(1, 1, 2, 2), f(1, 3, 3, 3))),
    "a grid of one of two images": (nn.grid_sample, (f(2, 1, 2, 2), f(1, 3, 3, 2))),
    "positions that x does not have": (nn.rotary_embedding, (f(1, 1, 4), i(3))),
    "a gain that widens": (nn.layer_norm, (f(2, 1), f(3))),
    "a gain that widens, of roots": (nn.rms_norm, (f(2, 1), f(3))),
    "a gain of weights that widens": (nn.weight_norm, (f(2, 1), f(3))),
    "slopes that widen": (nn.prelu, (f(2, 1), f(3))),
}  # fmt: skip

# What has to be known all the same, by operand: steps of sequences, units of weights, features.
KNOWN: dict[str, dict[int, tuple[int | None, ...]]] = {
    "labels of one of two sequences": {0: (3, None, None)},
    "one length of two": {0: (3, None, None)},
    "a state of one of two sequences": {0: (3, None, None), 3: (15, 5)},
    "one bias of all units": {0: (3, None, None), 2: (5, 5)},
    "positions that x does not have": {0: (None, None, 4)},
}


@pytest.mark.parametrize("name", MISTAKES)
def test_known_sizes_are_refused_while_building(name: str) -> None:
    function, arrays = MISTAKES[name]
    with sad.Graph():
        operands = [sad.placeholder(a.dtype, a.shape) for a in arrays]
        with pytest.raises(sad.ShapeError):
            function(*operands)


@pytest.mark.parametrize("name", MISTAKES)
def test_unknown_sizes_are_refused_when_they_are_found(name: str) -> None:
    function, arrays = MISTAKES[name]
    with sad.Graph() as graph:
        known = KNOWN.get(name, {})
        operands = [
            sad.placeholder(a.dtype, known.get(k, (None,) * a.ndim)) for k, a in enumerate(arrays)
        ]
        y = function(*operands)
    with sad.Session(graph) as session, pytest.raises(sad.StaticadError) as caught:
        session.run(y, dict(zip(operands, arrays, strict=True)))
    error = caught.value
    assert error.asked
    assert error.expected
    assert error.found
    assert error.site is not None
    assert error.site.file == "tests/staticad/test_mistakes_sizes.py"


def test_unknown_sizes_that_fit_give_the_same() -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((4, 3)) for _ in range(2))
    w = rng.random(3)
    found = []
    for shapes in (((4, 3), (4, 3), (3,)), ((None, None),) * 2 + ((None,),)):
        with sad.Graph() as graph:
            a, b, c = (sad.placeholder("float64", shape) for shape in shapes)
            loss = nn.mse_loss(nn.layer_norm(a, c), nn.prelu(b, c), weights=c)
            loss = loss + nn.gaussian_nll_loss(a, b, c) + nn.cross_entropy(a, nn.softmax(b))
            gradients = sad.gradients(loss, [a, b, c])
        with sad.Session(graph) as session:
            found.append(session.run([loss, *gradients], {a: x, b: y, c: w}))
    for known, unknown in zip(*found, strict=True):
        np.testing.assert_allclose(known, unknown, rtol=1e-12)
