"""Random einsums, value and gradient, against NumPy's.

The elements are small integers, so that both are exact whatever the order of contraction.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.interpret import interpret
from staticad_schema.types import Array

LETTERS = "abcdXY"


class Spec:
    """Random subscripts, and operands that they fit."""

    def __init__(self, number: int) -> None:
        random = Random(number)
        sizes = {letter: random.randrange(4) or random.randrange(1, 4) for letter in LETTERS}
        spread = [random.randrange(1, 4) for _ in range(2)]
        self.named = random.random() < 0.7
        dotted = random.random() < 0.35
        self.terms: list[list[Any]] = []
        shapes = []
        for _ in range(random.choice((1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 9))):
            letters = [random.choice(LETTERS) for _ in range(random.randrange(4))]
            one = {i for i in letters if random.random() < 0.1}
            shape = [1 if i in one else sizes[i] for i in letters]
            term: list[Any] = list(letters)
            if dotted and random.random() < 0.8:
                rank, place = random.randrange(3), random.randrange(len(term) + 1)
                extra = [1 if random.random() < 0.2 else s for s in spread[2 - rank :]]
                term.insert(place, ...)
                shape[place:place] = extra
            self.terms.append(term)
            shapes.append(shape)
        self.output = self._output(random) if random.random() < 0.8 else None
        self.arrays = [
            np.array([random.randrange(-3, 4) for _ in range(int(np.prod(s)))], float).reshape(s)
            for s in shapes
        ]

    def _output(self, random: Random) -> list[Any]:
        known = sorted({i for term in self.terms for i in term if i is not ...})
        chosen = random.sample(known, random.randrange(len(known) + 1))
        output: list[Any] = list(chosen)
        if any(... in term for term in self.terms):
            output.insert(random.randrange(len(output) + 1), ...)
        return output

    def arguments(self, operands: list[Any]) -> tuple[Any, ...]:
        """What einsum is called with."""
        if self.named:
            terms = ",".join("".join("..." if i is ... else i for i in t) for t in self.terms)
            if self.output is not None:
                terms += " -> " + "".join("..." if i is ... else i for i in self.output)
            return terms, *operands
        lists = [[i if i is ... else LETTERS.index(i) for i in t] for t in self.terms]
        out = (
            None
            if self.output is None
            else [i if i is ... else LETTERS.index(i) for i in self.output]
        )
        flat = [x for pair in zip(operands, lists, strict=True) for x in pair]
        return (*flat, out) if out is not None else tuple(flat)

    def __repr__(self) -> str:
        return f"{self.arguments([a.shape for a in self.arrays])}"

    def einsum(self, arrays: list[Array]) -> Array:
        """NumPy's result."""
        return np.asarray(np.einsum(*self.arguments(arrays)))


def check(spec: Spec, symbolic: bool) -> None:
    """Value and gradient are NumPy's."""
    expected = spec.einsum(spec.arrays)
    with sad.Graph() as graph:
        xs = [
            sad.placeholder("float64", [f"n{s}" if symbolic and s != 1 else s for s in a.shape])
            for a in spec.arrays
        ]
        y = sad.einsum(*spec.arguments(xs))
        seed = sad.placeholder("float64", y.shape)
        gradients = sad.gradients(y, xs, seed)
    assert symbolic or y.shape == expected.shape
    rng = np.random.default_rng(len(repr(spec)))
    up = rng.integers(-3, 4, expected.shape).astype(float)
    feeds = {x.id: a for x, a in zip([*xs, seed], [*spec.arrays, up], strict=True)}
    found, *slopes = interpret(graph, [v.id for v in (y, *gradients)], (), feeds, {}, 0).values
    np.testing.assert_array_equal(found, expected)
    for k, (array, slope) in enumerate(zip(spec.arrays, slopes, strict=True)):
        assert slope.shape == array.shape
        # Linear in each operand: the slope along v is the value at v.
        v = rng.integers(-3, 4, array.shape).astype(float)
        moved = spec.einsum([v if j == k else a for j, a in enumerate(spec.arrays)])
        assert np.sum(slope * v) == np.sum(moved * up), f"operand {k}"


MANY = settings(max_examples=2000, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
SPECS = st.integers(0, 2**64).map(Spec)


@given(spec=SPECS)
@MANY
def test_random_einsums(spec: Spec) -> None:
    check(spec, symbolic=False)


@given(spec=SPECS)
@settings(MANY, max_examples=1000)
def test_random_einsums_of_symbolic_sizes(spec: Spec) -> None:
    check(spec, symbolic=True)
