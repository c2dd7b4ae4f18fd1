"""Burgers' equation by Fourier's method: against the closed form, and learned from it."""

from __future__ import annotations

from typing import Any

import numpy as np

import staticad as sad
from models import pinn, spectral_pde
from models.spectral_pde import FRAMES, grid


def solution(nu: float, points: int, per_frame: int) -> Any:
    """u of the solver from -sin(pi x), and its derivatives with respect to nu: a way each."""
    with sad.Graph() as graph:
        viscosity = sad.placeholder("float64", (), name="nu")
        start = sad.fft.rfft(sad.constant(-np.sin(np.pi * grid(points))))
        u = spectral_pde.solve(start, viscosity, points=points, per_frame=per_frame)
        (pushed,) = sad.jvp(u, viscosity)
        (slope,) = sad.gradients(sad.sum(u**2), viscosity)
    with sad.Session(graph) as session:
        return session.run([u, pushed, slope], {viscosity: nu})


def exact(nu: float, points: int) -> Any:
    return pinn.exact(np.array(FRAMES)[:, None], grid(points), nu)


def test_the_solver_agrees_with_the_closed_form_and_so_do_its_derivatives() -> None:
    nu, points, h = 0.1, 64, 1e-3
    u, pushed, slope = solution(nu, points, 25)
    wanted = exact(nu, points)
    assert np.abs(u - wanted).max() < 1e-7
    by_nu = (
        8 * (exact(nu + h, points) - exact(nu - h, points))
        - (exact(nu + 2 * h, points) - exact(nu - 2 * h, points))
    ) / (12 * h)
    np.testing.assert_allclose(pushed, by_nu, atol=1e-6)
    assert np.isclose(slope, np.sum(2 * wanted * by_nu), rtol=1e-6)


def test_the_error_is_of_order_four() -> None:
    wanted = exact(0.1, 64)
    coarse, fine = (np.abs(solution(0.1, 64, n)[0] - wanted).max() for n in (10, 20))
    assert 12 < coarse / fine < 20


def test_viscosity_and_start_are_learned() -> None:
    graph = spectral_pde.build(points=48, per_frame=10, modes=8, steps=150)
    observed = spectral_pde.observations(nu=0.1, points=48)
    with sad.Session(graph) as session:
        curve = spectral_pde.train(session, observed, 150, nu=0.1, progress=False)
        viscosity, start = spectral_pde.errors(session, nu=0.1)
    assert curve.losses[-1] < 2e-4 < 0.1 < curve.losses[0]
    assert viscosity < 0.03
    assert start == curve.score < 0.1
