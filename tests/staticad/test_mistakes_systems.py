"""Mistakes with systems of equations, factors and determinants; and matrices that have none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import interpret
from tests.mistakes import check_parts

ANY: Any = b"?"
GRAPH = sad.Graph()
LINALG = sad.linalg


def of(*shape: Any, dtype: str = "float32") -> sad.Tensor:
    return GRAPH.placeholder(dtype, shape)


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "cho_factor of a rectangle": (ValueError, "square", lambda: LINALG.cho_factor(of(2, 3))),
    "solve a rectangle": (ValueError, "not square", lambda: LINALG.solve(of(3, 2), of(3))),
    "solve a vector": (ValueError, "no matrix", lambda: LINALG.solve(of(3), of(3))),
    "solve for other rows": (ValueError, "differ in size", lambda: LINALG.solve(of(3, 3), of(4))),
    "solve a transpose": (ValueError, "differ in size", lambda: LINALG.solve(of(3, 3), of(2, 3))),
    "solve for a scalar": (ValueError, "no matrix", lambda: LINALG.solve(of(3, 3), of())),
    "solve for other stacks": (
        ValueError,
        "broadcast",
        lambda: LINALG.solve(of(2, 3, 3), of(5, 3, 1)),
    ),
    "solve a stack of vectors": (
        ValueError,
        "differ in size",
        lambda: LINALG.solve(of(2, 3, 3), of(2, 3)),
    ),
    "inverse of a rectangle": (ValueError, "not square", lambda: LINALG.inv(of(2, 3))),
    "inverse of a vector": (ValueError, "no matrix", lambda: LINALG.inv(of(2))),
    "det of a rectangle": (ValueError, "not square", lambda: LINALG.det(of(4, 2, 3))),
    "det of a scalar": (ValueError, "no matrix", lambda: LINALG.det(of())),
    "slogdet of a rectangle": (ValueError, "not square", lambda: LINALG.slogdet(of(2, 3))),
    "cholesky of a rectangle": (ValueError, "not square", lambda: LINALG.cholesky(of(2, 3))),
    "cholesky of a vector": (ValueError, "no matrix", lambda: LINALG.cholesky(of(2))),
    "cholesky, upper no bool": (TypeError, "upper", lambda: LINALG.cholesky(of(2, 2), upper=ANY)),
    "lu of a vector": (ValueError, "no matrix", lambda: LINALG.lu(of(2))),
    "lu, permute_l no bool": (TypeError, "permute_l", lambda: LINALG.lu(of(2, 2), ANY)),
    "triangle of a rectangle": (
        ValueError,
        "not square",
        lambda: LINALG.solve_triangular(of(3, 2), of(3)),
    ),
    "triangle, other rows": (
        ValueError,
        "differ in size",
        lambda: LINALG.solve_triangular(of(3, 3), of(2, 3)),
    ),
    "triangle from the wrong side": (
        ValueError,
        "differ in size",
        lambda: LINALG.solve_triangular(of(3, 3), of(3, 2), left=False),
    ),
    "triangle, unknown trans": (
        ValueError,
        "trans",
        lambda: LINALG.solve_triangular(of(3, 3), of(3), trans=ANY),
    ),
    "triangle, lower no bool": (
        TypeError,
        "lower",
        lambda: LINALG.solve_triangular(of(3, 3), of(3), lower=ANY),
    ),
    "lu_factor of a rectangle": (ValueError, "not square", lambda: LINALG.lu_factor(of(2, 3))),
    "lu_solve without a permutation": (
        TypeError,
        "not the factors",
        lambda: LINALG.lu_solve(as_any(of(3, 3)), of(3)),
    ),
    "lu_solve, a permutation of floats": (
        TypeError,
        "no permutation",
        lambda: LINALG.lu_solve((of(3, 3), of(3)), of(3)),
    ),
    "lu_solve, another permutation": (
        ValueError,
        "the permutation",
        lambda: LINALG.lu_solve((of(3, 3), of(4, dtype="int64")), of(3)),
    ),
    "lu_solve, other rows": (
        ValueError,
        "differ in size",
        lambda: LINALG.lu_solve((of(3, 3), of(3, dtype="int64")), of(4)),
    ),
    "lu_solve, transposed otherwise": (
        ValueError,
        "not a trans",
        lambda: LINALG.lu_solve((of(3, 3), of(3, dtype="int64")), of(3), as_any("H")),
    ),
    "cho_solve without lower": (
        TypeError,
        "not a Cholesky factor",
        lambda: LINALG.cho_solve(as_any(of(3, 3)), of(3)),
    ),
    "cho_solve, lower no bool": (
        TypeError,
        "lower",
        lambda: LINALG.cho_solve((of(3, 3), ANY), of(3)),
    ),
    "cho_solve, other rows": (
        ValueError,
        "differ in size",
        lambda: LINALG.cho_solve((of(3, 3), True), of(4)),
    ),
    "no blocks": (ValueError, "no matrices", lambda: LINALG.block_diag()),
    "blocks of other stacks": (
        ValueError,
        "broadcast",
        lambda: LINALG.block_diag(of(2, 1, 1), of(3, 1, 1)),
    ),
    "toeplitz of a scalar": (ValueError, "scalar", lambda: LINALG.toeplitz(of())),
    "toeplitz, a scalar row": (ValueError, "scalar", lambda: LINALG.toeplitz(of(2), of())),
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
    # The function that was asked, not an op that it is made of.
    assert str(caught.value).split(":")[0] in mistake.__code__.co_names


# ------------------------------------------------------------------ at run time

SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]
BUILDERS: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "solve": (lambda a: LINALG.solve(a, [1.0, 1.0], name="mine"), SINGULAR, "singular"),
    "solve a matrix": (
        lambda a: LINALG.solve(a, [[1.0], [1.0]], name="mine"),
        SINGULAR,
        "singular",
    ),
    "inv": (lambda a: LINALG.inv(a, name="mine"), SINGULAR, "singular"),
    "lu_solve": (
        lambda a: LINALG.lu_solve(LINALG.lu_factor(a), [1.0, 1.0], name="mine"),
        SINGULAR,
        "singular",
    ),
    "lu_solve, transposed": (
        lambda a: LINALG.lu_solve(LINALG.lu_factor(a), [1.0, 1.0], "T", name="mine"),
        SINGULAR,
        "singular",
    ),
    "cho_solve": (
        lambda a: LINALG.cho_solve((a, False), [1.0, 1.0], name="mine"),
        [[1.0, 2.0], [0.0, 0.0]],
        "singular",
    ),
    "matrix_power": (lambda a: LINALG.matrix_power(a, -2, name="mine"), SINGULAR, "singular"),
    "triangle from the right": (
        lambda a: LINALG.solve_triangular(a, [[1.0, 1.0]], left=False, name="mine"),
        [[1.0, 2.0], [0.0, 0.0]],
        "singular",
    ),
    "solve_triangular": (
        lambda a: LINALG.solve_triangular(a, [[1.0], [1.0]], name="mine"),
        [[1.0, 2.0], [0.0, 0.0]],
        "singular",
    ),
    "cholesky": (
        lambda a: LINALG.cholesky(a, name="mine"),
        INDEFINITE,
        "not positive definite",
    ),
    "upper cholesky": (
        lambda a: LINALG.cholesky(a, upper=True, name="mine"),
        INDEFINITE,
        "not positive definite",
    ),
    "cholesky of infinity": (
        lambda a: LINALG.cholesky(a, name="mine"),
        [[1.0, np.inf], [np.inf, 1.0]],
        "not positive definite",
    ),
}


def by_session(graph: sad.Graph, y: Any, a: Any, array: Any) -> None:
    sad.Session(graph).run(y, {a: array})


def by_interpretation(graph: sad.Graph, y: Any, a: Any, array: Any) -> None:
    interpret(graph, [y.id], (), {a.id: array}, {}, 0)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("count", [0, 1, 3, 40])
@pytest.mark.parametrize("name", BUILDERS)
def test_matrices_without(name: str, count: int, interpreted: bool) -> None:
    function, bad, text = BUILDERS[name]
    matrices: Any = np.array(bad)
    if count:
        matrices = np.tile(np.eye(2), (2, count, 1, 1))
        matrices[1, count - 1] = bad
    with sad.Graph() as graph:
        a = sad.placeholder("float64", matrices.shape, name="a")
        y = function(a)
    run = by_interpretation if interpreted else by_session
    with pytest.raises(sad.ExecutionError) as caught:
        run(graph, y, a, matrices)
    message = str(caught.value)
    assert text in message
    assert (f"the matrix [1, {count - 1}] of the stack" if count else "the matrix") in message
    check_parts(caught.value, function)
    if not interpreted:
        # The node itself, or one that it is made of.
        assert re.search(r"'mine(/\w+)*'", message)


def test_shapes_that_only_the_run_knows() -> None:
    with sad.Graph() as graph:
        a, b = sad.placeholder("float64", ("m", "n")), sad.placeholder("float64", (None, 1))
        x, y, z = LINALG.solve(a, b), LINALG.det(a), LINALG.slogdet(a)
    with sad.Session(graph) as session:
        for fetch, feeds in ((x, {a: np.ones((2, 3)), b: np.ones((2, 1))}),
                             (x, {a: np.eye(2), b: np.ones((3, 1))}),
                             (y, {a: np.ones((2, 3))}), (z, {a: np.ones((2, 3))})):  # fmt: skip
            with pytest.raises(
                sad.StaticadError, match=r"square|differ in size|another shape"
            ) as caught:
                session.run(fetch, feeds)
            assert caught.value.site is not None


def test_gradients_of_a_singular_stack_name_the_forward_line() -> None:
    with sad.Graph() as graph:
        a = sad.placeholder("float64", (2, 2))
        x = LINALG.inv(a)
        (da,) = sad.gradients(sad.sum(x), a)
    with pytest.raises(sad.ExecutionError, match="singular") as caught:
        sad.Session(graph).run(da, {a: SINGULAR})
    assert caught.value.site is not None
