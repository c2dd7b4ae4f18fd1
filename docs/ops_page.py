"""The page of all ops, from the registry and the samples that the tests try them on."""

from __future__ import annotations

import inspect

from docs.dtypes import dtypes_text
from docs.markdown import NOTICE, table
from staticad_executor.devices.numpy import NumpyDevice
from staticad_schema.op import OPS, Constant, Op, PerOperand, Undefined

FAMILIES_FIRST = ("sources", "control", "state", "random_bits", "random")


def signature(op: Op) -> str:
    """The op as a call: tensors by position, attributes by keyword."""
    tensors = [f"*{name}" if op.variadic else name for name in op.inputs]
    attributes = [
        f"{p.name}: {p.annotation.removeprefix('np.')}"
        + ("" if p.default is inspect.Parameter.empty else f" = {p.default!r}")
        for p in op.parameters.values()
    ]
    star = ["*"] if attributes and not op.variadic else []
    return f"{op.name}({', '.join([*tensors, *star, *attributes])})"


def gradient_kind(op: Op) -> str:
    """In a few words, where the op's cotangents come from."""
    match op.grad:
        case Constant():
            return "zero"
        case Undefined(why):
            return f"undefined: {why}"
        case "expand":
            return "of its expansion"
        case "bodies":
            return "of its bodies"
        case PerOperand(rules=rules) if len(op.inputs) > 1 or rules[0] is None:
            names = [n for n, rule in zip(op.inputs, rules, strict=False) if rule is not None]
            rest = [n for n in op.inputs if n not in names]
            return f"rule for {', '.join(names)}" + (
                f"; zero for {', '.join(rest)}" if rest else ""
            )
        case _:
            return "rule"


def batch_kind(op: Op) -> str:
    """How the op maps over a leading axis."""
    return "rule" if callable(op.batch) else str(op.batch)


def devices_text(op: Op) -> str:
    """Where the op runs, and whether as itself."""
    itself = op.expand is None or op.name in NumpyDevice.claimed
    return NumpyDevice.name if itself else f"{NumpyDevice.name}, expanded"


def ops_page() -> str:
    """Every op of the registry, by family."""
    mapped = sorted(name for name, op in OPS.items() if op.batch == "map")
    out = [
        NOTICE,
        "",
        "# Ops",
        "",
        f"The {len(OPS)} ops of the registry. A graph consists of nothing else; the public"
        " functions are these ops and compositions of them. Tensors are positional, attributes"
        " keyword-only."
        " *Gradient* says where cotangents come from, *batch* how the op maps over a leading axis:"
        " element by element, by a rule of its own, or by running it once an example (`map`)."
        " *Dtypes* are those of the operands; results have the same or what inference says."
        " *Devices* run an op as itself, or *expanded* into other ops.",
        "",
        "Ops that are mapped example by example: "
        + (", ".join(f"`{name}`" for name in mapped) or "none")
        + ".",
    ]
    families = {op.family for op in OPS.values()}
    order = [f for f in FAMILIES_FIRST if f in families]
    for family in [*order, *sorted(families - set(order))]:
        members = sorted((o for o in OPS.values() if o.family == family), key=lambda o: o.name)
        rows = [
            [
                f"`{signature(op)}`",
                " ".join(op.doc.split()),
                dtypes_text(op),
                op.effect,
                gradient_kind(op),
                batch_kind(op),
                devices_text(op),
            ]
            for op in members
        ]
        out += ["", f"## {family.replace('_', ' ').capitalize()}", ""]
        out += table(["op", "what it is", "dtypes", "effect", "gradient", "batch", "devices"], rows)
    return "\n".join(out) + "\n"
