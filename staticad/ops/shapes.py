"""The same elements in other places: reshaping, joining, moving."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.shapes import broadcast_shapes, normalize_axis, same_shape, shape_text
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..dimensions import Axis
from ..operands import Operand, result, tensor, tensors
from ..tensor import Tensor


def reshape(x: Operand, /, shape: Any, *, name: str | None = None) -> Tensor:
    """x in another shape of as many elements; one -1 stands for what is left over.

    shape: ints, names of sizes or Dims.  Raises ShapeError if the number of elements changes;
    for sizes that are not known yet, the run does.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float32", ("batch", 2, 3), name="x")
    ...     y = sad.reshape(x, (-1, 6))
    >>> y.shape
    (Dim('batch'), 6)
    """
    with asking("reshape", name):
        return result(methods.reshape(tensor("reshape", x), shape, name))


def permute_dims(x: Operand, /, axes: Sequence[int], *, name: str | None = None) -> Tensor:
    """x with its axes in the order `axes`.

    Raises ShapeError unless each axis is named once.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.permute_dims(x, (2, 0, 1)).shape
    (4, 2, 3)
    """
    with asking("permute_dims", name):
        value = tensor("permute_dims", x)
        order = tuple(normalize_axis(dimensions.integer(a), value.ndim) for a in axes)
        if sorted(order) != list(range(value.ndim)):
            raise ShapeError(
                "not an order of the axes",
                expected=f"each of the axes 0 to {value.ndim - 1} once" if value.ndim else "()",
                found=shape_text(tuple(axes)),
            )
        return result(methods.permute(value, order, name))


def matrix_transpose(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x with its last two axes exchanged.  Raises ShapeError below rank 2.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.matrix_transpose(x).shape
    (2, 4, 3)
    """
    with asking("matrix_transpose", name):
        return result(methods.matrix_transpose(tensor("matrix_transpose", x), name))


def moveaxis(
    x: Operand,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
    *,
    name: str | None = None,
) -> Tensor:
    """x with the axes `source` moved to the places `destination`, the others in order.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.moveaxis(x, 0, -1).shape
    (3, 4, 2)
    """
    with asking("moveaxis", name):
        value = tensor("moveaxis", x)
        sides = []
        for given in (source, destination):
            several = given if isinstance(given, tuple | list) else (given,)
            sides.append([normalize_axis(dimensions.integer(a), value.ndim) for a in several])
        start, end = sides
        if len(start) != len(end) or len(set(start)) != len(start) or len(set(end)) != len(end):
            raise ShapeError(
                "the axes do not pair up",
                expected="as many places as axes, none twice",
                found=f"{source} to {destination}",
            )
        order = [a for a in range(value.ndim) if a not in start]
        for place, axis in sorted(zip(end, start, strict=True)):
            order.insert(place, axis)
        return result(methods.permute(value, tuple(order), name))


def expand_dims(
    x: Operand, /, *, axis: int | tuple[int, ...] = 0, name: str | None = None
) -> Tensor:
    """x with axes of size 1 at the places `axis` of the result.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3))
    >>> sad.expand_dims(x, axis=(0, -1)).shape
    (1, 2, 3, 1)
    """
    with asking("expand_dims", name):
        value = tensor("expand_dims", x)
        several = axis if isinstance(axis, tuple | list) else (axis,)
        places = dimensions.axes_of(several, value.ndim + len(several))
        shape = list(value.shape)
        for place in places:
            shape.insert(place, 1)
        return result(methods.reshape(value, tuple(shape), name))


def squeeze(x: Operand, /, axis: int | tuple[int, ...], *, name: str | None = None) -> Tensor:
    """x without the axes `axis`, which must have size 1.  Raises ShapeError if one has another.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 1, 3))
    >>> sad.squeeze(x, 1).shape
    (2, 3)
    """
    with asking("squeeze", name):
        value = tensor("squeeze", x)
        gone = dimensions.axes_of(axis, value.ndim)
        for a in gone:
            if dims.same_size(value.shape[a], 1) is False:
                raise ShapeError(
                    "only an axis of size 1 can be dropped",
                    expected=f"size 1 on axis {a}",
                    found=value.describe(),
                )
        kept = tuple(s for a, s in enumerate(value.shape) if a not in gone)
        return result(methods.reshape(value, kept, name))


def broadcast_to(x: Operand, /, shape: Any, *, name: str | None = None) -> Tensor:
    """x repeated along axes of size 1, and along new leading ones, to `shape`.

    Raises ShapeError if the shapes do not fit.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.broadcast_to([1.0, 2.0], (2, 2))
    >>> sad.Session(graph).run(y)
    array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    with asking("broadcast_to", name):
        value = tensor("broadcast_to", x)
        attributes = {"shape": dimensions.shape_of(shape)}
        return result(build("broadcast_to", (value,), attributes, label=name))


def broadcast_arrays(*xs: Operand, name: str | None = None) -> list[Tensor]:
    """The operands, each broadcast to their common shape; dtypes stay.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x, y = sad.broadcast_arrays(sad.zeros((2, 1)), sad.ones(3))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    with asking("broadcast_arrays", name):
        values = [tensor("broadcast_arrays", x) for x in xs]
        attributes = {"shape": broadcast_shapes(v.shape for v in values)}
        return [result(build("broadcast_to", (v,), attributes, label=name)) for v in values]


def concat(xs: Sequence[Operand], /, *, axis: int | None = 0, name: str | None = None) -> Tensor:
    """The tensors one after the other along `axis`; flattened first if that is None.

    xs: a list of tensors of one rank, brought to one dtype.  Raises ShapeError if their other
    sizes differ.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.concat([[1.0, 2.0], [3.0]])
    >>> sad.Session(graph).run(y)
    array([1., 2., 3.], dtype=float32)
    """
    with asking("concat", name):
        values = tensors("concat", *_several(xs))
        if axis is None:
            values = tuple(result(methods.reshape(v, (-1,))) for v in values)
        place = normalize_axis(dimensions.integer(axis or 0), values[0].ndim)
        return result(build("concat", values, {"axis": place}, label=name))


def stack(xs: Sequence[Operand], /, *, axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape side by side along a new axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.stack([[1.0, 2.0], [3.0, 4.0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    with asking("stack", name):
        values = tensors("stack", *_several(xs))
        for v in values[1:]:
            if same_shape(v.shape, values[0].shape) is False:
                raise ShapeError(
                    "only tensors of one shape can be stacked",
                    expected=values[0].describe(),
                    found=v.describe(),
                )
        place = normalize_axis(dimensions.integer(axis), values[0].ndim + 1)
        ready = [methods.reshape(v, (*v.shape[:place], 1, *v.shape[place:])) for v in values]
        return result(build("concat", ready, {"axis": place}, label=name))


def unstack(x: Operand, /, *, axis: int = 0, name: str | None = None) -> tuple[Tensor, ...]:
    """The parts of x along an axis of known size, without that axis.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3))
    >>> [part.shape for part in sad.unstack(x)]
    [(3,), (3,)]
    """
    with asking("unstack", name):
        value = tensor("unstack", x)
        place = normalize_axis(dimensions.integer(axis), value.ndim)
        size = value.shape[place]
        if not isinstance(size, int):
            raise ShapeError(
                "the number of parts is not known",
                expected=f"a known size on axis {place}",
                found=value.describe(),
            )
        lead = (slice(None),) * place
        return tuple(result(renamed(value[(*lead, i)], name)) for i in range(size))


def flip(x: Operand, /, *, axis: Axis = None, name: str | None = None) -> Tensor:
    """x backwards along `axis`, along all of them if None.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.flip([[1, 2], [3, 4]], axis=1)
    >>> sad.Session(graph).run(y)
    array([[2, 1],
           [4, 3]])
    """
    with asking("flip", name):
        value = tensor("flip", x)
        attributes = {"axis": dimensions.axes_of(axis, value.ndim)}
        return result(build("flip", (value,), attributes, label=name))


def roll(
    x: Operand,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
    name: str | None = None,
) -> Tensor:
    """x with its elements moved by `shift` along `axis`, what falls off put in front.

    Without an axis, in the flattened x.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.roll([1, 2, 3, 4], 1)
    >>> sad.Session(graph).run(y)
    array([4, 1, 2, 3])
    """
    with asking("roll", name):
        value: Any = tensor("roll", x)
        shape = value.type.shape
        if axis is None:
            flat = methods.reshape(value, (-1,)) if shape else value
            moved = _rolled(flat, dimensions.integer(shift), 0) if shape else flat
            return result(methods.reshape(moved, shape, None if name is None else name))
        axes = axis if isinstance(axis, tuple | list) else (axis,)
        shifts = shift if isinstance(shift, tuple | list) else (shift,) * len(axes)
        if len(shifts) != len(axes):
            raise ArgumentError(
                "not one shift an axis", expected=f"{len(axes)} shifts", found=str(shift)
            )
        for s, a in zip(shifts, axes, strict=True):
            value = _rolled(
                value, dimensions.integer(s), normalize_axis(dimensions.integer(a), len(shape))
            )
        return result(renamed(value, name))


def _rolled(x: Any, shift: int, axis: int) -> Any:
    size = x.type.shape[axis]
    if size == 0 or shift == 0:
        return x
    # Counted from the front: where the part that goes behind ends.  A size may turn out 0.
    cut = dims.modulo(-shift, dims.maximum(size, 1))
    lead = ((None, None, 1),) * axis
    rest = ((None, None, 1),) * (x.type.ndim - axis - 1)
    front = build("slice", (x,), {"slices": (*lead, (None, cut, 1), *rest)})
    back = build("slice", (x,), {"slices": (*lead, (cut, None, 1), *rest)})
    joined = build("concat", (back, front), {"axis": axis})
    if joined.type.shape == x.type.shape:
        return joined
    return build("reshape", (joined,), {"shape": x.type.shape})


def pad(x: Operand, /, widths: Any, *, value: float = 0.0, name: str | None = None) -> Tensor:
    """x with `value` around it: widths is a number, a (before, after), or one such an axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.pad([1.0, 2.0], (1, 2), value=-1.0)
    >>> sad.Session(graph).run(y)
    array([-1.,  1.,  2., -1., -1.], dtype=float32)
    """
    with asking("pad", name):
        inner = tensor("pad", x)
        attributes = {"widths": _widths(widths, inner.ndim), "value": float(value)}
        return result(build("pad", (inner,), attributes, label=name))


def _widths(widths: Any, ndim: int) -> tuple[tuple[dims.Size, dims.Size], ...]:
    if not isinstance(widths, tuple | list):
        return ((dimensions.size(widths),) * 2,) * ndim
    if widths and not isinstance(widths[0], tuple | list):
        widths = [widths] * ndim
    if len(widths) != ndim or any(len(w) != 2 for w in widths):
        raise ShapeError(
            "not one (before, after) an axis", expected=f"{ndim} pairs", found=str(widths)
        )
    return tuple((dimensions.size(low), dimensions.size(high)) for low, high in widths)


def tile(x: Operand, repetitions: Any, /, *, name: str | None = None) -> Tensor:
    """x repeated `repetitions` times along each axis, aligned at the last.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tile([1, 2], (2, 2))
    >>> sad.Session(graph).run(y)
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    with asking("tile", name):
        value = tensor("tile", x)
        counts = dimensions.shape_of(repetitions)
        rank = len(counts) if len(counts) > value.ndim else value.ndim
        counts = (1,) * (rank - len(counts)) + counts
        shape = (1,) * (rank - value.ndim) + value.shape
        if all(c == 1 for c in counts):
            return result(methods.reshape(value, shape, name))
        spread, wide, final = [], [], []
        for size, count in zip(shape, counts, strict=True):
            spread += [1, size]
            wide += [count, size]
            final.append(size * count)
        ready = build("reshape", (value,), {"shape": tuple(spread)})
        ready = build("broadcast_to", (ready,), {"shape": tuple(wide)})
        return result(build("reshape", (ready,), {"shape": tuple(final)}, label=name))


def _several(xs: Any) -> list[Any]:
    if isinstance(xs, Handle) or not isinstance(xs, tuple | list):
        raise UsageError(
            "not a sequence of tensors",
            expected="a list or tuple of tensors",
            found=xs.describe() if isinstance(xs, Handle) else f"{xs!r:.80}",
        )
    if not xs:
        raise ArgumentError("nothing to join", expected="at least one tensor", found="none")
    return list(xs)
