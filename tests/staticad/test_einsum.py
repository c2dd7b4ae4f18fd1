"""What einsum becomes: which ops, in which order, in which dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.ops.contraction_order import EXHAUSTIVE, contraction_order
from staticad_schema.types import BFLOAT16

from ..cases.running import grads, value

Shapes = tuple[tuple[Any, ...], ...]


def added(graph: sad.Graph, since: int) -> list[str]:
    return [node.op for node in graph.nodes[since:]]


@pytest.mark.parametrize(
    ("spec", "shapes", "ops"),
    [
        ("ij,jk->ik", ((2, 3), (3, 4)), "matmul"),
        ("bij,bjk->bik", ((5, 2, 3), (5, 3, 4)), "matmul"),
        ("...ij,...jk->...ik", ((5, 2, 3), (3, 4)), "matmul"),
        ("bij,jk->bik", ((5, 2, 3), (3, 4)), "matmul"),
        ("ij,j->i", ((2, 3), (3,)), "matmul"),
        ("j,ij->i", ((3,), (2, 3)), "matmul"),
        ("i,i", ((3,), (3,)), "matmul"),
        ("ij,jk->ki", ((2, 3), (3, 4)), "matmul permute_dims"),
        ("ij,kj->ik", ((2, 3), (4, 3)), "permute_dims matmul"),
        ("bchw,oc->bohw", ((2, 3, 4, 5), (6, 3)), "reshape matmul reshape"),
        ("ijk,jkl->il", ((2, 3, 4), (3, 4, 5)), "reshape reshape matmul"),
        ("bj,bjk->bk", ((2, 3), (2, 3, 4)), "reshape matmul reshape"),
        ("i,i->i", ((3,), (3,)), "multiply"),
        ("i,j->ij", ((3,), (4,)), "reshape multiply"),
        ("ij,ij->i", ((3, 4), (3, 4)), "multiply sum"),
        ("ij,ji->", ((3, 4), (4, 3)), "permute_dims multiply sum"),
        ("ij->ji", ((3, 4),), "permute_dims"),
        ("ij->j", ((3, 4),), "sum"),
        ("ij->ij", ((3, 4),), "identity"),
        ("ii->i", ((3, 3),), "reshape slice"),
        ("iji->ij", ((3, 4, 3),), "permute_dims reshape slice"),
        ("ii", (("n", "n"),), "iota gather sum"),
        ("ij,jk->ik", (("n", 3), (3, "m")), "matmul"),
        ("ij,j,jk->ik", ((2, 3), (3,), (3, 4)), "multiply matmul"),
    ],
)
def test_ops_are_few(spec: str, shapes: Shapes, ops: str) -> None:
    with sad.Graph() as graph:
        xs = [sad.placeholder("float32", shape) for shape in shapes]
        before = len(graph.nodes)
        y = sad.einsum(spec, *xs, name="y")
    assert " ".join(added(graph, before)) == ops
    assert y.name == "y"


def test_a_matrix_product_has_the_gradients_of_matmul() -> None:
    counts = []
    for product in (lambda a, b: sad.einsum("ij,jk->ik", a, b), sad.matmul):
        with sad.Graph() as graph:
            a, b = sad.placeholder("float32", (2, 3)), sad.placeholder("float32", (3, 4))
            y = product(a, b)
            before = len(graph.nodes)
            sad.gradients(y, [a, b])
        counts.append(added(graph, before))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("dtype", ["float16", BFLOAT16])
def test_half_floats_are_rounded_once(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=s).astype(dtype) for s in ((4, 50), (50, 3), (3, 5)))
    for spec, operands in (
        ("ij,jk,kl->il", (a, b, c)),
        ("ij,ij->i", (a, a)),
        ("ij,k->k", (a, c[0])),
    ):

        def f(*xs: Any, spec: str = spec) -> Any:
            return sad.einsum(spec, *xs)

        found = value(f, *operands)
        exact = value(f, *(x.astype(np.float64) for x in operands))
        assert found.dtype == dtype
        digits = 2.0**-11 if dtype == "float16" else 2.0**-8
        np.testing.assert_allclose(found.astype(float), exact, rtol=digits * 1.001)
    # 300 * 300 is out of float16's range, the mean of the products is not.
    large = np.full((2, 3), 300.0).astype(dtype)
    small = np.full(3, 1e-3).astype(dtype)
    assert np.isfinite(value(lambda x, w: sad.einsum("ij,ij,j->i", x, x, w), large, small)).all()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "complex64", "complex128"])
def test_the_dtype_stays(dtype: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 100, s).astype(dtype) for s in ((3, 4), (4, 2)))
    for spec, operands in (("ij,jk->ik", (a, b)), ("ij->i", (a,)), ("ij,jk,ij->k", (a, b, a))):
        found = value(lambda *xs, spec=spec: sad.einsum(spec, *xs), *operands)
        expected = np.einsum(spec, *operands)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_complex_operands_are_not_conjugated() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)) for _ in range(2))
    with sad.Graph() as graph:
        x, y = sad.constant(a), sad.constant(b)
        z = sad.einsum("ij,jk->ik", x, y)
        gradient = sad.gradients(sad.sum(sad.abs(z) ** 2), [x, y])
    with sad.Session(graph) as session:
        found, (gx, gy) = session.run([z, gradient])
    np.testing.assert_allclose(found, a @ b)
    np.testing.assert_allclose(gx, 2 * (a @ b) @ b.conj().T)
    np.testing.assert_allclose(gy, 2 * a.conj().T @ (a @ b))


def test_dtypes_are_promoted_and_numbers_are_weak() -> None:
    with sad.Graph():
        x = sad.placeholder("float16", (2,))
        y = sad.placeholder("float32", (2,))
        assert sad.einsum("i,i", x, y).dtype == np.float32
        assert sad.einsum("i,", x, 2.0).dtype == np.float16
        assert sad.einsum("i,i->i", x, [1.0, 2.0]).dtype == np.float16


def test_a_diagonal_of_sizes_that_a_run_finds_unequal_is_an_error() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", "m"))
        y = sad.einsum("ii->i", x)
    with sad.Session(graph) as session:
        np.testing.assert_array_equal(session.run(y, {x: np.eye(3)}), np.ones(3))
        for shape in ((3, 4), (4, 3), (1, 3)):
            with pytest.raises(sad.StaticadError):
                session.run(y, {x: np.ones(shape)})


def test_sizes_of_an_index_that_a_run_finds_unequal_are_an_error() -> None:
    with sad.Graph() as graph:
        x, y = sad.placeholder("float64", ("n", 2)), sad.placeholder("float64", ("m", 3))
        z = sad.einsum("ni,nj->ij", x, y)
    with sad.Session(graph) as session:
        assert session.run(z, {x: np.ones((4, 2)), y: np.ones((4, 3))}).shape == (2, 3)
        with pytest.raises(sad.StaticadError):
            session.run(z, {x: np.ones((4, 2)), y: np.ones((5, 3))})


# ------------------------------------------------------------------ the order of contraction


def costs(order: list[tuple[int, int]], terms: list[str], output: str, size: int) -> int:
    """The number of products of an order."""
    have: list[set[str]] = [set(t) for t in terms]
    alive = set(range(len(terms)))
    total = 0
    for a, b in order:
        total += size ** len(have[a] | have[b])
        alive -= {a, b}
        others = set(output).union(*(have[k] for k in alive))
        have.append((have[a] | have[b]) & others)
        alive.add(len(have) - 1)
    assert len(alive) == 1
    return total


def sized(terms: list[str], size: int) -> dict[str, int]:
    return dict.fromkeys("".join(terms), size)


def test_a_chain_is_contracted_from_its_narrow_end() -> None:
    terms = [frozenset("ab"), frozenset("bc"), frozenset("c")]
    assert contraction_order(terms, frozenset("a"), sized(["abc"], 10)) == [(1, 2), (0, 3)]
    narrow = {"a": 2, "b": 100, "c": 100, "d": 100}
    chain = [frozenset("ab"), frozenset("bc"), frozenset("cd")]
    assert contraction_order(chain, frozenset("ad"), narrow) == [(0, 1), (2, 3)]


def test_every_pair_is_contracted_once() -> None:
    for count in (1, 2, 3, EXHAUSTIVE, EXHAUSTIVE + 1, 30):
        terms = [frozenset({f"x{k}", f"x{k + 1}"}) for k in range(count)]
        sizes = {f"x{k}": 2 + k % 3 for k in range(count + 1)}
        order = contraction_order(terms, frozenset({"x0", f"x{count}"}), sizes)
        assert sorted(k for pair in order for k in pair) == list(range(2 * count - 2))
        assert order == contraction_order(terms, frozenset({"x0", f"x{count}"}), sizes)


def test_many_operands_are_as_good_as_few() -> None:
    # A ring of matrices: each contraction of neighbours costs n**3.
    letters = "abcdefghijkl"
    terms = [a + b for a, b in zip(letters, letters[1:] + letters[0], strict=True)]
    order = contraction_order([*map(frozenset, terms)], frozenset(), sized(terms, 10))
    assert costs(order, terms, "", 10) <= 10 * 10**3 + 10**2


def test_a_long_product_of_matrices_is_right() -> None:
    rng = np.random.default_rng(5)
    matrices = [rng.normal(size=(3, 3)) for _ in range(12)]
    spec = ",".join(a + b for a, b in zip("abcdefghijkl", "bcdefghijklm", strict=True)) + "->am"
    expected = np.linalg.multi_dot(matrices)
    found = value(lambda *xs: sad.einsum(spec, *xs), *matrices)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    slopes = grads(lambda *xs: sad.einsum(spec, *xs), *matrices)
    for matrix, slope in zip(matrices, slopes, strict=True):
        np.testing.assert_allclose(np.sum(slope * matrix), np.sum(expected), rtol=1e-9)
