"""Variables that are updated alike are updated as one: same bits, fewer calls, one arena."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.compile.columns import LARGEST
from staticad_executor.compile.flat import flat_updates
from staticad_executor.compile.verify import verify
from staticad_executor.flats import Arrays, Flat
from staticad_executor.pool import BlockPool
from staticad_executor.program import Arena
from staticad_schema.errors import ExecutionError, PlanError
from staticad_schema.op import OPS

from .inside import local
from .planning import Array, Compiled, same_bits
from .random_graphs import SPECIAL

F32 = np.float32
ONE_BY_ONE = ("exact", "stable", "-flat_updates")
SIZES = (12, 8, 5)


def network(optimizer: Any, dtype: str = "float32", seed: int = 3) -> tuple[Any, Any, Any]:
    """A graph, its loss and its training step: two layers, weights and biases."""
    rng = np.random.default_rng(seed)
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder(dtype, ("n", SIZES[0]), name="x")
        h: Any = x
        for k, (rows, columns) in enumerate(itertools.pairwise(SIZES)):
            w = sad.variable(rng.standard_normal((rows, columns)).astype(dtype), name=f"w{k}")
            b = sad.variable(rng.standard_normal(columns).astype(dtype), name=f"b{k}")
            h = sad.tanh(h @ w + b)
        loss = sad.sum(h * h, name="loss")
        train = optimizer.minimize(loss)
    return graph, loss, train


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: sad.optimizers.SGD(0.05),
    "momentum": lambda: sad.optimizers.Momentum(0.05, 0.9),
    "nesterov": lambda: sad.optimizers.Momentum(0.05, 0.9, nesterov=True),
    "adam": lambda: sad.optimizers.Adam(0.01),
    "equal decays": lambda: sad.optimizers.Adam(0.01, beta1=0.9, beta2=0.9),
    "adamw": lambda: sad.optimizers.AdamW(0.01),
    "rmsprop": lambda: sad.optimizers.RMSProp(0.01),
    "adagrad": lambda: sad.optimizers.Adagrad(0.01),
}


def feed(step: int, dtype: str = "float32") -> dict[str, Array]:
    rng = np.random.default_rng(step)
    return {"x": rng.standard_normal((4, SIZES[0])).astype(dtype)}


def equal_state(one: Any, two: Any) -> None:
    a, b = one.snapshot(), two.snapshot()
    assert (a.step, a.run_number) == (b.step, b.run_number)
    assert a.arrays.keys() == b.arrays.keys()
    for name, array in a.arrays.items():
        assert same_bits(array, b.arrays[name]), name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_has_the_bits_of_updates_one_by_one(name: str, dtype: str) -> None:
    graph, loss, train = network(OPTIMIZERS[name](), dtype)
    flat, single = sad.Session(graph), sad.Session(graph, rewrites=ONE_BY_ONE)
    meaning = sad.Session(graph, check_numerics=True)
    for step in range(4):
        values = [s.run([loss, train], feed(step, dtype))[0] for s in (flat, single, meaning)]
        assert same_bits(values[0], values[1])
    equal_state(flat, single)
    for key, array in meaning.snapshot().arrays.items():
        np.testing.assert_allclose(flat.variables[key], array, rtol=1e-4, atol=1e-6)
    assert "flat_updates" in flat.explain([loss, train])


def test_calls_do_not_grow_with_the_number_of_variables() -> None:
    def updates(count: int) -> int:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", (8,), name="x")
            vs = [sad.variable(np.ones((k % 3 + 1, 8), F32), name=f"v{k}") for k in range(count)]
            loss = sad.sum(sad.stack([sad.sum(v * x) for v in vs]))
            train = sad.optimizers.Adam(0.1).minimize(loss)
        with sad.Session(graph) as session:
            session.run(train, {"x": np.ones(8, F32)})
            text = session.explain(train)
        return sum("assign" in line for line in text.splitlines())

    assert updates(40) == updates(3)


def test_gradients_are_produced_into_the_arena() -> None:
    graph, loss, train = network(OPTIMIZERS["adam"]())
    with sad.Session(graph) as session:
        session.run([loss, train], feed(0))
        text = session.explain([loss, train])
        assert "concat" not in text
        assert "copy" not in text
        held = local(session).store.snapshot
        assert sorted(len(names) for names in held.arrays.flats) == [4, 4, 4]
        session.run([loss, train], feed(1))
        following = local(session).store.snapshot
        for names, flat in following.arrays.flats.items():
            assert following.flat(flat.arena, local(session).store.pool) is flat.array
            for name in names:
                assert np.shares_memory(following.arrays[name], flat.array)
                assert not following.arrays[name].flags.writeable
                assert not np.shares_memory(held.arrays[name], following.arrays[name])


def test_what_comes_between_runs_is_kept() -> None:
    """Single assignments, restoring, initialising, other writers, readers, and failing runs."""
    graph, loss, train = network(OPTIMIZERS["adam"]())
    with graph:
        half = graph["w1"].assign(graph["w1"].read() * 0.5, name="half")
        norm = sad.sum(graph["w0"] * graph["w0"], name="norm")
        bad = sad.group(train, sad.assert_(loss < 0, "never"), name="bad")  # noqa: PT009
    sessions = [sad.Session(graph), sad.Session(graph, rewrites=ONE_BY_ONE)]
    saved: list[Any] = []

    def both(act: Callable[[Any], Any]) -> None:
        results = [np.asarray(act(s)) for s in sessions]
        assert same_bits(results[0], results[1])
        equal_state(*sessions)

    def assign(session: Any) -> float:
        session.variables["b0"] = np.full(SIZES[1], 0.25, F32)
        return 0.0

    def keep(session: Any) -> float:
        saved.append(session.snapshot())
        return 0.0

    def restore(session: Any) -> float:
        session.restore(saved[0])
        return 0.0

    def fail(session: Any) -> float:
        with pytest.raises(ExecutionError):
            session.run(bad, feed(5))
        return 0.0

    def initialize(session: Any) -> float:
        session.initialize()
        return 0.0

    def step(session: Any) -> Any:
        return session.run([loss, train], feed(7))[0]

    for act in (step, step, assign, step, keep, lambda s: s.run(norm), lambda s: s.run(half), step,
                fail, step, lambda s: s.run(graph["w0"]), restore, step, initialize, step,
                lambda s: s.variables["b1"], step):  # fmt: skip
        both(act)


def test_new_and_old_values_are_fetched_beside() -> None:
    with sad.Graph() as graph:
        vs = [sad.variable(np.arange(n, dtype=F32), name=f"v{n}") for n in (3, 16, 5)]
        news = [v.assign_add(v * 2) for v in vs]
    session = sad.Session(graph)
    for factor in (3, 9):
        found = session.run([news[1], vs[1], vs[0], sad.group(*news) if factor < 0 else news[2]])
        assert found[0].tolist() == (np.arange(16) * factor).tolist()
        assert found[1].tolist() == (np.arange(16) * factor / 3).tolist()
        assert found[3].tolist() == (np.arange(5) * factor).tolist()
        for array in found:
            array[...] = -1
        session.variables["v3"] = np.arange(3, dtype=F32) * factor
    assert session.variables["v16"].tolist() == (np.arange(16) * 9).tolist()


def compiled(variables: Sequence[Array], update: Any, rewrites: Any = ("exact",)) -> Compiled:
    """The plan of an update of variables, which says what is written, or fetched."""
    with sad.Graph() as graph:
        vs = [sad.variable(array, name=f"v{k}") for k, array in enumerate(variables)]
        effects = update(vs)
        group = sad.group(*effects)
    values = {f"v{k}": array for k, array in enumerate(variables)}
    return Compiled(graph, [], {}, [group], values, rewrites)


def arrays(*shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal(shape).astype(F32) for shape in shapes]


def test_a_value_that_is_needed_before_all_are_there_stays_single() -> None:
    def chained(vs: list[Any]) -> list[Any]:
        made: list[Any] = []
        for v in vs:
            shift = sad.sum(made[-1]) if made else 0.5
            made.append(sad.tanh(v * 2) + shift)
        return [v.assign(new) for v, new in zip(vs, made, strict=True)]

    plan = compiled(arrays((3,), (4,), (5,)), chained)
    verify(plan.structure.program)
    plan.check()
    # What is alike before that is flat all the same.
    assert "tanh" in plan.plan.explain()


def test_members_of_other_operations_large_ones_and_scalars_stay_single() -> None:
    def mixed(vs: list[Any]) -> list[Any]:
        changes = [vs[0] * 2, vs[1] * 2, vs[2] * 3, vs[3] * 2, vs[4] * 2, sad.exp(vs[5] * 2)]
        return [v.assign(v - change) for v, change in zip(vs, changes, strict=True)]

    plan = compiled(arrays((4,), (2, 3), (4,), (), (LARGEST + 1,), (4,)), mixed)
    plan.check()
    names = [arena.names for arena in plan.structure.arenas]
    assert sorted(n for group in names for n in group) in (["v0", "v1"], ["v0", "v1", "v2", "v5"])


def test_swapped_variables_are_no_arena() -> None:
    def swap(vs: list[Any]) -> list[Any]:
        return [vs[0].assign(vs[1] * 2), vs[1].assign(vs[0] * 2), vs[2].assign(vs[2] * 2)]

    plan = compiled(arrays((4,), (4,), (4,)), swap)
    plan.check()


def test_one_value_may_be_written_to_two_variables() -> None:
    def twice(vs: list[Any]) -> list[Any]:
        news = [v * 2 + 1 for v in vs[:2]]
        return [vs[0].assign(news[0]), vs[1].assign(news[1]), vs[2].assign(news[0])]

    compiled(arrays((4,), (6,), (4,)), twice).check()


def test_nothing_flat_leaves_the_program_alone() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones(3, F32), name="v")
        write = v.assign(v * 2)
    program = Compiled(graph, [], {}, [write], {"v": np.ones(3, F32)}).structure.program
    assert flat_updates(program) == (program, 0)


def applied(op: str, a: Any, b: Any, dtype: Any) -> Any:
    match op:
        case "where":
            return sad.where(a < b, a, b)
        case "cast":
            return sad.cast(a > 0, dtype)
        case "tanh":
            return sad.tanh(a)
        case "maximum":
            return sad.maximum(a, b)
        case "multiply_no_nan":
            return OPS[op](*sad.broadcast_arrays(a, b)) if a.shape != b.shape else OPS[op](a, b)
        case _:
            return {"add": a + b, "multiply": a * b, "subtract": a - b}[op]


OPERATIONS = ["add", "multiply", "subtract", "maximum", "tanh", "where", "multiply_no_nan", "cast"]


@settings(max_examples=80, deadline=None, derandomize=True,
          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
@given(st.data())
def test_any_updates_equal_their_meaning(data: Any) -> None:
    draw = data.draw
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    dtype = np.dtype(draw(st.sampled_from(["float32", "float64", "float16", "int32", "complex64"])))
    shapes = draw(st.lists(st.sampled_from([(3,), (2, 4), (16,), (1,), (0,), (1, 1)]), min_size=2,
                           max_size=5))  # fmt: skip
    operations = OPERATIONS if dtype.kind == "f" else OPERATIONS[:3]

    def value(shape: tuple[int, ...]) -> Array:
        made = rng.choice([v for v in SPECIAL if dtype.kind != "i" or abs(v) < 99], shape)
        with np.errstate(all="ignore"):
            return np.asarray(made).astype(dtype)

    variables = {f"{kind}{k}": value(s) for kind in "pm" for k, s in enumerate(shapes)}
    feeds = {}
    with sad.Graph() as graph:
        rate = sad.placeholder(dtype, (), name="rate")
        feeds[rate] = value(())
        vs = {name: sad.variable(array, name=name) for name, array in variables.items()}
        effects, values = [], []
        recipe = [
            (draw(st.sampled_from(operations)), draw(st.integers(0, 5)), draw(st.integers(0, 5)))
            for _ in range(draw(st.integers(1, 6)))
        ]
        odd = draw(st.integers(-1, len(shapes) - 1))
        for k, shape in enumerate(shapes):
            g = sad.placeholder(dtype, shape, name=f"g{k}")
            feeds[g] = value(shape)
            made: list[Any] = [vs[f"p{k}"], vs[f"m{k}"], g * g if k % 2 else g, rate]
            for op, i, j in recipe[: len(recipe) - (k == odd)]:
                a, b = made[i % len(made)], made[j % len(made)]
                made.append(applied(op, a, b, dtype))
            full = [m for m in made[4:] if m.shape == shape]
            if full:
                effects.append(vs[f"p{k}"].assign(full[-1]))
                effects.append(vs[f"m{k}"].assign(full[len(full) // 2]))
                values += full[:1]
        if not effects:
            return
        group = sad.group(*effects)
    fetches = [draw(st.sampled_from(values))] if draw(st.booleans()) else []
    for threads in (1, 2):
        plan = Compiled(graph, fetches, feeds, [group], variables, threads=threads)
        verify(plan.structure.program)
        plan.check()


PARTS = ["exp", "matmul", "view", "flipped", "again", "feed"]


def part(kind: str, x: Any, others: Sequence[Any]) -> Any:
    match kind:
        case "matmul":
            return x @ sad.constant(np.eye(3, dtype=F32) * 2)
        case "view":
            return sad.reshape(sad.sin(sad.reshape(x, (-1,))), x.shape)
        case "flipped":
            return sad.flip(sad.cos(x), axis=-1)
        case "again" if others:
            return others[0]
        case "feed":
            return x
        case _:
            return sad.exp(x)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_operands_of_a_concatenation_are_computed_in_their_places(data: Any) -> None:
    draw = data.draw
    rows = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    lead = draw(st.sampled_from([(), (1,), (2,)]))
    feeds = {}
    with sad.Graph() as graph:
        parts: list[Any] = []
        for k, count in enumerate(rows):
            x = sad.placeholder("float32", (*lead, count, 3), name=f"x{k}")
            feeds[x] = np.random.default_rng(k).standard_normal(x.type.shape).astype(F32)
            parts.append(part(draw(st.sampled_from(PARTS)), x, parts))
        axis = len(lead)
        whole = sad.concat(parts, axis=axis)
        result = [whole * 2, sad.sum(whole)]
        twice = sad.concat([whole, parts[0]], axis)
        picked = draw(st.lists(st.sampled_from([whole, *parts, twice]),
                               max_size=3))  # fmt: skip
    for threads in (1, 2):
        Compiled(graph, [*result, *picked], feeds, threads=threads).check()


def test_arrays_by_name_are_single_or_stretches() -> None:
    arena = Arena(("a", "b"), ((2,), (1, 3)), np.dtype(F32))
    flat = Flat(arena, np.arange(5, dtype=F32))
    other = Flat(Arena(("b", "c"), ((1, 3), (2,)), np.dtype(F32)), np.arange(5, 10, dtype=F32))
    held = Arrays({}, {}).replaced({"a": np.zeros(2, F32), "d": np.ones(1, F32)}, {})
    held = held.replaced({}, {arena.names: flat})
    assert {k: v.tolist() for k, v in held.items()} == {"d": [1], "a": [0, 1], "b": [[2, 3, 4]]}
    assert held["b"] is held["b"]
    assert "a" in held
    assert "c" not in held
    with pytest.raises(KeyError):
        held["c"]
    crossed = held.replaced({"d": np.zeros(1, F32)}, {other.arena.names: other})
    assert list(crossed.flats) == [("b", "c")]
    expected = {"a": [0, 1], "b": [[5, 6, 7]], "c": [8, 9], "d": [0]}
    assert {k: v.tolist() for k, v in sorted(crossed.items())} == expected
    single = crossed.replaced({"c": np.zeros(2, F32)}, {})
    assert not single.flats
    assert len(single) == len(list(single)) == 4
    assert held["b"].tolist() == [[2, 3, 4]]


def test_stores_that_are_shared_check_the_shapes_of_arenas() -> None:
    def graph_of(shape: Any) -> tuple[Any, Any]:
        with sad.Graph() as graph:
            vs = [sad.variable(np.ones((2, 3), F32), name=n, shape=shape) for n in ("a", "b")]
            step = sad.group(*[v.assign(v * 2) for v in vs])
        return graph, step

    loose, fixed = graph_of((None, None)), graph_of((2, 3))
    one = sad.Session(loose[0])
    two = sad.Session(fixed[0], variables=one.variables)
    two.run(fixed[1])
    one.run(loose[1])
    two.run(fixed[1])
    assert one.variables["a"].tolist() == np.full((2, 3), 8).tolist()
    one.variables["b"] = np.ones((3, 2), F32)
    with pytest.raises(PlanError, match="another shape"):
        two.run(fixed[1])
    one.run(loose[1])
    assert one.variables["b"].tolist() == np.full((3, 2), 2).tolist()


def test_the_pool_gives_one_block_for_all() -> None:
    graph, loss, train = network(OPTIMIZERS["adam"]())
    with sad.Session(graph) as session:
        for step in range(20):
            session.run([loss, train], feed(step))
        used = session.memory_in_use()
        for step in range(20):
            session.run([loss, train], feed(step))
        assert session.memory_in_use() == used
        assert isinstance(local(session).store.pool, BlockPool)
