"""Stage 2, rules of class stable: no less accurate than what they replace."""

from __future__ import annotations

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import rewrite, select
from staticad_executor.compile.rewrite import Report
from staticad_executor.devices.numpy import NumpyDevice

from ..tolerance import units
from .rule_cases import Build, applied, results, share

NEARER: dict[str, list[Build]] = {
    "log_of_share": [
        lambda x: sad.log(sad.nn.softmax(x, axis=1)),
        lambda x: sad.log(sad.sigmoid(x)),
    ],
    "log_one_plus_exp": [lambda x: sad.log1p(sad.exp(x))],
    "log_of_sum": [lambda x: sad.log(sad.exp(x) + sad.exp(-2 * x))],
    "one_minus_sigmoid": [lambda x: 1 - sad.sigmoid(x)],
    "log_one_plus": [lambda x: sad.log(1 + x)],
    "exp_minus_one": [lambda x: sad.exp(x) - 1],
    "square_as_product": [lambda x: x**2],
    "log_sum_exp": [
        lambda x: sad.broadcast_to(sad.log(sad.sum(sad.exp(x), axis=1, keepdims=True)), x.shape)
    ],
    "logistic": [lambda x: 1 / (1 + sad.exp(-x)), lambda x: sad.reciprocal(sad.exp(x) + 1)],
}
STABLE = [(name, k) for name, builds in NEARER.items() for k in range(len(builds))]


@pytest.mark.parametrize(("name", "k"), STABLE, ids=[f"{n}-{k}" for n, k in STABLE])
def test_stable_rules_are_no_less_accurate(name: str, k: int) -> None:
    build = NEARER[name][k]
    sizes = np.array([1e-30, 1e-10, 1e-3, 0.5, 1.0, 5.0, 17.0, 60.0])
    feed = np.concatenate([sizes, -sizes, [0.0, -0.0, 80.0, -80.0]]).reshape(-1, 4)
    graph, x, y = applied(build, "float32")
    report = Report()
    rewrite(select(graph, [y.id], [], {x.id: x.type}), (name,), NumpyDevice.claimed, report)
    assert report.applied[name] == 1
    true = results(build, "float64", feed, (name,))
    naive, nearer = (results(build, "float32", feed, r).astype(float) for r in ((), (name,)))
    with np.errstate(invalid="ignore"):
        lost = np.abs(nearer - true) - np.abs(naive - true)
    assert not np.any(lost > units("float32") * np.abs(true)), (true, naive, nearer)
    special = np.array([[np.nan, np.inf, -np.inf, 0.0]])
    naive, nearer = (results(build, "float32", special, r) for r in ((), (name,)))
    kept = np.isnan(naive) & ~np.isnan(special)
    assert np.array_equal(np.isnan(nearer) | kept, np.isnan(naive))


@pytest.mark.parametrize("offset", [0.0, 70.0, -70.0])
def test_logarithms_of_shares_do_not_round_what_is_beside_them(offset: float) -> None:
    rng = np.random.default_rng(0)
    feed = rng.uniform(-9, 9, (64, 4)).astype(np.float32) + np.float32(offset)
    build: Build = lambda x: share(sad.exp(x))  # noqa: E731
    wide = feed.astype(float)
    true = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    naive, nearer = (
        results(build, "float32", feed, r).astype(float) for r in ((), ("log_softmax",))
    )
    assert not np.array_equal(naive, nearer)
    # A share near 1 is rounded, by itself or as the sum that it is one over.
    assert np.abs(nearer - true).max() <= np.abs(naive - true).max() + units("float32")
    assert np.all(np.abs(nearer - true) <= units("float32") * np.maximum(np.abs(true), 1))
    special = np.array([[np.nan, np.inf, -np.inf, 0.0], [200.0, -np.inf, 0.0, 1.0]])
    found = results(build, "float32", special, ("log_softmax",))
    assert np.isnan(found[0]).all()
    assert np.array_equal(found[1], np.array([0.0, -np.inf, -200.0, -199.0], np.float32))
