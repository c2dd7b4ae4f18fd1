"""Forward mode at special numbers: the tangent is what the gradient is, to second order.

Products of the chain rule come in another order there: a slope of 0 meets tangents that are
infinite already, where in reverse it made the cotangent 0 first.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.gradients import gradients, jvp
from staticad_schema.op import Constant, Undefined

from .every import names, samples
from .running import Applied
from .samples import Sample
from .samples_special import SAMPLES as SPECIAL

INF = np.inf
POINTS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.5, 1e-320, 1e-308, 30.0, -800.0, 1e30, -1e308, INF, -INF,
     np.nan]
)  # fmt: skip


def elementwise() -> list[str]:
    """Elementwise ops of floats that have derivatives, special functions of one or two floats."""
    special = [name for name in SPECIAL if len(SPECIAL[name][0].arrays) < 3]
    return names(
        lambda d: (
            (d.elementwise or d.name in special) and not isinstance(d.grad, Constant | Undefined)
        )
    )


@pytest.mark.parametrize("name", elementwise())
def test_tangents_are_finite_where_gradients_are(name: str) -> None:
    tried = set()
    for definition, sample in samples(name):
        kinds = tuple(a.dtype.kind for a in sample.arrays)
        key = (kinds, str(sample.attributes))
        if "f" not in kinds or not set(kinds) <= {"f", "b"} or key in tried:
            continue
        tried.add(key)
        grids: Any = itertools.product(*[POINTS if k == "f" else (False, True) for k in kinds])
        columns = zip(*grids, strict=True)
        arrays = tuple(
            np.array(c, np.float64 if k == "f" else bool)
            for c, k in zip(columns, kinds, strict=True)
        )
        judge(Applied(definition, Sample(arrays, sample.attributes)), arrays)
    assert tried or name in ("conj", "imag")


def judge(built: Applied, arrays: tuple[Any, ...]) -> None:
    (y,) = built.outputs
    if y.type.dtype != np.float64:
        return
    xs = [x for x in built.inputs if x.type.dtype == np.float64]
    backwards = gradients(y, xs, unconnected="zero")
    forwards = [jvp(y, x)[0] for x in xs]
    pairs = list(zip(backwards, forwards, strict=True))
    for g, t in zip(backwards, forwards, strict=True):
        for x, second in zip(xs, gradients(g, xs, unconnected="zero"), strict=True):
            pairs += [(second, jvp(g, x)[0]), (second, jvp(t, x)[0])]
    found = iter(built.run([f for pair in pairs for f in pair], arrays))
    for k, (right, other) in enumerate(zip(found, found, strict=True)):
        with np.errstate(all="ignore"):
            same = (right == other) | (abs(other - right) <= 1e-9 * abs(right) + 1e-15)
        wrong = np.flatnonzero(~same & ~np.isnan(right))
        places = [(*(a[i] for a in arrays), right[i], other[i]) for i in wrong]
        assert not places, f"pair {k}: {places}"


def test_a_slope_of_zero_stays_zero_before_infinite_tangents() -> None:
    functions: list[Any] = [
        lambda x: sad.nn.relu(sad.sqrt(x)),
        lambda x: sad.square(sad.abs(x) ** 0.0) * 0.0 * sad.sqrt(x),
        lambda x: sad.square(sad.sqrt(x)),
        lambda x: sad.abs(sad.sqrt(x)),
        lambda x: sad.prod(sad.stack([sad.sqrt(x), x, x])),
        lambda x: sad.max(sad.stack([sad.sqrt(x), x + 1.0])),
        lambda x: sad.logsumexp(sad.stack([sad.log(x), x])),
        lambda x: sad.linalg.vector_norm(sad.stack([sad.sqrt(x), x + 3.0])),
        lambda x: sad.cumulative_prod(sad.stack([x, sad.sqrt(x)]))[1],
        lambda x: sad.nn.softmax(sad.stack([sad.log(x), x + 0.0]))[1],
    ]
    for k, f in enumerate(functions):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", ())
            y = f(x)
            (dx,) = sad.gradients(y, x)
            (dy,) = sad.jvp(y, x)
        with sad.Session(graph) as session:
            backwards, forwards = session.run([dx, dy], {x: 0.0})
        assert np.isfinite(backwards), k
        assert forwards == backwards, k
