"""Padding in every mode, against NumPy: any width, known and symbolic sizes, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad

from .running import agrees, apply, run

MODES = ("constant", "reflect", "symmetric", "edge", "wrap")
Pairs = list[tuple[int, int]]
_pad: Any = sad.pad  # also with what its types do not admit


@st.composite
def padded(draw: Any) -> tuple[tuple[int, ...], Pairs, str]:
    """(shape, widths, mode): also wider than the axis, and negative."""
    mode = draw(st.sampled_from(MODES))
    least = 0 if mode == "constant" else 1
    shape = tuple(draw(st.lists(st.integers(least, 4), min_size=0, max_size=3)))
    widths = []
    for size in shape:
        low = draw(st.integers(-size, 9))
        high = draw(st.integers(-size if low >= 0 else -size - low, 9))
        widths.append((low, high))
    return shape, widths, mode


def by_numpy(x: Any, widths: Pairs, mode: str) -> Any:
    """np.pad, cropped where widths are negative."""
    wide = [(max(low, 0), max(high, 0)) for low, high in widths]
    if not x.ndim:
        return x
    if mode == "constant":
        y = np.pad(x, wide, constant_values=5)
    else:
        y = np.pad(x, wide, mode)  # type: ignore[call-overload]
    crop = tuple(
        slice(max(-low, 0), n + max(low, 0) + high if high < 0 else None)
        for n, (low, high) in zip(x.shape, widths, strict=True)
    )
    return y[crop]


@settings(max_examples=400, deadline=None)
@given(case=padded(), symbolic=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_any_padding_is_numpys(
    case: tuple[tuple[int, ...], Pairs, str], symbolic: bool, seed: int
) -> None:
    shape, widths, mode = case
    rng = np.random.default_rng(seed)
    x = np.asarray(rng.normal(size=shape))
    expected = by_numpy(x, widths, mode)
    w = np.asarray(rng.normal(size=expected.shape))
    with sad.Graph() as graph:
        p = sad.placeholder("float64", tuple(f"n{a}" for a in range(x.ndim)) if symbolic else shape)
        pw = sad.placeholder("float64", w.shape)
        y = _pad(p, widths, mode, value=5)
        total = sad.sum(y**2 * pw)
        (slope,) = sad.gradients(total, p, unconnected="zero")
        (curve,) = sad.gradients(sad.sum(slope), p, unconnected="zero")
    found, first, second = run(graph, [y, slope, curve], {p: x, pw: w})
    agrees(found, expected)
    # Where each element of the result came from; -1: from outside.
    number = np.arange(x.size).reshape(shape)
    source = by_numpy(number + 100, widths, mode).reshape(-1) - 100
    spread = np.zeros(x.size)
    np.add.at(spread, source[source >= 0], w.reshape(-1)[source >= 0])
    np.testing.assert_allclose(first, 2 * x * spread.reshape(shape), atol=1e-12)
    np.testing.assert_allclose(second, 2 * spread.reshape(shape), atol=1e-12)


@pytest.mark.parametrize("symbolic", [False, True])
def test_F15_wider_than_the_axis(symbolic: bool) -> None:
    def reflected(x: Any) -> Any:
        return sad.pad(x, 4, "reflect")

    agrees(
        apply(reflected, [1.0, 2.0, 3.0], symbolic=symbolic), [1.0, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3]
    )
    for mode in ("reflect", "symmetric", "edge", "wrap"):
        for width in (1, 7):
            found = apply(lambda x, m=mode, w=width: sad.pad(x, w, m), [4.0], symbolic=symbolic)
            agrees(found, [4.0] * (1 + 2 * width))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("more", [(), ((0, 0),), ((-1, 0),)], ids=str)
def test_F13_mirrored_sums_to_how_often_each_is_seen(dtype: str, more: Any) -> None:
    """Also with a batch axis, and one that is cropped."""
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (2, 3) if more else (3,))
        y = sad.pad(x, (*more, (2, 2)), "reflect")
        (g,) = sad.gradients(sad.sum(sad.real(y) if dtype == "complex64" else y), x)
        (gg,) = sad.gradients(
            sad.sum(sad.real(y * y) / 2 if dtype == "complex64" else y * y / 2), x
        )
        (h,) = sad.gradients(sad.sum(sad.real(gg)) if dtype == "complex64" else sad.sum(gg), x)
    data = np.array([1.0, 2.0, 3.0]) * (np.ones((2, 1)) if more else 1)
    found, first, second = run(graph, [y, g, h], {x: data.astype(x.dtype)})
    row = np.array([3.0, 2, 1, 2, 3, 2, 1])
    times = np.array([2.0, 3, 2])
    seen = np.array([[0.0], [1.0]]) if more == ((-1, 0),) else np.ones((2, 1)) if more else 1
    np.testing.assert_array_equal(found.astype(complex), np.broadcast_to(row, found.shape))
    np.testing.assert_array_equal(first.astype(complex), times * seen)
    np.testing.assert_array_equal(second.astype(complex), times * seen)


def test_forms_of_widths() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for widths in (1, (1, 2), ((1, 2),), ((1, 2), (0, 3)), ((1,), (2,)), [[1, 2], [0, 3]], (2,)):
        agrees(apply(lambda x, w=widths: sad.pad(x, w), x), np.pad(x, widths))
    agrees(apply(lambda x: sad.pad(x, np.array([[1, 2], [0, 3]])), x), np.pad(x, [[1, 2], [0, 3]]))
    agrees(apply(lambda x: sad.pad(x, {-1: (1, 2)}), x), np.pad(x, ((0, 0), (1, 2))))
    agrees(apply(lambda x: sad.pad(x, {0: 1}), x), np.pad(x, ((1, 1), (0, 0))))


def test_values_that_a_float_does_not_hold() -> None:
    large = 2**63 - 1
    found = apply(lambda x: sad.pad(x, 1, value=large), np.array([3]))
    agrees(found, np.array([large, 3, large]))
    agrees(
        apply(lambda x: sad.pad(x, (0, 1), value=2j), np.array([1 + 1j])), np.array([1 + 1j, 2j])
    )
    agrees(apply(lambda x: sad.pad(x, 1, value=True), np.array([False])), [True, False, True])
    with sad.Graph() as graph:
        x, v = sad.placeholder("float64", (2,)), sad.placeholder("float64", ())
        y = sad.pad(x, (2, -1), value=v)
        dx, dv = sad.gradients(y, [x, v])
    assert [a.tolist() for a in run(graph, [y, dx, dv], {x: [1.0, 2.0], v: 7.0})] == [
        [7, 7, 1],
        [1, 0],
        2,
    ]


def test_a_symbolic_width() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",))
        n = x.shape[0]
        y, z = sad.pad(x, (0, n), "wrap"), sad.pad(x, (n, 0), "symmetric")
    assert [a.tolist() for a in run(graph, [y, z], {x: [1.0, 2.0]})] == [[1, 2, 1, 2], [2, 1, 1, 2]]


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda x: _pad(x, 1, "reflected"), "not a mode.*\n.*\n.*\n.*\n.*'reflect'"),
        (lambda x: _pad(x, 1, "replicate"), "'edge'"),
        (lambda x: sad.pad(x, ((1, 1),) * 3), r"not one \(before, after\) an axis"),
        (lambda x: sad.pad(x, (1, 2, 3)), r"not one \(before, after\) an axis"),
        (lambda x: sad.pad(x, 1.5), "not a size"),
        (lambda x: sad.pad(x, True), "not a size"),
        (lambda x: sad.pad(x, (-2, -2)), "more is cropped than there is"),
        (lambda x: sad.pad(x[:0], 1, "edge"), "without elements"),
        (lambda x: sad.pad(x, 1, value=x), "not one number"),
        (lambda x: _pad(x, 1, value=None), "not a value to pad with"),
        (lambda x: sad.pad(x.astype("int8"), 1, value=300), "does not fit int8"),
        (lambda x: sad.pad(x, {5: 1}), "no axis 5"),
    ],
)
def test_mistakes(wrong: Any, problem: str) -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3, 3), name="x")
        with pytest.raises(sad.GraphError, match=problem) as caught:
            wrong(x)
    text = str(caught.value)
    assert "expected:" in text
    assert "found:" in text
    assert "at:" in text


def test_mistakes_of_sizes_that_a_run_finds() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        mirrored, cropped = sad.pad(x, 1, "reflect"), sad.pad(x, (-3, 5))
    with pytest.raises(sad.StaticadError, match="size 0"):
        run(graph, mirrored, {x: np.zeros(0)})
    with pytest.raises(sad.StaticadError, match="size"):
        run(graph, cropped, {x: np.zeros(2)})


@pytest.mark.parametrize("mode", MODES[1:])
def test_positions_on_long_axes_are_computed(mode: str) -> None:
    x = np.arange(3000.0)
    with sad.Graph() as graph:
        p = sad.placeholder("float64", (3000,))
        y = _pad(p, (2000, 7000), mode)
        (g,) = sad.gradients(y, p)
    found, slope = run(graph, [y, g], {p: x})
    expected = np.pad(x, (2000, 7000), mode)  # type: ignore[call-overload]
    agrees(found, expected)
    np.testing.assert_array_equal(slope, np.bincount(expected.astype(np.int64), minlength=3000))
    assert not any(n.types[0].shape == (12000,) for n in graph.nodes if n.op == "constant")
