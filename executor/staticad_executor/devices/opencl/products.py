"""Matrix products: which kernels compute one."""

from __future__ import annotations

from staticad_schema.types import TensorType

from .choices import CHUNK, Choice, chosen, parts_of
from .contraction import CONTRACTIONS, Contraction, contraction
from .elementwise import elementwise
from .local_tiles import LocalTiles, local_tile
from .packing import packed_bytes, packing
from .region import Kernel, Operand, Pointer, Recipe, Region, Step, size_of
from .register_tiles import RegisterTiles
from .target import Target
from .tuning import LocalTile, tuned

# Elements of a matrix from which on its product with a vector is a sum, on GPUs.
_LARGE = 1 << 12


def product(region: Region, target: Target, name: str = "product") -> Recipe:
    """The kernels of a product and of what is computed of it.

    Raises ValueError for another region, PlanError for a file of tiles that cannot be used.
    """
    c = contraction(region)
    recipe = _chosen(c, target, name)
    tiling = tuned(target)
    if tiling is None:
        return recipe
    return recipe._replace(algorithm=f"{recipe.algorithm}; tiles of {tiling.source}")


def _chosen(c: Contraction, target: Target, name: str) -> Recipe:
    if target.many_items and not target.alone:
        tile = local_tile(c, target)
        if tile is not None:
            return grouped(c, tile, target, name)
    return tiled(c, chosen(c, target), target, name)


def as_sum(region: Region, target: Target) -> Region | None:
    """A vector times a matrix, on a GPU, as products that are summed along an axis: then groups of
    work-items read lines of the matrix side by side.  None for another product."""
    if not target.many_items or target.alone:
        return None
    c = contraction(region)
    if c.rows != 1 or c.stack or c.columns * c.depth < _LARGE:
        return None
    count, last = len(region.operands), c.right.outer != 1
    shape = (c.columns, c.depth) if last else (c.depth, c.columns)
    strides = [(0, c.left.inner), (c.right.outer, c.right.inner)]
    factors = [Operand(c.dtype, shape, s if last else s[::-1]) for s in strides]
    line = (c.columns,)
    operands = [Operand(o.dtype, line, o.strides[-1:]) for o in c.region.operands]
    sources = [region.source(k) for k in (*range(count), c.left.operand, c.right.operand)]
    pairs = TensorType(c.wide, shape)
    total = {"axis": (int(last),), "keepdims": False}
    steps = [Step("cast", {"dtype": c.wide}, (count + k,), (pairs,)) for k in range(2)]
    factor = (count + 2, count + 3) if c.zeros != "left" else (count + 3, count + 2)
    name = "multiply_no_nan" if c.zeros else "multiply"
    steps.append(Step(name, {}, factor, (pairs,)))
    steps.append(Step("sum", total, (count + 4,), (TensorType(c.wide, line),)))
    values = {v: v for v in range(count)}
    for k, step in enumerate(c.region.steps):
        values[count + k] = count + 2 + len(steps)
        types = tuple(t.with_shape(line) for t in step.types)
        if k == c.at:
            steps.append(Step("cast", {"dtype": c.dtype}, (count + 5,), types))
        else:
            inputs = tuple(values[v] for v in step.inputs)
            steps.append(step._replace(inputs=inputs, types=types))
    outputs = tuple(values[v] for v in region.outputs)
    goals = tuple(region.goal(k) for k in range(len(region.outputs)))
    return Region((*operands, *factors), tuple(steps), outputs, tuple(sources), goals)


def grouped(c: Contraction, tile: LocalTile, target: Target, name: str) -> Recipe:
    """A product by tiles in local memory."""
    parts = parts_of(c, CHUNK)
    if parts == 1:
        kernel = LocalTiles(c, tile, target, c.region, 1).kernel(name)
        return Recipe((kernel,), (), str(tile))
    first = LocalTiles(c, tile, target, c.partial(0), parts).kernel(name)
    rest = elementwise(c.rest(parts, 0), target, f"{name}_sum").kernels
    nbytes = parts * size_of(c.shape) * c.unrounded.itemsize
    return Recipe((first, *rest), (nbytes,), f"{tile}, sum in {parts} parts")


def tiled(c: Contraction, choice: Choice, target: Target, name: str) -> Recipe:
    """A product by tiles in registers."""
    kernels: list[Kernel] = []
    scratch: list[int] = []

    def memory(nbytes: int) -> Pointer:
        scratch.append(nbytes)
        return Pointer("scratch", len(scratch) - 1)

    left = right = None
    tile = choice.tile
    if choice.packs_left:
        left = memory(packed_bytes(c, c.left, c.rows, tile.rows))
        kernels.append(packing(c, c.left, c.rows, tile.rows, 1, left, target, f"{name}_left"))
    if choice.packs_right:
        columns = choice.columns
        right = memory(packed_bytes(c, c.right, c.columns, columns))
        kernels.append(
            packing(c, c.right, c.columns, columns, tile.lanes, right, target, f"{name}_right")
        )
    region = c.region
    if choice.parts > 1:
        region = c.partial(len(scratch))
        memory(choice.parts * size_of(c.shape) * c.unrounded.itemsize)
    kernels.append(RegisterTiles(c, choice, target, region, left, right).kernel(name))
    if choice.parts > 1:
        rest = c.rest(choice.parts, len(scratch) - 1)
        kernels += elementwise(rest, target, f"{name}_sum").kernels
    return Recipe(tuple(kernels), tuple(scratch), str(choice))


PRODUCTS = dict.fromkeys(sorted(CONTRACTIONS), product)
