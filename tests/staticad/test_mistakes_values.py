"""Values that only a run can refuse: what was given, what was allowed, and which function asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array
from tests.mistakes import check_parts

nn = sad.nn


def f(*values: Any) -> Array:
    return np.array(values[0] if len(values) == 1 else values, np.float32)


SCORES = np.arange(6, dtype=np.float32).reshape(2, 3)
X = f(3.0, 1.0, 2.0)


def labels(dtype: str, *values: int) -> Array:
    return np.array(values).astype(dtype)


Loss = Callable[..., Any]
LOSSES: dict[str, Loss] = {
    "cross_entropy": nn.cross_entropy,
    "weighted cross_entropy": lambda x, y: nn.cross_entropy(x, y, class_weights=[1.0, 2.0, 3.0]),
    "smoothed cross_entropy": lambda x, y: nn.cross_entropy(x, y, label_smoothing=0.1),
    "nll_loss": nn.nll_loss,
    "weighted nll_loss": lambda x, y: nn.nll_loss(x, y, class_weights=[1.0, 2.0, 3.0]),
    "nll_loss that ignores": lambda x, y: nn.nll_loss(x, y, ignore_index=77),
    "multi_margin_loss": nn.multi_margin_loss,
}


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    "wrong",
    [
        labels("int64", 0, -1), labels("int8", 3, 0), labels("uint8", 0, 255),
        np.array([2, 2**64 - 1], np.uint64),
    ],
    ids=["-1", "3", "255", "2**64 - 1"],
)  # fmt: skip
@pytest.mark.parametrize("name", LOSSES)
def test_a_label_that_names_no_class(name: str, wrong: Array, symbolic: bool) -> None:
    loss = LOSSES[name]
    asked = next(word for word in name.split() if "_" in word)
    found = next(str(value) for value in wrong.tolist() if not 0 <= value < 3)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", "classes") if symbolic else (2, 3), name="x")
        y = sad.placeholder(wrong.dtype, ("n",) if symbolic else (2,), name="y")
        (g,) = sad.gradients(loss(x, y), x)
        value = loss(x, y)
    with sad.Session(graph) as session:
        for fetch in (value, g):
            with pytest.raises(sad.ExecutionError, match="a label names no class") as raised:
                session.run(fetch, {x: SCORES, y: wrong})
            message = str(raised.value)
            assert re.search(rf"\b{asked}\b", message), message
            assert re.search(rf"found: +{found}\b", message), message
            assert re.search(r"from 0 to (2|classes - 1)\n", message), message
            check_parts(raised.value, test_a_label_that_names_no_class, *_own(loss))
        right = np.array([2, 0], wrong.dtype)
        assert np.isfinite(session.run(value, {x: SCORES, y: right}))


# Function, what is given beside x, the allowed range, what is found.
RANGES: dict[str, tuple[Callable[..., Any], Array, str, str]] = {
    "dropout: the rate": (nn.dropout, f(1.0), "at least 0 and below 1", "1.0"),
    "dropout: the rate below": (nn.dropout, f(-0.25), "at least 0 and below 1", "-0.25"),
    "dropout: the rate is NaN": (nn.dropout, f(np.nan), "at least 0 and below 1", "nan"),
    "feature_dropout: the rate": (
        lambda x, q: nn.feature_dropout(sad.reshape(x, (3, 1)), q), f(1.5),
        "at least 0 and below 1", "1.5",
    ),
    "quantile: a share": (sad.quantile, f(0.5, 1.5), "from 0 to 1", r"1.5 at \(1,\)"),
    "quantile: a share below": (sad.quantile, f(-0.5), "from 0 to 1", "-0.5"),
    "nanquantile: a share": (sad.nanquantile, f(np.nan), "from 0 to 1", "nan"),
    "percentile: a share": (sad.percentile, f(101.0), "from 0 to 100", "101.0"),
    "nanpercentile: a share": (
        sad.nanpercentile, np.array([[50, -1]], np.int32), "from 0 to 100", r"-1 at \(0, 1\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RANGES)
def test_a_value_out_of_its_range(name: str) -> None:
    function, wrong, allowed, found = RANGES[name]
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (3,), name="x")
        q = sad.placeholder(wrong.dtype, wrong.shape, name="q")
        y = function(x, q)
    with pytest.raises(sad.ExecutionError, match=name.partition(" is ")[0][:16]) as raised:
        sad.Session(graph).run(y, {x: X, q: wrong})
    message = str(raised.value)
    assert f"expected: {allowed}\n" in message
    assert re.search(rf"found: +{found}", message), message
    check_parts(raised.value, test_a_value_out_of_its_range, *_own(function))


def _own(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    return [function] if function.__name__ == "<lambda>" else []


def test_shares_in_the_range_are_the_same_as_known_ones() -> None:
    shares = f(0.0, 0.3, 1.0)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        q = sad.placeholder("float32", (3,), name="q")
        found = [
            sad.quantile(x, q), sad.quantile(x, shares), sad.percentile(x, q * 100),
            sad.percentile(x, shares * 100), sad.nanpercentile(x, q * 100),
        ]  # fmt: skip
    for array in sad.Session(graph).run(found, {x: X, q: shares}):
        np.testing.assert_allclose(array, np.quantile(X, shares), rtol=1e-6)


@pytest.mark.parametrize("size", [0, 1, 2, 4])
def test_unfold_of_an_axis_that_is_too_short(size: int) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (1, 1, "n"), name="x")
        columns = nn.unfold(x, 3, stride=2, dilation=2)
    with pytest.raises(sad.ShapeError) as raised:
        sad.Session(graph).run(columns, {x: np.ones((1, 1, size), np.float32)})
    check_parts(raised.value, test_unfold_of_an_axis_that_is_too_short)
    with pytest.raises(sad.ShapeError), graph:
        nn.unfold(np.ones((1, 1, size), np.float32), 3, stride=2, dilation=2)


def test_unfold_and_fold_of_axes_that_are_long_enough() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (1, 1, "n"), name="x")
        columns = nn.unfold(x, 3, padding=1)
        image = nn.fold(columns, (x.shape[2],), 3, padding=1)
    values, sums = sad.Session(graph).run([columns, image], {x: [[[5.0]]]})
    np.testing.assert_array_equal(values, [[[0.0], [5.0], [0.0]]])
    np.testing.assert_array_equal(sums, [[[5.0]]])


def test_fold_to_an_image_that_is_too_small() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (1, 3, "windows"), name="x")
        like = sad.placeholder("float32", ("n",), name="like")
        image = nn.fold(x, (like.shape[0],), 3)
    with pytest.raises(sad.ShapeError) as raised:
        sad.Session(graph).run(image, {x: np.ones((1, 3, 0)), like: np.ones(2)})
    check_parts(raised.value, test_fold_to_an_image_that_is_too_small)


def test_assert_tells_the_element_that_is_wrong() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2, 2), name="x")
        y = sad.assert_(x > 0, "not positive", x)  # noqa: PT009
    with pytest.raises(sad.ExecutionError) as raised:
        sad.Session(graph).run(y, {x: [[1.0, 2.0], [-3.0, 0.0]]})
    assert "found:    -3.0 at (1, 0), false in 2 of 4 elements" in str(raised.value)
