"""What is told of runs that find sizes: plans, memory, profiles, numbers and failures."""

from __future__ import annotations

import json

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile import structure
from tests.executor.test_run_time_sizes import DATA, finders
from tests.lines import line_ahead


def test_explain_memory_and_profile() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        (where,) = sad.nonzero(x > 0, name="hits")
        y = x[where] * 3
        z = sad.sum(sad.exp(y))
    with sad.Session(graph) as session:
        assert "sizes are not known" in session.explain(z)
        assert "sizes are not known" in session.explain(z, feeds=[x])
        with pytest.raises(sad.PlanError, match="'hits' is not given, which each run finds"):
            session.explain(z, {"n": 4})
        with pytest.raises(sad.PlanError, match="'hits' is not given") as caught:
            session.memory(z, {"n": 4})
        assert "nonzero hits" in str(caught.value)
        with pytest.raises(sad.PlanError, match="'n' is not given"):
            session.memory(z, {"hits": 4})
        small, large = (session.memory(z, {"n": 1000, "hits": k}) for k in (1, 1000))
        assert small.feed_bytes == 8000
        assert large.scratch_bytes > small.scratch_bytes + 8000
        assert large.peak_bytes == sum(large[1:6])
        session.run(z, {x: DATA})
        ran = session.explain(z)
        assert ran == session.explain(z, {"n": 40, "hits": int((DATA > 0).sum())})
        assert finders(session, z) == 1
        profile = session.profile(z, {x: DATA}, repeat=3)
        assert [row.calls for row in profile.by_op() if row.name == "nonzero"] == [3]
        assert json.dumps(profile.trace()).count('"cat": "finder"') == 3
        assert profile.result == session.run(z, {x: DATA})
    with pytest.raises(sad.PlanError, match="has no plan"):
        sad.Session(graph, check_numerics=True).explain(z)


def test_numbers_are_checked_behind_a_mask() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        where = line_ahead(1)
        y = sad.log(x[x != 0])
    with sad.Session(graph, check_numerics=True) as session:
        assert session.run(y, {x: [0.0, 1.0]}).tolist() == [0]
        with pytest.raises(sad.ExecutionError, match="NaN is born here") as caught:
            session.run(y, {x: [0.0, -1.0]})
    assert where in str(caught.value)


def test_a_failure_in_a_later_segment_names_the_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        y = sad.placeholder("float64", ("m",), name="y")
        where = line_ahead(1)
        z = x[x > 0] + y
    with sad.Session(graph) as session:
        assert session.run(z, {x: [1.0, -1.0, 2.0], y: [1.0, 1.0]}).tolist() == [2, 3]
        with pytest.raises(sad.ShapeError, match="do not broadcast") as caught:
            session.run(z, {x: [1.0, -1.0, 2.0], y: [1.0, 1.0, 1.0]})
    assert where in str(caught.value)


def test_a_mask_of_another_size_fails_where_it_is_used() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", "m"), name="x")
        mask = sad.placeholder("bool", ("a", "b"), name="mask")
        where = line_ahead(1)
        y = x[mask]
    data = np.arange(6.0).reshape(2, 3)
    for options in ({}, {"check_numerics": True}):
        with sad.Session(graph, **options) as session:  # type: ignore[arg-type]
            assert session.run(y, {x: data, mask: data > 2}).tolist() == [3, 4, 5]
            for other in ((3, 2), (1, 3), (2, 4)):
                with pytest.raises(sad.ShapeError, match="of another shape") as caught:
                    session.run(y, {x: data, mask: np.ones(other, bool)})
                assert where in str(caught.value)


def test_there_is_no_one_plan_of_several_segments() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        y = x[x > 0]
    with pytest.raises(sad.PlanError, match="sizes are found while it runs"):
        structure(graph, [y.id], [], {x.id: x.type})
