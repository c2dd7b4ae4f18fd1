"""How sums over places of a kernel move over spatial axes: what generated kernels are told of it.

A convolution gathers for each result what its kernel sees of the source.  The transpose in the
input gathers, too: of its elements those that lie alike to the windows, a phase, are reached by
the same places of the kernel, from windows that lie side by side.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from staticad_schema.types import TensorType

from .region import Operand, Region, Shape, row_major, shape_of

MOST_PHASES = 16


class Axis(NamedTuple):
    """A spatial axis of results.

    Result i of `length` lies `first + i * apart` on its axis.  Through place j of the kernel's
    `taps` it sees place i * step + j * move + base of the source, if that is from 0 to size - 1.
    That place of the kernel is `tap + j * by` of the weights.  source, weight, result: how many
    elements of memory neighbours are apart.
    """

    length: int
    size: int
    taps: int
    step: int
    move: int
    base: int
    source: int
    weight: int
    result: int
    first: int = 0
    apart: int = 1
    tap: int = 0
    by: int = 1

    @property
    def low(self) -> int:
        """What the first result sees first of the source."""
        return self.base + min(0, self.back)

    @property
    def back(self) -> int:
        """How far the last place of the kernel lies from the first."""
        return max(self.taps - 1, 0) * self.move

    @property
    def plain(self) -> bool:
        """Whether each result sees the element at its own place and no other."""
        same = self.taps == self.step == self.apart == 1 and self.base == self.first == 0
        return same and self.length == self.size

    def reach(self, count: int) -> int:
        """How many places of the source so many results see."""
        return (count - 1) * self.step + abs(self.back) + 1


class Gather(NamedTuple):
    """Sums over channels and places of a kernel; all of it within groups of channels.

    Strides count elements: source (image, channel), weight (of a group, a result's channel, a
    source's channel), result (image, channel).  at: the result's first element.
    """

    images: int
    groups: int
    channels: int
    outputs: int
    axes: tuple[Axis, ...]
    source: tuple[int, int]
    weight: tuple[int, int, int]
    result: tuple[int, int]

    @property
    def taps(self) -> int:
        """Places of the kernel."""
        return math.prod(a.taps for a in self.axes)

    @property
    def depth(self) -> int:
        """Products of a sum."""
        return self.channels * self.taps

    @property
    def results(self) -> int:
        """Results of the sums."""
        counts = math.prod(a.length for a in self.axes)
        return self.images * self.groups * self.outputs * counts

    @property
    def at(self) -> int:
        """The place of the first result."""
        return sum(a.first * a.result for a in self.axes)

    @property
    def tap_at(self) -> int:
        """The place of the first weight."""
        return sum(a.tap * a.weight for a in self.axes)

    @property
    def largest(self) -> int:
        """What offsets may come to."""
        source = self.images * abs(self.source[0]) + self.groups * self.channels * abs(
            self.source[1]
        )
        source += sum((abs(a.low) + a.reach(a.length)) * max(1, abs(a.source)) for a in self.axes)
        weight = self.groups * abs(self.weight[0]) + self.outputs * abs(self.weight[1])
        weight += self.channels * abs(self.weight[2]) + sum(
            a.taps * abs(a.by * a.weight) for a in self.axes
        )
        result = self.images * abs(self.result[0]) + self.groups * self.outputs * abs(
            self.result[1]
        )
        result += sum(a.length * abs(a.apart * a.result) for a in self.axes)
        return max(source, weight, result, self.groups * self.outputs * self.depth)


def gathers(region: Region) -> list[Gather]:
    """What the one step of a region sums: `conv` once, `conv_input` once a phase."""
    (step,) = region.steps
    source, weights = (region.operands[v] for v in step.inputs)
    groups: int = step.attributes["groups"]
    outputs, each = weights.shape[0] // groups, weights.shape[1]
    result = row_major(shape_of(step.types[0]))
    of_result, of_source = weights.strides[:2]
    of_group = outputs * of_result
    counts = shape_of(step.types[0])[2:]
    channels, results = each, outputs
    if step.op == "conv_input":
        channels, results = outputs, each
        of_result, of_source = of_source, of_result
    moving = (step.attributes[name] for name in ("strides", "padding", "dilation"))
    given = zip(
        counts, source.shape[2:], weights.shape[2:], *moving,
        source.strides[2:], weights.strides[2:], result[2:], strict=True,
    )  # fmt: skip
    make = _axis if step.op == "conv" else _phases
    phases = [make(*one) for one in given]
    strides = (
        (source.strides[0], source.strides[1]),
        (of_group, of_result, of_source),
        (result[0], result[1]),
    )
    shape = source.shape[0], groups, channels, results
    return [Gather(*shape, merged(axes), *strides) for axes in itertools.product(*phases)]


def seen_by_windows(region: Region) -> Gather:
    """What the windows of `conv_weights` see of its first operand; its results are the second
    one, and its weights the result."""
    (step,) = region.steps
    x, g = operands_of(region)
    groups: int = step.attributes["groups"]
    shape = shape_of(step.types[0])
    own = row_major(shape)
    moving = (step.attributes[name] for name in ("strides", "padding", "dilation"))
    given = zip(
        g.shape[2:], x.shape[2:], shape[2:], *moving,
        x.strides[2:], own[2:], g.strides[2:], strict=True,
    )  # fmt: skip
    axes = merged([axis for one in given for axis in _axis(*one)])
    outputs = shape[0] // groups
    of_groups = (outputs * own[0], own[0], own[1])
    source, result = x.strides, g.strides
    return Gather(
        x.shape[0], groups, shape[1], outputs, axes,
        (source[0], source[1]), of_groups, (result[0], result[1]),
    )  # fmt: skip


def axes_of_windows(region: Region, windows: TensorType) -> tuple[Axis, ...]:
    """The axes of pooling, for the one step of a region: what windows see of a tensor.

    windows: the type with a place for each of them; the other one of operand and result is seen.
    """
    (step,) = region.steps
    (seen,) = operands_of(region)
    counts = shape_of(windows)[2:]
    spread = step.op == "window_spread"
    sizes = shape_of(step.types[0])[2:] if spread else seen.shape[2:]
    moving = (step.attributes[name] for name in ("window", "strides", "padding", "dilation"))
    none = (0,) * len(counts)
    given = zip(counts, sizes, *moving, seen.strides[2:], none, none, strict=True)
    return tuple(axis for one in given for axis in _axis(*one))


def count_of_phases(attributes: Mapping[str, Any], shape: Shape) -> int:
    """How many gathers `conv_input` to such a shape is."""
    pairs = zip(attributes["strides"], shape, strict=True)
    return math.prod(min(stride, size) for stride, size in pairs)


def _axis(
    count: int, size: int, kernel: int, stride: int, pad: tuple[int, int], dilation: int,
    source: int, weight: int, result: int,
) -> list[Axis]:  # fmt: skip
    axis = Axis(count, size, kernel, stride, dilation, -pad[0], source, weight, result)
    return [_without_far(axis)]


def _phases(
    count: int, size: int, kernel: int, stride: int, pad: tuple[int, int], dilation: int,
    source: int, weight: int, result: int,
) -> list[Axis]:  # fmt: skip
    """Place k of window i lies on element a if a + pad[0] = i stride + k dilation.  So k is known
    up to multiples of `period`, with which i moves by `step`."""
    common = math.gcd(stride, dilation)
    period, step = stride // common, dilation // common
    inverse = pow(step, -1, period)
    found = []
    for first in range(min(stride, count)):
        quotient, rest = divmod(first + pad[0], common)
        start = kernel if rest else quotient * inverse % period
        taps = len(range(start, kernel, period))
        base = (first + pad[0] - start * dilation) // stride if taps else 0
        length = len(range(first, count, stride))
        axis = Axis(
            length, size, taps, 1, -step, base, source, weight, result,
            first, stride, start if taps else 0, period,
        )  # fmt: skip
        found.append(_without_far(axis))
    return found


def _without_far(axis: Axis) -> Axis:
    """The same without steps of any size to where nothing is."""
    if axis.length <= 1:
        axis = axis._replace(step=1, apart=1)
    return axis._replace(move=1, by=1) if axis.taps <= 1 else axis


def merged(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """The same as at least two axes, plain ones that lie in one line as one."""
    found: list[Axis] = []
    for axis in axes:
        last = found[-1] if found else None
        if (
            last is not None
            and last.plain
            and axis.plain
            and last.source == axis.source * axis.size
            and last.result == axis.result * axis.length
        ):
            count = last.length * axis.length
            found[-1] = axis._replace(length=count, size=count)
        else:
            found.append(axis)
    if len(found) == 1:
        found.insert(0, Axis(1, 1, 1, 1, 1, 0, 0, 0, 0))
    return tuple(found)


def operands_of(region: Region) -> tuple[Operand, ...]:
    """The operands of the one step of a region, in its order."""
    (step,) = region.steps
    return tuple(region.operands[v] for v in step.inputs)
