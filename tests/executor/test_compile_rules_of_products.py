"""Stage 2, rules of products of matrices."""

from __future__ import annotations

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile.bisect import Run, evaluated
from staticad_schema.op import OPS

from ..tolerance import units
from .planning import Compiled, same_bits


def test_fast_products_of_three_are_taken_in_the_cheaper_order() -> None:
    rng = np.random.default_rng(0)
    for shapes in (
        ((30, 20), (20, 10), (10,)),
        ((4,), (4, 30), (30, 20)),
        ((9, 2), (2, 9), (9, 2)),
    ):
        with sad.Graph() as graph:
            a, b, c = (sad.placeholder("float64", shape) for shape in shapes)
            left, right = (a @ b) @ c, a @ (b @ c)
        feeds = {v: rng.standard_normal(v.shape) for v in (a, b, c)}
        shapes_after = set()
        for y in (left, right):
            compiled = Compiled(graph, [y], feeds, rewrites=("order_of_products",))
            np.testing.assert_allclose(compiled.run()[0], compiled.expected()[0], rtol=1e-12)
            program = compiled.structure.program
            shapes_after.add(str([n.types for n in program.graph.nodes if n.op == "matmul"]))
        assert len(shapes_after) == 1


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8"])
def test_fast_products_with_one_hot_read_rows(dtype: str) -> None:
    rng = np.random.default_rng(0)
    with sad.Graph() as graph:
        i = sad.placeholder(dtype, ("n", 3))
        w = sad.placeholder("float32", (5, 2))
        y = OPS["one_hot"](i, depth=5, dtype=w.dtype) @ w
        (dw,) = sad.gradients(sad.sum(sad.sin(y)), [w])
    numbers = rng.integers(0, 7, (4, 3)) - (dtype != "uint8")
    for count in (4, 1, 0):
        feeds = {i: numbers[:count].astype(dtype), w: rng.standard_normal((5, 2), np.float32)}
        compiled = Compiled(graph, [y, dw], feeds, rewrites=("exact", "rows_by_number"))
        ops = {node.op for node in compiled.structure.program.graph.nodes}
        assert {"take", "scatter_add"} <= ops
        assert "matmul" not in ops
        for found, expected in zip(compiled.run(), compiled.expected(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2, 40, 100, 0])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_products_with_transposes(rows: int, lead: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    size = 300
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (*lead, "n", size))
        w = sad.placeholder("float32", (size, size))
        y = sad.tanh(x @ w)
        dx, dw = sad.gradients(sad.sum(y), [x, w])
    feeds = {v: rng.standard_normal(shape, np.float32)
             for v, shape in ((x, (*lead, rows, size)), (w, (size, size)))}  # fmt: skip
    alone = Compiled(graph, [dx, dw], feeds, rewrites=("product_with_transpose",))
    program = alone.structure.program
    ops = [node.op for node in program.graph.nodes]
    assert (ops.count("matmul_transposed"), ops.count("matmul")) == (1, 2)
    run = Run(graph, [dx.id, dw.id], [], alone.feeds, {}, 0)
    for found, same, naive in zip(
        alone.run(), evaluated(program, run), alone.expected(), strict=True
    ):
        assert same_bits(found, same)
        # Both are within the bound of a sum of so many products, whatever their order.
        terms = size * float(np.abs(feeds[x]).max(initial=0) + 1) * 4
        np.testing.assert_allclose(found, naive, rtol=0, atol=units("float32", 1) * terms)
    Compiled(graph, [dx, dw], feeds).check()


@pytest.mark.parametrize("steps", [1, 2, 5, 70])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_fast_sums_of_products_are_one_product(steps: int, rows: int) -> None:
    rng = np.random.default_rng(0)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 4))
        y = sad.placeholder("float32", ("n", 3))
        total = sad.sin(x).T @ sad.cos(y)
        for k in range(1, steps):
            total = total + sad.sin(x + k).T @ sad.cos(y - k)
    feeds = {x: rng.standard_normal((rows, 4), np.float32),
             y: rng.standard_normal((rows, 3), np.float32)}  # fmt: skip
    compiled = Compiled(graph, [total], feeds, rewrites=("exact", "joined_products"))
    ops = [node.op for node in compiled.structure.program.graph.nodes]
    # As many as a concatenation may have make one product.
    assert ops.count("matmul") == -(-steps // 64)
    found, naive = compiled.run()[0], compiled.expected()[0]
    np.testing.assert_allclose(found, naive, rtol=1e-5, atol=1e-5 * np.abs(naive).max(initial=1))
