"""What a run returns, and what it leaves behind."""

import gc
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import staticad as sad

F32 = np.float32
Pair = namedtuple("Pair", ["first", "second"])


def scalar(value: float, name: str) -> Any:
    return sad.variable(np.array(value, F32), name=name)


# -------------------------------------------------------------------- fetches


def test_results_have_the_structure_of_the_fetches() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        y = sad.multiply(x, 2.0, name="y")
        v = scalar(5, "v")
        done = sad.group(y, name="done")
    session = sad.Session(graph)
    fetches = {"a": [x, (y, "y")], "b": Pair(v, done), "c": [], "d": "done", "e": {1: "v"}}
    result = session.run(fetches, {x: 3})
    assert result == {
        "a": [3, (6, 6)],
        "b": Pair(5, None),
        "c": [],
        "d": None,
        "e": {1: 5},
    }
    assert type(result["b"]) is Pair
    assert type(result["a"][1]) is tuple
    assert session.run(done, {x: 3}) is None


def test_anything_with_a_graph_and_a_value_can_be_fetched_and_fed() -> None:
    @dataclass(frozen=True)
    class Named:
        graph: object
        value: object

    with sad.Graph() as graph:
        x = sad.placeholder("float32", ())
        y = x * 2
    session = sad.Session(graph)
    given, wanted = Named(graph, x.value), Named(graph, y.value)
    assert session.run([wanted], {given: 3.0}) == [6]
    for wrong in (Named(graph, None), Named(graph, 9), Named(sad.Graph(), 0), Named("x", 0)):
        with pytest.raises(sad.FeedTypeError):
            session.run(wrong)
        with pytest.raises(sad.FeedTypeError):
            session.run(y, {wrong: 1.0})
    with pytest.raises(sad.PlanError, match="another graph"), sad.Graph() as other:
        session.run(Named(other, sad.zeros(()).value))


def test_scalars_are_zero_dimensional_arrays() -> None:
    with sad.Graph() as graph:
        v = scalar(5, "v")
    result = sad.Session(graph).run(v)
    assert type(result) is np.ndarray
    assert (result.shape, result.dtype) == ((), F32)
    assert float(result) == 5
    assert f"{result:.2f}" == "5.00"


def test_H4_fetch_of_none_says_so() -> None:
    with sad.Graph() as graph:
        v = scalar(5, "v")
    session = sad.Session(graph)
    with pytest.raises(sad.FeedTypeError, match="None is fetched") as info:
        session.run([v, {"g": None}])
    assert "fetch[1]['g']" in str(info.value)
    assert "unconnected" in str(info.value)


@pytest.mark.parametrize("fetch", [3, 1.5, np.zeros(3), object(), b"v", {"v"}])
def test_what_cannot_be_fetched(fetch: Any) -> None:
    with sad.Graph() as graph:
        scalar(5, "v")
    with pytest.raises(sad.FeedTypeError, match="cannot be fetched"):
        sad.Session(graph).run([fetch])


def test_how_deep_fetches_are_nested() -> None:
    with sad.Graph() as graph:
        v = scalar(5, "v")
    session = sad.Session(graph)
    fetch: Any = v
    result: Any = F32(5)
    for _ in range(100):
        fetch, result = [fetch], [result]
    assert session.run(fetch) == result
    for depth in (1, 5000):
        for _ in range(depth):
            fetch = [fetch]
        with pytest.raises(sad.FeedTypeError, match="nested too deeply"):
            session.run(fetch)


def test_unknown_and_foreign_fetches() -> None:
    with sad.Graph() as graph:
        scalar(5, "weight")
    with sad.Graph():
        other = scalar(5, "weight")
    session = sad.Session(graph)
    with pytest.raises(sad.UnknownFetchError, match="did you mean 'weight'") as info:
        session.run("wieght")
    assert isinstance(info.value, KeyError)
    with pytest.raises(sad.PlanError, match="another graph") as foreign:
        session.run(other)
    assert "test_session_runs.py" in str(foreign.value)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(sad.FeedTypeError, match="holds itself"):
        session.run(loop)


def test_callable_is_run_prepared() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.placeholder("float32", (), name="y")
        v = scalar(1, "v")
        step = v.assign_add(y)
        z = x * y
    session = sad.Session(graph)
    call = session.callable([z, step], [x, "y"])
    for n in (1, 3, 3, 0, 2):
        z_value, _ = call([1.0] * n, 2)
        assert z_value.tolist() == [2.0] * n
    assert float(session.variables["v"]) == 11
    with pytest.raises(sad.PlanError, match="expected: 2: x, y"):
        call([1.0])
    with pytest.raises(sad.PlanError, match="'y'"):
        session.callable(z, [x])
    assert session.callable(v)() == 11


# -------------------------------------------------------------------- memory


def test_K3_results_are_the_callers_own() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (1000,), name="x")
        v = sad.variable(np.ones(1000, F32), name="v")
        y = x + v
        grown = v.assign_add(x)
        fetches = [y, y, v, x, sad.identity(v), grown, y[:500], sad.reshape(y, (10, 100))]
    session = sad.Session(graph)
    feed = np.arange(1000, dtype=F32)
    first = session.run(fetches, {x: feed})
    kept = [a.copy() for a in first]
    second = session.run(fetches, {x: feed})
    held = list(session.snapshot().arrays.values())
    arrays = [*first, *second, feed, *held]
    for i, a in enumerate(arrays):
        for b in arrays[:i]:
            assert not np.shares_memory(a, b)
    for a, b in zip(first, kept, strict=True):
        np.testing.assert_array_equal(a, b)
        a[...] = -1
    np.testing.assert_array_equal(session.variables["v"], 1 + 2 * feed)


def test_K5_a_thousand_runs_keep_no_memory() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 100), name="x")
        v = sad.variable(np.zeros(100, F32), name="v")
        train = v.assign_add(sad.sum(sad.zeros_like(x) + 1, axis=0))
    session = sad.Session(graph)
    step = session.callable([train, x], [x])
    feeds = [np.zeros((n, 100), F32) for n in (50, 60)]
    live = []
    for i in range(1000):
        step(feeds[i % 2])
        if i % 100 == 99:
            gc.collect()
            live.append(session.memory_in_use())
    assert len(set(live[1:])) == 1


def test_K8_a_snapshot_is_never_changed_by_runs() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(1000, F32), name="v")
        grown = v.assign_add(1)
    session = sad.Session(graph)
    held = session.snapshot()
    session.run(grown)
    assert not held.arrays["v"].any()
    with pytest.raises(ValueError, match="read-only"):
        held.arrays["v"][0] = 5
    exported = np.asarray(session.variables["v"].data)
    exported[...] = 9
    assert (session.variables["v"] == 1).all()


# -------------------------------------------------------------------- lifetime


def test_a_closed_session_refuses_to_run() -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
    with sad.Session(graph) as session:
        result = session.run(v)
        call = session.callable(v)
    assert result == 1
    runs: list[Callable[[], Any]] = [lambda: session.run(v), call]
    for run in runs:
        with pytest.raises(sad.PlanError, match="closed"):
            run()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "localhost"}, "this is no address"),
        ({"memory_budget": 0}, "number of bytes"),
        ({"memory_budget": 1e9}, r"write 1000000000"),
        ({"memory_budget": 1 << 20, "check_numerics": True}, "no plan to save memory in"),
        ({"device": "opencl:none-such"}, "OpenCL device"),
        ({"device": "cuda"}, "no such device"),
        ({"rewrites": ("fastest",)}, "unknown class of rewrites"),
        ({"rewrites": "exact"}, "unknown class of rewrites"),
        ({"rewrites": [["exact"]]}, "unknown class of rewrites"),
        ({"threads": True}, "number of threads"),
        ({"threads": 0}, "number of threads"),
    ],
)
def test_options_that_do_not_exist(options: dict[str, Any], words: str) -> None:
    with pytest.raises(sad.PlanError, match=words) as raised:
        sad.Session(sad.Graph(), **options)
    assert "test_session_runs.py" in str(raised.value)


@pytest.mark.parametrize("source", [None, 0, {"v": 1.0}, [1]])
def test_what_is_no_checkpoint_is_refused(source: Any) -> None:
    with pytest.raises(sad.FeedTypeError, match="nothing to restore from"):
        sad.Session(sad.Graph()).restore(source)


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(sad.FeedTypeError, match="no graph"):
        sad.Session("model.sad")  # type: ignore[arg-type]


def test_J16_growth_from_the_same_line_warns_after_the_first_run() -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
    session = sad.Session(graph)
    session.run(v)

    def grow() -> None:
        session.run(v * 2)

    grow()
    with pytest.warns(sad.GrowthWarning, match="test_session_runs.py"):
        grow()
