"""Losses: against NumPy, in every reduction, with weights, at corners, to second order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import BFLOAT16, Array
from tests.staticad.running import agrees, apply, run

nn = sad.nn
INF, NAN = math.inf, math.nan
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
P, T = RNG.uniform(0.2, 0.8, (4, 3)), RNG.uniform(0.05, 0.95, (4, 3))
SIGNS = np.where(RNG.random((4, 3)) > 0.5, 1.0, -1.0)
SHARES = RNG.uniform(0, 2, (4, 3))
LABELS = np.array([0, 2, 1, 2])
CLASS_WEIGHTS = np.array([0.5, 2.0, 1.0])


def log_softmax(x: Array) -> Array:
    result: Array = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return result


def huber(d: Array, delta: float) -> Array:
    return np.where(np.abs(d) < delta, d * d / 2, delta * (np.abs(d) - delta / 2))


def softplus(x: Array) -> Array:
    result: Array = np.logaddexp(x, 0)
    return result


def stirling(t: Array) -> Array:
    return np.where(t > 1, t * np.log(t) - t + np.log(2 * np.pi * t) / 2, 0)


def norms(x: Array) -> Array:
    result: Array = np.sqrt((x * x).sum(-1))
    return result


def cosine(a: Array, b: Array) -> Array:
    result: Array = (a * b).sum(-1) / norms(a) / norms(b)
    return result


# The function, its operands, and the losses as they should be.
LOSSES: dict[str, tuple[Callable[..., Any], tuple[Array, ...], Array]] = {
    "mse": (nn.mse_loss, (A, B), (A - B) ** 2),
    "l1": (nn.l1_loss, (A, B), np.abs(A - B)),
    "huber": (lambda *a, **k: nn.huber_loss(*a, delta=0.7, **k), (A, B), huber(A - B, 0.7)),
    "smooth l1": (
        lambda *a, **k: nn.smooth_l1_loss(*a, beta=0.7, **k), (A, B), huber(A - B, 0.7) / 0.7,
    ),
    "smooth l1 of beta 0": (
        lambda *a, **k: nn.smooth_l1_loss(*a, beta=0, **k), (A, B), np.abs(A - B),
    ),
    "poisson": (nn.poisson_nll_loss, (A, P * 5), np.exp(A) - P * 5 * A),
    "poisson, full": (
        lambda *a, **k: nn.poisson_nll_loss(*a, full=True, log_input=False, **k),
        (P, T * 5),
        P - T * 5 * np.log(P + 1e-8) + stirling(T * 5),
    ),
    "gauss": (
        lambda *a, **k: nn.gaussian_nll_loss(*a, full=True, **k),
        (A, B, P),
        (np.log(P) + (A - B) ** 2 / P + np.log(2 * np.pi)) / 2,
    ),
    "bce": (nn.binary_cross_entropy, (P, T), -T * np.log(P) - (1 - T) * np.log(1 - P)),
    "bce with logits": (
        lambda *a, **k: nn.binary_cross_entropy_with_logits(*a, pos_weight=CLASS_WEIGHTS, **k),
        (A, T),
        CLASS_WEIGHTS * T * softplus(-A) + (1 - T) * softplus(A),
    ),
    "kl": (nn.kl_div, (A, T), T * (np.log(T) - A)),
    "kl of logs": (
        lambda *a, **k: nn.kl_div(*a, log_target=True, **k), (A, B), np.exp(B) * (B - A),
    ),
    "soft margin": (nn.soft_margin_loss, (A, SIGNS), softplus(-A * SIGNS)),
    "hinge": (nn.hinge_loss, (A, SIGNS), np.maximum(1 - A * SIGNS, 0)),
    "squared hinge": (nn.squared_hinge_loss, (A, SIGNS), np.maximum(1 - A * SIGNS, 0) ** 2),
    "hinge embedding": (
        nn.hinge_embedding_loss, (A, SIGNS), np.where(SIGNS == 1, A, np.maximum(1 - A, 0)),
    ),
    "ranking": (
        lambda *a, **k: nn.margin_ranking_loss(*a, margin=0.3, **k),
        (A, B, SIGNS),
        np.maximum(0.3 - SIGNS * (A - B), 0),
    ),
    "multilabel": (
        lambda *a, **k: nn.multilabel_soft_margin_loss(*a, class_weights=CLASS_WEIGHTS, **k),
        (A, T),
        ((T * softplus(-A) + (1 - T) * softplus(A)) * CLASS_WEIGHTS).mean(-1),
    ),
    "triplet": (
        lambda *a, **k: nn.triplet_margin_loss(*a, epsilon=0.0, **k),
        (A, B, P),
        np.maximum(1 + norms(A - B) - norms(A - P), 0),
    ),
    "triplet, swapped": (
        lambda *a, **k: nn.triplet_margin_loss(*a, swap=True, epsilon=0.0, **k),
        (A, B, P),
        np.maximum(1 + norms(A - B) - np.minimum(norms(A - P), norms(B - P)), 0),
    ),
    "cosine embedding": (
        lambda a, b, **k: nn.cosine_embedding_loss(a, b, SIGNS[:, 0], margin=0.1, **k),
        (A, B),
        np.where(SIGNS[:, 0] == 1, 1 - cosine(A, B), np.maximum(cosine(A, B) - 0.1, 0)),
    ),
    "cross entropy": (
        lambda x, **k: nn.cross_entropy(x, LABELS, **k), (A,), -log_softmax(A)[range(4), LABELS],
    ),
    "nll": (lambda x, **k: nn.nll_loss(x, LABELS, **k), (A,), -A[range(4), LABELS]),
}  # fmt: skip


def weights_for(losses: Array) -> Array:
    return SHARES if losses.ndim == 2 else SHARES[:, 0]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_reductions_and_weights(name: str, symbolic: bool) -> None:
    function, operands, losses = LOSSES[name]
    w = weights_for(losses)
    for more, expected in (
        ({"reduction": "none"}, losses),
        ({"reduction": "sum"}, losses.sum()),
        ({}, losses.mean()),
        ({"weights": w, "reduction": "none"}, losses * w),
        ({"weights": w, "reduction": "sum"}, (losses * w).sum()),
        ({"weights": w}, (losses * w).sum() / w.sum()),
        ({"weights": 2.0, "reduction": "sum"}, losses.sum() * 2),
    ):
        found = apply(lambda *xs, m=more: function(*xs, **m), *operands, symbolic=symbolic)
        agrees(found, expected, 1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_to_second_order(name: str) -> None:
    function, operands, _ = LOSSES[name]
    with sad.Graph():
        xs = [sad.placeholder("float64", a.shape) for a in operands]
        feeds = dict(zip(xs, operands, strict=True))
        # The last operand of signs or of numbers that are compared is not moved.
        chosen = xs[:1] if any(SIGNS is a for a in operands) else xs
        chosen = xs[:1] if "full" in name else chosen
        sad.check_gradients(function(*xs), chosen, feeds, order=2)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtype", [np.dtype(np.float16), BFLOAT16])
def test_half_floats_sum_wide(name: str, dtype: Any) -> None:
    function, operands, _ = LOSSES[name]
    given = [a.astype(dtype) for a in operands]
    found = apply(function, *given)
    wide = apply(function, *[a.astype(np.float64) for a in given])
    assert found.dtype == dtype
    np.testing.assert_allclose(float(found), wide, rtol=3e-2, atol=3e-2)


def test_a_weight_of_0_leaves_a_loss_out_whatever_it_is() -> None:
    x = np.array([1.0, NAN, INF])
    with sad.Graph() as graph:
        p = sad.placeholder("float64", (3,))
        loss = nn.mse_loss(p, np.zeros(3), weights=[1.0, 0.0, 0.0])
        (g,) = sad.gradients(loss, p)
    value, slope = run(graph, [loss, g], {p: x})
    assert value == 1
    assert slope.tolist() == [2, 0, 0]


# ------------------------------------------------------------------ corners


def slopes(function: Callable[..., Any], *operands: Any) -> list[Any]:
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", np.shape(a)) for a in operands]
        y = function(*xs)
        gs = sad.gradients(y, xs)
    found: list[Any] = run(graph, [y, *gs], dict(zip(xs, operands, strict=True)))
    return found


def test_slopes_at_corners() -> None:
    def none(function: Any) -> Any:
        return lambda *xs: function(*xs, reduction="none")

    assert slopes(none(nn.l1_loss), [1.0], [1.0])[1].tolist() == [0]
    assert slopes(none(nn.huber_loss), [1.0, -1.0], [0.0, 0.0])[1].tolist() == [1, -1]
    assert slopes(none(nn.hinge_loss), [1.0], [1.0])[1].tolist() == [0]
    assert slopes(none(nn.mse_loss), [INF], [0.0])[1].tolist() == [INF]
    assert slopes(none(nn.huber_loss), [INF, -INF], [0.0, 0.0])[1].tolist() == [1, -1]


def test_binary_cross_entropy_at_its_ends() -> None:
    def loss(p: Any, y: Any) -> Any:
        return nn.binary_cross_entropy(p, y, reduction="none")

    value, dp, _ = slopes(loss, [0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0])
    assert value.tolist() == [0, 0, INF, INF]
    assert dp.tolist() == [1, -1, INF, -INF]


def test_binary_cross_entropy_of_large_logits() -> None:
    def loss(x: Any, y: Any) -> Any:
        return nn.binary_cross_entropy_with_logits(x, y, reduction="none")

    x, y = [1000.0, -1000.0, 1000.0, INF, -INF, INF], [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    value, dx, _ = slopes(loss, x, y)
    assert value.tolist() == [1000, 1000, 0, 0, 0, INF]
    assert dx.tolist() == [1, -1, 0, 0, 0, 1]


def test_divergence_of_what_cannot_be() -> None:
    value, dp, _ = slopes(lambda p, q: nn.kl_div(p, q, reduction="sum"), [-INF, 0.0], [0.0, 1.0])
    assert value == 0
    assert dp.tolist() == [0, -1]
    logs = [-INF, 0.0]
    assert slopes(lambda p: nn.kl_div(p, logs, log_target=True), logs)[0] == 0


def test_batchmean() -> None:
    found = apply(lambda p: nn.kl_div(p, T, reduction="batchmean"), A, symbolic=True)
    agrees(found, (T * (np.log(T) - A)).sum() / 4, 1e-13)


# ------------------------------------------------------------------ cross entropy


def smoothed(x: Array, labels: Array, share: float, weights: Array) -> Array:
    logs = log_softmax(x)
    hit = -logs[range(len(labels)), labels] * weights[labels]
    result: Array = (1 - share) * hit + share * (-logs * weights).mean(-1)
    return result


@pytest.mark.parametrize("symbolic", [False, True])
def test_label_smoothing_class_weights_and_ignored_labels(symbolic: bool) -> None:
    losses = smoothed(A, LABELS, 0.1, CLASS_WEIGHTS)
    kept = LABELS != 2

    def loss(x: Any, **more: Any) -> Any:
        return nn.cross_entropy(
            x,
            LABELS,
            label_smoothing=0.1,
            class_weights=CLASS_WEIGHTS,
            **more,
        )

    def found(**more: Any) -> Any:
        return apply(lambda x: loss(x, **more), A, symbolic=symbolic)

    agrees(found(reduction="none"), losses, 1e-13)
    agrees(found(), losses.sum() / CLASS_WEIGHTS[LABELS].sum(), 1e-13)
    agrees(found(ignore_index=2, reduction="none"), np.where(kept, losses, 0), 1e-13)
    agrees(
        found(ignore_index=2),
        losses[kept].sum() / CLASS_WEIGHTS[LABELS[kept]].sum(),
        1e-13,
    )
    shares = SHARES[:, 0]
    agrees(
        found(ignore_index=2, weights=shares),
        (losses * shares)[kept].sum() / (CLASS_WEIGHTS[LABELS] * shares)[kept].sum(),
        1e-13,
    )


@pytest.mark.parametrize("function", [nn.cross_entropy, nn.nll_loss])
def test_ignored_labels_need_not_be_classes(function: Any) -> None:
    labels = np.array([0, -100, 1, -100])
    x = A.copy()
    x[1] = NAN
    value, slope = slopes(lambda p: function(p, labels, ignore_index=-100), x)
    alone = slopes(lambda p: function(p, labels[[0, 2]]), A[[0, 2]])
    assert value == pytest.approx(float(alone[0]), rel=1e-14)
    np.testing.assert_allclose(slope[[0, 2]], alone[1], rtol=1e-13)
    assert (slope[[1, 3]] == 0).all()


@pytest.mark.parametrize("function", [nn.cross_entropy, nn.nll_loss])
def test_of_nothing_the_mean_is_nan_and_its_gradient_0(function: Any) -> None:
    labels = np.full(4, 7)
    value, slope = slopes(lambda p: function(p, labels, ignore_index=7), A)
    assert np.isnan(value)
    assert (slope == 0).all()
    assert slopes(lambda p: function(p, labels, ignore_index=7, reduction="sum"), A)[0] == 0


def test_probabilities_with_smoothing_and_weights() -> None:
    t = np.exp(log_softmax(B))
    spread = t * 0.8 + 0.2 / 3
    losses = -(spread * log_softmax(A) * CLASS_WEIGHTS).sum(-1)
    found = apply(
        lambda x, y: nn.cross_entropy(x, y, label_smoothing=0.2, class_weights=CLASS_WEIGHTS), A, t
    )
    agrees(found, losses.mean(), 1e-13)
    # Smoothing one-hot rows is smoothing their labels.
    hot = np.eye(3)[LABELS]
    agrees(
        apply(lambda x: nn.cross_entropy(x, hot, label_smoothing=0.3), A),
        apply(lambda x: nn.cross_entropy(x, LABELS, label_smoothing=0.3), A),
        1e-13,
    )


def test_gradients_with_everything_to_second_order() -> None:
    def loss(x: Any) -> Any:
        return nn.cross_entropy(
            x, LABELS, label_smoothing=0.1, class_weights=CLASS_WEIGHTS, ignore_index=1
        )

    with sad.Graph():
        x = sad.placeholder("float64", A.shape)
        sad.check_gradients(loss(x), [x], {x: A}, order=2)


@pytest.mark.parametrize("label", [-1, 3])
@pytest.mark.parametrize(
    "function",
    [
        nn.nll_loss,
        nn.multi_margin_loss,
        lambda x, y: nn.cross_entropy(x, y, label_smoothing=0.1),
        lambda x, y: nn.cross_entropy(x, y, ignore_index=-100),
        lambda x, y: nn.cross_entropy(x, y, class_weights=[1.0, 1.0, 1.0]),
    ],
)
def test_a_label_that_names_no_class_fails(function: Any, label: int) -> None:
    with sad.Graph() as graph:
        y = sad.placeholder("int64", (2,))
        loss = function(np.zeros((2, 3)), y)
    with pytest.raises(sad.ExecutionError, match=r"test_losses\.py"):
        run(graph, loss, {y: [0, label]})


def test_multi_margin() -> None:
    x = A[:, [1, 0, 2]]
    for p in (1, 2):
        terms = np.maximum(0.7 - x[range(4), LABELS][:, None] + x, 0) ** p
        terms[range(4), LABELS] = 0
        losses = terms.mean(-1) * CLASS_WEIGHTS[LABELS]
        found = apply(
            lambda v, p=p: nn.multi_margin_loss(
                v, LABELS, p=p, margin=0.7, class_weights=CLASS_WEIGHTS, reduction="none"
            ),
            x,
        )
        agrees(found, losses, 1e-13)
    turned = apply(lambda v: nn.multi_margin_loss(v, LABELS, axis=0), x.T)
    agrees(turned, apply(lambda v: nn.multi_margin_loss(v, LABELS), x), 1e-14)


def test_distances() -> None:
    agrees(
        apply(lambda a, b: nn.pairwise_distance(a, b, p=1, epsilon=0), A, B),
        np.abs(A - B).sum(-1),
        1e-13,
    )
    far = apply(lambda a, b: nn.pairwise_distance(a, b, axis=0, keepdims=True, epsilon=0), A, B)
    agrees(far, np.sqrt(((A - B) ** 2).sum(0, keepdims=True)), 1e-13)
    agrees(apply(lambda a, b: nn.cosine_similarity(a, b, axis=0), A, B), cosine(A.T, B.T), 1e-13)
    # Equal points, and vectors of length 0.
    assert (
        slopes(lambda a: nn.pairwise_distance(a, a, epsilon=0.0), A)[1].tolist() == (0 * A).tolist()
    )
    zero = np.zeros((1, 3))
    value, slope = slopes(lambda a: nn.cosine_similarity(a, np.ones((1, 3))), zero)
    assert value.tolist() == [0]
    assert np.isfinite(slope).all()
