"""Nested tuples, lists and dicts of tensors: taken apart, compared, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from staticad_schema.errors import UsageError


class Tree(NamedTuple):
    """How values are nested.  kind: the type of a tuple, list or dict; None for a value.  keys: of
    a dict."""

    kind: Any
    keys: tuple[Any, ...]
    parts: tuple[Tree, ...]

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inside = [str(part) for part in self.parts]
        if issubclass(self.kind, dict):
            pairs = zip(self.keys, inside, strict=True)
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in pairs) + "}"
        if issubclass(self.kind, list):
            return f"[{', '.join(inside)}]"
        return f"({', '.join(inside)}{',' if len(inside) == 1 else ''})"


VALUE = Tree(None, (), ())


def flattened(nested: Any) -> tuple[list[Any], Tree]:
    """The values in order, and how they are nested."""
    if isinstance(nested, dict):
        found = [flattened(nested[key]) for key in nested]
    elif isinstance(nested, tuple | list):
        found = [flattened(part) for part in nested]
    else:
        return [nested], VALUE
    values = [value for part, _ in found for value in part]
    keys = tuple(nested) if isinstance(nested, dict) else ()
    return values, Tree(type(nested), keys, tuple(tree for _, tree in found))


def like(tree: Tree, nested: Any, what: str) -> list[Any]:
    """The values of what has to be nested as `tree` is, in its order.  Raises UsageError.

    A tuple may stand for a list, and dicts may have their keys in any order.
    """
    found = _like(tree, nested)
    if found is None:
        raise UsageError(
            f"{what} is nested in another way",
            expected=str(tree),
            found=str(flattened(nested)[1]),
            hint="return the same tuples, lists and dicts",
        )
    return found


def _like(tree: Tree, nested: Any) -> list[Any] | None:
    if tree.kind is None:
        return None if isinstance(nested, dict | tuple | list) else [nested]
    if issubclass(tree.kind, dict):
        if not isinstance(nested, dict) or nested.keys() != set(tree.keys):
            return None
        inside: Sequence[Any] = [nested[key] for key in tree.keys]
    elif not isinstance(nested, tuple | list) or len(nested) != len(tree.parts):
        return None
    else:
        inside = nested
    values: list[Any] = []
    for part, given in zip(tree.parts, inside, strict=True):
        found = _like(part, given)
        if found is None:
            return None
        values += found
    return values


def nested(tree: Tree, values: Sequence[Any]) -> Any:
    """The values, nested as the tree says."""
    made, rest = _nested(tree, list(values))
    assert not rest
    return made


def _nested(tree: Tree, values: list[Any]) -> tuple[Any, list[Any]]:
    if tree.kind is None:
        return values[0], values[1:]
    parts = []
    for part in tree.parts:
        made, values = _nested(part, values)
        parts.append(made)
    if issubclass(tree.kind, dict):
        return dict(zip(tree.keys, parts, strict=True)), values
    if hasattr(tree.kind, "_fields"):
        return tree.kind(*parts), values
    return tree.kind(parts), values
