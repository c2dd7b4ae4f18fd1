"""Family E and C7: einsum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import build, grad, grads, value

DTYPES = ["float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_C7_a_broadcast_index_of_size_1(dtype: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return sad.einsum("i,i", x, y)

    assert value(f, [2.0, 2.0], [2.0], dtype=dtype) == 8
    gx, gy = grads(f, [2.0, 2.0], [2.0], dtype=dtype)
    np.testing.assert_array_equal(gx, [2, 2])
    assert gy.shape == (1,)
    np.testing.assert_array_equal(gy, [4])


@pytest.mark.parametrize(
    ("spec", "shapes"),
    [
        ("ij,ij->ij", ((2, 3), (1, 3))),
        ("ij,ij->ij", ((2, 1), (1, 3))),
        ("bij,bjk->bik", ((1, 2, 3), (4, 3, 2))),
        ("bij,bjk->bik", ((4, 2, 1), (4, 3, 2))),
        ("...ij,...jk->...ik", ((3, 1, 2, 2), (4, 2, 3))),
        ("i...,j...->...", ((2, 3, 1), (3, 3, 2))),
    ],
)
def test_C7_broadcasting_in_batches_keeps_shapes(spec: str, shapes: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=shape) for shape in shapes)
    found = value(lambda x, y: sad.einsum(spec, x, y), x, y)
    np.testing.assert_allclose(found, np.einsum(spec, x, y), rtol=1e-13)
    gx, gy = grads(lambda x, y: sad.einsum(spec, x, y), x, y)
    assert (gx.shape, gy.shape) == shapes
    # Linear in each operand.
    total = np.sum(np.einsum(spec, x, y))
    np.testing.assert_allclose([np.sum(gx * x), np.sum(gy * y)], total, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_E1_gradient_of_a_trace(dtype: str) -> None:
    x = np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(
        grad(lambda x: sad.einsum("ii->", x), x.tolist(), dtype), np.eye(2)
    )
    batch = [x.tolist(), x.tolist(), x.tolist()]
    found = grad(lambda x: sad.einsum("bii->b", x), batch, dtype)
    np.testing.assert_array_equal(found, np.broadcast_to(np.eye(2), (3, 2, 2)))


def test_E1_second_order_of_a_diagonal() -> None:
    x = np.random.default_rng(1).normal(size=(3, 3, 3))
    graph, (point,), y = build(lambda x: sad.sum(sad.einsum("iij,iji->ij", x, x)), (x,), "float64")
    (slope,) = sad.gradients(y, point)
    (curve,) = sad.gradients(slope, point)
    with sad.Session(graph) as session:
        first, second = session.run([slope, curve], {point: x})
        ones = session.run(slope, {point: np.ones_like(x)})
    # Of a quadratic form the slope is linear: at ones it is the second derivative along ones.
    np.testing.assert_allclose(np.sum(first * x), 2 * np.sum(np.einsum("iij,iji->ij", x, x)))
    np.testing.assert_allclose(second, ones, rtol=1e-12)


@pytest.mark.parametrize("symbolic", [False, True])
def test_E3_indices_of_one_operand_that_are_summed(symbolic: bool) -> None:
    x = np.random.default_rng(3).normal(size=(3, 2, 3, 2))
    with sad.Graph() as graph:
        shape = ("a", "b", "c", "d") if symbolic else x.shape
        point = sad.placeholder("float64", shape)
        y = sad.einsum("abcd->bd", point)
        (slope,) = sad.gradients(sad.sum(y**2), point)
        (curve,) = sad.gradients(slope, point)
    with sad.Session(graph) as session:
        first, second = session.run([slope, curve], {point: x})
    expected = 2 * np.sum(x, axis=(0, 2))[None, :, None, :]
    np.testing.assert_allclose(first, np.broadcast_to(expected, x.shape), rtol=1e-13)
    # Each of 4 results is a sum of 9 elements.
    np.testing.assert_allclose(second, np.full(x.shape, 18.0), rtol=1e-13)


def test_E5_lists_of_integers() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
    named = value(lambda x, y: sad.einsum("ij,jk->ki", x, y), x, y)
    listed = value(lambda x, y: sad.einsum(x, [0, 1], y, [1, 2], [2, 0]), x, y)
    np.testing.assert_array_equal(named, listed)
    implicit = value(lambda x, y: sad.einsum(x, [4, 1], y, [1, 2]), x, y)
    np.testing.assert_array_equal(implicit, named)
    np.testing.assert_array_equal(
        value(lambda x: sad.einsum(x, [0, 0, ...], [..., 0]), np.arange(12.0).reshape(2, 2, 3)),
        np.einsum("ii...->...i", np.arange(12.0).reshape(2, 2, 3)),
    )


@pytest.mark.parametrize(
    "asked", [("ii->ii", np.ones((2, 2))), (np.ones((2, 2)), [0, 0], [0, 0])], ids=["text", "lists"]
)
def test_E5_an_index_twice_in_the_result_is_refused(asked: tuple[Any, ...]) -> None:
    with sad.Graph(), pytest.raises(sad.ArgumentError, match="stands twice in the result"):
        sad.einsum(*asked)
