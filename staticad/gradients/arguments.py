"""Checking what the functions of this package are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from staticad_executor.selection import Selection, select
from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.handle import WEAK, Handle
from staticad_schema.node import Node
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.types import INEXACT, KINDS, Array, TensorType, fits

from .cone import is_inexact
from .fit import broadcast, filled


def handles(given: Any, what: str, asked: str) -> list[Any]:
    """A tensor, or a sequence of tensors, as a list.  Raises GradientError for anything else."""
    items = [given] if isinstance(given, Handle) else given
    if not isinstance(items, list | tuple):
        raise GradientError(
            f"{what} is no tensor",
            asked=asked,
            expected="a tensor or a list of tensors",
            found=_shown(given),
        )
    for item in items:
        if not isinstance(item, Handle):
            raise GradientError(
                f"{what} holds something that is no tensor",
                asked=asked,
                expected="tensors",
                found=_shown(item),
            )
    return list(items)


def single(given: Any, what: str, asked: str) -> Any:
    """A tensor.  Raises GradientError for anything else."""
    items = handles(given, what, asked)
    if len(items) != 1:
        raise GradientError(
            f"{what} is not one tensor", asked=asked, expected="a tensor", found=f"{len(items)}"
        )
    return items[0]


def common_graph(tensors: Sequence[Any], asked: str) -> Graph:
    """The one graph of all tensors.  Raises GraphError naming two that differ."""
    graph: Graph = tensors[0].graph
    for t in tensors[1:]:
        graph.check_owner(t, asked, tensors[0])
    return graph


def check_differentiable(graph: Graph, tensors: Sequence[Any], what: str, asked: str) -> None:
    """Raises GradientError for integer and bool tensors."""
    for t in tensors:
        if not is_inexact(graph, t.id):
            raise GradientError(
                f"{what} of dtype {t.type.dtype.name} is not differentiable",
                asked=asked,
                expected=f"a tensor of kind {' or '.join(sorted(INEXACT))}",
                found=t.describe(),
                site=graph.site(graph.current_site()),
                hint="cast it to a floating dtype, and differentiate with respect to the result",
            )


def seeds(
    graph: Graph, given: Any, tensors: Sequence[Any], what: str, asked: str
) -> list[Any | None]:
    """One handle or None a tensor, from tensors, arrays, Python scalars or None."""
    if given is None:
        return [None] * len(tensors)
    items = list(given) if isinstance(given, list | tuple) else [given]
    if len(items) != len(tensors):
        raise GradientError(
            f"wrong number of {what}s",
            asked=asked,
            expected=f"{len(tensors)}, one for each tensor",
            found=str(len(items)),
            site=graph.site(graph.current_site()),
        )
    return [_seed(graph, s, t, what, asked) for s, t in zip(items, tensors, strict=True)]


def _seed(graph: Graph, given: Any, tensor: Any, what: str, asked: str) -> Any | None:
    if given is None:
        return None
    if isinstance(given, WEAK):
        return filled(graph, given, tensor.type)
    seed = given if isinstance(given, Handle) else graph.constant(_data(given, tensor, what, asked))
    if seed.graph is not graph:
        common_graph([tensor, seed], asked)
    # Sizes that are not known yet may turn out equal: the run decides.
    if not fits(seed.type, tensor.type):
        raise GradientError(
            f"a {what} does not have the type of its tensor",
            asked=asked,
            expected=f"{tensor.type}, as {tensor.describe()}",
            found=seed.describe() if seed is given else str(seed.type),
            site=graph.site(graph.current_site()),
        )
    return broadcast(seed, tensor.type)


def _data(given: Any, tensor: Any, what: str, asked: str) -> Array:
    """An array, or a nested list of numbers, in the tensor's dtype, as an assignment converts."""
    dtype = tensor.type.dtype
    problem, found = f"a {what} is no tensor", _shown(given)
    if isinstance(given, np.ndarray | np.generic | list | tuple):
        try:
            array = np.asarray(given)
        except ValueError:
            array = np.asarray(None)
        if np.can_cast(array.dtype, dtype, "same_kind"):
            return array.astype(dtype)
        if array.dtype in KINDS:
            problem = f"a {what} does not convert to {dtype.name} by itself"
            found = str(TensorType(array.dtype, array.shape))
    raise GradientError(
        problem,
        asked=asked,
        expected=f"a tensor, an array or a nested list of numbers, of {tensor.type}; "
        "a scalar, or None",
        found=found,
    )


def _shown(given: Any) -> str:
    return f"{given!r:.80}, a {type(given).__name__}"


def refuse_randomness(graph: Graph, targets: Sequence[Any], run: int | None) -> None:
    """Raises GradientError where targets draw random numbers and no run is given."""
    chosen = select(graph, [y.id for y in targets], (), ())
    if run is not None or not chosen.draws:
        return
    index = next(i for i in chosen.nodes if _draws(graph.nodes[i], chosen))
    node = graph.nodes[index]
    raise GradientError(
        "the graph draws random numbers, which would change between evaluations",
        asked="check_gradients",
        expected="a fixed run number: check_gradients(..., run=0)",
        found=f"{node.op} {graph.node_name(index)!r}",
        site=graph.site(node.site),
    )


def _draws(node: Node, chosen: Selection) -> bool:
    """Whether a node draws random numbers, itself or in a body."""
    if OPS[node.op].effect == "random":
        return True
    # Rules and residuals do not run where they are named.
    called = [v for v in node.attributes.values() if type(v) is FunctionRef]
    return any(chosen.bodies[v].draws for v in called if v in chosen.bodies)
