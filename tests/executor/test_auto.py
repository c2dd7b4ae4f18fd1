"""What a session does that says nothing of devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor import chosen
from staticad_executor.compile import bind, mix, structure
from staticad_executor.compile.bind import pending
from staticad_executor.devices.base import HOST
from staticad_executor.devices.opencl.device import restricted_device
from staticad_executor.devices.opencl.discovery import found_devices

SOME = 1 << 19

needs_opencl = pytest.mark.skipif(
    not found_devices(), reason="no OpenCL platform is installed here"
)


def program() -> tuple[Any, Any, Any, Any, Any]:
    """(graph, feed, what is small, what is large, what follows from it)."""
    with sad.Graph(seed=1) as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        small = sad.sum(sad.tanh(x[:8]), name="small")
        large = sad.exp(sad.sin(x) * small, name="large")
        after = sad.log(sad.sum(large), name="after")
    return graph, x, small, large, after


def data(size: int) -> Any:
    return np.linspace(-1, 1, size, dtype=np.float32)


def steps(session: Any, fetches: Any) -> list[str]:
    return [line for line in session.explain(fetches).splitlines() if "@" in line]


@needs_opencl
def test_large_nodes_and_what_follows_go_to_a_device_and_small_ones_do_not() -> None:
    graph, x, small, large, after = program()
    with sad.Session(graph) as session:
        value = session.run([small, large, after], {x: data(SOME)})
        text = session.explain([small, large, after])
    with sad.Session(graph, "numpy") as session:
        expected = session.run([small, large, after], {x: data(SOME)})
    for a, b in zip(value, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    lines = text.splitlines()
    assert lines[0].startswith("auto: ")
    assert "nodes on opencl:" in lines[0]
    assert any("@numpy" in line and "tanh" in line for line in lines)
    assert any("@opencl" in line and "sin" in line for line in lines)
    assert any("@opencl" in line and "log" in line for line in lines)


def test_small_programs_look_for_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> Any:
        raise AssertionError("nothing is large")

    monkeypatch.setattr(chosen, "_best", found)
    graph, x, small, large, after = program()
    with sad.Session(graph) as session:
        session.run([small, large, after], {x: data(1000)})
        assert all("@numpy" in line for line in steps(session, [small, large, after]))


def test_without_a_device_everything_is_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen, "_best", lambda: None)
    graph, x, small, large, after = program()
    with sad.Session(graph) as session, sad.Session(graph, "numpy") as other:
        given = {x: data(SOME)}
        value, expected = (s.run([small, large, after], given) for s in (session, other))
        assert all(np.array_equal(a, b) for a, b in zip(value, expected, strict=True))
        assert all("@numpy" in line for line in steps(session, [small, large, after]))


@needs_opencl
def test_bits_depend_neither_on_fetches_nor_on_threads() -> None:
    graph, x, small, large, after = program()
    given = {x: data(SOME)}
    with sad.Session(graph) as session:
        together = session.run([small, large, after], given)
        alone = [session.run(fetch, given) for fetch in (small, large, after)]
    with sad.Session(graph, threads=1) as session:
        single = session.run([small, large, after], given)
    for value, *others in zip(together, alone, single, strict=True):
        assert all(np.array_equal(value, other) for other in others)


@needs_opencl
def test_a_device_with_memory_of_its_own_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    far = restricted_device("opencl", separate=True)
    monkeypatch.setattr(chosen, "_best", lambda: far)
    graph, x, small, large, after = program()
    with sad.Session(graph) as session, sad.Session(graph, "numpy") as other:
        given = {x: data(SOME)}
        value, expected = (s.run([small, large, after], given) for s in (session, other))
        assert any("copy" in line for line in steps(session, [small, large, after]))
    for a, b in zip(value, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize(
    ("build", "sizes", "taken"),
    [
        (lambda x: x @ sad.ones((512, 512)), (512, 512), True),
        (lambda x: x @ sad.ones((512, 8)), (16, 512), False),
        (lambda x: x.T, (1024, 1024), False),
        (lambda x: sad.max(x, axis=0), (1024, 1024), True),
    ],
)
def test_what_counts_as_large(build: Any, sizes: tuple[int, int], taken: bool) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("m", "n"), name="x")
        build(x)

    value = graph.nodes[-1].start
    made = structure(graph, [value], [], {x.id: x.type})
    bound = bind(made.grouped, pending(made.program), [sizes])
    flags = mix.taken(bound)
    assert (flags is not None) == taken


def test_on_the_processor_products_go_along_only_where_much_leaves_them() -> None:
    def flags(left: tuple[int, int], right: tuple[int, int], space: str) -> bytes | None:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("m", "k"), name="x")
            w = sad.placeholder("float32", ("k", "n"), name="w")
            sad.nn.relu(x @ w)
        value = graph.nodes[-1].start
        made = structure(graph, [value], [], {x.id: x.type, w.id: w.type})
        return mix.taken(bind(made.grouped, pending(made.program), [left, right]), space)

    # Many operations, few results: BLAS is as fast, and its threads would be in a device's way.
    assert flags((128, 1024), (1024, 1024), "opencl:0") is not None
    assert flags((128, 1024), (1024, 1024), HOST) is None
    for space in ("opencl:0", HOST):
        assert flags((512, 1024), (1024, 1024), space) is not None
        assert flags((512, 8), (8, 512), space) is not None
        assert flags((16, 64), (64, 64), space) is None
