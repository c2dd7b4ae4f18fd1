"""The page of public functions and classes, from their signatures and docstrings."""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import staticad as sad
from docs.markdown import NOTICE, table

# The modules that define the names of `sad`, in the order of the page.
# Those that follow from the registry say `staticad`.
SECTIONS = {
    "Graphs": (
        "staticad.graph",
        "staticad.tensor",
        "staticad.variable",
        "staticad.current",
        "staticad.linting",
    ),
    "Running": ("staticad_executor",),
    "Dtypes": ("staticad.ops.data_types",),
    "Creation": ("staticad.ops.sources", "staticad.ops.ranges"),
    "Along axes": (
        "staticad.ops.scans",
        "staticad.ops.reductions",
        "staticad.ops.nan_reductions",
    ),
    "Statistics": ("staticad.ops.statistics", "staticad.ops.quantiles"),
    "Curves": ("staticad.ops.curves",),
    "Shapes": (
        "staticad.ops.shapes",
        "staticad.ops.reordering",
        "staticad.ops.joining",
        "staticad.ops.splitting",
        "staticad.ops.repeating",
        "staticad.ops.padding",
        "staticad.ops.diagonals",
    ),
    "Contractions": (
        "staticad.ops.einsum",
        "staticad.ops.contractions",
        "staticad.ops.vectors",
        "staticad.ops.convolution",
    ),
    "Choosing, casting": ("staticad.ops.selection",),
    "Positions": ("staticad.ops.gathering", "staticad.ops.segments"),
    "Sorting": ("staticad.ops.sorting",),
    "Found by each run": ("staticad.ops.finding", "staticad.ops.sets"),
    "Derivatives": ("staticad.gradients", "staticad.transforms"),
    "Choices, loops, calls": ("staticad.ops.branches", "staticad.ops.loops", "staticad.ops.calls"),
    "Order and effects": ("staticad.ops.control",),
    "Sizes, effects": ("staticad_schema.dims", "staticad.dimensions", "staticad_schema.handle"),
    "Errors": ("staticad_schema.errors", "staticad.recorder", "staticad.numbers"),
    "Elementwise": (
        "staticad",
        "staticad.ops.arithmetic",
        "staticad.ops.comparison",
        "staticad.ops.complex_numbers",
        "staticad.ops.rounding",
    ),
}
NAMESPACES = (
    "fft",
    "linalg",
    "nn",
    "optimizers",
    "optimizers.schedules",
    "random",
    "random.logpdf",
    "special",
)
METHODS = {
    "graph": (
        sad.Graph,
        "placeholder variable constant variables placeholders signature define call save"
        " to_tree to_dot to_svg",
    ),
    "x": (
        sad.Tensor,
        "dtype shape ndim size name T mT at astype reshape sum prod mean max min eval",
    ),
    "variable": (sad.Variable, "initial trainable read assign assign_add assign_sub"),
    "session": (
        sad.Session,
        "run callable explain memory profile save restore snapshot initialize cancel trim"
        " memory_in_use close",
    ),
    "optimizer": (sad.optimizers.Optimizer, "minimize apply step learning_rate"),
    "averages": (sad.optimizers.Average, "update average evaluate"),
}
# What instances have beside them.
ATTRIBUTES = {
    "graph": {
        "updates": "Updates of statistics, as of batch norm; an optimizer's `minimize` runs them.",
        "signatures": "The signatures by name.",
    },
    "session": {
        "variables": "The variables' values by name, as copies; assign to an item to set one.",
    },
}
# Made by functions, not by calling them.
NOT_CALLED = (sad.Tensor, sad.Variable, sad.Effect, sad.Dim, BaseException)


def call(name: str, thing: Any) -> str:
    """The function with its parameters, without types."""
    if isinstance(thing, property) or (isinstance(thing, type) and issubclass(thing, NOT_CALLED)):
        return name
    parameters = [
        p.replace(
            annotation=p.empty,
            default=p.default.name if isinstance(p.default, np.dtype) else p.default,
        )
        for p in inspect.signature(thing).parameters.values()
        if p.name != "self" and not (p.name == "name" and p.default is None)
    ]
    # Without the mark of what has no name for callers, which a reader of the page does not need.
    text = str(inspect.Signature(parameters)).replace("/, ", "")
    return f"{name}{re.sub(r'(, )?/(?=[)])', '', text)}"


def says(thing: Any) -> str:
    """The first sentence of the docstring."""
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.)\s\s", paragraph)[0]


def rows(named: Iterable[tuple[str, Any]]) -> list[list[str]]:
    """A row for each function and class."""
    return [[f"`{call(name, thing)}`", says(thing)] for name, thing in named]


def sections() -> Iterator[tuple[str, list[list[str]]]]:
    """Title and rows of each section."""
    public = [(f"sad.{name}", getattr(sad, name)) for name in sad.__all__]
    for title, modules in SECTIONS.items():
        yield title, rows((n, t) for n, t in public if callable(t) and _defined_in(t, modules))
    for namespace in NAMESPACES:
        module = operator.attrgetter(namespace)(sad)
        members = [(f"sad.{namespace}.{n}", getattr(module, n)) for n in module.__all__]
        yield f"sad.{namespace}", rows((n, t) for n, t in members if callable(t))
    for name, (kind, methods) in METHODS.items():
        found = [(f"{name}.{m}", inspect.getattr_static(kind, m)) for m in methods.split()]
        held = ATTRIBUTES.get(name, {}).items()
        yield (
            f"Methods of {kind.__name__}",
            rows(found) + [[f"`{name}.{attribute}`", text] for attribute, text in held],
        )


def _defined_in(thing: Any, modules: Sequence[str]) -> bool:
    where = thing.__module__
    return any(
        where == module or (module != "staticad" and where.startswith(f"{module}."))
        for module in modules
    )


def functions_page() -> str:
    """Every public function, class and method, by subject."""
    out = [
        NOTICE,
        "",
        "# Functions",
        "",
        "What `import staticad as sad` offers. Functions of tensors also take `name=`, the name of"
        " the result. What stands behind `*` is given by keyword. `help(sad.…)` says more, with"
        " shapes, dtypes, errors and an example.",
    ]
    for title, rows in sections():
        out += ["", f"## {title}", "", *table(["write", "to get"], rows)]
    return "\n".join(out) + "\n"
