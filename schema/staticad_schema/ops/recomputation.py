"""Marks around what the reverse pass computes again, and what keeps that late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..op import OPS, Operand, each, op
from ..types import Array, TensorType


def _batch_all(xs: tuple[Any, ...], mapped: Sequence[bool], name: str) -> Any:
    """All operands with a batch axis: every output has one."""
    size = next(x.type.shape[0] for x, m in zip(xs, mapped, strict=True) if m)
    ready = [
        x if m else OPS["broadcast_to"](x, shape=(size, *x.type.shape))
        for x, m in zip(xs, mapped, strict=True)
    ]
    return OPS[name](*ready)


def _tuple(given: Any) -> tuple[Any, ...]:
    return given if isinstance(given, tuple) else (given,)


@op(
    numpy=lambda *xs: xs,
    grad=lambda xs, outs, gs: _tuple(gs),
    jvp=lambda xs, outs, tangents: tuple(tangents),
    batch=lambda xs, mapped: _batch_all(xs, mapped, "recompute_start"),
)
def recompute_start(*xs: Operand) -> tuple[TensorType, ...]:
    """The operands, where a part of the graph begins that the reverse pass computes again."""
    if not xs:
        raise ArgumentError("nothing is computed from", expected="at least one operand")
    return xs


def _values(*operands: Array) -> tuple[Array, ...]:
    return operands[1:]


@op(
    numpy=_values,
    grad=lambda xs, outs, gs: (None, *_tuple(gs)),
    jvp=lambda xs, outs, tangents: tuple(tangents[1:]),
    batch=lambda xs, mapped: _batch_all(xs, mapped, "recompute_end"),
)
def recompute_end(*values: Operand) -> tuple[TensorType, ...]:
    """The operands behind the first, the results of a part of the graph.

    The first is an output of its `recompute_start`.  What stands between both, and what the
    results are computed from, is computed again for their derivatives instead of being kept.
    """
    if len(values) < 2:
        raise ArgumentError(
            "no result", expected="an output of recompute_start, and at least one result"
        )
    return values[1:]


def _batch_hold(x: Any, token: Any, batched: tuple[bool, bool]) -> Any:
    if not batched[0]:
        x = OPS["broadcast_to"](x, shape=(token.type.shape[0], *x.type.shape))
    return OPS["hold"](x, token)


@op(
    numpy=lambda x, token: x,
    grad=each(lambda x, token, out, g: g, None),
    jvp=lambda x, token, out, tangents: tangents[0],
    batch=_batch_hold,
    view=True,
)
def hold(x: Operand, token: Operand) -> TensorType:
    """x, but what is computed from it is not computed before the token is there."""
    return x
