"""Stage 2, exact rules: what each leaves of a graph, on special values and in random graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad.numbers import RoundingWarning
from staticad_executor.compile import rewrite, select
from staticad_executor.compile.rules import RULES
from staticad_executor.compile.verify import verify
from staticad_schema.errors import StaticadError
from staticad_schema.types import as_dtype

from .planning import Compiled
from .random_graphs import programs
from .rule_cases import CASES, EXACT, applied, values
from .test_compile_rules_fast import FAST
from .test_compile_rules_stable import NEARER


@pytest.mark.parametrize(("name", "k"), EXACT, ids=[f"{n}-{k}" for n, k in EXACT])
def test_what_exact_rules_leave(name: str, k: int) -> None:
    dtype, build, left = CASES[name][k]
    graph, x, y = applied(build, dtype)
    program = rewrite(select(graph, [y.id], [], {x.id: x.type}), ("exact",))
    verify(program)
    assert " ".join(n.op for n in program.graph.nodes if n.op != "parameter") == left
    alone = rewrite(select(graph, [y.id], [], {x.id: x.type}), (name,))
    verify(alone)
    for feed in (values(dtype), values(dtype)[:0], values(dtype)[:1]):
        for rewrites in (("exact",), (name,)):
            Compiled(graph, [y], {x: feed}, rewrites=rewrites).check()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "uint64", "int64", "bool", "float16", "float64", "complex64"]
)
def test_exact_rules_keep_all_bits_of_every_dtype(name: str, dtype: str) -> None:
    feed = values(dtype)
    if feed.dtype.kind in "iu":
        limits = np.iinfo(feed.dtype)
        feed[0] = limits.min, limits.max, limits.min + 1, limits.max - 1
    for _, build, _ in CASES[name]:
        try:
            graph, x, y = applied(build, dtype)
        except (StaticadError, OverflowError, TypeError, RoundingWarning):
            # Not every dtype has every op and number.
            continue
        Compiled(graph, [y], {x: feed}).check()


@settings(max_examples=150, deadline=None, derandomize=True,
          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
@given(st.data())
def test_exact_rules_alone_and_together_keep_all_bits(data: Any) -> None:
    """Over random graphs, on whose values the graphs of the table are built."""
    graph, fetches, feeds = data.draw(programs(6))
    names = set()
    with graph:
        for _ in range(data.draw(st.integers(1, 4))):
            x = data.draw(st.sampled_from(fetches))
            name, k = data.draw(st.sampled_from(EXACT))
            dtype, build, _left = CASES[name][k]
            if x.dtype != as_dtype(dtype) or x.ndim != 2 or x.shape[1] != 4:
                x = sad.placeholder(dtype, (3, 4))
                feeds[x] = values(dtype)[data.draw(st.integers(0, 1)) :][:3]
            names.add(name)
            fetches.append(build(x))
    for rewrites in (("exact",), *((name,) for name in sorted(names)), tuple(sorted(names))):
        Compiled(graph, fetches, feeds, rewrites=rewrites).check()


def test_every_rule_is_tried() -> None:
    elsewhere = {
        "log_softmax",
        "order_of_products",
        "rows_by_number",
        "product_with_transpose",
        "joined_products",
    }
    assert CASES.keys() | NEARER.keys() | FAST.keys() | elsewhere == RULES.keys()
