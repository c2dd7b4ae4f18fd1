"""Every op of the registry, over its samples: what it says of itself must be true."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from staticad.gradients import gradients, jvp
from staticad_schema import codec
from staticad_schema.batching import batched
from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.op import OPS, Array, Constant, Op, PerOperand, Undefined, constant, op
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT32, KINDS, TensorType

from .running import Applied, bound, inferred, meaning, symbolic, types_of
from .samples import Sample, every_sample

SAMPLES = every_sample()

ELSEWHERE = {
    "call": "needs a function table: test_control.py",
    "group": "has neither operands nor results: test_control.py",
    "check": "fails on purpose: test_control.py",
    "check_only": "fails on purpose: test_control.py",
    "print": "its result is what it prints: test_control.py",
    "placeholder": "is fed: test_sources.py",
    "parameter": "is fed: test_sources.py",
    "variable": "is read from a session: test_sources.py",
    "read_variable": "is read from a session: test_sources.py",
    "run_number": "is known to the run: test_sources.py",
    "assign": "writes: test_sources.py",
    "assign_add": "writes: test_sources.py",
    "assign_sub": "writes: test_sources.py",
}
"""Ops that cannot be evaluated alone, and where they are tested."""

STOPS = {"stop_gradient": "its purpose is to be taken as constant"}
"""Ops that say "constant" of a function that is not."""

BATCH = 3
DOUBLE = (np.dtype(np.float64), np.dtype(np.complex128))


def missing_samples() -> set[str]:
    """The ops without samples, and the samples without ops."""
    return set(OPS) ^ (set(SAMPLES) | set(ELSEWHERE))


def names(which: Any = lambda definition: True) -> list[str]:
    return [name for name in sorted(SAMPLES) if name in OPS and which(OPS[name])]


def samples(name: str) -> Iterator[tuple[Op, Sample]]:
    for sample in SAMPLES[name]:
        yield OPS[name], sample


def same_values(found: Array, expected: Array, tolerance: float) -> bool:
    """Equal shape, dtype, NaNs and signs of zero; equal within the relative tolerance."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if KINDS[found.dtype] not in ("float", "complex"):
        return bool((found == expected).all())
    a, b = (
        np.stack([x.real, x.imag]) if x.dtype.kind == "c" else x.astype(np.float64)
        for x in (found, expected)
    )
    close = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        close |= np.abs(a - b) <= tolerance * np.abs(b)
    zeros = (a == 0) & (b == 0)
    return bool(close.all() and (np.signbit(a[zeros]) == np.signbit(b[zeros])).all())


# ---------------------------------------------------------------- completeness


def test_every_op_has_samples() -> None:
    assert missing_samples() == set()


def test_an_op_without_samples_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    @op(numpy=np.abs, grad=constant, batch="elementwise", name="unsampled")
    def unsampled(x: TensorType) -> TensorType:
        """An op nobody wrote samples for."""
        return x

    monkeypatch.delitem(OPS, "unsampled")
    assert "unsampled" not in missing_samples()
    monkeypatch.setitem(OPS, "unsampled", unsampled)
    assert missing_samples() == {"unsampled"}


@pytest.mark.parametrize(
    ("facets", "lacking"),
    [
        ({"grad": constant, "batch": "map"}, "numpy="),
        ({"numpy": np.abs, "grad": constant, "batch": "rows"}, "batch="),
        ({"numpy": np.abs, "grad": lambda x, out, g: (g,), "batch": "map"}, "jvp="),
        ({"numpy": np.abs, "grad": "expand", "batch": "map"}, "expand="),
        ({"numpy": np.abs, "grad": constant, "batch": "map", "elementwise": True}, "expr="),
        ({"numpy": np.abs, "grad": constant, "batch": "map", "effect": "magic"}, "effect="),
    ],
)
def test_an_op_with_a_missing_facet_is_refused(facets: dict[str, Any], lacking: str) -> None:
    def bad(x: TensorType) -> TensorType:
        """Incomplete."""
        return x

    with pytest.raises(TypeError, match=f"op bad lacks .*{lacking}"):
        op(**facets)(bad)
    assert "bad" not in OPS


@pytest.mark.parametrize("facet", ["grad", "batch"])
def test_the_derivative_and_the_batch_rule_have_no_default(facet: str) -> None:
    facets: dict[str, Any] = {"numpy": np.abs, "grad": constant, "batch": "map"}
    del facets[facet]
    with pytest.raises(TypeError, match=facet):
        op(**facets)


def test_an_op_without_a_docstring_is_refused() -> None:
    def bad(x: TensorType) -> TensorType:
        return x

    with pytest.raises(TypeError, match="docstring"):
        op(numpy=np.abs, grad=constant, batch="map")(bad)


def test_exceptions_to_the_rules_are_ops() -> None:
    assert set(ELSEWHERE) | set(STOPS) <= set(OPS)


# ---------------------------------------------------------------- values and types


@pytest.mark.parametrize("name", names())
def test_inferred_type_is_that_of_the_result(name: str) -> None:
    for definition, sample in samples(name):
        before = [a.tobytes() for a in sample.arrays]
        for a in sample.arrays:
            a.flags.writeable = False
        types = inferred(definition, types_of(sample.arrays), sample.attributes)
        results = meaning(definition, sample.arrays, sample.attributes)
        assert types == types_of(results), str(sample)
        assert [a.tobytes() for a in sample.arrays] == before, str(sample)


@pytest.mark.parametrize("name", names())
def test_results_known_from_elsewhere(name: str) -> None:
    for definition, sample in samples(name):
        if sample.expected is not None:
            (result,) = meaning(definition, sample.arrays, sample.attributes)
            assert same_values(result, sample.expected, sample.tolerance), (
                f"{sample}: {result} is not {sample.expected}"
            )


@pytest.mark.parametrize("name", names())
def test_symbolic_sizes(name: str) -> None:
    for definition, sample in samples(name):
        if not sample.symbolic or not any(a.ndim for a in sample.arrays):
            continue
        concrete = inferred(definition, types_of(sample.arrays), sample.attributes)
        built = Applied(definition, sample, symbolic(types_of(sample.arrays)))
        assert tuple(bound(t) for t in built.node.types) == concrete, str(sample)
        for found, expected in zip(
            built.run(built.outputs, sample.arrays),
            meaning(definition, sample.arrays, sample.attributes),
            strict=True,
        ):
            assert same_values(found, expected, 0.0), str(sample)


@pytest.mark.parametrize("name", names(lambda d: d.elementwise))
def test_elementwise_ops_of_sizes_zero_and_one(name: str) -> None:
    for definition, sample in samples(name):
        (whole,) = meaning(definition, sample.arrays, sample.attributes)
        full = np.broadcast_arrays(*sample.arrays) if sample.arrays else []
        for size in (0, 1):
            parts = [a.reshape(-1)[:size] for a in full]
            (part,) = meaning(definition, parts, sample.attributes)
            assert same_values(part, whole.reshape(-1)[:size], 0.0), str(sample)
            # A size-1 operand against a size-0 one gives size 0.
            if size == 0 and len(full) > 1:
                first = full[0].reshape(-1)[:1]
                (part,) = meaning(definition, [first, *parts[1:]], sample.attributes)
                assert part.shape == (0,), str(sample)


@pytest.mark.parametrize(
    "name", names(lambda d: not d.elementwise and bool(d.inputs) and d.effect == "pure")
)
def test_samples_have_sizes_zero_and_one(name: str) -> None:
    sizes = {s for _, sample in samples(name) for a in sample.arrays for s in a.shape}
    assert {0, 1} <= sizes


@pytest.mark.parametrize("name", names(lambda d: d.widen))
def test_half_floats_compute_in_float32_and_round_once(name: str) -> None:
    halves = (FLOAT16, BFLOAT16)
    tried = False
    for definition, sample in samples(name):
        if not any(a.dtype in halves for a in sample.arrays):
            continue
        tried = True
        wide = [a.astype(np.float32) if a.dtype in halves else a for a in sample.arrays]
        for half, single in zip(
            meaning(definition, sample.arrays, sample.attributes),
            meaning(definition, wide, sample.attributes),
            strict=True,
        ):
            with np.errstate(over="ignore"):
                assert same_values(half, single.astype(half.dtype), 0.0), str(sample)
            assert half.dtype in halves or single.dtype != FLOAT32
    admitted = any(a.dtype == FLOAT32 for _, s in samples(name) for a in s.arrays)
    assert tried or not admitted, f"no sample of {name} has a half float"


# ---------------------------------------------------------------- derivatives


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


@pytest.mark.parametrize("name", names(lambda d: bool(d.inputs)))
def test_what_is_constant_does_not_vary(name: str) -> None:
    if name in STOPS:
        pytest.skip(STOPS[name])
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


# ---------------------------------------------------------------- batches


def examples(a: Array) -> list[Array]:
    """Three arrays with the elements of one in other orders."""
    flat = a.reshape(-1)
    return [a, np.roll(flat, 1).reshape(a.shape), flat[::-1].reshape(a.shape)]


def subsets(count: int) -> list[tuple[bool, ...]]:
    """Which operands are mapped: every choice for few operands, all and each one for many."""
    if count <= 3:
        return [m for m in itertools.product((True, False), repeat=count) if any(m)]
    return [(True,) * count, *(tuple(k == j for j in range(count)) for k in range(count))]


@pytest.mark.parametrize(
    "name", names(lambda d: bool(d.inputs) and d.batch != "map" and d.effect == "pure")
)
def test_batch_rule_is_a_loop_over_examples(name: str) -> None:
    exact = OPS[name].elementwise
    for definition, sample in samples(name):
        if not sample.smooth or not {a.dtype.name for a in sample.arrays} <= {
            "float64", "int64", "bool", "complex128", "uint8",
        }:  # fmt: skip
            continue
        for mapped in subsets(len(sample.arrays)):
            stacks = [
                np.stack(examples(a)) if m else a
                for a, m in zip(sample.arrays, mapped, strict=True)
            ]
            built = Applied(OPS["group"], Sample())
            handles = [built.source(t) for t in types_of(stacks)]
            result = batched(definition, handles, mapped, sample.attributes)
            outputs = result if isinstance(result, tuple) else (result,)
            found = built.run(outputs, (), dict(zip(handles, stacks, strict=True)))
            loop = [
                meaning(
                    definition,
                    [s[i] if m else s for s, m in zip(stacks, mapped, strict=True)],
                    sample.attributes,
                )
                for i in range(BATCH)
            ]
            for k, column in enumerate(zip(*loop, strict=True)):
                expected = np.stack(column)
                assert (
                    same_values(found[k], expected, 0.0)
                    if exact
                    else (
                        found[k].shape == expected.shape
                        and found[k].dtype == expected.dtype
                        and np.allclose(found[k], expected, rtol=1e-12, atol=1e-14, equal_nan=True)
                    )
                ), f"{sample}, mapped {mapped}"


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("name", names())
def test_bytes_round_trip(name: str) -> None:
    for definition, sample in samples(name):
        built = Applied(definition, sample)
        data = codec.encode(built.graph)
        loaded: Graph = codec.decode(data)
        assert loaded.types == built.graph.types, str(sample)
        assert codec.encode(loaded) == data, str(sample)
        node = loaded.nodes[-1]
        found = meaning(OPS[node.op], sample.arrays, node.attributes)
        for x, y in zip(found, meaning(definition, sample.arrays, sample.attributes), strict=True):
            assert same_values(x, y, 0.0), str(sample)
