"""What optimizers share: a step counter, a learning rate, and one effect that updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from staticad_schema.errors import GradientError, ShapeError, UsageError
from staticad_schema.handle import Effect
from staticad_schema.sites import asking
from staticad_schema.types import INEXACT, REAL

from ..current import scope
from ..gradients import gradients
from ..graph import Graph, current_graph
from ..numbers import is_real, real
from ..operands import result
from ..ops.control import group, identity
from ..ops.sources import zeros_like
from ..tensor import Tensor
from ..variable import Variable

Schedule = Callable[[Tensor], Any]


class Optimizer(ABC):
    """Updates variables so that a loss decreases; `minimize` builds the nodes.

    learning_rate: a number, a scalar tensor, or a schedule, which is a function of the step.
    Everything that an update reads is the value at the start of the run.  The optimizer's step
    and state are variables of the graph that are not trained.
    """

    def __init__(self, learning_rate: float | Tensor | Schedule) -> None:
        if not (
            is_real(learning_rate) or isinstance(learning_rate, Tensor) or callable(learning_rate)
        ):
            with asking(type(self).__name__):
                raise UsageError(
                    "not a learning rate",
                    expected="a number, a scalar tensor, or a function of the step",
                    found=f"{learning_rate!r:.80}, a {type(learning_rate).__name__}",
                )
        self._given = learning_rate
        self._step: Variable | None = None
        self._learning_rate: Tensor | None = None
        self._scope = ""

    @property
    def step(self) -> Tensor:
        """int64: how many updates have been made when the run starts."""
        return self._bound()[0]

    @property
    def learning_rate(self) -> Tensor:
        """The learning rate of the present step."""
        return self._bound()[1]

    def minimize(
        self,
        loss: Tensor,
        variables: Sequence[Variable] | None = None,
        *,
        name: str | None = None,
    ) -> Effect:
        """An effect that updates the variables once, and runs `graph.updates` too.

        loss: a scalar.  variables: by default all trainable ones, of an inexact dtype, that the
        loss depends on.  Raises GradientError if there are none.

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
            graph = loss.graph
            assert isinstance(graph, Graph)
            if variables is None:
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
                return self.apply([g for g, _ in pairs], [v for _, v in pairs], name=name)
            chosen = _checked(variables)
            return self.apply(gradients(loss, chosen), chosen, name=name)

    def apply(
        self,
        cotangents: Sequence[Tensor],
        variables: Sequence[Variable],
        *,
        name: str | None = None,
    ) -> Effect:
        """An effect that updates the variables once with these gradients, which may be clipped, ….

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
            variables = _checked(variables)
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
            if self._step is not None:
                graph.check_owner(self._step, type(self).__name__, variables[0])
            with graph:
                step, _ = self._bound()
                writes = self._update(list(cotangents), list(variables))
                writes.append(step.assign_add(1))
                return group(*writes, *graph.updates, name=name)

    @abstractmethod
    def _update(self, cotangents: list[Tensor], variables: list[Variable]) -> list[Tensor]:
        """The writes of one update."""

    def _bound(self) -> tuple[Variable, Tensor]:
        """Step and learning rate, made in the graph where they are first asked for."""
        graph = current_graph(type(self).__name__) if self._step is None else self._graph()
        if self._step is None or self._learning_rate is None:
            self._scope = graph.free_scope(type(self).__name__, "step")
            with graph, scope(self._scope):
                self._step = graph.variable(0, name="step", trainable=False)
                self._learning_rate = self._rate(graph, self._step)
        return self._step, self._learning_rate

    def _graph(self) -> Graph:
        assert self._step is not None
        graph = self._step.graph
        assert isinstance(graph, Graph)
        return graph

    def _rate(self, graph: Graph, step: Tensor) -> Tensor:
        value = self._given
        if not isinstance(value, Tensor) and callable(value):
            value = value(step)
        if isinstance(value, Tensor):
            graph.check_owner(value, "learning_rate")
            if value.ndim or value.type.kind not in REAL:
                raise ShapeError(
                    "a learning rate is one real number",
                    expected="a tensor without axes, of a real dtype",
                    found=value.describe(),
                )
            return identity(value, name="learning_rate")
        return result(graph.constant(real("learning_rate", value), name="learning_rate"))

    def _slots(self, name: str, variables: list[Variable]) -> list[Variable]:
        """A variable of zeros for each variable, of its shape and dtype."""
        slots = []
        for v in variables:
            with scope(self._scope), scope(name):
                start = zeros_like(v.initial)
                shape = None if start.shape == v.shape else v.shape
                slot = self._graph().variable(start, v.name, trainable=False, shape=shape)
            slots.append(slot)
        return slots


def _checked(variables: Any) -> list[Variable]:
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
