"""Docstrings of the functions that follow from the registry, with examples that were run.

Written into `staticad/ops/elementwise_docs.py`, which the functions read, and into the stub
`elementwise.pyi`, which editors and type checkers read.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

import staticad as sad
from docs.dtypes import kinds_text
from staticad.ops.functions import elementwise_ops
from staticad_schema.errors import DTypeError
from staticad_schema.op import Op
from staticad_schema.types import NAMES, TensorType

NOTICE = "Generated from the registry by `make docs`."

# What the examples are run on where the usual numbers tell little.
UNARY: tuple[Any, ...] = ([0.5, 1.0, 2.0],)
BINARY: tuple[Any, ...] = ([1.0, 2.0, 3.0], 2.0)
SIGNED: tuple[Any, ...] = ([-1.5, 0.0, 2.5],)
OPERANDS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("acos", "asin", "atanh"), ([-0.5, 0.0, 0.5],)),
    **dict.fromkeys(("abs", "ceil", "floor", "negative", "positive", "round", "sign"), SIGNED),
    **dict.fromkeys(("sigmoid", "signbit", "sinh", "tanh", "trunc"), SIGNED),
    **dict.fromkeys(("log_sigmoid", "softplus"), SIGNED),
    **dict.fromkeys(("isfinite", "isinf", "isnan"), ([1.0, np.inf, np.nan],)),
    **dict.fromkeys(("conj", "imag", "real"), ([1 + 2j, 3j],)),
    **dict.fromkeys(("floor_divide", "fmod", "remainder"), ([-7, 7], 3)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), ([6, 5], 3)),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), ([6, -6], 1)),
    **dict.fromkeys(
        ("logical_and", "logical_or", "logical_xor"), ([True, True, False], [True, False, False])
    ),
    "acosh": ([1.0, 2.0],), "atan2": ([1.0, -1.0], [0.0, -1.0]), "bitwise_invert": ([0, 5],),
    "copysign": ([1.0, 2.0], [-0.0, 3.0]), "logical_not": ([True, False],),
    "hypot": ([3.0, 5.0], [4.0, 12.0]), "nextafter": ([1.0, 2.0], 2.0),
    "cbrt": ([-8.0, 1.0, 27.0],), "logit": ([0.0, 0.5, 0.9],),
    "xlog1py": ([0.0, 2.0], [-1.0, 3.0]), "xlogy": ([0.0, 2.0], [0.0, 3.0]),
}  # fmt: skip


def results(definition: Op) -> dict[str, str]:
    """The names of the dtypes that an op admits, and of those that they give."""
    found = {}
    for name, dtype in NAMES.items():
        operands = [TensorType(dtype, (3,))] * len(definition.inputs)
        try:
            (result,) = definition.output_types(operands, {})
        except DTypeError:
            continue
        found[name] = result.dtype.name
    return found


def contract(definition: Op) -> str:
    """Operands, result and errors in two sentences."""
    given = results(definition)
    kinds = kinds_text(NAMES[name] for name in given)
    if definition.name == "divide":
        kinds += "; integers become float32"
    several = len(definition.inputs) > 1
    if all(a == b for a, b in given.items()):
        dtype = "their common dtype" if several else "the same dtype"
    elif set(given.values()) == {"bool"}:
        dtype = "dtype bool"
    else:
        dtype = "the same dtype, of complex numbers the real one"
    shape = "the shape they broadcast to" if several else "the same shape"
    errors = "DTypeError for other dtypes" if len(given) < len(NAMES) else ""
    if several:
        errors += (", " if errors else "") + "ShapeError if they do not broadcast"
    return f"{', '.join(definition.inputs)}: {kinds}.  Returns a tensor of {shape} and {dtype}." + (
        f"  Raises {errors}." if errors else ""
    )


def docstring(definition: Op) -> str:
    """The whole docstring, the example with what running it printed."""
    name = definition.name
    operands = OPERANDS.get(name, BINARY if len(definition.inputs) > 1 else UNARY)
    with sad.Graph() as graph:
        y = getattr(sad, name)(*operands)
    value = sad.Session(graph).run(y)
    call = f"sad.{name}({', '.join(map(written, operands))})"
    run = "sad.Session(graph).run(y)"
    # Processors differ in the last digits.
    if value.dtype.kind in "fc" and name != "nextafter" and (value.round(3) != value).any():
        value, run = value.round(3), f"{run}.round(3)"
    return "\n".join(
        [
            definition.doc,
            "",
            *textwrap.wrap(contract(definition), 92),
            "",
            *([">>> import numpy as np"] if "np." in call else []),
            ">>> import staticad as sad",
            ">>> with sad.Graph() as graph:",
            f"...     y = {call}",
            f">>> {run}",
            repr(value),
        ]
    )


def written(operand: Any) -> str:
    """A number or a list of numbers as it stands in a program."""
    return re.sub(r"\b(inf|nan)\b", r"np.\1", repr(operand))


def docs_module() -> str:
    """The text of elementwise_docs.py."""
    lines = [f'"""{NOTICE}"""', "", "DOCS = {"]
    for definition in elementwise_ops():
        text = textwrap.indent(docstring(definition), " " * 4)
        lines.append(f'    "{definition.name}": """\n{text}\n    """,')
    return "\n".join([*lines, "}"]) + "\n"


def stub() -> str:
    """The text of elementwise.pyi."""
    return "\n".join(_stub()) + "\n"


def _stub() -> Iterator[str]:
    ops = elementwise_ops()
    yield from (f'"""{NOTICE}"""', "", "from ..operands import Operand")
    yield from ("from ..tensor import Tensor", "", "__all__ = [")
    yield from (f'    "{d.name}",' for d in ops)
    yield "]"
    for d in ops:
        operands = ", ".join(f"{n}: Operand" for n in d.inputs)
        yield f"\ndef {d.name}({operands}, /, *, name: str | None = None) -> Tensor:"
        yield textwrap.indent(f'"""{docstring(d)}\n"""', " " * 4)
