"""Which state a run reads, what it writes, and in which order."""

import re
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.lines import line_ahead

F32 = np.float32

# Plans, and the interpreter that checks numbers, must agree on everything.
both_engines = pytest.mark.parametrize("checked", [False, True], ids=["plan", "interpreter"])


def scalar(value: float, name: str) -> Any:
    return sad.variable(np.array(value, F32), name=name)


@both_engines
def test_J1_plain_reads_see_the_start_of_the_run(checked: bool) -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
        before = v * 10
        train = v.assign_add(1)
        after = v * 10
    session = sad.Session(graph, check_numerics=checked)
    for start in (1, 2, 3):
        assert session.run([before, train, after, v]) == [10 * start, start + 1, 10 * start, start]
        assert session.run([v]) == [start + 1]


@both_engines
def test_J3_read_behind_an_assign_that_changes_the_size(checked: bool) -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(1, F32), name="v", shape=(None,))
        grown = v.assign(sad.ones(3))
        read = v.read(after=grown) + 2
        plain = v + 2
    session = sad.Session(graph, check_numerics=checked)
    first, second = session.run([read, plain])
    assert (first.tolist(), second.tolist()) == ([3, 3, 3], [2])
    first, second = session.run([read, plain])
    assert (first.tolist(), second.tolist()) == ([3, 3, 3], [3, 3, 3])


@both_engines
def test_J3_only_an_assign_changes_the_size(checked: bool) -> None:
    with sad.Graph() as graph:
        v = sad.variable(sad.zeros(3), name="v", shape=("n",))
        x = sad.placeholder("float32", ("m",), name="x")
        y = sad.placeholder("float32", ("k",), name="y")
        add, sub = v.assign_add(x, name="add"), v.assign_sub(x)
        resized = v.assign(y)
        larger = v.assign_add(x, after=resized, name="larger")
    with sad.Session(graph, check_numerics=checked) as session:
        assert session.run(add, {x: [1, 2, 3]}).tolist() == [1, 2, 3]
        assert session.run(sub, {x: [1]}).tolist() == [0, 1, 2]
        for fetches, feeds in (
            (add, {x: [1, 2]}),
            (add, {x: np.zeros(0)}),
            ([resized, larger], {y: [5], x: [1, 2, 3]}),
        ):
            with pytest.raises(sad.StaticadError, match="shapes do not broadcast") as info:
                session.run(fetches, feeds)
            assert "'add'" in str(info.value) or "'larger'" in str(info.value)
        assert session.variables["v"].tolist() == [0, 1, 2]
        found = session.run([resized, larger], {y: [5, 6], x: [1]})
        assert [a.tolist() for a in found] == [[5, 6], [6, 7]]
        assert session.variables["v"].tolist() == [6, 7]


@both_engines
def test_a_fed_write_does_not_happen(checked: bool) -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
        write = v.assign_add(5.0, name="write")
        read = v.read(after=write)
        done = sad.group(write, read)
    with sad.Session(graph, check_numerics=checked) as session:
        # Also not where the node itself is asked for, as signatures do.
        fetches = [write, read, done, graph.effect(write.node_index)]
        assert session.run(fetches, {write: 7}) == [7, 1, None, None]
        assert session.variables["v"] == 1
        assert session.run(fetches) == [6, 6, None, None]


@both_engines
def test_a_failing_node_of_a_body_is_named_with_its_caller(checked: bool) -> None:
    with sad.Graph() as graph:
        positive = graph.define(
            "positive",
            lambda x: sad.assert_(x > 0, "not positive", x, name="sign"),  # noqa: PT009
            ("float32", ()),
        )
        x = sad.placeholder("float32", (), name="x")
        y = positive(x)
    with (
        sad.Session(graph, check_numerics=checked) as session,
        pytest.raises(sad.ExecutionError, match=r"check 'call_\d/sign': not positive"),
    ):
        session.run(y, {x: -1})


@both_engines
def test_nodes_beside_a_call_keep_their_own_lines(checked: bool) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
        i, j = (sad.placeholder("int64", (), name=name) for name in "ij")
        inner = line_ahead(1)
        pick = graph.define("pick", lambda a, k: sad.take(a, k, axis=0), x, i)
        called = pick(x, i)
        outer = line_ahead(1)
        beside = sad.take(x, j, axis=0)
        total = called + beside
    with sad.Session(graph, check_numerics=checked) as session:
        for feeds, place in (({i: 9, j: 0}, inner), ({i: 0, j: 9}, outer)):
            with pytest.raises(sad.ExecutionError, match=re.escape(place)):
                session.run(total, {x: np.zeros(3, F32), **feeds})


@both_engines
def test_J4_identity_of_a_variable_is_not_its_buffer(checked: bool) -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
        old = sad.identity(v)
        grown = v.assign_add(1, after=old)
        new = sad.identity(v.read(after=grown))
    assert sad.Session(graph, check_numerics=checked).run([old, new]) == [1, 2]


@both_engines
def test_I14_a_dependency_on_an_effect_runs_once_and_before(checked: bool) -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
        grown = v.assign_add(1)
        passed = sad.after(sad.constant(F32(7)), grown)
        same = sad.identity(passed) * 1.0
    session = sad.Session(graph, check_numerics=checked)
    assert session.run([same, passed, same * 2]) == [7, 7, 14]
    assert float(session.variables["v"]) == 2


@both_engines
def test_a_check_of_constants_is_all_that_runs(checked: bool) -> None:
    # What it was folded from is left out, and it has no value to be numbered by.
    with sad.Graph() as graph:
        done = sad.assert_(sad.constant(2.0) < sad.constant(3.0), "small")  # noqa: PT009
        never = sad.assert_(sad.constant(3.0) < sad.constant(2.0), "large")  # noqa: PT009
    with sad.Session(graph, check_numerics=checked) as session:
        assert session.run(done) is None
        with pytest.raises(sad.ExecutionError, match="large"):
            session.run(never)


@both_engines
def test_I15_equal_assigns_are_both_kept(checked: bool) -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
        first = v.assign(v * 2)
        second = v.assign(v * 2)
        ordered = v.assign(v.read(after=second) * 2)
        read = v.read(after=ordered)
    session = sad.Session(graph, check_numerics=checked)
    assert session.run([first, second]) == [2, 2]
    assert float(session.variables["v"]) == 2
    session.variables["v"] = 1
    assert session.run([first, second, read]) == [2, 2, 4]
    assert float(session.variables["v"]) == 4


@both_engines
def test_writes_apply_in_order_of_creation(checked: bool) -> None:
    with sad.Graph() as graph:
        v = scalar(1, "v")
        adds = [v.assign_add(1), v.assign_add(10), v.assign_sub(3)]
        last = v.assign(v * 100)
        late = v.assign_add(1)
    session = sad.Session(graph, check_numerics=checked)
    assert session.run([adds[1], adds[0], adds[2]]) == [12, 2, 9]
    assert float(session.variables["v"]) == 9
    # Whatever the order of the fetches.
    assert session.run([late, last, adds[0]]) == [901, 900, 10]
    assert float(session.variables["v"]) == 901


@both_engines
def test_only_what_is_fetched_is_written(checked: bool) -> None:
    with sad.Graph() as graph:
        v, w = scalar(1, "v"), scalar(1, "w")
        v_grown, w_grown = v.assign_add(1), w.assign_add(1)
        both = sad.group(v_grown, w_grown)
    session = sad.Session(graph, check_numerics=checked)
    session.run(v_grown)
    assert dict(session.variables) == {"v": 2, "w": 1}
    assert session.run(both) is None
    assert dict(session.variables) == {"v": 3, "w": 2}
    # A fed write does not happen, nor what only it needs.
    session.run(both, {w_grown: 5})
    assert dict(session.variables) == {"v": 4, "w": 2}


@both_engines
def test_D14_scatter_update_of_a_variable(checked: bool) -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.arange(12, dtype=F32).reshape(6, 2), name="v")
        update = v.assign(v.at[np.array([0, 2])].set(np.array([[9, 9], [8, 8]], F32)))
    session = sad.Session(graph, check_numerics=checked)
    session.run(update)
    expected = np.arange(12, dtype=F32).reshape(6, 2)
    expected[[0, 2]] = [[9, 9], [8, 8]]
    np.testing.assert_array_equal(session.variables["v"], expected)


def test_variables_initialise_each_other_when_needed() -> None:
    with sad.Graph() as graph:
        a = sad.variable(sad.constant(np.array([1.0, 2.0], F32)), name="a")
        b = sad.variable(a * 2, name="b")
        c = sad.variable(b + a, name="c")
        grow = a.assign_add(1)
    session = sad.Session(graph)
    session.run(grow)
    np.testing.assert_array_equal(session.run(a), [2, 3])
    # The initial values are those at the beginning of a, where a has not been written.
    fresh = sad.Session(graph)
    np.testing.assert_array_equal(fresh.run(c), [3, 6])


def test_variables_read_as_copies_and_are_checked() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros((2, 3), F32), name="v")
    session = sad.Session(graph)
    copy = session.variables[v]
    copy[...] = 7
    assert not session.variables["v"].any()
    given = np.ones((2, 3))
    session.variables["v"] = given
    given[...] = 9
    assert (session.variables["v"] == 1).all()
    with pytest.raises(sad.PlanError, match="does not fit the variable") as info:
        session.variables["v"] = np.ones((3, 2))
    assert "test_session_state.py" in str(info.value)
    with pytest.raises(sad.FeedTypeError):
        session.variables["v"] = np.ones((2, 3), complex)
    with pytest.raises(sad.UnknownFetchError, match="no variable 'w'"):
        session.variables["w"]
    assert list(session.variables) == ["v"]
    for key, there in {"v": True, v: True, "w": False, v + 1: False, 3: False}.items():
        assert (key in session.variables) is there
    assert sad.Graph().constant(1.0) not in session.variables


def test_sessions_may_share_variables() -> None:
    graphs = []
    for _ in range(2):
        with sad.Graph() as graph:
            v = scalar(1, "v")
            graphs.append((graph, v, v.assign_add(1)))
    one = sad.Session(graphs[0][0])
    two = sad.Session(graphs[1][0], variables=one.variables)
    one.run(graphs[0][2])
    two.run(graphs[1][2])
    assert one.run(graphs[0][1]) == two.run(graphs[1][1]) == 3
    with sad.Graph() as other:
        w = sad.variable(np.zeros(3, F32), name="v")
    with pytest.raises(sad.PlanError, match="declare the variable differently"):
        sad.Session(other, variables=one.variables).run(w)
