"""Graphs while they are built: being current, sites, scopes, sources, growth, files."""

from __future__ import annotations

import gc
import pkgutil
import threading
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.sites import relative_file
from tests.lines import line_ahead
from tests.staticad.running import run


def test_the_innermost_graph_is_current_and_each_thread_has_its_own() -> None:
    seen: list[Any] = []
    with sad.Graph() as outer:
        with sad.Graph() as inner:
            assert sad.zeros(1).graph is inner
        assert sad.zeros(1).graph is outer

        def elsewhere() -> None:
            try:
                sad.zeros(1)
            except sad.GraphError as error:
                seen.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert "no graph is being built" in str(seen[0])


def test_ops_find_their_graph_from_their_inputs() -> None:
    graph = sad.Graph()
    x = graph.placeholder("float32", (2,), "x")
    y = sad.exp(x + np.ones(2, np.float32)) * 2
    assert y.graph is graph


def test_every_node_knows_its_line() -> None:
    with sad.Graph() as graph:
        expected = line_ahead(1)
        y = sad.mean(sad.zeros(3) + 1)
    sites = {str(graph.site(node.site)) for node in graph.nodes}
    assert len(sites) == 1
    assert sites.pop().startswith(f"tests/staticad/{expected}, in test_every_node")
    assert y.site is not None


def test_a_file_is_named_from_its_import_root() -> None:
    assert relative_file(__file__) == "tests/staticad/test_graph.py"
    assert relative_file("/nowhere/else/model.py") == "model.py"
    assert relative_file("<stdin>") == "<stdin>"


def test_scopes_nest_and_prefix_names() -> None:
    with sad.Graph() as graph, sad.scope("block"):
        with sad.scope("layer"):
            x = sad.placeholder("float32", (), name="x")
            y = x + 1
        z = sad.identity(x, name="z")
    assert (x.name, y.name, z.name) == ("block/layer/x", "block/layer/add_2", "block/z")
    assert graph["block/layer/add_2"].value == y.value


def test_devices_are_noted() -> None:
    with sad.Graph() as graph:
        with sad.device("numpy"):
            x = sad.zeros(2)
        y = x + 1
    assert graph.nodes[x.node_index].device == "numpy"
    assert graph.nodes[y.node_index].device is None


def test_unknown_sizes_get_names_of_their_own() -> None:
    with sad.Graph():
        a = sad.placeholder("float32", (None, None), name="a")
        b = sad.placeholder("float32", (None,), name="b")
        n = a.shape[0]
        c = sad.placeholder("float32", (n * 2, "n"), name="c")
    assert len({str(s) for s in (*a.shape, *b.shape)}) == 3
    assert str(c.shape[0]) == f"2*{n}"


def test_constants() -> None:
    with sad.Graph() as graph:
        array = np.ones(2, ">f4")
        x = sad.constant(array, name="x")
        array[:] = 5
        assert sad.constant([1, 2]).dtype == np.int64
        assert sad.constant([1.0, 2]).dtype == np.float32
        assert sad.constant([np.float64(1)]).dtype == np.float32
        assert sad.constant(np.float64(1)).dtype == np.float32
        assert sad.constant(np.zeros(2)).dtype == np.float64
        assert sad.constant(1j).dtype == np.complex64
        assert sad.constant(True).dtype == np.bool_
        assert sad.constant([], dtype="int8").shape == (0,)
    # L4: another byte order is the same numbers; K8: later changes are not seen.
    assert run(graph, x).tolist() == [1, 1]


def test_equal_scalars_are_one_node() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ())
        y = x + 1.5
        before = len(graph.nodes)
        y = y * 1.5
        assert len(graph.nodes) == before + 1
        # -0 and 0 are not equal, nor are 1 and True of another dtype.
        assert run(graph, [1 / (x * 0.0 + 0.0), 1 / (-(x * 0.0) - 0.0)], {x: 1.0})[1] == -np.inf


def test_J16_growth_between_runs_warns_with_the_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        with sad.Session(graph) as session, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(5):
                expected = line_ahead(1)
                session.run(x + 1, {x: 1.0})
    growth = [w for w in caught if w.category is sad.GrowthWarning]
    assert len(growth) == 1
    assert expected in str(growth[0].message)
    assert growth[0].lineno == int(expected.rpartition(":")[2])


def test_J16_growth_raises_in_a_strict_graph() -> None:
    with sad.Graph(strict=True) as graph:
        x = sad.placeholder("float32", (), name="x")
        with sad.Session(graph) as session:
            for turn in range(2):
                if turn:
                    with pytest.raises(sad.GraphError, match="grows between runs"):
                        _step(x)
                else:
                    session.run(_step(x), {x: 1.0})


def _step(x: sad.Tensor) -> sad.Tensor:
    return sad.exp(x)


@pytest.mark.parametrize("runs_here", [False, True])
def test_runs_of_other_threads_are_no_growth_of_what_is_being_built(runs_here: bool) -> None:
    graph = sad.Graph()
    x = graph.placeholder("float32", (), name="x")
    session = sad.Session(graph)

    def run() -> None:
        session.run(x, {x: 1.0})

    def elsewhere(work: Callable[[], Any]) -> None:
        # What warns there is raised here.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()

    _step(x)
    run() if runs_here else elsewhere(run)
    if runs_here:
        with pytest.warns(sad.GrowthWarning):
            _step(x)
    else:
        _step(x)
        # What one thread has built before a run and another builds again is growth.
        with pytest.warns(sad.GrowthWarning):
            elsewhere(lambda: _step(x))


def test_building_more_after_a_run_is_no_growth() -> None:
    with sad.Graph(strict=True) as graph:
        x = sad.placeholder("float32", (), name="x")
        with sad.Session(graph) as session:
            session.run(x + 1, {x: 1.0})
            assert session.run(x + 2, {x: 1.0}) == 3


def test_graphs_grow_while_threads_build() -> None:
    graph = sad.Graph()
    x = graph.placeholder("float32", (), "x")
    ends: list[sad.Tensor] = []

    def build() -> None:
        y = x
        for _ in range(200):
            y = y + 1.0
        ends.append(y)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert run(graph, ends, {x: 0.0}) == [200.0] * 4


def test_a_body_is_called_with_tensors_arrays_and_numbers() -> None:
    with sad.Graph() as graph:
        square = graph.define(
            "sum_of_squares", lambda a, b: (a * a + b, a - b), ("float32", ("n",)), ("float32", ())
        )
        x = sad.placeholder("float32", ("batch",), name="x")
        y, z = square(x, 1.0)
        again, _ = graph.call("sum_of_squares", y, z[0])
        (slope,) = sad.gradients(sad.sum(again), [x])
    assert str(y.shape[0]) == "batch"
    values = np.array([1.0, 2.0], np.float32)
    found = run(graph, [y, z, again, slope], {x: values})
    assert found[0].tolist() == [2, 5]
    assert found[1].tolist() == [0, 1]
    assert found[2].tolist() == [4, 25]
    # d/dx sum((x^2 + 1)^2 + x0 - 1)
    assert found[3].tolist() == [4 * 2 * 1 + 2, 4 * 5 * 2]


def test_saved_graphs_are_loaded_with_names_signatures_and_variables(tmp_path: Path) -> None:
    with sad.Graph(seed=3) as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        w = sad.variable(2.0, name="w")
        y = sad.multiply(x, w, name="y")
        train = sad.group(w.assign_add(1.0), name="train")
    graph.signature("step", {"x": x}, {"y": y}, [train])
    graph.save(tmp_path / "a.sad")
    loaded = sad.load(tmp_path / "a.sad")
    assert isinstance(loaded, sad.Graph)
    assert isinstance(loaded["w"], sad.Variable)
    assert [p.name for p in loaded.placeholders] == ["x"]
    assert list(loaded.variables) == ["w"]
    assert loaded.signatures["step"].outputs == {"y": loaded["y"].value}
    with sad.Session(loaded) as session:
        first = session.run(["y", "train"], {"x": [1.0, 2.0]})
        assert first[0].tolist() == [2, 4]
        assert first[1] is None
        assert session.run("y", {"x": [1.0]}).tolist() == [3]
    # It can be built upon.
    with loaded:
        more = loaded["y"] + 1
    assert run(loaded, more, {"x": [1.0]}).tolist() == [3]


def test_sites_can_be_left_out_of_a_file(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        sad.zeros(3, name="z")
    graph.save(tmp_path / "a.sad", sites="none")
    assert b"test_graph" not in (tmp_path / "a.sad").read_bytes()
    assert sad.load(tmp_path / "a.sad")["z"].site is None
    graph.save(tmp_path / "b.sad")
    site = sad.load(tmp_path / "b.sad")["z"].site
    assert site is not None
    assert site.file == "tests/staticad/test_graph.py"


def test_effects_order_and_checks() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        v = sad.variable(0.0, name="v")
        wrote = v.assign(sad.sum(x))
        y = sad.after(x, wrote)
        positive = sad.assert_(x > 0, "x must be positive", name="positive")  # noqa: PT009
        checked = sad.assert_(x > 0, "x must be positive", x) * 2  # noqa: PT009
        train = sad.group(wrote, [positive], name="train")
    with sad.Session(graph) as session:
        assert session.run(train, {x: [1.0, 2.0]}) is None
        assert session.variables["v"] == 3
        session.run(y, {x: [2.0, 2.0]})
        assert session.variables["v"] == 4
        assert session.run(checked, {x: [1.0, 2.0]}).tolist() == [2, 4]
        with pytest.raises(sad.ExecutionError, match="x must be positive"):
            session.run(train, {x: [1.0, -2.0]})
        assert session.variables["v"] == 4


def test_print_shows_the_value(capfd: pytest.CaptureFixture[str]) -> None:
    with sad.Graph() as graph:
        y = sad.print_(sad.constant([1, 2]), "y =") + 1
    assert run(graph, y).tolist() == [2, 3]
    assert capfd.readouterr().out == "y = [1 2]\n"


def test_stop_gradient() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ())
        (g,) = sad.gradients(x * sad.stop_gradient(x), [x])
    assert run(graph, g, {x: 3.0}) == 3


def test_J8_deep_sharing_is_linear() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ())
        y = x
        for _ in range(60):
            y = y + sad.tanh(y)
        before = len(graph.nodes)
        sad.gradients(y, [x])
        assert len(graph.nodes) < 20 * before


def test_the_public_list_is_complete() -> None:
    public = {n for n in vars(sad) if not n.startswith("_")}
    modules = {module.name for module in pkgutil.iter_modules(sad.__path__)}
    assert public - (modules - set(sad.__all__)) == set(sad.__all__)
    assert len(sad.__all__) == len(set(sad.__all__))


def test_graphs_and_sessions_end_with_their_last_reference() -> None:
    """Nothing of a model waits for the collector of cycles, its buffers least of all."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 3), name="x")
        twice = graph.define("twice", lambda a: a * 2, ("float32", ("n", 3)))
        y = sad.nn.dense(twice(x), 2)
        train = sad.optimizers.Adam(0.1).minimize(sad.mean(sad.square(y)))
    session = sad.Session(graph)
    step = session.callable([y, train], [x])
    step(np.ones((4, 3), np.float32))
    graph_end, session_end = weakref.ref(graph), weakref.ref(session)
    gc.collect()
    gc.disable()
    try:
        del step, session, train, y, twice, x, graph
        assert graph_end() is None
        assert session_end() is None
    finally:
        gc.enable()
