"""Order, effects and gradients' limits: functions whose result is not about the numbers."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import UsageError
from staticad_schema.handle import Effect, Handle
from staticad_schema.op import OPS
from staticad_schema.sites import asking

from ..building import build
from ..graph import current_graph
from ..operands import Operand, condition, graph_of, result, tensor
from ..tensor import Tensor
from ..variable import after_nodes


def identity(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x, as a node of its own; the usual way to give a value a name.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.identity(sad.exp(0.0) + 1, name="y")
    >>> sad.Session(graph).run("y")
    array(2., dtype=float32)
    """
    with asking("identity", name):
        return result(build("identity", (tensor("identity", x),), label=name))


def stop_gradient(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x, which counts as a constant when differentiated.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (), name="x")
    ...     (dx,) = sad.gradients(x * sad.stop_gradient(x), x)
    >>> sad.Session(graph).run(dx, {x: 3.0})
    array(3., dtype=float32)
    """
    with asking("stop_gradient", name):
        return result(build("stop_gradient", (tensor("stop_gradient", x),), label=name))


def after(x: Operand, /, *effects: Any, name: str | None = None) -> Tensor:
    """x, not computed before `effects` (tensors and effects) have run.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     v = sad.variable(1.0, name="v")
    ...     y = sad.after(sad.constant(5.0), v.assign(2.0))
    >>> session = sad.Session(graph)
    >>> session.run(y)
    array(5., dtype=float32)
    >>> session.variables["v"]
    array(2., dtype=float32)
    """
    with asking("after", name):
        value = tensor("after", x)
        nodes = after_nodes(value.graph, effects)
        node = value.graph.make(OPS["after"], (value.id,), name=name, after=nodes)
        return result(value.graph.handle(node.start))


def group(*effects: Any, name: str | None = None) -> Effect:
    """An effect that has run when all of `effects` (tensors and effects) have; fetched, None.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a, b = sad.variable(1.0, name="a"), sad.variable(1.0, name="b")
    ...     both = sad.group(a.assign(2.0), b.assign_add(a), name="both")
    >>> session = sad.Session(graph)
    >>> session.run("both")
    >>> session.run([a, b])
    [array(2., dtype=float32), array(2., dtype=float32)]
    """
    with asking("group", name):
        flat: list[Any] = []
        for effect in effects:
            flat.extend(effect if isinstance(effect, list | tuple) else (effect,))
        for effect in flat:
            if not isinstance(effect, Effect | Handle):
                raise UsageError(
                    "not something that runs",
                    expected="tensors and effects",
                    found=f"{effect!r:.80}, a {type(effect).__name__}",
                )
        graph = current_graph("group") if not flat else flat[0].graph
        node = graph.make(OPS["group"], name=name, after=after_nodes(graph, flat))
        effect = graph.effect(graph.index_of(node))
    assert isinstance(effect, Effect)
    return effect


def print_(
    x: Operand, message: str = "", *, summarize: int = 1000, name: str | None = None
) -> Tensor:
    """x; prints the message and the value where the result is needed.

    summarize: of more elements than this, only the first and last of each axis are printed.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.print_(sad.constant([1.0, 2.0]), "y is") * 2
    >>> sad.Session(graph).run(y)
    y is [1. 2.]
    array([2., 4.], dtype=float32)
    """
    with asking("print_", name):
        attributes = {"message": _text(message), "summarize": int(summarize)}
        return result(build("print", (tensor("print_", x),), attributes, label=name))


def assert_(
    cond: Operand, message: str, x: Operand | None = None, *, name: str | None = None
) -> Any:
    """x; the run fails with the message unless the condition is true everywhere.

    Acts when its result is needed.  Without x it is an effect, to be fetched or run `after`.
    The failing run raises ExecutionError.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (), name="x")
    ...     y = sad.sqrt(sad.assert_(x >= 0, "no roots of negative numbers", x))
    >>> session = sad.Session(graph)
    >>> session.run(y, {x: 4.0})
    array(2., dtype=float32)
    >>> session.run(y, {x: -4.0})
    Traceback (most recent call last):
    staticad_schema.errors.ExecutionError: ...no roots of negative numbers...
    """
    with asking("assert_", name):
        graph = graph_of("assert_", cond, x)
        chosen = condition("assert_", cond, graph)
        attributes = {"message": _text(message)}
        if x is None:
            node = graph.make(OPS["check_only"], (chosen.id,), attributes, name=name)
            return graph.effect(graph.index_of(node))
        return build("check", (chosen, tensor("assert_", x, graph)), attributes, label=name)


def _text(message: Any) -> str:
    if not isinstance(message, str):
        raise UsageError("a message is a text", expected="a str", found=f"{message!r:.80}")
    return message
