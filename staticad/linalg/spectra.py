"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from staticad_schema.errors import ArgumentError
from staticad_schema.ops.matrices import adjoint, check_square, lower_part, upper_part
from staticad_schema.sites import asking

from ..building import build, renamed
from ..operands import Operand, result
from ..tensor import Tensor
from .precision import applied, precise, rounded

Triangle = Literal["L", "U"] | None


class Eigh(NamedTuple):
    """The real eigenvalues of a symmetric matrix, and its eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class Eig(NamedTuple):
    """The eigenvalues of a matrix, and its eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def eigh(x: Operand, /, UPLO: Triangle = None, *, name: str | None = None) -> Eigh:
    """(eigenvalues, eigenvectors), of each symmetric (Hermitian) matrix of a stack.

    x: [..., n, n].  The eigenvalues [..., n] are real and ascend; column k of the eigenvectors
    [..., n, n] has length 1 and belongs to value k.  They are those of (x + conj(x.mT)) / 2, so
    that derivatives are symmetric; UPLO: only the lower ("L") or upper ("U") triangle of x is read,
    and has a derivative.  Integers count as float32, half floats compute in it; matrices that are
    not finite have NaN.

    The sign of a vector, of complex ones the phase, is LAPACK's: what is computed from vectors
    should not depend on it.  Nor should it tell vectors of equal values apart: the term of
    derivatives that divides by their difference, if that is 0 or rounding, counts as 0.  So the
    second derivatives of sum(f(eigenvalues)) lack what equal eigenvalues do to each other.

    Raises ShapeError for a matrix that is not square.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([[2.0, 0.0], [0.0, 1.0]])
    ...     values, vectors = sad.linalg.eigh(x)
    ...     same = vectors @ sad.diag(values) @ vectors.mT
    >>> for value in sad.Session(graph).run([values, same]):
    ...     print(value)
    [1. 2.]
    [[2. 0.]
     [0. 1.]]
    """
    with asking("eigh", name):
        matrix, dtype = precise("eigh", x)
        values, vectors = build("eigh", (_mirrored(matrix, UPLO),), label=name)
        return Eigh(rounded(values, dtype), rounded(vectors, dtype))


def eigvalsh(x: Operand, /, UPLO: Triangle = None, *, name: str | None = None) -> Tensor:
    """The eigenvalues of symmetric (Hermitian) matrices, real and ascending; see `eigh`.

    The gradient is right at equal eigenvalues too, where what is computed does not tell them apart.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([[2.0, 1.0], [1.0, 2.0]])
    ...     y = sad.linalg.eigvalsh(x)
    ...     (dx,) = sad.gradients(sad.sum(y), x)
    >>> for value in sad.Session(graph).run([y, sad.round(dx)]):
    ...     print(value)
    [1. 3.]
    [[1. 0.]
     [0. 1.]]
    """
    with asking("eigvalsh", name):
        matrix, dtype = precise("eigvalsh", x)
        return applied("eigvalsh", _mirrored(matrix, UPLO), {}, dtype, name)


def _mirrored(x: Any, triangle: Triangle) -> Any:
    """A matrix that is its own adjoint, of a triangle of x."""
    if triangle is None:
        return x
    if triangle not in ("L", "U"):
        raise ArgumentError(
            "not a triangle", expected="'L', 'U' or None", found=f"{triangle!r:.80}"
        )
    check_square(x.type)
    if triangle == "L":
        return lower_part(x) + adjoint(lower_part(x, -1))
    return upper_part(x) + adjoint(upper_part(x, 1))


def eig(x: Operand, /, *, name: str | None = None) -> Eig:
    """(eigenvalues, eigenvectors), of each square matrix of a stack, always complex.

    x: [..., n, n].  The eigenvalues [..., n] are in LAPACK's order; column k of the eigenvectors
    [..., n, n] has length 1 and belongs to value k.  complex64, of float64 and complex128
    complex128; matrices that are not finite have NaN.

    The phase of a vector is LAPACK's: what is computed from vectors should not depend on it.
    Derivatives exist where there are n independent vectors; those of equal values, as in `eigh`.

    Raises ShapeError for a matrix that is not square.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     values, vectors = sad.linalg.eig([[0.0, -1.0], [1.0, 0.0]])
    >>> sad.Session(graph).run(values)
    array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    with asking("eig", name):
        matrix, _ = precise("eig", x)
        values, vectors = build("eig", (matrix,), label=name)
        return Eig(result(values), result(vectors))


def eigvals(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The eigenvalues of square matrices, always complex, in LAPACK's order; see `eig`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.eigvals([[1.0, 5.0], [0.0, 2.0]])
    >>> sad.Session(graph).run(y)
    array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    with asking("eigvals", name):
        matrix, _ = precise("eigvals", x)
        check_square(matrix.type)
        return result(renamed(build("eig", (matrix,))[0], name))
