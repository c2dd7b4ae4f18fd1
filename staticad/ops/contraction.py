"""Two labelled tensors contracted: a product of elements, or one matmul.

Of all ways to write a pair as a matmul the one with the fewest other nodes is taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from staticad_schema.dims import Shape, Size
from staticad_schema.shapes import product

from .labelled import Labels, Steps, applied, permuted, reshaped

Groups = Sequence[Labels]

# A transpose may move the elements in memory, a reshape seldom does.
_TRANSPOSE, _RESHAPE = 2, 1


class Way(NamedTuple):
    """How a pair is multiplied: the operands in this order, each after its steps, by matmul,
    and the steps after that."""

    cost: int
    swapped: bool
    left: Steps
    right: Steps
    after: Steps
    labels: Labels


def rounds_once(a: Labels, b: Labels, kept: frozenset[str]) -> bool:
    """Whether contracting a pair is one op that rounds."""
    shared = set(a) & set(b) - kept
    return not shared or not _by_elements(a, b, shared)


def _by_elements(a: Labels, b: Labels, shared: set[str]) -> bool:
    """Whether a sum of products of elements is better than stacks of rows times columns."""
    return set(a) == set(b) and len(a) > 1


def contracted(
    a: Any,
    b: Any,
    labels: tuple[Labels, Labels],
    kept: frozenset[str],
    order: Labels | None = None,
    name: str | None = None,
) -> tuple[Any, Labels]:
    """The sum of the products of two handles over the labels that they share and are not kept.

    labels: of a and of b, each once.  order: of the labels of the result, if that matters.
    Returns the result, called `name`, and its labels.
    """
    shared = set(labels[0]) & set(labels[1]) - kept
    if not shared:
        return _multiplied(a, b, labels, order, name)
    if _by_elements(*labels, shared):
        return _summed_product(a, b, labels, shared, order, name)
    shapes = a.type.shape, b.type.shape
    way = min(_ways(labels, shapes, kept, order), key=lambda way: way.cost)
    left, right = (b, a) if way.swapped else (a, b)
    operands = applied((left,), way.left), applied((right,), way.right)
    return applied(operands, (("matmul", {}), *way.after), name), way.labels


def _multiplied(
    a: Any, b: Any, labels: tuple[Labels, Labels], order: Labels | None, name: str | None
) -> tuple[Any, Labels]:
    """The product of the elements, where nothing is summed."""
    mine, others = labels
    if order is None:
        first, second = (others, mine) if set(mine) < set(others) else (mine, others)
        order = (*first, *(i for i in second if i not in first))
    operands = _aligned(a, mine, order), _aligned(b, others, order)
    return applied(operands, (("multiply", {}),), name), order


def _aligned(x: Any, labels: Labels, order: Labels) -> Any:
    """x so that it broadcasts against a tensor with the labels `order`."""
    sizes = dict(zip(labels, x.type.shape, strict=True))
    own = tuple(i for i in order if i in sizes)
    spread = tuple(sizes.get(i, 1) for i in order[order.index(own[0]) :]) if own else ()
    shape = tuple(sizes[i] for i in own)
    return applied((x,), permuted(labels, own) + reshaped(shape, spread))


def _summed_product(
    a: Any,
    b: Any,
    labels: tuple[Labels, Labels],
    shared: set[str],
    order: Labels | None,
    name: str | None,
) -> tuple[Any, Labels]:
    """The sum of the products of the elements of two operands with the same labels."""
    mine, others = labels
    base = mine
    if _without(mine, shared) != order == _without(others, shared):
        base = others
    operands = applied((a,), permuted(mine, base)), applied((b,), permuted(others, base))
    axes = tuple(k for k, i in enumerate(base) if i in shared)
    found = _without(base, shared)
    total = ("sum", {"axis": axes, "keepdims": False})
    wanted = found if order is None else order
    return applied(operands, (("multiply", {}), total, *permuted(found, wanted)), name), wanted


def _without(labels: Labels, gone: set[str]) -> Labels:
    return tuple(i for i in labels if i not in gone)


# ------------------------------------------------------------------ matmul


def _ways(
    labels: tuple[Labels, Labels],
    shapes: tuple[Shape, Shape],
    kept: frozenset[str],
    order: Labels | None,
) -> Iterator[Way]:
    """Every way to write the pair as a matmul."""
    for swapped in (False, True):
        p, q = (labels[1], labels[0]) if swapped else labels
        sizes = dict(zip(labels[0] + labels[1], shapes[0] + shapes[1], strict=True))
        for batch, inner, rows, columns in _orders(p, q, kept, order):
            for k, n in _splits(len(rows), len(columns)):
                axes = _Axes(batch, rows[:k], columns[:n], rows[k:], inner, columns[n:])
                left, right, out = axes.groups()
                steps = _grouped(p, left, sizes), _grouped(q, right, sizes)
                found = tuple(i for group in out for i in group)
                after = reshaped(_shape(out, sizes), tuple(sizes[i] for i in found))
                wanted = found if order is None else order
                after += permuted(found, wanted)
                cost = sum(_cost(part) for part in (*steps, after))
                yield Way(cost, swapped, *steps, after, wanted)


class _Axes(NamedTuple):
    """The labels of two operands of a matmul, by what their axes are for.

    batch: both operands'.  p_stack, q_stack: axes of the stack that one operand has.
    """

    batch: Labels
    p_stack: Labels
    q_stack: Labels
    rows: Labels
    inner: Labels
    columns: Labels

    def groups(self) -> tuple[Groups, Groups, Groups]:
        """What the axes of the operands and of the product are made of."""
        batch, p_stack, q_stack = ([(i,) for i in side] for side in self[:3])
        # Leading axes that an operand lacks broadcast by themselves, unless others precede them.
        p_lacks: Groups = [()] * len(q_stack) if batch else []
        q_lacks: Groups = [()] * len(p_stack) if batch else []
        # A vector is a row or a column, if there is no stack of them.
        rows: Groups = [self.rows] if self.rows or batch else []
        columns: Groups = [self.columns] if self.columns or batch else []
        return (
            [*batch, *p_stack, *p_lacks, *rows, self.inner],
            [*batch, *q_lacks, *q_stack, self.inner, *columns],
            [*batch, *p_stack, *q_stack, *rows, *columns],
        )


def _orders(
    p: Labels, q: Labels, kept: frozenset[str], order: Labels | None
) -> Iterator[tuple[Labels, Labels, Labels, Labels]]:
    """The labels of both that are kept, of both that are summed, of p and of q alone, in the
    orders that they have in the operands and in the result."""
    wanted = order or ()

    def seen(kind: set[str], *where: Labels) -> list[Labels]:
        found = [tuple(i for i in labels if i in kind) for labels in where]
        return [o for o in dict.fromkeys(found) if len(o) == len(kind)]

    shared = set(p) & set(q)
    yield from itertools.product(
        seen(shared & kept, p, q, wanted),
        seen(shared - kept, p, q),
        seen(set(p) - shared, p, wanted),
        seen(set(q) - shared, q, wanted),
    )


def _splits(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """How many leading rows, or columns, are axes of a stack of matrices instead."""
    yield 0, 0
    for k in range(1, rows):
        yield k, 0
    for k in range(1, columns):
        yield 0, k


def _shape(groups: Groups, sizes: Mapping[str, Size]) -> Shape:
    return tuple(product(tuple(sizes[i] for i in group)) for group in groups)


def _grouped(labels: Labels, groups: Groups, sizes: Mapping[str, Size]) -> Steps:
    """To one axis for each group of labels."""
    order = tuple(i for group in groups for i in group)
    own = tuple(sizes[i] for i in order)
    return permuted(labels, order) + reshaped(own, _shape(groups, sizes))


def _cost(steps: Steps) -> int:
    return sum(_TRANSPOSE if op == "permute_dims" else _RESHAPE for op, _ in steps)
