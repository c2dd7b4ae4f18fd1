"""Second derivatives at the ends of domains, and functions of the smallest and largest numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import staticad as sad
from tests.staticad.running import run

inf = np.inf
special = sad.special


def differentiated(f: Callable[..., Any], *point: float) -> tuple[Any, Any, Any]:
    """The value, the gradient and the Hessian, each row of it backwards and forwards."""
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", (2,)) for _ in point]
        y = f(*xs)
        slopes = sad.gradients(y, xs)
        rows = [sad.gradients(d, xs, unconnected="zero") for d in slopes]
        ones = sad.ones_like(xs[0])
        pushed = [[sad.jvp(d, [x], [ones])[0] for x in xs] for d in slopes]
        still = [
            s for d in slopes for s in sad.gradients(d, xs, [sad.zeros_like(d)], unconnected="zero")
        ]
    feeds = {x: np.full(2, p) for x, p in zip(xs, point, strict=True)}
    flat = [y, *slopes, *(d for row in rows for d in row), *(d for row in pushed for d in row)]
    found = [float(v[0]) for v in run(graph, [*flat, *still], feeds)]
    n = len(point)
    backwards, forwards = (np.reshape(found[k : k + n * n], (n, n)) for k in (1 + n, 1 + n + n * n))
    np.testing.assert_allclose(backwards, forwards, rtol=1e-12)
    assert not any(found[1 + n + 2 * n * n :])
    return found[0], found[1 : 1 + n], backwards


@pytest.mark.parametrize(
    ("a", "expected"),
    [(0.5, -inf), (1.0, -1.0), (1.5, inf), (2.0, 1.0), (3.0, 0.0), (20.0, 0.0)],
)
def test_the_slope_of_the_gamma_density_where_it_starts(a: float, expected: float) -> None:
    for f, sign in ((special.gammainc, 1), (special.gammaincc, -1)):
        _, _, hessian = differentiated(f, a, 0.0)
        assert hessian[1, 1] == sign * expected
        assert hessian[1, 0] == hessian[0, 1] == (-sign * inf if a <= 1 else 0)


def test_the_third_derivative_where_the_gamma_density_starts() -> None:
    for a, expected in ((1.0, 1.0), (2.0, -2.0), (3.0, 1.0), (4.0, 0.0)):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", ())
            y = special.gammainc(a, x)
            for _ in range(3):
                (y,) = sad.gradients(y, x)
        assert run(graph, [y], {x: 0.0})[0] == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0.5, 0.5, -inf),
        (1.0, 1.0, 0.0),
        (1.0, 2.0, -2.0),
        (1.5, 1.0, inf),
        (2.0, 3.0, 12.0),
        (2.0, 0.5, 0.75),
        (3.0, 0.5, 0.0),
    ],
)
def test_the_slope_of_the_beta_density_at_both_ends(a: float, b: float, expected: float) -> None:
    _, _, start = differentiated(special.betainc, a, b, 0.0)
    _, _, end = differentiated(special.betainc, b, a, 1.0)
    np.testing.assert_allclose(start[2, 2], expected, rtol=1e-14)
    np.testing.assert_allclose(end[2, 2], -expected, rtol=1e-14)
    _, _, other = differentiated(special.betaincc, a, b, 0.0)
    np.testing.assert_array_equal(other, -start)
    in_b = inf if a < 1 else float(a == 1)
    assert start[2, 0] == end[2, 1] == (-inf if a <= 1 else 0)
    assert start[2, 1] == end[2, 0] == in_b


def test_the_incomplete_gamma_function_of_huge_and_tiny_numbers() -> None:
    for x in (1e160, 1e200, 1e300, inf):
        value, slope, hessian = differentiated(special.gammainc, 2.0, x)
        assert value == 1
        assert not np.any(slope)
        if x != inf:
            assert not hessian.any()
    _, slope, hessian = differentiated(special.gammainc, 10.0, 5e-324)
    assert not np.any(slope)
    assert not hessian.any()
    # Where exp(-x) is almost 0 and the power is large.
    _, slope, _ = differentiated(special.gammainc, 9.5, 740.0)
    np.testing.assert_allclose(slope[1], 8.588948674860188e-303, rtol=1e-12)


def test_bessel_functions_of_the_smallest_numbers() -> None:
    for x in (5e-324, 1e-310, 1e-301):
        value, slope, hessian = differentiated(special.i1, x)
        np.testing.assert_allclose(value, x / 2, rtol=1e-15, atol=5e-324)
        assert slope[0] == 0.5
        np.testing.assert_allclose(hessian[0, 0], 0.375 * x, rtol=1e-8, atol=5e-324)
        assert differentiated(special.i0, x)[2][0, 0] == 0.5
        with np.errstate(over="ignore"):
            inverse = 1 / np.float64(x)
        for f in (special.k0, special.k0e):
            value, slope, _ = differentiated(f, x)
            np.testing.assert_allclose(value, 0.11593151565841245 - np.log(x), rtol=1e-15)
            np.testing.assert_allclose(slope[0], -inverse, rtol=1e-15)
        for f in (special.k1, special.k1e):
            np.testing.assert_allclose(differentiated(f, x)[0], inverse, rtol=1e-15)
        assert differentiated(lambda x: special.kn(3, x), x)[0] == inf


def test_polygammas_beside_a_pole_are_infinite() -> None:
    for n in range(1, 6):
        assert differentiated(lambda x, n=n: special.polygamma(n, x), -5e-324)[0] == inf


def test_the_normal_distribution_is_flat_far_away() -> None:
    value, slope, hessian = differentiated(special.log_ndtr, inf)
    assert (value, slope[0], hessian[0, 0]) == (0, 0, 0)


def test_weighted_sums_of_nothing_are_constant() -> None:
    x = np.array([[-inf, -inf, -inf], [-inf, 2.0, 1.0], [1.0, 1.0, 5.0]])
    weights = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [1.0, 1.0, 0.0]])
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", (None, 3)) for _ in range(2)]
        y = special.logsumexp(xs[0], axis=-1, b=xs[1])
        in_x, in_b = sad.gradients(y, xs)
        (second,) = sad.gradients(in_x, xs[0])
        (pushed,) = sad.jvp(y, [xs[0]], [sad.ones_like(xs[0])])
    found = run(graph, [y, in_x, in_b, second, pushed], dict(zip(xs, (x, weights), strict=True)))
    np.testing.assert_allclose(found[0], [-inf, 2 + math.log(2), 1 + math.log(2)], rtol=1e-15)
    np.testing.assert_allclose(
        found[1], [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]], rtol=1e-15
    )
    np.testing.assert_array_equal(found[2][0], 0)
    np.testing.assert_allclose(found[3], np.zeros((3, 3)), atol=1e-15)
    np.testing.assert_allclose(found[4], [0, 1, 1], rtol=1e-15)


@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (special.entr, 3e-309, -inf),
        (special.entr, 0.0, -inf),
        (special.ndtri, 1e-150, -3.8168878291343583e298),
        (special.ndtri, 1e-320, -inf),
        (special.ndtri, 0.0, -inf),
        (special.ndtri, 1.0, inf),
        (special.erfcinv, 1e-300, inf),
        (special.erfcinv, 2.0, -inf),
        (special.k0e, 5e-324, inf),
        (special.k1e, 1e-200, inf),
        (special.expi, 1e-320, -inf),
        (special.expi, inf, inf),
        (special.exprel, 800.0, inf),
        (special.log_ndtr, -1e200, -1.0),
        (special.log_ndtr, -inf, -1.0),
        (special.zeta, -1e300, -inf),
        (special.zeta, 1e300, 0.0),
    ],
)
def test_second_derivatives_of_the_smallest_and_largest_numbers(
    f: Callable[..., Any], at: float, expected: float
) -> None:
    _, _, hessian = differentiated(f, at)
    np.testing.assert_allclose(hessian[0, 0], expected, rtol=1e-14)


def test_the_log_normal_distribution_far_left_to_third_order() -> None:
    for x in (-9e5, -1.1e6, -1e8):
        with sad.Graph() as graph:
            at = sad.placeholder("float64", ())
            y = special.log_ndtr(at)
            for _ in range(2):
                (y,) = sad.gradients(y, at)
        found = run(graph, [y], {at: x})[0]
        np.testing.assert_allclose(found, -1 + x**-2, rtol=2e-15)


def test_functions_that_are_finite_further_than_their_factors() -> None:
    value, slope, hessian = differentiated(special.exprel, 712.0)
    np.testing.assert_allclose(value, 2.318414698298644e306, rtol=1e-12)
    np.testing.assert_allclose(slope[0], value * (1 - 1 / 712), rtol=1e-12)
    assert 0 < hessian[0, 0] < slope[0]
    for f, expected in (
        (special.expi, 2.3216800841052115e306),
        (special.i0, 2.4684110577627523e307),
        (special.i1, 2.4666770135246153e307),
        (lambda x: special.iv(3, x), 2.452848461896822e307),
    ):
        np.testing.assert_allclose(differentiated(f, 712.0)[0], expected, rtol=1e-12)
    assert differentiated(lambda x: special.iv(3, x), 1e-90)[0] == pytest.approx(1e-270 / 48)
    assert differentiated(lambda x: special.iv(200, x), 1e-3)[0] == 0
    assert differentiated(special.zeta, 1e300, 2.0)[0] == 0


def test_the_incomplete_gamma_function_of_an_infinite_shape_is_flat() -> None:
    for x in (0.0, 1.0, 1e300):
        value, slope, hessian = differentiated(special.gammainc, inf, x)
        assert (value, *slope) == (0, 0, 0)
        assert not hessian.any()
    assert np.isnan(differentiated(special.gammainc, inf, inf)[1]).all()


def test_the_beta_function_of_an_infinite_parameter_is_flat() -> None:
    value, slope, _ = differentiated(special.beta, 2.0, inf)
    assert (value, *slope) == (0, 0, 0)
    _, slope, _ = differentiated(special.betaln, 2.0, inf)
    assert (slope[0], slope[1]) == (-inf, 0)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1.0, inf, -inf], [0.0, 1.0, 0.0]),
        ([inf, inf, 3.0], [0.5, 0.5, 0.0]),
        ([-inf, -inf, -inf], [0.0, 0.0, 0.0]),
    ],
)
def test_infinite_elements_share_the_slope_of_a_log_of_a_sum(x: Any, expected: Any) -> None:
    with sad.Graph() as graph:
        at = sad.placeholder("float64", (3,))
        y = special.logsumexp(at)
        (dx,) = sad.gradients(y, at)
        (ddx,) = sad.gradients(dx, at)
        (pushed,) = sad.jvp(y, [at], [sad.ones_like(at)])
    found = run(graph, [dx, ddx, pushed], {at: np.array(x)})
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], 0)
    assert found[2] == sum(expected)


def test_bessel_functions_keep_their_phase_far_out() -> None:
    # Beside extrema, where nothing but the function's own error is left.
    for n, x, expected in (
        (0, 1000001.1429619555, 0.0007978841048272577),
        (1, 12345.673659569458, -0.0071809626069130805),
        (7, 99.49542973867351, 0.08008825792054552),
        (50, 494.62695360476465, -0.03596797471602081),
        (50, 100000.80865093095, 0.0025231224780600287),
    ):
        for sign in (1.0, -1.0):
            value, _, _ = differentiated(lambda x, n=n: special.jv(n, x), sign * x)
            np.testing.assert_allclose(value, sign**n * expected, rtol=5e-15)
    with sad.Graph() as graph:
        y = special.j0(sad.constant(1e8, "float64"))
    assert run(graph, [y])[0] == pytest.approx(3.206029534041208e-05, 1e-9)


def test_infinite_elements_share_the_slope_of_a_weighted_sum_by_their_weights() -> None:
    x = np.array([[1.0, inf, 2.0], [inf, inf, -inf], [1.0, inf, 1.0], [0.0, 0.0, 0.0]])
    weights = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 1.0], [1.0, 0.0, 1.0], [1.0, 2.0, 1.0]])
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", (None, 3)) for _ in range(2)]
        y = special.logsumexp(xs[0], axis=-1, b=xs[1])
        in_x, in_b = sad.gradients(y, xs)
        (pushed,) = sad.jvp(y, [xs[0]], [sad.ones_like(xs[0])])
    found = run(graph, [y, in_x, in_b, pushed], dict(zip(xs, (x, weights), strict=True)))
    np.testing.assert_allclose(found[0], [inf, inf, 1 + math.log(2), math.log(4)], rtol=1e-15)
    np.testing.assert_allclose(
        found[1],
        [[0.0, 1.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.0, 0.5], [0.25, 0.5, 0.25]],
        rtol=1e-15,
    )
    np.testing.assert_allclose(found[2][:2], [[0.0, 0.5, 0.0], [0.25, 0.25, 0.0]], rtol=1e-15)
    np.testing.assert_allclose(found[3], np.ones(4), rtol=1e-15)


@pytest.mark.parametrize(
    ("a", "b", "x"),
    [
        (203.8179213228221, 35.44072972586346, 0.02515689082479177),
        (203.8, 35.44, 0.026),
        (203.8, 35.44, 0.0279),
        (150.0, 150.0, 0.004),
        (20.0, 1e4, 1e-18),
        (900.0, 2.0, 0.4),
    ],
)
def test_tails_of_the_incomplete_beta_function(a: float, b: float, x: float) -> None:
    # x**a is no float any more, or a subnormal one, where its quotient by beta(a, b) is one.
    with sad.Graph() as graph:
        operands = [sad.placeholder("float64", ()) for _ in range(3)]
        left = sad.special.betainc(*operands)
        right = sad.special.betaincc(operands[1], operands[0], 1 - operands[2])
    feeds = dict(zip(operands, (a, b, x), strict=True))
    found, mirrored = sad.Session(graph).run([left, right], feeds)
    with mpmath.workdps(40):
        exact = float(mpmath.betainc(a, b, 0, x, regularized=True))
        exact_mirrored = float(mpmath.betainc(a, b, 0, 1 - (1 - x), regularized=True))
    # Relative conditions are about a in x, of which 1 - (1 - x) has lost digits.
    assert found == pytest.approx(exact, rel=1e-13 * max(a, 10), abs=0)
    if 1 - (1 - x) > 0:
        assert mirrored == pytest.approx(exact_mirrored, rel=1e-13 * max(a, 10), abs=0)
