"""A large region as parts of one instruction: operands by layout, results by their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.ops.blocks import Block
from staticad_schema.types import Array, TensorType

from ..devices.numpy.elementwise import CHOOSE, MASK, Elementwise, mask_dtype
from ..devices.numpy.region import Layout, Region
from ..devices.numpy.rows import SPREAD, row_kernel, sum_of_blocks
from ..devices.numpy.tilecode import Part, Result, TileCode, compile_tile
from ..devices.numpy.tiles import Shape
from .alike import Alike
from .bind import Bound
from .rows import ROW_VIEWS


class Recipe(NamedTuple):
    """A region, whatever the sizes of its rows are.

    operands: places among the values that flow in and those that are made, and how many axes of
    size 1 stand before their own.  codes: of tiles, by `early`, as they are compiled.  replaced:
    for operands and outputs whether the one is read before the other is written.
    """

    operands: tuple[tuple[int, int], ...]
    parts: tuple[Part, ...]
    codes: dict[tuple[bool, ...], TileCode]
    replaced: dict[tuple[int, int], bool]


class Fused(NamedTuple):
    """A large region: its rows, the layout of each operand, and its nodes.  regions: what runs
    it, by threads and `early`, as they are made.  sums: the outputs that are sums of blocks."""

    rows: Shape
    layouts: tuple[Layout, ...]
    recipe: Recipe
    regions: dict[tuple[int, tuple[bool, ...]], Region]
    sums: tuple[int, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The nodes."""
        return self.recipe.parts

    def lies_like(self, operand: int, shape: Shape) -> bool:
        """Whether each tile of an operand is where that tile of an output of that shape is."""
        layout = self.layouts[operand]
        return not layout.lead and layout.shape == shape

    def replaces(self, operand: int, output: int, shape: Shape) -> bool:
        """Whether an operand is read for the last time no later than an output of that shape is
        written, tile by tile."""
        if output in self.sums or not self.lies_like(operand, shape):
            return False
        found = self.recipe.replaced.get((operand, output))
        if found is None:
            found = self.recipe.replaced[operand, output] = _read_before(
                self.parts, operand, output
            )
        return found

    def region(self, threads: int, early: tuple[bool, ...]) -> Region:
        """What runs it, for results that may be there before all operands are read."""
        found = self.regions.get((threads, early))
        if found is None:
            code = self.recipe.codes.get(early)
            if code is None:
                code = compile_tile(self.parts, len(self.layouts), early)
                self.recipe.codes[early] = code
            found = Region(self.rows, self.layouts, self.parts, threads, code)
            self.regions[threads, early] = found
        return found


def _read_before(parts: Sequence[Part], operand: int, output: int) -> bool:
    if any(part.kernel.unguarded is not None for part in parts):
        # A tile with a NaN is computed twice, from operands that must still be there.
        return False
    writer = next(
        p for p, part in enumerate(parts) if any(r.output == output for r in part.results)
    )
    last = max(p for p, part in enumerate(parts) if operand in part.inputs)
    return last < writer or (last == writer and parts[writer].kernel.overlap)


class Tiles(NamedTuple):
    """A region without numbers of values.  operands, outputs: places among the values that flow
    in and those that are made."""

    fused: Fused
    operands: tuple[int, ...]
    outputs: tuple[int, ...]


class Values(Protocol):
    """What is known of values and nodes."""

    graph: Graph
    types: list[TensorType]
    bound: Bound
    alike: Alike
    views: dict[int, Any]
    tiles: dict[Any, Tiles]

    def model(self, value: int) -> Array:
        """An array of the value's shape and strides that must not be read."""
        ...

    def walked(self, value: int) -> int:
        """The value, or a copy of it that an elementwise kernel can take."""
        ...

    def elementwise(self, index: int, node: Node) -> Elementwise:
        """The kernel of an elementwise node."""
        ...


def fused(
    values: Values,
    members: tuple[int, ...],
    leaving: Sequence[int],
    rows: int,
    sums: Mapping[int, Block],
) -> tuple[Fused, tuple[int, ...], tuple[int, ...]]:
    """The region of these nodes, the values of its operands, and those of its outputs.

    sums: the values that are sums of rows, of which the region computes those of blocks."""
    kind, operands, made = values.alike.region(members, leaving, rows)
    known = [*operands, *made]
    views = [(k, values.model(v)) for k, v in enumerate(operands) if v in values.views]
    known_tiles = values.alike.tiles if kind.fixed else values.tiles
    key = (kind, *[(k, seen.strides) for k, seen in views])
    tiles = known_tiles.get(key)
    if tiles is None:
        found = {v: k for k, v in enumerate(known)}
        outputs = [v for v in leaving if found.get(v, -1) >= len(operands)]
        looks = (kind, *[(k, _manner(seen)) for k, seen in views], *sums.values())
        recipe = values.alike.recipes.get(looks)
        if recipe is None:
            recipe = _recipe(values, members, outputs, known, rows, sums)
        # What was copied to be walked through is another value at every place.
        alike = len(known) == len(operands) + len(made)
        if alike and kind.steady:
            values.alike.recipes[looks] = recipe
        layouts = []
        for place, lead in recipe.operands:
            model = values.model(known[place])
            layouts.append(Layout(model.shape, model.strides, lead))
        first = values.graph.nodes[members[0]]
        shape: Any = values.types[first.inputs[0] if first.start in sums else first.start].shape
        at = tuple([k for k, v in enumerate(outputs) if v in sums])
        tiles = Tiles(
            Fused(shape[:rows], tuple(layouts), recipe, {}, at),
            tuple([place for place, _ in recipe.operands]),
            tuple([found[v] for v in outputs]),
        )
        if alike:
            known_tiles[key] = tiles
    return (
        tiles.fused,
        tuple([known[k] for k in tiles.operands]),
        tuple([known[k] for k in tiles.outputs]),
    )


def _manner(seen: Array) -> str:
    """Which copies a view needs, if any, follows from this."""
    if seen.flags.c_contiguous:
        return "solid"
    return "backwards" if min(seen.strides) < 0 else "strided"


def _recipe(
    values: Values, members: Sequence[int], outputs: Sequence[int], known: list[int], rows: int,
    sums: Mapping[int, Block],
) -> Recipe:  # fmt: skip
    """The recipe of a region over known values, which copies of some of them may join."""
    nodes = values.graph.nodes
    building = _Building(values, members, outputs, rows, sums)
    for index in members:
        building.add(index, nodes[index])
    places = {v: k for k, v in enumerate(known)}
    for value, _ in building.operands:
        if value not in places:
            places[value] = len(known)
            known.append(value)
    return Recipe(
        tuple([(places[value], lead) for value, lead in building.operands]),
        building.numbered(),
        {},
        {},
    )


class _Building:
    """Parts under construction, which number operands from 0 on and results from -1 down.

    operands: (value, axes of size 1 before its own) and the number.
    """

    def __init__(
        self, values: Values, members: Sequence[int], outputs: Sequence[int], rows: int,
        sums: Mapping[int, Block],
    ) -> None:  # fmt: skip
        self.values = values
        self.sums = sums
        self.rows = rows
        self.outputs = {v: k for k, v in enumerate(outputs)}
        self.operands: dict[tuple[int, int], int] = {}
        self.parts: list[Part] = []
        self.results = 0
        self.place = {index: k for k, index in enumerate(members)}
        # The number of each value that is computed here.
        self.made: dict[int, int] = {}
        # What has to lie in memory as it is, where an elementwise node would broadcast it.
        self.solid = set(outputs)
        # How many choices each condition makes among words of a size, and the mask of it.
        self.choices: Counter[tuple[int, int]] = Counter()
        self.masks: dict[tuple[int, int, int], int] = {}
        nodes = values.graph.nodes
        for index in members:
            node = nodes[index]
            if node.op == "where":
                self.choices[node.inputs[0], node.types[0].dtype.itemsize] += 1
            if not OPS[nodes[index].op].elementwise:
                self.solid.update(nodes[index].inputs)

    def add(self, index: int, node: Node) -> None:
        """One more node."""
        types = self.values.types
        if OPS[node.op].elementwise:
            rank = len(types[node.start].shape)
            given = [self.number(v, rank) for v in node.inputs]
            mask = self.mask(index, node, rank, given[0]) if node.op == "where" else None
            if mask is not None:
                self.append(index, CHOOSE, [mask, *given[1:]], node.outputs)
                return
            self.append(index, self.values.elementwise(index, node), given, node.outputs)
        elif node.op in ROW_VIEWS:
            source = self.number(node.inputs[0], len(types[node.inputs[0]].shape))
            if node.op == "broadcast_to" and node.start not in self.solid:
                self.made[node.start] = source
            else:
                self.append(index, SPREAD, [source], node.outputs)
        elif node.start in self.sums:
            given = [self.contiguous(index, node.inputs[0])]
            self.append(index, sum_of_blocks(self.sums[node.start]), given, node.outputs)
        else:
            attributes = self.values.bound.node_attributes(index)
            chosen = row_kernel(node.op, attributes, [types[v] for v in node.inputs], self.rows)
            given = [self.contiguous(index, v) for v in node.inputs]
            self.append(index, chosen.kernel, given, node.outputs)
            spare = self.result_of(types[node.inputs[0]], -1)
            self.parts[-1] = self.parts[-1]._replace(
                results=self.parts[-1].results + (spare,) * chosen.spare
            )
            self.results += chosen.spare

    def append(
        self, index: int, kernel: Elementwise, given: Sequence[int], made: Sequence[int]
    ) -> None:
        """One more part, which computes values."""
        results = []
        for value in made:
            self.results += 1
            self.made[value] = -self.results
            output = self.outputs.get(value, -1)
            type_ = self.values.types[value]
            if value in self.sums:
                block = self.sums[value]
                results.append(Result(type_.dtype, (block.width,), output, block.size))
            else:
                results.append(self.result_of(type_, output))
        self.parts.append(Part(self.place[index], kernel, tuple(given), tuple(results)))

    def mask(self, index: int, node: Node, rank: int, condition: int) -> int | None:
        """The number of a condition as a mask, if several choices can share it."""
        dtype = mask_dtype(node.types[0].dtype)
        if dtype is None or self.choices[node.inputs[0], dtype.itemsize] < 2:
            return None
        key = node.inputs[0], dtype.itemsize, rank
        found = self.masks.get(key)
        if found is None:
            shape: Any = self.values.types[node.inputs[0]].shape
            tail = ((1,) * (rank - len(shape)) + shape)[self.rows :]
            self.results += 1
            found = self.masks[key] = -self.results
            self.parts.append(
                Part(self.place[index], MASK, (condition,), (Result(dtype, tail, -1),))
            )
        return found

    def result_of(self, type_: TensorType, output: int) -> Result:
        shape: Any = type_.shape
        return Result(type_.dtype, shape[self.rows :], output)

    def number(self, value: int, rank: int) -> int:
        """The number of a value as an elementwise operand of a node of that rank."""
        found = self.made.get(value)
        if found is None:
            return self.operand(self.values.walked(value), rank)
        return found

    def contiguous(self, index: int, value: int) -> int:
        """The number of a value as an operand that a kernel of rows can take."""
        found = self.made.get(value)
        if found is not None:
            return found
        type_ = self.values.types[value]
        number = self.operand(value, len(type_.shape))
        if self.values.model(value).flags.c_contiguous:
            return number
        self.results += 1
        self.parts.append(Part(self.place[index], SPREAD, (number,), (self.result_of(type_, -1),)))
        return -self.results

    def operand(self, value: int, rank: int) -> int:
        model = self.values.model(value)
        key = value, rank - model.ndim
        found = self.operands.get(key)
        if found is None:
            found = self.operands[key] = len(self.operands)
        return found

    def numbered(self) -> tuple[Part, ...]:
        """The parts, their values numbered as they want them."""
        count = len(self.operands)
        return tuple(
            [
                Part(
                    part.node, part.kernel,
                    tuple([k if k >= 0 else count - 1 - k for k in part.inputs]), part.results,
                )
                for part in self.parts
            ]
        )  # fmt: skip
