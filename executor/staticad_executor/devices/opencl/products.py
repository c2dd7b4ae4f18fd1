"""Matrix products: which kernels compute one."""

from __future__ import annotations

from .choices import CHUNK, Choice, chosen, parts_of
from .contraction import CONTRACTIONS, Contraction, contraction
from .elementwise import elementwise
from .local_tiles import LocalTiles, local_tile
from .packing import packed_bytes, packing
from .region import Kernel, Pointer, Recipe, Region, size_of
from .register_tiles import RegisterTiles
from .target import Target
from .tuning import LocalTile, tuned


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
