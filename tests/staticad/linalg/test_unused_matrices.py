"""Singular matrices of a stack of which nothing is used: their derivatives are 0, to the third
order, and those of the others are what they are without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

LINALG = sad.linalg
FACTORS: dict[str, Callable[[Any], Any]] = {
    "q": lambda x: LINALG.qr(x)[0],
    "r": lambda x: LINALG.qr(x)[1],
    "q of a tall one": lambda x: LINALG.qr(x[..., :2])[0],
    "complete q": lambda x: LINALG.qr(x[..., :2], mode="complete")[0],
    "r of a wide one": lambda x: LINALG.qr(x[..., :2, :])[1],
    "l": lambda x: LINALG.lu(x)[1],
    "u": lambda x: LINALG.lu(x)[2],
    "l of a tall one": lambda x: LINALG.lu(x[..., :2])[1],
    "u of a wide one": lambda x: LINALG.lu(x[..., :2, :])[2],
    "eigenvectors": lambda x: sad.abs(LINALG.eigh(x)[1]) ** 2,
    "vectors of any": lambda x: sad.abs(LINALG.eig(x)[1]) ** 2,
    "singular vectors": lambda x: sad.abs(LINALG.svd(x)[0]) ** 2,
    "logarithms of determinants": lambda x: LINALG.slogdet(x)[1][..., None, None],
    "determinants": lambda x: LINALG.det(x)[..., None, None],
    "least squares": lambda x: LINALG.lstsq(x, np.ones((3, 2)))[0],
    "pseudo-inverses": LINALG.pinv,
}
REGULAR = np.random.default_rng(3).normal(size=(1, 3, 3))
SINGULAR = [np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0]), np.outer([1.0, 2, 3], [1.0, 1, 2])]


def derivatives(function: Callable[[Any], Any], at: np.ndarray[Any, Any], orders: int) -> list[Any]:
    """Of the sum of squares of what belongs to the first matrix, from the first order on."""
    first = np.arange(len(at))[:, None, None] == 0
    with sad.Graph() as graph:
        x = sad.placeholder(at.dtype.name, at.shape)
        y = function(x)
        weights = np.linspace(1, 2, int(np.prod(y.shape[1:]))).reshape(y.shape[1:])
        loss = sad.sum(sad.where(first, weights * sad.abs(y) ** 2, 0.0))
        found = list(sad.gradients(loss, x))
        for _ in range(orders - 1):
            direction = sad.sum(sad.real(found[-1]) * np.linspace(1, 3, 9).reshape(3, 3))
            found += sad.gradients(direction, x, unconnected="zero")
    return [np.asarray(value) for value in sad.Session(graph).run(found, {x: at})]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", FACTORS)
def test_what_is_not_used_has_no_derivative(name: str, dtype: str) -> None:
    alone = derivatives(FACTORS[name], REGULAR.astype(dtype), orders=3)
    several = np.concatenate([REGULAR, SINGULAR]).astype(dtype)
    stacked = derivatives(FACTORS[name], several, orders=3)
    for one, all_of_them in zip(alone, stacked, strict=True):
        np.testing.assert_allclose(all_of_them[:1], one, rtol=1e-7, atol=1e-9 * abs(one).max())
        np.testing.assert_array_equal(all_of_them[1:], 0)
