"""Matrices that are made of vectors or of other matrices by their place alone."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ShapeError
from staticad_schema.ops.index import along
from staticad_schema.ops.pointwise import conjugated
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.sites import asking

from .. import methods
from ..building import build
from ..operands import Operand, result, tensor, tensors
from ..tensor import Tensor


def block_diag(*arrays: Operand, name: str | None = None) -> Tensor:
    """The matrices one after the other along the diagonal, and zeros elsewhere.

    arrays: at least one, [..., m, n], brought to one dtype; vectors count as one row, numbers as
    matrices of one element.  Stacks broadcast.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.block_diag([[1, 2], [3, 4]], [5, 6])
    >>> sad.Session(graph).run(y)
    array([[1, 2, 0, 0],
           [3, 4, 0, 0],
           [0, 0, 5, 6]])
    """
    with asking("block_diag", name):
        if not arrays:
            raise ShapeError("no matrices", expected="at least one", found="none")
        blocks: list[Any] = [
            methods.reshape(x, (*(1,) * (2 - x.ndim), *x.shape)) if x.ndim < 2 else x
            for x in tensors("block_diag", *arrays)
        ]
        stack = broadcast_shapes([x.type.shape[:-2] for x in blocks])
        whole = tuple((None, None, 1) for _ in stack)
        slices, parts = [], []
        rows: Any = 0
        columns: Any = 0
        for x in blocks:
            height, width = x.type.shape[-2:]
            if x.type.shape[:-2] != stack:
                x = build("broadcast_to", (x,), {"shape": (*stack, height, width)})
            parts.append(x)
            slices += [*whole, (rows, rows + height, 1), (columns, columns + width, 1)]
            rows, columns = rows + height, columns + width
        attributes = {"slices": tuple(slices), "shape": (*stack, rows, columns)}
        return result(build("place", parts, attributes, label=name))


def toeplitz(c: Operand, r: Operand | None = None, /, *, name: str | None = None) -> Tensor:
    """The matrix with first column c and first row r, constant along each diagonal.

    c: [..., m].  r: [..., n], whose first element is not used; None is conj(c), for a Hermitian
    matrix.  Raises ShapeError for a scalar.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.toeplitz([1, 2, 3], [0, 8, 9])
    >>> sad.Session(graph).run(y)
    array([[1, 8, 9],
           [2, 1, 8],
           [3, 2, 1]])
    """
    with asking("toeplitz", name):
        column: Any = tensor("toeplitz", c)
        row: Any = conjugated(column)
        if r is not None:
            column, row = tensors("toeplitz", c, r)
        for x in (column, row):
            if x.type.ndim < 1:
                raise ShapeError(
                    "a scalar is no first column or row",
                    expected="rank 1 or more",
                    found=x.describe(),
                )
        height, width = column.type.shape[-1], row.type.shape[-1]
        stack = broadcast_shapes((column.type.shape[:-1], row.type.shape[:-1]))
        above = methods.slice_along(row, row.type.ndim - 1, 1, None)
        above = build("flip", (above,), {"axis": (above.type.ndim - 1,)})
        ends = []
        for x in (above, column):
            shape = (*stack, x.type.shape[-1])
            if x.type.shape != shape:
                x = build("broadcast_to", (x,), {"shape": shape})
            ends.append(x)
        diagonals = build("concat", ends, {"axis": len(stack)})
        place = along(column, height, 0, 2) - along(column, width, 1, 2)
        last = dims.maximum(width - 1, 0)
        if last != 0:
            place = place + last
        return result(build("take", (diagonals, place), {"axis": len(stack)}, label=name))
