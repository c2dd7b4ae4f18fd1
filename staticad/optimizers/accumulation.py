"""Gradients summed over several runs before they are applied."""

from __future__ import annotations

from staticad_schema.sites import asking

from ..current import scope
from ..graph import Graph
from ..operands import result
from ..ops.selection import where
from ..tensor import Tensor
from ..variable import Variable
from .base import Writes, slot
from .minimizer import Minimizer, inner
from .options import whole


class Accumulate(Minimizer):
    """Applies the mean gradient of `every` runs in the last of them; nothing in the others.

    With a loss that is a mean over its batch, `every` micro-batches of one size train as one
    batch of all their rows does.  The sums are variables of the graph, so that a checkpoint
    between two updates goes on as if there had been none.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (), name="x")
    ...     w = sad.variable(0.0, name="w")
    ...     train = sad.optimizers.Accumulate(sad.optimizers.SGD(1.0), every=2).minimize(w * x)
    >>> session = sad.Session(graph)
    >>> for value in (1.0, 3.0):
    ...     session.run(train, {x: value})
    ...     print(session.variables["w"])
    0.0
    -2.0
    """

    def __init__(self, optimizer: Minimizer, every: int) -> None:
        with asking(type(self).__name__):
            self._every = whole("every", every)
            self._optimizer = inner(optimizer)

    def _apply(
        self, cotangents: list[Tensor], variables: list[Variable], when: Tensor | None
    ) -> list[Tensor]:
        graph = variables[0].graph
        assert isinstance(graph, Graph)
        with scope(graph.free_scope(type(self).__name__, "count")):
            count = graph.variable(0, name="count", trainable=False)
            means = [slot("mean", v) for v in variables]
        last = count + 1 == self._every
        write = Writes(when)
        write.assign(count, where(last, 0, count + 1))
        # Divided before they are summed: the sum may be too large for float16.
        grown = [m + g / self._every for m, g in zip(means, cotangents, strict=True)]
        for mean, new in zip(means, grown, strict=True):
            write.assign(mean, where(last, 0, new))
        due = last if when is None else last & when
        return write.made + self._optimizer._apply(grown, variables, result(due))
