"""Determinants and their cofactors where products leave the range of floats, and come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from ...cases.running import Array, value
from .differences import random

det = sad.linalg.det


def gradients(x: Array, order: int = 1) -> list[Array]:
    """The determinant, and derivatives of the sums of what is before."""
    with sad.Graph() as graph:
        point = sad.placeholder(x.dtype, x.shape)
        found: list[Any] = [det(point)]
        for _ in range(order):
            found += sad.gradients(sad.sum(sad.real(found[-1])), point)
    with sad.Session(graph) as session:
        return [np.asarray(y) for y in session.run(found, {point: x})]


def test_products_out_of_range_on_the_way() -> None:
    large = np.diag([1e200, 1e200, 1e-200, 1e-199])
    np.testing.assert_allclose(value(det, large), 10, rtol=1e-15)
    np.testing.assert_allclose(value(det, large.astype(complex)), 10, rtol=1e-15)
    np.testing.assert_allclose(value(sad.linalg.slogdet, large)[1], np.log(10), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_products_beyond_the_range(dtype: str) -> None:
    a = np.diag([1e200, 1e200, 0.0, 2.0]).astype(dtype)
    assert value(det, a[:2, :2]) == np.inf
    assert value(det, a[:3, :3]) == 0
    assert value(det, a[[1, 0]][:, :2]) == -np.inf


@pytest.mark.parametrize("order", [np.arange(5), np.array([3, 0, 4, 1, 2])])
def test_cofactors_out_of_range_on_the_way(order: Array) -> None:
    diagonal = np.array([1e200, 1e200, 1.0, 1e-200, 1e-200])
    rows = np.eye(5)[order]
    _, first, second = gradients(rows @ np.diag(diagonal), order=2)
    sign = np.linalg.det(rows)
    np.testing.assert_allclose(first, sign * (rows @ np.diag(1 / diagonal)), rtol=1e-14)
    # Of the sum of cofactors, products of the diagonal without two elements.
    second = sign * second[np.argsort(order)]
    np.testing.assert_allclose(second[2, 2:], [2e200, -1e200, -1e200], rtol=1e-14)
    np.testing.assert_array_equal(second[3:, 3:], [[np.inf, -np.inf], [-np.inf, np.inf]])


def test_a_cofactor_beyond_the_range_spoils_no_other() -> None:
    found = gradients(np.stack([np.diag([1e160, 1e160, 1e-250]), np.diag([1e200, 1e200, 0.0])]))[1]
    np.testing.assert_allclose(found[0], np.diag([1e-90, 1e-90, np.inf]), rtol=1e-14)
    np.testing.assert_array_equal(found[1], np.diag([0, 0, np.inf]))


def test_a_matrix_beyond_the_range_spoils_no_other() -> None:
    regular = random(3, 3)
    alone = gradients(regular, order=2)
    both = gradients(np.stack([regular, np.diag([1e200, 1e200, 1.0])]), order=2)
    for one, two in zip(alone, both, strict=True):
        np.testing.assert_allclose(two[0], one, rtol=1e-13)
        assert not np.isnan(two).any()


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e100])
def test_cofactors_of_any_rank_and_size(rank: int, scale: float) -> None:
    a = random(3, rank) @ random(rank, 3) * scale
    first = gradients(a)[1]
    # Those of the matrix of cofactors of 3 by 3, from cross products of its rows.
    right = np.stack([np.cross(a[1], a[2]), np.cross(a[2], a[0]), np.cross(a[0], a[1])])
    np.testing.assert_allclose(first, right, rtol=1e-10, atol=1e-14 * np.abs(a).max(initial=0) ** 2)
