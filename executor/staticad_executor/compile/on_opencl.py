"""What runs on an OpenCL device: the instructions of one group.

A group becomes one region, whose kernels are generated from its nodes with concrete sizes; where
there is no such kernel, several, and at last one a node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from staticad_schema.op import OPS
from staticad_schema.types import UINT8, Array, TensorType, nbytes

from ..devices.base import OpenCL
from ..devices.opencl.elementwise import is_flat
from ..devices.opencl.generate import generate
from ..devices.opencl.heavy import HEAVY
from ..devices.opencl.known import known, word
from ..devices.opencl.region import LocalBytes, Operand, Recipe, Region, Step, Table, row_major
from ..devices.opencl.small import for_small
from ..work import count, work
from .draft import Draft
from .group import Group
from .moves import Launched
from .rows import PRODUCTS, SUMS

# A compiler of kernels takes longer for each line the more of them there are.
MOST_WEIGHT = 400
TRANSCENDENTAL = 4
# What follows from a product along with it takes registers from it: more than a bias, a few simple
# functions and one that is not is quicker behind it.
PRODUCT_WEIGHT = 12
# What takes no longer on one core than some launches runs with others in one launch.
SMALL_NANOSECONDS = 15_000


class _Found(NamedTuple):
    """Kernels without numbers of values.  operands, outputs: places among the values that flow in
    and those that are made.  flags: whether an index can be out of range.
    small: whether they are for one group."""

    recipe: Recipe
    outputs: tuple[int, ...]
    replaces: frozenset[tuple[int, int]]
    flags: bool
    small: bool


class _Part(NamedTuple):
    nodes: tuple[int, ...]
    operands: tuple[int, ...]
    outputs: tuple[int, ...]
    found: _Found


class OnOpenCL:
    """The writer of instructions for a device."""

    def __init__(self, draft: Draft, device: OpenCL) -> None:
        self.draft = draft
        self.device = device
        self._known: dict[Any, _Found | str] = {}

    def write(self, group: Group, members: Sequence[int]) -> bool:
        """The instructions of a group; members: its nodes that still have to run.

        False if there are none: then nothing is written, and a note says why.
        """
        draft = self.draft
        node = draft.graph.nodes[members[0]]
        if node.op == "concat" and draft.join(node, self.device.space, self._copied):
            return True
        parts = self._parts(group, members)
        if isinstance(parts, str):
            graph = self.draft.graph
            names = "+".join(dict.fromkeys(graph.nodes[i].op for i in members))
            self.draft.notes.append(f"on numpy: {names} {graph.node_name(members[-1])}: {parts}")
            return False
        for part in parts:
            self._add(part)
        return True

    def _parts(self, group: Group, members: Sequence[int]) -> list[_Part] | str:
        """The regions that compute the nodes, or why there are none."""
        heavy = sum(_weight(self.draft.graph.nodes[i].op) for i in members) > PRODUCT_WEIGHT
        pieces = _without_heads(self.draft, list(members)) if heavy else [list(members)]
        why = ""
        for cut in (_by_weight, _without_heads, _without_ends, _by_shape, _one_by_one):
            pieces = [piece for whole in pieces for piece in cut(self.draft, whole)]
            found = self._all(pieces, group.outputs)
            if not isinstance(found, str):
                return found
            why = found
        return why

    def _all(self, pieces: Sequence[Sequence[int]], leaving: Sequence[int]) -> list[_Part] | str:
        nodes = self.draft.graph.nodes
        home = {v: k for k, piece in enumerate(pieces) for i in piece for v in nodes[i].outputs}
        needed = set(leaving)
        for k, piece in enumerate(pieces):
            needed |= {v for i in piece for v in nodes[i].inputs if home.get(v, k) != k}
        parts = []
        for piece in pieces:
            outputs = [v for i in piece for v in nodes[i].outputs if v in needed]
            part = self._part(tuple(piece), outputs)
            if isinstance(part, str):
                return part
            parts.append(part)
        return parts

    def _part(self, members: tuple[int, ...], leaving: list[int]) -> _Part | str:
        draft = self.draft
        kind, operands, made = draft.alike.region(members, leaving, -1)
        numbers = self._numbers(members, operands)
        views = [(k, draft.model(v).strides) for k, v in enumerate(operands) if v in draft.views]
        words = [(k, word(array).tobytes()) for k, array in numbers.items()]
        key = (self.device.name, kind, *views, *words)
        known = draft.alike.launched if kind.fixed else self._known
        found = known.get(key)
        if found is None:
            found = known[key] = self._found(members, leaving, operands, made, numbers)
        if isinstance(found, str):
            return found
        outputs = tuple([made[k] for k in found.outputs])
        read = tuple([v for k, v in enumerate(operands) if k not in numbers])
        return _Part(members, read, outputs, found)

    def _numbers(self, members: Sequence[int], operands: Sequence[int]) -> dict[int, Array]:
        """The operands that are single numbers which are known, by place; not those of nodes whose
        kernels read memory."""
        draft = self.draft
        nodes = draft.graph.nodes
        stored = {v for i in members if nodes[i].op in HEAVY for v in nodes[i].inputs}
        found = {}
        for k, value in enumerate(operands):
            array = draft.known(value) if value not in stored else None
            if array is not None and array.size == 1 and array.dtype.kind != "c":
                found[k] = array
        return found

    def _found(
        self,
        members: Sequence[int],
        leaving: Sequence[int],
        operands: Sequence[int],
        made: Sequence[int],
        known_numbers: Mapping[int, Array],
    ) -> _Found | str:
        draft, device, target = self.draft, self.device, self.device.target
        nodes, types = draft.graph.nodes, draft.types
        for value in (*operands, *leaving):
            if nbytes(types[value]) > device.allocation_bytes:
                return f"{types[value]} is larger than its largest buffer"
        read = [v for k, v in enumerate(operands) if k not in known_numbers]
        single = [v for k, v in enumerate(operands) if k in known_numbers]
        numbers = {v: k for k, v in enumerate((*read, *single, *made))}
        steps = [known(a, types[v]) for a, v in zip(known_numbers.values(), single, strict=True)]
        for place, index in enumerate(members):
            node, attributes = nodes[index], draft.bound.node_attributes(index)
            given = [types[v] for v in node.inputs]
            results = tuple([types[v] for v in node.outputs])
            why = device.why_not(node.op, attributes, given, results)
            if why is not None:
                return why
            inputs = tuple([numbers[v] for v in node.inputs])
            steps.append(Step(node.op, attributes, inputs, results, place + 1))
        layouts = tuple([_operand(types[v], draft.model(v).strides) for v in read])
        region = Region(layouts, tuple(steps), tuple([numbers[v] for v in leaving]))
        small = self._nanoseconds(members, (*operands, *leaving)) <= SMALL_NANOSECONDS
        try:
            recipe = generate(region, for_small(target) if small else target)
        except ValueError as error:
            return str(error)
        small = small and not any(
            isinstance(a, LocalBytes | Table) for k in recipe.kernels for a in k.arguments
        )
        for kernel in recipe.kernels:
            if kernel.parameter_bytes > device.parameter_bytes:
                return f"{len(kernel.arguments)} arguments are more than it takes"
        flags = any(kernel.flags for kernel in recipe.kernels)
        places = {v: k for k, v in enumerate(made)}
        return _Found(
            recipe,
            tuple([places[v] for v in leaving]),
            _replaced(region, recipe),
            flags,
            small,
        )

    def _nanoseconds(self, members: Sequence[int], outside: Sequence[int]) -> float:
        """About what one core takes for nodes.  outside: the values that flow in and out."""
        draft = self.draft
        total = sum(nbytes(draft.types[v]) for v in outside) / 16
        for index in members:
            node = draft.graph.nodes[index]
            operands = [draft.types[v] for v in node.inputs]
            outputs = [draft.types[v] for v in node.outputs]
            done = work(node.op, operands, outputs)
            total += (done.flops + sum(map(count, outputs))) / 16 + done.special
        return total

    def _copied(self, value: int, part: int) -> None:
        """Copy a value to where it belongs in a concatenation."""
        draft = self.draft
        here = draft.brought(value, self.device.space)
        type_ = draft.types[value]
        layout = _operand(type_, draft.model(here).strides)
        region = Region((layout,), (Step("identity", {}, (0,), (type_,)),), (1,))
        found = _Found(generate(region, self.device.target), (0,), frozenset(), False, False)
        producer = draft.graph.producers[draft.originals[part]]
        self._add(_Part((producer,), (here,), (part,), found))

    def _add(self, part: _Part) -> None:
        draft, found, space = self.draft, part.found, self.device.space
        here = [draft.brought(v, space) for v in part.operands]
        offsets = tuple([draft.offset(v) for v in here])
        roots = tuple([draft.root(v) for v in here])
        scratch = []
        for size in found.recipe.scratch:
            value = draft.another(part.outputs[0])
            draft.types[value] = TensorType(UINT8, (size,))
            scratch.append(value)
        writes = (*part.outputs, *scratch)
        for value in writes:
            draft.enter(value, space)
        flagged = part.nodes if found.flags else ()
        launched = Launched(
            self.device.name,
            found.recipe,
            offsets,
            found.replaces,
            len(part.outputs),
            flagged,
            found.small,
        )
        draft.add(part.nodes, roots, writes, launched)


def _operand(type_: TensorType, strides: tuple[int, ...]) -> Operand:
    shape: Any = type_.shape
    size = type_.dtype.itemsize
    return Operand(type_.dtype, shape, tuple([s // size for s in strides]))


def _replaced(region: Region, recipe: Recipe) -> frozenset[tuple[int, int]]:
    """Operands and outputs of which the one may be in the place of the other: where one kernel
    reads each element, and nothing else of the operand, before it writes that element."""
    if len(recipe.kernels) > 1 or recipe.scratch or not is_flat(region):
        return frozenset()
    found = []
    for j, value in enumerate(region.outputs):
        type_ = region.types[value]
        for k, operand in enumerate(region.operands):
            same = operand.shape == type_.shape and operand.dtype.itemsize == type_.dtype.itemsize
            if same and operand.strides == row_major(operand.shape):
                found.append((k, j))
    return frozenset(found)


def _by_weight(draft: Draft, members: list[int]) -> list[list[int]]:
    """Runs of nodes that a compiler takes in one piece."""
    pieces: list[list[int]] = []
    weight = MOST_WEIGHT
    for index in members:
        own = _weight(draft.graph.nodes[index].op)
        if weight + own > MOST_WEIGHT:
            pieces.append([])
            weight = 0
        pieces[-1].append(index)
        weight += own
    return pieces


def _weight(op: str) -> int:
    expression = OPS[op].expression("float") if OPS[op].elementwise else None
    return TRANSCENDENTAL if expression is None or "(" in expression else 1


def _without_heads(draft: Draft, members: list[int]) -> list[list[int]]:
    """Each product, and then what follows from them."""
    nodes = draft.graph.nodes
    heads = [[i] for i in members if nodes[i].op in PRODUCTS]
    rest = [i for i in members if nodes[i].op not in PRODUCTS]
    return [*heads, *([rest] if rest else [])]


def _without_ends(draft: Draft, members: list[int]) -> list[list[int]]:
    """All but the sums that nothing else in the region needs, and each of these."""
    nodes = draft.graph.nodes
    used = {v for i in members for v in nodes[i].inputs}
    ends = [i for i in members if nodes[i].op in SUMS and nodes[i].start not in used]
    rest = [i for i in members if i not in set(ends)]
    return [*([rest] if rest else []), *[[i] for i in ends]]


def _by_shape(draft: Draft, members: list[int]) -> list[list[int]]:
    """Elementwise nodes of one shape that follow each other, and each other node alone."""
    nodes, types = draft.graph.nodes, draft.types
    pieces: list[list[int]] = []
    last: Any = None
    for index in members:
        own = types[nodes[index].start].shape if OPS[nodes[index].op].elementwise else None
        if own is None or own != last:
            pieces.append([])
        pieces[-1].append(index)
        last = own
    return pieces


def _one_by_one(draft: Draft, members: list[int]) -> list[list[int]]:
    return [[index] for index in members]
