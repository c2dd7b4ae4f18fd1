"""What kernels allocate for themselves is what the prediction counts for them."""

from __future__ import annotations

import itertools
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile.slots import LARGE, PAGED, Slots
from staticad_executor.plan import Plan
from staticad_executor.pool import PAGE

from .inside import local
from .planning import Compiled
from .test_scratch import plans_of

F32 = np.float32
ROWS, COLUMNS = 256, 1024


def taken_and_counted(compiled: Compiled) -> tuple[int, int]:
    """Of the calls of a plan the most that one allocates, and the most that is counted."""
    plan = compiled.plan
    outputs = [np.empty(t.shape, t.dtype) for t in plan.output_types]
    plan.execute(compiled.inputs, outputs)
    most = before = 0

    def observe(number: int, phase: str) -> None:
        nonlocal most, before
        now, peak = tracemalloc.get_traced_memory()
        if phase == "before":
            before = now
            tracemalloc.reset_peak()
        elif plan.steps[number].kind == "kernel":
            most = max(most, peak - before)

    tracemalloc.start()
    try:
        plan.execute(compiled.inputs, outputs, threading.Event(), observe)
    finally:
        tracemalloc.stop()
    return most, plan.temporary_bytes


def matrix(dtype: str = "float32") -> Any:
    return sad.placeholder(dtype, (ROWS, COLUMNS), name="x")


def convolved(x: Any, *, pooled: bool = False) -> Any:
    images = sad.reshape(x, (16, 16, 32, 32))
    if pooled:
        return sad.nn.max_pool2d(images, 2)
    return sad.nn.conv2d(images, sad.ones((16, 16, 3, 3)), padding="same")


CASES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "draws": ("float32", lambda x: x * sad.random.normal(x.shape)),
    "uniform draws": ("float32", lambda x: x * sad.random.uniform(x.shape)),
    "sorting": ("float32", lambda x: sad.sort(x, axis=0)),
    "the largest": ("float32", lambda x: sad.top_k(x, 5)[0]),
    "running sums": ("float32", lambda x: sad.cumulative_sum(x, axis=0)),
    "transforms": ("complex64", sad.fft.fft),
    "transforms of reals": ("float32", sad.fft.rfft),
    "products of halves": ("float16", lambda x: x @ x.T),
    "sums of halves": ("float16", lambda x: sad.sum(x, axis=0)),
    "normalisation": ("float32", lambda x: sad.nn.layer_norm(x)),
    "log_softmax": ("float32", lambda x: sad.nn.log_softmax(x)),
    "norms": ("float32", lambda x: sad.linalg.norm(x, axis=1)),
    "logsumexp": ("float32", lambda x: sad.logsumexp(x, axis=1)),
    "factors": ("float32", lambda x: sad.linalg.qr(x @ x.T)[0]),
    "singular values": ("float32", lambda x: sad.linalg.svd(x @ x.T)[0]),
    "eigenvalues": ("float32", lambda x: sad.linalg.eigh(x @ x.T)[0]),
    "equations": ("float32", lambda x: sad.linalg.solve(x @ x.T + sad.eye(ROWS), x)),
    "rows at places": ("float32", lambda x: sad.take(x, np.arange(2 * ROWS) % ROWS, axis=0)),
    "convolution": ("float32", convolved),
    "pooling": ("float32", lambda x: convolved(x, pooled=True)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("derivative", [False, True], ids=["value", "gradient"])
def test_what_kernels_allocate_is_counted(name: str, derivative: bool) -> None:
    dtype, function = CASES[name]
    with sad.Graph(seed=0):
        x = matrix(dtype)
        value = function(x)
        if derivative:
            (value,) = sad.gradients(sad.sum(sad.real(value) ** 2), [x])
    values = np.random.default_rng(0).standard_normal((ROWS, COLUMNS))
    compiled = Compiled(x.graph, [value], {x: values.astype(dtype)})
    taken, counted = taken_and_counted(compiled)
    # A few blocks of columns and the like are less than one operand here.
    assert taken <= 1.1 * counted + (1 << 20), (taken, counted)
    assert counted <= 2 * taken + (2 << 20), (taken, counted)


def test_the_prediction_names_temporaries_and_their_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 1024), name="x")
        y = sad.sum(sad.fft.fft(x.astype("complex64")))
    told = sad.Session(graph).memory(sad.real(y), {"n": 4096})
    (use,) = [u for u in told.largest if u.op == "temporaries of fft"]
    assert use.nbytes > 4096 * 1024 * 8
    assert "test_memory_of_kernels.py" in str(use.site)
    assert told.scratch_bytes >= use.nbytes


def test_the_prediction_names_the_forward_line_of_gradients() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (256, 256), name="x")
        y = sad.sum(sad.sort(x, axis=0), axis=0)
        (dx,) = sad.gradients(sad.sum(y * y), [x])
    with sad.Session(graph) as session:
        use = session.memory(dx).largest[0]
    assert use.op == "temporaries of scatter_add"
    assert use.site == y.site


def test_memory_of_the_first_values_of_variables_is_used_again() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (8, 256), name="x")
        y = x
        for k in range(4):
            y = sad.nn.dense(y, 256, name=f"dense{k}")
        train = sad.optimizers.Adam(1e-3).minimize(sad.mean(y * y))
    session = sad.Session(graph)
    for _ in range(3):
        session.run(train, {x: np.ones((8, 256), F32)})
    held = session.memory_in_use()
    assert local(session).store.pool.idle_bytes <= 1.1 * held


def check_apart(slots: Slots, held: dict[int, int]) -> None:
    offsets, total = slots.layout()
    parts = sorted((offsets[slot], offsets[slot] + size) for slot, size in held.items())
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(parts))
    assert all(stop <= total for _, stop in parts)


def test_slots_that_are_held_never_overlap() -> None:
    rng = np.random.default_rng(0)
    slots = Slots()
    held: dict[int, int] = {}
    for _ in range(3000):
        if held and rng.random() < 0.5:
            slot = int(rng.choice(list(held)))
            del held[slot]
            slots.give(slot)
        else:
            size = int(rng.choice([8, 100, 5000, LARGE, LARGE + 1, PAGED - 1, PAGED, 3 * PAGED]))
            slot = slots.take(size)
            assert slot not in held
            held[slot] = size
        check_apart(slots, held)
    offsets, _ = slots.layout()
    assert all(offsets[s] % PAGE == 0 for s, size in enumerate(slots.sizes) if size >= PAGED)


def test_large_values_share_an_arena_without_gaps() -> None:
    slots = Slots()
    first, second, third = (slots.take(k * PAGED) for k in (1, 2, 3))
    slots.give(first)
    slots.give(second)
    fourth = slots.take(3 * PAGED)
    assert slots.layout() == ([0, PAGED, 3 * PAGED, 0], 6 * PAGED)
    slots.give(third)
    assert slots.take(2 * PAGED) not in (first, fourth)
    assert slots.layout()[1] == 6 * PAGED


def test_a_thousand_runs_of_two_hundred_sizes_keep_a_bounded_memory() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 32), name="x")
        loss = sad.mean(sad.square(sad.nn.dense(sad.nn.dense(x, 64), 8)))
        train = sad.optimizers.Adam(1e-3).minimize(loss)
    session = sad.Session(graph)
    data = np.ones((2000, 32), F32)
    kept: list[int] = []
    for k in range(1000):
        session.run([loss, train], {x: data[: 10 * (1 + k * 73 % 200)]})
        plans: list[Plan] = plans_of(session)
        kept.append(sum(plan.kept_bytes for plan in plans) + local(session).store.pool.idle_bytes)
    largest = session.memory([loss, train], {"n": 2000}).peak_bytes
    # Of no run more than of so many plans as are kept, and not more the longer it goes on.
    assert max(kept) <= 32 * largest
    assert max(kept[800:]) <= 1.1 * max(kept[200:800])
    plans = plans_of(session)
    freed = sum(plan.kept_bytes for plan in plans) + local(session).store.pool.idle_bytes
    assert session.trim() == freed > 0
    assert sum(plan.kept_bytes for plan in plans_of(session)) == 0
    assert local(session).store.pool.idle_bytes == 0
