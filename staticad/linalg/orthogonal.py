"""Orthonormal columns that span those of a matrix."""

from __future__ import annotations

from typing import Literal, NamedTuple, overload

from staticad_schema.sites import asking

from ..building import build, renamed
from ..operands import Operand, result
from ..options import choice
from ..tensor import Tensor
from .precision import precise, rounded


class QR(NamedTuple):
    """Orthonormal columns, and the upper triangle that makes a matrix of them."""

    Q: Tensor
    R: Tensor


@overload
def qr(
    x: Operand, /, mode: Literal["reduced", "complete"] = ..., *, name: str | None = ...
) -> QR: ...


@overload
def qr(x: Operand, /, mode: Literal["r"], *, name: str | None = ...) -> Tensor: ...


def qr(
    x: Operand, /, mode: Literal["reduced", "complete", "r"] = "reduced", *, name: str | None = None
) -> QR | Tensor:
    """(Q, R) with x = Q @ R, of each matrix of a stack: orthonormal columns and an upper triangle.

    x: [..., m, n], and k the smaller one of m and n.  mode: "reduced" has Q [..., m, k] and R
    [..., k, n]; "complete" has Q [..., m, m] and R [..., m, n]; "r" is R alone, as reduced.
    Signs are LAPACK's; of complex matrices the diagonal of R is real.  Integers count as float32,
    half floats compute in it; matrices that are not finite have NaN.

    Derivatives exist where the first k columns of x are independent.  Those of the columns that
    "complete" adds are defined as of columns that turn no more than they must: right for what
    depends on the space that they span.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     q, r = sad.linalg.qr(sad.constant([[0.0, 2.0], [3.0, 4.0]]))
    >>> sad.Session(graph).run(sad.abs(r))
    array([[3., 4.],
           [0., 2.]], dtype=float32)
    """
    with asking("qr", name):
        choice("mode", mode, ("reduced", "complete", "r"))
        matrix, dtype = precise("qr", x)
        how = {"complete": mode == "complete"}
        if mode == "r":
            return result(renamed(rounded(build("qr", (matrix,), how)[1], dtype), name))
        q, r = build("qr", (matrix,), how, label=name)
        return QR(rounded(q, dtype), rounded(r, dtype))
