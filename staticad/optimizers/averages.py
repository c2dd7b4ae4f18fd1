"""Averages of variables over their training, which often generalize better than the last values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from staticad_schema.errors import GraphError, UsageError
from staticad_schema.handle import Effect
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64, INEXACT, WIDENED

from ..building import renamed
from ..current import scope
from ..gradients.calls import dependencies
from ..gradients.cone import ancestors
from ..graph import Graph, current_graph
from ..operands import result
from ..ops.control import group
from ..ops.elementwise import maximum
from ..ops.selection import where
from ..options import flag
from ..tensor import Tensor
from ..variable import After, Variable
from .base import Writes, slot
from .minimizer import checked, switch
from .moments import correction
from .options import share


class Average(ABC):
    """Averages of variables, as variables of the graph; `update` takes the present values in.

    variables: by default all trainable ones, of an inexact dtype, of the graph being built.
    Averages of float16 and bfloat16 are kept in float32.
    """

    def __init__(self, variables: Sequence[Variable] | None, *, from_initial: bool) -> None:
        """from_initial: the averages begin with the variables' initial values, else with 0."""
        name = type(self).__name__
        if variables is None:
            graph = current_graph(name)
            chosen = [v for v in graph.variables.values() if v.trainable and v.type.kind in INEXACT]
        else:
            chosen = checked(variables)
        if not chosen:
            raise GraphError(
                "there are no variables to average",
                expected="trainable variables, made before",
                found="none",
            )
        first = chosen[0].graph
        assert isinstance(first, Graph)
        self._graph = first
        self._averages: dict[int, tuple[Variable, Variable]] = {}
        self._values: dict[int, Tensor] = {}
        with first, scope(first.free_scope(name, "count")):
            self._count = first.variable(0, name="count", trainable=False)
            for v in chosen:
                first.check_owner(v, name, chosen[0])
                dtype = WIDENED.get(v.dtype, v.dtype)
                start = v.initial.astype(dtype) if from_initial else None
                self._averages[v.id] = (v, slot("average", v, dtype=dtype, initial=start))

    def update(
        self, after: After = (), *, when: Tensor | None = None, name: str | None = None
    ) -> Effect:
        """An effect that takes the variables' values behind `after` into the averages.

        after: effects and tensors, such as a training step, which run with it.
        when: a bool tensor; in a run where it is false the averages stay.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     w = sad.variable(4.0, name="w")
        ...     step = sad.optimizers.SGD(0.25).minimize(w * w)
        ...     averages = sad.optimizers.StochasticWeightAverage()
        ...     train = averages.update(after=step, name="train")
        >>> session = sad.Session(graph)
        >>> for _ in range(3):
        ...     session.run(train)
        >>> session.run([w, averages.average(w)])
        [array(0.5, dtype=float32), array(1.1666666, dtype=float32)]
        """
        with asking("update", name), self._graph:
            if when is not None:
                when = switch("when", when, self._graph)
            write = Writes(when)
            rate = self._rate(self._count.astype(FLOAT64))
            for v, average in self._averages.values():
                now = v.read(after).astype(average.dtype)
                write.subtract(average, (average - now) * rate.astype(average.dtype))
            write.count(self._count)
            return group(*write.made, name=name)

    def average(self, variable: Any, *, name: str | None = None) -> Tensor:
        """The average of a Variable; before the first update, the variable.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     w = sad.variable(4.0, name="w")
        ...     averages = sad.optimizers.ExponentialMovingAverage(0.9)
        ...     update = averages.update(after=w.assign(2.0))
        >>> session = sad.Session(graph)
        >>> session.run(averages.average(w))
        array(4., dtype=float32)
        >>> session.run(update)
        >>> session.run(averages.average(w)).round(4)
        np.float32(2.0)
        """
        with asking("average", name), self._graph:
            if not isinstance(variable, Variable) or variable.id not in self._averages:
                raise UsageError(
                    "not a variable of these averages",
                    expected=", ".join(v.describe() for v, _ in list(self._averages.values())[:3]),
                    found=variable.describe()
                    if isinstance(variable, Tensor)
                    else f"{variable!r:.80}, a {type(variable).__name__}",
                )
            return result(renamed(self._value(variable), name))

    def evaluate(self, tensor: Any, *, name: str | None = None) -> Tensor:
        """A tensor as it would be if the variables had the values of their averages.

        What it is computed of is built a second time.  Raises GraphError if a write or a
        called body is part of that.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     x = sad.placeholder("float32", (), name="x")
        ...     w = sad.variable(4.0, name="w")
        ...     y = sad.square(w * x)
        ...     averages = sad.optimizers.StochasticWeightAverage()
        ...     update = averages.update(after=w.assign(w + 2))
        ...     smooth = averages.evaluate(y, name="smooth")
        >>> session = sad.Session(graph)
        >>> for _ in range(2):
        ...     session.run(update)
        >>> session.run([y, smooth], {x: 1.0})
        [array(64., dtype=float32), array(49., dtype=float32)]
        """
        with asking("evaluate", name), self._graph:
            if not isinstance(tensor, Tensor):
                raise UsageError(
                    "not a tensor", expected="a tensor of the graph", found=f"{tensor!r:.80}"
                )
            self._graph.check_owner(tensor, "evaluate", self._count)
            return result(renamed(self._copied(tensor), name))

    def _copied(self, tensor: Tensor) -> Any:
        """The tensor, from copies of the nodes between the variables and it."""
        graph = self._graph
        values: dict[int, int] = {}
        visited = ancestors(graph, [tensor.id], min(self._averages))
        for index in visited:
            node = graph.nodes[index]
            read = self._read(node)
            if read is not None:
                values[node.start] = self._value(read).id
                continue
            if not any(i in values for i in dependencies(graph, node)):
                continue
            definition = OPS[node.op]
            if definition.effect == "writes" or any(
                i in values for i in dependencies(graph, node)[len(node.inputs) :]
            ):
                raise GraphError(
                    "a part of it cannot be computed a second time",
                    expected="a tensor without writes and calls between the variables and it",
                    found=f"{node.op} {graph.value_name(node.start)!r}",
                )
            copy = graph.make(
                definition,
                [values.get(i, i) for i in node.inputs],
                graph.resolved(node.attributes),
                after=node.after,
            )
            values.update(zip(node.outputs, copy.outputs, strict=True))
        return graph.handle(values.get(tensor.id, tensor.id))

    def _read(self, node: Node) -> Variable | None:
        """The averaged variable whose value the node is."""
        if node.op not in ("variable", "read_variable"):
            return None
        spec = self._graph.variable_specs[node.attributes["variable"]]
        pair = self._averages.get(self._graph.nodes[spec.node].start)
        return None if pair is None else pair[0]

    def _value(self, variable: Variable) -> Tensor:
        """The average as a tensor, built once."""
        if variable.id in self._values:
            return self._values[variable.id]
        _, kept = self._averages[variable.id]
        started = self._count > 0
        share = self._share(maximum(self._count, 1).astype(FLOAT64))
        value = kept if share is None else kept / share.astype(kept.dtype)
        made = result(where(started, value.astype(variable.dtype), variable))
        self._values[variable.id] = made
        return made

    @abstractmethod
    def _rate(self, count: Any) -> Any:
        """How much of the difference is taken in, after `count` updates."""

    @abstractmethod
    def _share(self, count: Any) -> Any:
        """The sum of the weights after `count` updates, which is at least 1; None: it is 1."""


class ExponentialMovingAverage(Average):
    """Averages that forget: average = decay * average + (1 - decay) * value.

    debias: they begin with 0 and are divided by 1 - decay**updates, as Adam's moments are, so
    that the values that the variables began with do not count; else they begin with these.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(0.0, name="w")
    ...     averages = sad.optimizers.ExponentialMovingAverage(0.5, [w])
    ...     update = averages.update(after=w.assign(w + 3))
    ...     smooth = averages.average(w)
    >>> session = sad.Session(graph)
    >>> session.run(update)
    >>> session.run(update)
    >>> session.run([w, smooth])
    [array(6., dtype=float32), array(5., dtype=float32)]
    """

    def __init__(
        self,
        decay: float = 0.999,
        variables: Sequence[Variable] | None = None,
        *,
        debias: bool = True,
    ) -> None:
        with asking(type(self).__name__):
            self._decay = share("decay", decay)
            self._debias = flag("debias", debias)
            super().__init__(variables, from_initial=not debias)

    def _rate(self, count: Any) -> Any:
        return self._graph.constant(1.0 - self._decay, dtype=FLOAT64)

    def _share(self, count: Any) -> Any:
        return correction(count, self._decay) if self._debias else None


class StochasticWeightAverage(Average):
    """The mean of the variables' values over all updates (Izmailov et al. 2018).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(0.0, name="w")
    ...     averages = sad.optimizers.StochasticWeightAverage([w])
    ...     update = averages.update(after=w.assign(w + 3))
    ...     mean = averages.average(w)
    >>> session = sad.Session(graph)
    >>> session.run(update)
    >>> session.run(update)
    >>> session.run([w, mean])
    [array(6., dtype=float32), array(4.5, dtype=float32)]
    """

    def __init__(self, variables: Sequence[Variable] | None = None) -> None:
        with asking(type(self).__name__):
            super().__init__(variables, from_initial=False)

    def _rate(self, count: Any) -> Any:
        return 1.0 / (count + 1.0)

    def _share(self, count: Any) -> Any:
        return None
