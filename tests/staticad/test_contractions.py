"""Contractions other than einsum, against NumPy's: values, gradients, broadcasting, sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

from ..cases.running import value

RNG = np.random.default_rng(0)
Function = Callable[..., Any]


def normal(*shape: int, dtype: str = "float64") -> Array:
    values: Any = RNG.normal(size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * RNG.normal(size=shape)
    return np.asarray(values, dtype)


def check(f: Function, reference: Function, *operands: Array) -> None:
    """Value and gradients of a function that is linear in each operand, or in its conjugate."""
    expected = np.asarray(reference(*operands))
    with sad.Graph() as graph:
        xs = [sad.placeholder(x.dtype, x.shape) for x in operands]
        y = f(*xs)
        assert (y.shape, y.dtype) == (expected.shape, expected.dtype)
        seed = normal(*expected.shape, dtype=expected.dtype.name)
        slopes = sad.gradients(y, xs, sad.constant(seed))
    with sad.Session(graph) as session:
        found, *slopes = session.run([y, *slopes], dict(zip(xs, operands, strict=True)))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    for k, (x, slope) in enumerate(zip(operands, slopes, strict=True)):
        v = normal(*x.shape, dtype=x.dtype.name)
        moved = reference(*(v if j == k else o for j, o in enumerate(operands)))
        np.testing.assert_allclose(
            np.vdot(slope, v).real, np.vdot(seed, moved).real, rtol=1e-11, atol=1e-12
        )


DTYPES = pytest.mark.parametrize("dtype", ["float64", "complex128"])


@DTYPES
@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3), (3, 4), 1),
        ((2, 3), (4,), 0),
        ((2, 3, 4), (4, 3, 5), ((1, 2), (1, 0))),
        ((2, 3, 4), (5, 4), (-1, -1)),
        ((2, 3, 4), (4, 2, 3), ((0, 1, 2), (1, 2, 0))),
        ((3,), (3,), 1),
        ((2, 0), (0, 3), 1),
        ((2, 1), (1, 3), 1),
        ((), (2, 3), 0),
    ],
)
def test_tensordot(a: tuple[int, ...], b: tuple[int, ...], axes: Any, dtype: str) -> None:
    x, y = normal(*a, dtype=dtype), normal(*b, dtype=dtype)
    check(lambda x, y: sad.tensordot(x, y, axes=axes), lambda x, y: np.tensordot(x, y, axes), x, y)


@DTYPES
@pytest.mark.parametrize(
    ("a", "b", "axis"),
    [
        ((3,), (3,), -1),
        ((2, 3), (2, 3), -1),
        ((2, 3), (3,), -1),
        ((3,), (4, 2, 3), -1),
        ((2, 1, 3), (4, 3), -1),
        ((3, 2), (3, 2), 0),
        ((3, 2), (5, 3, 2), -2),
        ((2, 0), (2, 0), -1),
        ((1,), (4, 1), -1),
    ],
)
def test_vecdot(a: tuple[int, ...], b: tuple[int, ...], axis: int, dtype: str) -> None:
    x, y = normal(*a, dtype=dtype), normal(*b, dtype=dtype)

    def reference(x: Array, y: Array) -> Array:
        vecdot: Any = np.vecdot
        return np.asarray(vecdot(x, y, axis=axis))

    check(lambda x, y: sad.vecdot(x, y, axis=axis), reference, x, y)


@DTYPES
@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("matvec", (2, 3), (3,)),
        ("matvec", (5, 2, 3), (5, 3)),
        ("matvec", (5, 2, 3), (3,)),
        ("matvec", (2, 3), (5, 3)),
        ("matvec", (4, 1, 2, 3), (5, 3)),
        ("vecmat", (2,), (2, 3)),
        ("vecmat", (5, 2), (5, 2, 3)),
        ("vecmat", (5, 2), (2, 3)),
        ("inner", (3,), (3,)),
        ("inner", (2, 3), (4, 5, 3)),
        ("inner", (), (2, 3)),
        ("dot", (3,), (3,)),
        ("dot", (2, 3), (3, 4)),
        ("dot", (2, 3), (4, 3, 5)),
        ("dot", (4, 2, 3), (3,)),
        ("dot", (3,), (2, 3, 4)),
        ("dot", (2,), ()),
        ("vdot", (2, 3), (2, 3)),
        ("vdot", (2, 3), (6,)),
        ("outer", (2,), (3,)),
        ("outer", (0,), (3,)),
        ("kron", (2,), (3,)),
        ("kron", (2, 3), (2, 2)),
        ("kron", (2,), (3, 2, 2)),
        ("kron", (3, 2, 2), (2,)),
        ("kron", (), (2, 2)),
        ("kron", (), ()),
        ("cross", (3,), (3,)),
        ("cross", (2, 3), (3,)),
        ("cross", (4, 1, 3), (2, 3)),
    ],
)
def test_products(name: str, a: tuple[int, ...], b: tuple[int, ...], dtype: str) -> None:
    x, y = normal(*a, dtype=dtype), normal(*b, dtype=dtype)
    check(getattr(sad, name), getattr(np, name), x, y)


def _in_space(x: Array, axis: int) -> Array:
    if x.shape[axis] == 3:
        return x
    return np.concatenate([x, np.zeros_like(np.take(x, [0], axis))], axis)


@pytest.mark.parametrize(
    ("a", "b", "axis"),
    [
        ((3, 4), (3, 4), 0),
        ((4, 3, 2), (4, 3, 2), 1),
        ((2,), (2,), -1),
        ((4, 2), (4, 3), -1),
        ((3, 4), (2, 4), 0),
        ((4, 2), (2,), -1),
        ((2, 4), (2, 4), 0),
    ],
)
def test_cross_along_an_axis_and_in_the_plane(
    a: tuple[int, ...], b: tuple[int, ...], axis: int
) -> None:
    def reference(x: Array, y: Array) -> Array:
        found = np.cross(_in_space(x, axis), _in_space(y, axis), axis=axis)
        return found.take(2, axis) if x.shape[axis] == y.shape[axis] == 2 else found

    check(lambda x, y: sad.cross(x, y, axis=axis), reference, normal(*a), normal(*b))


@pytest.mark.parametrize("offset", [-4, -2, -1, 0, 1, 2, 4])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (3, 2, 5), (0, 3)])
def test_trace(shape: tuple[int, ...], offset: int) -> None:
    x = normal(*shape)
    check(lambda x: sad.trace(x, offset), lambda x: np.trace(x, offset), x)
    check(
        lambda x: sad.linalg.trace(x, offset=offset),
        lambda x: np.trace(x, offset, -2, -1),
        x,
    )
    found = value(lambda x: sad.trace(x, offset, 1, 0), x.astype(np.int8) + np.int8(100))
    expected = np.trace(x.astype(np.int8).astype(np.int64) + 100, offset, 1, 0)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("offset", [-1, 0, 2])
@pytest.mark.parametrize("shape", [("n", "n"), ("n", "m"), (3, "m")])
def test_trace_of_symbolic_sizes(shape: tuple[Any, ...], offset: int) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", shape)
        y = sad.trace(x, offset)
        (slope,) = sad.gradients(y, x)
    with sad.Session(graph) as session:
        for m in (3,) if shape[0] == shape[1] else (1, 3, 5):
            a = normal(3, m)
            found, grad = session.run([y, slope], {x: a})
            np.testing.assert_allclose(found, np.trace(a, offset))
            np.testing.assert_array_equal(grad, np.eye(3, m, offset))


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (3, 4)),
        ((10, 100), (100, 5), (5, 50)),
        ((3,), (3, 4), (4,)),
        ((2, 3), (3, 4), (4, 5), (5,)),
        ((2,), (2,)),
    ],
)
def test_multi_dot(shapes: Any) -> None:
    operands = [normal(*shape) for shape in shapes]
    check(
        lambda *xs: sad.linalg.multi_dot(xs), lambda *xs: np.linalg.multi_dot(list(xs)), *operands
    )


@pytest.mark.parametrize(
    ("f", "shapes", "bad"),
    [
        (lambda x, y: sad.vecdot(x, y), (("b", "n"), ("b", "m")), ((2, 1), (2, 3))),
        (lambda x, y: sad.vecdot(x, y), ((2, 1), (2, "m")), ((2, 1), (2, 3))),
        (lambda x, y: sad.tensordot(x, y, axes=1), (("b", "n"), (1, 4)), ((2, 3), (1, 4))),
        (lambda x, y: sad.dot(x, y), (("n",), ("m",)), ((1,), (3,))),
        (lambda x, y: sad.matvec(x, y), ((2, "n"), (2, "m")), ((2, 3), (2, 1))),
        (lambda x, y: sad.linalg.multi_dot([x, y, x]), (("n", 2), ("m", 1)), ((3, 2), (2, 1))),
    ],
)
def test_axes_that_are_summed_do_not_broadcast(f: Function, shapes: Any, bad: Any) -> None:
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", shape) for shape in shapes]
        y = f(*xs)
    with sad.Session(graph) as session, pytest.raises(sad.StaticadError):
        session.run(y, {x: np.ones(shape) for x, shape in zip(xs, bad, strict=True)})


def test_sizes_that_differ_are_found_where_there_are_no_elements() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3, 4), name="x")
        y = sad.placeholder("float32", ("n", "m"), name="y")
        z = sad.tensordot(x, y, axes=1)
    with sad.Session(graph) as session:
        for shape in ((5, 0), (5, 2)):
            with pytest.raises(sad.ShapeError, match="y"):
                session.run(z, {x: np.zeros((3, 4)), y: np.zeros(shape)})
        assert session.run(z, {x: np.zeros((3, 4)), y: np.zeros((4, 0))}).shape == (3, 0)
