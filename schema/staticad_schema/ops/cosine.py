"""Discrete cosine and sine transforms of types 1 to 4, each a matrix times two weights.

With c the cosine (below: sine) of pi times the fraction, each sum is over all j,

    type 1:  y[k] = sum of 2 x[j] c(j k / (n - 1))           (j + 1) (k + 1) / (n + 1)
    type 2:  y[k] = sum of 2 x[j] c((2 j + 1) k / 2 n)       (2 j + 1) (k + 1) / 2 n
    type 3:  y[k] = sum of 2 x[j] c(j (2 k + 1) / 2 n)       (j + 1) (2 k + 1) / 2 n
    type 4:  y[k] = sum of 2 x[j] c((2 j + 1) (2 k + 1) / 4 n), the sine too

where x or y has a weight at its ends: at both ends for cosines of type 1; at the first element of
y for cosines of type 2 and of x for type 3, at the last one for sines.  Transposing exchanges
types 2 and 3 and the weights.

`scale` is a factor, of 1 over 2 n, for type 1 over 2 (n - 1), or 2 (n + 1) for sines.
Single precision computes in double and rounds once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..errors import ArgumentError, DTypeError, ShapeError
from ..op import OPS, Operand, op
from ..types import COMPLEX_OF, REAL_OF, Array, TensorType
from .fourier import check_points

Weights = tuple[float, float]

TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type of the transposed transform, which is the inverse but for a factor."""

# Whether x and y have a weight.
_WEIGHTED = {1: (True, True), 2: (False, True), 3: (True, False), 4: (False, False)}
_NORMS: dict[str, Any] = {"1": "backward", "1/sqrt(n)": "ortho", "1/n": "forward"}


def weighted(sine: bool, type: int) -> tuple[bool, bool]:
    """Whether x and y have a weight at their ends."""
    return (False, False) if sine and type == 1 else _WEIGHTED[type]


def plain(sine: bool, type: int) -> Weights:
    """The weights of the transform that is not made orthogonal."""
    return (0.5 if weighted(sine, type)[0] else 1.0, 1.0)


def _weigh(x: Array, weight: float, sine: bool, type: int, axis: int) -> None:
    lines = np.moveaxis(x, axis, -1)
    for end in (-1,) if sine else (0, -1) if type == 1 else (0,):
        lines[..., end] *= weight


def _meaning(sine: bool) -> Callable[..., Array]:
    def meaning(x: Array, *, axis: int, type: int, scale: str, weights: Weights) -> Array:
        from scipy import fft as transforms

        if x.dtype.kind == "c":
            # SciPy, too, takes the parts one by one, but forgets `orthogonalize`.
            out = np.empty_like(x)
            for part, of in ((out.real, x.real), (out.imag, x.imag)):
                part[...] = meaning(of, axis=axis, type=type, scale=scale, weights=weights)
            return out
        wide = x.astype(np.float64)
        usual = plain(sine, type)
        if weights[0] != usual[0]:
            _weigh(wide, weights[0] / usual[0], sine, type, axis)
        transform = transforms.dst if sine else transforms.dct
        found: Array = transform(wide, type, axis=axis, norm=_NORMS[scale], orthogonalize=False)
        if weights[1] != usual[1]:
            _weigh(found, weights[1], sine, type, axis)
        return found.astype(x.dtype, copy=False)

    return meaning


def _inferred(x: Operand, sine: bool, axis: int, type: int, weights: Weights) -> TensorType:
    if x.dtype not in COMPLEX_OF and x.dtype not in REAL_OF:
        raise DTypeError(
            "a dtype that the op does not admit",
            expected="float32, float64, complex64, complex128",
            found=str(x),
            hint="use .astype('float32')",
        )
    check_points(x, (axis,))
    if type not in TRANSPOSED:
        raise ArgumentError("not a type of transform", expected="1, 2, 3 or 4", found=str(type))
    if type == 1 and not sine and x.shape[axis] == 1:
        raise ShapeError(
            "a cosine transform of type 1 has two ends",
            expected=f"at least 2 elements along axis {axis}",
            found=str(x),
        )
    for weight, meant in zip(weights, weighted(sine, type), strict=True):
        if weight != 1 and not meant:
            raise ArgumentError(
                f"a weight that a transform of type {type} has not", expected="1", found=str(weight)
            )
    return x


def _grad(sine: bool) -> Callable[..., Any]:
    def grad(
        x: Any, out: Any, g: Any, *, axis: int, type: int, scale: str, weights: Weights
    ) -> tuple[Any]:
        turned = {"axis": axis, "type": TRANSPOSED[type], "weights": weights[::-1]}
        return (_op(sine)(g, scale=scale, **turned),)

    return grad


def _batch(sine: bool) -> Callable[..., Any]:
    def batch(
        x: Any, batched: Sequence[bool], *, axis: int, type: int, scale: str, weights: Weights
    ) -> Any:
        return _op(sine)(x, axis=axis + 1, type=type, scale=scale, weights=weights)

    return batch


def _op(sine: bool) -> Any:
    return OPS["dst" if sine else "dct"]


@op(
    numpy=_meaning(sine=False),
    grad=_grad(sine=False),
    jvp="linear",
    batch=_batch(sine=False),
)
def dct(
    x: Operand,
    *,
    axis: int,
    type: int,
    scale: Literal["1", "1/sqrt(n)", "1/n"],
    weights: tuple[float, float],
) -> TensorType:
    """The cosine transform along an axis, of floats or of complex numbers' parts.

    weights: of the ends of x, and of those of the result.
    """
    return _inferred(x, False, axis, type, weights)


@op(
    numpy=_meaning(sine=True),
    grad=_grad(sine=True),
    jvp="linear",
    batch=_batch(sine=True),
)
def dst(
    x: Operand,
    *,
    axis: int,
    type: int,
    scale: Literal["1", "1/sqrt(n)", "1/n"],
    weights: tuple[float, float],
) -> TensorType:
    """The sine transform along an axis, of floats or of complex numbers' parts.

    weights: of the last element of x, and of the result.
    """
    return _inferred(x, True, axis, type, weights)
