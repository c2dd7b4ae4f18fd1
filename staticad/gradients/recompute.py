"""recompute: what is not kept for the reverse pass, but computed again there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from staticad_schema.errors import UsageError
from staticad_schema.handle import Handle
from staticad_schema.op import OPS
from staticad_schema.sites import asking

from ..graph import current_graph
from .arguments import common_graph


def recompute(function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function, but of what it computes only its results are kept for derivatives.

    function: of tensors and anything else, to a tensor, or a tuple, list or dict of tensors.  It
    may use tensors and variables from outside, make variables, and draw random numbers.

    Values inside of it that derivatives need are computed again when they are needed, from its
    arguments and with the same random numbers: a run takes less memory and more time.  Values stay
    the same, and so do derivatives of any order, but for the order in which what several uses of a
    value give it is added up.  Where it is nested, what is inside is computed again within what is
    computed again.  What it prints, checks or writes happens once.  The marks are part of the
    graph and of its file.

    Raises UsageError if it returns anything else.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     x = sad.placeholder("float32", ("n", 64), name="x")
    ...     hidden = x
    ...     for _ in range(4):
    ...         block = sad.recompute(lambda h: sad.nn.gelu(sad.nn.dense(h, 64)))
    ...         hidden = block(hidden)
    ...     gradients = sad.gradients(sad.sum(hidden), x)
    >>> session = sad.Session(graph)
    >>> session.memory(gradients, {"n": 4096}).scratch_bytes < 4096 * 64 * 4 * 9
    True
    """
    with asking("recompute"):
        if not callable(function):
            raise UsageError(
                "not a function",
                expected="a function of tensors",
                found=f"{function!r:.80}, a {type(function).__name__}",
                hint="write sad.recompute(f)(x)",
            )

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, Handle)]
        with asking("recompute"):
            graph: Any = common_graph(given, "recompute") if given else current_graph("recompute")
            operands = given or [graph.constant(0.0)]
        with graph.lock:
            start = graph.make(OPS["recompute_start"], [v.id for v in operands])
            inside = map(graph.handle, start.outputs)
            ready = [next(inside) if isinstance(v, Handle) else v for v in args]
            named = {k: next(inside) if isinstance(v, Handle) else v for k, v in kwargs.items()}
            returned = function(*ready, **named)
            with asking("recompute"):
                results = _results(returned)
                for result in results:
                    graph.check_owner(result, "recompute")
                ids = [result.id for result in results]
                end = graph.make(OPS["recompute_end"], [start.start, *ids])
        outputs = [graph.handle(v) for v in end.outputs]
        if isinstance(returned, Handle):
            return outputs[0]
        if isinstance(returned, dict):
            return dict(zip(returned, outputs, strict=True))
        return tuple(outputs) if isinstance(returned, tuple) else outputs

    return call


def _results(returned: Any) -> list[Any]:
    """The tensors that a function returned.  Raises UsageError."""
    results: list[Any]
    if isinstance(returned, dict):
        results = list(returned.values())
    else:
        results = list(returned) if isinstance(returned, tuple | list) else [returned]
    wrong = [r for r in results if not isinstance(r, Handle)]
    if wrong or not results:
        raise UsageError(
            "the function returns no tensors",
            expected="a tensor, or a tuple, list or dict of tensors",
            found=f"{wrong[0]!r:.80}, a {type(wrong[0]).__name__}" if wrong else "nothing",
        )
    return results
