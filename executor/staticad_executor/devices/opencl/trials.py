"""The tiles of products timed on a device: what a file of tiles is made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, FLOAT64, Array, DType, TensorType

from .choices import Choice, chosen, vector_lanes
from .commands import Commands, built
from .contraction import Contraction, contraction
from .device import OpenCLDevice
from .local_tiles import LOCAL_TILES, fitted
from .products import grouped, tiled
from .region import Operand, Place, Pointer, Recipe, Region, Step
from .target import Target
from .tuning import LocalTile, Tile, Tiling

# The product of three axes of this size is large enough to fill any processor.
_SIZE = 512
_ROWS = ((6, 2), (4, 2), (8, 2), (12, 2), (4, 3), (8, 1), (12, 1))
_DOTS = ((4, 3), (3, 3), (4, 2), (2, 4), (4, 4))
_BLOCKS = ((8, 4), (8, 2), (4, 4))


class Trial(NamedTuple):
    """A tile of a form for a dtype of sums, and how long the product took at best."""

    form: str
    dtype: str
    tile: Tile | LocalTile
    seconds: float


def trials(device: OpenCLDevice, repeats: int = 10) -> Iterator[Trial]:
    """Each tile that the device might be fastest with, timed.  Raises ExecutionError."""
    target = device.target
    for dtype in (FLOAT32, FLOAT64):
        if not target.holds(dtype):
            continue
        plain, turned = _square(dtype, turned=False), _square(dtype, turned=True)
        if target.many_items:
            for local in _locals(plain, target):
                recipe = grouped(plain, local, target, "trial")
                yield Trial("local", dtype.name, local, _timed(device, plain, recipe, repeats))
            continue
        for form, c in (("rows", plain), ("dots", turned)):
            for choice in _choices(form, c, target):
                recipe = tiled(c, choice, target, "trial")
                seconds = _timed(device, c, recipe, repeats)
                yield Trial(form, dtype.name, choice.tile, seconds)


def best(found: list[Trial], device: OpenCLDevice, source: str) -> Tiling:
    """The fastest tile of each form and dtype."""
    fastest: dict[tuple[str, str], Trial] = {}
    for trial in found:
        known = fastest.get((trial.form, trial.dtype))
        if known is None or trial.seconds < known.seconds:
            fastest[trial.form, trial.dtype] = trial
    rows: dict[str, Tile] = {}
    dots: dict[str, Tile] = {}
    local: dict[str, LocalTile] = {}
    for (form, dtype), trial in fastest.items():
        if isinstance(trial.tile, LocalTile):
            local[dtype] = trial.tile
        else:
            (rows if form == "rows" else dots)[dtype] = trial.tile
    told = device.runtime.found
    return Tiling(source, rows, dots, local, told.name, told.driver)


def operations() -> int:
    """Products and sums of a trial."""
    return 2 * _SIZE**3


def _choices(form: str, c: Contraction, target: Target) -> Iterator[Choice]:
    most = vector_lanes(c, target)
    usual = chosen(c, target)
    if form == "dots":
        for rows, vectors in _DOTS:
            yield Choice("dots", Tile(rows, vectors, most, 8, 8))
        return
    # Where the driver does not say how long vectors are, longer ones may be faster.
    lanes = [most] if target.vector_bytes >= 16 else [most, 2 * most]
    for n in lanes:
        for rows, vectors in _ROWS:
            for high, wide in _BLOCKS if vectors == 2 else _BLOCKS[:1]:
                yield usual._replace(tile=Tile(rows, vectors, n, high, wide), packs_right=True)


def _locals(c: Contraction, target: Target) -> Iterator[LocalTile]:
    seen = set()
    for tile in LOCAL_TILES:
        for terms in (8, 16, 32):
            found = fitted(tile._replace(terms=terms), c, target)
            if found is not None and found not in seen:
                seen.add(found)
                yield found


def _square(dtype: DType, *, turned: bool) -> Contraction:
    """A product of square matrices, the right one as it lies or turned."""
    shape = (_SIZE, _SIZE)
    right = Operand(dtype, shape, (1, _SIZE)) if turned else Operand.contiguous(dtype, shape)
    operands = (Operand.contiguous(dtype, shape), right)
    complete = OPS["matmul"].attributes({})
    step = Step("matmul", complete, (0, 1), (TensorType(dtype, shape),))
    return contraction(Region(operands, (step,), (2,)))


def _timed(device: OpenCLDevice, c: Contraction, recipe: Recipe, repeats: int) -> float:
    """Seconds of the fastest of some runs."""
    size = _SIZE * _SIZE * c.dtype.itemsize
    sizes = {Pointer("operand", 0): size, Pointer("operand", 1): size, Pointer("output", 0): size}
    sizes |= {Pointer("scratch", k): n for k, n in enumerate(recipe.scratch)}
    arrays: list[Array] = [np.zeros(n, np.uint8) for n in sizes.values()]
    memories = {k: device.filled(array) for k, array in enumerate(arrays)}
    places = {pointer: Place(k, 0) for k, pointer in enumerate(sizes)}
    commands = Commands(device, memories, ())
    run: Callable[[], object] = commands.enqueued(built(device, recipe, places))
    run()
    device.runtime.finish()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        device.runtime.finish()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
