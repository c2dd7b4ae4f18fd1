"""Products: whatever lies where in memory, plans give the bits of the meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_schema.op import OPS
from staticad_schema.types import as_dtype

from ..ops.running import Applied
from ..ops.samples import Sample
from .planning import Compiled, same_bits

SHAPES = [
    ((2, 3, 4), (2, 4, 5)), ((3, 0), (0, 2)), ((0, 4), (4, 2)), ((1, 1), (1, 1)),
    ((2, 1, 3, 4), (5, 4, 2)),
]  # fmt: skip
SPECIAL = [np.nan, np.inf, -np.inf, 3e38, -0.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_zeros_are_final_wherever_the_special_values_are(
    dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    rng = np.random.default_rng(0)
    for share in (0.0, 0.05, 0.5):
        for spoiled in ("b", "a", "both"):
            arrays = []
            for name, shape in zip("ab", shapes, strict=True):
                array = rng.standard_normal(shape) * (rng.random(shape) < 0.6)
                if spoiled in (name, "both"):
                    chosen = rng.choice(SPECIAL, shape)
                    array = np.where(rng.random(shape) < share, chosen, array)
                with np.errstate(over="ignore"):
                    arrays.append(array.astype(as_dtype(dtype)))
            for value in (False, True):
                applied = Applied(OPS["matmul_no_nan"], Sample(tuple(arrays), {"value": value}))
                feeds = dict(zip(applied.inputs, arrays, strict=True))
                Compiled(applied.graph, applied.outputs, feeds).check()


@st.composite
def products(draw: Any) -> tuple[Any, list[Any], dict[Any, Any], dict[str, Any]]:
    """(graph, fetches, feeds, variables): products of square matrices, of their transposes, and of
    what is a view or computed of them, some fed with one array."""
    n = draw(st.sampled_from([1, 2, 3, 5, 17, 40]))
    dtype = draw(st.sampled_from(["float32", "float64", "complex64", "int32", "float16"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))

    def array(*shape: int) -> Any:
        return (3 * rng.standard_normal(shape)).astype(dtype)

    shared = array(n, n)
    with sad.Graph() as graph:
        x, y = (sad.placeholder(dtype, (n, n)) for _ in range(2))
        stack = sad.placeholder(dtype, (3, n, n))
        feeds = {
            x: shared,
            y: shared if draw(st.booleans()) else array(n, n),
            stack: array(3, n, n),
        }
        values = [x, y, stack, sad.constant(shared), sad.variable(shared, name="v")]
        for _ in range(draw(st.integers(1, 10))):
            a, b = (draw(st.sampled_from(values)) for _ in range(2))
            ways = [
                lambda a, b: a @ b,
                lambda a, b: a @ sad.matrix_transpose(b),
                lambda a, b: sad.matrix_transpose(a) @ b,
                lambda a, b: a @ sad.matrix_transpose(a),
                lambda a, b: sad.matrix_transpose(a),
                lambda a, b: a * 2,
                lambda a, b: a + b,
                lambda a, b: sad.broadcast_to(a[..., :1], a.shape),
                lambda a, b: a[..., ::2] @ b[..., ::2, :],
                lambda a, b: sad.take(a, sad.constant(np.arange(n)), axis=-1),
            ]
            values.append(draw(st.sampled_from(ways))(a, b))
        # Views in other orders are looked at by no other view.
        last = sad.flip(values[-1], axis=-1)
        fetches = [values[-1], last @ sad.matrix_transpose(last), draw(st.sampled_from(values))]
    return graph, fetches, feeds, {"v": shared}


@settings(max_examples=120, deadline=None, derandomize=True,
          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
@given(products())
def test_bits_of_products_follow_from_elements(case: Any) -> None:
    graph, fetches, feeds, variables = case
    for rewrites in (("exact",), ()):
        Compiled(graph, fetches, feeds, variables=variables, rewrites=rewrites).check()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_array_fed_twice_gives_the_bits_of_two(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for shape in ((33, 64), (2, 33, 64)):
        with sad.Graph() as graph:
            x, y = (sad.placeholder(dtype, shape) for _ in range(2))
            fetches = [x @ sad.matrix_transpose(y), x @ sad.matrix_transpose(x)]
        a = rng.standard_normal(shape).astype(dtype)
        with sad.Session(graph) as session:
            once, own = session.run(fetches, {x: a, y: a})
            twice, _ = session.run(fetches, {x: a, y: a.copy()})
        assert same_bits(once, twice)
        assert same_bits(own, twice)


def test_products_of_what_is_passed_on_see_it_contiguous() -> None:
    rng = np.random.default_rng(2)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (70, 70))
        turned = sad.matrix_transpose(x)
        checked = sad.assert_(sad.sum(x) < 1e6, "too large", turned)  # noqa: PT009
        shown = sad.real(sad.astype(turned, "complex64"))
    feeds = {x: rng.standard_normal((70, 70))}
    for y in (checked, shown):
        with graph:
            fetches = [x @ y, y @ x[:, :1]]
        Compiled(graph, fetches, {x: feeds[x].astype(np.float32)}).check()
