"""Zeros of both signs, ties, NaN, infinities and subnormal numbers: what runs is what is meant.

Plans and expansions give the numbers of the meaning.  What those are is tested family by family.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from staticad_executor import Session
from staticad_schema.errors import StaticadError
from staticad_schema.op import Op
from staticad_schema.types import KINDS, REAL_OF, Array

from .every import names, rounding, same_values, samples
from .running import Applied, meaning
from .samples import Sample

NAN, INF = np.nan, np.inf
PATTERNS = (
    (0.0, -0.0, 1.0, -1.0, 1e-320, -1e-320, 1e300, -1e300),
    (NAN, 1.0, INF, -INF, 0.0, -0.0, 2.0, NAN),
    (-0.0,),
    (1.0,),
    (-INF,),
    (INF,),
    (NAN,),
    (1e-320,),
)
"""Repeated over the elements of an operand; the smallest of a smaller dtype becomes its own."""


def special(a: Array, pattern: tuple[float, ...], turn: int) -> Array:
    """An array of the type of a, of the numbers of the pattern from the `turn`-th on."""
    info: Any = ml_dtypes.finfo(REAL_OF.get(a.dtype, a.dtype))  # type: ignore[no-untyped-call]
    fitting = {1e-320: float(info.smallest_subnormal), 1e300: float(info.max) / 2}
    bounded = [np.copysign(fitting.get(abs(x), abs(x)), x) for x in pattern]
    result = np.empty(a.shape, a.dtype)
    parts = (result.real, result.imag) if a.dtype.kind == "c" else (result,)
    for k, part in enumerate(parts):
        part[...] = np.resize(np.roll(np.array(bounded), -turn - 3 * k), a.shape)
    return result


def specials(name: str) -> Iterator[tuple[Op, Sample]]:
    """Each application of the samples, of special numbers in place of the floats."""
    tried = set()
    for definition, sample in samples(name):
        floats = [KINDS[a.dtype] in ("float", "complex") for a in sample.arrays]
        key = (str(sample), tuple(a.dtype for a in sample.arrays))
        if key in tried or not any(
            a.size and f for a, f in zip(sample.arrays, floats, strict=True)
        ):
            continue
        tried.add(key)
        for pattern in PATTERNS:
            arrays = tuple(
                special(a, pattern, 2 * k) if f else a
                for k, (a, f) in enumerate(zip(sample.arrays, floats, strict=True))
            )
            yield definition, Sample(arrays, sample.attributes)


def outcome(compute: Any) -> tuple[tuple[Array, ...] | None, type[StaticadError] | None]:
    """The results, or the class of the error."""
    try:
        with np.errstate(all="ignore"):
            return tuple(compute()), None
    except StaticadError as error:
        return None, type(error)


def differing(expected: Any, found: Any, exact: bool) -> str | None:
    """How two outcomes differ."""
    (right, error), (results, other) = expected, found
    if right is None or results is None:
        return None if error is other else f"{other} instead of {error}"
    for k, (x, y) in enumerate(zip(results, right, strict=True)):
        if not same_values(x, y, 0.0 if exact else rounding(y)):
            return f"output {k}: {x} instead of {y}"
    return None


@pytest.mark.parametrize("name", names(lambda d: d.effect == "pure" and bool(d.inputs)))
def test_a_plan_computes_the_meaning_of_special_numbers(name: str) -> None:
    for definition, sample in specials(name):
        built = Applied(definition, sample)
        expected = outcome(lambda d=definition, s=sample: meaning(d, s.arrays, s.attributes))
        feeds = dict(zip(built.inputs, sample.arrays, strict=True))
        with Session(built.graph, device="numpy") as session:
            found = outcome(lambda b=built, f=feeds, s=session: s.run(b.outputs, f))
        wrong = differing(expected, found, definition.elementwise)
        assert wrong is None, f"{sample} of {sample.arrays}: {wrong}"


@pytest.mark.parametrize("name", names(lambda d: d.expand is not None and d.numpy is not None))
def test_an_expansion_means_the_same_of_special_numbers(name: str) -> None:
    for definition, sample in specials(name):
        built = Applied(definition, sample)
        complete = definition.attributes(sample.attributes)
        outputs = definition.expansion(built.inputs, complete)
        expected = outcome(lambda d=definition, s=sample: meaning(d, s.arrays, s.attributes))
        found = outcome(lambda b=built, o=outputs, s=sample: b.run(o, s.arrays))
        wrong = differing(expected, found, exact=False)
        assert wrong is None, f"{sample} of {sample.arrays}: {wrong}"
