"""Which nodes a run needs, and what they do to state.

Selection is by dependency: from the fetched values and effects backwards through inputs and
control dependencies, cut at fed values.  A node whose outputs are all fed does not run, so
what it alone would have needed or written does not happen either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from staticad_schema.calls import COUNTLESS, MOST_NODES_OF_CALLS
from staticad_schema.dims import Dim
from staticad_schema.errors import PlanError
from staticad_schema.graph import Function, Graph
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, FINDERS
from staticad_schema.run_time_sizes import Needs

READS = ("variable", "read_variable")
UPDATES = {"assign_add": "add", "assign_sub": "subtract"}
"""The writes that depend on the value before, and the ops by which they do."""

SMALL_BODY = 32
"""Nodes of a body that are copied wherever it is called: a run of their own costs more."""

COPIED = 1 << 13
"""Nodes that the calls of a body in one graph may stand for as copies of it."""

MARKS = frozenset({"recompute_start", "recompute_end", "custom_rule", "implicit"})
"""Ops that hand on their last operands: what else they take is for derivatives."""


def needed(node: Node) -> tuple[int, ...]:
    """The values that a node is computed from."""
    if node.op in MARKS:
        return node.inputs[len(node.inputs) - len(node.types) :]
    return node.inputs


@dataclass(frozen=True)
class Selection:
    """nodes: indices, ascending. reads: variables whose value at the start is needed, in
    order of first use.  writes: variables written, in order of first write.  draws: whether
    random bits are drawn.  finds: whether sizes are found.  missing: placeholders that are
    needed and not fed.  called: how many nodes the calls among the nodes stand for.  bodies:
    what of each called body its outputs need, by name; also of bodies that are called by
    others.  acts: whether anything acts on the world outside.  most: of the bodies that are not
    copied into their caller the largest number of nodes that the calls within one stand for.
    entered: the bodies of calls among the nodes that are not copied: large ones that are called
    often, which are planned once."""

    nodes: tuple[int, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    draws: bool
    finds: bool
    missing: tuple[int, ...]
    called: int
    bodies: Mapping[str, Selection] = field(repr=False, compare=False)
    acts: bool = False
    most: int = 0
    entered: frozenset[str] = frozenset()


def select(
    graph: Graph,
    values: Sequence[int],
    effects: Sequence[int],
    fed: Collection[int],
    functions: Mapping[str, Function] | None = None,
) -> Selection:
    """What the fetches need.  Linear in what is selected, each body counted once.

    functions: the table in which bodies are found, by default the graph's; a body's graph
    may have none of its own.  Raises PlanError for calls that stand for too many nodes.
    """
    functions = graph.functions if functions is None else functions
    chosen = _needed(graph, values, effects, fed)
    bodies: dict[str, Selection] = {}
    _enter_bodies(_called(graph, chosen), functions, bodies)
    found = _selection(graph, chosen, bodies)
    most = max(found.called, found.most)
    if most > MOST_NODES_OF_CALLS:
        index = max(
            (i for i in chosen if graph.nodes[i].op in CALLERS),
            key=lambda i: max(map(_stands_for, (bodies[n] for n in graph.nodes[i].calls))),
        )
        node = graph.nodes[index]
        raise PlanError(
            "the calls stand for too many nodes",
            asked=f"{node.op} {graph.node_name(index)!r} of " + ", ".join(map(repr, node.calls)),
            expected=f"at most {MOST_NODES_OF_CALLS:,} nodes in the bodies of all calls",
            found=f"{most:,}" + (" or more" if most == COUNTLESS else ""),
            site=graph.site(node.site),
            forward_site=graph.site(node.forward_site),
        )
    return found


def _needed(
    graph: Graph, values: Sequence[int], effects: Sequence[int], fed: Collection[int]
) -> tuple[int, ...]:
    """Indices, ascending, of the nodes that values and effects need."""
    nodes, producers = graph.nodes, graph.producers
    sizes = Needs(graph.run_time.finders, _told(graph, fed)) if graph.run_time.finders else None
    stack = [producers[v] for v in values if v not in fed]
    stack += [e for e in effects if not _is_fed(graph, e, fed)]
    seen: set[int] = set(stack)
    while stack:
        node = nodes[stack.pop()]
        for v in needed(node):
            if v not in fed:
                p = producers[v]
                if p not in seen:
                    seen.add(p)
                    stack.append(p)
        for p in node.after:
            if p not in seen and not _is_fed(graph, p, fed):
                seen.add(p)
                stack.append(p)
        if sizes is not None:
            for p in sizes.of(node):
                if p not in seen:
                    seen.add(p)
                    stack.append(p)
    return tuple(sorted(seen))


def _told(graph: Graph, fed: Collection[int]) -> set[str]:
    """The symbols whose sizes the shapes of fed values tell."""
    shapes = (graph.types[v].shape for v in fed)
    named = (d.symbol() for shape in shapes for d in shape if isinstance(d, Dim))
    return {name for name in named if name is not None}


def _called(graph: Graph, chosen: Sequence[int]) -> list[str]:
    """The bodies that the chosen nodes have."""
    nodes = graph.nodes
    return list(dict.fromkeys(name for i in chosen for name in nodes[i].calls))


def _enter_bodies(
    names: Sequence[str], functions: Mapping[str, Function], bodies: dict[str, Selection]
) -> None:
    """Fill `bodies` with what is called, innermost first, without recursion."""
    chosen: dict[str, tuple[int, ...]] = {}
    stack = list(names)
    while stack:
        name = stack[-1]
        function = functions[name]
        if name not in chosen:
            chosen[name] = _needed(function.body, function.outputs, (), frozenset(function.inputs))
        inner = [n for n in _called(function.body, chosen[name]) if n not in bodies]
        if inner:
            stack += inner
            continue
        stack.pop()
        if name not in bodies:
            bodies[name] = _selection(function.body, chosen[name], bodies)


def _selection(graph: Graph, chosen: tuple[int, ...], bodies: Mapping[str, Selection]) -> Selection:
    """What the chosen nodes do, given what the bodies that they call do."""
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    missing = []
    draws = finds = acts = False
    called = most = 0
    entered = _entered(graph, chosen, bodies)
    for index in chosen:
        node = graph.nodes[index]
        if node.op == "placeholder":
            missing.append(index)
        elif node.op in READS:
            reads[node.attributes["variable"]] = None
        elif node.definition.effect == "random":
            draws = True
        elif node.op in FINDERS:
            finds = True
        elif node.op in CALLERS:
            for inner in (bodies[name] for name in node.calls):
                reads.update(dict.fromkeys(inner.reads))
                draws, acts = draws or inner.draws, acts or inner.acts
                if node.op == "call":
                    # Others are not a part of what they are called by.
                    finds = finds or inner.finds
                    called = min(called + _size(inner), COUNTLESS)
                else:
                    most = max(most, inner.called, inner.most)
        elif node.definition.effect == "io":
            acts = True
        elif node.definition.effect == "writes":
            name = node.attributes["variable"]
            writes[name] = None
            if node.op in UPDATES:
                reads[name] = None
    return Selection(
        chosen, tuple(reads), tuple(writes), draws, finds, tuple(missing), called, bodies, acts,
        most, entered,
    )  # fmt: skip


def _entered(
    graph: Graph, chosen: Sequence[int], bodies: Mapping[str, Selection]
) -> frozenset[str]:
    """The bodies that are large, and called so often that copies would be many nodes."""
    nodes = graph.nodes
    calls = Counter(nodes[i].attributes["function"] for i in chosen if nodes[i].op == "call")
    return frozenset(
        name
        for name, count in calls.items()
        if count * (size := _size(bodies[name])) > COPIED
        and size > SMALL_BODY
        and count > 1
        and not bodies[name].finds
    )


def _size(body: Selection) -> int:
    """The nodes that a call of the body stands for."""
    return len(body.nodes) + body.called


def _stands_for(body: Selection) -> int:
    """The most nodes that calls of the body, or within it, stand for."""
    return max(_size(body), body.most)


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
    before = {
        i: (*nodes[i].after, *[producers[v] for v in needed(nodes[i]) if v not in fed])
        for i in selection.nodes
    }
    last = {p: i for i, earlier in before.items() for p in earlier}
    # The writes of those variables are bits in creation order: all, by variable, and those
    # that a node is ordered behind, as long as another node is ordered behind that.
    writes: list[int] = []
    of_variable: dict[str, int] = {}
    behind: dict[int, int] = {}
    for index in selection.nodes:
        node = nodes[index]
        bits = 0
        for p in before[index]:
            bits |= behind.get(p, 0)
        for p in before[index]:
            if last[p] == index:
                behind.pop(p, None)
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
        if bits and index in last:
            behind[index] = bits
    return result


def _is_fed(graph: Graph, index: int, fed: Collection[int]) -> bool:
    outputs = graph.nodes[index].outputs
    return bool(fed) and len(outputs) > 0 and all(v in fed for v in outputs)
