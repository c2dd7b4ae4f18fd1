"""Mistakes with contractions, norms and statistics: refused with the four parts and the line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

# What a type checker would refuse is a mistake all the same.
ANY: Any = b"?"
F = "float32"


def of(*shape: Any, dtype: str = F) -> sad.Tensor:
    return GRAPH.placeholder(dtype, shape)


GRAPH = sad.Graph()

MISTAKES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    # einsum
    "no operands": (TypeError, "no operands", lambda: sad.einsum("ij->ij")),
    "an operand without indices": (TypeError, "without indices", lambda: sad.einsum(of(2))),
    "the last without indices": (
        TypeError,
        "without indices",
        lambda: sad.einsum(of(2), [0], of(2)),
    ),
    "indices of letters": (TypeError, "is no index", lambda: sad.einsum(of(2), ["i"])),
    "negative index": (TypeError, "is no index", lambda: sad.einsum(of(2), [-1])),
    "indices that are no list": (TypeError, "not a list", lambda: sad.einsum(of(2), ANY)),
    "two arrows": (ValueError, "more than one arrow", lambda: sad.einsum("i->i->i", of(2))),
    "a digit": (ValueError, "'1' is no index", lambda: sad.einsum("i1", of(2, 2))),
    "two dots": (ValueError, "'.' is no index", lambda: sad.einsum("..i", of(2, 2))),
    "more terms": (ValueError, "as many operands", lambda: sad.einsum("i,i", of(2))),
    "fewer terms": (ValueError, "as many operands", lambda: sad.einsum("i", of(2), of(2))),
    "low rank": (ValueError, "another rank", lambda: sad.einsum("ij", of(2))),
    "high rank": (ValueError, "'...' stands for axes", lambda: sad.einsum("i", of(2, 3))),
    "low rank with dots": (ValueError, "rank 2 or more", lambda: sad.einsum("...ij", of(2))),
    "dots twice": (ValueError, "twice", lambda: sad.einsum("...i...", of(2))),
    "dots lost": (ValueError, "no place", lambda: sad.einsum("...i->i", of(2, 3))),
    "unknown index": (ValueError, "'k' of the result", lambda: sad.einsum("ij->k", of(2, 2))),
    "index twice": (ValueError, "twice in the result", lambda: sad.einsum("i->ii", of(2))),
    "sizes differ": (
        ValueError,
        "size of index 'j'",
        lambda: sad.einsum("ij,jk->ik", of(2, 3), of(4, 2)),
    ),
    "sizes of dots differ": (
        ValueError,
        "differ in the size",
        lambda: sad.einsum("...,...", of(2, 3), of(2, 4)),
    ),
    "diagonal of a rectangle": (
        ValueError,
        "differ in size",
        lambda: sad.einsum("ii->i", of(2, 3)),
    ),
    "diagonal of size 1 and 3": (ValueError, "differ in size", lambda: sad.einsum("ii", of(1, 3))),
    "product of bools": (
        TypeError,
        "does not admit",
        lambda: sad.einsum("ij,jk->ik", of(2, 2, dtype="bool"), of(2, 2, dtype="bool")),
    ),
    "sum of bools": (TypeError, "admit", lambda: sad.einsum("i->", of(2, dtype="bool"))),
    "einsum of text": (TypeError, "not an operand", lambda: sad.einsum("i,i", of(2), ANY)),
    "another graph": (
        sad.GraphError,
        "graph",
        lambda: sad.einsum("i,i", of(2), sad.Graph().placeholder(F, (2,))),
    ),
    # contractions
    "tensordot of too many axes": (
        ValueError,
        "as many axes",
        lambda: sad.tensordot(of(2, 3), of(3), axes=2),
    ),
    "tensordot of axes that differ": (
        ValueError,
        "differ in size",
        lambda: sad.tensordot(of(2, 3), of(2, 3), axes=1),
    ),
    "tensordot of other counts": (
        ValueError,
        "pair up",
        lambda: sad.tensordot(of(2, 3), of(2, 3), axes=((0, 1), (0,))),
    ),
    "tensordot of an axis twice": (
        ValueError,
        "pair up",
        lambda: sad.tensordot(of(2, 2), of(2, 2), axes=((0, 0), (0, 1))),
    ),
    "tensordot of no axis": (
        ValueError,
        "no axis 2",
        lambda: sad.tensordot(of(2, 2), of(2, 2), axes=((2,), (0,))),
    ),
    "tensordot of three lists": (
        ValueError,
        "two operands",
        lambda: sad.tensordot(of(2), of(2), axes=as_any((0, 0, 0))),
    ),
    "tensordot of text": (
        TypeError,
        "not an integer",
        lambda: sad.tensordot(of(2), of(2), axes=ANY),
    ),
    "vecdot of scalars": (ValueError, "not a vector", lambda: sad.vecdot(of(), of(2))),
    "vecdot of other sizes": (ValueError, "differ in size", lambda: sad.vecdot(of(2), of(3))),
    "vecdot does not broadcast": (ValueError, "in size", lambda: sad.vecdot(of(2, 1), of(2, 3))),
    "matvec of a vector": (ValueError, "not a matrix", lambda: sad.matvec(of(2), of(2))),
    "vecmat of a vector": (ValueError, "not a matrix", lambda: sad.vecmat(of(2), of(2))),
    "outer of a matrix": (ValueError, "use ravel", lambda: sad.outer(of(2, 2), of(2))),
    "inner of other sizes": (ValueError, "in size", lambda: sad.inner(of(2), of(3))),
    "dot of other sizes": (ValueError, "in size", lambda: sad.dot(of(2, 3), of(2, 3))),
    "vdot of other counts": (ValueError, "in size", lambda: sad.vdot(of(2, 3), of(5))),
    "kron of bools": (
        TypeError,
        "admit",
        lambda: sad.kron(of(2, dtype="bool"), of(2, dtype="bool")),
    ),
    "cross of size 4": (ValueError, "space", lambda: sad.cross(of(4), of(4))),
    "cross of an unknown size": (ValueError, "space", lambda: sad.cross(of("n"), of(3))),
    "cross of no axis": (ValueError, "no axis 1", lambda: sad.cross(of(3), of(3), axis=1)),
    "trace of a vector": (ValueError, "not a matrix", lambda: sad.trace(of(3))),
    "trace of one axis": (ValueError, "two axes", lambda: sad.trace(of(3, 3), 0, 1, -1)),
    "trace of a vector in linalg": (ValueError, "not a matrix", lambda: sad.linalg.trace(of(3))),
    "multi_dot of one": (ValueError, "multiply", lambda: sad.linalg.multi_dot([of(2, 2)])),
    "multi_dot of a tensor": (
        TypeError,
        "not a sequence",
        lambda: sad.linalg.multi_dot(as_any(of(2, 2))),
    ),
    "multi_dot with a vector inside": (
        ValueError,
        "operand 1 is no matrix",
        lambda: sad.linalg.multi_dot([of(2, 2), of(2), of(2, 2)]),
    ),
    "multi_dot of other sizes": (
        ValueError,
        "in size",
        lambda: sad.linalg.multi_dot([of(2, 3), of(2, 2)]),
    ),
    # norms
    "norm of text": (
        TypeError,
        "order of a vector",
        lambda: sad.linalg.vector_norm(of(2), ord=ANY),
    ),
    "norm of order NaN": (
        TypeError,
        "order of a vector",
        lambda: sad.linalg.vector_norm(of(2), ord=math.nan),
    ),
    "norm along no axis": (ValueError, "no axis", lambda: sad.linalg.vector_norm(of(2), axis=1)),
    "matrix norm of a vector": (ValueError, "not a matrix", lambda: sad.linalg.matrix_norm(of(2))),
    "matrix norm of order 3": (
        ValueError,
        "order of a matrix",
        lambda: sad.linalg.matrix_norm(of(2, 2), ord=3),
    ),
    "norm over three axes": (
        ValueError,
        "neither a vector nor a matrix",
        lambda: sad.linalg.norm(of(2, 2, 2), axis=(0, 1, 2)),
    ),
    "norm of order 1 over three axes": (
        ValueError,
        "neither a vector",
        lambda: sad.linalg.norm(of(2, 2, 2), 1),
    ),
    "norm over an axis twice": (
        ValueError,
        "neither a vector",
        lambda: sad.linalg.norm(of(2, 2), axis=(0, -2)),
    ),
    # statistics
    "correction of text": (
        TypeError,
        "correction is no number",
        lambda: sad.std(of(2), correction=ANY),
    ),
    "nanstd of text": (TypeError, "correction", lambda: sad.nanstd(of(2), correction=ANY)),
    "weights of another shape": (
        ValueError,
        "another shape",
        lambda: sad.average(of(2, 3), weights=of(3, 2)),
    ),
    "too few weights": (
        ValueError,
        "weight for each",
        lambda: sad.average(of(2, 3), axis=1, weights=of(2)),
    ),
    "cov of a stack": (ValueError, "not observations", lambda: sad.cov(of(2, 2, 2))),
    "cov of other counts": (ValueError, "size", lambda: sad.cov(of(2, 3), of(2, 4))),
    "cov with other weights": (
        ValueError,
        "weight for each observation",
        lambda: sad.cov(of(2, 3), fweights=[1, 2]),
    ),
    "method of another library": (
        ValueError,
        "not a method",
        lambda: sad.quantile(of(2), 0.5, method=ANY),
    ),
    "share above 1": (ValueError, "outside of the whole", lambda: sad.quantile(of(2), 1.5)),
    "share NaN": (ValueError, "outside of the whole", lambda: sad.quantile(of(2), math.nan)),
    "percentile above 100": (ValueError, "to 100", lambda: sad.percentile(of(2), [50, 101])),
    "share of text": (TypeError, "not a constant", lambda: sad.quantile(of(2), ANY)),
    "share of bools": (TypeError, "not shares", lambda: sad.quantile(of(2), True)),
    "share of complex": (TypeError, "not shares", lambda: sad.quantile(of(2), 1j)),
    "shares that are integers": (
        TypeError,
        "not shares",
        lambda: sad.quantile(of(2), of(2, dtype="int32")),
    ),
    "median of nothing": (ValueError, "no elements", lambda: sad.median(of(2, 0), axis=1)),
    "median of complex": (
        TypeError,
        "without an order",
        lambda: sad.median(of(2, dtype="complex64")),
    ),
    "ptp of complex": (TypeError, "admit", lambda: sad.ptp(of(2, dtype="complex64"))),
    # curves
    "diff of a scalar": (ValueError, "no axis", lambda: sad.diff(of())),
    "diff of a negative order": (ValueError, "negative order", lambda: sad.diff(of(3), n=-1)),
    "diff of an order beyond use": (ValueError, "so many", lambda: sad.diff(of("n"), n=10**9)),
    "diff of half an order": (TypeError, "integer", lambda: sad.diff(of(3), n=as_any(0.5))),
    "diff with another rank": (ValueError, "rank", lambda: sad.diff(of(3, 2), prepend=of(2))),
    "trapezoid with other places": (
        ValueError,
        "place for each",
        lambda: sad.trapezoid(of(3), of(4)),
    ),
    "trapezoid with many dx": (ValueError, "no scalar", lambda: sad.trapezoid(of(3), dx=of(3))),
    "interp over a matrix": (
        ValueError,
        "polyline",
        lambda: sad.interp(of(3), of(2, 2), of(2, 2)),
    ),
    "interp over nothing": (ValueError, "polyline", lambda: sad.interp(of(3), of(0), of(0))),
    "interp over other counts": (
        ValueError,
        "value for each",
        lambda: sad.interp(of(3), of(2), of(3)),
    ),
    "polynomial of unknown degree": (
        ValueError,
        "known size",
        lambda: sad.polyval(of("n"), of(2)),
    ),
    "vander of a matrix": (ValueError, "not a vector", lambda: sad.vander(of(2, 2))),
    "vander of bools": (
        TypeError,
        "vander: a dtype",
        lambda: sad.vander(of(3, dtype="bool")),
    ),
    "quantile of no numbers": (
        TypeError,
        "not shares",
        lambda: sad.quantile(of(3), np.array([None], object)),
    ),
    "vander of an unknown size": (TypeError, "not a count", lambda: sad.vander(of("n"))),
}


def as_any(x: Any) -> Any:
    return x


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    with pytest.raises(kind) as caught:
        mistake()
    assert text in str(caught.value)
    check_parts(caught.value, mistake)


def test_positions_outside_of_the_whole_fail_when_they_are_fed() -> None:
    with sad.Graph() as graph:
        q = sad.placeholder("float32", (), name="q")
        y = sad.quantile(np.arange(4.0), q)
    with sad.Session(graph) as session:
        assert session.run(y, {q: 0.5}) == 1.5
        for share in (-1e-3, 1.001, np.nan):
            with pytest.raises(sad.ExecutionError):
                session.run(y, {q: share})
