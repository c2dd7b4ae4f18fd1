"""Sets: the distinct elements of tensors.  How many there are is found by each run."""

from __future__ import annotations

from typing import Any, NamedTuple

from staticad_schema.errors import ArgumentError
from staticad_schema.shapes import product
from staticad_schema.sites import asking

from ..building import build, renamed
from ..finding import found
from ..index_parts import reshaped
from ..operands import Operand, result, tensor, tensors
from ..options import flag
from ..tensor import Tensor

# Up to this many elements are compared one by one; more are searched in order.
FEW = 16


class UniqueAll(NamedTuple):
    """Distinct elements; where each is first; for each element which it is; how often each is."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Distinct elements, and how often each is there."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Distinct elements, and for each element which of them it is."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Operand, /, *, name: str | None = None) -> UniqueAll:
    """The distinct elements of x, ascending, and what there is to know of them.

    x: any dtype and shape.  Returns `values`, `indices` (the first place of each in x made flat),
    `inverse_indices` (of x's shape: values[inverse_indices] is x) and `counts`.  0 and -0 are one
    element, each NaN is one of its own and comes last.  `values` has the gradient of its first
    places; the other results have none.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.unique_all([3, 1, 3])
    >>> for part in sad.Session(graph).run(y):
    ...     print(part)
    [1 3]
    [1 0]
    [1 0 1]
    [1 2]
    """
    with asking("unique_all", name):
        return UniqueAll(*_unique(tensor("unique_all", x), False, name))


def unique_counts(x: Operand, /, *, name: str | None = None) -> UniqueCounts:
    """The distinct elements of x, ascending, and how often each is there; see `unique_all`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     values, counts = sad.unique_counts([3, 1, 3])
    >>> sad.Session(graph).run([values, counts])
    [array([1, 3]), array([1, 2])]
    """
    with asking("unique_counts", name):
        values, _, _, counts = _unique(tensor("unique_counts", x), False, name)
        return UniqueCounts(values, counts)


def unique_inverse(x: Operand, /, *, name: str | None = None) -> UniqueInverse:
    """The distinct elements of x, ascending, and for each element which it is; see `unique_all`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     values, inverse = sad.unique_inverse([3, 1, 3])
    >>> sad.Session(graph).run([values, inverse])
    [array([1, 3]), array([1, 0, 1])]
    """
    with asking("unique_inverse", name):
        values, _, inverse, _ = _unique(tensor("unique_inverse", x), False, name)
        return UniqueInverse(values, inverse)


def unique_values(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The distinct elements of x, ascending; see `unique_all`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.unique_values([3, 1, 3])
    >>> sad.Session(graph).run(y)
    array([1, 3])
    """
    with asking("unique_values", name):
        return _unique(tensor("unique_values", x), False, name)[0]


def unique(
    x: Operand,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: None = None,
    *,
    equal_nan: bool = True,
    name: str | None = None,
) -> Any:
    """The distinct elements of x, ascending, as NumPy has it: NaNs count as one by default.

    Returns the values, or a tuple with those of first places, inverse and counts that are asked
    for; see `unique_all`.  Raises ArgumentError for an axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y, counts = sad.unique([3.0, 1.0, 3.0], return_counts=True)
    >>> sad.Session(graph).run([y, counts])
    [array([1., 3.], dtype=float32), array([1, 2])]
    """
    with asking("unique", name):
        if axis is not None:
            raise ArgumentError(
                "distinct slices are not looked for",
                expected="axis=None: the elements of x made flat",
                found=f"axis={axis!r:.50}",
            )
        values, *rest = _unique(tensor("unique", x), flag("equal_nan", equal_nan), name)
        wanted = (
            flag("return_index", return_index),
            flag("return_inverse", return_inverse),
            flag("return_counts", return_counts),
        )
        chosen = [part for part, asked in zip(rest, wanted, strict=True) if asked]
        return (values, *chosen) if chosen else values


def _unique(x: Any, equal_nan: bool, name: str | None) -> tuple[Tensor, ...]:
    """Values, first places, inverse, counts."""
    first, inverse, counts = found("unique", x, {"equal_nan": equal_nan})
    values = build("take", (_flat(x), first), {"axis": 0}, label=name)
    return tuple(map(result, (values, first, inverse, counts)))


def _flat(x: Any) -> Any:
    return reshaped(x, (product(x.type.shape),))


def isin(
    x: Operand, test_elements: Operand, /, *, invert: bool = False, name: str | None = None
) -> Tensor:
    """For each element of x whether it is one of `test_elements`; with `invert`, whether not.

    Both of any dtypes, which are brought to one, and any shapes.  Returns bools of x's shape.
    NaN is in nothing.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.isin([1, 2, 3], [3, 1])
    >>> sad.Session(graph).run(y)
    array([ True, False,  True])
    """
    with asking("isin", name):
        inside: Any = _is_in(*tensors("isin", x, test_elements))
        if flag("invert", invert):
            inside = build("logical_not", (inside,))
        return result(renamed(inside, name))


def _is_in(x: Any, others: Any) -> Any:
    others = _flat(others)
    (count,) = others.type.shape
    if isinstance(count, int) and count > FEW and x.type.kind != "complex":
        ordered, _ = build("sort", (others,), {"axis": 0, "descending": False})
        at = build("searchsorted", (ordered, x), {"right": False})
        # NaN, which is above all, is equal to nothing.
        there = build("take", (ordered, build("minimum", (at, count - 1))), {"axis": 0})
        return build("equal", (x, there))
    # NumPy reduces a short axis quickly only where it is the first.
    each = build("equal", (x, reshaped(others, (count, *(1,) * x.type.ndim))))
    return build("any", (each,), {"axis": (0,), "keepdims": False})


def intersect1d(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """The distinct elements that are in both, ascending: a vector.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.intersect1d([1, 3, 4, 3], [3, 1, 2])
    >>> sad.Session(graph).run(y)
    array([1, 3])
    """
    with asking("intersect1d", name):
        left, right = tensors("intersect1d", a, b)
        values = _distinct(left)
        return result(renamed(values[_is_in(values, right)], name))


def union1d(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """The distinct elements that are in one or both, ascending: a vector.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.union1d([1, 3], [3, 2])
    >>> sad.Session(graph).run(y)
    array([1, 2, 3])
    """
    with asking("union1d", name):
        both = map(_flat, tensors("union1d", a, b))
        return result(renamed(_distinct(build("concat", tuple(both), {"axis": 0})), name))


def setdiff1d(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """The distinct elements of a that are not in b, ascending: a vector.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.setdiff1d([1, 3, 4], [3, 2])
    >>> sad.Session(graph).run(y)
    array([1, 4])
    """
    with asking("setdiff1d", name):
        left, right = tensors("setdiff1d", a, b)
        return result(renamed(_difference(left, right), name))


def setxor1d(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """The distinct elements that are in just one of the two, ascending: a vector.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.setxor1d([1, 3, 4], [3, 2])
    >>> sad.Session(graph).run(y)
    array([1, 2, 4])
    """
    with asking("setxor1d", name):
        left, right = tensors("setxor1d", a, b)
        parts = (_difference(left, right), _difference(right, left))
        # Nothing is in both but NaN, which is in neither.
        return result(renamed(_unique(build("concat", parts, {"axis": 0}), False, None)[0], name))


def _difference(a: Any, b: Any) -> Any:
    values = _distinct(a)
    return values[build("logical_not", (_is_in(values, b),))]


def _distinct(x: Any) -> Any:
    return _unique(x, True, None)[0]
