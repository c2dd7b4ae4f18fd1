"""Products by tiles in local memory, on GPUs: a group of work-items computes a tile of the result,
each of them some rows times some vectors of it in registers.

The group copies a few terms of all its rows and columns into local memory, neighbouring work-items
what lies side by side; each reads them from there as often as it needs them.  A sum is computed
term after term, a long one in chunks, whatever the tile.
"""

from __future__ import annotations

from .body import LANE, Body, Index
from .choices import CHUNK
from .code import Var
from .contraction import CONTRACTIONS, Contraction, Side
from .elementwise import computed_dtypes, no_vector
from .lanes import CONTRACT
from .memory import read, store
from .places import unravelled
from .region import Kernel, Region, size_of
from .register_tiles import numbered, product_of, rounded_to, times
from .scalars import register_type
from .signature import Signature
from .target import Target, compute_size
from .tuning import LocalTile, tuned
from .typed import arithmetic, cast, constant, spread

# Terms up to which a sum has no chunks.
_LONG = 2048
# From the largest on: groups, and what each work-item computes.
LOCAL_TILES = (
    LocalTile(16, 16, 8, 2, 4, 16),
    LocalTile(16, 16, 4, 1, 4, 16),
    LocalTile(8, 8, 4, 1, 4, 16),
    LocalTile(8, 8, 1, 1, 4, 16),
)


def local_tile(c: Contraction, target: Target) -> LocalTile | None:
    """The tile of a product: the largest of which there are enough to occupy the device, in the
    limits of a group; None where local memory holds none."""
    tiling = tuned(target)
    first = [] if tiling is None else [t for n, t in tiling.local.items() if n == c.wide.name]
    tiles = [fitted(t, c, target) for t in (*first, *LOCAL_TILES)]
    known = [t for t in tiles if t is not None]
    for tile in known:
        count = c.matrices * -(-c.rows // tile.high) * -(-c.columns // tile.wide)
        if count >= target.units:
            return tile
    return known[-1] if known else None


def fitted(tile: LocalTile, c: Contraction, target: Target) -> LocalTile | None:
    """A tile no larger than the result, than a group may be and than local memory; None where
    not even one element fits."""
    lanes = min(tile.lanes, max(1, target.vector_bytes // max(4, c.wide.itemsize)))
    while lanes > 1 and lanes > c.columns:
        lanes //= 2
    tile = tile._replace(lanes=lanes)
    while tile.rows > 1 and tile.high >= 2 * c.rows:
        tile = tile._replace(rows=tile.rows // 2)
    while tile.down > 1 and tile.high >= 2 * c.rows:
        tile = tile._replace(down=tile.down // 2)
    while tile.across > 1 and tile.wide >= 2 * c.columns:
        tile = tile._replace(across=tile.across // 2)
    while tile.down * tile.across > target.work_group:
        side = "down" if tile.down >= tile.across else "across"
        tile = tile._replace(**{side: getattr(tile, side) // 2})
    while _bytes(tile, c) > target.local_bytes:
        if tile.terms > 4 or (tile.terms > 1 and tile.rows * tile.vectors == 1):
            tile = tile._replace(terms=tile.terms // 2)
        elif tile.rows > 1:
            tile = tile._replace(rows=tile.rows // 2)
        elif tile.vectors > 1:
            tile = tile._replace(vectors=tile.vectors // 2)
        elif tile.down * tile.across > 1:
            side = "down" if tile.down >= tile.across else "across"
            tile = tile._replace(**{side: getattr(tile, side) // 2})
        else:
            return None
    return tile


def _bytes(tile: LocalTile, c: Contraction) -> int:
    return (tile.high + 1 + tile.wide) * tile.terms * c.wide.itemsize


class LocalTiles:
    """One kernel under construction, of a region over the shape of the result."""

    def __init__(
        self, c: Contraction, tile: LocalTile, target: Target, region: Region, parts: int
    ) -> None:
        self.c, self.tile, self.region, self.parts = c, tile, region, parts
        others = (s for s in region.steps if s.op not in CONTRACTIONS)
        widest = max([4, *map(compute_size, computed_dtypes(region))])
        plain = any(no_vector(region, s, tile.lanes) for s in others)
        # A vector of what takes more bytes than a sum may be longer than the device's are.
        self.lanes = 1 if plain or widest > c.wide.itemsize else tile.lanes
        self.signature = Signature(max(c.largest, parts * size_of(c.shape)) + (1 << 16))
        self.body = Body(region, target, self.signature, self.lanes)
        self.body.bound[c.product] = lambda index: self._product()
        self.code, self.kind = self.body.code, self.signature.index_type
        self.m = self.signature.number("rows", c.rows)
        self.n = self.signature.number("columns", c.columns)
        self.p = self.signature.number("depth", c.depth)
        # Sums of chunks take as many registers again, so short sums have none.
        self.deep = c.depth > _LONG * parts

    def kernel(self, name: str) -> Kernel:
        """The kernel."""
        c, code, kind, tile, signature = self.c, self.code, self.kind, self.tile, self.signature
        group = tile.down * tile.across
        counts = [("across", -(-c.columns // tile.wide)), ("down", -(-c.rows // tile.high))]
        counts += [("matrix", c.matrices), ("part", self.parts)]
        units = 1
        for _, count in counts:
            units *= count
        numbered(self.body, counts, None, "get_group_id(0)")
        self.stack = unravelled(self.body, "matrix", c.stack, "stack")
        code.line("const int lid = get_local_id(0);")
        code.line(f"const int tx = lid % {tile.across}, ty = lid / {tile.across};")
        code.line(f"const {kind} row0 = down * {tile.high}, col0 = across * {tile.wide};")
        begin, end = "0", self.p
        if self.parts > 1:
            each = signature.number("part", -(-c.depth // self.parts))
            code.line(f"const {kind} begin = part * {each};")
            code.line(f"const {kind} end = min(begin + {each}, {self.p});")
            begin, end = "begin", "end"
        sum_type, element = register_type(c.wide, tile.lanes), register_type(c.wide)
        size = c.wide.itemsize
        # A column more, so that what lies side by side along the sum goes to different banks.
        pitch = tile.high + 1
        left = signature.local("tile_left", element, tile.terms * pitch, size)
        right = signature.local(
            "tile_right", sum_type, tile.terms * tile.across * tile.vectors, size * tile.lanes
        )
        count = tile.rows * tile.vectors
        each_sum = f"for (int x = 0; x < {count}; ++x)"
        zero = spread(constant(0, c.wide), tile.lanes)
        if self.deep:
            code.line(f"{sum_type} whole[{count}];")
            code.line(f"{each_sum} whole[x] = {zero};")
            with code.block(f"for ({kind} s0 = {begin}; s0 < {end}; s0 += {CHUNK})"):
                code.line(f"const {kind} s1 = min(s0 + {CHUNK}, {end});")
                code.line(f"{sum_type} total[{count}];")
                code.line(f"{each_sum} total[x] = {zero};")
                self._sums(left, right, pitch, "s0", "s1")
                sums = [Var(f"{name}[x]", c.wide, tile.lanes) for name in ("whole", "total")]
                code.line(f"{each_sum} whole[x] = {arithmetic('+', *sums).text};")
        else:
            code.line(f"{sum_type} total[{count}];")
            code.line(f"{each_sum} total[x] = {zero};")
            self._sums(left, right, pitch, begin, end)
        self._store()
        return signature.kernel(name, code, (units * group,), (group,))

    def _sums(self, left: str, right: str, pitch: int, begin: str, end: str) -> None:
        """Add up the terms from one to another."""
        c, code, kind, tile = self.c, self.code, self.kind, self.tile
        group, element = tile.down * tile.across, register_type(self.c.wide)
        with code.block(f"for ({kind} k0 = {begin}; k0 < {end}; k0 += {tile.terms})"):
            flat = f"((__local {element} *){right})" if tile.lanes > 1 else right
            self._copy("left", c.left, left, pitch, tile.high, "row0", self.m, end, group)
            self._copy("right", c.right, flat, tile.wide, tile.wide, "col0", self.n, end, group)
            code.line("barrier(CLK_LOCAL_MEM_FENCE);")
            with code.block(""):
                code.lines.append(CONTRACT)
                self._terms(left, right, pitch)
            code.line("barrier(CLK_LOCAL_MEM_FENCE);")

    def _copy(
        self, name: str, side: Side, local: str, pitch: int, size: int, first: str, limit: str,
        end: str, group: int,
    ) -> None:  # fmt: skip
        """Some terms of all rows or columns into local memory."""
        code, kind, terms = self.code, self.kind, self.tile.terms
        along = side.inner == 1 != side.outer
        inner = self.signature.number((name, "inner"), side.inner)
        outer = self.signature.number((name, "outer"), side.outer)
        base = [self.signature.pointer(self.region.source(side.operand), self.c.dtype)]
        for axis, (text, stride) in enumerate(zip(self.stack, side.stack, strict=True)):
            if text != "0" and stride:
                base.append(f"{text} * {self.signature.number((name, axis), stride)}")
        element = register_type(self.c.wide)
        with code.block(f"for (int x = lid; x < {size * terms}; x += {group})"):
            fast = terms if along else size
            place, other = f"x % {fast}", f"x / {fast}"
            k, r = (place, other) if along else (other, place)
            code.line(f"const int k = {k}, r = {r};")
            code.line(f"const {kind} line = {first} + r, term = k0 + k;")
            code.line(f"{element} value = {constant(0, self.c.wide).text};")
            with code.block(f"if (line < {limit} && term < {end})"):
                offsets = [t for t in (times("line", outer), times("term", inner)) if t != "0"]
                found = code.named(
                    read(" + ".join([*base, *offsets]), self.c.dtype, 1), self.c.dtype
                )
                code.line(f"value = {cast(code, found, self.c.wide).text};")
            code.line(f"{local}[k * {pitch} + r] = value;")

    def _terms(self, left: str, right: str, pitch: int) -> None:
        """What the work-items of a group add up between two copies."""
        code, tile, wide = self.code, self.tile, self.c.wide
        with code.block(f"for (int k = 0; k < {tile.terms}; ++k)"):
            vectors = []
            for j in range(tile.vectors):
                at = f"k * {tile.across * tile.vectors} + {j * tile.across} + tx"
                vectors.append(code.named(f"{right}[{at}]", wide, tile.lanes))
            for i in range(tile.rows):
                a = code.named(f"{left}[k * {pitch} + ty * {tile.rows} + {i}]", wide)
                for j, b in enumerate(vectors):
                    name = f"total[{i * tile.vectors + j}]"
                    term = product_of(code, a, b, self.c.zeros)
                    total = Var(name, wide, tile.lanes)
                    code.line(f"{name} = {arithmetic('+', term, total).text};")

    def _store(self) -> None:
        """What is computed of the sums of a work-item."""
        c, code, kind, tile = self.c, self.code, self.kind, self.tile
        code.lines.append("#pragma unroll")
        with code.block(f"for (int i = 0; i < {tile.rows}; ++i)"):
            code.line(f"const {kind} row = row0 + ty * {tile.rows} + i;")
            matrices = self.signature.number("matrices", c.matrices)
            place = "row"
            if c.matrices > 1 or self.parts > 1:
                place = f"(part * {matrices} + matrix) * {self.m} + row"
            code.line(f"const {kind} place = ({place}) * {self.n};")
            code.lines.append("#pragma unroll")
            with code.block(f"for (int j = 0; j < {tile.vectors}; ++j)"):
                code.line(f"const {kind} first = col0 + (j * {tile.across} + tx) * {tile.lanes};")
                if self.lanes == tile.lanes:
                    code.line(f"const {kind} {LANE} = first;")
                    head = f"if (row < {self.m} && {LANE} < {self.n})"
                else:
                    stop = f"min(first + {tile.lanes}, {self.n})"
                    code.line(f"const {kind} stop = row < {self.m} ? {stop} : 0;")
                    head = f"for ({kind} {LANE} = first; {LANE} < stop; ++{LANE})"
                with code.block(head):
                    if self.lanes > 1 and c.columns % self.lanes:
                        least = f"min({self.n} - {LANE}, ({kind}){self.lanes})"
                        code.line(f"const int count = (int){least};")
                        self.body.count = "count"
                    index: Index = (*self.stack, "row" if c.rows > 1 else "0", LANE)
                    for k, value in enumerate(self.region.outputs):
                        found = self.body.value(value, index)
                        out = self.signature.pointer(self.region.goal(k), found.dtype)
                        at = f"{out} + place + {LANE}"
                        store(code, at, found, self.lanes, self.body.count)

    def _product(self) -> Var:
        tile, wide = self.tile, self.c.wide
        at = f"i * {tile.vectors} + j"
        name = "whole" if self.deep else "total"
        if self.lanes == tile.lanes:
            found = Var(f"{name}[{at}]", wide, tile.lanes)
        else:
            elements = f"((const {register_type(wide)} *){name})"
            found = Var(f"{elements}[({at}) * {tile.lanes} + ({LANE} - first)]", wide)
        return rounded_to(self.code, found, self.region.types[self.c.product].dtype)
