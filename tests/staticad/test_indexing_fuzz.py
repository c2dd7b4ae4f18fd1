"""Thousands of random indices against NumPy: what is read, what is written, and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import staticad as sad

Array = np.ndarray[Any, Any]
Draw = Any


def arrays_of(draw: Draw, size: int, block: tuple[int, ...]) -> Any:
    """An index array of an axis, which broadcasts to `block`: an array, a list or a range."""
    shape = draw(st.sampled_from([block, block[1:], tuple(min(n, 1) for n in block), ()]))
    count = int(np.prod(shape))
    values = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
    dtype = draw(st.sampled_from([np.int64, np.int32, np.int8]))
    array = np.array(values, dtype).reshape(shape)
    if array.ndim and draw(st.integers(0, 4)) == 0:
        return array.tolist()
    return array


def slices_of(draw: Draw, size: int) -> slice:
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = draw(st.sampled_from([None, 1, 2, 3, -1, -2, -3]))
    return slice(draw(bound), draw(bound), step)


def masks_of(draw: Draw, shape: tuple[int, ...], count: int) -> Array:
    """A mask that is true at `count` places, or at as many as there are."""
    size = int(np.prod(shape))
    order = draw(st.permutations(range(size)))
    mask = np.zeros(size, bool)
    mask[list(order[: min(count, size)])] = True
    return mask.reshape(shape)


@st.composite
def indexed(draw: Draw) -> tuple[tuple[int, ...], Any]:
    """(shape, index): slices, integers, arrays, masks, True, False, None and `...`, combined."""
    least = draw(st.sampled_from([1, 1, 1, 0]))
    shape = tuple(draw(st.lists(st.integers(least, 4), max_size=4)))
    used = draw(st.integers(0, len(shape)))
    ellipsis = draw(st.integers(0, used)) if draw(st.booleans()) else None
    block = tuple(draw(st.lists(st.integers(least, 3), max_size=2)))
    # A mask stands for a vector of as many places as are true.
    length = block[-1] if block else 1
    parts: list[Any] = []
    k = 0
    while k < used or (k == used and ellipsis == used and ... not in map(_kind, parts)):
        if ellipsis == k and ... not in map(_kind, parts):
            parts.append(...)
            continue
        if draw(st.integers(0, 6)) == 0:
            parts.append(draw(st.sampled_from([None, None, True, np.True_, False])))
        axis = k if ellipsis is None or k < ellipsis else k + len(shape) - used
        size = shape[axis]
        kinds = ["slice", "slice"]
        if size:
            kinds += ["integer", "array", "mask"]
        kind = draw(st.sampled_from(kinds))
        if kind == "mask":
            until = used if ellipsis is None or k >= ellipsis else ellipsis
            depth = draw(st.integers(1, min(2, until - k)))
            masked = shape[axis : axis + depth]
            if np.prod(masked) >= length:
                mask = masks_of(draw, masked, length)
                parts.append(mask.tolist() if draw(st.integers(0, 4)) == 0 else mask)
                k += depth
                continue
            kind = "slice"
        if kind == "slice":
            parts.append(slices_of(draw, size))
        elif kind == "integer":
            parts.append(draw(st.integers(-size, size - 1)))
        else:
            parts.append(arrays_of(draw, size, block))
        k += 1
    if draw(st.integers(0, 8)) == 0:
        parts.append(draw(st.sampled_from([None, True])))
    return shape, tuple(parts)


def _kind(part: Any) -> Any:
    return part if part is ... else None


def places_of(shape: tuple[int, ...], index: Any) -> Array | None:
    """Where in the flattened array each element of x[index] stands; None if it does not fit."""
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        return np.asarray(numbers[index])
    except IndexError:
        return None


def declared(shape: tuple[int, ...], symbolic: bool) -> tuple[Any, ...]:
    return tuple(f"n{a}" for a in range(len(shape))) if symbolic else shape


def fed(index: Any, feeds: dict[Any, Array]) -> Any:
    """The index with placeholders for its arrays of integers."""
    parts = []
    for part in index:
        if isinstance(part, np.ndarray) and part.dtype != np.bool_:
            given_part, part = part, sad.placeholder(part.dtype.name, part.shape)
            feeds[part] = given_part
        parts.append(part)
    return tuple(parts)


@settings(max_examples=2000)
@given(case=indexed(), symbolic=st.booleans(), dynamic=st.booleans(), seed=st.integers(0, 99))
def test_any_index_reads_as_numpy_does(
    case: tuple[tuple[int, ...], Any], symbolic: bool, dynamic: bool, seed: int
) -> None:
    shape, index = case
    places = places_of(shape, index)
    assume(places is not None)
    assert places is not None
    rng = np.random.default_rng(seed)
    x, w = np.asarray(rng.normal(size=shape)), np.asarray(rng.normal(size=places.shape))
    with sad.Graph() as graph:
        p = sad.placeholder("float64", declared(shape, symbolic))
        pw = sad.placeholder("float64", places.shape)
        feeds = {p: x, pw: w}
        at = fed(index, feeds) if dynamic else index
        y = p[at]
        (slope,) = sad.gradients(sad.sum(y**2 * pw), p, unconnected="zero")
        (curve,) = sad.gradients(sad.sum(slope), p, unconnected="zero")
    with sad.Session(graph) as session:
        found, first, second = session.run([y, slope, curve], feeds)
    assert found.shape == places.shape
    assert symbolic or y.shape == places.shape
    np.testing.assert_array_equal(found, x.reshape(-1)[places])
    spread = np.zeros(x.size)
    np.add.at(spread, places.reshape(-1), w.reshape(-1))
    np.testing.assert_allclose(first, 2 * x * spread.reshape(shape), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second, 2 * spread.reshape(shape), rtol=1e-12, atol=1e-12)


def combined(how: str, x: Array, places: Array, u: Array) -> Array:
    """x, flat, with updates put one by one."""
    out = x.reshape(-1).copy()
    ufuncs = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
        "max": np.maximum, "min": np.minimum,
    }  # fmt: skip
    if how == "set":
        out[places.reshape(-1)] = u.reshape(-1)
    else:
        ufuncs[how].at(out, places.reshape(-1), u.reshape(-1))
    return out.reshape(x.shape)


WAYS = ("set", "add", "subtract", "multiply", "divide", "max", "min")


@settings(max_examples=700)
@given(
    case=indexed(),
    how=st.sampled_from(WAYS),
    symbolic=st.booleans(),
    dynamic=st.booleans(),
    scalar=st.booleans(),
    seed=st.integers(0, 99),
)
def test_any_index_writes_as_numpy_does(
    case: tuple[tuple[int, ...], Any],
    how: str,
    symbolic: bool,
    dynamic: bool,
    scalar: bool,
    seed: int,
) -> None:
    def given_as(feeds: dict[Any, Array]) -> Any:
        return fed(case[1], feeds) if dynamic else case[1]

    check_writing(case, given_as, how, symbolic, scalar, seed)


def check_writing(
    case: tuple[tuple[int, ...], Any],
    given_as: Callable[[dict[Any, Array]], Any],
    how: str,
    symbolic: bool,
    scalar: bool,
    seed: int,
) -> None:
    """Value and derivatives of x.at[index].how(u) are NumPy's.

    given_as: the index, with placeholders for what it adds to the feeds.
    """
    shape, index = case
    places = places_of(shape, index)
    assume(places is not None)
    assert places is not None
    rng = np.random.default_rng(seed)
    x = np.asarray(rng.normal(size=shape))
    u = np.asarray(rng.normal(size=() if scalar else places.shape))
    v, dx, du = (np.asarray(rng.normal(size=s)) for s in (shape, x.shape, u.shape))
    with sad.Graph() as graph:
        p = sad.placeholder("float64", declared(shape, symbolic))
        pu = sad.placeholder("float64", u.shape)
        feeds = {p: x, pu: u}
        y = getattr(p.at[given_as(feeds)], how)(pu)
        slopes = sad.gradients(sad.sum(y * v), [p, pu], unconnected="zero")
        (along,) = sad.jvp(y, [p, pu], [sad.constant(dx), sad.constant(du)])
    with sad.Session(graph) as session:
        found, gx, gu, pushed = session.run([y, *slopes, along], feeds)

    def value(h: float) -> Array:
        moved = np.broadcast_to(u + h * du, places.shape)
        return combined(how, x + h * dx, places, moved)

    np.testing.assert_allclose(found, value(0.0), rtol=1e-12, atol=1e-12)
    # Central differences: far from ties, where what is largest does not change.
    h = 1e-6
    difference = (value(h) - value(-h)) / (2 * h)
    assert np.all(np.abs(pushed - difference) <= 1e-4 * (1 + np.abs(difference)) ** 2)
    total = float(np.sum(gx * dx) + np.sum(gu * du))
    np.testing.assert_allclose(total, np.sum(pushed * v), rtol=1e-9, atol=1e-9)
