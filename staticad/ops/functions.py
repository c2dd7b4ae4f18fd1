"""Functions of tensors that follow from an op's definition: name, signature, docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from staticad_schema.handle import Handle
from staticad_schema.op import OPS, Op
from staticad_schema.types import DEFAULT_FLOAT, INEXACT

from ..building import build
from ..operands import tensors
from ..sites import asking
from ..tensor import Tensor

# Written by hand in this package, since they take more than tensors or have other names.
BY_HAND = frozenset({"cast", "clip", "where", "multiply_no_nan", "identity", "stop_gradient"})


def elementwise_ops() -> list[Op]:
    """The elementwise ops whose functions are generated, by name."""
    return [
        OPS[name]
        for name in sorted(OPS)
        if OPS[name].elementwise
        and not OPS[name].parameters
        and OPS[name].family != "nn"
        and name not in BY_HAND
    ]


def function(definition: Op) -> Callable[..., Tensor]:
    """The function that applies the op to tensors, arrays and numbers."""
    name = definition.name
    count = len(definition.inputs)

    def call(*operands: Any, **keywords: Any) -> Tensor:
        if len(operands) == 1 and not keywords and count == 1 and isinstance(operands[0], Handle):
            result = operands[0].graph.apply(definition, operands, {})
        else:
            bound = signature.bind(*operands, **keywords)
            label = bound.arguments.get("name")
            with asking(name, label):
                ready = tensors(name, *bound.args)
                if name == "divide" and ready[0].type.kind not in INEXACT:
                    ready = tuple(t.astype(DEFAULT_FLOAT) for t in ready)
                result = build(name, ready, label=label)
        assert isinstance(result, Tensor)
        return result

    positional = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY, annotation="Operand")
        for n in definition.inputs
    ]
    keyword = inspect.Parameter(
        "name", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None"
    )
    signature = inspect.Signature([*positional, keyword], return_annotation="Tensor")
    call.__name__ = call.__qualname__ = name
    call.__module__ = "staticad"
    call.__doc__ = definition.doc
    call.__dict__["__signature__"] = signature
    return call


def stub() -> str:
    """The text of elementwise.pyi, from the registry."""
    ops = elementwise_ops()
    lines = [
        '"""Generated from the registry by `make docs`."""',
        "",
        "from ..operands import Operand",
        "from ..tensor import Tensor",
        "",
        "__all__ = [",
        *(f'    "{d.name}",' for d in ops),
        "]",
        "",
    ]
    for d in ops:
        operands = ", ".join(f"{n}: Operand" for n in d.inputs)
        lines.append(f"def {d.name}({operands}, /, *, name: str | None = None) -> Tensor: ...")
    return "\n".join(lines) + "\n"
