"""Stage 8: a list of bound calls.

Each instruction becomes `(function, pick)`, run as `function(*pick(cells))`: no graph, no
dictionary and no name is left; what is the same in every run is picked once for a workspace.  No
text is generated, so nothing in a file can become code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from staticad_schema.graph import Graph
from staticad_schema.types import UINT8, Array, TensorType, nbytes

from ..devices.base import HOST
from ..devices.numpy.elementwise import Elementwise
from ..devices.numpy.kernels import Kernel
from ..devices.numpy.region import Region
from ..plan import Account, Call, MemoryUse, Plan, Step, Workspace, memory_use, picking, workspace
from ..pool import PAGE
from .assign import Assigned, Cell, Instruction
from .fuse import Fused
from .launches import ELSEWHERE, Queues
from .moves import Transfer
from .synchronize import synchronized

if TYPE_CHECKING:
    from ..devices.opencl.device import OpenCLDevice

# Cancelling is looked for this often; a call on small arrays takes about half a microsecond.
CHUNK_CALLS = 64
# A call that moves more bytes than this is a chunk of its own.
CHUNK_BYTES = 1 << 20


def emit(
    assigned: Assigned,
    threads: int,
    notes: Callable[[], Sequence[str]] = tuple,
    devices: Mapping[str, OpenCLDevice] | None = None,
) -> Plan:
    """The plan of assigned instructions.  notes: what the compiler has to tell.  devices: those
    beside NumPy, by name.  Raises ExecutionError where a kernel does not build."""
    limits = {name: device.parameter_bytes for name, device in (devices or {}).items()}
    assigned = synchronized(assigned, limits)
    cells = list(assigned.cells)
    queues = Queues(devices or {}, assigned, cells)
    graph = _bound_graph(assigned)
    program = assigned.bound.grouped.program
    regions: list[tuple[int, Region]] = []
    # The cells of the token, for kernels that look at it.
    tokens: list[int] = []
    # Instructions that are alike share what runs them.
    leased: dict[int, int] = {}
    shared: dict[int, Callable[..., Any]] = {}
    calls: list[Call] = []
    owners: list[tuple[int, ...]] = []
    algorithms: list[str] = []
    for item in assigned.instructions:
        chosen = item.kernel
        if isinstance(chosen, Fused):
            if 0 in chosen.rows:
                calls.append((_nothing, picking(())))
                algorithms.append("empty")
            else:
                region = chosen.region(threads, _early(item, assigned.cells))
                registers = leased.get(id(region))
                if registers is None:
                    registers = leased[id(region)] = len(cells)
                    regions.append((registers, region))
                    cells.append(Cell("constant", TensorType(np.dtype(np.uint8), ()), -1))
                calls.append((region, picking((registers, *item.reads, *item.writes))))
                algorithms.append(region.text())
        elif isinstance(chosen, ELSEWHERE):
            call, text = queues.call(item)
            calls.append(call)
            algorithms.append(text)
        else:
            pick = picking(item.reads + item.writes)
            if isinstance(chosen, Elementwise):
                calls.append((chosen.function, pick))
                algorithms.append("ufunc" if chosen.native else "meaning")
            else:
                function = shared.get(id(chosen))
                if function is None:
                    function = shared[id(chosen)] = chosen.for_threads(threads)
                if chosen.watches:
                    if not tokens:
                        tokens.append(len(cells))
                        cells.append(Cell("constant", TensorType(np.dtype(np.uint8), ()), -1))
                    pick = picking((*tokens, *item.reads, *item.writes))
                calls.append((function, pick))
                algorithms.append(chosen.text(threads))
        owners.append(item.nodes or (owners[-1] if owners else (0,)))
    prologue, fixed, views = _initial(cells)
    scratch = max((r.scratch_bytes for _, r in regions), default=0)
    own = assigned.arenas[HOST]
    slot_cells = [(k, c) for k, c in enumerate(cells) if c.kind == "slot" and c.space == HOST]
    workers = max((r.threads for _, r in regions), default=0)
    chunks = _chunks(calls, assigned, cells)

    def build_workspace() -> Workspace:
        arrays = list(fixed)
        arena = _aligned_bytes(own.nbytes)
        for k, cell in slot_cells:
            shape: Any = cell.type.shape
            arrays[k] = np.ndarray(shape, cell.type.dtype, arena, own.offsets[cell.at])
        for k, at, look in views:
            arrays[k] = look(arrays[at])
        token: list[Any] = [None]
        memory = [_aligned_bytes(scratch) for _ in range(workers)]
        for k, region in regions:
            arrays[k] = region.lease(memory, token)
        for k in tokens:
            arrays[k] = token
        queues.fill(arrays, arena)
        return workspace(chunks, arrays, token)

    return Plan(
        graph=graph,
        input_types=tuple(graph.types[s.value] for s in program.sources),
        output_types=tuple(graph.types[v] for v in program.outputs),
        prologue=tuple(prologue),
        chunks=chunks,
        owners=tuple(owners),
        speaks=bool(program.effects),
        build_workspace=build_workspace,
        workspace_bytes=assigned.arena_bytes + workers * scratch,
        temporary_bytes=max(map(_temporaries, assigned.instructions), default=0),
        slot_bytes=assigned.arena_bytes,
        make_notes=notes,
        make_account=lambda: Account(
            _steps(assigned, algorithms), _memory(assigned, graph), assigned.value_bytes
        ),
        idle=[],
        settle=queues.settle,
        translated=queues.translated,
        on_host=queues.on_host(),
        lenders=queues.lenders(),
    )


def _nothing() -> None:
    """What an empty region does."""


def _bound_graph(assigned: Assigned) -> Graph:
    """The program's graph, with static types for error messages."""
    bound = assigned.bound
    graph = bound.grouped.program.graph
    if bound.types == graph.types:
        return graph
    static = Graph(graph.seed)
    static.nodes, static.producers, static.sites = graph.nodes, graph.producers, graph.sites
    static.types = bound.types
    return static


def _early(item: Instruction, cells: Sequence[Cell]) -> tuple[bool, ...]:
    """For each result whether it may be there before all operands are read: not in the place of
    one of them."""
    read = {_place_of(cells, k) for k in item.reads}
    return tuple([_place_of(cells, k) not in read for k in item.writes])


def _place_of(cells: Sequence[Cell], index: int) -> tuple[str, tuple[str, int]]:
    """The memory of a cell: a slot, a source, or an output, and which one of its space."""
    while cells[index].kind == "view":
        index = cells[index].at
    return cells[index].kind, (cells[index].space, cells[index].at)


def _initial(
    cells: Sequence[Cell],
) -> tuple[list[tuple[int, int, Any]], list[Any], list[tuple[int, int, Any]]]:
    """(views to take at each run, arrays that are always the same, views to take once)."""
    prologue: list[tuple[int, int, Any]] = []
    views: list[tuple[int, int, Any]] = []
    arrays: list[Any] = [None] * len(cells)
    given = bytearray(len(cells))
    for k, cell in enumerate(cells):
        if cell.space != HOST:
            continue
        if cell.kind == "constant":
            arrays[k] = cell.payload
        elif cell.kind in ("source", "output"):
            given[k] = 1
        elif cell.kind == "view":
            if given[cell.at]:
                given[k] = 1
                prologue.append((k, cell.at, cell.payload))
            else:
                views.append((k, cell.at, cell.payload))
    return prologue, arrays, views


def _aligned_bytes(count: int) -> Array:
    """Page-aligned memory."""
    memory = np.empty(count + PAGE, np.uint8)
    shift = -memory.ctypes.data % PAGE
    return memory[shift : shift + count]


def _chunks(
    calls: Sequence[Call], assigned: Assigned, cells: Sequence[Cell]
) -> tuple[tuple[Call, ...], ...]:
    chunks: list[tuple[Call, ...]] = []
    current: list[Call] = []
    heavy = 0
    large: dict[int, int] = {}
    for call, item in zip(calls, assigned.instructions, strict=True):
        current.append(call)
        for k in item.writes:
            size = large.get(k)
            if size is None:
                size = large[k] = nbytes(cells[k].type)
            heavy += size
        if len(current) >= CHUNK_CALLS or heavy > CHUNK_BYTES:
            chunks.append(tuple(current))
            current, heavy = [], 0
    if current:
        chunks.append(tuple(current))
    return tuple(chunks)


def _steps(assigned: Assigned, algorithms: Sequence[str]) -> tuple[Step, ...]:
    """The instructions gathered into steps."""
    grouped = assigned.bound.grouped
    leaving = {v for g in grouped.groups for v in g.outputs} | set(grouped.program.outputs)
    steps: list[Step] = []
    items = assigned.instructions
    start = 0
    while start < len(items):
        stop = start + 1
        while stop < len(items) and items[stop].step == items[start].step:
            stop += 1
        mine = items[start:stop]
        nodes = tuple(i for item in mine for i in item.nodes)
        # Of a step of many calls only what comes from outside and what leaves is told.
        reads: dict[int, None] = {}
        written: set[int] = set()
        writes: set[int] = set()
        for item in mine:
            reads.update(dict.fromkeys(c for c in item.reads if c not in written))
            written.update(item.writes)
            both = zip(item.writes, item.values, strict=True)
            writes.update(c for c, value in both if value in leaving)
        names = list(dict.fromkeys(algorithms[start:stop]))
        label = f"{len(mine)} calls of " if len(mine) > 1 else ""
        steps.append(
            Step(
                assigned.kinds[items[start].step], _device(mine[0]),
                nodes, label + ", ".join(names),
                tuple(assigned.cell_text(c) for c in [*reads][:8]),
                tuple(assigned.cell_text(c) for c in sorted(writes)),
                range(start, stop), max(assigned.live[start:stop]),
            )
        )  # fmt: skip
        start = stop
    return tuple(steps)


def _device(item: Instruction) -> str:
    """Where an instruction runs; a copy, where it goes to, or else comes from."""
    if isinstance(item.kernel, Transfer):
        return item.kernel.source if item.kernel.target == HOST else item.kernel.target
    return item.kernel.device if isinstance(item.kernel, ELSEWHERE) else "numpy"


def _temporaries(item: Instruction) -> int:
    """What a call takes beyond scratch while it runs."""
    return item.kernel.temporary_bytes if isinstance(item.kernel, Kernel) else 0


def _memory(assigned: Assigned, graph: Graph) -> tuple[MemoryUse, ...]:
    """The values that are live when the most scratch is in use, the largest first."""
    if not assigned.live:
        return ()
    items = assigned.instructions
    taken = list(map(_temporaries, items))
    worst = max(range(len(items)), key=lambda k: assigned.live[k] + taken[k])
    holder: dict[tuple[str, int], tuple[int, TensorType]] = {}
    for item in items[: worst + 1]:
        for c, value in zip(item.writes, item.values, strict=True):
            cell = assigned.cells[c]
            while cell.kind == "view":
                cell = assigned.cells[cell.at]
            if cell.kind == "slot":
                holder[cell.space, cell.at] = graph.producers[value], cell.type
    used: set[tuple[str, int]] = set()
    written: set[tuple[str, int]] = set()
    for position, item in enumerate(items[worst:]):
        for c in item.reads:
            kind, at = _place_of(assigned.cells, c)
            if kind == "slot" and at not in written:
                used.add(at)
        kinds = [_place_of(assigned.cells, c) for c in item.writes]
        own = {at for kind, at in kinds if kind == "slot"}
        if position:
            written |= own
        else:
            used |= own
    uses = []
    for slot, (index, type_) in holder.items():
        if slot in used:
            uses.append(memory_use(graph, index, type_))
    if taken[worst]:
        size = TensorType(UINT8, (taken[worst],))
        within = memory_use(graph, items[worst].nodes[0], size)
        uses.append(within._replace(op=f"temporaries of {within.op}"))
    return tuple(sorted(uses, key=lambda use: -use.nbytes))
