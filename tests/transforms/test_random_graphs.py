"""Random functions: all modes, orders and ways of making matrices agree with each other and with
differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad

SIZE = 3
M = np.random.default_rng(0).normal(size=(SIZE, SIZE)) / 2

# From vectors of the size to such vectors, smooth and of moderate values.
UNARY = {
    "sin": sad.sin,
    "tanh": sad.tanh,
    "softplus": sad.nn.softplus,
    "matrix": lambda x: M @ x,
    "reversed": lambda x: x[::-1],
    "gathered": lambda x: x[[0, 0, 2]],
    "softmax": sad.nn.softmax,
    "cumulative": lambda x: sad.cumulative_sum(x) / SIZE,
    "centred": lambda x: x - sad.mean(x),
    "scan": lambda x: sad.scan(lambda c, e: (sad.sin(c + e), c * e), x[0], x)[1],
    "map": lambda x: sad.map(lambda e: e * x[0] + sad.cos(e), x),
    "cond": lambda x: sad.cond(sad.sum(x) > 0.3, lambda: sad.sin(x), lambda: x * 0.5),
    "solved": lambda x: sad.linalg.solve(
        np.eye(SIZE) * 3 + M + sad.outer(sad.sin(x), sad.cos(x)), x
    ),
    "called": sad.function(lambda x: sad.tanh(x) * x),
    "root": lambda x: sad.root(lambda z: z + 0.2 * sad.sin(z) - x, x),
    "recomputed": lambda x: sad.recompute(lambda v: sad.sin(v) * v[0])(x),
}
BINARY = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / (2 + b * b),
    "where": lambda a, b: sad.where(a > 0.1, a, b),
    "outer": lambda a, b: sad.outer(a, b) @ sad.cos(b) / SIZE,
}

STEP = st.one_of(
    st.tuples(st.sampled_from(sorted(UNARY)), st.integers(0, 7)),
    st.tuples(st.sampled_from(sorted(BINARY)), st.integers(0, 7), st.integers(0, 7)),
)


def built(program: list[Any], x: Any) -> Any:
    """The last value of a program whose steps read earlier values."""
    values = [x]
    for name, *operands in program:
        operation: Any = (UNARY if len(operands) == 1 else BINARY)[name]
        values.append(operation(*(values[k % len(values)] for k in operands)))
    return values[-1] + 0.1 * values[0]


@settings(max_examples=40)
@given(st.lists(STEP, min_size=1, max_size=5), st.integers(0, 100))
def test_all_ways_agree(program: list[Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    at, u, v = rng.uniform(-1, 1, (3, SIZE))
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (SIZE,), name="x")
        y = built(program, x)
        total = sad.sum(sad.sin(y))
        first = [
            sad.jacobian(y, x, mode="forward"),
            sad.jacobian(y, x, mode="reverse"),
            sad.jacobian(y, x, mode="forward", one_by_one=True),
            sad.jacobian(y, x, mode="reverse", one_by_one=True),
            sad.jacfwd(lambda z: built(program, z))(x),
        ]
        pushed, pulled = sad.jvp(y, x, [v])[0], sad.vjp(y, x, u)
        hessian = sad.hessian(total, x)
        second = [
            sad.hvp(total, x, v),
            sad.gradients(sad.jvp(total, x, [v])[0], x, unconnected="zero")[0],
            sad.jacrev(sad.grad(lambda z: sad.sum(sad.sin(built(program, z)))))(x) @ v,
        ]
        slope = sad.vjp(total, x)
    with sad.Session(graph) as session:
        matrices, tangent, cotangent, h, products = session.run(
            [first, pushed, pulled, hessian, second], {x: at}
        )

        def quotient(tensor: Any, step: float) -> Any:
            values = [session.run(tensor, {x: at + k * step * v}) for k in (1, -1, 2, -2)]
            return (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * step)

        differences = [[quotient(t, step) for step in (1e-4, 1.4e-4)] for t in (y, slope)]
    size = 1 + np.abs(matrices[0]).max() + np.abs(h).max()
    for matrix in matrices[1:]:
        np.testing.assert_allclose(matrix, matrices[0], rtol=1e-9, atol=1e-10 * size)
    np.testing.assert_allclose(tangent, matrices[0] @ v, rtol=1e-9, atol=1e-10 * size)
    np.testing.assert_allclose(cotangent, u @ matrices[0], rtol=1e-9, atol=1e-10 * size)
    np.testing.assert_allclose(h, h.T, rtol=1e-9, atol=1e-10 * size)
    for product in products:
        np.testing.assert_allclose(product, h @ v, rtol=1e-9, atol=1e-10 * size)
    for (found, other), expected in zip(differences, (tangent, h @ v), strict=True):
        # Where a choice falls in another way beside, quotients depend on the step.
        if np.abs(found - other).max() < 1e-7 * size:
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * size)
