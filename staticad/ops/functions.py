"""Functions of tensors that follow from an op's definition: name, signature, docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from staticad_schema.errors import UsageError
from staticad_schema.handle import Handle, floating
from staticad_schema.op import OPS, Op
from staticad_schema.sites import asking

from ..building import build
from ..operands import result, tensors
from ..tensor import Tensor
from .elementwise_docs import DOCS

# Written by hand in this package, since they take more than tensors or have other names; and
# what only derivatives are written with.
BY_HAND = frozenset(
    {
        "cast",
        "clip",
        "complex",
        "direction",
        "identity",
        "multiply_no_nan",
        "multiply_zero",
        "round",
        "stop_gradient",
        "where",
    }
)


def elementwise_ops() -> list[Op]:
    """The elementwise ops whose functions are generated, by name."""
    return [
        OPS[name]
        for name in sorted(OPS)
        if OPS[name].elementwise
        and not OPS[name].parameters
        and OPS[name].family != "activations"
        and name not in BY_HAND
    ]


def function(definition: Op) -> Callable[..., Tensor]:
    """The function that applies the op to tensors, arrays and numbers."""
    count = len(definition.inputs)

    op_name = definition.name

    def call(*operands: Any, name: str | None = None) -> Tensor:
        if name is None and count == 1 == len(operands) and isinstance(operands[0], Handle):
            made = operands[0].graph.apply(definition, operands, {})
        else:
            with asking(op_name, name):
                if len(operands) != count:
                    raise UsageError(
                        "wrong number of operands",
                        expected=f"{count}: {', '.join(definition.inputs)}",
                        found=str(len(operands)),
                    )
                ready = tensors(op_name, *operands)
                if op_name == "divide":
                    ready = floating(*ready)
                made = build(op_name, ready, label=name)
        return result(made)

    call.__name__ = call.__qualname__ = op_name
    call.__module__ = "staticad"
    call.__doc__ = DOCS.get(op_name, definition.doc)
    call.__dict__["__signature__"] = _signature(definition)
    return call


def _signature(definition: Op) -> inspect.Signature:
    positional = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, annotation="Operand")
        for name in definition.inputs
    ]
    keyword = inspect.Parameter(
        "name", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None"
    )
    return inspect.Signature([*positional, keyword], return_annotation="Tensor")
