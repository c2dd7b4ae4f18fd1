"""Sums of products of two sequences, one of which moves along the other."""

from __future__ import annotations

from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.dims import Size
from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking

from .. import methods
from ..building import build
from ..operands import Operand, result, tensors
from ..options import choice
from ..tensor import Tensor

Mode = Literal["full", "same", "valid"]


def convolve(x: Operand, y: Operand, /, mode: Mode = "full", *, name: str | None = None) -> Tensor:
    """sum over j of x[j] y[k - j], of two vectors; as `numpy.convolve`.

    x, y: numbers, brought to one dtype; integers stay integers.  mode: "full", all k, n + m - 1;
    "same", the middle max(n, m) of them; "valid", those for which all of the shorter one counts.
    Raises ShapeError for what is no vector, or has no elements.

    Each product is formed: for long sequences `sad.fft.fftconvolve` takes less time.
    `sad.nn.conv1d` does not turn the second one round, and has channels.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.convolve([1, 2, 3], [1, 10])
    >>> sad.Session(graph).run(y)
    array([ 1, 12, 23, 30])
    """
    with asking("convolve", name):
        a, b = _sequences("convolve", x, y, mode)
        n, m = a.type.shape[0], b.type.shape[0]
        start, count = part(mode, dims.maximum(n, m), dims.minimum(n, m))
        return result(_convolved(a, b, start, count, name))


def correlate(
    x: Operand, y: Operand, /, mode: Mode = "valid", *, name: str | None = None
) -> Tensor:
    """sum over j of x[j + k] conj(y[j]), of two vectors; as `numpy.correlate`.

    x, y, mode: as in `convolve`, for n and m elements; mode "full" begins with k = 1 - m.  Raises
    ShapeError for what is no vector, or has no elements.

    `sad.fft.correlate` takes less time for long sequences, and more axes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.correlate([1, 2, 3], [1, 10])
    >>> sad.Session(graph).run(y)
    array([21, 32])
    """
    with asking("correlate", name):
        a, b = _sequences("correlate", x, y, mode)
        n, m = a.type.shape[0], b.type.shape[0]
        start, count = part(mode, dims.maximum(n, m), dims.minimum(n, m))
        if mode == "same":
            # The middle of the same correlation from the other end, where y is the longer one.
            longer = dims.minimum(dims.maximum(m - n, 0), 1)
            start = dims.floordiv(dims.minimum(n, m) - 1 + longer, 2)
        turned = build("flip", (b,), {"axis": (0,)})
        if b.type.kind == "complex":
            turned = build("conj", (turned,))
        return result(_convolved(a, turned, start, count, name))


def _sequences(asked: str, x: Any, y: Any, mode: Any) -> tuple[Any, Any]:
    a, b = tensors(asked, x, y)
    choice("mode", mode, get_args(Mode))
    for value in (a, b):
        if value.ndim != 1 or value.shape[0] == 0:
            raise ShapeError(
                "not a sequence", expected="a vector with elements", found=value.describe()
            )
    return filled(a, (0,)), filled(b, (0,))


def _convolved(a: Any, b: Any, start: Size, count: Size, name: str | None) -> Any:
    """So many elements of the full convolution from a place on."""
    n, m = a.type.shape[0], b.type.shape[0]
    if isinstance(n, int) and isinstance(m, int) and n < m:
        a, b, n, m = b, a, m, n
    known = isinstance(n, int) and isinstance(m, int)
    widths = (m - 1 - start, m - 1 - (n + m - 1 - start - count)) if known else (m - 1, m - 1)
    window = build("flip", (b,), {"axis": (0,)})
    attributes = {"strides": (1,), "padding": (widths,), "dilation": (1,), "groups": 1}
    rows = methods.reshape(a, (1, 1, n)), methods.reshape(window, (1, 1, m))
    found = build("conv", rows, attributes)
    if not known:
        inside: Any = ((None, None, 1), (None, None, 1), (start, start + count, 1))
        found = build("slice", (found,), {"slices": inside})
    return methods.reshape(found, (count,), name)


def filled(x: Any, axes: tuple[int, ...]) -> Any:
    """x, which has elements along axes: of sizes that runs find it is checked then."""
    shape = x.type.shape
    least = tuple(
        dims.maximum(size, 1) if axis in axes else size for axis, size in enumerate(shape)
    )
    if least == shape:
        return x
    return build("expect_shape", (build("expect_shape", (x,), {"shape": least}),), {"shape": shape})


def part(mode: str, n: Size, m: Size) -> tuple[Size, Size]:
    """Where in the full convolution of n and m elements the mode's part starts, and its size.

    mode "same": as many as n.
    """
    if mode == "full":
        return 0, n + m - 1
    if mode == "same":
        return dims.floordiv(m - 1, 2), n
    return dims.minimum(n, m) - 1, dims.maximum(n, m) - dims.minimum(n, m) + 1
