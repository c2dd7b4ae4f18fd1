"""Functions that only move elements, against NumPy: values, and derivatives to second order.

Each element of the result is an element of x or 0, so that NumPy, applied to the numbers of the
elements, says what the derivatives are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import agrees, apply, run

Array = np.ndarray[Any, Any]
Move = Callable[[Any], Any]


def symbolic_placeholder(dtype: str, shape: tuple[int, ...]) -> Any:
    """Every size is a symbol, equal ones the same."""
    return sad.placeholder(dtype, tuple(f"n{n}" for n in shape))


def by(owner: Any, name: str, *arguments: Any, **named: Any) -> Move:
    """A function of an owner with arguments behind the tensor."""
    return lambda x: getattr(owner, name)(x, *arguments, **named)


MOVES: dict[str, tuple[Move, Move, tuple[int, ...]]] = {
    "transpose": (lambda x: sad.transpose(x), np.transpose, (2, 3, 4)),
    "transpose of axes": (
        lambda x: sad.transpose(x, (1, -1, 0)),
        lambda x: np.transpose(x, (1, 2, 0)),
        (2, 3, 4),
    ),
    "swapaxes": (lambda x: sad.swapaxes(x, 0, -1), lambda x: np.swapaxes(x, 0, -1), (2, 3, 4)),
    **{
        f"rot90 {k} {axes}": (by(sad, "rot90", k, axes), by(np, "rot90", k, axes), (2, 3, 4))
        for k in (-1, 0, 1, 2, 3, 6)
        for axes in ((0, 1), (1, 0), (2, 0))
    },
    "flip": (lambda x: sad.flip(x, (0, 2)), lambda x: np.flip(x, (0, 2)), (2, 3, 4)),
    "flipud": (sad.flipud, np.flipud, (3, 2)),
    "fliplr": (sad.fliplr, np.fliplr, (3, 2)),
    "roll": (lambda x: sad.roll(x, 2), lambda x: np.roll(x, 2), (2, 3)),
    "roll twice along one axis": (
        lambda x: sad.roll(x, (1, 1), 1),
        lambda x: np.roll(x, (1, 1), 1),
        (2, 4),
    ),
    "roll along two axes": (
        lambda x: sad.roll(x, (1, -5), (0, 1)),
        lambda x: np.roll(x, (1, -5), (0, 1)),
        (2, 4),
    ),
    "roll of one shift": (
        lambda x: sad.roll(x, 1, (0, 1)),
        lambda x: np.roll(x, 1, (0, 1)),
        (2, 4),
    ),
    "roll of a scalar": (lambda x: sad.roll(x, 3), lambda x: np.roll(x, 3), ()),
    "flatten": (sad.flatten, np.ravel, (2, 3)),
    "flatten behind": (
        lambda x: sad.flatten(x, 1),
        lambda x: x.reshape(x.shape[0], -1),
        (2, 3, 4),
    ),
    "flatten a scalar": (sad.flatten, np.ravel, ()),
    "ravel": (sad.ravel, np.ravel, (2, 3)),
    "atleast_1d": (sad.atleast_1d, np.atleast_1d, ()),
    "atleast_2d": (sad.atleast_2d, np.atleast_2d, (3,)),
    **{
        f"atleast_3d of rank {len(shape)}": (sad.atleast_3d, np.atleast_3d, shape)
        for shape in ((), (3,), (2, 3), (2, 3, 1, 2))
    },
    "squeeze": (lambda x: sad.squeeze(x[:, None]), lambda x: x, (2, 3)),
    "repeat": (lambda x: sad.repeat(x, 2), lambda x: np.repeat(x, 2), (2, 3)),
    "repeat along": (lambda x: sad.repeat(x, 3, -1), lambda x: np.repeat(x, 3, -1), (2, 3)),
    "repeat no times": (lambda x: sad.repeat(x, 0, 0), lambda x: np.repeat(x, 0, 0), (2, 3)),
    "repeat each": (
        lambda x: sad.repeat(x, [2, 0, 1], 1),
        lambda x: np.repeat(x, [2, 0, 1], 1),
        (2, 3),
    ),
    "repeat by one in a list": (
        lambda x: sad.repeat(x, [2], 1),
        lambda x: np.repeat(x, [2], 1),
        (2, 3),
    ),
    "tile": (lambda x: sad.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), (2, 3)),
    **{
        f"{name} {k} of {shape}": (by(sad, name, k), by(np, name, k), shape)
        for name in ("tril", "triu")
        for k in (-4, -1, 0, 1, 5)
        for shape in ((3, 3), (2, 2, 4), (0, 3))
    },
    **{
        f"diagonal {k} of {shape}": (by(sad, "diagonal", k), by(np, "diagonal", k), shape)
        for k in (-5, -1, 0, 2)
        for shape in ((3, 3), (2, 4), (3, 2, 2), (0, 3))
    },
    "diagonal of other axes": (
        lambda x: sad.diagonal(x, 1, -1, 0),
        lambda x: np.diagonal(x, 1, -1, 0),
        (3, 2, 4),
    ),
    **{
        f"diag {k} of {shape}": (by(sad, "diag", k), by(np, "diag", k), shape)
        for k in (-2, 0, 1)
        for shape in ((3,), (1,), (0,), (3, 4))
    },
    "diagflat": (lambda x: sad.diagflat(x, 1), lambda x: np.diagflat(x, 1), (2, 2)),
    "diag_embed": (
        lambda x: sad.diag_embed(x, -1),
        lambda x: np.stack([np.diag(row, -1) for row in x]),
        (2, 3),
    ),
    "diag_embed of other axes": (
        lambda x: sad.diag_embed(x, 1, 0, 2),
        lambda x: np.moveaxis(np.stack([np.diag(row, 1) for row in x]), 0, 1),
        (2, 3),
    ),
    "diag_embed of exchanged axes": (
        lambda x: sad.diag_embed(x, 1, -1, -2),
        lambda x: np.stack([np.diag(row, 1).T for row in x]),
        (2, 3),
    ),
    "fill_diagonal": (
        lambda x: sad.fill_diagonal(x, False),
        lambda x: np.where(np.eye(*x.shape[-2:]), 0, x),
        (2, 3, 4),
    ),
    "depth_to_space": (
        lambda x: sad.nn.depth_to_space(x, 2),
        lambda x: x.reshape(2, 2, 2, 2, 3, 1).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 6, 2),
        (2, 8, 3, 1),
    ),
    "pixel_shuffle": (
        lambda x: sad.nn.pixel_shuffle(x, 2),
        lambda x: x.reshape(2, 2, 2, 2, 3, 1).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 2),
        (2, 8, 3, 1),
    ),
    "space_to_depth undoes": (
        lambda x: sad.nn.space_to_depth(sad.nn.depth_to_space(x, 2), 2),
        lambda x: x,
        (2, 8, 3, 1),
    ),
    "pixel_unshuffle undoes": (
        lambda x: sad.nn.pixel_unshuffle(sad.nn.pixel_shuffle(x, 2), 2),
        lambda x: x,
        (2, 8, 3, 1),
    ),
    "channel_shuffle": (
        lambda x: sad.nn.channel_shuffle(x, 3),
        lambda x: x.reshape(2, 3, 2, 4).swapaxes(1, 2).reshape(2, 6, 4),
        (2, 6, 4),
    ),
}


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", MOVES)
def test_elements_and_derivatives_move_as_numpys(name: str, symbolic: bool) -> None:
    function, meaning, shape = MOVES[name]
    rng = np.random.default_rng(1)
    x = np.asarray(rng.normal(size=shape))
    expected = np.asarray(meaning(x))
    source = np.asarray(meaning(np.arange(1, x.size + 1).reshape(shape))).reshape(-1) - 1
    w = np.asarray(rng.normal(size=expected.shape))
    with sad.Graph() as graph:
        p = (
            symbolic_placeholder("float64", shape)
            if symbolic
            else sad.placeholder("float64", shape)
        )
        pw = sad.placeholder("float64", w.shape)
        y = function(p)
        if not symbolic:
            assert y.shape == expected.shape
        (slope,) = sad.gradients(sad.sum(y**2 * pw), p, unconnected="zero")
        (curve,) = sad.gradients(sad.sum(slope), p, unconnected="zero")
        (pushed,) = sad.jvp(y, [p], [p])
    found, first, second, along = run(graph, [y, slope, curve, pushed], {p: x, pw: w})
    agrees(found, expected)
    agrees(along, expected)
    spread = np.zeros(x.size)
    np.add.at(spread, source[source >= 0], w.reshape(-1)[source >= 0])
    np.testing.assert_allclose(first, 2 * x * spread.reshape(shape), atol=1e-12)
    np.testing.assert_allclose(second, 2 * spread.reshape(shape), atol=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("name", MOVES)
def test_dtypes_stay(name: str, dtype: str) -> None:
    function, meaning, shape = MOVES[name]
    with sad.Graph() as graph:
        p = sad.placeholder(dtype, shape)
        y = function(p)
    x = np.arange(int(np.prod(shape))).reshape(shape).astype(p.dtype)
    found = run(graph, y, {p: x})
    expected = np.asarray(meaning(x.real.astype(np.int64))).astype(p.dtype)
    assert found.dtype == y.dtype == p.dtype
    np.testing.assert_array_equal(found, expected)


def grid(owner: Any, indexing: str) -> Callable[..., Any]:
    return lambda *v: owner.stack(owner.meshgrid(*v, indexing=indexing))


JOINS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "hstack of vectors": (lambda *v: sad.hstack(v), lambda *v: np.hstack(v), ((2,), (3,))),
    "hstack of numbers": (lambda *v: sad.hstack(v), lambda *v: np.hstack(v), ((), ())),
    "hstack": (lambda *v: sad.hstack(v), lambda *v: np.hstack(v), ((2, 1), (2, 3))),
    "vstack": (lambda *v: sad.vstack(v), lambda *v: np.vstack(v), ((3,), (2, 3))),
    "dstack": (lambda *v: sad.dstack(v), lambda *v: np.dstack(v), ((3,), (1, 3))),
    "dstack of blocks": (lambda *v: sad.dstack(v), lambda *v: np.dstack(v), ((2, 3, 1), (2, 3))),
    "column_stack": (
        lambda *v: sad.column_stack(v),
        lambda *v: np.column_stack(v),
        ((3,), (3, 2)),
    ),
    "append": (lambda a, b: sad.append(a, b), lambda a, b: np.append(a, b), ((2, 2), (3,))),
    "append along": (
        lambda a, b: sad.append(a, b, 1),
        lambda a, b: np.append(a, b, 1),
        ((2, 2), (2, 1)),
    ),
    "block": (
        lambda a, b, c: sad.block([[a, b], [c]]),
        lambda a, b, c: np.block([[a, b], [c]]),
        ((2, 2), (2, 1), (3,)),
    ),
    "block of one": (lambda a: sad.block(a), lambda a: np.block(a), ((2,),)),
    **{
        f"meshgrid {indexing} of {len(shapes)}": (
            grid(sad, indexing),
            grid(np, indexing),
            shapes,
        )
        for indexing in ("xy", "ij")
        for shapes in (((3,),), ((3,), (2,)), ((3,), (2,), (4,)), ((), (2,)), ((0,), (2,)))
    },
}


@pytest.mark.parametrize("name", JOINS)
def test_joined_as_numpy_does(name: str) -> None:
    function, meaning, shapes = JOINS[name]
    rng = np.random.default_rng(2)
    arrays = [np.asarray(rng.normal(size=s)) for s in shapes]
    expected = meaning(*arrays)
    for symbolic in (False, True):
        agrees(apply(function, *arrays, symbolic=symbolic and "block" not in name), expected)
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", s) for s in shapes]
        y = function(*xs)
        slopes = sad.gradients(sad.sum(y**2) / 2, xs)
    found = run(graph, slopes, dict(zip(xs, arrays, strict=True)))
    for g, a in zip(found, arrays, strict=True):
        times = expected.size // 2 // max(a.size, 1) if "meshgrid" in name else 1
        assert g.shape == a.shape
        if "meshgrid" not in name:
            np.testing.assert_allclose(g, a * times)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    ("name", "how", "axis"),
    [
        ("split", 3, 1),
        ("split", 2, -2),
        ("split", [1, 3], 1),
        ("split", [0, 2, 1, 9], 1),
        ("split", [-2], 1),
        ("split", (), 0),
        ("array_split", 4, 1),
        ("array_split", 9, 1),
        ("array_split", [2], 0),
        ("hsplit", 3, None),
        ("vsplit", [1], None),
    ],
)
def test_split_as_numpy_does(name: str, how: Any, axis: int | None, symbolic: bool) -> None:
    x = np.arange(24.0).reshape(4, 6)
    more = () if axis is None else (axis,)
    expected = getattr(np, name)(x, how, *more)
    found = apply(lambda p: getattr(sad, name)(p, how, *more), x, symbolic=symbolic)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        agrees(a, b)


def test_parts_have_plain_sizes() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", 6), name="x")
        n = x.shape[0]
        assert [p.shape for p in sad.split(sad.concat([x, x]), 2)] == [(n, 6), (n, 6)]
        assert sad.dsplit(sad.zeros((1, 2, 4)), [1])[1].shape == (1, 2, 3)


def test_a_size_that_does_not_divide_when_it_is_known() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        parts = sad.split(x, 3)
    assert [p.tolist() for p in run(graph, parts, {x: [1, 2, 3]})] == [[1], [2], [3]]
    with pytest.raises(sad.StaticadError, match="the number of elements changes"):
        run(graph, parts, {x: [1, 2, 3, 4]})


def test_indices_of_triangles() -> None:
    for n, k, m in ((3, 0, None), (3, -1, 4), (2, 1, 3), (0, 0, None)):
        with sad.Graph() as graph:
            found = [*sad.tril_indices(n, k, m), *sad.triu_indices(n, k, m), sad.tri(n, m, k)]
        expected = [*np.tril_indices(n, k, m), *np.triu_indices(n, k, m), np.tri(n, m, k)]
        for a, b in zip(run(graph, found), expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_a_triangle_leaves_out_is_not_looked_at() -> None:
    x = np.array([[1.0, np.inf], [np.nan, 2.0]])
    with sad.Graph() as graph:
        p = sad.placeholder("float64", (2, 2))
        y = sad.tril(sad.triu(p))
        (g,) = sad.gradients(sad.sum(y**2), p)
    found, slope = run(graph, [y, g], {p: x})
    assert (found.tolist(), slope.tolist()) == ([[1, 0], [0, 2]], [[2, 0], [0, 4]])


def test_fill_diagonal_with_a_tensor() -> None:
    with sad.Graph() as graph:
        x, v = sad.placeholder("float64", (2, 3, 2)), sad.placeholder("float64", (2,))
        y = sad.fill_diagonal(x, v)
        dx, dv = sad.gradients(y, [x, v])
    found = run(graph, [y, dx, dv], {x: np.zeros((2, 3, 2)), v: [5.0, 6.0]})
    assert found[0].tolist() == [[[5, 0], [0, 6], [0, 0]]] * 2
    assert found[1].tolist() == [[[0, 1], [1, 0], [1, 1]]] * 2
    assert found[2].tolist() == [2, 2]


def test_broadcast_shapes() -> None:
    assert sad.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert sad.broadcast_shapes() == ()
    with sad.Graph():
        size = sad.placeholder("float32", ("n",)).shape[0]
        assert sad.broadcast_shapes((size, 1), 4) == (size, 4)
    with pytest.raises(sad.ShapeError):
        sad.broadcast_shapes((2,), (3,))


def test_C5_broadcast_in_every_dtype_and_order() -> None:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        with sad.Graph() as graph:
            x = sad.placeholder(dtype, (2, 1, 3))
            y = sad.broadcast_to(x, (4, 2, 5, 3))
            (g,) = sad.gradients(sad.sum(y), x)
            (slope,) = sad.gradients(sad.sum(y * y) / 2, x)
            (curve,) = sad.gradients(sad.sum(slope), x)
        ones = np.ones((2, 1, 3), x.dtype)
        for found in run(graph, [g, slope, curve], {x: ones}):
            assert found.dtype == x.dtype
            np.testing.assert_array_equal(found, 20 * ones)
