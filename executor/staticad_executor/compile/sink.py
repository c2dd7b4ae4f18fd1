"""What one branch of a choice alone needs is computed in it: an exact rewrite.

A node that was built outside of a choice runs whatever is chosen.  Where nothing but one branch
uses it, it moves into the body of that branch, with what only it uses in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import FINDERS, FunctionRef
from staticad_schema.types import TensorType

from ..program import GIVEN, VIEWS, Program, Source, empty_like, pruned, rewired
from .lowered import Lowered, acts, lowered

LEVELS = 8
"""Choices that each move into a branch of the next one are so deep within each other at most."""


def sink(program: Program, keeps_fixed: bool) -> tuple[Program, int]:
    """The program, and the bodies in it, with such nodes moved, and the number of them.

    keeps_fixed: what follows from variables alone stays, since it is kept from run to run.
    """
    table = program.graph.functions
    if not table or program.finds:
        return program, 0
    program, moved = _sunk(program, keeps_fixed)
    waiting = [(program.graph, 1)]
    reached: set[str] = set()
    while waiting:
        graph, level = waiting.pop()
        for name in [name for node in graph.nodes for name in node.calls]:
            if name not in reached:
                reached.add(name)
                body = table[name]
                assert isinstance(body, Lowered)
                still = level < LEVELS and not body.program.finds
                own, more = _sunk(body.program, False) if still else (body.program, 0)
                if more:
                    table[name] = lowered(name, own, body.draws, body.acts)
                    moved += more
                waiting.append((own.graph, level + 1))
    if moved:
        _reorder(program.graph)
    return program, moved


def _reorder(graph: Graph) -> None:
    """Have each body in the table behind those that it has itself, and no other."""
    table = graph.functions
    ordered: dict[str, Lowered] = {}
    stack = [iter([name for node in graph.nodes for name in node.calls])]
    names = [""]
    while stack:
        name = next(stack[-1], None)
        if name is None:
            stack.pop()
            done = names.pop()
            if done:
                body = table[done]
                assert isinstance(body, Lowered)
                ordered[done] = body
        elif name not in ordered:
            names.append(name)
            stack.append(iter([n for node in table[name].body.nodes for n in node.calls]))
    table.clear()
    table.update(ordered)


class _Plan(NamedTuple):
    """What becomes of a choice.  nodes: of each branch the nodes that move into it, ascending.
    kept: the positions of operands of the bodies that stay; more: values that are new ones."""

    nodes: tuple[tuple[int, ...], ...]
    kept: tuple[int, ...]
    more: tuple[int, ...]


def _sunk(program: Program, keeps_fixed: bool) -> tuple[Program, int]:
    graph = program.graph
    if not any(node.op == "switch" for node in graph.nodes):
        return program, 0
    finder = _Finder(program, keeps_fixed)
    plans: dict[int, _Plan] = {}
    for index in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[index]
        if node.op == "switch" and len(node.calls) > 1 and index not in finder.owners:
            plan = finder.plan(index)
            if plan is not None:
                plans[index] = plan
    if not plans:
        return program, 0
    out = empty_like(graph)
    values: list[int] = []
    for index, node in enumerate(graph.nodes):
        start = len(out.types)
        found = plans.get(index)
        made = node if found is None else _narrowed(graph, node, found)
        inputs = tuple([values[v] for v in made.inputs])
        # No node has been left out: all stand where they did.
        out.append_trusted(made.moved(inputs, start, node.after))
        values += range(start, start + len(node.types))
    program = pruned(rewired(program, out, values, range(len(graph.nodes))))
    return program, sum(len(nodes) for plan in plans.values() for nodes in plan.nodes)


class _Finder:
    """Which nodes of a program move where.  owners: those that move, and the choice and branch."""

    def __init__(self, program: Program, keeps_fixed: bool) -> None:
        self.program, self.graph = program, program.graph
        nodes = self.graph.nodes
        self.users: list[list[int]] = [[] for _ in self.graph.types]
        self.owners: dict[int, tuple[int, int]] = {}
        stays = {self.graph.producers[v] for v in program.outputs}
        for index, node in enumerate(nodes):
            stays.update(node.after)
            for v in node.inputs:
                self.users[v].append(index)
        self.stays = stays
        self.fixed = _fixed(program) if keeps_fixed else frozenset()

    def plan(self, index: int) -> _Plan | None:
        """What becomes of a choice; None if nothing moves that takes time."""
        graph, nodes = self.graph, self.graph.nodes
        node = nodes[index]
        bodies = [graph.functions[name] for name in node.calls]
        takes_path = any(isinstance(body, Lowered) and body.takes_path for body in bodies)
        count = len(node.inputs) - 1 - (2 if takes_path else 0)
        branches = self._branches(node, bodies, count)
        chosen: dict[int, int] = {}
        waiting: list[int] = []
        for v in branches:
            heappush(waiting, -graph.producers[v])
        while waiting:
            at = -heappop(waiting)
            if at in chosen or not self._may_move(at):
                continue
            branch = self._only_branch(at, index, branches, chosen)
            if branch is not None:
                chosen[at] = branch
                for v in nodes[at].inputs:
                    heappush(waiting, -graph.producers[v])
        if all(nodes[at].op in VIEWS for at in chosen):
            return None
        for at, branch in chosen.items():
            self.owners[at] = index, branch
        parts = tuple(
            tuple(sorted(at for at, own in chosen.items() if own == branch))
            for branch in range(len(bodies))
        )
        operands = node.inputs[1:]
        kept = tuple(k for k in range(count) if graph.producers[operands[k]] not in chosen)
        present = {operands[k] for k in kept}
        more = dict.fromkeys(
            v
            for at in sorted(chosen)
            for v in nodes[at].inputs
            if graph.producers[v] not in chosen
            and v not in present
            and nodes[graph.producers[v]].op != "constant"
        )
        return _Plan(parts, kept, tuple(more))

    def _branches(self, node: Node, bodies: Sequence[object], count: int) -> dict[int, int]:
        """The operands that one branch alone uses, and which."""
        found: dict[int, set[int]] = {}
        unlike: set[int] = {node.inputs[0]}
        operands = node.inputs[1 : 1 + count]
        for branch, body in enumerate(bodies):
            assert isinstance(body, Lowered)
            used = {v for own in body.body.nodes for v in own.inputs} | set(body.outputs)
            for v, own in zip(operands, body.inputs, strict=False):
                if own in used:
                    found.setdefault(v, set()).add(branch)
                if body.body.types[own] != self.graph.types[v]:
                    # A body names sizes of its own by this operand.
                    unlike.add(v)
        return {v: min(own) for v, own in found.items() if len(own) == 1 and v not in unlike}

    def _may_move(self, at: int) -> bool:
        node = self.graph.nodes[at]
        return (
            node.definition.effect == "pure"
            and node.op not in GIVEN
            and node.op not in FINDERS
            and node.device is None
            and not node.after
            and at not in self.stays
            and at not in self.fixed
            and at not in self.owners
            and not acts(self.graph, node)
        )

    def _only_branch(
        self, at: int, choice: int, branches: dict[int, int], chosen: dict[int, int]
    ) -> int | None:
        """The branch that all uses of a node lie in; None if there is another use."""
        found: set[int | None] = set()
        for v in self.graph.nodes[at].outputs:
            for user in self.users[v]:
                found.add(branches.get(v) if user == choice else chosen.get(user))
        return found.pop() if len(found) == 1 else None


def _fixed(program: Program) -> frozenset[int]:
    """The nodes that follow from variables that the run does not write, and constants."""
    written = {name for name, _ in program.writes}
    written.update(name for arena, _ in program.arenas for name in arena.names)
    graph = program.graph
    known = {s.value for s in program.sources if s.kind == "variable" and s.original not in written}
    found = set()
    for index, node in enumerate(graph.nodes):
        pure = node.definition.effect == "pure" and node.op != "parameter"
        if pure and all(v in known for v in node.inputs):
            known.update(node.outputs)
            found.add(index)
    return frozenset(found)


def _narrowed(graph: Graph, node: Node, plan: _Plan) -> Node:
    """The choice with bodies that compute what moves into them."""
    operands = node.inputs[1:]
    bodies = [graph.functions[name] for name in node.calls]
    # The number of the run and the call path stay the last ones.
    behind = operands[len(operands) - 2 :] if _takes_path(bodies) else ()
    names = []
    for branch, body in enumerate(bodies):
        assert isinstance(body, Lowered)
        name = f"{body.name}/{len(graph.functions)}"
        while name in graph.functions:
            name += "'"
        program = _widened(graph, operands, body, plan, plan.nodes[branch])
        graph.functions[name] = lowered(name, program, body.draws, body.acts)
        names.append(FunctionRef(name))
    inputs = (node.inputs[0], *(operands[k] for k in plan.kept), *plan.more, *behind)
    return node._replace(inputs=inputs, attributes={**node.attributes, "functions": tuple(names)})


def _takes_path(bodies: Sequence[object]) -> bool:
    return any(isinstance(body, Lowered) and body.takes_path for body in bodies)


def _widened(
    outer: Graph, operands: Sequence[int], body: Lowered, plan: _Plan, nodes: Sequence[int]
) -> Program:
    """A body's program, behind these nodes of the graph that it is called from."""
    program = body.program
    graph, given = program.graph, program.sources
    out = empty_like(graph)
    out.sites = list(graph.sites)
    sources: list[Source] = []
    values = [-1] * len(graph.types)
    indices = [-1] * len(graph.nodes)
    from_outside: dict[int, int] = {}

    def parameter(type_: TensorType, name: str | None, source: Source) -> int:
        start = len(out.types)
        attributes = {"index": len(sources), "dtype": type_.dtype, "shape": type_.shape}
        out.append_trusted(Node("parameter", (), attributes, (type_,), start, (), name, "", None))
        sources.append(replace(source, value=start))
        return start

    def stays(source: Source) -> None:
        name = graph.nodes[graph.producers[source.value]].name
        values[source.value] = parameter(graph.types[source.value], name, source)

    for k in plan.kept:
        stays(given[k])
        from_outside[operands[k]] = values[given[k].value]
    for v in plan.more:
        from_outside[v] = parameter(outer.types[v], None, Source("feed", -1, f"operand {v}"))
    # The number of the run and the call path stay the last ones.
    behind = len(given) - (2 if body.takes_path else 0)
    for source in given[behind:]:
        stays(source)
    for at in _with_constants(outer, nodes, from_outside):
        node = outer.nodes[at]
        start = len(out.types)
        site, forward = outer.sites[node.site], outer.sites[node.forward_site]
        moved = node.moved(tuple([from_outside[v] for v in node.inputs]), start)
        out.append_trusted(
            moved._replace(site=out.intern_site(site), forward_site=out.intern_site(forward))
        )
        from_outside.update(zip(node.outputs, range(start, start + len(node.types)), strict=True))
    for k, source in enumerate(given[:behind]):
        # What only other branches use is not there.
        values[source.value] = from_outside.get(operands[k], values[source.value])
    for index, node in enumerate(graph.nodes):
        if node.op != "parameter":
            start = len(out.types)
            indices[index] = len(out.nodes)
            inputs = tuple([values[v] for v in node.inputs])
            after = tuple([indices[i] for i in node.after])
            out.append_trusted(node.moved(inputs, start, after))
            values[node.start : node.start + len(node.types)] = range(start, len(out.types))
    there = replace(program, sources=())
    return replace(rewired(there, out, values, indices), sources=tuple(sources))


def _with_constants(graph: Graph, nodes: Sequence[int], known: dict[int, int]) -> Iterator[int]:
    """The nodes, each behind the constants that it reads."""
    seen: set[int] = set()
    for at in nodes:
        for v in graph.nodes[at].inputs:
            producer = graph.producers[v]
            if v not in known and graph.nodes[producer].op == "constant" and producer not in seen:
                seen.add(producer)
                yield producer
        yield at
