"""Activations: digits in value, slope and curvature; limits; corners; half floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import BFLOAT16, Array
from tests.staticad.running import apply, run
from tests.tolerance import units

INF, NAN = math.inf, math.nan
nn = sad.nn
HALVES = [np.dtype(np.float16), BFLOAT16]


def orders(function: Callable[[Any], Any], x: Array) -> list[Array]:
    """Value, slope, curvature, and the slope forwards, of an elementwise function."""
    with sad.Graph(seed=0) as graph:
        p = sad.placeholder(x.dtype, x.shape)
        y = function(p)
        (slope,) = sad.gradients(y, p)
        (curve,) = sad.gradients(slope, p, unconnected="zero")
        (tangent,) = sad.jvp(y, p)
    found: list[Array] = run(graph, [y, slope, curve, tangent], {p: x})
    return found


def _alpha_of_selu(x: Any) -> Any:
    scale, alpha = mp.mpf("1.0507009873554805"), mp.mpf("1.6732632423543772")
    return scale * (x if x > 0 else alpha * mp.expm1(x))


SMOOTH: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "silu": (nn.silu, lambda x: x / (1 + mp.exp(-x))),
    "mish": (nn.mish, lambda x: x * mp.tanh(mp.log1p(mp.exp(x)))),
    "softsign": (nn.softsign, lambda x: x / (1 + abs(x))),
    "elu": (lambda x: nn.elu(x, alpha=1.5), lambda x: x if x > 0 else 1.5 * mp.expm1(x)),
    "celu": (lambda x: nn.celu(x, alpha=2.0), lambda x: x if x > 0 else 2 * mp.expm1(x / 2)),
    "selu": (nn.selu, _alpha_of_selu),
    "softplus": (lambda x: nn.softplus(x, beta=2.0), lambda x: mp.log1p(mp.exp(2 * x)) / 2),
    "log_sigmoid": (nn.log_sigmoid, lambda x: -mp.log1p(mp.exp(-x))),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_digits_to_second_order(name: str) -> None:
    function, exact = SMOOTH[name]
    points = np.array([-300.0, -40.0, -9.0, -2.5, -0.7, -1e-6, 1e-6, 0.3, 2.0, 8.0, 18.0, 30.0])
    found = orders(function, points)
    with mp.workdps(400):
        for order in (0, 1, 2):
            wanted = [float(mp.diff(exact, mp.mpf(float(p)), order)) for p in points]
            np.testing.assert_allclose(found[order], wanted, rtol=1e-11, err_msg=str(order))
    np.testing.assert_allclose(found[3], found[1], rtol=1e-12)


LIMITS: dict[str, tuple[Callable[[Any], Any], list[float], list[float]]] = {
    "silu": (nn.silu, [0, INF], [0, 1]),
    "mish": (nn.mish, [0, INF], [0, 1]),
    "softsign": (nn.softsign, [-1, 1], [0, 0]),
    "elu": (nn.elu, [-1, INF], [0, 1]),
    "celu": (lambda x: nn.celu(x, alpha=2.0), [-2, INF], [0, 1]),
    "softplus": (nn.softplus, [0, INF], [0, 1]),
    "hard_swish": (nn.hard_swish, [0, INF], [0, 1]),
    "hard_sigmoid": (nn.hard_sigmoid, [0, 1], [0, 0]),
    "hard_tanh": (nn.hard_tanh, [-1, 1], [0, 0]),
    "hard_shrink": (nn.hard_shrink, [-INF, INF], [1, 1]),
    "soft_shrink": (nn.soft_shrink, [-INF, INF], [1, 1]),
    "leaky_relu": (nn.leaky_relu, [-INF, INF], [0.01, 1]),
    "leaky_relu of slope 0": (lambda x: nn.leaky_relu(x, negative_slope=0.0), [0, INF], [0, 1]),
    "relu6": (nn.relu6, [0, 6], [0, 0]),
    "threshold": (lambda x: nn.threshold(x, 1.0, -5.0), [-5, INF], [0, 1]),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_limits_and_far_out(name: str, dtype: str) -> None:
    function, values, slopes = LIMITS[name]
    at = np.array([-INF, INF, NAN]).astype(BFLOAT16 if dtype == "bfloat16" else dtype)
    value, slope, curve, tangent = orders(function, at)
    np.testing.assert_allclose(value.astype(float), [*values, NAN], rtol=units(dtype))
    np.testing.assert_allclose(slope[:2].astype(float), slopes, rtol=units(dtype))
    np.testing.assert_array_equal(curve[:2].astype(float), [0, 0])
    np.testing.assert_array_equal(tangent[:2], slope[:2])
    # Where the dtype ends, too.
    far = np.array([-6e4, 6e4]).astype(at.dtype)
    value, slope, curve, _ = orders(function, far)
    assert np.isfinite(np.stack([value, slope, curve]).astype(float)).all()


CORNERS: dict[str, tuple[Callable[[Any], Any], list[float], list[float]]] = {
    "hard_sigmoid": (nn.hard_sigmoid, [-3.0, 3.0, 0.0], [0, 0, 1 / 6]),
    "hard_swish": (nn.hard_swish, [-3.0, 3.0, 0.0], [0, 1, 0.5]),
    "hard_tanh": (nn.hard_tanh, [-1.0, 1.0, 0.0], [0, 0, 1]),
    "hard_tanh 0, 6": (lambda x: nn.hard_tanh(x, min=0, max=6), [0.0, 6.0, 3.0], [0, 0, 1]),
    "relu6": (nn.relu6, [0.0, 6.0, -0.0], [0, 0, 0]),
    "leaky_relu": (nn.leaky_relu, [0.0, -0.0], [0.01, 0.01]),
    "prelu": (lambda x: nn.prelu(x, 0.25), [0.0, 1.0], [0.25, 1]),
    "hard_shrink": (nn.hard_shrink, [0.5, -0.5, 0.75], [0, 0, 1]),
    "soft_shrink": (nn.soft_shrink, [0.5, -0.5, 0.75], [0, 0, 1]),
    "threshold": (lambda x: nn.threshold(x, 1.0, 5.0), [1.0, 1.5], [0, 1]),
    "elu": (lambda x: nn.elu(x, alpha=0.5), [0.0, 1.0], [0.5, 1]),
    "log_sigmoid": (nn.log_sigmoid, [0.0], [0.5]),
}


@pytest.mark.parametrize("name", CORNERS)
def test_slopes_at_corners(name: str) -> None:
    function, points, slopes = CORNERS[name]
    _, slope, curve, tangent = orders(function, np.array(points))
    assert slope.tolist() == slopes
    assert tangent.tolist() == slopes
    assert np.isfinite(curve).all()


COMPOSED = ("celu", "elu", "hard_sigmoid", "hard_swish", "mish", "selu", "silu", "soft_shrink")


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("dtype", HALVES)
def test_half_floats_are_rounded_once(name: str, dtype: Any) -> None:
    function = getattr(nn, name)
    x = (np.random.default_rng(0).normal(size=200) * 3).astype(dtype)
    wide = apply(function, x.astype(np.float32))
    np.testing.assert_array_equal(apply(function, x), wide.astype(dtype))


def test_piecewise_functions_of_integers_stay_integers() -> None:
    x = np.array([-3, 0, 2, 9], np.int32)
    assert apply(nn.relu6, x).tolist() == [0, 0, 2, 6]
    assert apply(lambda v: nn.hard_tanh(v, min=-1, max=2), x).tolist() == [-1, 0, 2, 2]
    assert apply(lambda v: nn.threshold(v, 1, -7), x).tolist() == [-7, -7, 2, 9]


def test_prelu_slopes_have_a_gradient() -> None:
    x = np.arange(-12.0, 12.0).reshape(2, 3, 4)
    slopes = np.array([0.5, 0.25, 0.125])
    with sad.Graph() as graph:
        p, a = sad.placeholder("float64", x.shape), sad.placeholder("float64", (3,))
        y = nn.prelu(p, a)
        da, dp = sad.gradients(y, [a, p])
        sad.check_gradients(nn.prelu(p, a), [p, a], {p: x + 0.5, a: slopes}, order=2)
    value, da_, dp_ = run(graph, [y, da, dp], {p: x, a: slopes})
    np.testing.assert_array_equal(value, np.where(x > 0, x, slopes[:, None] * x))
    np.testing.assert_array_equal(da_, np.where(x > 0, 0, x).sum(axis=(0, 2)))
    np.testing.assert_array_equal(dp_, np.where(x > 0, 1, slopes[:, None] + 0 * x))


def test_gated_units() -> None:
    x = np.random.default_rng(0).normal(size=(3, 6, 2))
    a, b = x[:, :3], x[:, 3:]
    np.testing.assert_allclose(apply(lambda v: nn.glu(v, axis=1), x), a / (1 + np.exp(-b)))
    np.testing.assert_allclose(apply(lambda v: nn.swiglu(v, axis=1), x), a / (1 + np.exp(-a)) * b)
    gelu = apply(nn.gelu, a)
    np.testing.assert_allclose(apply(lambda v: nn.geglu(v, axis=1), x), gelu * b)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_gumbel_softmax_draws_with_the_probabilities_of_softmax(hard: bool, axis: int) -> None:
    p = np.array([0.1, 0.2, 0.7])
    logits = np.broadcast_to(np.log(p), (20000, 3))
    with sad.Graph(seed=1) as graph:
        x = sad.placeholder("float64", (20000, 3) if axis else (3, 20000))
        y = nn.gumbel_softmax(x, hard=hard, axis=axis, temperature=0.5)
        (g,) = sad.gradients(sad.sum(y * y), x)
    value, slope = run(graph, [y, g], {x: logits if axis else logits.T})
    value = value if axis else value.T
    np.testing.assert_allclose(value.sum(axis=1), 1, rtol=1e-12)
    share = np.bincount(value.argmax(axis=1), minlength=3) / 20000
    np.testing.assert_allclose(share, p, atol=0.015)
    assert np.isfinite(slope).all()
    assert np.abs(slope).max() > 0
    if hard:
        assert set(np.unique(value)) == {0.0, 1.0}


def test_rrelu_draws_slopes_when_training_only() -> None:
    with sad.Graph(seed=0) as graph:
        training = sad.placeholder("bool", (), name="training")
        y = nn.rrelu(-sad.ones(1000), training, lower=0.25, upper=0.5)
    with sad.Session(graph) as session:
        drawn = session.run(y, {training: True})
        assert -0.5 <= drawn.min() < -0.45
        assert -0.3 < drawn.max() <= -0.25
        assert (session.run(y, {training: False}) == -0.375).all()
