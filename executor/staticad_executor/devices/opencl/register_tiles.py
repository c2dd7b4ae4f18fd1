"""Products by tiles in registers: a work-item computes some rows times some vectors of the result,
and several such tiles one after the other, while what they read is in its cache.

In tiles of rows the elements of the left meet vectors of the right that lie along its rows; in
tiles of dots vectors of both sides lie along the sum, and their lanes are added at last.  Long sums
are cut into chunks, whose sums are added to totals in private memory: that keeps rounding errors
small, and a chunk of the right in the first cache.  Where a tile sticks out below, it reads the
last row again; at the right it begins sooner, or reads what panels are filled up with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from staticad_schema.types import DType

from .body import LANE, Body, Index
from .choices import Choice
from .code import Code, Var
from .contraction import CONTRACTIONS, Contraction, Side, Which
from .elementwise import computed_dtypes, no_vector
from .lanes import CONTRACT
from .memory import load, read, store, stored_type
from .places import unravelled
from .region import Kernel, Pointer, Region, row_major, size_of
from .scalars import register_type
from .signature import Signature
from .target import WIDEST, Target, compute_size
from .typed import arithmetic, cast, choose, compare, constant, rounded, spread

# Work-items of a group on a GPU where each computes an element for itself.
_GROUP = 64
# Work-items that a product is shared by, if each then has so many terms to add up.
_SHARES, _LEAST = 16, 1 << 15


class RegisterTiles:
    """One kernel under construction.

    region: over the shape of the result; that of the contraction, or one that stores parts of it.
    left, right: scratch that holds panels of a side, if it was copied.
    """

    def __init__(
        self,
        c: Contraction,
        choice: Choice,
        target: Target,
        region: Region,
        left: Pointer | None,
        right: Pointer | None,
    ) -> None:
        self.c, self.choice, self.target, self.region = c, choice, target, region
        self.tile, self.wide = choice.tile, c.wide
        self.dots = choice.form == "dots"
        self.columns = choice.columns
        self.left, self.right = left, right
        self.lanes = self._lanes()
        self.signature = Signature(max(c.largest, choice.parts * size_of(c.shape)) + (1 << 16))
        self.body = Body(region, target, self.signature, self.lanes)
        self.body.bound[c.product] = lambda index: self._product()
        self.code, self.kind = self.body.code, self.signature.index_type
        self.deep = c.depth > choice.chunk
        # A tile's totals: vectors, or for dots elements.
        self.size = self.tile.rows * self.tile.vectors
        self.m = self.signature.number("rows", c.rows)
        self.n = self.signature.number("columns", c.columns)
        self.p = self.signature.number("depth", c.depth)

    def _lanes(self) -> int:
        """Lanes of what is computed of the result: as many bytes as vectors of tiles have."""
        widest = max([4, *map(compute_size, computed_dtypes(self.region))])
        lanes = max(1, min(WIDEST, self.tile.lanes * self.wide.itemsize // widest))
        while lanes > 1 and (self.columns % lanes or lanes > self.c.columns):
            lanes //= 2
        others = (s for s in self.region.steps if s.op not in CONTRACTIONS)
        plain = any(no_vector(self.region, s, lanes) for s in others)
        return 1 if plain else lanes

    def kernel(self, name: str) -> Kernel:
        """The kernel."""
        c, code, signature = self.c, self.code, self.signature
        down, across = -(-c.rows // self.tile.rows), -(-c.columns // self.columns)
        high, wide = self._spread(down, across)
        counts = [("down", -(-down // high)), ("across", -(-across // wide))]
        if self.target.many_items:
            # Neighbouring work-items take neighbouring columns; else they share those.
            counts.reverse()
        counts += [("matrix", c.matrices), ("part", self.choice.parts)]
        units = 1
        for _, count in counts:
            units *= count
        numbered(self.body, counts, units if self.target.many_items else None)
        self.stack = unravelled(self.body, "matrix", c.stack, "stack")
        begin, end = self._part()
        self._bases()
        self._spans(high, wide, down, across)
        self._totals()
        if self.deep:
            self._chunks(begin, end)
        with self._tiles():
            if not self.deep:
                code.line(f"const {self.kind} first = {begin};")
                text = self.p if begin == "0" else f"{end} - {begin}"
                self._accumulate(f"(int)({text})", "=")
            self._store()
        local = max(1, min(self.target.work_group, _GROUP, units)) if self.target.many_items else 1
        return signature.kernel(name, code, (-(-units // local) * local,), (local,))

    def _spread(self, down: int, across: int) -> tuple[int, int]:
        """The tiles of a work-item: fewer where there is little to share among them."""
        c = self.c
        high, wide = even(down, self.tile.high), even(across, self.tile.wide)
        whole = c.matrices * c.rows * c.columns * c.depth
        while high * wide > 1:
            units = c.matrices * self.choice.parts * -(-down // high) * -(-across // wide)
            if units >= _SHARES or whole < 2 * _LEAST * units:
                break
            if high >= wide:
                high = even(down, -(-high // 2))
            else:
                wide = even(across, -(-wide // 2))
        return high, wide

    def _part(self) -> tuple[str, str]:
        if self.choice.parts == 1:
            return "0", self.p
        each = self.signature.number("part", self.choice.part_length(self.c.depth))
        self.code.line(f"const {self.kind} begin = part * {each};")
        self.code.line(f"const {self.kind} end = min(begin + {each}, {self.p});")
        return "begin", "end"

    # ---------------------------------------------------------------- where things are

    def _bases(self) -> None:
        """The beginnings of both sides of this matrix."""
        c = self.c
        for name, side, panels, lines, count in (
            ("left", c.left, self.left, self.tile.rows, c.rows),
            ("right", c.right, self.right, self.columns, c.columns),
        ):
            dtype = self.wide if panels else c.dtype
            base = self.signature.pointer(panels or self.region.source(side.operand), dtype)
            terms = [base]
            if panels is None:
                for axis, (text, stride) in enumerate(zip(self.stack, side.stack, strict=True)):
                    if text != "0" and stride:
                        factor = self.signature.number((name, axis), stride)
                        terms.append(f"{text} * {factor}")
            else:
                own = c.own_stack(side)
                padded = -(-count // lines) * lines * c.depth
                for axis, step in enumerate(row_major(own)):
                    if own[axis] != 1:
                        factor = self.signature.number((name, "panels", axis), step * padded)
                        terms.append(f"{self.stack[axis]} * {factor}")
            kind = stored_type(dtype)
            self.code.line(f"const __global {kind} *{name} = {' + '.join(terms)};")

    def _spans(self, high: int, wide: int, down: int, across: int) -> None:
        """Which tiles of the result are this work-item's."""
        for name, most, total in (("down", high, down), ("across", wide, across)):
            each = self.signature.number(("tiles", name), most)
            count = self.signature.number(("all tiles", name), total)
            self.code.line(f"const {self.kind} {name}0 = {name} * {each};")
            least = f"min(({self.kind}){each}, {count} - {name}0)"
            self.code.line(f"const int {name}n = (int){least};")

    def _totals(self) -> None:
        lanes = 1 if self.dots else self.tile.lanes
        kind = register_type(self.wide, lanes)
        tiles = self.tile.high * self.tile.wide if self.deep else 1
        # A tile that begins sooner is read to behind its end.
        spare = self.right is None and not self.dots
        self.code.line(f"{kind} total[{self.size * tiles + spare}];")
        if self.deep:
            zero = spread(constant(0, self.wide), lanes)
            head = f"for (int x = 0; x < acrossn * {self.tile.high * self.size}; ++x)"
            self.code.line(f"{head} total[x] = {zero};")

    @contextmanager
    def _tiles(self) -> Iterator[None]:
        """One tile after the other: its first row and column, and its totals."""
        code, kind = self.code, self.kind
        with code.block("for (int j = 0; j < acrossn; ++j)"):
            code.line(f"const {kind} col = (across0 + j) * {self.columns};")
            code.line(f"const {kind} start = {self._start()};")
            with code.block("for (int i = 0; i < downn; ++i)"):
                code.line(f"const {kind} row = (down0 + i) * {self.tile.rows};")
                lanes = 1 if self.dots else self.tile.lanes
                at = f" + (j * {self.tile.high} + i) * {self.size}" if self.deep else ""
                code.line(f"{register_type(self.wide, lanes)} *here = total{at};")
                yield

    def _start(self) -> str:
        """The first column that a tile reads."""
        if self.right is not None or self.dots:
            return "col"
        return f"min(col, ({self.kind})({self.n} - {self.columns}))"

    # ---------------------------------------------------------------- sums

    def _chunks(self, begin: str, end: str) -> None:
        chunk = self.choice.chunk
        with self.code.block(f"for ({self.kind} first = {begin}; first < {end}; first += {chunk})"):
            self.code.line(f"const int terms = (int)min(({self.kind}){chunk}, {end} - first);")
            with self._tiles():
                self._accumulate("terms", "+=")

    def _accumulate(self, terms: str, operator: str) -> None:
        """Sum so many terms of a tile from `first` on."""
        code, tile = self.code, self.tile
        lanes = tile.lanes
        kind = register_type(self.wide, lanes)
        zero = spread(constant(0, self.wide), lanes)
        names = [[f"c{i}_{j}" for j in range(tile.vectors)] for i in range(tile.rows)]
        for line in names:
            code.line(f"{kind} {', '.join(f'{name} = {zero}' for name in line)};")
        lefts = self._lines("left", self.c.left, self.left, tile.rows, "row", self.m)
        if self.dots:
            rights = self._lines("right", self.c.right, None, tile.vectors, "col", self.n)
        else:
            rights = self._vectors()
        with code.block(""):
            code.lines.append(CONTRACT)
            if self.dots:
                self._dots(terms, names, lefts, rights)
            else:
                with code.block(f"for (int k = 0; k < {terms}; ++k)"):
                    self._terms(names, lefts, rights, None)
        for i, line in enumerate(names):
            for j, name in enumerate(line):
                found = Var(name, self.wide, lanes)
                if self.dots:
                    found = folded(code, found)
                there = f"here[{i * tile.vectors + j}]"
                if operator == "+=":
                    known = Var(there, self.wide, found.lanes)
                    found = Var(arithmetic("+", known, found).text, self.wide, found.lanes)
                code.line(f"{there} = {found.text};")

    def _lines(
        self, name: str, side: Side, panels: Pointer | None, count: int, first: str, size: str
    ) -> list[str]:
        """Pointers to the first terms of some rows of the left, or columns of the right."""
        code = self.code
        inner = self.signature.number((name, "inner"), side.inner)
        if panels is not None:
            place = f"(({first} / {count}) * {self.p} + first) * {count}"
            code.line(f"const __global {stored_type(self.wide)} *{name}_ = {name} + {place};")
            return [f"{name}_ + k * {count} + {i}" for i in range(count)]
        outer = self.signature.number((name, "outer"), side.outer)
        found = []
        for i in range(count):
            at = first if i == 0 else f"min({first} + {i}, {size} - 1)"
            terms = [name, f"{at} * {outer}", times("first", inner)]
            if outer == "0":
                del terms[1]
            kind = stored_type(self.c.dtype)
            code.line(f"const __global {kind} *{name}{i} = {' + '.join(terms)};")
            found.append(f"{name}{i} + {times('k', inner)}")
        return found

    def _vectors(self) -> list[str]:
        """Pointers to the vectors of the right."""
        tile, side = self.tile, self.c.right
        inner = self.signature.number(("right", "inner"), side.inner)
        if self.right is not None:
            place = f"((col / {self.columns}) * {self.p} + first) * {self.columns}"
            inner, kind, apart = str(self.columns), stored_type(self.wide), "1"
        else:
            apart = self.signature.number(("right", "outer"), side.outer)
            place = f"{times('start', apart)} + {times('first', inner)}"
            kind = stored_type(self.c.dtype)
        self.code.line(f"const __global {kind} *right_ = right + {place};")
        ends = ["" if j == 0 else f" + {times(str(j * tile.lanes), apart)}" for j in
                range(tile.vectors)]  # fmt: skip
        return [f"right_ + {times('k', inner)}{end}" for end in ends]

    def _dots(
        self, terms: str, names: list[list[str]], lefts: list[str], rights: list[str]
    ) -> None:
        lanes = self.tile.lanes
        self.code.line("int k = 0;")
        head = (
            f"for (; k + {lanes} <= {terms}; k += {lanes})"
            if lanes > 1
            else (f"for (; k < {terms}; ++k)")
        )
        with self.code.block(head):
            self._terms(names, lefts, rights, None)
        if lanes > 1 and self.c.depth % lanes:
            with self.code.block(f"if (k < {terms})"):
                self.code.line(f"const int rest = {terms} - k;")
                self._terms(names, lefts, rights, "rest")

    def _terms(
        self, names: list[list[str]], lefts: list[str], rights: list[str], count: str | None
    ) -> None:
        """One term of each sum of a tile, or a vector of terms."""
        code, lanes = self.code, self.tile.lanes
        apart = "1"
        if not self.dots and self.right is None:
            apart = self.signature.number(("right", "outer"), self.c.right.outer)
        right_type = self.wide if self.right else self.c.dtype
        b = [self._loaded(text, right_type, lanes, apart, count) for text in rights]
        left_type = self.wide if self.left else self.c.dtype
        for line, text in zip(names, lefts, strict=True):
            a = self._loaded(text, left_type, lanes if self.dots else 1, "1", count)
            for name, other in zip(line, b, strict=True):
                product = product_of(code, a, other, self.c.zeros)
                total = Var(name, self.wide, lanes)
                code.line(f"{name} = {arithmetic('+', product, total).text};")

    def _loaded(self, text: str, dtype: DType, lanes: int, stride: str, count: str | None) -> Var:
        code = self.code
        if lanes == 1:
            return cast(code, code.named(read(text, dtype, 1), dtype), self.wide)
        return cast(code, load(code, text, dtype, lanes, stride, count), self.wide)

    # ---------------------------------------------------------------- results

    def _store(self) -> None:
        """The rows of a tile, and what is computed of them."""
        c, code, kind = self.c, self.code, self.kind
        rows = self.tile.rows
        row = "row" if rows == 1 else "y"
        lanes = 1 if self.dots else self.tile.lanes
        element = register_type(self.wide)
        with code.block(
            f"for (int r = 0; r < (int)min(({kind}){rows}, {self.m} - row); ++r)"
            if rows > 1
            else ""
        ):
            if rows > 1:
                code.line(f"const {kind} y = row + r;")
            at = f" + r * {self.tile.vectors * lanes}" if rows > 1 else ""
            code.line(f"const {element} *line = (const {element} *)here{at};")
            place = row
            if c.matrices > 1 or self.choice.parts > 1:
                matrices = self.signature.number("matrices", c.matrices)
                place = f"(part * {matrices} + matrix) * {self.m} + {row}"
            code.line(f"const {kind} place = ({place}) * {self.n};")
            code.line(f"const {kind} stop = min(col + {self.columns}, {self.n});")
            with code.block(f"for ({kind} {LANE} = col; {LANE} < stop; {LANE} += {self.lanes})"):
                if self.lanes > 1 and c.columns % self.lanes:
                    code.line(f"const int count = (int)min(stop - {LANE}, ({kind}){self.lanes});")
                    self.body.count = "count"
                index: Index = (*self.stack, row if c.rows > 1 else "0", LANE)
                for k, value in enumerate(self.region.outputs):
                    found = self.body.value(value, index)
                    out = self.signature.pointer(self.region.goal(k), found.dtype)
                    store(code, f"{out} + place + {LANE}", found, self.lanes, self.body.count)

    def _product(self) -> Var:
        code, dtype = self.code, self.region.types[self.c.product].dtype
        at = f"line + ({LANE} - start)"
        found = code.named(read(at, self.wide, self.lanes, "__private"), self.wide, self.lanes)
        return rounded_to(code, found, dtype)


def product_of(code: Code, a: Var, b: Var, zeros: Which | None) -> Var:
    """a times b; beside a 0 that adds nothing the other one counts as 0."""
    zero = constant(0, a.dtype)
    if zeros == "left":
        b = choose(code, compare("!=", a, zero), b, zero)
    elif zeros == "right":
        a = choose(code, compare("!=", b, zero), a, zero)
    return arithmetic("*", a, b)


def rounded_to(code: Code, total: Var, dtype: DType) -> Var:
    """A sum as the dtype of the product holds it."""
    return cast(code, total, dtype) if total.dtype != dtype else rounded(code, total)


def folded(code: Code, x: Var) -> Var:
    """The sum of a vector's lanes, by halves."""
    lanes = x.lanes
    if lanes == 1:
        return x
    name = f"sum_{register_type(x.dtype, lanes)}"
    kinds = [register_type(x.dtype, n) for n in (16, 8, 4, 2, 1) if n <= lanes]
    lines = []
    text = "x"
    for k, kind in enumerate(kinds[1:]):
        lines.append(f"  const {kind} s{k} = {text}.lo + {text}.hi;\n")
        text = f"s{k}"
    code.function(
        name, f"\n{kinds[-1]} {name}(const {kinds[0]} x) {{\n{''.join(lines)}  return {text};\n}}\n"
    )
    return code.named(f"{name}({x.text})", x.dtype)


def times(text: str, factor: str) -> str:
    """The text of a product with what may be 0 or 1."""
    if "0" in (text, factor):
        return "0"
    return text if factor == "1" else f"{text} * {factor}"


def even(count: int, most: int) -> int:
    """How many tiles of so many a work-item takes, so that all take about as many."""
    if count <= most:
        return max(1, count)
    return -(-count // -(-count // most))


def numbered(
    body: Body, counts: Sequence[tuple[str, int]], units: int | None, unit: str = "get_global_id(0)"
) -> None:
    """Variables that say which of each a work-item is, the first of which neighbours differ in.

    units: where there may be more work-items, which then do nothing.
    """
    code, kind, signature = body.code, body.signature.index_type, body.signature
    code.line(f"const {kind} unit = {unit};")
    if units is not None:
        code.line(f"if (unit >= {signature.number('units', units)}) return;")
    real = [name for name, size in counts if size > 1]
    rest = "unit"
    for name, size in counts:
        if size <= 1:
            code.line(f"const {kind} {name} = 0;")
        elif name == real[-1]:
            code.line(f"const {kind} {name} = {rest};")
        else:
            count = signature.number(("count", name), size)
            code.line(f"const {kind} {name} = {rest} % {count};")
            rest = code.index(f"{rest} / {count}", kind)
