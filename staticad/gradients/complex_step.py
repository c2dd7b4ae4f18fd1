"""Derivatives of analytic functions by a step along the imaginary axis.

s(x + i h v) = s(x) + i h <ds/dx, v> + O(h^2): of a tiny h the imaginary part is the derivative to
all digits, since nothing is subtracted (Squire and Trapp 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from staticad_schema.errors import StaticadError
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.types import COMPLEX_OF

from .cone import cone

NOT_ANALYTIC = frozenset(
    {"conj", "sign", "cholesky", "eig", "eigh", "lstsq", "normalize", "pinv", "qr", "svd"}
)
"""Ops of complex numbers, to complex numbers, that are no analytic functions."""


def complex_step(
    graph: Graph, scalar: Any, sources: Sequence[Any], direction: Sequence[Any]
) -> Any | None:
    """The derivative of a real scalar along a direction, a handle for each source, as new nodes;
    None where some op between is not analytic, or takes no complex numbers."""
    dtypes = {x.type.dtype for x in sources}
    if len(dtypes) != 1 or not dtypes <= COMPLEX_OF.keys() or scalar.type.dtype not in dtypes:
        return None
    (real,) = dtypes
    h = float(np.finfo(real).tiny) ** 0.25
    wide = COMPLEX_OF[real]
    # As values flow, also past rules of one's own.
    part = cone(graph, (scalar.id,), [x.id for x in sources], leaves=lambda _, node: node.inputs)
    moved: dict[int, Any] = {}
    for x, v in zip(sources, direction, strict=True):
        moved[x.id] = OPS["cast"](x, dtype=wide) + OPS["cast"](v, dtype=wide) * (1j * h)
    for index in part.nodes:
        node = graph.nodes[index]
        if part.active.isdisjoint(node.outputs) or moved.keys().isdisjoint(node.inputs):
            continue
        if any(v in moved for v in node.outputs):
            return None
        made = _moved(graph, node, moved, wide)
        if made is None:
            return None
        moved.update(zip(node.outputs, made, strict=True))
    if scalar.id not in moved:
        return None
    return OPS["imag"](moved[scalar.id]) * (1.0 / h)


def _moved(graph: Graph, node: Node, moved: dict[int, Any], wide: Any) -> Sequence[Any] | None:
    """The node's outputs for complex operands; None where it is no analytic function of them."""
    attributes = dict(node.attributes)
    definition = node.definition
    if node.op == "custom_rule":
        marked = node.inputs[len(node.inputs) - len(node.types) :]
        return [moved[v] for v in marked] if all(v in moved for v in marked) else None
    if (
        node.op in NOT_ANALYTIC
        or definition.effect != "pure"
        or definition.bodies
        or attributes.get("adjoint")
    ):
        return None
    if "dtype" in attributes:
        attributes["dtype"] = COMPLEX_OF.get(attributes["dtype"])
        if attributes["dtype"] != wide:
            return None
    operands = []
    for v in node.inputs:
        x = moved.get(v, graph.handle(v))
        operands.append(OPS["cast"](x, dtype=wide) if x.type.kind == "float" else x)
    try:
        made = definition(*operands, **attributes)
    except StaticadError:
        return None
    results = made if isinstance(made, tuple) else (made,)
    same = all(
        r.type == graph.types[v]._replace(dtype=wide)
        for r, v in zip(results, node.outputs, strict=True)
    )
    return results if same else None
