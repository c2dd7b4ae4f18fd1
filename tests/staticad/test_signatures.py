"""Names and parameters that other people's code relies on: they may gain, but not lose or move."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import staticad as sad
import staticad_executor
import staticad_schema

# The parameters by position, with defaults where they have one; "*" before keywords.
PROMISED = {
    "Graph": "seed=None, strict=False",
    "Graph.save": "path, sites='relative'",
    "Graph.signature": "name, inputs=, outputs=, effects=()",
    "placeholder": "dtype, shape, name=None",
    "variable": "initial, name=None, trainable=True, shape=None",
    "constant": "value, name=None",
    "gradients": "ys, xs, grad_ys=None, stop_gradients=(), unconnected='raise'",
    "explain_gradient": "y, x",
    "jvp": "ys, xs, tangents=None",
    "group": "*effects, name=None",
    "identity": "x, name=None",
    "stop_gradient": "x, name=None",
    "assert_": "cond, message, x=None",
    "print_": "x, message=''",
    "scope": "name",
    "device": "name",
    "load": "path",
    "Session": (
        "graph, device='auto', target=None, variables=None, threads=None, check_numerics=False,"
        " rewrites=('exact', 'stable'), memory_budget=None"
    ),
    "Session.run": "fetches, feeds=None, step=None",
    "Session.callable": "fetches, feeds",
    "Session.initialize": "",
    "Session.snapshot": "",
    "Session.save": "path",
    "Session.restore": "",
    "Session.explain": "fetches",
    "Session.memory": "fetches, sizes",
    "Session.profile": "fetches",
    "Session.trim": "",
    "Session.cancel": "",
    "Session.close": "",
    "random.normal": "shape, loc=0.0, scale=1.0, dtype='float32', name=None",
    "nn.dropout": "x, rate, training=True",
    "optimizers.Adam": "learning_rate",
    "optimizers.Adam.minimize": "loss, variables=None",
    "Variable.read": "after=",
    "Variable.assign": "value, after=",
    "Variable.assign_add": "value",
    "Variable.assign_sub": "value",
    "testing.check_gradients": "ys, xs, feeds=None",
}


def described(parameter: inspect.Parameter, wanted: str) -> str:
    """The parameter as the table writes it, with as much of its default as is wanted."""
    star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else ""
    if "=" not in wanted:
        return star + parameter.name
    default = "" if wanted.endswith("=") else repr(parameter.default)
    return f"{star}{parameter.name}={default}"


@pytest.mark.parametrize("name", PROMISED)
def test_a_promised_signature(name: str) -> None:
    found: Callable[..., Any] = attrgetter(name)(sad)
    parameters = [
        p for p in inspect.signature(found).parameters.values() if p.name not in ("self", "asked")
    ]
    # Text with commas inside brackets stays whole.
    wanted = [part for part in split(PROMISED[name]) if part]
    assert [described(p, w) for p, w in zip(parameters, wanted, strict=False)] == wanted
    if "name=None" not in wanted:
        assert all(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in parameters[: len(wanted)])


def split(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def test_attributes_that_are_promised() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2, 3), name="x")
        optimizer = sad.optimizers.Adam(0.1)
        v = sad.variable(1.0, name="v")
        optimizer.minimize(v * v)
    assert graph["x"].id == x.id
    assert list(graph.variables) == list(graph.variable_specs)
    assert [p.name for p in graph.placeholders] == ["x"]
    assert graph.updates == []
    assert x.dtype == np.dtype("float32")
    assert (x.shape, x.ndim, x.name, x.graph, x.T.shape) == ((2, 3), 2, "x", graph, (3, 2))
    assert x.at[0].set(1.0).shape == (2, 3)
    assert type(x).__array_ufunc__ is None
    for tensor in (optimizer.step, optimizer.learning_rate):
        assert isinstance(tensor, sad.Tensor)
    assert isinstance(graph, staticad_schema.Graph)
    assert staticad_executor.Session is sad.Session
    assert next(iter(inspect.signature(staticad_schema.load).parameters)) == "path"


def test_gradients_take_everything_by_position() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3,))
        y, z = sad.exp(x), sad.ones((3,))
        (dz,) = sad.gradients(y, [z], z, [x], "zero")
    assert dz.shape == (3,)
