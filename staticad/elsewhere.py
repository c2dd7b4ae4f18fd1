"""What other libraries call things, so that a name that is missing here leads to the one meant.

Knows names only; those of functions are in `equivalents`.  The `__getattr__` of the package, of
its namespaces and of Tensor ask it.
"""

from __future__ import annotations

import importlib

from staticad_schema.errors import near_miss

from .equivalents import ABSENT, EQUIVALENTS

NAMESPACES = (
    "", "fft", "linalg", "nn", "optimizers", "optimizers.schedules", "random", "random.logpdf",
    "special", "testing",
)  # fmt: skip

METHODS = {
    **dict.fromkeys(("numpy", "item", "tolist", "data", "run", "cpu"), "session.run(x)"),
    **dict.fromkeys(("backward", "grad", "requires_grad"), "sad.gradients(ys, xs)"),
    **dict.fromkeys(("get_shape", "set_shape"), "x.shape"),
    **dict.fromkeys(("to", "float", "double", "half", "long", "type_as"), "x.astype(dtype)"),
    **dict.fromkeys(("dim", "rank"), "x.ndim"),
    **dict.fromkeys(("view", "flatten", "ravel"), "x.reshape(-1)"),
    **dict.fromkeys(("add_", "sub_", "mul_", "fill_", "copy_"), "the assign of a variable"),
    "H": "sad.conj(x.mT)", "transpose": "x.T, x.mT or sad.permute_dims",
    "cuda": "sad.Session(graph, device=...)",
    "op": "x.node", "device": "with sad.device(...), or sad.Session(graph, device=...)",
    "to_device": "with sad.device(...)",
}  # fmt: skip


def public(namespace: str) -> list[str]:
    """The public names of a namespace ("nn", ...; "": the package), which is imported for it."""
    module = importlib.import_module(f"staticad.{namespace}" if namespace else "staticad")
    return list(getattr(module, "__all__", ()))


def equivalent(name: str, namespace: str = "") -> str | None:
    """What to write for a name of another library, or of another namespace; None if unknown."""
    for key in (f"{namespace}.{name}", name):
        if key in EQUIVALENTS:
            return f"use {EQUIVALENTS[key]}"
        if key in ABSENT:
            return f"it is not here: {ABSENT[key]}"
    base = name.removeprefix("reduce_")
    for place in NAMESPACES:
        # A function is meant rather than a namespace: `numpy.fft.fft` is called "fft".
        if base in public(place) and (place or base not in NAMESPACES):
            return f"use sad.{place}.{base}" if place else f"use sad.{base}"
    return f"use the functions of sad.{base}" if base in NAMESPACES else None


def missing(namespace: str, name: str) -> AttributeError:
    """The error for an attribute that a namespace of the package does not have."""
    module = f"staticad.{namespace}" if namespace else "staticad"
    advice = None
    if not name.startswith("_"):
        advice = equivalent(name, namespace) or near_miss(name, public(namespace))
    return _error(f"module {module!r} has no attribute {name!r}", advice, name)


def missing_of_tensor(kind: str, name: str) -> AttributeError:
    """The error for an attribute that a tensor, or a variable, does not have."""
    advice = None
    if name in METHODS:
        advice = f"use {METHODS[name]}"
    elif not name.startswith("_"):
        function = name in public("") and name not in NAMESPACES
        advice = f"use sad.{name}(x)" if function else equivalent(name)
    return _error(f"a {kind} has no attribute {name!r}", advice, name)


def _error(text: str, advice: str | None, name: str) -> AttributeError:
    return AttributeError(f"{text}; {advice}" if advice else text, name=name)
