"""What the golden cases' functions of shapes and positions are here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import staticad as sad


def _pad(x: Any, pads: list[int], mode: str, value: float) -> Any:
    half = len(pads) // 2
    named: Any = mode
    return sad.pad(x, tuple(zip(pads[:half], pads[half:], strict=True)), named, value=value)


def _slice(x: Any, slices: list[list[int | None]]) -> Any:
    return x[tuple(slice(*bounds) for bounds in slices)]


def _axes(given: Any) -> Any:
    """Axes, or shifts along them, which are stored as lists."""
    return tuple(given) if isinstance(given, list) else given


def _split(x: Any, sizes: list[int], axis: int) -> Any:
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes) - 1)]
    return sad.split(x, ends, axis)


REDUCTIONS = {"none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min"}


def _scatter_nd(x: Any, indices: Any, updates: Any, reduction: str) -> Any:
    how: Any = REDUCTIONS[reduction]
    return sad.scatter_nd(x, indices, updates, reduction=how)


def _scatter_elements(x: Any, indices: Any, updates: Any, axis: int, reduction: str) -> Any:
    how: Any = REDUCTIONS[reduction]
    return sad.scatter_elements(x, indices, updates, axis, reduction=how)


def _depth_to_space(x: Any, blocksize: int, mode: str) -> Any:
    named: Any = mode
    return sad.nn.depth_to_space(x, blocksize, mode=named)


SHAPES: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, shape: sad.reshape(x, shape),
    "transpose": lambda x, perm: sad.permute_dims(x, perm),
    "expand_dims": lambda x, axis: sad.expand_dims(x, axis=_axes(axis)),
    "squeeze": lambda x, axis: sad.squeeze(x, _axes(axis)),
    "broadcast_to": lambda x, shape: sad.broadcast_to(x, shape),
    "concat": lambda *xs, axis: sad.concat(xs, axis=axis),
    "stack": lambda *xs, axis: sad.stack(xs, axis=axis),
    "unstack": lambda x, axis: sad.unstack(x, axis=axis),
    "split": _split,
    "flip": lambda x, axis: sad.flip(x, axis=_axes(axis)),
    "roll": lambda x, shift, axis: sad.roll(x, _axes(shift), axis=_axes(axis)),
    "tile": lambda x, repeats: sad.tile(x, repeats),
    "repeat": lambda x, repeats, axis: sad.repeat(x, repeats, axis),
    "moveaxis": lambda x, source, destination: sad.moveaxis(x, source, destination),
    "meshgrid": lambda *xs: sad.meshgrid(*xs, indexing="ij"),
    "diag": lambda x, offset: sad.diag(x, offset),
    "diagonal": lambda x, offset: sad.diagonal(x, offset),
    "triu": lambda x, k: sad.triu(x, k),
    "tril": lambda x, k: sad.tril(x, k),
    "slice": _slice,
    "pad": _pad,
    "take": lambda x, indices, axis: sad.take(x, indices, axis=axis),
    "take_along_axis": lambda x, indices, axis: sad.take_along_axis(x, indices, axis=axis),
    "one_hot": lambda indices, depth: sad.one_hot(indices, depth, dtype="int64"),
    "masked_fill": lambda x, mask, value: sad.where(mask, value, x),
    "embedding": lambda table, indices: sad.nn.embedding(indices, table),
    "gather_nd": sad.gather_nd,
    "scatter_nd": _scatter_nd,
    "scatter_elements": _scatter_elements,
    "depth_to_space": _depth_to_space,
    "space_to_depth": lambda x, blocksize: sad.nn.space_to_depth(x, blocksize),
}
