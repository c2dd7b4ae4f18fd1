"""Learning rates that depend on the step: functions from the step counter to a tensor.

The result is float32; the step is the number of updates made so far, so the first is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from staticad_schema.errors import ArgumentError
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT32

from ..elsewhere import missing
from ..numbers import real
from ..ops.elementwise import cos, exp, minimum
from ..ops.selection import where
from ..tensor import Tensor

Schedule = Callable[[Tensor], Any]

__all__ = ["constant", "cosine", "exponential", "piecewise", "warmup"]


def constant(value: float) -> Schedule:
    """Always `value`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     step = sad.variable(0, name="step", trainable=False)
    >>> sad.optimizers.schedules.constant(0.1)(step)
    0.1
    """
    with asking("constant"):
        number = real("value", value)
    return lambda step: number


def exponential(initial: float, factor: float, steps: int) -> Schedule:
    """`initial`, multiplied by `factor` every `steps` steps, continuously.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.exponential(0.1, factor=0.5, steps=10)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 10, 20]))
    >>> sad.Session(graph).run(rates).round(4)
    array([0.1  , 0.05 , 0.025], dtype=float32)
    """
    with asking("exponential"):
        first = real("initial", initial)
        slope = math.log(_positive("factor", factor)) / _positive("steps", steps)
    return lambda step: exp(step.astype(FLOAT32) * slope) * first


def cosine(initial: float, steps: int, final: float = 0.0) -> Schedule:
    """Half a cosine from `initial` to `final` in `steps` steps, then `final`.

    Loshchilov and Hutter 2017, without restarts.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.cosine(0.1, steps=100)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 50, 100, 200]))
    >>> sad.Session(graph).run(rates).round(4)
    array([0.1 , 0.05, 0.  , 0.  ], dtype=float32)
    """
    with asking("cosine"):
        first, last = real("initial", initial), real("final", final)
        length = _positive("steps", steps)

    def rate(step: Tensor) -> Any:
        share = minimum(step.astype(FLOAT32) / length, 1.0)
        return (cos(share * math.pi) + 1.0) * (0.5 * (first - last)) + last

    return rate


def piecewise(boundaries: Sequence[int], values: Sequence[float]) -> Schedule:
    """values[0] before step boundaries[0], values[1] before boundaries[1], and so on.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.piecewise([10, 20], [0.1, 0.01, 0.001])
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([9, 10, 20]))
    >>> sad.Session(graph).run(rates)
    array([0.1  , 0.01 , 0.001], dtype=float32)
    """
    with asking("piecewise"):
        if len(values) != len(boundaries) + 1 or list(boundaries) != sorted(set(boundaries)):
            raise ArgumentError(
                "not one value more than boundaries in ascending order",
                expected=f"ascending boundaries, and {len(boundaries) + 1} values",
                found=f"{list(boundaries)} and {list(values)}",
            )

        levels = [real("a value", value) for value in values]

    def rate(step: Tensor) -> Any:
        value: Any = levels[-1]
        for boundary, before in zip(reversed(boundaries), reversed(levels[:-1]), strict=True):
            value = where(step < boundary, before, value)
        return value

    return rate


def warmup(schedule: float | Schedule, steps: int) -> Schedule:
    """A share of `schedule` that grows evenly to 1 at step `steps` - 1, then all of it.

    schedule: a learning rate, or another schedule.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.warmup(0.1, steps=4)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 1, 3, 9]))
    >>> sad.Session(graph).run(rates).round(4)
    array([0.025, 0.05 , 0.1  , 0.1  ], dtype=float32)
    """
    with asking("warmup"):
        length = _positive("steps", steps)
        constant = None if callable(schedule) else real("schedule", schedule)

    def rate(step: Tensor) -> Any:
        value = schedule(step) if callable(schedule) else constant
        return minimum((step + 1).astype(FLOAT32) / length, 1.0) * value

    return rate


def _positive(name: str, value: Any) -> float:
    number = real(name, value)
    if number <= 0:
        raise ArgumentError(
            f"{name} is out of range", expected="a number above 0", found=repr(value)
        )
    return number


if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("optimizers.schedules", name)
