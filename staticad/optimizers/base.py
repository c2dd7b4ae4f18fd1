"""What optimizers share: a step counter, a learning rate, and state beside the variables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.sites import asking, warn
from staticad_schema.types import FLOAT64, INT64, REAL, REAL_OF, DType

from ..current import scope
from ..graph import Graph, current_graph
from ..numbers import is_real, real
from ..operands import result
from ..ops.control import identity
from ..ops.selection import where
from ..ops.sources import full_like
from ..tensor import Tensor
from ..variable import Variable
from .minimizer import Minimizer

Schedule = Callable[[Tensor], Any]


class Writes:
    """The writes of one update, in their order; without effect where `when` is false."""

    def __init__(self, when: Tensor | None) -> None:
        self.when = when
        self.made: list[Tensor] = []

    def assign(self, v: Variable, new: Any) -> None:
        """Set the variable."""
        self.made.append(v.assign(new if self.when is None else where(self.when, new, v)))

    def subtract(self, v: Variable, step: Any) -> None:
        """Subtract from the variable.  Nothing is a step of 0, which changes no bit."""
        self.made.append(v.assign_sub(step if self.when is None else where(self.when, step, 0)))

    def count(self, v: Variable) -> None:
        """Add 1 to the counter."""
        self.made.append(v.assign_add(1 if self.when is None else self.when.astype(INT64)))


class Optimizer(Minimizer):
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
        # Options that guard only if the variables' dtype can hold them, by name: what they are
        # and the number that they must not be rounded to.
        self._delicate: dict[str, tuple[float, int]] = {}

    @property
    def step(self) -> Tensor:
        """int64: how many updates have been made when the run starts."""
        return self._bound()[0]

    @property
    def learning_rate(self) -> Tensor:
        """The learning rate of the present step; a number is a float64."""
        return self._bound()[1]

    def _apply(
        self, cotangents: list[Tensor], variables: list[Variable], when: Tensor | None
    ) -> list[Tensor]:
        if self._step is not None:
            self._graph().check_owner(self._step, type(self).__name__, variables[0])
        step, _ = self._bound()
        for p in variables:
            self._warn_of_rounding(p)
        writes = Writes(when)
        self._update(cotangents, variables, writes)
        writes.count(step)
        return writes.made

    @abstractmethod
    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        """Write the variables and the state of one update."""

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
        number = real("learning_rate", value)
        return result(graph.constant(number, name="learning_rate", dtype=FLOAT64))

    def _slots(
        self, name: str, variables: list[Variable], start: float = 0.0, *, real: bool = False
    ) -> list[Variable]:
        """A variable for each variable, of its shape and dtype, that begins with one number.

        real: of a complex variable, one of the real dtype of the same precision."""
        with scope(self._scope):
            return [
                slot(name, v, start, REAL_OF.get(v.dtype, v.dtype) if real else v.dtype)
                for v in variables
            ]

    def _guard(self, name: str, value: float, rounded: int) -> float:
        """An option as a number; where it is rounded to another, `apply` warns."""
        self._delicate[name] = (value, rounded)
        return value

    def _warn_of_rounding(self, p: Variable) -> None:
        for name, (value, rounded) in self._delicate.items():
            if value and np.asarray(value).astype(p.dtype) == rounded:
                warn(
                    f"{type(self).__name__}: {name} {value} is {rounded} in {p.dtype.name}, "
                    f"the dtype of {p.name!r}",
                    UserWarning,
                )


def slot(
    place: str,
    v: Variable,
    start: float = 0.0,
    dtype: DType | None = None,
    initial: Tensor | None = None,
) -> Variable:
    """State of the shape and name of a variable, in a scope called `place`."""
    graph = v.graph
    assert isinstance(graph, Graph)
    with scope(place):
        if initial is None:
            initial = full_like(v.initial, start, dtype=dtype)
        shape = None if initial.shape == v.shape else v.shape
        return graph.variable(initial, v.name, trainable=False, shape=shape)


class Constants:
    """A number in the dtypes of the variables, made once in each; rounding is not warned of."""

    def __init__(self, value: float) -> None:
        self.value = value
        self._made: dict[DType, Tensor] = {}

    def beside(self, p: Tensor) -> Tensor:
        """The number in the dtype of p."""
        if p.dtype not in self._made:
            # As an array, which is not warned of.
            self._made[p.dtype] = p.graph.constant(np.asarray(self.value).astype(p.dtype))
        return self._made[p.dtype]
