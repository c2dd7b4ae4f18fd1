"""Family A: elementwise functions at their edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.tolerance import units

from .running import build, derivatives, grad, grads, value

inf, nan = math.inf, math.nan


def close(found: Any, expected: Any, rtol: float = 1e-13) -> None:
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)


def test_A1_derivatives_of_a_gaussian_at_zero() -> None:
    assert derivatives(lambda x: sad.exp(-(x**2)), 0.0, 4) == [0, -2, 0, 12]
    # The same with an exponent that is a tensor.
    two = np.array(2.0)
    graph, (x, p), y = build(lambda x, p: sad.exp(-(x**p)), (0.0, two), "float64")
    found = []
    for _ in range(4):
        (y,) = sad.gradients(y, x)
        found.append(y)
    with sad.Session(graph) as session:
        assert [float(v) for v in session.run(found, {x: 0.0, p: 2.0})] == [0, -2, 0, 12]


def test_A3_power_zero() -> None:
    assert value(lambda x: x**0, 0.0) == 1
    assert grad(lambda x: x**0, 0.0) == 0
    assert value(lambda x, p: x**p, 0.0, 0.0) == 1
    assert grads(lambda x, p: x**p, 0.0, 0.0)[0] == 0


def test_A5_fractional_power_of_zero() -> None:
    assert value(lambda x: x**1.875, 0.0) == 0
    assert grad(lambda x: x**1.875, 0.0) == 0
    assert [float(g) for g in grads(lambda x, p: x**p, 0.0, 1.875)] == [0, 0]


def test_A6_power_of_zero_and_of_negatives() -> None:
    base, exponent = grads(lambda x, p: x**p, [0.0, -2.0, 3.0], [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(base, [0, -4, 6])
    np.testing.assert_array_equal(exponent, [0, nan, 9 * np.log(3.0)])


def test_A8_constant_exponents_need_no_logarithm() -> None:
    for p in (2.0, 2, 3, 0.5, np.float64(2), np.array(2.0)):
        graph, (x,), y = build(lambda x, p=p: x**p, ([1.0],), "float64")
        sad.gradients(sad.gradients(y, x)[0], x, unconnected="zero")
        assert not [node for node in graph.nodes if node.op == "log"]
    found = grad(lambda x: x**2.0, [-1.0, 0.0], check_numerics=True)
    np.testing.assert_array_equal(found, [-2, 0])


def test_A10_select_with_overflow() -> None:
    def f(x: Any) -> Any:
        return sad.where(x > 0, 0.0, sad.exp(x))

    assert value(f, 1e10) == 0
    assert derivatives(f, 1e10, 3) == [0, 0, 0]


def test_A11_both_branches_have_a_pole_for_the_other() -> None:
    def f(x: Any) -> Any:
        return sad.where(x < 0, 1 / (1 - x), sad.log(x + 1))

    points = [1.0, -1.0, 0.0]
    close(value(f, points), [math.log(2), 0.5, 0])
    close(grad(f, points), [0.5, 0.25, 1])


def test_A13_dead_branch_is_infinite() -> None:
    def f(a: Any) -> Any:
        return sad.where(a < 15, a, 10 ** sad.exp(a))

    assert value(f, 10.0, dtype="float32") == 10
    assert grad(f, 10.0, dtype="float32") == 1
    # So is the dead branch's derivative, where the function itself is finite.
    assert grad(lambda x: sad.where(x > 0, x, sad.sqrt(x)), [0.0, 4.0]).tolist() == [inf, 1]
    assert grad(lambda x: sad.where(x > -1, x, sad.sqrt(x)), [0.0]).tolist() == [1]


def test_A15_x_times_root_of_x() -> None:
    assert grad(lambda x: sad.where(x == 0, 0.0, x * sad.sqrt(x)), [0.0]).tolist() == [0]
    assert grad(lambda x: x**1.5, [0.0]).tolist() == [0]


def test_A21_maximum_with_zero() -> None:
    points = np.array([0.0, 1e-45, -1e-45], np.float32)
    assert grad(lambda x: sad.maximum(x, 0), points).tolist() == [0.5, 1, 0]
    assert grad(lambda x: sad.where(x > 0, x, 0), points).tolist() == [0, 1, 0]
    assert grad(sad.nn.relu, points).tolist() == [0, 1, 0]


def test_A23_clip_at_its_bounds() -> None:
    points = [-1.0, 0.0, 3.0, 6.0, 7.0]
    assert grad(lambda x: sad.clip(x, 0, 6), points).tolist() == [0, 1, 1, 1, 0]
    dx, low, high = grads(sad.clip, points, 0.0, 6.0)
    assert (dx.tolist(), float(low), float(high)) == ([0, 1, 1, 1, 0], 1, 1)
    assert grad(sad.nn.relu6, points).tolist() == [0, 0, 1, 0, 0]


def test_A25_log_sigmoid_at_zero() -> None:
    assert grad(lambda x: -sad.logaddexp(0, -x), 0.0) == 0.5
    assert grad(lambda x: sad.log(sad.sigmoid(x)), 0.0) == 0.5
    assert derivatives(sad.log_sigmoid, 0.0, 4) == [0.5, -0.25, 0, 0.125]
    assert derivatives(sad.softplus, 0.0, 4) == [0.5, 0.25, 0, -0.125]
    tails = grad(sad.log_sigmoid, [-800.0, 700.0, inf, -inf])
    close(tails, [1, math.exp(-700.0), 0, 1])


def test_A26_asinh_at_zero() -> None:
    assert derivatives(sad.asinh, 0.0, 3) == [1, 0, -1]
    assert grad(sad.asinh, [1e200, -1e200]).tolist() == [1e-200, 1e-200]


def test_A28_steep_sigmoid() -> None:
    k = 25.0
    points = np.array([-5.0, 5.0], np.float32)

    def slope(x: Any) -> Any:
        s = sad.sigmoid(k * x)
        return k * s * (1 - s)

    assert value(slope, points).tolist() == [0, 0]
    assert grad(lambda x: sad.sigmoid(k * x), points).tolist() == [0, 0]
    # In double precision the derivative is there, in both tails.
    exact = 25 * math.exp(-125.0) / (1 + math.exp(-125.0)) ** 2
    close(grad(lambda x: sad.sigmoid(k * x), [-5.0, 5.0]), [exact, exact])


def test_A30_softplus_keeps_its_digits() -> None:
    assert value(lambda x: sad.logaddexp(x, 0), 16.0) == 16.00000011253517
    close(value(lambda x: sad.logaddexp(x, 0), -800.0), 0)
    close(value(lambda x: sad.logaddexp(x, 0), -700.0), math.exp(-700.0))
    assert value(sad.softplus, 16.0) == 16.00000011253517
    assert value(sad.log_sigmoid, -16.0) == -16.00000011253517
    # Up to where the other summand vanishes in rounding, and not an element before.
    points = np.arange(-60.0, 60.0, 0.25)
    close(value(sad.softplus, points), np.logaddexp(points, 0), rtol=3e-16)
    single = points.astype(np.float32)
    close(value(sad.softplus, single), np.logaddexp(points, 0), rtol=2e-7)


@pytest.mark.parametrize(("label", "loss", "gradient"), [(1, 1000, [1, -1]), (0, 0, [0, 0])])
def test_A31_cross_entropy_of_large_logits(label: int, loss: float, gradient: list[float]) -> None:
    logits = [1000.0, 0.0]
    dense = np.eye(2)[label]

    def by_class(x: Any) -> Any:
        return sad.nn.cross_entropy(x, np.array(label))

    def by_row(x: Any) -> Any:
        return -sad.sum(dense * sad.nn.log_softmax(x, axis=-1))

    for f in (by_class, by_row):
        assert value(f, logits) == loss
        assert grad(f, logits).tolist() == gradient


def test_A33_logsumexp_of_nothing_but_minus_infinity() -> None:
    def f(x: Any) -> Any:
        return sad.logsumexp(sad.stack([sad.constant(-inf, dtype="float64"), -inf + x]))

    assert value(f, 1.0) == -inf
    assert grad(f, 1.0) == 0
    # The same, two at a time.
    pairwise = derivatives(lambda x: sad.logaddexp(-inf, x - inf), 1.0, 2)
    assert pairwise == [0, 0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_A35_logcumsumexp_of_a_masked_prefix(dtype: str) -> None:
    masked = np.array([[-inf, -inf, 0], [-inf, -inf, -inf], [0, -inf, 0]], dtype)
    half = np.log(np.array(2.0, dtype))
    expected = [[-inf, -inf, 0], [-inf] * 3, [0, 0, half]]

    def f(x: Any) -> Any:
        return sad.logcumsumexp(x, axis=1)

    assert value(f, masked).tolist() == expected
    assert grad(f, masked).tolist() == [[0, 0, 1], [0, 0, 0], [2.5, 0, 0.5]]
    # The same from the other end.
    assert value(lambda x: sad.logcumsumexp(x, axis=1, reverse=True), masked[:, ::-1]).tolist() == [
        row[::-1] for row in expected
    ]
    # To second order, and with infinities of the other sign.
    graph, (x,), y = build(f, (masked,), dtype)
    (slope,) = sad.gradients(y, x)
    curves = [*sad.gradients(slope, x), *sad.jvp(slope, x)]
    with sad.Session(graph) as session:
        for curve in session.run(curves, {x: masked}):
            np.testing.assert_array_equal(curve, np.zeros((3, 3)))
    points = np.array([[0, inf, 1]], dtype)
    assert value(f, points).tolist() == [[0, inf, inf]]
    assert grad(f, points).tolist() == [[1, 2, 0]]


def test_A38_xlogy_of_zero() -> None:
    assert value(sad.xlogy, [0.0, 0.0, 0.0], [0.0, inf, 2.0]).tolist() == [0, 0, 0]
    dx, dy = grads(sad.xlogy, [0.0, 0.0], [2.0, 0.0])
    np.testing.assert_array_equal(dx, [math.log(2), -inf])
    assert dy.tolist() == [0, 0]
    assert value(sad.xlog1py, [0.0, 0.0, 0.0], [-1.0, inf, 2.0]).tolist() == [0, 0, 0]
    dx, dy = grads(sad.xlog1py, [0.0, 0.0], [2.0, -1.0])
    np.testing.assert_array_equal(dx, [math.log(3), -inf])
    assert dy.tolist() == [0, 0]


def test_A40_slope_of_sinc_at_zero() -> None:
    assert grad(lambda t: sad.sinc(2 * t + 1), -0.5) == 0
    for dtype in ("float16", "float32", "float64"):
        points = np.array([0.0, -0.0, 1.0, -3.0], dtype)
        np.testing.assert_allclose(grad(sad.sinc, points), [0, 0, -1, 1 / 3], rtol=units(dtype))
        assert value(sad.sinc, points).tolist() == [1, 1, 0, 0]


def test_A41_curvature_of_sinc() -> None:
    powers = [math.pi**2 / 3, math.pi**4 / 5, math.pi**6 / 7]
    expected = [0, -powers[0], 0, powers[1], 0, -powers[2]]
    close(derivatives(sad.sinc, 0.0, 6), expected, rtol=1e-14)

    def f(t: Any) -> Any:
        return 2 * sad.sinc(t) - 3 * sad.sinc(2 * t + 1) + 5 * sad.sinc(2 - t / 2)

    close(derivatives(f, -0.5, 2)[1], 35.56404073668897)
    # Beside 0 as at 0: a quotient would have lost digits, the more the higher the derivative.
    near = derivatives(sad.sinc, 1e-4, 4)
    close(near[0], -powers[0] * 1e-4, rtol=1e-7)
    close(near[2], powers[1] * 1e-4, rtol=1e-7)
    close(near[1::2], [-powers[0], powers[1]], rtol=1e-7)


def test_A43_angle_of_a_tiny_vector() -> None:
    dy, dx = grads(sad.atan2, 1e-13, 5.6843e-14)
    close(dx, -7.55794e12, rtol=1e-6)
    close(dy, 4.29616e12, rtol=1e-5)
    for scale in (1e-200, 1e200):
        dy, dx = grads(sad.atan2, 3 * scale, 4 * scale)
        close(dy * scale, 4 / 25)
        close(dx * scale, -3 / 25)
    assert [float(g) for g in grads(sad.atan2, 0.0, 0.0)] == [0, 0]
    # The same as the angle of a complex number, whose gradient is d/dx + i d/dy.
    dz = grad(sad.angle, np.array([5.6843e-14 + 1e-13j, 0]))
    close(dz[0], complex(-7.55794e12, 4.29616e12), rtol=1e-5)
    assert dz[1] == 0


def test_A48_division_with_a_floor() -> None:
    found = value(sad.floor_divide, [0.0, 1.0, -1.0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(found, [0, inf, -inf])
    assert not np.signbit(found[0])
    found = value(sad.remainder, [-1.0], [1.0])
    assert found[0] == 0
    assert not np.signbit(found[0])
    integers = np.array([-21]), np.array([5])
    assert value(sad.floor_divide, *integers).tolist() == [-5]
    assert value(sad.remainder, *integers).tolist() == [4]
    dx, dy = grads(sad.remainder, [7.5, -7.5, 6.0], [2.0, 2.0, 2.0])
    assert dx.tolist() == [1, 1, 1]
    assert dy.tolist() == [-3, 4, -3]


@pytest.mark.parametrize("f", [sad.floor, sad.ceil, sad.round, sad.trunc, sad.sign])
def test_A50_steps_are_flat_also_at_nan(f: Any) -> None:
    graph, (x,), y = build(f, ([nan, 0.5, 1.0],), "float64")
    (dx,) = sad.gradients(y, x, unconnected="zero")
    with sad.Session(graph) as session:
        assert session.run(dx, {x: [nan, 0.5, 1.0]}).tolist() == [0, 0, 0]


def test_a_zero_cotangent_stays_zero() -> None:
    # The chain rule's 0 * inf is 0: documented, where the one-sided truth is 1.
    assert grad(lambda x: sad.sqrt(x) ** 2, [0.0]).tolist() == [0]


def test_A6_second_derivatives_of_a_power_of_zero() -> None:
    graph, (x, p), y = build(lambda x, p: x**p, ([0.0] * 4, [1.5, 2.0, 3.0, 7.5]), "float64")
    dx, dp = sad.gradients(y, [x, p])
    seconds = [*sad.gradients(dp, [x, p]), sad.gradients(dx, p)[0], *sad.jvp([dx, dp], p)]
    with sad.Session(graph) as session:
        for found in session.run(seconds, {x: [0.0] * 4, p: [1.5, 2.0, 3.0, 7.5]}):
            assert found.tolist() == [0, 0, 0, 0]
