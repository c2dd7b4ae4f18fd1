"""Derivatives of loops: scans over what the iterations leave behind.

The reverse of a scan is a scan the other way.  Of each iteration the forward one stacks the values
that the reverse one needs and cannot have otherwise; what is known without a cotangent is computed
forwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from staticad_schema.attributes import symbols_in
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.run_time_sizes import symbols_of_node

from .cone import cone, is_inexact
from .derived import Derived, appended, copied, extracted, variables_read
from .fit import broadcast, filled
from .together import pays, summed_products
from .walks import Pull, Push


class _Scan:
    """A scan that is differentiated, and a copy of its body.

    carry, elements, rest: the inputs of the copy; behind, stacked: its outputs.
    """

    def __init__(self, graph: Graph, node: Node) -> None:
        attributes = node.attributes
        self.graph = graph
        self.node = node
        self.name: str = attributes["body"]
        self.carried: int = attributes["carried"]
        self.first_rest: int = self.carried + attributes["sequences"]
        self.copy, outputs = copied(graph, self.name, variables_read(graph, node))
        self.inputs = tuple(self.copy.inputs)
        self.behind, self.stacked = outputs[: self.carried], outputs[self.carried :]

    def again(self, op_inputs: Sequence[int], **changed: Any) -> list[Any]:
        """The outputs of a scan as this one but for some attributes."""
        return appended(self.graph, "scan", op_inputs, **{**self.node.attributes, **changed})

    def zeros(self, value: int) -> Any:
        """Zeros of the type of a value of the copy."""
        return filled(self.copy, 0.0, self.copy.types[value])

    def moving(self, given: Iterable[int], fixed: Iterable[int] = ()) -> set[int]:
        """The carries that change if these inputs of the body do, in some iteration."""
        copy, carried = self.copy, self.carried
        moved = {v for v in given if is_inexact(copy, v)}
        found = {k for k in range(carried) if self.inputs[k] in moved}
        while True:
            reached = cone(copy, self.behind, moved, tuple(fixed)).active if moved else frozenset()
            new = {
                k for k, v in enumerate(self.behind)
                if v in reached and is_inexact(copy, self.inputs[k])
            }  # fmt: skip
            if new <= found:
                return found
            found |= new
            moved |= {self.inputs[k] for k in new}

    def live(self, outputs: Iterable[int], carries: set[int], moved: set[int]) -> set[int]:
        """The carries that outputs with a cotangent depend on, in some iteration."""
        asked = set(outputs)
        found = set(carries)
        while True:
            ends = asked | {self.behind[k] for k in found}
            new = set()
            for k in moved - found:
                part = cone(self.copy, tuple(ends), (self.inputs[k],))
                if not part.active.isdisjoint(ends):
                    new.add(k)
            if not new:
                return found & moved
            found |= new


def scan_cotangents(
    graph: Graph,
    node: Node,
    leaves: Sequence[int],
    gs: Sequence[Any],
    needed: Sequence[bool],
    pull: Pull,
) -> list[Any]:
    """The cotangents of a scan: a scan the other way, over what this one leaves behind."""
    it = _Scan(graph, node)
    copy, carried = it.copy, it.carried
    wanted = [k for k, asked in enumerate(needed) if asked]
    moved = it.moving(it.inputs[k] for k in wanted)
    given = [k for k, g in enumerate(gs) if g is not None]
    ys = [k - carried for k in given if k >= carried]
    carries = sorted(it.live((it.stacked[k] for k in ys), {k for k in given if k < carried}, moved))
    # The reverse body, built beside the forward one.
    begin = len(copy.nodes)
    flowing = {k: copy.parameter(copy.types[it.inputs[k]]) for k in carries}
    from_stacks = [copy.parameter(copy.types[it.stacked[k]]) for k in ys]
    cotangents: dict[int, Any] = {}
    for out, v in [
        *((it.behind[k], v) for k, v in flowing.items()),
        *zip((it.stacked[k] for k in ys), from_stacks, strict=True),
    ]:
        g = copy.handle(v)
        cotangents[out] = g if out not in cotangents else OPS["add"](cotangents[out], g)
    asked = dict.fromkeys([*carries, *wanted])
    found = pull(copy, cotangents, [it.inputs[k] for k in asked])
    following = [_or_zeros(it, found, k) for k in carries]
    elements = [k for k in wanted if carried <= k < it.first_rest and it.inputs[k] in found]
    rested = [k for k in wanted if k >= it.first_rest and it.inputs[k] in found]
    products = {k: terms for k in rested if (terms := _products(copy, found[it.inputs[k]]))}
    summed = [k for k in rested if k not in products]
    totals = [copy.parameter(copy.types[it.inputs[k]]) for k in summed]
    sums = [
        OPS["add"](copy.handle(total), found[it.inputs[k]]).id
        for k, total in zip(summed, totals, strict=True)
    ]
    results = [*following, *sums, *(found[it.inputs[k]].id for k in elements)]
    state = [*flowing.values(), *totals]
    at_hand = it.inputs[carried:]
    factors = dict.fromkeys(v for terms in products.values() for pair in terms for v in pair)
    kept, used = _residuals(
        copy, begin, [*results, *factors], {*state, *from_stacks}, set(at_hand)
    )  # fmt: skip
    # Forwards, with what is kept of each iteration.
    forward = extracted(graph, f"{it.name}/fwd", copy, it.inputs, [*it.behind, *kept])
    stacks = it.again(leaves, body=forward)[carried:]
    # Backwards.
    sequences = [k for k in range(carried, it.first_rest) if it.inputs[k] in used]
    rest = [k for k in range(it.first_rest, len(it.inputs)) if it.inputs[k] in used]
    # What products take of each iteration is stacked, if it is not yet.
    wholes = dict(zip(kept, stacks, strict=True))
    wholes |= {it.inputs[k]: graph.handle(leaves[k]) for k in sequences}
    behind = [v for v in factors if v not in wholes]
    results += behind
    inside = [
        *state, *from_stacks, *kept,
        *(it.inputs[k] for k in sequences), *(it.inputs[k] for k in rest),
    ]  # fmt: skip
    body = extracted(graph, f"{it.name}/vjp", copy, inside, results)
    zeros = [filled(graph, 0.0, graph.types[leaves[k]]) for k in summed]
    ends = [
        gs[k] if gs[k] is not None else filled(graph, 0.0, graph.types[leaves[k]]) for k in carries
    ]
    operands = [
        *(x.id for x in (*ends, *zeros)), *(gs[carried + k].id for k in ys),
        *(x.id for x in stacks), *(leaves[k] for k in sequences), *(leaves[k] for k in rest),
    ]  # fmt: skip
    made = it.again(
        operands, body=body, carried=len(state), reverse=not node.attributes["reverse"],
        sequences=len(ys) + len(kept) + len(sequences),
    )  # fmt: skip
    order = [*carries, *summed, *elements]
    by_leaf = dict(zip(order, made[: len(order)], strict=True))
    wholes |= zip(behind, made[len(order) :], strict=True)
    for k, terms in products.items():
        by_leaf[k] = summed_products([(wholes[a], wholes[b]) for a, b in terms])
    return [by_leaf.get(k) if asked else None for k, asked in enumerate(needed)]


def _products(copy: Derived, g: Any) -> list[tuple[int, int]]:
    """The cotangent of what all iterations read, if it is a sum of products a.T @ b: the pairs of
    a and b.  One product over all iterations costs less than one of each and their sum."""
    nodes, producers, types = copy.nodes, copy.producers, copy.types
    unknown = copy.run_time.finders.keys()
    waiting, terms = [g.id], []
    while waiting:
        node = nodes[producers[waiting.pop()]]
        if node.op == "add" and all(types[v].shape == g.type.shape for v in node.inputs):
            waiting += node.inputs
            continue
        if node.op != "matmul":
            return []
        left, b = node.inputs
        turned = nodes[producers[left]]
        if turned.op != "permute_dims" or types[left].ndim != 2 or types[b].ndim != 2:
            return []
        (a,) = turned.inputs
        if not symbols_in((*types[a].shape, *types[b].shape)).isdisjoint(unknown):
            return []
        terms.append((a, b))
    return terms if all(pays(types[a], types[b]) for a, b in terms) else []


def _or_zeros(it: _Scan, found: dict[int, Any], k: int) -> int:
    """The cotangent of a carry at the beginning of an iteration."""
    value = it.inputs[k]
    made = found[value] if value in found else it.zeros(value)
    return int(made.id)


def _residuals(
    copy: Derived, begin: int, results: Sequence[int], given: set[int], at_hand: set[int]
) -> tuple[list[int], set[int]]:
    """The values that the reverse body takes from the forward one, and what it uses of the inputs
    that it has anyhow.

    Values without a cotangent in them are kept, but for those that cost nothing, and those of a
    size that the iteration finds, which no stack can hold.
    """
    nodes, producers = copy.nodes, copy.producers
    unknown = set(given)
    for node in nodes[begin:]:
        if not unknown.isdisjoint(node.inputs):
            unknown.update(node.outputs)
    found_sizes = copy.run_time.finders.keys()
    kept: dict[int, None] = {}
    used: set[int] = set()
    seen: set[int] = set()
    waiting = list(results)
    while waiting:
        value = waiting.pop()
        if value in seen or value in given:
            continue
        seen.add(value)
        node = nodes[producers[value]]
        if value in unknown:
            waiting += node.inputs
        elif value in at_hand:
            used.add(value)
            continue
        elif node.op != "parameter" and (
            not node.inputs
            or node.op in _FREE
            or not symbols_in(copy.types[value].shape).isdisjoint(found_sizes)
        ):
            waiting += node.inputs
        else:
            kept[value] = None
            continue
        for name in symbols_of_node(node) & found_sizes:
            waiting += nodes[copy.run_time.finders[name]].inputs
    return sorted(kept), used


_FREE = frozenset(
    {name for name, op in OPS.items() if op.view and op.effect == "pure"}
    | {"broadcast_to", "shape_of", "size_of"}
)
"""Ops that cost nothing, or nearly so."""


def scan_tangents(
    graph: Graph, node: Node, leaves: Sequence[int], given: Sequence[Any], push: Push
) -> list[Any]:
    """The tangents of the outputs of a scan: a scan of values and tangents together."""
    it = _Scan(graph, node)
    copy, carried = it.copy, it.carried
    known = [k for k, t in enumerate(given) if t is not None]
    carries = sorted(it.moving(it.inputs[k] for k in known))
    elements = [k for k in known if carried <= k < it.first_rest]
    rest = [k for k in known if k >= it.first_rest]
    order = [*carries, *elements, *rest]
    tangents = {k: copy.parameter(copy.types[it.inputs[k]]) for k in order}
    outs = [k for k, v in enumerate(it.stacked) if is_inexact(copy, v)]
    found = push(
        copy,
        {it.inputs[k]: copy.handle(v) for k, v in tangents.items()},
        [*(it.behind[k] for k in carries), *(it.stacked[k] for k in outs)],
    )

    def tangent(value: int) -> int:
        t = found.get(value)
        made = it.zeros(value) if t is None else broadcast(t, copy.types[value])
        return int(made.id)

    moving = [k for k in outs if it.stacked[k] in found]
    results = [
        *it.behind, *(tangent(it.behind[k]) for k in carries),
        *(tangent(it.stacked[k]) for k in moving),
    ]  # fmt: skip
    inside = [
        *it.inputs[:carried], *(tangents[k] for k in carries),
        *it.inputs[carried : it.first_rest], *(tangents[k] for k in elements),
        *it.inputs[it.first_rest :], *(tangents[k] for k in rest),
    ]  # fmt: skip
    body = extracted(graph, f"{it.name}/jvp", copy, inside, results)

    def start(k: int) -> int:
        type_ = graph.types[leaves[k]]
        made = filled(graph, 0.0, type_) if given[k] is None else broadcast(given[k], type_)
        return int(made.id)

    operands = [
        *leaves[:carried], *map(start, carries),
        *leaves[carried : it.first_rest], *map(start, elements),
        *leaves[it.first_rest :], *map(start, rest),
    ]  # fmt: skip
    made = it.again(
        operands, body=body, carried=carried + len(carries),
        sequences=node.attributes["sequences"] + len(elements),
    )[carried:]  # fmt: skip
    found_of: list[Any] = [None] * len(node.types)
    for k, t in zip([*carries, *(carried + k for k in moving)], made, strict=True):
        found_of[k] = t
    return found_of
