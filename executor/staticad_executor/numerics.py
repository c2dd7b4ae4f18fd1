"""check_numerics: the first node that makes a bad number, told with what went in.

NaN is bad wherever it is computed.  Infinity is bad where it is made of finite operands, and
where it is written to a variable; passing one on is what masks are made of.  What is fed,
constant or held by a variable is data.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from staticad_schema.errors import ExecutionError
from staticad_schema.types import INEXACT, KINDS, Array, array_type

from .failure import nested_name
from .interpret import Observation

_DATA = ("constant", "placeholder", "parameter", "variable", "read_variable")


def check_numbers(seen: Observation) -> None:
    """Raises ExecutionError for a node whose outputs are the first bad ones."""
    # NumPy reports signalling NaNs when it looks at them.
    with np.errstate(all="ignore"):
        _check(seen)


def _check(seen: Observation) -> None:
    node = seen.graph.nodes[seen.node_index]
    if node.op in _DATA:
        return
    writes = node.definition.effect == "writes"
    for value, array in zip(node.outputs, seen.outputs, strict=True):
        if KINDS[array.dtype] not in INEXACT or np.isfinite(array).all():
            continue
        bad = "NaN" if np.isnan(array).any() else "infinity"
        carried = any(_holds(bad, operand) for operand in seen.inputs)
        if bad == "infinity" and carried and not writes:
            continue
        raise _failure(seen, value, array, bad, carried)


def _holds(bad: str, array: Array) -> bool:
    if KINDS[array.dtype] not in INEXACT:
        return False
    return bool((np.isnan if bad == "NaN" else np.isinf)(array).any())


def _failure(
    seen: Observation, value: int, array: Array, bad: str, carried: bool
) -> ExecutionError:
    graph = seen.graph
    node = graph.nodes[seen.node_index]
    operands = [
        f"{graph.value_name(v)!r} {array_type(a)}: {statistics(a)}"
        for v, a in zip(node.inputs, seen.inputs, strict=True)
    ]
    name = reduce(nested_name, (*seen.within, graph.node_name(seen.node_index)))
    return ExecutionError(
        f"{bad} is {'carried on' if carried else 'born'} here",
        asked=f"{node.op} {name!r}",
        expected="finite values, by check_numerics",
        found=f"{graph.value_name(value)!r} {array_type(array)}: {statistics(array)}; from "
        + ("; ".join(operands) or "no operands"),
        site=graph.site(node.site),
        forward_site=graph.site(node.forward_site),
    )


def statistics(array: Array) -> str:
    """Range and mean of the finite elements, and how many are NaN or infinite."""
    if array.size == 0:
        return "empty"
    if KINDS[array.dtype] == "complex":
        return f"real part {statistics(array.real)}, imaginary part {statistics(array.imag)}"
    wide = array.astype(np.float64)
    nan, inf = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    finite = wide[np.isfinite(wide)]
    parts = [f"{nan} NaN, {inf} infinite of {array.size}"]
    if finite.size:
        with np.errstate(over="ignore"):
            mean = finite.mean()
        parts.append(f"finite from {finite.min():.6g} to {finite.max():.6g}, mean {mean:.6g}")
    return ", ".join(parts)
