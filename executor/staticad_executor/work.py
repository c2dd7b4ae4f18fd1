"""How much work a node is: operations and bytes, from types alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from staticad_schema.types import TensorType, nbytes

from .machine import Work

Types = Sequence[TensorType]
Flops = Callable[[Types, Types], float]


def count(type_: TensorType) -> int:
    """The elements of a static type."""
    return math.prod(map(int, type_.shape))


def _product(operands: Types, outputs: Types) -> float:
    return 2.0 * count(outputs[0]) * int(operands[0].shape[-1])


def _convolution(result: int, kernel: int) -> Flops:
    """Each element of the result of a convolution sums over a kernel's inputs and places.

    result, kernel: their places among operands, then outputs.
    """

    def flops(operands: Types, outputs: Types) -> float:
        types = [*operands, *outputs]
        return 2.0 * count(types[result]) * math.prod(map(int, types[kernel].shape[1:]))

    return flops


def _cubic(factor: float) -> Flops:
    """factor times (rows) (columns) (the smaller of both), for each matrix of the first operand."""

    def flops(operands: Types, outputs: Types) -> float:
        return factor * count(operands[0]) * min(map(int, operands[0].shape[-2:]))

    return flops


def _system(factor: float) -> Flops:
    """factor times n**2 a column, for each matrix."""

    def flops(operands: Types, outputs: Types) -> float:
        return factor * count(outputs[0]) * int(operands[0].shape[-1])

    return flops


def _transform(operands: Types, outputs: Types) -> float:
    n = max(count(operands[0]), count(outputs[0]))
    return 5.0 * n * math.log2(max(n, 2))


# Leading terms: Golub and Van Loan, Matrix Computations (2013); of decompositions with vectors
# about what LAPACK takes.
FLOPS: dict[str, Flops] = {
    "matmul": _product,
    "matmul_no_nan": _product,
    "matmul_transposed": _product,
    "conv": _convolution(2, 1),
    "conv_input": _convolution(0, 1),
    "conv_weights": _convolution(1, 2),
    "cholesky": _cubic(1 / 3),
    "lu": _cubic(2 / 3),
    "det": _cubic(2 / 3),
    "slogdet": _cubic(2 / 3),
    "qr": _cubic(4),
    "eigvalsh": _cubic(4 / 3),
    "eigh": _cubic(9),
    "eig": _cubic(25),
    "svdvals": _cubic(8 / 3),
    "svd": _cubic(20),
    "expm": _cubic(30),
    "solve_triangular": _system(1),
    "fft": _transform,
    "rfft": _transform,
    "irfft": _transform,
    "dct": _transform,
    "dst": _transform,
}

SPECIAL = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf",
        "erfc", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "log_sigmoid",
        "log_softmax", "logaddexp", "logsumexp", "pow", "sigmoid", "sin", "sinh", "softmax",
        "softplus", "tan", "tanh",
    }
)  # fmt: skip
"""Ops that evaluate a special function for each element."""


def work(op: str, operands: Types, outputs: Types) -> Work:
    """About how much work a node of static types is, run alone."""
    flops = FLOPS[op](operands, outputs) if op in FLOPS else 0.0
    size = max(map(count, [*operands, *outputs]), default=0)
    traffic = sum(map(nbytes, operands)) + sum(map(nbytes, outputs))
    return Work(flops, size if op in SPECIAL else 0, traffic)


def operations(op: str, operands: Types, outputs: Types) -> int:
    """About how many operations a node of static types takes, whatever they are."""
    size = sum(map(count, outputs)) + sum(map(count, operands))
    return int(FLOPS[op](operands, outputs)) + size if op in FLOPS else size
