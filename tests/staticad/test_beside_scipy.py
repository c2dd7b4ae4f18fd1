"""What a session prepares, as the function that SciPy's optimizers and solvers ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import staticad as sad


@pytest.fixture
def rosenbrock() -> Any:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        v = sad.placeholder("float64", ("n",), name="v")
        y = sad.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
        (dy,) = sad.gradients(y, x)
        (product,) = sad.jvp(dy, x, v)
    session = sad.Session(graph)
    return session.callable([y, dy], [x]), session.callable(product, [x, v])


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "TNC", "SLSQP"])
def test_optimizers_take_value_and_gradient(rosenbrock: Any, method: Any) -> None:
    f, _ = rosenbrock
    found = scipy.optimize.minimize(f, np.zeros(4), jac=True, method=method, tol=1e-9)
    np.testing.assert_allclose(found.x, 1, atol=1e-4)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov"])
def test_optimizers_take_products_with_the_hessian(rosenbrock: Any, method: Any) -> None:
    f, product = rosenbrock
    found = scipy.optimize.minimize(
        f, np.zeros(4), jac=True, hessp=product, method=method, tol=1e-6
    )
    np.testing.assert_allclose(found.x, 1, atol=1e-4)
    for x in np.random.default_rng(0).normal(size=(3, 4)):
        v = np.arange(4.0)
        np.testing.assert_allclose(
            product(x, v), scipy.optimize.rosen_hess_prod(x, v), rtol=1e-12, atol=1e-10
        )


def test_an_error_names_the_line_that_called_scipy(rosenbrock: Any) -> None:
    f, _ = rosenbrock
    with pytest.raises(sad.StaticadError) as caught:
        scipy.optimize.minimize(f, np.zeros((0,)), args=(1.0,), jac=True)
    assert caught.value.site is not None
    assert caught.value.site.file == "tests/staticad/test_beside_scipy.py"


def test_a_spectral_right_hand_side_is_integrated() -> None:
    n, diffusivity = 32, 0.1
    with sad.Graph() as graph:
        t, u = sad.placeholder("float64", ()), sad.placeholder("float64", (n,))
        k = sad.fft.rfftfreq(n, 1 / n, dtype="float64")
        slope = sad.fft.irfft(-diffusivity * k * k * sad.fft.rfft(u), n) + 0 * t
    f = sad.Session(graph).callable(slope, [t, u])
    x = np.arange(n) * 2 * np.pi / n
    found = scipy.integrate.solve_ivp(f, (0, 2), np.sin(3 * x), rtol=1e-9, atol=1e-12)
    expected = np.exp(-diffusivity * 9 * 2) * np.sin(3 * x)
    np.testing.assert_allclose(found.y[:, -1], expected, atol=1e-7)
