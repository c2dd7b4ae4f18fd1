"""Which dtypes the operands of an op may have: found by asking its inference.

The operands are those of the samples that the tests try the op on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from staticad_schema.errors import StaticadError
from staticad_schema.op import Op
from staticad_schema.types import KINDS, NAMES, DType, TensorType
from tests.ops.every import SAMPLES
from tests.ops.running import types_of

ADMITTED = {
    frozenset({"bool", "int", "uint", "float", "complex"}): "any dtype",
    frozenset({"int", "uint", "float", "complex"}): "any dtype but bool",
    frozenset({"bool", "int", "uint", "float"}): "any dtype but complex",
    frozenset({"int", "uint", "float"}): "integers or floats",
    frozenset({"float", "complex"}): "floats or complex numbers",
    frozenset({"float"}): "floats",
    frozenset({"complex"}): "complex numbers",
    frozenset({"bool", "int", "uint"}): "integers or bools",
    frozenset({"bool", "float"}): "floats or bools",
    frozenset({"int", "uint"}): "integers",
    frozenset({"bool"}): "bools",
}

# For ops that no sample shows, because they cannot be evaluated alone.
PLAIN = {"variable": "v", "message": "m"}


def kinds_text(dtypes: Iterable[DType]) -> str:
    """A set of dtypes in words: by kinds, where it has all of them, else one by one."""
    found = set(dtypes)
    kinds = frozenset(KINDS[d] for d in found)
    whole = {d for d in NAMES.values() if KINDS[d] in kinds}
    if found == whole and kinds in ADMITTED:
        return ADMITTED[kinds]
    return ", ".join(name for name, d in NAMES.items() if d in found)


def dtypes_text(op: Op) -> str:
    """What the operands may be, those that may be the same together; "" for none."""
    texts: dict[str, list[str]] = {}
    for k, name in enumerate(op.inputs):
        found = {d for d in NAMES.values() if any(_admits(op, s, k, d) for s in _samples(op))}
        texts.setdefault(kinds_text(found), []).append(name)
    if len(texts) == 1:
        return next(iter(texts))
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in texts.items())


def _samples(op: Op) -> Iterator[tuple[tuple[TensorType, ...], dict[str, object]]]:
    given = SAMPLES.get(op.name)
    if given is None:
        attributes: dict[str, object] = {
            name: PLAIN[name] for name in op.parameters if name in PLAIN
        }
        types = tuple(TensorType(NAMES["bool"], (3,)) for _ in op.inputs)
        yield types, attributes
        return
    for sample in given:
        yield types_of(sample.arrays), dict(sample.attributes)


def _admits(
    op: Op, sample: tuple[tuple[TensorType, ...], dict[str, object]], k: int, dtype: DType
) -> bool:
    """Whether operand k of the sample, and those of its dtype, may be of this dtype instead."""
    types, attributes = sample
    if k >= len(types):
        return False
    old = types[k].dtype
    changed = [TensorType(dtype, t.shape) if t.dtype == old else t for t in types]
    try:
        op.output_types(changed, op.attributes(attributes))
    except StaticadError:
        return False
    return True
