"""Tensors whose axes have labels: diagonals and sums of one, and the order of its axes.

What is to be done is kept as steps until it is known which of them is the last, and so has the
name that the caller gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from staticad_schema.dims import Shape, Size
from staticad_schema.types import INT64

from ..building import build, renamed

Labels = tuple[str, ...]
Step = tuple[str, dict[str, Any]]
Steps = tuple[Step, ...]


class Labelled(NamedTuple):
    """A handle, and the steps after which it has these labels and this shape."""

    value: Any
    labels: Labels
    shape: Shape
    steps: Steps = ()

    def ready(self, more: Steps = (), label: str | None = None) -> Any:
        """The handle after its steps and some more, the last of which is named."""
        return applied((self.value,), self.steps + more, label)

    def keeping(self, axes: list[int], *steps: Step) -> Labelled:
        """After the steps, which leave these axes only."""
        return Labelled(
            self.value,
            tuple(self.labels[a] for a in axes),
            tuple(self.shape[a] for a in axes),
            self.steps + steps,
        )


def applied(operands: tuple[Any, ...], steps: Steps, label: str | None = None) -> Any:
    """The ops of the steps one after the other, the first of them on all operands."""
    if not steps:
        return renamed(operands[0], label)
    for op, attributes in steps[:-1]:
        operands = (build(op, operands, attributes),)
    op, attributes = steps[-1]
    return build(op, operands, attributes, label=label)


def permuted(labels: Labels, order: Labels) -> Steps:
    """To the labels in another order; no step if it is the same."""
    if labels == order:
        return ()
    return (("permute_dims", {"axes": tuple(labels.index(i) for i in order)}),)


def reshaped(shape: Shape, wanted: Shape) -> Steps:
    """To another shape; no step if it is the same."""
    return () if shape == wanted else (("reshape", {"shape": wanted}),)


def distinct(value: Any, labels: Labels, sizes: Mapping[str, Size]) -> Labelled:
    """The value with each label once, without axes of size 1 that broadcast.

    sizes: the sizes of the labels among all operands.
    """
    part = Labelled(value, labels, value.type.shape)
    for label, times in Counter(labels).items():
        if times > 1:
            part = _diagonal(part, label)
    broadcast = {
        i for i, size in zip(part.labels, part.shape, strict=True) if size == 1 != sizes[i]
    }
    if not broadcast:
        return part
    kept = [a for a, i in enumerate(part.labels) if i not in broadcast]
    return part.keeping(kept, ("reshape", {"shape": tuple(part.shape[a] for a in kept)}))


def summed(part: Labelled, gone: set[str]) -> Labelled:
    """The sum over these labels."""
    axes = tuple(a for a, i in enumerate(part.labels) if i in gone)
    if not axes:
        return part
    kept = [a for a in range(len(part.labels)) if a not in axes]
    return part.keeping(kept, ("sum", {"axis": axes, "keepdims": False}))


def _diagonal(part: Labelled, label: str) -> Labelled:
    """The elements whose positions on all axes of a label are equal, as one axis."""
    axes = [a for a, i in enumerate(part.labels) if i == label]
    own = [part.shape[a] for a in axes]
    known = [size for size in own if isinstance(size, int)]
    return _strided(part, axes, known[0]) if known else _gathered(part, axes, own[0])


def _strided(part: Labelled, axes: list[int], size: int) -> Labelled:
    """A diagonal of known size: every so-manieth element of its axes made one."""
    first, count = axes[0], len(axes)
    order = [*range(first), *axes, *(a for a in range(first, len(part.labels)) if a not in axes)]
    steps: list[Step] = []
    if order != sorted(order):
        steps.append(("permute_dims", {"axes": tuple(order)}))
    shape = tuple(part.shape[a] for a in order)
    flat = (*shape[:first], size**count, *shape[first + count :])
    stride = sum(size**k for k in range(count))
    slices: list[tuple[int | None, int | None, int]] = [(None, None, 1)] * len(flat)
    slices[first] = (None, None, stride)
    steps += [("reshape", {"shape": flat}), ("slice", {"slices": tuple(slices)})]
    order = [*order[: first + 1], *order[first + count :]]
    kept = part.keeping(order, *steps)
    return kept._replace(shape=(*kept.shape[:first], size, *kept.shape[first + 1 :]))


def _gathered(part: Labelled, axes: list[int], size: Size) -> Labelled:
    """A diagonal whose size a run finds, which a step of a slice cannot be."""
    square = tuple(size if a in axes else s for a, s in enumerate(part.shape))
    # Where the sizes have other names, this is what fails unless they are equal.
    value = part.ready(reshaped(part.shape, square))
    place = value.graph.source("iota", {"shape": (size,), "axis": 0, "dtype": INT64})
    value = build("gather", (value, *(place for _ in axes)), {"axes": tuple(axes)})
    rest = [a for a in range(len(square)) if a not in axes]
    labels = (part.labels[axes[0]], *(part.labels[a] for a in rest))
    return Labelled(value, labels, value.type.shape)
