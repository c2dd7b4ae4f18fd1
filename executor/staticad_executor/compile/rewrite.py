"""Stage 2: the same results with less work.

One walk in node order rewrites each node given its rewritten operands: rules, then folding,
then merging with an equal node.  What a node became is known before its users are looked at,
so one walk reaches a fixed point of everything that looks only at operands.  Nodes with an
effect and random nodes are copied as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from staticad_schema.attributes import is_symbolic, symbols_in
from staticad_schema.binding import substitute
from staticad_schema.calls import substituted
from staticad_schema.dims import Size, symbol
from staticad_schema.errors import PlanError, StaticadError, near_miss
from staticad_schema.node import Node
from staticad_schema.op import FINDERS, OPS
from staticad_schema.run_time_sizes import symbols_of_node
from staticad_schema.types import TensorType, array_type

from ..failure import node_failure
from ..options import KINDS
from ..program import VIEWS, Program, empty_like, pruned, rewired
from ..sizes import find
from .expand import expand
from .lowered import output_types
from .rewrites import algebra, choice, exact, fast, parts, products, stable
from .rewrites.fold import FAILURES, SMALL_BYTES, Budget, folded, is_transpose, kept, may_be_kept
from .rewrites.merge import node_key
from .rules import RULES, SWITCHES, Rule, chosen_switch, rules_by_op, settled, unknown_choice

DEFAULT = ("exact", "stable")
FAMILIES = (exact, choice, algebra, parts, products, stable, fast)
"""The modules of rules; importing them is what registers the rules."""

# Rules that build nodes build rewritten ones; this deep, and no deeper, where one leads to
# the next.
MAX_DEPTH = 8


class Report:
    """What rewriting did: how often each rule applied, and rules that failed.

    events: if they are traced, which rule was applied to which node, in order; also where a rule
    around it failed later.
    """

    def __init__(self, traced: bool = False) -> None:
        self.applied: Counter[str] = Counter()
        self.failed: list[str] = []
        self.events: list[tuple[str, Node]] | None = [] if traced else None

    def lines(self) -> list[str]:
        """One line a rule."""
        return [f"{name} x{count}" for name, count in sorted(self.applied.items())] + self.failed


def rewrite(
    program: Program,
    chosen: Collection[str] = DEFAULT,
    claimed: Collection[str] = (),
    report: Report | None = None,
    limit: int | None = None,
) -> Program:
    """The program after all chosen rewrites; itself if none applies.

    chosen: kinds and names of rules, "-name" to leave one out.  claimed: ops that the devices
    run although they could be expanded.  limit: so many applications of rules are made, and no
    more.  Raises PlanError for an unknown choice.
    """
    require_known(chosen, "rewrites")
    report = report or Report()
    program = pruned(_Walk(expand(program, claimed), chosen, report, limit).run())
    if program.finds and not any(node.op in FINDERS for node in program.graph.nodes):
        return replace(program, finds=False)
    return program


def require_known(chosen: Collection[str], asked: str) -> None:
    """Raises PlanError for an entry of a choice that names neither a class nor a rule."""
    wrong = unknown_choice(chosen)
    if wrong is not None:
        raise PlanError(
            f"no rewrite {wrong!r}: unknown class of rewrites, or rule",
            asked=asked,
            expected="exact, stable, fast or a name, with - before a name to leave it out",
            found=repr(wrong),
            hint=near_miss(wrong.removeprefix("-"), [*KINDS, *RULES, *SWITCHES]),
        )


class _Walk:
    """The rewritten program under construction; what rules see of it."""

    def __init__(
        self, program: Program, chosen: Collection[str], report: Report, limit: int | None
    ) -> None:
        self.program = program
        self.table: Mapping[str, tuple[Rule, ...]] = rules_by_op(chosen)
        self.elementwise = {name for name, op in OPS.items() if op.elementwise}
        self.folds = chosen_switch("fold", chosen)
        self.merges = chosen_switch("merge", chosen)
        self.report = report
        self.left = limit
        # Whether no more rules may be applied.
        self.ended = limit == 0
        self.out = empty_like(program.graph)
        self.known: dict[Hashable, int] = {}
        self.budget = Budget()
        self.depth = 0
        self.changed = False
        # Symbols of sizes that a node finds which was merged with another, and the other's.
        self.sizes: dict[str, Size] = {}
        self.told = symbols_in(tuple(program.graph.types[s.value].shape for s in program.sources))

    def applied(self, name: str, node: Node) -> None:
        """Note that a rewrite applied to a node."""
        self.report.applied[name] += 1
        self.changed = True
        if self.report.events is not None:
            self.report.events.append((name, node))
        if self.left is not None:
            self.left -= 1
            self.ended = self.left <= 0

    def run(self) -> Program:
        if self.ended or not (self.table or self.folds or self.merges):
            return self.program
        graph, out = self.program.graph, self.out
        values: list[int] = []
        indices: list[int] = []
        effects = frozenset(self.program.effects)
        impure = {name for name, op in OPS.items() if op.effect != "pure"} | {"parameter", "group"}
        for index, node in enumerate(graph.nodes):
            start = len(out.types)
            inputs = tuple([values[v] for v in node.inputs])
            if self.sizes:
                node = self.renamed(node)
                self.require_fit(index, node, inputs)
            after = tuple([indices[i] for i in node.after]) if node.after else ()
            if inputs == node.inputs and after == node.after and start == node.start:
                moved = node
            else:
                moved = node.moved(inputs, start, after)
            indices.append(len(out.nodes))
            if node.op in impure or index in effects:
                out.append_trusted(moved)
                values.extend(moved.outputs)
                continue
            if node.op in FINDERS:
                first = self.found(moved)
                values.extend(range(first, first + len(node.types)))
                indices[-1] = out.producers[first]
                continue
            if len(node.types) != 1 or after:
                # What waits for an effect stays a node of its own.
                first = self.merged(moved)
                values.extend(range(first, first + len(node.types)))
                continue
            value = self.rewritten(moved)
            values.append(value)
            if value != start:
                # Whoever was ordered behind this node is ordered behind what it became.
                indices[-1] = out.producers[value]
        if not self.changed:
            return self.program
        return rewired(self.program, out, values, indices)

    def rewritten(self, node: Node) -> int:
        """The value of a pure node with one output, after rules, folding and merging."""
        if self.ended:
            return self.merged(node)
        rules = self.table.get(node.op, ())
        shape = node.types[0].shape
        if shape and rules and node.op in self.elementwise and not settled(self, node):
            rules = ()
        for entry in rules:
            value = self.attempt(entry, node)
            if value is not None:
                return value
            if self.ended:
                return self.merged(node)
        constant = self.fold(node) if self.folds else None
        return self.merged(node if constant is None else constant)

    def attempt(self, entry: Rule, node: Node) -> int | None:
        """What a rule makes of a node.  A rule that fails leaves no trace but the report."""
        out = self.out
        nodes, types = len(out.nodes), len(out.types)
        try:
            value = entry.apply(self, node)
            if value is None:
                return None
            # Where the last application that may be made was one within, this one is undone.
            if out.types[value] == node.types[0] and not self.ended:
                self.applied(entry.name, node)
                return value
        except (StaticadError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            first = str(error).partition("\n")[0]
            self.report.failed.append(f"{entry.name} failed at {node.name or node.op!r}: {first}")
        if len(out.nodes) > nodes:
            del out.nodes[nodes:]
            del out.types[types:]
            del out.producers[types:]
            self.known = {key: value for key, value in self.known.items() if value < types}
        return None

    def fold(self, node: Node) -> Node | None:
        """The constant that a node of constants is, where the budget allows it."""
        nodes, producers = self.out.nodes, self.out.producers
        operands = []
        # Products add in an order that goes by the layout of what they are given.
        if is_transpose(node):
            return None
        for v in node.inputs:
            above = nodes[producers[v]]
            turned = is_transpose(above)
            if above.op not in ("constant", "broadcast_to") and not turned:
                return None
            if turned and node.op in VIEWS:
                return None
            array = self.operand(v)
            if array is None:
                return None
            operands.append(array)
        if node.op in ("constant", "broadcast_to") or not node.types[0].is_static:
            return None
        if any(map(is_symbolic, node.attributes.values())):
            return None
        if not self.budget.take(node, operands):
            return None
        arrays = folded(node, operands)
        if arrays is None:
            return None
        self.applied("fold", node)
        return node._replace(op="constant", inputs=(), attributes={"value": arrays[0]}, after=())

    def operand(self, value: int) -> np.ndarray[Any, Any] | None:
        """The array of a constant, also of a broadcast or transposed one."""
        node = self.out.nodes[self.out.producers[value]]
        if is_transpose(node):
            array = self.constant(node.inputs[0])
            return None if array is None else array.transpose(node.attributes["axes"])
        if node.op == "broadcast_to" and node.types[0].is_static:
            array = self.constant(node.inputs[0])
            shape: Any = node.types[0].shape
            return None if array is None else np.broadcast_to(array, shape)
        return self.constant(value)

    def merged(self, node: Node) -> int:
        """The first output of an equal node that is there already, else of the node appended."""
        key = node_key(node) if self.merges and not self.ended else None
        found = self.known.get(key)
        if found is not None:
            self.applied("merge", node)
            return found
        out = self.out
        start = len(out.types)
        moved = node if node.start == start else node.moved(node.inputs, start, node.after)
        out.append_trusted(moved)
        if key is not None:
            self.known[key] = start
        return start

    def found(self, node: Node) -> int:
        """The same for a node that finds sizes: of two of the same operands one finds both."""
        own = node.finds
        others = {
            k: v for k, v in node.attributes.items() if k not in node.definition.run_time_sizes
        }
        free = self.told.isdisjoint(own) and not self.ended
        folded = self.found_before(node) if self.folds and free else None
        if folded is not None:
            return folded
        key = "finder", node_key(node._replace(attributes=others))
        start = self.known.get(key) if self.merges and free else None
        if start is not None:
            twin = self.out.nodes[self.out.producers[start]]
            self.applied("merge", node)
            self.sizes.update(zip(own, map(symbol, twin.finds), strict=True))
            return start
        start = len(self.out.types)
        self.out.append_trusted(node._replace(start=start))
        self.known.setdefault(key, start)
        return start

    def found_before(self, node: Node) -> int | None:
        """The first of the constants that the outputs are where the operands are constants."""
        operands = [self.operand(v) for v in node.inputs]
        arrays = [a for a in operands if a is not None]
        if len(arrays) < len(operands) or sum(a.nbytes for a in arrays) > SMALL_BYTES:
            return None
        try:
            outputs, sizes = find(node, arrays, {})
        except FAILURES:
            # It fails when it runs, and the error names the user's line.
            return None
        if not may_be_kept(sum(array.nbytes for array in outputs), arrays):
            return None
        self.applied("fold", node)
        self.sizes |= sizes
        first = len(self.out.types)
        for array in kept(outputs):
            self.out.append_trusted(
                node._replace(
                    op="constant", inputs=(), attributes={"value": array}, after=(),
                    types=(array_type(array),), start=len(self.out.types),
                )
            )  # fmt: skip
        return first

    def require_fit(self, index: int, node: Node, inputs: tuple[int, ...]) -> None:
        """Raises what inference says of operands whose sizes were found while rewriting."""
        before = [self.program.graph.types[v] for v in node.inputs]
        if self.sizes.keys().isdisjoint(symbols_in(tuple(t.shape for t in before))):
            return
        operands = [self.out.types[v] for v in inputs]
        try:
            output_types(self.out, node, operands, node.attributes)
        except StaticadError as error:
            raise node_failure(self.program.graph, index, error, operands) from None

    def renamed(self, node: Node) -> Node:
        """The node in terms of the sizes that are still to be found."""
        if self.sizes.keys().isdisjoint(symbols_of_node(node)):
            return node
        types = tuple(
            t.with_shape(substitute(size, self.sizes) for size in t.shape) for t in node.types
        )
        return node._replace(attributes=substituted(node.attributes, self.sizes), types=types)

    # ------------------------------------------------------------- what rules see

    def type(self, value: int) -> TensorType:
        """The type of a value."""
        return self.out.types[value]

    def producer(self, value: int) -> Node:
        """The node that produces a value."""
        return self.out.nodes[self.out.producers[value]]

    def constant(self, value: int) -> np.ndarray[Any, Any] | None:
        """The array of a constant."""
        node = self.out.nodes[self.out.producers[value]]
        return node.attributes["value"] if node.op == "constant" else None

    def add(self, op: str, inputs: tuple[int, ...], like: Node, **attributes: Any) -> int:
        """The output of a new node, itself rewritten."""
        definition = OPS[op]
        complete = definition.attributes(attributes)
        types = definition.output_types([self.out.types[v] for v in inputs], complete)
        node = Node(
            op, inputs, complete, types, len(self.out.types), like.after, like.name,
            like.scope, like.device, like.site, like.forward_site,
        )  # fmt: skip
        if self.depth >= MAX_DEPTH:
            return self.merged(node)
        self.depth += 1
        try:
            return self.rewritten(node)
        finally:
            self.depth -= 1
