"""The Kalman filter: likelihood and gradient against one Gaussian over all that is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

import staticad as sad
from models import kalman
from models.kalman import ADDED, SEEN, STEP, WIDE

Array = np.ndarray[Any, Any]

LENGTH = 6
AT_STRENGTH, AT_ERRORS = 0.7, np.array([[1.2, -0.3], [-0.3, 0.8]])


def of_places(added: Array, start: Array) -> Array:
    """The covariance of all places, of what is added a second and a start: linear in both."""
    blocks = np.zeros((LENGTH, 2, LENGTH, 2))
    spread = start
    for s in range(LENGTH):
        later = spread
        for t in range(s, LENGTH):
            blocks[t, :, s] = SEEN @ later @ SEEN.T
            blocks[s, :, t] = blocks[t, :, s].T
            later = STEP @ later
        spread = STEP @ spread @ STEP.T + added
    return blocks.reshape(2 * LENGTH, 2 * LENGTH)


NOTHING = np.zeros((4, 4))
BY_SQUARE = of_places(ADDED, NOTHING)
WHOLE = AT_STRENGTH**2 * BY_SQUARE + of_places(NOTHING, WIDE**2 * np.eye(4))
WHOLE = WHOLE + np.kron(np.eye(LENGTH), AT_ERRORS)


def test_likelihood_and_gradient_are_those_of_one_gaussian() -> None:
    observed = kalman.draw(3, tracks=4, length=LENGTH).observed
    with sad.Graph() as graph:
        seen = sad.placeholder("float64", ("tracks", LENGTH, 2), name="observed")
        strength = sad.placeholder("float64", (), name="strength")
        errors = sad.placeholder("float64", (2, 2), name="errors")
        found = kalman.kalman(seen, strength, errors)
        slopes = sad.gradients(sad.sum(found.log_likelihood), [strength, errors, seen])
    feeds = {seen: observed, strength: AT_STRENGTH, errors: AT_ERRORS}
    with sad.Session(graph) as session:
        values, by_strength, by_errors, by_seen = session.run(
            [found.log_likelihood, *slopes], feeds
        )
    rows = observed.reshape(4, 2 * LENGTH)
    gaussian = stats.multivariate_normal(np.zeros(2 * LENGTH), WHOLE)
    np.testing.assert_allclose(values, gaussian.logpdf(rows), rtol=1e-11)
    inverse = np.linalg.inv(WHOLE)
    weights = rows @ inverse
    np.testing.assert_allclose(by_seen.reshape(rows.shape), -weights, rtol=1e-7, atol=1e-10)
    # The gradient in the covariance of all, and what of it belongs to each of its parts.
    by_whole = 0.5 * (weights.T @ weights - len(rows) * inverse)
    right = np.sum(by_whole * BY_SQUARE) * 2 * AT_STRENGTH
    np.testing.assert_allclose(by_strength, right, rtol=1e-9)
    blocks = by_whole.reshape(LENGTH, 2, LENGTH, 2)
    right = sum(blocks[t, :, t] for t in range(LENGTH))
    np.testing.assert_allclose((by_errors + by_errors.T) / 2, right, rtol=1e-8, atol=1e-9)
    sad.testing.check_gradients(sad.sum(found.log_likelihood), [strength, errors], feeds, order=2)


def test_the_last_place_is_the_conditional_mean() -> None:
    observed = kalman.draw(4, tracks=3, length=LENGTH).observed
    with sad.Graph() as graph:
        found = kalman.kalman(
            sad.constant(observed), sad.constant(np.array(AT_STRENGTH)), sad.constant(AT_ERRORS)
        )
    with sad.Session(graph) as session:
        places = session.run(found.places)
    places_alone = WHOLE - np.kron(np.eye(LENGTH), AT_ERRORS)
    gain = places_alone[-2:] @ np.linalg.inv(WHOLE)
    right = observed.reshape(3, -1) @ gain.T
    np.testing.assert_allclose(places[:, -1], right, rtol=1e-9)


def test_strength_and_errors_are_learned() -> None:
    tracks = kalman.draw(1, tracks=40, length=30)
    with sad.Session(kalman.build(30, steps=80)) as session:
        curve = kalman.train(session, tracks, 80, progress=False)
        strength, errors, share = kalman.compare(session, tracks)
    assert curve.losses[-1] < curve.losses[0]
    assert strength < 0.15
    assert errors == curve.score < 0.12
    assert share < 0.85
