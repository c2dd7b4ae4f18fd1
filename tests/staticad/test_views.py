"""Graphs as trees, pictures and text of Graphviz."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

import staticad as sad
from staticad.views.chosen import chosen
from staticad.views.layout import layout
from staticad.views.svg import BOX_HEIGHT, BOX_WIDTH, centre


def network(layers: int = 3, name: str = "x") -> sad.Graph:
    with sad.Graph(seed=0) as graph:
        h = sad.placeholder("float32", ("n", 4), name=name)
        for k in range(layers):
            with sad.scope(f"layer{k}"):
                w = sad.variable(sad.random.normal((4, 4)), name="w")
                h = sad.tanh(h @ w, name="h")
        loss = sad.sum(h * h, name="loss")
        sad.optimizers.SGD(0.1).minimize(loss)
    return graph


def test_forward_gradient_and_state_are_told_apart() -> None:
    graph = network(1)
    shown = chosen(graph, None, 500)
    kinds = {graph.nodes[i].op: kind for i, kind in shown.kinds.items()}
    assert kinds["tanh"] == "forward"
    assert kinds["permute_dims"] == "gradient"
    assert kinds["assign_sub"] == "state"


def test_boxes_do_not_lie_on_each_other_and_scopes_stand_together() -> None:
    graph = network()
    boxes, lanes = layout(chosen(graph, None, 500))
    places = [centre(box) for box in boxes.values()]
    for k, (x, y) in enumerate(places):
        for u, v in places[:k]:
            assert abs(x - u) >= BOX_WIDTH or abs(y - v) >= BOX_HEIGHT
    assert {lane.scope for lane in lanes} >= {"layer0", "layer1", "layer2"}
    for lane in lanes:
        for index, box in boxes.items():
            inside = (
                (box.kind == "forward") == (lane.side == "forward")
                and lane.rows[0] <= box.row <= lane.rows[1]
                and lane.columns[0] <= box.column <= lane.columns[1]
            )
            scope = graph.nodes[index].scope.partition("/")[0]
            assert not inside or scope == lane.scope


def test_pictures_are_xml_whatever_names_hold() -> None:
    name = "<b>&\"\\' \x1b[31m\n→"
    graph = network(1, name)
    root = ElementTree.fromstring(graph.to_svg())
    titles = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("<b>&\"\\'") for title in titles)
    text = graph.to_dot()
    assert '<b>&\\"' in text
    assert "\x1b" not in text
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert '"' not in strings
    assert strings.count("{") == strings.count("}")


def test_large_graphs_are_cut_and_say_so() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        y = x
        for _ in range(3000):
            y = sad.sin(y)
    assert "150 of 3,001 nodes are shown" in graph._repr_svg_()
    for text in (graph.to_svg(), graph.to_tree(), graph.to_dot()):
        assert "500 of 3,001 nodes are shown" in text
        assert len(text) < 2_000_000
    near = graph.to_tree(of=y, limit=5)
    assert near.splitlines()[0].startswith("sin_3000")
    assert "5 of 3,001 nodes are shown" in near


def test_a_tree_names_what_it_has_shown() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        sad.add(sad.exp(x, name="e"), x, name="y")
    lines = graph.to_tree().splitlines()
    assert [line.split("  ")[0] for line in lines[:2]] == ["y", "├─ e"]
    assert lines[3] == "└─ ↑ x"


def test_bodies_are_clusters_and_only_what_is_asked_for_is_shown() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        carry, _ = sad.scan(lambda c, z: (c + z, c), 0.0, x)
        sad.exp(x, name="beside")
        w = sad.variable(sad.zeros((3,)), name="w")
    text = graph.to_dot(of=carry)
    assert 'label="scan/body"' in text
    assert "beside" not in text
    assert "beside" in graph.to_dot()
    assert "broadcast_to" not in graph.to_tree()
    assert "broadcast_to" in graph.to_tree(of=w.initial)


def test_what_is_no_tensor_of_the_graph_is_refused() -> None:
    graph, other = network(1), network(1)
    with pytest.raises(sad.UsageError, match="of: a tensor"):
        graph.to_tree(of=3)
    with pytest.raises(sad.GraphError, match="another graph"):
        graph.to_svg(of=other["loss"])
    with pytest.raises(sad.StaticadError, match="limit"):
        graph.to_dot(limit=0)


def test_an_empty_graph_has_a_picture() -> None:
    graph = sad.Graph()
    ElementTree.fromstring(graph.to_svg())
    assert graph.to_tree() == ""
    assert graph.to_dot().startswith("digraph {")
