"""Gaussian-process regression: likelihood, gradient and predictions against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

import staticad as sad
from models import gaussian_process

Array = np.ndarray[Any, Any]


def kernel(a: Array, b: Array, lengths: Array, amplitude: float) -> Array:
    apart = (a[:, None] - b[None]) / lengths
    return np.asarray(amplitude**2 * np.exp(-0.5 * np.sum(apart**2, axis=-1)))


def example(n: int = 12) -> tuple[Array, Array, Array]:
    """Inputs, targets, and logarithms of three lengths, the amplitude and the noise."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(n, 3))
    return inputs, np.sin(inputs.sum(axis=1)), np.array([0.3, -0.2, 0.5, 0.1, -1.2])


def closed_form(inputs: Array, targets: Array, logs: Array) -> tuple[float, Array]:
    """The log marginal likelihood and its gradient, of the textbook (5.8) and (5.9)."""
    *lengths, amplitude, noise = np.exp(logs)
    smooth = kernel(inputs, inputs, np.array(lengths), amplitude)
    whole = smooth + noise**2 * np.eye(len(inputs))
    inverse = np.linalg.inv(whole)
    weights = inverse @ targets
    by_length = [
        smooth * ((inputs[:, None, k] - inputs[None, :, k]) / length) ** 2
        for k, length in enumerate(lengths)
    ]
    by = [*by_length, 2 * smooth, 2 * noise**2 * np.eye(len(inputs))]
    gradient = [0.5 * np.trace((np.outer(weights, weights) - inverse) @ d) for d in by]
    value = stats.multivariate_normal(np.zeros(len(inputs)), whole).logpdf(targets)
    return float(value), np.array(gradient)


def session_at(graph: sad.Graph, logs: Array) -> sad.Session:
    session = sad.Session(graph)
    session.variables["lengths"] = logs[:-2]
    session.variables["amplitude"] = logs[-2]
    session.variables["noise"] = logs[-1]
    return session


def test_likelihood_and_gradient_are_those_of_the_closed_form() -> None:
    inputs, targets, logs = example()
    names = ("lengths", "amplitude", "noise")
    feeds = {"inputs": inputs, "targets": targets}
    graph = gaussian_process.build(3)
    session = session_at(graph, logs)
    loss, xs = graph["loss"], [graph[name] for name in names]
    found, *slopes = session.run([loss, *sad.gradients(loss, xs)], feeds)
    value, gradient = closed_form(inputs, targets, logs)
    np.testing.assert_allclose(-found, value, rtol=1e-12)
    np.testing.assert_allclose(-np.concatenate([np.ravel(s) for s in slopes]), gradient, rtol=1e-10)
    at = {x: session.variables[name] for x, name in zip(xs, names, strict=True)}
    at.update({graph[name]: array for name, array in feeds.items()})
    sad.testing.check_gradients(loss, xs, at, order=2)


def test_predictions_are_those_of_the_conditional_gaussian() -> None:
    inputs, targets, logs = example()
    queries = np.random.default_rng(1).normal(size=(5, 3))
    *lengths, amplitude, noise = np.exp(logs)
    feeds = {"inputs": inputs, "targets": targets, "queries": queries}
    with session_at(gaussian_process.build(3), logs) as session:
        mean, deviation = session.run(["mean", "deviation"], feeds)
    rows = np.concatenate([inputs, queries])
    whole = kernel(rows, rows, np.array(lengths), amplitude) + noise**2 * np.eye(len(rows))
    n = len(inputs)
    gain = whole[n:, :n] @ np.linalg.inv(whole[:n, :n])
    np.testing.assert_allclose(mean, gain @ targets, rtol=1e-10)
    variance = np.diagonal(whole[n:, n:] - gain @ whole[:n, n:])
    np.testing.assert_allclose(deviation, np.sqrt(variance), rtol=1e-10)


def test_it_learns_how_far_cars_go() -> None:
    known, test = gaussian_process.load()
    assert (known.inputs.shape, test.inputs.shape) == ((294, 7), (98, 7))
    some = known._replace(inputs=known.inputs[:150], targets=known.targets[:150])
    with sad.Session(gaussian_process.build(steps=60)) as session:
        curve = gaussian_process.train(session, (some, test), 60, progress=False)
        error, inside = gaussian_process.errors(session, some, test)
    assert curve.losses[-1] < curve.losses[0] - 5
    assert error == curve.score < 3
    assert 0.88 < inside < 1
