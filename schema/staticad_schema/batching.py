"""Mapping an op over a leading axis, by the batch facet of its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import GraphError
from .op import Op
from .ops import shape, slicing


def batched(
    definition: Op,
    operands: Sequence[Any],
    mapped: Sequence[bool],
    attributes: Mapping[str, Any] | None = None,
) -> Any:
    """The op applied to each example: one handle, or a tuple of them if it has more outputs.

    operands: handles; `mapped` says which of them have a leading batch axis, all of one size.
    The other operands are the same for each example.  Every output has a leading batch axis.

    Raises GraphError for an op without a batch rule ("map") if the batch size is not known,
    and for an op with side effects.
    """
    given = dict(attributes or {})
    mapped = tuple(mapped)
    if not any(mapped):
        raise GraphError(
            "no operand has a batch axis", asked=definition.name, expected="at least one"
        )
    if definition.effect in ("writes", "io"):
        raise GraphError(
            f"{definition.name} has a side effect",
            asked="mapping over a batch axis",
            expected="ops without side effects",
            found=definition.name,
        )
    if definition.batch == "elementwise":
        return definition(*shape.aligned(operands, mapped), **given)
    if definition.batch == "map":
        return _unrolled(definition, operands, mapped, given)
    inputs = (tuple(operands),) if definition.variadic else tuple(operands)
    complete = definition.attributes(given)
    return definition.call_rule(definition.batch, (*inputs, mapped), complete)


def _unrolled(
    definition: Op, operands: Sequence[Any], mapped: Sequence[bool], attributes: dict[str, Any]
) -> Any:
    size = operands[mapped.index(True)].type.shape[0]
    if not isinstance(size, int) or size == 0:
        raise GraphError(
            f"{definition.name} has no batch rule and is unrolled",
            asked=f"{definition.name} over a batch axis",
            expected="a known batch size of at least 1",
            found=str(size),
        )
    runs = []
    for k in range(size):
        example = [_example(x, k) if m else x for x, m in zip(operands, mapped, strict=True)]
        result = definition(*example, **attributes)
        runs.append(result if isinstance(result, tuple) else (result,))
    outputs = tuple(_stacked(column) for column in zip(*runs, strict=True))
    return outputs if len(outputs) > 1 else outputs[0]


def _example(x: Any, k: int) -> Any:
    rest = ((None, None, 1),) * (x.type.ndim - 1)
    picked = slicing.slice_(x, slices=((k, k + 1, 1), *rest))
    return shape.reshape(picked, shape=x.type.shape[1:])


def _stacked(examples: Sequence[Any]) -> Any:
    rows = [shape.reshape(x, shape=(1, *x.type.shape)) for x in examples]
    return slicing.concat(*rows, axis=0)
