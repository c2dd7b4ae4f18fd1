"""Arguments by position, as in NumPy and torch.nn.functional, where the parameters are alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import staticad as sad

_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _common() -> Iterator[tuple[str, Any, Any]]:
    """The functions that NumPy has under the same name, and theirs."""
    for ours, theirs in ((sad, np), (sad.fft, np.fft), (sad.linalg, np.linalg)):
        for name in ours.__all__:
            own, other = getattr(ours, name), getattr(theirs, name, None)
            if not inspect.isfunction(own) or not callable(other):
                continue
            try:
                inspect.signature(other)
            except ValueError:  # Of a function in C, NumPy does not tell.
                continue
            yield f"{ours.__name__}.{name}", own, other


COMMON = list(_common())


@pytest.mark.parametrize(("name", "own", "other"), COMMON, ids=[case[0] for case in COMMON])
def test_what_numpy_takes_by_position(name: str, own: Any, other: Any) -> None:
    """Up to the first of NumPy's parameters that is not here, such as `out`."""
    mine = _parameters(own)
    names = [p.name for p in mine]
    for position, parameter in enumerate(_parameters(other)):
        if parameter.kind not in _POSITION or position >= len(mine):
            return
        if mine[position].kind is _KEYWORD:
            assert parameter.name not in names, f"{name}: {parameter.name} by keyword only"
            return
        if parameter.name in names:
            assert names[position] == parameter.name


X = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])


@pytest.mark.parametrize(
    ("function", "numpy"),
    [
        (lambda: sad.sum(X, 1), X.sum(1)),
        (lambda: sad.mean(X, 0, keepdims=True), X.mean(0, keepdims=True)),
        (lambda: sad.argmax(X, 0), X.argmax(0)),
        (lambda: sad.sort(X, 0), np.sort(X, 0)),
        (lambda: sad.cumulative_sum(X, 1), np.cumsum(X, 1)),
        (lambda: sad.quantile(X, 0.3, 1), np.quantile(X, 0.3, 1)),
        (lambda: sad.quantile(X, q=0.3), np.quantile(X, q=0.3)),
        (lambda: sad.average(X, 1, [1.0, 2.0, 3.0]), np.average(X, 1, [1.0, 2.0, 3.0])),
        (lambda: sad.diff(X, 1, 0), np.diff(X, 1, 0)),
        (lambda: sad.take(X, [1, 0], 1), np.take(X, [1, 0], 1)),
        (lambda: sad.tensordot(X, X, 2), np.tensordot(X, X, 2)),
        (lambda: sad.zeros((2, 3), "int32"), np.zeros((2, 3), "int32")),
        (lambda: sad.eye(2, 3, 1, "float64"), np.eye(2, 3, 1, "float64")),
        (lambda: sad.top_k(X, k=2, axis=1)[0], np.array([[3.0, 2.0], [6.0, 5.0]])),
        (lambda: sad.swapaxes(X, axis1=0, axis2=1), X.T),
        (lambda: sad.moveaxis(X, source=0, destination=1), X.T),
        (lambda: sad.nn.softmax(X, 0), np.exp(X) / np.exp(X).sum(0)),
        (lambda: sad.nn.leaky_relu(-X, 0.5), -X / 2),
    ],
)
def test_values(function: Callable[[], Any], numpy: Any) -> None:
    with sad.Graph():
        y = function()
    value = sad.Session(y.graph).run(y)
    np.testing.assert_allclose(value, numpy, rtol=1e-14)
    assert value.dtype == numpy.dtype


IMAGE = np.arange(32.0).reshape(1, 2, 4, 4)
WEIGHTS = np.arange(16.0).reshape(2, 2, 2, 2)


@pytest.mark.parametrize(
    ("by_position", "by_keyword"),
    [
        (
            lambda: sad.nn.conv2d(IMAGE, WEIGHTS, None, 2, 1),
            lambda: sad.nn.conv2d(IMAGE, WEIGHTS, stride=2, padding=1),
        ),
        (
            lambda: sad.nn.conv_transpose2d(IMAGE, WEIGHTS, None, 2, 1, 1),
            lambda: sad.nn.conv_transpose2d(IMAGE, WEIGHTS, stride=2, padding=1, output_padding=1),
        ),
        (
            lambda: sad.nn.max_pool2d(IMAGE, 3, 1, 1),
            lambda: sad.nn.max_pool2d(IMAGE, 3, stride=1, padding=1),
        ),
        (
            lambda: sad.nn.avg_pool2d(IMAGE, 3, 1, 1),
            lambda: sad.nn.avg_pool2d(IMAGE, 3, stride=1, padding=1),
        ),
        (
            lambda: sad.nn.interpolate(IMAGE, None, 2, "bilinear", True),
            lambda: sad.nn.interpolate(IMAGE, scale_factor=2, mode="bilinear", align_corners=True),
        ),
        (
            lambda: sad.nn.normalize(IMAGE, 1.0, 1),
            lambda: sad.nn.normalize(IMAGE, p=1.0, axis=1),
        ),
        (
            lambda: sad.nn.cosine_similarity(IMAGE, IMAGE + 1, 1),
            lambda: sad.nn.cosine_similarity(IMAGE, IMAGE + 1, axis=1),
        ),
        (
            lambda: sad.nn.adaptive_avg_pool2d(IMAGE, 2),
            lambda: sad.nn.adaptive_avg_pool2d(IMAGE, size=2),
        ),
        (
            lambda: sad.nn.pixel_shuffle(IMAGE.reshape(1, 8, 2, 2), 2),
            lambda: sad.nn.pixel_shuffle(IMAGE.reshape(1, 8, 2, 2), factor=2),
        ),
    ],
)
def test_of_torch(by_position: Callable[[], Any], by_keyword: Callable[[], Any]) -> None:
    with sad.Graph() as graph:
        values = [by_position(), by_keyword()]
    np.testing.assert_array_equal(*sad.Session(graph).run(values))
