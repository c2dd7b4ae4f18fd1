"""What goes around an optimizer: clipping, accumulation, groups, conditions, averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from models.separate_process import staticad_executor
from staticad.optimizers import (
    SGD,
    Accumulate,
    Adam,
    ExponentialMovingAverage,
    Groups,
    Lion,
    Minimizer,
    Momentum,
    StochasticWeightAverage,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    global_norm,
)
from tests.tolerance import units

Array = np.ndarray[Any, Any]
# What a type checker would refuse is a mistake all the same.
none: Any = None
number: Any = 1.0
text: Any = "?"


def evaluated(make: Callable[[list[sad.Tensor]], Any], *arrays: Any) -> Any:
    with sad.Graph() as graph:
        made = make([sad.constant(np.asarray(a)) for a in arrays])
    return sad.Session(graph).run(made)


# ------------------------------------------------------------------ clipping


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_the_global_norm_is_that_of_one_vector(dtype: str) -> None:
    parts = [np.array([[1.0, -2.0]]), np.array(2.0), np.zeros((0, 3))]
    with sad.Graph() as graph:
        given = [sad.cast(p, dtype) for p in parts]
        norm = global_norm(given)
        clipped = clip_by_global_norm(given, 1.5)
        kept = clip_by_global_norm(given, 3.0)
    session = sad.Session(graph)
    assert session.run(norm) == pytest.approx(3.0)
    assert norm.dtype == ("float64" if dtype == "float64" else "float32")
    for found, same, part in zip(session.run(clipped), session.run(kept), parts, strict=True):
        assert found.dtype == given[0].dtype
        np.testing.assert_allclose(found.astype("complex64"), part / 2, rtol=units(dtype))
        np.testing.assert_array_equal(same.astype("complex64"), part)


def test_gradients_of_zero_stay_zero() -> None:
    for clip in (clip_by_global_norm, clip_by_norm):
        for found in evaluated(lambda gs, clip=clip: clip(gs, 1.0), np.zeros(3), 0.0):  # type: ignore[misc]
            assert (found == 0).all()


def test_norms_do_not_overflow_or_vanish() -> None:
    huge, tiny = np.full(4, 1e30, np.float32), np.full(4, 1e-30, np.float32)
    assert evaluated(global_norm, huge, huge) == pytest.approx(2e30 * 2**0.5)
    assert evaluated(global_norm, tiny) == pytest.approx(2e-30)
    half = np.full(4, 3e4, np.float16)
    (clipped,) = evaluated(lambda gs: clip_by_global_norm(gs, 1.0), half)
    np.testing.assert_allclose(clipped, 0.5, rtol=1e-3)
    (small,) = evaluated(lambda gs: clip_by_norm(gs, 1e-3), huge)
    np.testing.assert_allclose(small, 5e-4, rtol=1e-5)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_seen_in_all_gradients(bad: float) -> None:
    found = evaluated(lambda gs: clip_by_global_norm(gs, 1.0), [1.0, bad], [2.0])
    assert all(np.isnan(f).all() for f in found)


def test_clip_by_norm_is_each_tensor_alone() -> None:
    found = evaluated(lambda gs: clip_by_norm(gs, 1.0), [3.0, 4.0], [0.5])
    np.testing.assert_allclose(found[0], [0.6, 0.8], rtol=1e-6)
    assert found[1].tolist() == [0.5]


def test_one_gradient_is_clipped_as_itself() -> None:
    (g,) = evaluated(lambda gs: [clip_by_norm(gs[0], 1.0)], [3.0, 4.0])
    np.testing.assert_allclose(g, [0.6, 0.8], rtol=1e-6)
    (g,) = evaluated(lambda gs: [clip_by_value(gs[0], -1.0, 1.0)], [3.0, 0.5])
    assert g.tolist() == [1.0, 0.5]


def test_clip_by_value() -> None:
    (found,) = evaluated(lambda gs: clip_by_value(gs, -1, 0.5), [-3.0, 0.25, 3.0, np.nan])
    np.testing.assert_array_equal(found, np.array([-1, 0.25, 0.5, np.nan], "float32"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g: global_norm([]), "not a list of gradients"),
        (lambda g: global_norm(g), "not a list of gradients"),
        (lambda g: clip_by_global_norm([g, none], 1.0), "leave out the variables"),
        (lambda g: clip_by_global_norm([g], 0.0), "limit is out of range"),
        (lambda g: clip_by_norm([g], text), "limit is no number"),
        (lambda g: clip_by_value([g], 1, -1), "out of order"),
        (lambda g: clip_by_norm([g.astype("int32")], 1.0), "not a gradient"),
    ],
)
def test_clipping_says_what_is_wrong(make: Any, message: str) -> None:
    with sad.Graph():
        g = sad.constant([1.0, 2.0])
        with pytest.raises(sad.StaticadError, match=message):
            make(g)


# ------------------------------------------------------------------ conditions


OPTIMIZERS: list[Callable[[], Minimizer]] = [
    lambda: Momentum(0.1),
    lambda: Adam(0.1),
    lambda: Lion(0.1, weight_decay=0.1),
    lambda: Groups([(Adam(0.1), lambda v: v.name == "a")], rest=SGD(0.1)),
    lambda: Accumulate(Momentum(0.1), every=2),
]


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_a_step_that_is_not_taken_changes_no_bit(make: Callable[[], Minimizer]) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        a, b = sad.variable(np.ones(2), name="a"), sad.variable(np.array([-0.0, 3]), name="b")
        loss = sad.sum((a + b) ** 2) * x
        train = make().minimize(loss, when=sad.isfinite(loss))
    with sad.Session(graph) as session:
        for _ in range(2):
            session.run(train, {x: 1.0})
        before = {name: session.variables[name].tobytes() for name in graph.variables}
        for bad in (np.nan, np.inf):
            session.run(train, {x: bad})
        after = {name: session.variables[name].tobytes() for name in graph.variables}
        assert after == before
        session.run(train, {x: 1.0})
        assert any(session.variables[n].tobytes() != before[n] for n in before)


def test_when_is_one_switch() -> None:
    with sad.Graph():
        w = sad.variable(np.ones(2), name="w")
        with pytest.raises(sad.ShapeError, match="one switch"):
            SGD(0.1).minimize(sad.sum(w), when=w > 0)
        with pytest.raises(sad.DTypeError, match="no bool"):
            SGD(0.1).minimize(sad.sum(w), when=sad.sum(w))


# ------------------------------------------------------------------ accumulation


def regression(optimizer: Minimizer, **options: Any) -> sad.Graph:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float64", ("batch", 3), name="x")
        y = sad.placeholder("float64", ("batch",), name="y")
        w = sad.variable(np.zeros(3), name="w")
        c = sad.variable(np.zeros(()), name="c")
        loss = sad.mean((x @ w + c - y) ** 2, name="loss")
        train = optimizer.minimize(loss, name="train", **options)
    graph.signature("train", {"x": x, "y": y}, {"loss": loss}, [train])
    return graph


def data(rows: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, 3)), rng.normal(size=rows)


@pytest.mark.parametrize(
    "make", [lambda: SGD(0.1), lambda: Momentum(0.1), lambda: Adam(0.1)], ids=["SGD", "m", "Adam"]
)
@pytest.mark.parametrize("every", [1, 2, 5])
def test_micro_batches_are_one_batch(make: Callable[[], Minimizer], every: int) -> None:
    x, y = data(3 * 20)
    whole, parts = regression(make()), regression(Accumulate(make(), every))
    with sad.Session(whole) as one, sad.Session(parts) as many:
        for k in range(3):
            rows = slice(20 * k, 20 * k + 20)
            one.run("train", {"x": x[rows], "y": y[rows]})
            for xs, ys in zip(np.split(x[rows], every), np.split(y[rows], every), strict=True):
                many.run("train", {"x": xs, "y": ys})
            for name in whole.variables:
                np.testing.assert_allclose(
                    many.variables[name], one.variables[name], rtol=1e-12, atol=1e-14
                )
        assert many.variables["Accumulate/count"] == 0


def test_a_checkpoint_between_micro_batches(tmp_path: Path) -> None:
    x, y = data(40)
    graph = regression(Accumulate(Adam(0.1), 4))
    feeds = [{"x": x[i : i + 5], "y": y[i : i + 5]} for i in range(0, 40, 5)]
    with sad.Session(graph) as straight, sad.Session(graph) as first:
        for feed in feeds:
            straight.run("train", feed)
        for feed in feeds[:6]:
            first.run("train", feed)
        first.save(tmp_path / "between.safetensors")
        with sad.Session(graph) as second:
            second.restore(tmp_path / "between.safetensors")
            for feed in feeds[6:]:
                second.run("train", feed)
            for name in graph.variables:
                assert second.variables[name].tobytes() == straight.variables[name].tobytes()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Accumulate(SGD(0.1), 0), "every is out of range"),
        (lambda: Accumulate(SGD(0.1), 1.5), "every is out of range"),  # type: ignore[arg-type]
        (lambda: Accumulate(SGD, 2), "write parentheses"),  # type: ignore[arg-type]
        (lambda: Groups([SGD(0.1)]), "not a group"),  # type: ignore[list-item]
        (lambda: Groups([(SGD(0.1), "w")]), "only variables"),  # type: ignore[list-item]
        (lambda: Groups([], rest=0.1), "not an optimizer"),  # type: ignore[arg-type]
        (lambda: ExponentialMovingAverage(1.0), "decay is out of range"),
    ],
)
def test_mistakes(make: Any, message: str) -> None:
    with sad.Graph():
        sad.variable(1.0, name="w")
        with pytest.raises(sad.StaticadError, match=message):
            make()


# ------------------------------------------------------------------ groups


def test_groups_have_rates_of_their_own() -> None:
    with sad.Graph() as graph:
        a, b, c = (sad.variable(np.ones(()), name=n) for n in "abc")
        optimizer = Groups([(SGD(0.5), [a]), (Adam(0.25), lambda v: v.name == "b")], SGD(0.0625))
        train = optimizer.minimize(a + b + c)
    with sad.Session(graph) as session:
        session.run(train)
        assert session.run([a, c]) == [0.5, 0.9375]
        assert session.run(b) == pytest.approx(0.75)
        assert session.variables["Adam/step"] == 1


def test_groups_say_what_is_missing() -> None:
    with sad.Graph():
        a, b = (sad.variable(np.ones(()), name=n) for n in "ab")
        with pytest.raises(sad.GraphError, match="a variable is in no group"):
            Groups([(SGD(0.5), [a])]).minimize(a + b)
        one = SGD(0.5)
        with pytest.raises(sad.ArgumentError, match="two groups"):
            Groups([(one, [a])], rest=one)


def test_the_transform_sees_all_gradients() -> None:
    with sad.Graph() as graph:
        a, b = sad.variable(np.array(3.0), name="a"), sad.variable(np.array(4.0), name="b")

        def transform(gs: list[sad.Tensor]) -> Sequence[sad.Tensor]:
            return clip_by_global_norm(gs, 5.0)

        train = Groups([(SGD(1.0), [a])], SGD(0.5)).minimize(a * a + b * b, transform=transform)
    with sad.Session(graph) as session:
        session.run(train)
        assert session.run([a, b]) == [pytest.approx(0.0), pytest.approx(2.0)]


def test_a_transform_gives_gradients() -> None:
    with sad.Graph():
        w = sad.variable(1.0, name="w")
        with pytest.raises(sad.UsageError, match="transform does not give a list"):
            SGD(1.0).minimize(w * w, transform=lambda gs: none)
        with pytest.raises(sad.GradientError, match="not one gradient a variable"):
            SGD(1.0).minimize(w * w, transform=lambda gs: gs * 2)
        with pytest.raises(sad.UsageError, match="transform is no function"):
            SGD(1.0).minimize(w * w, transform=number)


# ------------------------------------------------------------------ averages


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("debias", [True, False])
def test_exponential_averages(dtype: str, debias: bool) -> None:
    values = [1.0, 3.0, -2.0, 0.5]
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (2,), name="x")
        w = sad.variable(sad.cast(np.full(2, 4.0), dtype), name="w")
        averages = ExponentialMovingAverage(0.75, debias=debias)
        update = averages.update(after=w.assign(x))
        average = averages.average(w, name="smooth")
    assert average.dtype == w.dtype
    tolerance = 1e-2 if "16" in dtype else 1e-6
    sums, weight = (0.0, 0.0) if debias else (4.0, 1.0)
    with sad.Session(graph) as session:
        assert session.run(average).tolist() == [4, 4]
        for value in values:
            session.run(update, {x: np.full(2, value)})
            sums = 0.75 * sums + 0.25 * value
            weight = 0.75 * weight + 0.25
            found = session.run(average).astype("complex128")
            np.testing.assert_allclose(found, sums / weight, rtol=tolerance)


def test_stochastic_averages_from_some_step_on() -> None:
    values = [9.0, 8.0, 1.0, 3.0, -2.0]
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        w = sad.variable(np.array(4.0), name="w")
        started = sad.placeholder("bool", (), name="started")
        averages = StochasticWeightAverage([w])
        update = averages.update(after=w.assign(x), when=started)
        average = averages.average(w)
    with sad.Session(graph) as session:
        for k, value in enumerate(values):
            session.run(update, {x: value, started: k >= 2})
            expected = np.mean(values[2 : k + 1]) if k >= 2 else value
            assert session.run(average) == pytest.approx(expected)


def test_a_network_is_evaluated_with_averages(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images, labels = rng.normal(size=(8, 4)).astype("float32"), rng.integers(0, 3, 8)
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 4), name="x")
        y = sad.placeholder("int64", ("batch",), name="y")
        hidden = sad.nn.dense(x, 5, activation=sad.nn.relu, name="hidden")
        logits = sad.nn.dense(hidden, 3, name="logits")
        loss = sad.nn.cross_entropy(logits, y, name="loss")
        step = SGD(0.5).minimize(loss)
        averages = ExponentialMovingAverage(0.5)
        train = averages.update(after=step, name="train")
        smooth = averages.evaluate(loss, name="smooth_loss")
        same = averages.evaluate(x)
        smoothed = {name: averages.average(v) for name, v in graph.variables.items() if v.trainable}
    assert same.id == x.id
    assert smooth.shape == loss.shape
    graph.signature("train", {"x": x, "y": y}, {"loss": loss}, [train])
    graph.save(tmp_path / "averaged.sad")
    feeds = {"x": images, "y": labels}
    with sad.Session(graph) as session, sad.Session(graph) as other:
        for _ in range(4):
            session.run("train", feeds)
        for name, average in session.run(smoothed).items():
            other.variables[name] = average
        assert session.run("smooth_loss", feeds) == other.run("loss", feeds)
        assert session.run("smooth_loss", feeds) != session.run("loss", feeds)
        session.save(tmp_path / "here.safetensors")
    for name, array in feeds.items():
        np.save(tmp_path / f"{name}.npy", array)
    staticad_executor(
        "run", tmp_path / "averaged.sad", "--signature", "train", "--steps", "4",
        "--feed", f"x={tmp_path / 'x.npy'}", "--feed", f"y={tmp_path / 'y.npy'}",
        "--output", tmp_path / "out.npz", "--save-checkpoint", tmp_path / "there.safetensors",
    )  # fmt: skip
    files = [(tmp_path / f"{side}.safetensors").read_bytes() for side in ("here", "there")]
    assert files[0] == files[1]


def test_averages_refuse_what_they_cannot_do() -> None:
    with sad.Graph() as graph:
        with pytest.raises(sad.GraphError, match="no variables to average"):
            ExponentialMovingAverage()
        w, other = sad.variable(1.0, name="w"), sad.variable(1.0, name="other")
        averages = ExponentialMovingAverage(0.5, [w])
        with pytest.raises(sad.UsageError, match="not a variable of these averages"):
            averages.average(other)
        with pytest.raises(sad.GraphError, match="a second time"):
            averages.evaluate(other.assign(w * 2))
        double = graph.define("double", lambda x: x * w.read(), ("float32", ()))
        with pytest.raises(sad.GraphError, match="a second time"):
            averages.evaluate(double(3.0))
        with pytest.raises(sad.UsageError, match="not a tensor"):
            averages.evaluate("loss")


def test_a_read_behind_a_write_is_averaged_too() -> None:
    with sad.Graph() as graph:
        w = sad.variable(1.0, name="w")
        averages = StochasticWeightAverage([w])
        seen = averages.evaluate(w.read(after=w.assign(5.0)) * 2)
    assert sad.Session(graph).run(seen) == 2
