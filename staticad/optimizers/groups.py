"""Different optimizers, or rates, for different variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.errors import ArgumentError, GraphError, UsageError
from staticad_schema.sites import asking

from ..tensor import Tensor
from ..variable import Variable
from .minimizer import Minimizer, inner
from .options import Mask, member


class Groups(Minimizer):
    """An optimizer for each group of variables; one effect updates all of them.

    groups: pairs of an optimizer and its variables, as a list or a function from a variable to a
    bool; the first group that a variable is in counts.  rest: the optimizer of the variables in
    no group.  Each optimizer has its own rate and state.  Raises GraphError for a variable in
    no group if there is no rest.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a, b = sad.variable(1.0, name="a"), sad.variable(1.0, name="b")
    ...     SGD = sad.optimizers.SGD
    ...     optimizer = sad.optimizers.Groups([(SGD(0.1), [a])], rest=SGD(0.25))
    ...     train = optimizer.minimize(a * a + b * b)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.run([a, b])
    [array(0.8, dtype=float32), array(0.5, dtype=float32)]
    """

    def __init__(
        self, groups: Sequence[tuple[Minimizer, Mask]], rest: Minimizer | None = None
    ) -> None:
        with asking(type(self).__name__):
            self._groups = []
            given: Sequence[Any] = groups
            for group in given:
                if not isinstance(group, tuple | list) or len(group) != 2:
                    raise UsageError(
                        "not a group",
                        expected="a pair of an optimizer and its variables",
                        found=f"{group!r:.80}, a {type(group).__name__}",
                    )
                self._groups.append((inner(group[0]), member(group[1])))
            self._rest = None if rest is None else inner(rest)
            optimizers = [o for o, _ in self._groups] + ([] if rest is None else [rest])
            if len({id(o) for o in optimizers}) < len(optimizers):
                raise ArgumentError(
                    "an optimizer has two groups",
                    expected="an optimizer for each group, since each counts its own steps",
                    found=f"{len(optimizers)} groups of {len({id(o) for o in optimizers})}",
                )

    def _apply(
        self, cotangents: list[Tensor], variables: list[Variable], when: Tensor | None
    ) -> list[Tensor]:
        chosen: dict[Minimizer, tuple[list[Tensor], list[Variable]]] = {}
        for g, v in zip(cotangents, variables, strict=True):
            optimizer = next((o for o, has in self._groups if has(v)), self._rest)
            if optimizer is None:
                raise GraphError(
                    "a variable is in no group",
                    expected="each variable in a group, or an optimizer as `rest`",
                    found=v.describe(),
                )
            own = chosen.setdefault(optimizer, ([], []))
            own[0].append(g)
            own[1].append(v)
        writes = []
        for optimizer, (gs, vs) in chosen.items():
            writes += optimizer._apply(gs, vs, when)
        return writes
