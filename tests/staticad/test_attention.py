"""Attention: against NumPy; what is masked out has no part in value or gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import interpret
from staticad_schema.types import BFLOAT16, Array
from tests.staticad.running import agrees, apply, run

nn = sad.nn
INF, NAN = math.inf, math.nan
RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(2, 5, 3)), RNG.normal(size=(2, 5, 6))
MASK = RNG.random((4, 5)) > 0.4
MASK[2] = False
BIAS = np.where(MASK, RNG.normal(size=(4, 5)), -INF)


def expected(q: Array, k: Array, v: Array, bias: Any = 0.0, scale: float | None = None) -> Array:
    scores = q @ np.swapaxes(k, -1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    scores = scores + bias
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(-1, keepdims=True)
    result: Array = (e / np.where(total == 0, 1, total)) @ v
    return result


def attend(*operands: Any, **more: Any) -> Any:
    return nn.scaled_dot_product_attention(*operands, **more)


@pytest.mark.parametrize("symbolic", [False, True])
def test_values(symbolic: bool) -> None:
    found = apply(attend, Q, K, V, symbolic=symbolic)
    agrees(found, expected(Q, K, V), 1e-13)
    found = apply(lambda *a: attend(*a, scale=0.3), Q, K, V, BIAS, symbolic=symbolic)
    agrees(found, expected(Q, K, V, BIAS, 0.3), 1e-13)
    masked = np.where(MASK, 0, -INF)
    found = apply(attend, Q, K, V, MASK, symbolic=symbolic)
    agrees(found, expected(Q, K, V, masked), 1e-13)
    causal = np.where(np.tri(4, 5, dtype=bool), 0, -INF)
    found = apply(lambda *a: attend(*a, causal=True), Q, K, V, symbolic=symbolic)
    agrees(found, expected(Q, K, V, causal), 1e-13)
    found = apply(lambda *a: attend(*a, causal=True), Q, K, V, MASK, symbolic=symbolic)
    agrees(found, expected(Q, K, V, causal + masked), 1e-13)


@pytest.mark.parametrize("mask", [None, MASK, BIAS])
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_to_second_order(mask: Any, causal: bool) -> None:
    with sad.Graph():
        q, k, v = (sad.placeholder("float64", a.shape) for a in (Q, K, V))
        y = attend(q, k, v, mask, causal=causal)
        sad.check_gradients(y, [q, k, v], {q: Q, k: K, v: V}, order=2)


def test_gradient_of_a_bias() -> None:
    finite = RNG.normal(size=(4, 5))
    with sad.Graph():
        q, b = sad.placeholder("float64", Q.shape), sad.placeholder("float64", (4, 5))
        sad.check_gradients(attend(q, K, V, b), [q, b], {q: Q, b: finite}, order=2)


def test_leading_axes_broadcast() -> None:
    agrees(apply(attend, Q, K[0], V[:1]), expected(Q, K[0], V[:1]), 1e-13)
    keys = RNG.normal(size=(3, 1, 5, 3))
    agrees(apply(attend, Q, keys, V), expected(Q, keys, V), 1e-13)
    bias = RNG.normal(size=(7, 1, 1, 5))
    agrees(apply(attend, Q, K, V, bias), expected(Q, K, V, bias), 1e-13)


@pytest.mark.parametrize("mask_heads", [None, 1, 4])
def test_query_heads_share_those_of_keys(mask_heads: int | None) -> None:
    q, k, v = (
        RNG.normal(size=(2, 4, 3, 5)),
        RNG.normal(size=(2, 2, 6, 5)),
        RNG.normal(size=(2, 2, 6, 3)),
    )
    bias = 0.0 if mask_heads is None else RNG.normal(size=(mask_heads, 3, 6))
    wanted = expected(q, k.repeat(2, 1), v.repeat(2, 1), bias)
    given = (q, k, v) if mask_heads is None else (q, k, v, bias)
    agrees(apply(attend, *given), wanted, 1e-13)
    with sad.Graph():
        xs = [sad.placeholder("float64", a.shape) for a in (q, k, v)]
        y = attend(*xs, None if mask_heads is None else bias)
        sad.check_gradients(y, xs, dict(zip(xs, (q, k, v), strict=True)))


# ------------------------------------------------------------------ what is left out


def derivatives(mask: Any, *arrays: Array, causal: bool = False) -> list[Array]:
    """The result, first and second derivatives."""
    with sad.Graph() as graph:
        xs = [sad.placeholder(a.dtype, a.shape) for a in arrays]
        y = attend(*xs, mask, causal=causal)
        first = sad.gradients(sad.sum(y * y), xs)
        second = sad.gradients(sad.sum(first[0] * first[0]), xs)
        fetches = [y, *first, *second, *sad.jvp([y], xs)]
        feeds = dict(zip(xs, arrays, strict=True))
        planned = run(graph, fetches, feeds)
        found = interpret(
            graph, [f.id for f in fetches], (), {x.id: a for x, a in feeds.items()}, {}, 0
        ).values
    for a, b in zip(planned, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    result: list[Array] = planned
    return result


@pytest.mark.parametrize("mask", [MASK, BIAS])
def test_A36_a_query_without_keys_gives_zeros(mask: Array) -> None:
    for found in derivatives(mask, Q, K, V):
        assert np.isfinite(found).all()
    y, dq, *_ = derivatives(mask, Q, K, V)
    assert (y[:, 2] == 0).all()
    assert (dq[:, 2] == 0).all()
    # The other queries have what they have without it.
    rows = [0, 1, 3]
    alone = derivatives(mask[rows], Q[:, rows], K, V)
    np.testing.assert_allclose(y[:, rows], alone[0], rtol=1e-13)
    np.testing.assert_allclose(dq[:, rows], alone[1], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_A36_what_no_query_sees_is_harmless_whatever_it_holds(bad: float, dtype: str) -> None:
    kind = BFLOAT16 if dtype == "bfloat16" else np.dtype(dtype)
    q, k, v = (a.astype(kind) for a in (Q, K, V))
    mask = MASK.copy()
    mask[:, 3] = False
    spoiled_k, spoiled_v = k.copy(), v.copy()
    spoiled_k[:, 3] = bad
    spoiled_v[:, 3] = bad
    for a, b in zip(
        derivatives(mask, q, spoiled_k, spoiled_v), derivatives(mask, q, k, v), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("bad", [NAN, INF])
def test_A36_only_queries_that_see_a_bad_key_are_spoiled(bad: float) -> None:
    k, v = K.copy(), V.copy()
    k[:, 3], v[:, 3] = bad, bad
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", a.shape) for a in (Q, K, V)]
        y = attend(*xs, causal=True)
        (dq,) = sad.gradients(sad.sum(y[:, :3]), xs[0])
        fetches = [y, dq]
    found = run(graph, fetches, dict(zip(xs, (Q, k, v), strict=True)))
    right = run(graph, fetches, dict(zip(xs, (Q, K, V), strict=True)))
    np.testing.assert_array_equal(found[0][:, :3], right[0][:, :3])
    assert not np.isfinite(found[0][:, 3]).any()
    np.testing.assert_array_equal(found[1][:, :3], right[1][:, :3])


def test_A36_softmax_of_what_a_mask_leaves() -> None:
    x = np.array([[1.0, NAN, 2.0], [INF, 5.0, NAN], [0.0, 0.0, 0.0]])
    keep = np.array([[True, False, True], [False, False, False], [True, True, False]])
    with sad.Graph() as graph:
        p = sad.placeholder("float64", x.shape)
        y = nn.softmax(p, where=keep)
        (g,) = sad.gradients(y, p, [sad.constant(np.array([[1.0, NAN, 0.0]] * 3))])
        (h,) = sad.gradients(g, p)
    value, slope, curve = run(graph, [y, g, h], {p: x})
    share = 1 / (1 + math.e)
    right = np.array([[share, 0, 1 - share], [0, 0, 0], [0.5, 0.5, 0]])
    np.testing.assert_allclose(value, right)
    assert slope[1].tolist() == curve[1].tolist() == [0, 0, 0]
    assert np.isfinite(slope[0]).all()
    np.testing.assert_allclose(slope[0, 0], share * (1 - share))
    # Without a mask a row of nothing but -inf is NaN.
    assert np.isnan(apply(nn.softmax, np.array([-INF, -INF]))).all()


# ------------------------------------------------------------------ heads, dropout, positions


def test_multi_head_attention() -> None:
    x = RNG.normal(size=(2, 4, 6))
    ws = [RNG.normal(size=(6, 6)) for _ in range(4)]
    bs = [RNG.normal(size=6) for _ in range(4)]
    q, k, v = (
        np.swapaxes((x @ w + b).reshape(2, 4, 3, 2), 1, 2)
        for w, b in zip(ws[:3], bs[:3], strict=True)
    )
    joined = np.swapaxes(expected(q, k, v), 1, 2).reshape(2, 4, 6)
    found = apply(lambda p: nn.multi_head_attention(p, p, p, (*ws, *bs), 3), x)
    agrees(found, joined @ ws[3] + bs[3], 1e-12)
    with sad.Graph():
        p = sad.placeholder("float64", x.shape)
        sad.check_gradients(nn.multi_head_attention(p, p, p, ws, 3, causal=True), [p], {p: x})


def test_dropout_of_weights() -> None:
    n = 64
    q, k = np.zeros((n, 2)), np.zeros((n, 2))
    with sad.Graph(seed=0) as graph:
        training = sad.placeholder("bool", ())
        y = attend(q, k, np.eye(n), dropout_rate=0.5, training=training)
    with sad.Session(graph) as session:
        weights = session.run(y, {training: True}) * n
        assert set(np.unique(weights.round(9))) == {0.0, 2.0}
        assert 0.4 < (weights == 0).mean() < 0.6
        np.testing.assert_allclose(session.run(y, {training: False}) * n, 1)


def test_rotary_embedding_depends_on_distances_only() -> None:
    q, k = RNG.normal(size=4), RNG.normal(size=4)

    def product(i: int, j: int) -> float:
        turned = [
            apply(lambda x, p=p: nn.rotary_embedding(x, [float(p)]), v[None])
            for v, p in ((q, i), (k, j))
        ]
        return float(np.sum(turned[0] * turned[1]))

    assert product(5, 3) == pytest.approx(product(9, 7), rel=1e-5)
    assert product(5, 3) != pytest.approx(product(5, 4), rel=1e-3)
    x = RNG.normal(size=(3, 5, 4))
    found = apply(nn.rotary_embedding, x, symbolic=False)
    np.testing.assert_allclose(
        np.hypot(found[..., :2], found[..., 2:]), np.hypot(x[..., :2], x[..., 2:]), rtol=1e-6
    )


def test_sinusoidal_positions() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",))
        y = nn.sinusoidal_positions("n", 6) + x[:, None]
    found = run(graph, y, {x: np.zeros(5, np.float32)})
    angles = np.arange(5)[:, None] / 10000 ** (np.arange(0, 6, 2) / 6)
    np.testing.assert_allclose(found, np.hstack([np.sin(angles), np.cos(angles)]), atol=1e-6)


def test_far_positions_keep_their_digits() -> None:
    at = np.array([0, 1, 12345, 10**6])
    x = np.random.default_rng(0).standard_normal((4, 6))
    angles = at[:, None] * 100.0 ** (-2 * np.arange(3) / 6)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[:, :3], x[:, 3:]
    turned = np.concatenate([first * cos - second * sin, second * cos + first * sin], 1)
    for dtype, digits in (("float64", 1e-9), ("float32", 1e-6)):
        with sad.Graph() as graph:
            y = nn.rotary_embedding(x.astype(dtype), at, base=100.0)
            table = nn.sinusoidal_positions(10**4, 6, base=100.0, dtype=dtype)[-1]
        with sad.Session(graph) as session:
            found, last = session.run([y, table])
        assert found.dtype == last.dtype == dtype
        np.testing.assert_allclose(found, turned, rtol=0, atol=digits)
        angles = 9999 * 100.0 ** (-2 * np.arange(3) / 6)
        right = np.concatenate([np.sin(angles), np.cos(angles)])
        np.testing.assert_allclose(last, right, rtol=0, atol=digits)
