"""Plans under a budget of memory: the same bits from less of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.compile.bind import bind, pending
from staticad_executor.compile.budget import given_bytes
from staticad_executor.compile.lifetimes import Lifetimes
from staticad_executor.compile.recompute import closure, lower
from staticad_executor.compile.repeat import repeated
from staticad_executor.compile.write import written

from ..mistakes import check_parts
from .planning import Compiled, same_bits
from .random_graphs import programs

RANDOM = settings(suppress_health_check=list(HealthCheck), deadline=None)
F32 = np.float32


def lives(compiled: Compiled) -> tuple[Lifetimes, list[tuple[int, ...]]]:
    shapes = [a.shape for a in compiled.inputs]
    structure = compiled.structure
    return Lifetimes(written(bind(structure.grouped, structure.waiting, shapes))), shapes


def check_repeated(compiled: Compiled, lifetimes: Lifetimes, shapes: Any) -> None:
    """What is computed with repeats has the naive bits."""
    grouped = repeated(lifetimes, ())
    compiled.plan = compiled.structure._finish(bind(grouped, pending(grouped.program), shapes))
    compiled.check()


def repeat_all(lifetimes: Lifetimes, most: int, along: bool = False) -> int:
    """Compute every value again before every use but the next one, wherever that can be."""
    count = 0
    for value in list(lifetimes.size):
        for time in list(lifetimes.uses[value]):
            at = lifetimes.index(time) - 1
            if at < 0 or not lifetimes.movable(lifetimes.home[value]):
                continue
            if lifetimes.waits(value, lifetimes.keys[at]) != time or not lifetimes.size[value]:
                continue
            found = closure(lifetimes, value, time, at, most, along)
            if found is not None:
                lifetimes.repeat(found.time, found.again, found.kept)
                count += 1
    return count


@RANDOM
@given(programs(size=25), st.sampled_from([1, 3, 24]), st.booleans(), st.booleans())
def test_repeated_values_change_no_bit(case: Any, most: int, along: bool, small: bool) -> None:
    graph, fetches, feeds = case
    compiled = Compiled(graph, fetches, feeds)
    lifetimes, shapes = lives(compiled)
    if small:
        lower(lifetimes, 0)
    else:
        repeat_all(lifetimes, most, along)
    check_repeated(compiled, lifetimes, shapes)


def test_a_copy_that_several_steps_read_is_no_value_to_compute_again() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (8,), name="x")
        turned = sad.flip(sad.negative(x))
        first = sad.sin(turned)
        total = sad.cumulative_sum(first)
        last = total * turned
    compiled = Compiled(graph, [last], {x: np.arange(8, dtype=F32)})
    lifetimes, shapes = lives(compiled)
    assert lifetimes.draft.originals
    assert repeat_all(lifetimes, 24)
    check_repeated(compiled, lifetimes, shapes)


@RANDOM
@given(programs(size=25), st.floats(0, 1))
def test_a_budget_is_kept_or_the_error_says_what_is_possible(case: Any, share: float) -> None:
    graph, fetches, feeds = case
    compiled = Compiled(graph, fetches, feeds)
    lifetimes, _ = lives(compiled)
    most = given_bytes(lifetimes.draft.bound) + compiled.plan.peak_bytes
    budget = max(1, int(share * most))
    error = None
    try:
        within = Compiled(graph, fetches, feeds, budget=budget)
    except sad.PlanError as raised:
        error = raised
    if error is not None:
        least = smallest(error)
        assert budget < least <= most
        budget = least
        within = Compiled(graph, fetches, feeds, budget=budget)
    within.check()
    assert given_bytes(lifetimes.draft.bound) + within.plan.peak_bytes <= budget


def smallest(error: sad.PlanError) -> int:
    """The smallest budget, as an error tells it."""
    return int(str(error.expected).split()[2].replace(",", ""))


def network(depth: int = 6, width: int = 64) -> tuple[Any, list[Any], Any]:
    """A step of training with dropout, in which the activations take most of the memory."""
    with sad.Graph(seed=3) as graph:
        x = sad.placeholder("float32", ("n", width), name="x")
        hidden = x
        for k in range(depth):
            with sad.scope(f"layer{k}"):
                hidden = sad.nn.dense(hidden, width, activation=sad.nn.gelu)
                hidden = sad.nn.dropout(hidden, 0.1)
        loss = sad.mean(sad.square(hidden), name="loss")
        train = sad.optimizers.Adam(1e-2).minimize(loss)
    return graph, [loss, train], x


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_training_within_a_budget_has_the_same_bits(threads: int) -> None:
    graph, fetches, x = network()
    data = np.random.default_rng(0).standard_normal((512, 64)).astype(F32)
    free = sad.Session(graph, threads=threads)
    need = free.memory(fetches, {"n": 512})
    budget = need.peak_bytes - need.scratch_bytes // 3
    tight = sad.Session(graph, threads=threads, memory_budget=budget)
    assert tight.memory(fetches, {"n": 512}).peak_bytes <= budget
    for _ in range(3):
        a, b = free.run(fetches, {x: data})[0], tight.run(fetches, {x: data})[0]
        assert a.tobytes() == b.tobytes()
    for name in graph.variables:
        assert free.variables[name].tobytes() == tight.variables[name].tobytes()


def test_random_numbers_are_drawn_again_not_anew() -> None:
    with sad.Graph(seed=1) as graph:
        x = sad.placeholder("float32", (64, 64), name="x")
        noise = sad.random.normal((64, 64))
        y = sad.matmul(noise, x)
        for _ in range(6):
            y = sad.tanh(y @ x)
        result = sad.sum(y * noise)
    feeds = {x: np.eye(64, dtype=F32)}
    compiled = Compiled(graph, [result], feeds, run_number=5)
    lifetimes, shapes = lives(compiled)
    assert repeat_all(lifetimes, 24)
    check_repeated(compiled, lifetimes, shapes)
    ops = [n.op for n in compiled.plan.graph.nodes]
    assert ops.count("random_bits") == 2


def test_what_acts_outside_happens_once(capsys: pytest.CaptureFixture[str]) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (64, 64), name="x")
        first = sad.print_(sad.exp(x @ x), "seen")
        y = first
        for _ in range(6):
            y = sad.tanh(y @ x)
        result = sad.sum(y * first)
    compiled = Compiled(graph, [result], {x: np.eye(64, dtype=F32)})
    expected = compiled.expected()
    capsys.readouterr()
    lifetimes, shapes = lives(compiled)
    repeat_all(lifetimes, 24)
    grouped = repeated(lifetimes, ())
    compiled.plan = compiled.structure._finish(bind(grouped, pending(grouped.program), shapes))
    (found,) = compiled.run()
    assert same_bits(found, expected[0])
    assert capsys.readouterr().out.count("seen") == 1


def test_a_long_chain_is_computed_again_in_pieces() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (64, 64), name="x")
        w = sad.variable(np.eye(64, dtype=F32), name="w")
        y = x
        for _ in range(200):
            y = sad.tanh(y @ w)
        fetches = sad.gradients(sad.sum(y), [x, w])
    free = sad.Session(graph)
    need = free.memory(fetches)
    budget = need.peak_bytes - need.scratch_bytes * 3 // 4
    tight = sad.Session(graph, memory_budget=budget)
    data = np.random.default_rng(0).standard_normal((64, 64)).astype(F32)
    for a, b in zip(free.run(fetches, {x: data}), tight.run(fetches, {x: data}), strict=True):
        assert a.tobytes() == b.tobytes()
    (line,) = [s for s in tight.explain(fetches).splitlines() if "more work" in s]
    # Each piece once, not each value from the beginning.
    assert float(line.partition("about ")[2].split()[0]) < 80


def test_explain_tells_what_is_computed_again() -> None:
    graph, fetches, _ = network()
    need = sad.Session(graph).memory(fetches, {"n": 512})
    budget = need.peak_bytes - need.scratch_bytes // 3
    text = sad.Session(graph, memory_budget=budget).explain(fetches, {"n": 512})
    assert f"memory budget {budget:,}: " in text
    assert "% more work" in text
    assert "  again: layer0/" in text
    assert "again" not in sad.Session(graph, memory_budget=1 << 40).explain(fetches, {"n": 512})


def test_too_small_a_budget_says_what_would_do() -> None:
    graph, fetches, x = network()
    session = sad.Session(graph, memory_budget=300_000)
    with pytest.raises(sad.PlanError) as raised:
        session.run(fetches, {x: np.zeros((512, 64), F32)})
    check_parts(raised.value, network)
    assert "memory_budget=300,000" in str(raised.value)
    assert "float32[512, 64] of 131,072 bytes" in str(raised.value)
    least = smallest(raised.value)
    enough = sad.Session(graph, memory_budget=least)
    assert enough.memory(fetches, {"n": 512}).peak_bytes <= least
    # Fewer rows fit.
    assert np.isfinite(session.run(fetches[0], {x: np.zeros((2, 64), F32)}))


def test_a_loop_that_keeps_too_much_is_told_how_to_keep_less() -> None:
    def slope(**way: Any) -> Any:
        with sad.Graph():
            x = sad.placeholder("float32", (64,), name="x")
            last, _ = sad.scan(lambda c, _: (sad.sin(c) * 1.01, None), x, length=10_000, **way)
            return sad.gradients(sad.sum(last), x)

    much, little = slope(), slope(recompute_every=100)
    with pytest.raises(sad.PlanError) as raised:
        sad.Session(much[0].graph, memory_budget=200_000).run(much, {"x": np.ones(64, F32)})
    check_parts(raised.value, slope)
    assert "recompute_every= of scan" in str(raised.value)
    sad.Session(little[0].graph, memory_budget=200_000).run(little, {"x": np.ones(64, F32)})


def test_a_plan_within_its_budget_is_the_plan_without_one() -> None:
    graph, fetches, _ = network(2)
    session = sad.Session(graph, rewrites=("exact", "stable", "-flat_updates"))
    need = session.memory(fetches, {"n": 64}).peak_bytes
    same = sad.Session(graph, memory_budget=need)
    assert same.explain(fetches, {"n": 64}) == session.explain(fetches, {"n": 64})


def test_plans_under_a_budget_are_always_the_same() -> None:
    graph, fetches, _ = network()
    need = sad.Session(graph).memory(fetches, {"n": 512})
    budget = need.peak_bytes - need.scratch_bytes // 3
    first, second = (
        sad.Session(graph, memory_budget=budget).explain(fetches, {"n": 512}) for _ in range(2)
    )
    assert first == second


def test_parts_behind_found_sizes_are_held_to_the_budget() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        picked = x[x > 0]
        y = sad.reshape(picked, (-1, 1)) * sad.ones((1, 64))
        kept = [y]
        for k in range(8):
            kept.append(sad.cumulative_sum(sad.tanh(kept[-1] + k), axis=0))
        total = sad.sum(kept[-1])
        for value in kept[:-1]:
            total = total + sad.sum(sad.cumulative_sum(value * total, axis=0))
    data = np.linspace(-1, 1, 1024, dtype=F32)
    free = sad.Session(graph)
    expected = free.run(total, {x: data})
    sizes = {"n": 1024, str(picked.type.shape[0]): 512}
    need = free.memory(total, sizes)
    tight = sad.Session(graph, memory_budget=need.peak_bytes - need.scratch_bytes // 4)
    assert tight.run(total, {x: data}).tobytes() == expected.tobytes()
    assert tight.memory(total, sizes).peak_bytes < need.peak_bytes
