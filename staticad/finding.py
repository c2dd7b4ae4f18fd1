"""Finding: ops whose results have a size that each run finds, with a symbol of its own for it."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Shape
from staticad_schema.op import OPS

from .building import build


def found(
    op: str, x: Any, attributes: dict[str, Any] | None = None, label: str | None = None
) -> Any:
    """The outputs of an op that finds a size, which is called like the node."""
    graph = x.graph
    (parameter,) = OPS[op].run_time_sizes
    with graph.lock:
        size = graph.new_size(label or f"{op}_{len(graph.nodes)}")
        return build(op, (x,), {**(attributes or {}), parameter: size}, label=label)


def nonzero(x: Any, label: str | None = None) -> tuple[Any, ...]:
    """For each axis of x, which has one, the positions of what is not zero.

    They are found once for each x, so that x[mask] and y[mask] are of one size.
    """
    graph = x.graph
    with graph.lock:
        known: tuple[int, ...] | None = graph.places.get(x.id)
        if known is None or label is not None:
            made = found("nonzero", x, None, label)
            outputs = made if isinstance(made, tuple) else (made,)
            known = tuple(output.id for output in outputs)
            graph.places.setdefault(x.id, known)
    return tuple(map(graph.handle, known))


def expected(x: Any, shape: Shape) -> Any:
    """x, whose shape is said in other words; itself if they are its own."""
    return x if x.type.shape == shape else build("expect_shape", (x,), {"shape": shape})


def at_least(x: Any, shape: Shape) -> Any:
    """x, which has at least these sizes: that is checked when sizes are bound."""
    own = x.type.shape
    return expected(expected(x, tuple(map(dims.maximum, own, shape))), own)
