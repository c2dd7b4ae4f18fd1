"""Which nodes a run needs, and what they do to state.

Selection is by dependency: from the fetched values and effects backwards through inputs and
control dependencies, cut at fed values.  A node whose outputs are all fed does not run, so
what it alone would have needed or written does not happen either.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from staticad_schema.errors import PlanError
from staticad_schema.graph import Function, Graph
from staticad_schema.op import FunctionRef

READS = ("variable", "read_variable")
UPDATES = ("assign_add", "assign_sub")


@dataclass(frozen=True)
class Selection:
    """nodes: indices, ascending. reads: variables whose value at the start is needed, in
    order of first use.  writes: variables written, in order of first write.  draws: whether
    random bits are drawn.  missing: placeholders that are needed and not fed."""

    nodes: tuple[int, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    draws: bool
    missing: tuple[int, ...]


def select(
    graph: Graph,
    values: Sequence[int],
    effects: Sequence[int],
    fed: Collection[int],
    functions: Mapping[str, Function] | None = None,
) -> Selection:
    """What the fetches need.  Linear in what is selected.

    functions: the table in which bodies are found, by default the graph's; a body's graph
    may have none of its own.
    """
    functions = graph.functions if functions is None else functions
    nodes, producers = graph.nodes, graph.producers
    stack = [producers[v] for v in values if v not in fed]
    stack += [e for e in effects if not _is_fed(graph, e, fed)]
    seen: set[int] = set(stack)
    while stack:
        node = nodes[stack.pop()]
        for v in node.inputs:
            if v not in fed:
                p = producers[v]
                if p not in seen:
                    seen.add(p)
                    stack.append(p)
        for p in node.after:
            if p not in seen and not _is_fed(graph, p, fed):
                seen.add(p)
                stack.append(p)
    chosen = tuple(sorted(seen))
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    missing = []
    draws = False
    for index in chosen:
        node = nodes[index]
        if node.op == "placeholder":
            missing.append(index)
        elif node.op in READS:
            reads[node.attributes["variable"]] = None
        elif node.op == "random_bits":
            draws = True
        elif node.definition.effect == "writes":
            name = node.attributes["variable"]
            writes[name] = None
            if node.op in UPDATES:
                reads[name] = None
        else:
            for function in _bodies(node.attributes, functions):
                inner = select_body(function, functions)
                reads.update(dict.fromkeys(inner.reads))
                draws = draws or inner.draws
    return Selection(chosen, tuple(reads), tuple(writes), draws, tuple(missing))


def select_body(function: Function, functions: Mapping[str, Function]) -> Selection:
    """What a function's outputs need."""
    return select(function.body, function.outputs, (), frozenset(function.inputs), functions)


def require_fed(graph: Graph, selection: Selection) -> None:
    """Raises PlanError naming every placeholder that is needed and not fed."""
    if not selection.missing:
        return
    described = []
    for index in selection.missing:
        node = graph.nodes[index]
        site = graph.site(node.site)
        described.append(
            f"{graph.node_name(index)!r} {node.types[0]}" + (f" ({site})" if site else "")
        )
    first = graph.nodes[selection.missing[0]]
    several = len(described) > 1
    raise PlanError(
        "placeholders are not fed" if several else "a placeholder is not fed",
        asked="run",
        expected="a feed for " + ", ".join(described),
        found="none",
        site=graph.site(first.site),
    )


def ordered_writes(graph: Graph, selection: Selection, fed: Collection[int]) -> dict[int, int]:
    """For each `read_variable` node that is ordered behind a write of its variable: that write
    (the last in creation order, if there are several).  One walk for all variables."""
    nodes, producers = graph.nodes, graph.producers
    late = [i for i in selection.nodes if nodes[i].op == "read_variable"]
    if not late:
        return {}
    names = {nodes[i].attributes["variable"] for i in late}
    result: dict[int, int] = {}
    # The writes of those variables are bits in creation order: all, by variable, and those
    # that a node is ordered behind.
    writes: list[int] = []
    of_variable: dict[str, int] = {}
    behind: dict[int, int] = {}
    for index in selection.nodes:
        node = nodes[index]
        bits = 0
        for p in node.after:
            bits |= behind.get(p, 0)
        for v in node.inputs:
            if v not in fed:
                bits |= behind.get(producers[v], 0)
        name = node.attributes.get("variable", "")
        if name in names:
            known = of_variable.get(name, 0)
            if node.definition.effect == "writes":
                bit = 1 << len(writes)
                writes.append(index)
                of_variable[name] = known | bit
                bits |= bit
            elif node.op == "read_variable" and bits & known:
                result[index] = writes[(bits & known).bit_length() - 1]
        if bits:
            behind[index] = bits
    return result


def _is_fed(graph: Graph, index: int, fed: Collection[int]) -> bool:
    outputs = graph.nodes[index].outputs
    return bool(fed) and len(outputs) > 0 and all(v in fed for v in outputs)


def _bodies(attributes: Mapping[str, object], functions: Mapping[str, Function]) -> list[Function]:
    return [functions[value] for value in attributes.values() if type(value) is FunctionRef]
