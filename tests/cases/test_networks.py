"""Family A, extended: untaken sides, corners and masks in every dtype, in batches, to second
order, forwards as well as backwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import BFLOAT16, Array
from tests.tolerance import units

inf, nan = math.inf, math.nan
nn = sad.nn
FLOATS = [np.dtype(t) for t in (np.float64, np.float32, np.float16)] + [BFLOAT16]
DIGITS = {8: 1e-12, 4: 1e-5, 2: 2e-2}


def orders(f: Callable[[Any], Any], x: Any, dtype: Any = np.float64) -> list[Array]:
    """Value, slope and curvature of an elementwise f, then slope and curvature forwards."""
    data = np.asarray(x).astype(dtype)
    with sad.Graph(seed=0) as graph:
        p = sad.placeholder(data.dtype, data.shape)
        y = f(p)
        (slope,) = sad.gradients(y, p)
        (curve,) = sad.gradients(slope, p, unconnected="zero")
        (tangent,) = sad.jvp(y, p)
        (second,) = sad.jvp(slope, p)
    with sad.Session(graph) as session:
        found = session.run([y, slope, curve, tangent, second], {p: data})
    assert all(v.dtype == data.dtype for v in found)
    return [v.astype(np.float64) for v in found]


def judge(f: Callable[[Any], Any], x: Any, *expected: Any, dtype: Any = np.float64) -> None:
    """f at x has this value, this slope and, if given, this curvature, alone and in batches."""
    digits = DIGITS[np.dtype(dtype).itemsize]
    for tiled in (np.asarray(x), np.tile(np.asarray(x), (2, 3, 1))):
        value, slope, curve, tangent, second = orders(f, tiled, dtype)
        wanted = [np.broadcast_to(np.asarray(e, float), tiled.shape) for e in expected]
        found = [value, slope, curve][: len(wanted)]
        for a, b in zip(
            [*found, *[tangent, second][: len(wanted) - 1]], [*wanted, *wanted[1:]], strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=digits, atol=digits)


@pytest.mark.parametrize("dtype", FLOATS)
def test_A10_the_side_not_taken_overflows(dtype: Any) -> None:
    big = 1e4 if np.dtype(dtype) == np.float16 else 1e10
    judge(lambda x: sad.where(x > 0, 0.0, sad.exp(x)), [big], 0, 0, 0, dtype=dtype)
    judge(lambda x: sad.where(x > 0, x * x, sad.exp(x * x)), [100.0], 1e4, 200, 2, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_A11_each_side_has_a_pole_where_the_other_is_taken(dtype: Any) -> None:
    judge(
        lambda x: sad.where(x < 0, 1 / (1 - x), sad.log(x + 1)),
        [1.0, -1.0, 0.0],
        [math.log(2), 0.5, 0],
        [0.5, 0.25, 1],
        [-0.25, 0.25, -1],
        dtype=dtype,
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_A13_the_side_not_taken_is_infinite(dtype: Any) -> None:
    judge(lambda a: sad.where(a < 15, a, 10 ** sad.exp(a)), [10.0], 10, 1, 0, dtype=dtype)
    judge(lambda x: sad.where(x > -1, x, sad.log(x)), [0.0, 2.0], [0, 2], 1, 0, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_A15_roots_at_zero(dtype: Any) -> None:
    judge(lambda x: sad.where(x == 0, 0.0, x * sad.sqrt(x)), [0.0], 0, 0, 0, dtype=dtype)
    judge(lambda x: x**1.5, [0.0, 4.0], [0, 8], [0, 3], dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_A20_abs_at_both_zeros(dtype: Any) -> None:
    judge(sad.abs, [0.0, -0.0], 0, 0, 0, dtype=dtype)
    judge(lambda x: nn.l1_loss(x, 0.0, reduction="none"), [0.0, -0.0], 0, 0, 0, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_A21_relu_and_maximum_next_to_zero(dtype: Any) -> None:
    tiny = float(np.nextafter(np.zeros((), dtype), np.ones((), dtype)))
    points = [0.0, tiny, -tiny]
    assert tiny > 0
    _, slope, curve, *forwards = orders(lambda x: sad.maximum(x, 0), points, dtype)
    assert slope.tolist() == [0.5, 1, 0] == forwards[0].tolist()
    _, slope, curve, *forwards = orders(nn.relu, points, dtype)
    assert slope.tolist() == [0, 1, 0] == forwards[0].tolist()
    assert curve.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_A23_at_the_ends_of_lines(dtype: Any) -> None:
    points = [-1.0, 0.0, 3.0, 6.0, 7.0]
    judge(lambda x: sad.clip(x, 0, 6), points, [0, 0, 3, 6, 6], [0, 1, 1, 1, 0], 0, dtype=dtype)
    judge(nn.relu6, points, [0, 0, 3, 6, 6], [0, 0, 1, 0, 0], 0, dtype=dtype)
    judge(
        lambda x: nn.hard_tanh(x, min=0, max=6),
        points,
        [0, 0, 3, 6, 6],
        [0, 0, 1, 0, 0],
        0,
        dtype=dtype,
    )
    judge(nn.hard_sigmoid, [-3.0, 0.0, 3.0], [0, 0.5, 1], [0, 1 / 6, 0], 0, dtype=dtype)
    judge(nn.hard_swish, [-3.0, 0.0, 3.0], [0, 0, 3], [0, 0.5, 1], [0, 1 / 3, 0], dtype=dtype)
    judge(nn.leaky_relu, [0.0, -0.0, 1.0], [0, 0, 1], [0.01, 0.01, 1], 0, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_A25_log_sigmoid_has_its_slope_everywhere(dtype: Any) -> None:
    s = 1 / (1 + math.exp(-2.0))
    judge(
        nn.log_sigmoid,
        [0.0, -2.0, -100.0, 100.0, -inf, inf],
        [-math.log(2), math.log(1 - s), -100, 0, -inf, 0],
        [0.5, s, 1, 0, 1, 0],
        [-0.25, -s * (1 - s), 0, 0, 0, 0],
        dtype=dtype,
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_A28_steep_sigmoids(dtype: Any) -> None:
    k = 25.0

    def slope(x: Any) -> Any:
        s = nn.sigmoid(k * x)
        return k * s * (1 - s)

    judge(slope, [-5.0, 5.0, 0.0], [0, 0, k / 4], 0, [0, 0, -(k**3) / 8], dtype=dtype)
    judge(nn.silu, [-1e4, 1e4, -inf, inf], [0, 1e4, 0, inf], [0, 1, 0, 1], 0, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("label", "loss", "slope"), [(1, 1000, [1, -1]), (0, 0, [0, 0])])
def test_A31_cross_entropy_of_large_logits_in_batches(
    dtype: Any, dense: bool, label: int, loss: float, slope: list[float]
) -> None:
    logits = np.tile(np.array([1000.0, 0.0]), (3, 2, 1)).astype(dtype)
    labels = np.full((3, 2), label)
    targets: Any = np.eye(2)[labels].astype(dtype) if dense else labels
    for weights in (None, [1.0, 1.0]):
        with sad.Graph() as graph:
            x = sad.placeholder(logits.dtype, logits.shape)
            y = nn.cross_entropy(x, targets, reduction="none", class_weights=weights)
            (g,) = sad.gradients(y, x)
            (h,) = sad.gradients(g, x)
        with sad.Session(graph) as session:
            value, first, second = session.run([y, g, h], {x: logits})
        assert (value == loss).all()
        assert (first == np.asarray(slope)).all()
        assert (second == 0).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_A33_of_nothing_but_minus_infinity(dtype: Any) -> None:
    rows = np.array([[-inf, -inf], [-inf, 1.0], [2.0, 2.0]]).astype(dtype)
    with sad.Graph() as graph:
        x = sad.placeholder(rows.dtype, (3, 2))
        y = sad.logsumexp(x, axis=1)
        (g,) = sad.gradients(y, x)
        (h,) = sad.gradients(g, x, [sad.constant(np.array([[1.0, 0.0]] * 3).astype(dtype))])
        pair = sad.logaddexp(x[:, 0], x[:, 1])
        (gp,) = sad.gradients(pair, x)
        (hp,) = sad.gradients(gp, x, [sad.constant(np.array([[1.0, 0.0]] * 3).astype(dtype))])
    with sad.Session(graph) as session:
        found = session.run([y, g, h, pair, gp, hp], {x: rows})
    for value, slope, curve in (found[:3], found[3:]):
        wanted = np.array([-inf, 1, 2 + math.log(2)])
        np.testing.assert_allclose(value.astype(float), wanted, rtol=units(dtype))
        wanted = np.array([[0, 0], [0, 1], [0.5, 0.5]])
        np.testing.assert_allclose(slope.astype(float), wanted, rtol=units(dtype))
        wanted = np.array([[0, 0], [0, 0], [0.25, -0.25]])
        np.testing.assert_allclose(curve.astype(float), wanted, rtol=units(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_A36_rows_without_keys_beside_others(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(2, 3, 4, 5)).astype(dtype) for _ in range(3))
    mask = np.ones((3, 4, 4), bool)
    mask[1, 2] = False
    with sad.Graph() as graph:
        xs = [a, b, c] = [sad.placeholder(x.dtype, x.shape) for x in (q, k, v)]
        y = nn.scaled_dot_product_attention(a, b, c, mask)
        bias = np.where(mask, 0, -inf).astype(dtype)
        z = nn.scaled_dot_product_attention(a, b, c, bias)
        plain = nn.scaled_dot_product_attention(a, b, c)
        first = sad.gradients(sad.sum(y * y), xs)
        second = sad.gradients(sad.sum(first[0] * first[0]), xs)
    with sad.Session(graph) as session:
        found = session.run([y, z, plain, first, second], dict(zip(xs, (q, k, v), strict=True)))
    value, same, free, slopes, curves = found
    np.testing.assert_array_equal(value, same)
    assert (value[:, 1, 2] == 0).all()
    assert (slopes[0][:, 1, 2] == 0).all()
    assert (curves[0][:, 1, 2] == 0).all()
    for array in (*slopes, *curves):
        assert np.isfinite(array.astype(float)).all()
    # The other rows are what they are without a mask.
    others = mask.any(-1)
    digits = DIGITS[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(
        value[:, others].astype(float), free[:, others].astype(float), rtol=digits, atol=digits
    )
