"""Stage 2, rules of class fast: near what they replace."""

from __future__ import annotations

import numpy as np
import pytest

from staticad_executor.compile import rewrite, select

from ..tolerance import units
from .rule_cases import Build, applied, results

FAST: dict[str, list[tuple[Build, str]]] = {
    "product_of_factors": [(lambda x: x * 3 * 5, "constant multiply")],
    "factor_out": [(lambda x: x * (x + 1) + (x + 2) * x,
                    "constant add constant add add multiply")],
    "divide_by_constant": [(lambda x: x / 3, "constant multiply")],
    "add_zero": [(lambda x: x + 0, ""), (lambda x: 0.0 + x, "")],
}  # fmt: skip


@pytest.mark.parametrize("name", FAST)
def test_fast_rules_are_near(name: str) -> None:
    feed = np.linspace(-3, 3, 20).reshape(-1, 4)
    for build, left in FAST[name]:
        graph, x, y = applied(build, "float32")
        selected = select(graph, [y.id], [], {x.id: x.type})
        program = rewrite(selected, (name, "exact"))
        assert " ".join(n.op for n in program.graph.nodes if n.op != "parameter") == left
        assert [n.op for n in rewrite(selected).graph.nodes] != [n.op for n in program.graph.nodes]
        naive, near = (results(build, "float32", feed, r) for r in ((), (name,)))
        np.testing.assert_allclose(near, naive, rtol=units("float32"), atol=units("float32", 16))
