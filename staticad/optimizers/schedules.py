"""Learning rates that depend on the step: functions from the step counter to a tensor.

The result is float64; the step is the number of updates made so far, so the first is 0.
Before an optimizer has them, schedules are plain functions: `lambda step: ...` is one too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from staticad_schema.errors import ArgumentError, UsageError
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64

from ..elsewhere import missing
from ..numbers import real
from ..ops.elementwise import cos, exp, floor, log, maximum, minimum, rsqrt
from ..ops.elementwise import pow as power_of
from ..ops.selection import where
from ..tensor import Tensor
from .options import positive, share, whole

Schedule = Callable[[Tensor], Any]

__all__ = [
    "constant", "exponential", "inverse_sqrt", "linear", "polynomial", "cosine",
    "cosine_restarts", "one_cycle", "piecewise", "warmup", "join",
]  # fmt: skip


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


def exponential(
    initial: float, factor: float, steps: float, *, staircase: bool = False
) -> Schedule:
    """`initial`, multiplied by `factor` every `steps` steps: continuously, or at once if staircase.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.exponential(0.1, factor=0.5, steps=10)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 10, 20]))
    >>> sad.Session(graph).run(rates).round(4)
    array([0.1  , 0.05 , 0.025])
    """
    with asking("exponential"):
        first, length = real("initial", initial), positive("steps", steps)
        slope = math.log(positive("factor", factor))

    def rate(step: Tensor) -> Any:
        times: Any = step.astype(FLOAT64) / length
        return exp((floor(times) if staircase else times) * slope) * first

    return rate


def inverse_sqrt(peak: float, warmup: float) -> Schedule:
    """Evenly up to `peak` at step `warmup` - 1, then falling with the root of the step.

    peak * min((step + 1) / warmup, sqrt(warmup / (step + 1))) (Vaswani et al. 2017).

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.inverse_sqrt(0.1, warmup=4)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 3, 15]))
    >>> sad.Session(graph).run(rates)
    array([0.025, 0.1  , 0.05 ])
    """
    with asking("inverse_sqrt"):
        most, length = real("peak", peak), positive("warmup", warmup)

    def rate(step: Tensor) -> Any:
        done: Any = (step + 1).astype(FLOAT64) / length
        return minimum(done, rsqrt(done)) * most

    return rate


def linear(initial: float, final: float, steps: float) -> Schedule:
    """Evenly from `initial` to `final` in `steps` steps, then `final`; up or down.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.linear(0.1, 0.0, steps=100)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 50, 100, 200]))
    >>> sad.Session(graph).run(rates)
    array([0.1 , 0.05, 0.  , 0.  ])
    """
    with asking("linear"):
        ends = real("initial", initial), real("final", final)
        length = positive("steps", steps)
    return lambda step: _between(*ends, 1.0 - _done(step, length))


def polynomial(initial: float, final: float, steps: float, power: float = 2.0) -> Schedule:
    """From `initial` to `final` in `steps` steps, then `final`, with a power of what is left.

    final + (initial - final) * (1 - step / steps)**power.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.polynomial(0.1, 0.0, steps=100, power=2.0)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 50, 100, 200]))
    >>> sad.Session(graph).run(rates)
    array([0.1  , 0.025, 0.   , 0.   ])
    """
    with asking("polynomial"):
        ends = real("initial", initial), real("final", final)
        length, exponent = positive("steps", steps), positive("power", power)
    return lambda step: _between(*ends, power_of(1.0 - _done(step, length), exponent))


def cosine(initial: float, steps: float, final: float = 0.0) -> Schedule:
    """Half a cosine from `initial` to `final` in `steps` steps, then `final`.

    Loshchilov and Hutter 2017; `cosine_restarts` begins again.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.cosine(0.1, steps=100)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 50, 100, 200]))
    >>> sad.Session(graph).run(rates).round(4)
    array([0.1 , 0.05, 0.  , 0.  ])
    """
    with asking("cosine"):
        ends = real("initial", initial), real("final", final)
        length = positive("steps", steps)
    return lambda step: _between(*ends, _falling(_done(step, length)))


def cosine_restarts(
    initial: float, steps: int, final: float = 0.0, *, growth: int = 1, decay: float = 1.0
) -> Schedule:
    """Half cosines from `initial` to `final`, again and again (Loshchilov and Hutter 2017).

    The first takes `steps` steps; each takes `growth` times as many as the one before, and
    begins with `decay` times its `initial`.  At a restart the rate is that of the new one.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.cosine_restarts(0.1, 2, growth=2, decay=0.5)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.arange(7))
    >>> sad.Session(graph).run(rates).round(4)
    array([0.1   , 0.05  , 0.05  , 0.0427, 0.025 , 0.0073, 0.025 ])
    """
    with asking("cosine_restarts"):
        first, last = real("initial", initial), real("final", final)
        length, factor = whole("steps", steps), whole("growth", growth)
        smaller = positive("decay", decay)

    def rate(step: Tensor) -> Any:
        t: Any = step.astype(FLOAT64)
        cycles: Any = t / length
        if factor == 1:
            cycle = floor(cycles)
            # Whole numbers: the quotient of the first step of a cycle is exact.
            share = cycles - cycle
        else:
            # Cycle k begins at length * (factor**k - 1) / (factor - 1).
            cycle = floor(log(cycles * (factor - 1) + 1.0) / math.log(factor))
            cycle = where(t < _begin(cycle, length, factor), cycle - 1.0, cycle)
            cycle = where(t >= _begin(cycle + 1.0, length, factor), cycle + 1.0, cycle)
            share = (t - _begin(cycle, length, factor)) / (power_of(float(factor), cycle) * length)
        top = power_of(smaller, cycle) * first if smaller != 1 else first
        return _between(top, last, _falling(share))

    return rate


def one_cycle(
    peak: float,
    steps: float,
    *,
    warmup: float = 0.3,
    initial: float | None = None,
    final: float | None = None,
) -> Schedule:
    """Half a cosine up to `peak`, then half a cosine down (Smith and Topin 2018).

    It rises during a share `warmup` of the steps, and ends at step `steps`.
    initial: peak / 25 unless told; final: peak / 250,000 unless told.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.one_cycle(1.0, steps=100, warmup=0.25, final=0.0)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 25, 100, 200]))
    >>> sad.Session(graph).run(rates)
    array([0.04, 1.  , 0.  , 0.  ])
    """
    with asking("one_cycle"):
        most, length = real("peak", peak), positive("steps", steps)
        first = most / 25 if initial is None else real("initial", initial)
        last = most / 250_000 if final is None else real("final", final)
        rise = share("warmup", warmup) * length

    def rate(step: Tensor) -> Any:
        t: Any = step.astype(FLOAT64)
        down = _between(most, last, _falling(_done(maximum(t - rise, 0.0), length - rise)))
        if not rise:
            return down
        return where(t < rise, _between(first, most, _falling(_done(t, rise))), down)

    return rate


def piecewise(boundaries: Sequence[int], values: Sequence[float]) -> Schedule:
    """values[0] before step boundaries[0], values[1] before boundaries[1], and so on.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.piecewise([10, 20], [0.1, 0.01, 0.001])
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([9, 10, 20]))
    >>> sad.Session(graph).run(rates)
    array([0.1  , 0.01 , 0.001])
    """
    with asking("piecewise"):
        levels = [real("a value", value) for value in _listed("values", values)]
        parts = [constant(level) for level in levels]
        _check_boundaries(boundaries, len(levels), "values", levels)
    return _pieces(parts, boundaries, shift=False)


def warmup(schedule: float | Schedule, steps: float) -> Schedule:
    """A share of `schedule` that grows evenly to 1 at step `steps` - 1, then all of it.

    schedule: a learning rate, or another schedule, which counts all steps; `join` puts one
    behind the other.

    >>> import staticad as sad
    >>> rate = sad.optimizers.schedules.warmup(0.1, steps=4)
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 1, 3, 9]))
    >>> sad.Session(graph).run(rates)
    array([0.025, 0.05 , 0.1  , 0.1  ])
    """
    with asking("warmup"):
        length = positive("steps", steps)
        warmed = _schedule(schedule)
    return lambda step: _done(step + 1, length) * warmed(step)


def join(schedules: Sequence[float | Schedule], boundaries: Sequence[int]) -> Schedule:
    """schedules[0] before step boundaries[0], then schedules[1], counting from there, and so on.

    >>> import staticad as sad
    >>> s = sad.optimizers.schedules
    >>> rate = s.join([s.linear(0.0, 0.1, 10), s.cosine(0.1, 100)], [10])
    >>> with sad.Graph() as graph:
    ...     rates = rate(sad.constant([0, 5, 10, 60, 110]))
    >>> sad.Session(graph).run(rates).round(4)
    array([0.  , 0.05, 0.1 , 0.05, 0.  ])
    """
    with asking("join"):
        parts = [_schedule(part) for part in _listed("schedules", schedules)]
        _check_boundaries(boundaries, len(parts), "schedules", schedules)
    return _pieces(parts, boundaries, shift=True)


def _pieces(parts: list[Schedule], boundaries: Sequence[int], shift: bool) -> Schedule:
    starts = [0, *map(int, boundaries)]

    def rate(step: Tensor) -> Any:
        values = [
            _as_tensor(step, part(step - start if shift and start else step))
            for part, start in zip(parts, starts, strict=True)
        ]
        value = values[-1]
        for start, before in zip(reversed(starts[1:]), reversed(values[:-1]), strict=True):
            value = where(step < start, before, value)
        return value

    return rate


def _begin(cycle: Any, length: int, factor: int) -> Any:
    """The first step of a cycle, if each is `factor` times as long as the one before."""
    return (power_of(float(factor), cycle) - 1.0) * (length / (factor - 1))


def _as_tensor(step: Tensor, value: Any) -> Any:
    """What a schedule gave, as float64."""
    if isinstance(value, Tensor):
        return value.astype(FLOAT64)
    return step.graph.constant(np.asarray(real("a learning rate", value)))


def _done(step: Any, length: float) -> Any:
    """The share of the steps that is done, at most 1."""
    return minimum(step.astype(FLOAT64) / length, 1.0)


def _falling(share: Any) -> Any:
    """From 1 to 0 by half a cosine, both exactly."""
    return cos(share * math.pi) * 0.5 + 0.5


def _between(first: Any, last: Any, weight: Any) -> Any:
    """`first` at weight 1 and `last` at weight 0, both exactly."""
    return weight * first + (1.0 - weight) * last


def _schedule(given: Any) -> Schedule:
    """A number or a schedule as a schedule.  Raises UsageError."""
    return given if callable(given) else constant(real("schedule", given))


def _listed(what: str, given: Any) -> list[Any]:
    """Several numbers or schedules as a list.  Raises UsageError."""
    several = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(several, Sequence):
        raise UsageError(
            f"{what} are not a list",
            expected="a list",
            found=f"{given!r:.80}, a {type(given).__name__}",
        )
    return list(several)


def _check_boundaries(boundaries: Any, count: int, what: str, given: Any) -> None:
    """Raises ArgumentError, UsageError."""
    steps = [real("a boundary", b) for b in _listed("boundaries", boundaries)]
    if not all(step.is_integer() for step in steps):
        raise UsageError(
            "a boundary is a step", expected="whole numbers", found=repr(list(boundaries))
        )
    if count != len(boundaries) + 1 or list(boundaries) != sorted(set(boundaries)):
        raise ArgumentError(
            f"not one of the {what} more than boundaries in ascending order",
            expected=f"ascending boundaries, and {len(boundaries) + 1} {what}",
            found=f"{list(boundaries)} and {list(given)!r:.80}",
        )


if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("optimizers.schedules", name)
