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


class Judged:
    """An application with directions v, w of its operands and cotangents r of its results."""

    def __init__(self, definition: Op, sample: Sample, chosen: list[int]) -> None:
        rng = np.random.default_rng(7)
        self.built = Applied(definition, sample)
        self.chosen = chosen
        self.arrays = list(sample.arrays)
        self.xs = [self.built.inputs[k] for k in chosen]
        self.ys = [y for y in self.built.outputs if y.type.dtype in DOUBLE]
        self.r = [normal(rng, y.type) for y in self.ys]
        self.v = [normal(rng, x.type) for x in self.xs]
        self.w = [normal(rng, x.type) for x in self.xs]
        self.given: dict[Any, Array] = {}
        self.seeds = self.sources(self.r)
        self.gs = gradients(self.ys, self.xs, self.seeds)

    def sources(self, arrays: list[Array]) -> list[Any]:
        """A placeholder fed with each of the arrays."""
        found = [self.built.source(t) for t in types_of(arrays)]
        self.given.update(zip(found, arrays, strict=True))
        return found

    def run(self, fetches: list[Any], h: float = 0.0, along: list[Array] | None = None) -> Any:
        """The values, with the operands moved by h along a direction."""
        at = moved(self.arrays, self.chosen, along, h) if along else self.arrays
        return self.built.run(fetches, at, self.given)


def agree(found: list[Array], directions: list[Array], slope: float, size: float, error: str,
          relative: float = 1e-8) -> None:  # fmt: skip
    """Whether <found, directions> is a quotient of differences of numbers of that size.

    Relative to the sum of the moduli of the terms; the quotient itself has the rounding of
    the numbers, over the step.
    """
    terms = sum(float(np.abs(a.conj() * d).sum()) for a, d in zip(found, directions, strict=True))
    product = sum(map(dot, found, directions))
    assert abs(product - slope) <= relative * max(terms, abs(slope)) + 1e-11 * size + 1e-14, error


def judge_derivatives(definition: Op, sample: Sample, chosen: list[int]) -> None:
    j = Judged(definition, sample, chosen)
    assert [g.type for g in j.gs] == [x.type for x in j.xs], str(sample)

    # First order, reverse and forward.
    values = j.run(j.ys)
    size = sum(float(np.abs(r * y).sum()) for r, y in zip(j.r, values, strict=True))
    slope = quotient(lambda h: sum(map(dot, j.r, j.run(j.ys, h, j.v))))
    first = j.run(j.gs)
    agree(first, j.v, slope, size, f"gradient at {sample}")
    pushed = j.run(jvp(j.ys, j.xs, j.sources(j.v)))
    agree(pushed, j.r, slope, size, f"jvp at {sample}")

    # Second order: the gradient of <first, v>, along w.
    seconds = j.run(gradients(j.gs, j.xs, j.sources(j.v), unconnected="zero"))
    size = sum(float(np.abs(g * v).sum()) for g, v in zip(first, j.v, strict=True))
    curve = quotient(lambda h: sum(map(dot, j.v, j.run(j.gs, h, j.w))))
    agree(seconds, j.w, curve, size, f"order 2 at {sample}", 1e-7)


@pytest.mark.parametrize(
    "name", names(lambda d: not isinstance(d.grad, Constant | Undefined) and bool(d.inputs))
)
def test_all_ways_to_a_second_derivative_agree(name: str) -> None:
    for definition, sample in samples(name):
        chosen = differentiable(definition, sample)
        if not chosen:
            continue
        j = Judged(definition, sample, chosen)
        vs = j.sources(j.v)
        reverse = j.run(gradients(j.gs, j.xs, vs, unconnected="zero"))
        # The Hessian of <r, y> is symmetric: these are the same products, entry by entry.
        forward = j.run(jvp(j.gs, j.xs, vs))
        largest = max((float(np.abs(a).max(initial=0.0)) for a in reverse), default=0.0)
        for a, b in zip(reverse, forward, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(
                b, a, rtol=1e-9, atol=1e-12 * largest + 1e-300,
                err_msg=f"forward over reverse at {sample}",
            )  # fmt: skip
        # Forward over forward, contracted with r, is <w, H v>.
        twice = j.run(jvp(jvp(j.ys, j.xs, vs), j.xs, j.sources(j.w)))
        terms = sum(float(np.abs(r * t).sum()) for r, t in zip(j.r, twice, strict=True))
        expected = sum(map(dot, reverse, j.w))
        assert abs(sum(map(dot, j.r, twice)) - expected) <= 1e-9 * max(terms, abs(expected)), (
            f"forward over forward at {sample}"
        )


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
