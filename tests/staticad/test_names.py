"""Names: any text, unique where they must be, looked up again (L9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import staticad as sad
from tests.staticad.running import run

NAMES = ["concave points_mean", ",", "x:0", "_x", "größe ∇", "", "n" * 300, "a/b", "0", "\n\t'\""]


@pytest.mark.parametrize("name", NAMES)
def test_L9_any_text_is_a_name(name: str, tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name=name)
        v = sad.variable(1.0, name=name + "v")
        y = sad.add(x, v, name=name + "y")
    assert (x.name, v.name, y.name) == (name, name + "v", name + "y")
    graph.save(tmp_path / "a.sad")
    loaded = sad.load(tmp_path / "a.sad")
    assert loaded[name].value == x.value
    assert run(loaded, name + "y", {name: 2.0}) == 3
    assert [p.name for p in loaded.placeholders] == [name]


def test_an_exact_name_wins_over_an_output_number() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
        other = sad.placeholder("float32", (3,), name="x:0")
    assert graph["x"].value == x.value
    assert graph["x:0"].value == other.value
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
    assert graph["x:0"].value == x.value


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            lambda graph: graph.placeholder("float32", (), "x"),
            lambda graph: graph.placeholder("float32", (3,), "x"),
        ),
        (
            lambda graph: graph.variable(1.0, "x"),
            lambda graph: graph.variable(2.0, "x"),
        ),
        (
            lambda graph: graph.variable(1.0, "x"),
            lambda graph: graph.placeholder("float32", (), "x"),
        ),
        (
            lambda graph: graph.signature("x"),
            lambda graph: graph.signature("x", effects=[]),
        ),
    ],
)
def test_unique_names_are_refused_with_both_lines(
    first: Callable[[sad.Graph], Any], second: Callable[[sad.Graph], Any]
) -> None:
    graph = sad.Graph()
    first(graph)
    with pytest.raises(sad.ArgumentError, match=r"taken|exists") as caught:
        second(graph)
    for function in (first, second):
        assert f"test_names.py:{function.__code__.co_firstlineno}" in str(caught.value)


def test_a_second_layer_of_a_name_leads_to_sharing() -> None:
    x = sad.Graph().placeholder("float32", ("n", 3), "x")
    sad.nn.dense(x, 2, name="layer")
    with pytest.raises(sad.ArgumentError, match=r"hint: .*hand the first one on"):
        sad.nn.dense(x, 2, name="layer")


def test_other_names_get_a_suffix() -> None:
    with sad.Graph() as graph, sad.scope("s"):
        x = sad.placeholder("float32", (), name="x")
        names = [sad.exp(x, name="y").name for _ in range(3)]
    assert names == ["s/y", "s/y_1", "s/y_2"]
    assert graph["s/y_1"].name == "s/y_1"


def test_whether_a_name_is_there() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        effect = sad.group(x, name="effect")
        graph.signature("serve", {"x": x})
    assert all(name in graph for name in ("x", "x:0", "effect", effect.name))
    assert not any(name in graph for name in ("y", "x:1", "serve", 0, x))


def test_unnamed_nodes_are_found_by_what_they_are_shown_as() -> None:
    with sad.Graph() as graph:
        y = sad.exp(sad.placeholder("float32", ()))
    assert y.name == "exp_1"
    assert graph["exp_1"].value == y.value
    with pytest.raises(sad.UnknownNameError):
        graph["exp_7"]
    with pytest.raises(sad.UnknownNameError):
        graph["sin_1"]


def test_every_function_takes_a_name() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (2, 3), name="x")
        i = sad.placeholder("int32", (2,), name="i")
        made = [
            sad.sum(x, axis=0, name="a"),
            sad.mean(x, name="a"),
            sad.var(x, name="a"),
            sad.std(x, name="a"),
            sad.reshape(x, (3, 2), name="a"),
            sad.reshape(x, (2, 3), name="a"),
            sad.concat([x, x], name="a"),
            sad.stack([x, x], name="a"),
            sad.where(x > 0, x, 0, name="a"),
            sad.clip(x, 0, 1, name="a"),
            sad.cast(x, "float32", name="a"),
            sad.take(x, i, axis=0, name="a"),
            sad.roll(x, 1, axis=1, name="a"),
            sad.tile(x, 2, name="a"),
            sad.argmax(x, name="a"),
            sad.zeros((2,), name="a"),
            sad.constant(1.0, name="a"),
            sad.arange(3, name="a"),
            sad.nn.relu(x, name="a"),
            sad.nn.softmax(x, name="a"),
            sad.nn.cross_entropy(x, i, name="a"),
            sad.nn.layer_norm(x, name="a"),
            sad.nn.dropout(x, 0.5, name="a"),
            sad.random.normal((2,), name="a"),
            sad.random.randint(0, 5, (2,), name="a"),
            sad.after(x, name="a"),
            sad.matmul(x, x.T, name="a"),
        ]
    expected = ["a", *(f"a_{k}" for k in range(1, len(made)))]
    assert [m.name for m in made] == expected


def test_near_misses_are_suggested() -> None:
    with sad.Graph() as graph:
        sad.placeholder("float32", (), name="images")
    with pytest.raises(sad.UnknownNameError, match="did you mean 'images'"):
        graph["image"]
