"""Nodes with bodies on NumPy: one kernel each, which runs the plans of the bodies.

Which plans follows from the shapes of the operands, as all plans do.  What an iteration gives is
written where it belongs: into its place of what is stacked, and the carry into one of two sets of
arrays in turn, of which the results are one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.calls import inner_path
from staticad_schema.errors import CancelledError
from staticad_schema.node import Node
from staticad_schema.shapes import bind_shape
from staticad_schema.types import UINT32, Array, TensorType, nbytes

from ..devices.numpy.kernels import Kernel
from ..entering import branch
from ..failure import InBodyError
from ..plan import Plan
from .bind import Bound
from .lowered import Lowered
from .on_numpy import OnNumpy
from .running import NaiveRunning, PlanRunning, Running

Token = list[threading.Event | None]
Shapes = tuple[tuple[int, ...], ...]


class _Part(NamedTuple):
    """A body with the plan for these shapes of its inputs; None if it finds sizes."""

    body: Lowered
    plan: Plan | None
    sizes: dict[str, int]

    def start(self, cancel: threading.Event | None) -> Running:
        """Ready to run."""
        if self.plan is None:
            return NaiveRunning(self.body, self.sizes, cancel)
        return PlanRunning(self.plan, cancel)

    @property
    def scratch_bytes(self) -> int:
        """What a run of it needs."""
        return 0 if self.plan is None else self.plan.peak_bytes


def write_bodies(on_numpy: OnNumpy, index: int) -> None:
    """The instruction of a node with bodies."""
    node = on_numpy.graph.nodes[index]
    reads = tuple([on_numpy.contiguous(v) for v in node.inputs])
    on_numpy.add((index,), reads, tuple(node.outputs), _kernel(on_numpy.bound, index, node))


def _kernel(bound: Bound, index: int, node: Node) -> Kernel:
    program = bound.grouped.program
    bodies = [program.graph.functions[name] for name in node.calls]
    operands = [_static(bound.types[v]) for v in node.inputs]
    outputs = [_static(bound.types[v]) for v in node.outputs]
    attributes = bound.node_attributes(index)
    name = program.graph.node_name(index)
    function, parts, beside = _MAKERS[node.op](bound, name, bodies, operands, outputs, attributes)
    taken = max((part.scratch_bytes for part in parts), default=0) + beside
    of = ", ".join(f"{part.body.name!r}" for part in parts)
    return Kernel(function, True, f"bodies {of}", taken, watches=True)


class _Type(NamedTuple):
    """A type without symbols."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def nbytes(self) -> int:
        return nbytes(TensorType(self.dtype, self.shape))

    def empty(self) -> Array:
        """An array of the type."""
        return np.empty(self.shape, self.dtype)


def _static(type_: TensorType) -> _Type:
    return _Type(bind_shape(type_.shape, {}), type_.dtype)


def _part(bound: Bound, body: Any, shapes: Shapes) -> _Part:
    structure = body.made.get("structure")
    if structure is None:
        return _Part(body, None, bound.sizes)

    def make(key: tuple[Shapes, tuple[tuple[str, int], ...]]) -> Plan:
        plan: Plan = structure.plan(key[0], dict(key[1]))
        return plan

    plan = body.plans.get((shapes, tuple(sorted(bound.sizes.items()))), make)
    return _Part(body, plan, bound.sizes)


def _look(token: Token) -> threading.Event | None:
    return token[0]


def _go_on(cancel: threading.Event | None) -> None:
    if cancel is not None and cancel.is_set():
        raise CancelledError("the run was cancelled", asked="run")


Made = tuple[Callable[..., None], Sequence[_Part], int]


def _switch(
    bound: Bound,
    name: str,
    bodies: Sequence[Any],
    operands: Sequence[_Type],
    outputs: Sequence[_Type],
    attributes: Mapping[str, Any],
) -> Made:
    shapes = tuple(o.shape for o in operands[1:])
    parts = [_part(bound, body, shapes) for body in bodies]
    count = len(operands)

    def run(token: Token, index: Array, *arrays: Array) -> None:
        running = parts[branch(index, len(parts))].start(_look(token))
        try:
            running.run(arrays[: count - 1], arrays[count - 1 :])
        except InBodyError as error:
            error.within.insert(0, name)
            raise
        running.close()

    return run, parts, 0


def _while(
    bound: Bound,
    name: str,
    bodies: Sequence[Any],
    operands: Sequence[_Type],
    outputs: Sequence[_Type],
    attributes: Mapping[str, Any],
) -> Made:
    shapes = tuple(o.shape for o in operands)
    condition, body = (_part(bound, each, shapes) for each in bodies)
    carried, count = attributes["carried"], len(operands)
    draws = body.body.takes_path
    carry_types = outputs[:carried]

    def run(token: Token, *arrays: Array) -> None:
        cancel = _look(token)
        carry: Sequence[Array] = arrays[:carried]
        rest = list(arrays[carried:count])
        finals, trips = arrays[count:-1], arrays[-1]
        spare: Sequence[Array] | None = None
        path = int(rest[-1]) if draws else 0
        flag = np.empty((), np.bool_)
        asking, running = condition.start(cancel), body.start(cancel)
        done = 0
        try:
            while True:
                _go_on(cancel)
                if draws:
                    rest[-1] = np.array(inner_path(path, done), UINT32)
                given = [*carry, *rest]
                asking.run(given, (flag,))
                if not flag:
                    break
                if carry is finals:
                    if spare is None:
                        spare = [t.empty() for t in carry_types]
                    target = spare
                else:
                    target = finals
                running.run(given, target)
                carry = target
                done += 1
        except InBodyError as error:
            error.within.insert(0, f"{name}[{done}]")
            raise
        asking.close()
        running.close()
        if carry is not finals:
            for final, array in zip(finals, carry, strict=True):
                np.copyto(final, array)
        trips[...] = done

    return run, (condition, body), sum(t.nbytes for t in carry_types)


def _scan(
    bound: Bound,
    name: str,
    bodies: Sequence[Any],
    operands: Sequence[_Type],
    outputs: Sequence[_Type],
    attributes: Mapping[str, Any],
) -> Made:
    carried, sequences = attributes["carried"], attributes["sequences"]
    length, backwards = attributes["length"], attributes["reverse"]
    count, behind = len(operands), carried + sequences
    shapes = (
        *(o.shape for o in operands[:carried]),
        *(o.shape[1:] for o in operands[carried:behind]),
        *(o.shape for o in operands[behind:]),
    )
    body = _part(bound, bodies[0], shapes)
    draws = body.body.takes_path
    carry_types = outputs[:carried]

    def run(token: Token, *arrays: Array) -> None:
        cancel = _look(token)
        carry: Sequence[Array] = arrays[:carried]
        wholes, rest = arrays[carried:behind], list(arrays[behind:count])
        finals, stacks = arrays[count : count + carried], arrays[count + carried :]
        if not length:
            for final, array in zip(finals, carry, strict=True):
                np.copyto(final, array)
            return
        spare = [t.empty() for t in carry_types] if length > 1 else []
        path = int(rest[-1]) if draws else 0
        running = body.start(cancel)
        # The last iteration writes the results.
        target, other = (finals, spare) if length % 2 else (spare, finals)
        at = 0
        try:
            for at in range(length - 1, -1, -1) if backwards else range(length):
                _go_on(cancel)
                if draws:
                    rest[-1] = np.array(inner_path(path, at), UINT32)
                running.run(
                    [*carry, *[whole[at, ...] for whole in wholes], *rest],
                    [*target, *[stack[at, ...] for stack in stacks]],
                )
                carry = target
                target, other = other, target
        except InBodyError as error:
            error.within.insert(0, f"{name}[{at}]")
            raise
        running.close()

    return run, (body,), sum(t.nbytes for t in carry_types)


_MAKERS: dict[str, Callable[..., Made]] = {"switch": _switch, "while_loop": _while, "scan": _scan}
