"""What a function body may hold, and which sizes it takes from its caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from . import dims
from .dims import Dim
from .errors import GraphError, ShapeError
from .run_time_sizes import symbols_of_node

# `graph.Graph` and `graph.Function`: that module is above this one.
Graph: TypeAlias = Any
Function: TypeAlias = Any


def check_body(function: Function) -> None:
    """Raises GraphError for a body that holds state, is fed, or returns what each run sizes."""
    body = function.body
    declared = {spec.node for spec in body.variable_specs.values()}
    for index, node in enumerate(body.nodes):
        name = node.attributes.get("variable")
        if node.definition.effect == "writes":
            problem, found = "a body writes a variable", f"{node.op} of {name!r}"
            expected = "bodies without writes: return the new value and assign it outside"
        elif index in declared:
            problem, found = "a body declares a variable", repr(name)
            expected = "a variable of the graph, which the body may read"
        elif node.op == "placeholder":
            problem, found = "a body has a placeholder", repr(body.node_name(index))
            expected = "values that are given to the body as arguments"
        else:
            continue
        raise GraphError(
            problem,
            asked=f"function {function.name!r}",
            expected=expected,
            found=found,
            site=body.site(node.site),
        )
    if body.run_time.finders:
        _check_outputs(function)


def _check_outputs(function: Function) -> None:
    """Two calls would give one name to two sizes."""
    body = function.body
    for value in function.outputs:
        symbols: set[str] = set().union(*map(dims.symbols_of, body.types[value].shape))
        if symbols & body.run_time.finders.keys():
            raise ShapeError(
                "a body returns a tensor whose size each run finds",
                asked=f"function {function.name!r}",
                expected="outputs of sizes that follow from those of the arguments",
                found=body.handle(value).describe(),
                site=body.site(body.nodes[body.producers[value]].site),
                hint="reduce it in the body, or return the mask and select outside",
            )


def open_sizes(function: Function) -> frozenset[str]:
    """The symbols in a body that neither its inputs nor its own nodes bind."""
    body = function.body
    used: set[str] = set().union(*map(symbols_of_node, body.nodes))
    given = {d.symbol() for t in function.input_types for d in t.shape if isinstance(d, Dim)}
    return frozenset(used - given - body.run_time.finders.keys())


class OpenSizes:
    """The open sizes of each body of a table and of those that it calls, directly or not.

    They are bits of a number a body: as sets they could be many times as large as the graph.
    """

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._bits: dict[str, int] = {}
        self._of: dict[str, int] = {}
        # A body calls only those that stand before it.
        for name, function in functions.items():
            own = 0
            for symbol in function.open_sizes:
                own |= 1 << self._bits.setdefault(symbol, len(self._bits))
            for inner in function.calls:
                own |= self._of[inner]
            self._of[name] = own

    def check(self, called: Iterable[str], found: Iterable[str]) -> None:
        """Raises ShapeError for a called body with a size open that a run of its caller finds."""
        clash = {name: 1 << self._bits[name] for name in found if name in self._bits}
        all_of_them = sum(clash.values())
        for function in called if clash else ():
            if self._of[function] & all_of_them:
                open_ones = [name for name, bit in clash.items() if self._of[function] & bit]
                raise _open(min(open_ones), function)


def check_call(graph: Graph, name: str) -> None:
    """Raises ShapeError for a call of a body with a size open that a run of the graph finds."""
    finders, clear = graph.run_time.finders, graph.run_time.clear
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in clear:
            function = graph.function(name)
            open_ones = function.open_sizes & finders.keys()
            if open_ones:
                raise _open(min(open_ones), name)
            clear.add(name)
            waiting += function.calls


def _open(size: str, function: str) -> ShapeError:
    return ShapeError(
        "a body uses a size that a run of its caller finds",
        expected="sizes of the body's arguments, or that it finds itself",
        found=f"{size!r} in {function!r}",
        hint="give it a tensor of that size",
    )
