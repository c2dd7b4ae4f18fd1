"""The derivatives that every op states, against differences of its meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad.gradients import gradients, jvp
from staticad_schema.errors import GradientError
from staticad_schema.op import OPS, Constant, Op, PerOperand, Undefined
from staticad_schema.types import KINDS, Array, TensorType

from .every import DOUBLE, names, same_values, samples
from .running import Applied, inferred, meaning, types_of
from .samples import Sample

STOPS = {"stop_gradient": "its purpose is to be taken as constant"}
"""Ops that say "constant" of a function that is not."""


def test_exceptions_are_ops() -> None:
    assert set(STOPS) <= set(OPS)


def differentiable(definition: Op, sample: Sample) -> list[int]:
    """The operands that differences can judge the derivative for."""
    if isinstance(definition.grad, Constant | Undefined) or not sample.smooth:
        return []
    types = inferred(definition, types_of(sample.arrays), sample.attributes)
    if not all(t.dtype in DOUBLE or t.kind not in ("float", "complex") for t in types):
        return []
    if not any(t.dtype in DOUBLE for t in types):
        return []
    chosen = []
    for k, a in enumerate(sample.arrays):
        rules = definition.grad.rules if isinstance(definition.grad, PerOperand) else None
        if a.dtype in DOUBLE and (rules is None or rules[k] is not None):
            chosen.append(k)
    return chosen


def normal(rng: np.random.Generator, type_: TensorType) -> Array:
    """A random direction of that type, of about unit length."""
    shape = tuple(int(s) for s in type_.shape)
    values: Array = rng.normal(size=shape)
    if type_.kind == "complex":
        values = values + 1j * rng.normal(size=shape)
    return np.asarray(values / max(1.0, np.sqrt(values.size))).astype(type_.dtype)


def dot(a: Array, b: Array) -> float:
    """The real inner product, also of complex arrays."""
    return float(np.vdot(a, b).real)


def moved(arrays: list[Array], chosen: list[int], directions: list[Array], h: float) -> list[Array]:
    result = list(arrays)
    for k, v in zip(chosen, directions, strict=True):
        result[k] = arrays[k] + h * v
    return result


def quotient(f: Any, h: float = 1e-3) -> float:
    """df/dh at 0 by central differences of fourth order (Abramowitz and Stegun, 25.3.6)."""
    return float((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h))


@pytest.mark.parametrize(
    "name", names(lambda d: not isinstance(d.grad, Constant | Undefined) and bool(d.inputs))
)
def test_derivatives_by_random_projection(name: str) -> None:
    judged = 0
    for definition, sample in samples(name):
        chosen = differentiable(definition, sample)
        if chosen:
            judged += 1
            judge_derivatives(definition, sample, chosen)
    assert judged, f"no smooth float64 sample of {name}"


def judge_derivatives(definition: Op, sample: Sample, chosen: list[int]) -> None:
    rng = np.random.default_rng(7)
    built = Applied(definition, sample)
    arrays = list(sample.arrays)
    xs = [built.inputs[k] for k in chosen]
    ys = [y for y in built.outputs if y.type.dtype in DOUBLE]
    seeds = [built.source(y.type) for y in ys]
    rs = [normal(rng, y.type) for y in ys]
    vs = [normal(rng, x.type) for x in xs]
    ws = [normal(rng, x.type) for x in xs]
    given = dict(zip(seeds, rs, strict=True))

    # First order, reverse and forward.
    gs = gradients(ys, xs, seeds)
    assert [g.type for g in gs] == [x.type for x in xs], str(sample)
    first = built.run(gs, arrays, given)
    slope = quotient(lambda h: sum(map(dot, rs, built.run(ys, moved(arrays, chosen, vs, h)))))
    scale = 1.0 + abs(slope)
    assert abs(sum(map(dot, first, vs)) - slope) <= 1e-8 * scale, f"gradient at {sample}"
    tangents = [built.source(x.type) for x in xs]
    pushed = built.run(jvp(ys, xs, tangents), arrays, dict(zip(tangents, vs, strict=True)))
    assert abs(sum(map(dot, rs, pushed)) - slope) <= 1e-8 * scale, f"jvp at {sample}"

    # Second order: the gradient of <first, v>, along w.
    again = [built.source(x.type) for x in xs]
    given.update(zip(again, vs, strict=True))
    seconds = built.run(gradients(gs, xs, again, unconnected="zero"), arrays, given)
    curve = quotient(
        lambda h: sum(map(dot, vs, built.run(gs, moved(arrays, chosen, ws, h), given)))
    )
    scale = 1.0 + abs(curve)
    assert abs(sum(map(dot, seconds, ws)) - curve) <= 1e-7 * scale, f"order 2 at {sample}"


@pytest.mark.parametrize("name", names(lambda d: bool(d.inputs) and d.name not in STOPS))
def test_what_is_constant_does_not_vary(name: str) -> None:
    rng = np.random.default_rng(8)
    for definition, sample in samples(name):
        if not sample.smooth:
            continue
        grad = definition.grad
        for k, a in enumerate(sample.arrays):
            fixed = isinstance(grad, Constant) or (
                isinstance(grad, PerOperand) and grad.rules[k] is None
            )
            if not fixed or a.dtype not in DOUBLE or not a.size:
                continue
            v = normal(rng, types_of([a])[0])
            near = list(sample.arrays)
            near[k] = a + 1e-9 * v
            here = meaning(definition, sample.arrays, sample.attributes)
            there = meaning(definition, near, sample.attributes)
            for x, y in zip(here, there, strict=True):
                if KINDS[x.dtype] in ("float", "complex"):
                    assert same_values(y, x, 0.0), f"operand {k} of {sample}"


@pytest.mark.parametrize("name", names(lambda d: isinstance(d.grad, Undefined)))
def test_what_is_undefined_says_why(name: str) -> None:
    definition, sample = next((d, s) for d, s in samples(name) if s.arrays[0].dtype in DOUBLE)
    assert isinstance(definition.grad, Undefined)
    built = Applied(definition, sample)
    with pytest.raises(GradientError) as caught:
        gradients(built.outputs, built.inputs[0])
    assert definition.grad.why in str(caught.value)


@pytest.mark.parametrize("name", names(lambda d: bool(d.inputs)))
def test_integers_get_no_gradient(name: str) -> None:
    for definition, sample in samples(name):
        if sample.arrays and sample.arrays[0].dtype == np.int64:
            built = Applied(definition, sample)
            with pytest.raises(GradientError, match="not differentiable"):
                gradients(built.outputs or built.inputs, built.inputs[0])
            return
