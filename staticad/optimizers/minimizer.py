"""From a loss, or from gradients, to one effect that updates variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from staticad_schema.errors import GradientError, ShapeError, UsageError
from staticad_schema.handle import Effect
from staticad_schema.sites import asking
from staticad_schema.types import INEXACT

from ..gradients import gradients
from ..graph import Graph
from ..operands import condition
from ..ops.control import group
from ..tensor import Tensor
from ..variable import Variable

Transform = Callable[[list[Tensor]], Sequence[Tensor]]


class Minimizer(ABC):
    """What has `minimize` and `apply`: optimizers, groups of them, accumulation over runs."""

    def minimize(
        self,
        loss: Tensor,
        variables: Sequence[Variable] | None = None,
        *,
        transform: Transform | None = None,
        when: Tensor | None = None,
        name: str | None = None,
    ) -> Effect:
        """An effect that updates the variables once, and runs `graph.updates` too.

        loss: a scalar.  variables: by default all trainable ones, of an inexact dtype, that the
        loss depends on.  transform: from the list of gradients to those that are applied, for
        clipping.  when: a bool tensor; in a run where it is false the optimizer and the variables
        stay as they are.  Raises GradientError if there are no variables.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     w = sad.variable(4.0, name="w")
        ...     optimizer = sad.optimizers.SGD(0.5)
        ...     train = optimizer.minimize((w - 1) ** 2, name="train")
        >>> session = sad.Session(graph)
        >>> session.run([train, optimizer.step])
        [None, array(0)]
        >>> session.run([w, optimizer.step])
        [array(1., dtype=float32), array(1)]
        """
        with asking("minimize", name):
            _check_scalar(loss)
            if variables is None:
                cotangents, chosen = _trained(loss)
            else:
                chosen = checked(variables)
                cotangents = list(gradients(loss, chosen))
            if transform is not None:
                if not callable(transform):
                    raise UsageError(
                        "transform is no function",
                        expected="a function from the list of gradients to another",
                        found=f"{transform!r:.80}, a {type(transform).__name__}",
                    )
                changed: Any = transform(cotangents)
                if not isinstance(changed, list | tuple):
                    raise UsageError(
                        "transform does not give a list",
                        expected="a function from the list of gradients to another",
                        found=f"{changed!r:.80}, a {type(changed).__name__}",
                    )
                cotangents = list(changed)
            return self.apply(cotangents, chosen, when=when, name=name)

    def apply(
        self,
        cotangents: Sequence[Tensor],
        variables: Sequence[Variable],
        *,
        when: Tensor | None = None,
        name: str | None = None,
    ) -> Effect:
        """An effect that updates the variables once with these gradients, which may be clipped, ….

        when: a bool tensor; in a run where it is false the optimizer and the variables stay as
        they are, also if the gradients are not finite.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     w = sad.variable(4.0, name="w")
        ...     (g,) = sad.gradients(w * w, w)
        ...     train = sad.optimizers.SGD(1.0).apply([sad.clip(g, -1.0, 1.0)], [w])
        >>> session = sad.Session(graph)
        >>> session.run(train)
        >>> session.variables["w"]
        array(3., dtype=float32)
        """
        with asking("apply", name):
            variables = checked(variables)
            for g in cotangents:
                if not isinstance(g, Tensor):
                    raise UsageError(
                        "a gradient is no tensor",
                        expected="a tensor for each variable",
                        found=f"{g!r:.80}, a {type(g).__name__}",
                        hint="leave out the variables whose gradient is None"
                        if g is None
                        else None,
                    )
            if not variables or len(cotangents) != len(variables):
                raise GradientError(
                    "not one gradient a variable",
                    expected="as many gradients as variables, at least one",
                    found=f"{len(cotangents)} and {len(variables)}",
                )
            graph = variables[0].graph
            assert isinstance(graph, Graph)
            with graph:
                if when is not None:
                    when = switch("when", when, graph)
                writes = self._apply(list(cotangents), variables, when)
                return group(*writes, *graph.updates, name=name)

    @abstractmethod
    def _apply(
        self, cotangents: list[Tensor], variables: list[Variable], when: Tensor | None
    ) -> list[Tensor]:
        """The writes of one update, which change nothing in a run where `when` is false."""


def inner(optimizer: Any) -> Minimizer:
    """What another minimizer is given to update with.  Raises UsageError."""
    if not isinstance(optimizer, Minimizer):
        raise UsageError(
            "not an optimizer",
            expected="an optimizer, such as sad.optimizers.Adam(1e-3)",
            found=f"{optimizer!r:.80}, a {type(optimizer).__name__}",
            hint="write parentheses after its name" if callable(optimizer) else None,
        )
    return optimizer


def switch(asked: str, value: Any, graph: Graph) -> Tensor:
    """One bool as a tensor.  Raises DTypeError, ShapeError."""
    chosen = condition(asked, value, graph)
    if chosen.ndim:
        raise ShapeError(
            f"{asked} is one switch for the whole update",
            expected="a bool tensor without axes",
            found=chosen.describe(),
            hint="reduce it with sad.all or sad.any",
        )
    return chosen


def _trained(loss: Tensor) -> tuple[list[Tensor], list[Variable]]:
    """The gradients for the trainable variables that the loss depends on, and these."""
    graph = loss.graph
    assert isinstance(graph, Graph)
    trainable = [v for v in graph.variables.values() if v.trainable]
    # Counters and the like, which no gradient reaches.
    chosen = [v for v in trainable if v.type.kind in INEXACT]
    found = gradients(loss, chosen, unconnected="none")
    pairs = [(g, v) for g, v in zip(found, chosen, strict=True) if g is not None]
    if not pairs:
        raise GradientError(
            "the loss depends on no trainable variable",
            expected="a loss computed from variables",
            found=f"{loss.describe()}, and trainable variables: "
            + (", ".join(v.describe() for v in trainable[:3]) or "none"),
            hint="integers are not trained: begin with a float, such as 1.0"
            if trainable and not chosen
            else None,
        )
    return [g for g, _ in pairs], [v for _, v in pairs]


def checked(variables: Any) -> list[Variable]:
    """The variables as a list.  Raises UsageError."""
    found = f"{variables!r:.80}, a {type(variables).__name__}"
    hint = None
    if isinstance(variables, list | tuple):
        strangers = [v for v in variables if not isinstance(v, Variable)]
        if not strangers:
            return list(variables)
        v = strangers[0]
        found = v.describe() if isinstance(v, Tensor) else f"{v!r:.80}, a {type(v).__name__}"
        hint = "use graph.variables[name]" if isinstance(v, str) else None
    elif isinstance(variables, Variable):
        hint = "write [variable]"
    elif isinstance(variables, Mapping):
        hint = "leave it out for all that are trainable; or list(variables.values())"
    raise UsageError(
        "only variables can be updated", expected="a list of variables", found=found, hint=hint
    )


def _check_scalar(loss: Any) -> None:
    if not isinstance(loss, Tensor) or loss.ndim:
        raise GradientError(
            "only a scalar can be minimized",
            expected="a tensor without axes",
            found=loss.describe() if isinstance(loss, Tensor) else f"{loss!r:.80}",
            hint="reduce it with mean or sum" if isinstance(loss, Tensor) else None,
        )
