"""Any index, against NumPy: reading, writing, adding, and the derivatives of all three."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

Array = np.ndarray[Any, Any]
Rng = np.random.Generator


def some(rng: Rng, probability: float) -> bool:
    return bool(rng.random() < probability)


def indexed_shape(rng: Rng) -> tuple[tuple[int, ...], Any]:
    """(shape, index): slices, integers, integer arrays, None and `...` in any combination."""
    least = 0 if some(rng, 0.1) else 1
    shape = tuple(int(n) for n in rng.integers(least, 5, size=rng.integers(0, 5)))
    used = int(rng.integers(0, len(shape) + 1))
    ellipsis = int(rng.integers(0, used + 1)) if some(rng, 0.5) else used + 1
    block = tuple(int(n) for n in rng.integers(least, 4, size=rng.integers(0, 3)))
    parts: list[Any] = []
    for k in range(used + 1):
        if some(rng, 0.15):
            parts.append(None)
        if k == ellipsis:
            parts.append(...)
        if k < used:
            size = shape[k + len(shape) - used if k >= ellipsis else k]
            parts.append(axis_index(rng, size, block))
    return shape, tuple(parts)


def axis_index(rng: Rng, size: int, block: tuple[int, ...]) -> Any:
    """An index of one axis; arrays broadcast to `block`."""
    kind = rng.choice(["slice", "integer", "array"]) if size else "slice"
    if kind == "integer":
        return int(rng.integers(-size, size))
    if kind == "array":
        shape = [block, block[1:], tuple(min(n, 1) for n in block)][rng.integers(0, 3)]
        values = rng.integers(-size, size, shape)
        return np.asarray(values, [np.int64, np.int32, np.int8][rng.integers(0, 3)])
    start, stop = (None if some(rng, 0.3) else int(rng.integers(-size - 2, size + 3)) for _ in "ab")
    return slice(start, stop, [None, 1, 2, 3, -1, -2, -3][rng.integers(0, 7)])


def fed(index: Any, feeds: dict[Any, Array]) -> Any:
    """The index with placeholders for its arrays."""
    parts = []
    for part in index:
        if isinstance(part, np.ndarray):
            given, part = part, sad.placeholder(part.dtype.name, part.shape)
            feeds[part] = given
        parts.append(part)
    return tuple(parts)


def positions(shape: tuple[int, ...], index: Any) -> Array:
    """Where in the flattened array each element of x[index] stands."""
    numbers: Array = np.arange(int(np.prod(shape))).reshape(shape)[index]
    return numbers


@pytest.mark.parametrize("seed", range(300))
def test_any_index_reads_and_writes_as_numpy_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape, index = indexed_shape(rng)
    symbolic, dynamic = some(rng, 0.5), some(rng, 0.5)
    places = positions(shape, index)
    x, v = np.asarray(rng.normal(size=shape)), np.asarray(rng.normal(size=shape))
    u, w = np.asarray(rng.normal(size=places.shape)), np.asarray(rng.normal(size=places.shape))
    with sad.Graph() as graph:
        declared = tuple(f"n{a}" for a in range(len(shape))) if symbolic else shape
        px, pv = (sad.placeholder("float64", declared) for _ in range(2))
        pu, pw = (sad.placeholder("float64", places.shape) for _ in range(2))
        feeds = {px: x, pv: v, pu: u, pw: w}
        at = fed(index, feeds) if dynamic else index
        read = px[at]
        (slope,) = sad.gradients(sad.sum(read**2 * pw), px, unconnected="zero")
        (curve,) = sad.gradients(sad.sum(slope), px, unconnected="zero")
        results = [read, slope, curve]
        for written in (px.at[at].set(pu), px.at[at].add(pu)):
            results += [
                written,
                *sad.gradients(sad.sum(written * pv), [px, pu], unconnected="zero"),
            ]
            results += sad.jvp(written, [px, pu], [pv, pw])
    with sad.Session(graph) as session:
        found = session.run(results, feeds)
    flat, where = x.reshape(-1), places.reshape(-1)
    spread = np.zeros(flat.size)
    np.add.at(spread, where, w.reshape(-1))
    # The update that stays is the last one for its place.
    last = np.full(flat.size, -1)
    last[where] = np.arange(where.size)
    stays = last[where] == np.arange(where.size)
    set_to, added, pushed, kept = (
        flat.copy(),
        flat.copy(),
        v.reshape(-1).copy(),
        v.reshape(-1).copy(),
    )
    set_to[where] = u.reshape(-1)
    np.add.at(added, where, u.reshape(-1))
    pushed[where] = w.reshape(-1)
    kept[where] = 0
    read_v = v.reshape(-1)[where]
    expected = [
        flat[where], 2 * flat * spread, 2 * spread,
        set_to, kept, read_v * stays, pushed,
        added, v, read_v, v.reshape(-1) + spread,
    ]  # fmt: skip
    shapes = [places.shape, shape, shape, *((shape, shape, places.shape, shape) * 2)]
    for array, values, wanted in zip(found, expected, shapes, strict=True):
        assert array.shape == wanted
        np.testing.assert_allclose(array, values.reshape(wanted), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    "index",
    [
        slice(-6, None, -3), slice(-4, None, -1), slice(-9, -7, -2), slice(-4, -4, -1),
        slice(5, None, 2), slice(None, -9, 1), slice(7, None, -1),
    ],
    ids=str,
)  # fmt: skip
def test_slices_beyond_both_ends(index: slice, symbolic: bool) -> None:
    x = np.arange(3.0)
    with sad.Graph() as graph:
        p = sad.placeholder("float64", ("n",) if symbolic else (3,))
        y, z = p[index], p.at[index].set(-1.0)
    expected = x.copy()
    expected[index] = -1
    with sad.Session(graph) as session:
        found = session.run([y, z], {p: x})
    assert [a.tolist() for a in found] == [x[index].tolist(), expected.tolist()]


def test_an_ellipsis_of_no_axes_sets_arrays_apart() -> None:
    x, rows = np.arange(24.0).reshape(2, 3, 4), np.array([[0, 1, 1]])
    for index in (
        (None, rows, ..., 2, slice(None)),
        (rows, 2, ..., 1),
        (slice(None), 0, ..., rows),
    ):
        with sad.Graph() as graph:
            y = sad.constant(x)[index]
        with sad.Session(graph) as session:
            found = session.run(y)
        assert found.shape == x[index].shape == y.shape
        np.testing.assert_array_equal(found, x[index])
