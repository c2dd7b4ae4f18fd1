"""Hundreds of random indices with masks that are fed, whose sizes runs find, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import staticad as sad

from .test_indexing_fuzz import WAYS, Array, combined, declared, indexed, places_of


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


def is_masked(index: Any) -> bool:
    return any(np.asarray(p).dtype == np.bool_ for p in index if not isinstance(p, slice))


@settings(max_examples=600, deadline=None)
@given(case=indexed(), symbolic=st.booleans(), planned=st.booleans(), seed=st.integers(0, 99))
def test_any_index_with_masks_reads_as_numpy_does(
    case: tuple[tuple[int, ...], Any], symbolic: bool, planned: bool, seed: int
) -> None:
    shape, index = case
    assume(is_masked(index))
    places = places_of(shape, index)
    if places is None:
        return
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


@settings(max_examples=300, deadline=None)
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
    shape, index = case
    assume(is_masked(index))
    places = places_of(shape, index)
    if places is None:
        return
    rng = np.random.default_rng(seed)
    x = np.asarray(rng.normal(size=shape))
    u = np.asarray(rng.normal(size=() if scalar else places.shape))
    v, dx, du = (np.asarray(rng.normal(size=s)) for s in (shape, x.shape, u.shape))
    with sad.Graph() as graph:
        p = sad.placeholder("float64", declared(shape, symbolic))
        pu = sad.placeholder("float64", u.shape)
        feeds = {p: x, pu: u}
        at = with_masks_fed(index, feeds, symbolic)
        y = getattr(p.at[at], how)(pu)
        slopes = sad.gradients(sad.sum(y * v), [p, pu], unconnected="zero")
        (along,) = sad.jvp(y, [p, pu], [sad.constant(dx), sad.constant(du)])
    with sad.Session(graph) as session:
        found, gx, gu, pushed = session.run([y, *slopes, along], feeds)

    def value(h: float) -> Array:
        moved = np.broadcast_to(u + h * du, places.shape)
        return combined(how, x + h * dx, places, moved)

    np.testing.assert_allclose(found, value(0.0), rtol=1e-12, atol=1e-12)
    h = 1e-6
    difference = (value(h) - value(-h)) / (2 * h)
    assert np.all(np.abs(pushed - difference) <= 1e-4 * (1 + np.abs(difference)) ** 2)
    total = float(np.sum(gx * dx) + np.sum(gu * du))
    np.testing.assert_allclose(total, np.sum(pushed * v), rtol=1e-9, atol=1e-9)
