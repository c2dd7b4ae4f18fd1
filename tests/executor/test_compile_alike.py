"""What is found once for nodes and regions that are alike: it is theirs, and only theirs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.devices.numpy.region import Region
from staticad_schema.types import Array

from .planning import Compiled

# Enough elements for regions in tiles, with any number of rows that is drawn.
WIDTHS = (1 << 12, 3 << 11)
LOOKS = ("plain", "flipped", "turned", "part", "narrow")


def looked(x: Any, way: str) -> Any:
    """x of n rows, or a view of it of the same shape."""
    match way:
        case "flipped":
            return sad.flip(x, axis=1)
        case "turned":
            n, width = x.shape
            return sad.permute_dims(sad.reshape(x, (n, 2, width // 2)), (0, 2, 1)).reshape(x.shape)
        case "part":
            return sad.concat([x, x], axis=1)[:, : x.shape[1]]
        case "narrow":
            return sad.broadcast_to(x[:, :1], x.shape)
    return x


def block(x: Any, way: str, op: str, scale: float) -> Any:
    """A row by row region, or an elementwise one, behind a look at its operand."""
    seen = looked(x, way)
    if op == "softmax":
        return sad.nn.softmax(seen * scale) + x
    if op == "norm":
        gain = sad.ones((x.shape[1],))
        return sad.nn.layer_norm(seen + x, gain, gain)
    if op == "sum":
        return x - sad.sum(seen * x, axis=1, keepdims=True) * 1e-3
    return sad.maximum(seen * scale, 0.1) - sad.tanh(x)


Block = tuple[str, str, float]
BLOCKS = st.lists(
    st.tuples(
        st.sampled_from(LOOKS), st.sampled_from(["softmax", "norm", "sum", "plain"]),
        st.sampled_from([0.5, 2.0]),
    ),
    min_size=2, max_size=6,
)  # fmt: skip


def replanned(compiled: Compiled, feeds: dict[Any, Array]) -> Compiled:
    """The same structure with a plan for other feeds."""
    compiled.feeds = {x.id: array for x, array in feeds.items()}
    compiled.inputs = [compiled.input(s.kind, s.original) for s in compiled.sources]
    compiled.plan = compiled.structure.plan([a.shape for a in compiled.inputs])
    return compiled


@settings(max_examples=30)
@given(BLOCKS, st.lists(st.integers(0, 9), min_size=1, max_size=3), st.sampled_from([1, 2, 4]))
def test_plans_for_one_size_after_another_keep_every_bit(
    blocks: list[Block], sizes: list[int], threads: int
) -> None:
    rng = np.random.default_rng(0)
    with sad.Graph() as graph:
        xs = [sad.placeholder("float32", ("n", width), name=f"x{width}") for width in WIDTHS]
        ends = []
        for x in xs:
            h: Any = x
            for way, op, scale in blocks:
                h = block(h, way, op, scale)
            ends.append(h)
    compiled = None
    for n in sizes:
        feeds = {
            x: rng.standard_normal((n, w), np.float32) for x, w in zip(xs, WIDTHS, strict=True)
        }
        if compiled is None:
            compiled = Compiled(graph, ends, feeds, threads=threads)
        else:
            replanned(compiled, feeds)
        compiled.check()


def regions(compiled: Compiled) -> list[Region]:
    calls = [function for chunk in compiled.plan.chunks for function, _ in chunk]
    return [function for function in calls if isinstance(function, Region)]


def test_equal_layers_share_their_regions() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 256))
        w = sad.placeholder("float32", (256, 256))
        h: Any = x
        for _ in range(5):
            h = sad.nn.softmax(h @ w) + h
    rng = np.random.default_rng(0)
    feeds = {
        x: rng.standard_normal((100, 256), np.float32),
        w: rng.standard_normal((256, 256), np.float32),
    }
    compiled = Compiled(graph, [h], feeds)
    found = regions(compiled)
    assert len(found) == 5
    # The last one writes where the caller wants it, and is another in that.
    assert len(set(map(id, found))) <= 2
    compiled.check()
    codes = {id(region.code) for region in found}
    replanned(compiled, {**feeds, x: rng.standard_normal((170, 256), np.float32)}).check()
    assert {id(region.code) for region in regions(compiled)} <= codes


@pytest.mark.parametrize("wrong", [0, 1])
def test_what_fails_in_a_shared_region_is_the_node_of_its_place(wrong: int) -> None:
    with sad.Graph() as graph:
        logits = [sad.placeholder("float32", ("n", 64), name=f"logits{k}") for k in range(2)]
        labels = [sad.placeholder("int64", ("n",), name=f"labels{k}") for k in range(2)]
        losses = []
        for k in range(2):
            with sad.scope(f"tower{k}"):
                losses.append(sad.nn.cross_entropy(logits[k] * 2.0, labels[k], reduction="none"))
    n = 1000
    right, bad = np.zeros(n, np.int64), np.full(n, 64)
    feeds: dict[Any, Array] = {x: bad if k == wrong else right for k, x in enumerate(labels)}
    feeds.update({x: np.zeros((n, 64), np.float32) for x in logits})
    compiled = Compiled(graph, losses, feeds)
    assert len(regions(compiled)) == 2
    with pytest.raises(sad.ExecutionError) as failed:
        compiled.run()
    assert f"tower{wrong}" in str(failed.value)
    assert f"tower{1 - wrong}" not in str(failed.value)
