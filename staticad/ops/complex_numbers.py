"""Complex numbers from real ones, and as real ones."""

from __future__ import annotations

from staticad_schema.errors import DTypeError, ShapeError
from staticad_schema.handle import floating
from staticad_schema.sites import asking

from .. import methods
from ..building import build
from ..operands import Operand, result, tensor, tensors
from ..tensor import Tensor

__all__ = ["complex", "polar", "view_as_complex", "view_as_real"]


def complex(real: Operand, imag: Operand, /, *, name: str | None = None) -> Tensor:
    """The complex numbers with these parts.

    real, imag: floats that broadcast; integers and half floats count as float32.  Returns
    complex64 or complex128.  Each part is exact, infinite or NaN each for itself.  The gradient of
    the parts are the parts of the gradient.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     z = sad.complex([1.0, 2.0], -1.0)
    >>> sad.Session(graph).run(z)
    array([1.-1.j, 2.-1.j], dtype=complex64)
    """
    with asking("complex", name):
        parts = map(methods.widened, floating(*tensors("complex", real, imag)))
        return result(build("complex", tuple(parts), label=name))


def polar(r: Operand, angle: Operand, /, *, name: str | None = None) -> Tensor:
    """The complex numbers r (cos(angle) + i sin(angle)).

    r, angle: floats that broadcast; integers and half floats count as float32.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     z = sad.polar(2.0, [0.0, math.pi / 2])
    >>> sad.Session(graph).run(z).round(3)
    array([ 2.+0.j, -0.+2.j], dtype=complex64)
    """
    with asking("polar", name):
        size, turn = map(methods.widened, floating(*tensors("polar", r, angle)))
        parts = size * build("cos", (turn,)), size * build("sin", (turn,))
        return result(build("complex", parts, label=name))


def view_as_real(z: Operand, /, *, name: str | None = None) -> Tensor:
    """The real and imaginary parts of complex numbers along a new last axis of size 2.

    Raises DTypeError for real numbers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.view_as_real([1 - 2j])
    >>> sad.Session(graph).run(y)
    array([[ 1., -2.]], dtype=float32)
    """
    with asking("view_as_real", name):
        value = tensor("view_as_real", z)
        if value.type.kind != "complex":
            raise DTypeError("not complex", expected="complex numbers", found=value.describe())
        column = (*value.shape, 1)
        parts = [methods.reshape(build(part, (value,)), column) for part in ("real", "imag")]
        return result(build("concat", parts, {"axis": value.ndim}, label=name))


def view_as_complex(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The complex numbers whose parts stand along the last axis, which has size 2.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     z = sad.view_as_complex([[1.0, -2.0]])
    >>> sad.Session(graph).run(z)
    array([1.-2.j], dtype=complex64)
    """
    with asking("view_as_complex", name):
        (value,) = floating(tensor("view_as_complex", x))
        if value.ndim == 0 or value.shape[-1] != 2:
            raise ShapeError(
                "not pairs of parts", expected="a last axis of size 2", found=value.describe()
            )
        wide = methods.widened(value)
        return result(build("complex", (wide[..., 0], wide[..., 1]), label=name))
