"""Hundreds of random indices with masks that are fed, whose sizes runs find, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import staticad as sad

from .test_indexing_fuzz import WAYS, Array, check_writing, declared, indexed, places_of


def with_masks_fed(index: Any, feeds: dict[Any, Array], symbolic: bool) -> tuple[Any, ...]:
    """The index with placeholders for its bools, and for its arrays of integers."""
    parts: list[Any] = []
    for part in index:
        array = np.asarray(part) if isinstance(part, np.ndarray | bool | np.bool_ | list) else None
        if array is not None and (array.dtype == np.bool_ or isinstance(part, np.ndarray)):
            shape = (None,) * array.ndim if symbolic else array.shape
            part = sad.placeholder(array.dtype.name, shape, name=f"part_{len(parts)}")
            feeds[part] = array
        parts.append(part)
    return tuple(parts)


# A third of the indices has masks.
SOME = settings(suppress_health_check=[HealthCheck.filter_too_much])


def is_masked(index: Any) -> bool:
    return any(np.asarray(p).dtype == np.bool_ for p in index if not isinstance(p, slice))


@settings(SOME, max_examples=600)
@given(case=indexed(), symbolic=st.booleans(), planned=st.booleans(), seed=st.integers(0, 99))
def test_any_index_with_masks_reads_as_numpy_does(
    case: tuple[tuple[int, ...], Any], symbolic: bool, planned: bool, seed: int
) -> None:
    shape, index = case
    assume(is_masked(index))
    places = places_of(shape, index)
    assume(places is not None)
    assert places is not None
    rng = np.random.default_rng(seed)
    x, v = np.asarray(rng.normal(size=shape)), np.asarray(rng.normal(size=shape))
    with sad.Graph() as graph:
        p, pv = (sad.placeholder("float64", declared(shape, symbolic)) for _ in range(2))
        feeds = {p: x, pv: v}
        at = with_masks_fed(index, feeds, symbolic)
        y = p[at]
        value = sad.sum(y**3)
        (slope,) = sad.gradients(value, p, unconnected="zero")
        (curve,) = sad.gradients(sad.sum(slope * pv), p, unconnected="zero")
        (pushed,) = sad.jvp(slope, p, [pv])
    with sad.Session(graph, check_numerics=not planned) as session:
        found, first, second, forward = session.run([y, slope, curve, pushed], feeds)
    np.testing.assert_array_equal(found, x.reshape(-1)[places], strict=True)
    times = np.bincount(places.reshape(-1), minlength=x.size).reshape(shape)
    np.testing.assert_allclose(first, 3 * x**2 * times, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second, 6 * x * v * times, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(forward, second, rtol=1e-12, atol=1e-12)


@settings(SOME, max_examples=300)
@given(
    case=indexed(),
    how=st.sampled_from(WAYS),
    symbolic=st.booleans(),
    scalar=st.booleans(),
    seed=st.integers(0, 99),
)
def test_any_index_with_masks_writes_as_numpy_does(
    case: tuple[tuple[int, ...], Any], how: str, symbolic: bool, scalar: bool, seed: int
) -> None:
    assume(is_masked(case[1]))

    def given_as(feeds: dict[Any, Array]) -> Any:
        return with_masks_fed(case[1], feeds, symbolic)

    check_writing(case, given_as, how, symbolic, scalar, seed)
