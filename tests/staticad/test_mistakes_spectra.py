"""Mistakes with eigenvalues, singular values, orthonormal columns and functions of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import staticad as sad
from tests.mistakes import check_parts

ANY: Any = b"?"
GRAPH = sad.Graph()
LINALG = sad.linalg


def of(*shape: Any, dtype: str = "float32") -> sad.Tensor:
    return GRAPH.placeholder(dtype, shape)


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "eigh of a vector": (ValueError, "no matrix", lambda: LINALG.eigh(of(3))),
    "eigh of a rectangle": (ValueError, "not square", lambda: LINALG.eigh(of(3, 2))),
    "eigh, a triangle": (ValueError, "not a triangle", lambda: LINALG.eigh(of(2, 2), ANY)),
    "eigh, a triangle of a vector": (ValueError, "no matrix", lambda: LINALG.eigh(of(3), "L")),
    "eigvalsh of a rectangle": (ValueError, "not square", lambda: LINALG.eigvalsh(of(3, 2))),
    "eig of a scalar": (ValueError, "eig: the operand is no matrix", lambda: LINALG.eig(of())),
    "eigvals of a rectangle": (ValueError, "eigvals: ", lambda: LINALG.eigvals(of(2, 3))),
    "svd of a vector": (ValueError, "no matrix", lambda: LINALG.svd(of(2))),
    "svd, full_matrices no bool": (TypeError, "full_matrices", lambda: LINALG.svd(of(2, 3), ANY)),
    "svdvals of a vector": (ValueError, "no matrix", lambda: LINALG.svdvals(of(2))),
    "qr of a vector": (ValueError, "no matrix", lambda: LINALG.qr(of(2))),
    "qr, unknown mode": (ValueError, "not a mode", lambda: LINALG.qr(of(2, 2), ANY)),
    "pinv of a vector": (ValueError, "no matrix", lambda: LINALG.pinv(of(2))),
    "pinv, a tolerance of no number": (
        TypeError,
        "not a constant",
        lambda: LINALG.pinv(of(2, 2), rtol=ANY),
    ),
    "pinv, a complex tolerance": (TypeError, "not real", lambda: LINALG.pinv(of(2, 2), rtol=1j)),
    "pinv, tolerances of no stack": (
        ValueError,
        "broadcast",
        lambda: LINALG.pinv(of(2, 2), rtol=[0.1, 0.2]),
    ),
    "pinv, tolerances of another stack": (
        ValueError,
        "broadcast",
        lambda: LINALG.pinv(of(3, 2, 2), rtol=[0.1, 0.2]),
    ),
    "rank of a vector": (ValueError, "matrix_rank: ", lambda: LINALG.matrix_rank(of(2))),
    "rank, two tolerances": (
        ValueError,
        "tol and rtol",
        lambda: LINALG.matrix_rank(of(2, 2), 0.1, rtol=0.1),
    ),
    "rank, tolerances of a larger stack": (
        ValueError,
        "broadcast",
        lambda: LINALG.matrix_rank(of(1, 2, 2), [0.1, 0.2]),
    ),
    "lstsq, other rows": (ValueError, "rows of a and b", lambda: LINALG.lstsq(of(3, 2), of(4))),
    "lstsq with a vector": (ValueError, "no matrix", lambda: LINALG.lstsq(of(3), of(3))),
    "lstsq for a scalar": (ValueError, "no matrix", lambda: LINALG.lstsq(of(3, 2), 1.0)),
    "lstsq, other stacks": (
        ValueError,
        "lstsq: shapes do not broadcast",
        lambda: LINALG.lstsq(of(2, 3, 2), of(4, 3, 1)),
    ),
    "condition by no norm": (ValueError, "cond: not the order", lambda: LINALG.cond(of(2, 2), ANY)),
    "condition of a rectangle": (ValueError, "not square", lambda: LINALG.cond(of(2, 3), 1)),
    "condition of nothing": (ValueError, "no condition", lambda: LINALG.cond(of(0, 0))),
    "a fractional power": (TypeError, "not an integer", lambda: LINALG.matrix_power(of(2, 2), ANY)),
    "power of a rectangle": (ValueError, "not a square", lambda: LINALG.matrix_power(of(2, 3), 2)),
    "power of bools": (
        TypeError,
        "does not admit",
        lambda: LINALG.matrix_power(of(2, 2, dtype="bool"), 2),
    ),
    "exponential of a rectangle": (ValueError, "not square", lambda: LINALG.expm(of(2, 3))),
    "root of a vector": (ValueError, "no matrix", lambda: LINALG.sqrtm(of(2))),
    "logarithm of a rectangle": (ValueError, "not square", lambda: LINALG.logm(of(2, 3))),
    "smallest singular value of nothing": (
        ValueError,
        "no identity",
        lambda: LINALG.matrix_norm(of(0, 2), ord=-2),
    ),
    "a norm of another name": (
        ValueError,
        "not the order",
        lambda: LINALG.matrix_norm(of(2, 2), ord=ANY),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    with pytest.raises(kind) as caught:
        mistake()
    assert text in str(caught.value)
    check_parts(caught.value, mistake)


def test_a_matrix_that_a_run_finds_not_to_be_square() -> None:
    def modes(x: Any) -> Any:
        return LINALG.eigvalsh(x, name="modes")

    x = of("rows", "columns")
    y = modes(x)
    with pytest.raises(sad.StaticadError, match=r"'modes'[\s\S]*not square") as caught:
        sad.Session(GRAPH).run(y, {x: [[1.0, 2.0]]})
    check_parts(caught.value, modes)
