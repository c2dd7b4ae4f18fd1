"""Sums of products over named indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema import dims
from staticad_schema.binding import bind
from staticad_schema.dims import Size
from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import WIDENED

from ..building import build
from ..operands import Operand, result, tensors
from ..tensor import Tensor
from .contraction import contracted, rounds_once
from .contraction_order import contraction_order
from .labelled import Labelled, Labels, distinct, permuted, summed
from .subscripts import Subscripts, from_lists, from_text

# What a size that is not known counts as, when contractions are ordered.
_TYPICAL = 32


def einsum(
    subscripts: str | Operand, /, *operands: Operand | Sequence[Any], name: str | None = None
) -> Tensor:
    """The sum of products that the subscripts mean: "ij,jk->ik" is the matrix product.

    An index that the result lacks is summed over; one that stands twice in an operand takes its
    diagonal; without "->" the result has the indices that stand once, in order.  "..." stands for
    axes that broadcast.  Sizes of one index are equal, or 1, which broadcasts; a size that is not
    known yet counts as equal to the others.  Instead of a text, each operand may be followed by a
    list of integers, and the last of these by that of the result.

    The operands are brought to one dtype, which the result has; half floats compute in float32.
    The order of contraction of more than two is chosen by the number of products.

    Raises ArgumentError for subscripts that mean nothing, ShapeError for operands that they do
    not fit, DTypeError for sums or products of bools.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.constant([[1.0, 2.0], [3.0, 4.0]])
    ...     trace = sad.einsum("ii", a)
    ...     squares = sad.einsum("ij,ij->i", a, a)
    ...     product = sad.einsum(a, [0, 1], a, [1, 2], [0, 2])
    >>> session = sad.Session(graph)
    >>> session.run([trace, squares])
    [array(5., dtype=float32), array([ 5., 25.], dtype=float32)]
    >>> session.run(product)
    array([[ 7., 10.],
           [15., 22.]], dtype=float32)
    """
    with asking("einsum", name):
        values, asked = _read(subscripts, operands)
        return result(contract(values, asked, name))


def _read(first: Any, rest: tuple[Any, ...]) -> tuple[tuple[Tensor, ...], Subscripts]:
    """The operands as tensors, and their subscripts.  Raises GraphError."""
    if isinstance(first, str):
        if not rest:
            raise UsageError("no operands", expected="one or more", found=f"only {first!r}")
        values = tensors("einsum", *rest)
        return values, from_text(first, [v.ndim for v in values])
    given = [first, *rest]
    output = given.pop() if len(given) % 2 else None
    if not given or isinstance(output, Handle):
        found = first if output is None or not given else output
        raise UsageError(
            "an operand without indices",
            expected="a text such as 'ij,jk->ik' before the operands, or integers behind each",
            found=found.describe() if isinstance(found, Handle) else f"{found!r:.80}",
        )
    values = tensors("einsum", *given[::2])
    return values, from_lists(given[1::2], output, [v.ndim for v in values])


def contract(values: Sequence[Any], asked: Subscripts, name: str | None = None) -> Any:
    """What the subscripts mean for handles of one dtype and of the right ranks, called `name`.

    Raises ShapeError for sizes that do not fit.
    """
    output, keep = asked.output, frozenset(asked.output)
    sizes = _sizes(values, asked.operands)
    parts = [distinct(v, t, sizes) for v, t in zip(values, asked.operands, strict=True)]
    held = Counter(i for part in parts for i in part.labels)
    lone = {i for i, count in held.items() if count == 1} - keep
    parts = [summed(part, lone) for part in parts]
    if len(parts) == 1:
        return parts[0].ready(permuted(parts[0].labels, output), name)
    dtype = values[0].type.dtype
    wide = WIDENED.get(dtype, dtype)
    simple = not lone and len(parts) == 2 and rounds_once(parts[0].labels, parts[1].labels, keep)
    if wide == dtype or simple:
        return _pairwise(parts, sizes, output, name)
    # As one op does: half floats compute in float32 and are rounded once.
    parts = [part._replace(value=part.value.astype(wide)) for part in parts]
    return build("cast", (_pairwise(parts, sizes, output, None),), {"dtype": dtype}, label=name)


def _pairwise(
    parts: Sequence[Labelled], sizes: Mapping[str, Size], output: Labels, name: str | None
) -> Any:
    """The parts contracted two at a time, in the best order."""
    labels = [part.labels for part in parts]
    order = contraction_order([*map(frozenset, labels)], frozenset(output), _numbers(sizes))
    values: list[Any] = [part.ready() for part in parts]
    held = Counter(i for part in parts for i in part.labels)
    held.update(output)
    for step, (a, b) in enumerate(order):
        last = step == len(order) - 1
        kept = frozenset(
            i for i in labels[a] + labels[b] if held[i] > (i in labels[a]) + (i in labels[b])
        )
        value, own = contracted(
            values[a],
            values[b],
            (labels[a], labels[b]),
            kept,
            output if last else None,
            name if last else None,
        )
        held.subtract(labels[a] + labels[b])
        held.update(own)
        values.append(value)
        labels.append(own)
    return values[-1]


def _sizes(values: Sequence[Any], terms: Sequence[Labels]) -> dict[str, Size]:
    """The size of each index.  Raises ShapeError for sizes that do not fit."""
    sizes: dict[str, Size] = {}
    for k, (value, term) in enumerate(zip(values, terms, strict=True)):
        own: dict[str, Size] = {}
        for index, size in zip(term, value.type.shape, strict=True):
            if dims.same_size(own.get(index, size), size) is False:
                raise ShapeError(
                    f"the axes of index {index!r} differ in size",
                    expected="axes of one size, to take their diagonal",
                    found=f"{own[index]} and {size} in operand {k}: {value.describe()}",
                )
            own[index] = size if isinstance(size, int) else own.get(index, size)
        for index, size in own.items():
            known = sizes.get(index, 1)
            if size != 1 != known and dims.same_size(known, size) is False:
                raise ShapeError(
                    f"operands differ in the size of index {index!r}",
                    expected=f"size {known}, or 1",
                    found=f"size {size} in operand {k}: {value.describe()}",
                )
            if known == 1 or (isinstance(size, int) and size != 1):
                sizes[index] = size
    return sizes


def _numbers(sizes: Mapping[str, Size]) -> dict[str, int]:
    """The sizes as numbers to reckon with."""
    symbols = set().union(*map(dims.symbols_of, sizes.values()))
    return {index: bind(size, dict.fromkeys(symbols, _TYPICAL)) for index, size in sizes.items()}
