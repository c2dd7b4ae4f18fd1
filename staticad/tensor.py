"""Tensor: the handle that users hold.

It has no data: whatever would need some (bool, iteration, conversion to an array) is an
error that says what to write instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from staticad_executor import Session
from staticad_schema.dims import Dim, Shape
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.handle import WEAK, Handle, floating
from staticad_schema.shapes import product
from staticad_schema.sites import asking, user_site
from staticad_schema.types import DType, TensorType, in_dtype, promote_weak

from . import indexing, methods, sizes
from .building import Builder, build
from .dimensions import Axis
from .elsewhere import equivalent, missing_of_tensor
from .numbers import stored, weak_list


class Tensor(Handle):
    """A value of a graph, with NumPy's operators; functions of staticad make them.

    Python scalars are weak: they take the tensor's dtype.  NumPy arrays become constants and
    keep theirs.  Comparisons build nodes; `is` compares handles.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float32", ("n", 3), name="x")
    ...     y = 2 * x - x[:, :1]
    >>> y.shape, y.dtype, (x > 0).dtype
    ((Dim('n'), 3), dtype('float32'), dtype('bool'))
    """

    __slots__ = ()
    graph: Builder

    def __init__(self, graph: Builder, id: int | None = None) -> None:
        if id is None:
            raise UsageError(
                "tensors are made by the functions of a graph",
                asked=type(self).__name__,
                expected="sad.constant(value), sad.variable(initial) or sad.placeholder(…)",
                found=f"{graph!r:.80}, a {type(graph).__name__}",
                site=user_site(),
            )
        self.graph = graph
        self.id = id

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.graph.types[self.id].dtype

    @property
    def shape(self) -> Shape:
        """The sizes of the axes, ints where they are known."""
        return self.graph.types[self.id].shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.graph.types[self.id].shape)

    @property
    def name(self) -> str:
        """The node's explicit name with its scope, or one made of scope, op and number."""
        return self.graph.value_name(self.id)

    @property
    def value(self) -> int:
        """The value id, which is how a graph without handles knows this tensor."""
        return self.id

    @property
    def size(self) -> Any:
        """The number of elements, an int or a Dim."""
        return product(self.shape)

    @property
    def T(self) -> Tensor:  # noqa: N802
        """The transpose of a matrix.  Raises ShapeError for other ranks, as the array API does."""
        if self.ndim != 2:
            raise ShapeError(
                "only a matrix has a transpose",
                asked="T",
                expected="a tensor of rank 2",
                found=self.describe(),
                site=user_site(),
                hint="use .mT for the last two axes, or permute_dims",
            )
        return self._as_tensor(build("permute_dims", (self,), {"axes": (1, 0)}))

    @property
    def mT(self) -> Tensor:  # noqa: N802
        """With the last two axes exchanged.  Raises ShapeError below rank 2."""
        with asking("mT"):
            return self._as_tensor(methods.matrix_transpose(self))

    @property
    def at(self) -> At:
        """`x.at[index].set(v)`: x with some elements replaced; `.add(v)`, `.subtract(v)`,
        `.multiply(v)`, `.divide(v)`, `.max(v)`, `.min(v)`: combined with v; `.get()`: x[index].

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     x = sad.constant([1.0, 2.0, 3.0])
        ...     y = x.at[1:].set(0.0).at[[0, 0]].add(5.0)
        >>> sad.Session(graph).run(y)
        array([11.,  0.,  0.], dtype=float32)
        """
        return At(self)

    def _as_tensor(self, x: Any) -> Tensor:
        assert isinstance(x, Tensor)
        return x

    # ---------------------------------------------------------------- operands

    def coerce(self, other: Any) -> Any:
        """`other` as a tensor of this graph.  Raises UsageError for what is no operand."""
        if isinstance(other, Handle):
            return other
        if isinstance(other, WEAK):
            with asking("a Python scalar"):
                dtype = promote_weak(self.dtype, other)
                return self.graph.handle(self.graph.scalar(other, dtype))
        if isinstance(other, np.ndarray | np.generic):
            return self.graph.constant(np.asarray(other))
        if isinstance(other, Dim):
            return sizes.value(self.graph, other, promote_weak(self.dtype, 1))
        if isinstance(other, list | tuple):
            array = weak_list(other)
            if array is not None:
                sample = array.dtype.type(0).item()
                with asking("a list of numbers"):
                    dtype = promote_weak(self.dtype, sample)
                    return self.graph.constant(in_dtype(array, dtype))
        if other is None or isinstance(other, str | bytes | list | tuple | dict | set):
            raise UsageError(
                "not an operand",
                asked=f"an operation on {self.name!r}",
                expected="a tensor, an array, a number or a list of numbers",
                found=f"{self.describe()} and {other!r:.80}, a {type(other).__name__}",
                site=user_site(),
                hint="write `is None`" if other is None else None,
            )
        return NotImplemented

    # ---------------------------------------------------------------- operators

    if TYPE_CHECKING:
        # Handle's operators, which append nodes of this graph: here the result is a Tensor.
        def __add__(self, other: Any, /) -> Tensor: ...
        def __radd__(self, other: Any, /) -> Tensor: ...
        def __sub__(self, other: Any, /) -> Tensor: ...
        def __rsub__(self, other: Any, /) -> Tensor: ...
        def __mul__(self, other: Any, /) -> Tensor: ...
        def __rmul__(self, other: Any, /) -> Tensor: ...
        def __truediv__(self, other: Any, /) -> Tensor: ...
        def __rtruediv__(self, other: Any, /) -> Tensor: ...
        def __floordiv__(self, other: Any, /) -> Tensor: ...
        def __rfloordiv__(self, other: Any, /) -> Tensor: ...
        def __mod__(self, other: Any, /) -> Tensor: ...
        def __rmod__(self, other: Any, /) -> Tensor: ...
        def __divmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
        def __rdivmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
        def __matmul__(self, other: Any, /) -> Tensor: ...
        def __rmatmul__(self, other: Any, /) -> Tensor: ...
        def __and__(self, other: Any, /) -> Tensor: ...
        def __rand__(self, other: Any, /) -> Tensor: ...
        def __or__(self, other: Any, /) -> Tensor: ...
        def __ror__(self, other: Any, /) -> Tensor: ...
        def __xor__(self, other: Any, /) -> Tensor: ...
        def __rxor__(self, other: Any, /) -> Tensor: ...
        def __lshift__(self, other: Any, /) -> Tensor: ...
        def __rlshift__(self, other: Any, /) -> Tensor: ...
        def __rshift__(self, other: Any, /) -> Tensor: ...
        def __rrshift__(self, other: Any, /) -> Tensor: ...
        def __rpow__(self, other: Any, /) -> Tensor: ...
        def __lt__(self, other: Any, /) -> Tensor: ...
        def __le__(self, other: Any, /) -> Tensor: ...
        def __gt__(self, other: Any, /) -> Tensor: ...
        def __ge__(self, other: Any, /) -> Tensor: ...
        def __eq__(self, other: Any, /) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any, /) -> Tensor: ...  # type: ignore[override]
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    def __pow__(self, other: Any) -> Tensor:
        if isinstance(other, int) and other < 0 and self.type.kind in ("int", "uint"):
            raise ArgumentError(
                "an integer to a negative power is no integer",
                asked=f"power of {self.name!r}",
                expected="a power that is not negative, or a floating base",
                found=f"{self.describe()} ** {other}",
                site=user_site(),
                hint="use .astype('float32') on the base",
            )
        return cast("Tensor", self.binary("pow", other))

    # ---------------------------------------------------------------- methods

    def __getitem__(self, index: Any) -> Tensor:
        with asking(f"index of {self.name!r}"):
            return self._as_tensor(indexing.getitem(self, index))

    def astype(self, dtype: Any) -> Tensor:
        """In another dtype; itself if it has that."""
        if dtype is self.graph.types[self.id].dtype:
            return self
        with asking("astype"):
            return self._as_tensor(methods.cast(self, dtype))

    def reshape(self, *shape: Any) -> Tensor:
        """In another shape; one -1 stands for what is left over."""
        with asking("reshape"):
            given = shape[0] if len(shape) == 1 else shape
            return self._as_tensor(methods.reshape(self, given))

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The sum along axes (None: all); small integers and bools in 64 bits."""
        with asking("sum"):
            return self._as_tensor(methods.reduce("sum", self, axis, keepdims))

    def prod(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The product along axes (None: all); small integers and bools in 64 bits."""
        with asking("prod"):
            return self._as_tensor(methods.reduce("prod", self, axis, keepdims))

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The arithmetic mean along axes (None: all)."""
        with asking("mean"):
            return self._as_tensor(methods.mean(self, axis, keepdims))

    def max(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The largest element along axes (None: all); NaN if there is one."""
        with asking("max"):
            return self._as_tensor(methods.reduce("max", self, axis, keepdims))

    def min(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The smallest element along axes (None: all); NaN if there is one."""
        with asking("min"):
            return self._as_tensor(methods.reduce("min", self, axis, keepdims))

    def eval(self, session: Any, feeds: Mapping[Any, Any] | None = None) -> Any:
        """This tensor's value in a session, an array: what `session.run(x, feeds)` gives.

        feeds: values by tensor or name.  Raises UsageError for what is no session, and what
        `run` raises.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     x = sad.placeholder("float32", (), name="x")
        ...     y = sad.exp(x)
        >>> with sad.Session(graph) as session:
        ...     y.eval(session, {x: 0.0})
        array(1., dtype=float32)
        """
        with asking(f"eval of {self.name!r}", keeps=True):
            if not isinstance(session, Session):
                raise UsageError(
                    "a tensor has a value in a session",
                    asked=f"eval of {self.name!r}",
                    expected="x.eval(session, feeds), with a Session of its graph",
                    found=f"{session!r:.80}, a {type(session).__name__}",
                    site=user_site(),
                )
            return session.run(self, feeds)

    # ---------------------------------------------------------------- what a tensor is not

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_of_tensor(type(self).__name__.lower(), name)

        # To type checkers a tensor is no array, or `array * tensor` would be one.
        def __array__(self, *_: Any, **__: Any) -> NoReturn:
            raise self._no_data(
                "a NumPy array",
                "use session.run(x), or the functions of staticad, sad.stack for a list of tensors",
            )

        def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
            """NumPy's functions of arrays, which come here when they are given a tensor."""
            if function in (np.shape, np.ndim):
                return self.shape if function is np.shape else self.ndim
            name = function.__name__
            own = equivalent(name) or "use session.run(x), or the functions of staticad"
            raise self._no_data(f"numpy.{name}", own)

    def __format__(self, spec: str) -> str:
        if spec:
            raise self._no_data(f"format {spec!r}", "run it, and format the result")
        return repr(self)

    def _no_data(self, asked: str, hint: str) -> UsageError:
        return UsageError(
            "a tensor has no data while the graph is being built",
            asked=f"{asked} of {self.name!r}",
            expected="a value, which only a Session's run has",
            found=self.describe(),
            site=user_site(),
            hint=hint,
        )

    def __bool__(self) -> NoReturn:
        raise self._no_data(
            "the truth", "use where(condition, a, b) to choose, logical_and/or/not to combine"
        )

    def __iter__(self) -> NoReturn:
        raise self._no_data("iteration", "use unstack(x) where the size is known, or x[i]")

    def __contains__(self, item: object) -> NoReturn:
        raise self._no_data("`in`", "use any(x == item)")

    def __len__(self) -> int:
        shape = self.shape
        if shape and isinstance(shape[0], int):
            return shape[0]
        if shape:
            raise self._no_data("the length", "the size is symbolic; use x.shape[0] in shapes")
        raise self._no_data("the length", "the tensor is a scalar: it has no axis")

    def __float__(self) -> NoReturn:
        raise self._no_data("float()", "use .astype('float32'), or run it and convert the result")

    def __int__(self) -> NoReturn:
        raise self._no_data("int()", "use .astype('int64'), or run it and convert the result")

    def __complex__(self) -> NoReturn:
        raise self._no_data("complex()", "use .astype('complex64'), or run it and convert")

    def __index__(self) -> NoReturn:
        raise self._no_data("use as a Python index", "use take(x, i) or x[i] on a tensor x")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise self._no_data("assignment to elements", "use x.at[index].set(value), a new tensor")

    @property
    def type(self) -> TensorType:
        """The dtype and shape."""
        return self.graph.types[self.id]


class At:
    """The tensor of which a part is to be written."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __getitem__(self, index: Any) -> Place:
        return Place(self._tensor, index)


class Place:
    """A part of a tensor."""

    __slots__ = ("_index", "_tensor")

    def __init__(self, tensor: Tensor, index: Any) -> None:
        self._tensor = tensor
        self._index = index

    def get(self) -> Tensor:
        """x[index]."""
        return self._tensor[self._index]

    def set(self, value: Any) -> Tensor:
        """A tensor equal to this one but for x[index], which is `value`.

        Of several values for one element, the last in the index's order stays.
        """
        return self._scatter("set", "scatter_set", value)

    def add(self, value: Any) -> Tensor:
        """A tensor equal to this one with `value` added at x[index], once for each occurrence."""
        return self._scatter("add", "scatter_add", value)

    def subtract(self, value: Any) -> Tensor:
        """A tensor equal to this one less `value` at x[index], once for each occurrence."""
        with asking(f"subtract at {self._tensor.name!r}"):
            change = build("negative", (stored(self._tensor, value),))
            return self._scatter("subtract", "scatter_add", change)

    def multiply(self, value: Any) -> Tensor:
        """A tensor equal to this one times `value` at x[index], once for each occurrence.

        The derivatives are exact where factors are 0.
        """
        return self._scatter("multiply", "scatter_multiply", value)

    mul = multiply

    def divide(self, value: Any) -> Tensor:
        """A tensor equal to this one over `value` at x[index]: over the product of all
        occurrences.  Raises DTypeError for integers."""
        with asking(f"divide at {self._tensor.name!r}"):
            (x,) = floating(self._tensor)
            if x is not self._tensor:
                raise DTypeError(
                    "a quotient of integers is no integer",
                    expected="a floating or complex dtype",
                    found=self._tensor.describe(),
                    hint="use .astype('float32')",
                )
            ones = build("broadcast_to", (x.coerce(1),), {"shape": x.shape})
            divisors = indexing.scatter("scatter_multiply", ones, self._index, stored(x, value))
            return cast("Tensor", x / divisors)

    def max(self, value: Any) -> Tensor:
        """A tensor equal to this one, but at x[index] not below `value`; NaN where either is.

        Equal candidates, this tensor's element among them, share the derivative.
        """
        return self._scatter("max", "scatter_max", value)

    def min(self, value: Any) -> Tensor:
        """A tensor equal to this one, but at x[index] not above `value`; NaN where either is.

        Equal candidates, this tensor's element among them, share the derivative.
        """
        return self._scatter("min", "scatter_min", value)

    def _scatter(self, asked: str, op: str, value: Any) -> Tensor:
        with asking(f"{asked} at {self._tensor.name!r}"):
            result = indexing.scatter(op, self._tensor, self._index, value)
        assert isinstance(result, Tensor)
        return result
