"""Products of derivatives with vectors: against matrices, closed forms, and their cost in steps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .plans import steps

HOME = Path(__file__).parents[2]
PATH = os.pathsep.join([str(HOME / "schema"), str(HOME / "executor")])
RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 3))
W = {"in": RNG.normal(size=(3, 5)), "out": [RNG.normal(size=(5, 2)), RNG.normal(size=2)]}
LABELS = np.array([0, 1, 1, 0])


def network(x: Any, w: Any) -> Any:
    """Logits of a small network with nested weights."""
    return sad.tanh(x @ w["in"]) @ w["out"][0] + w["out"][1]


def weights() -> Any:
    """Placeholders nested as `W` is."""
    return {
        "in": sad.placeholder("float64", (3, 5), name="in"),
        "out": [
            sad.placeholder("float64", (5, 2), name="out"),
            sad.placeholder("float64", (2,), name="bias"),
        ],
    }


def flat(nested: Any) -> list[Any]:
    """The leaves in the order of `W`."""
    return [nested["in"], *nested["out"]]


def feeds(w: Any) -> dict[Any, Any]:
    """The weights' values."""
    return dict(zip(flat(w), flat(W), strict=True))


def vector(arrays: list[Any]) -> Any:
    """All numbers one after the other."""
    return np.concatenate([np.ravel(a) for a in arrays])


V = {"in": RNG.normal(size=(3, 5)), "out": [RNG.normal(size=(5, 2)), RNG.normal(size=2)]}


def test_vjp_and_linearize_are_transposes_and_nested_as_they_were_given() -> None:
    with sad.Graph() as graph:
        w = weights()
        logits = network(X, w)
        ys = {"logits": logits, "parts": (sad.sum(logits, axis=0), logits[0, 0])}
        u: Any = {"logits": RNG.normal(size=(4, 2)), "parts": (RNG.normal(size=2), 2.0)}
        pulled = sad.vjp(ys, w, u)
        pushed = sad.linearize(ys, w)(V)
    assert pulled.keys() == w.keys()
    assert isinstance(pulled["out"], list)
    assert pushed["parts"][1].type == ys["parts"][1].type
    with sad.Session(graph) as session:
        back, forth = session.run([pulled, pushed], feeds(w))
    left = vector(flat(back)) @ vector(flat(V))
    right = vector([forth["logits"], *forth["parts"]]) @ vector([u["logits"], *u["parts"]])
    assert left == pytest.approx(right, rel=1e-12)


def test_linearize_takes_many_tangents_of_one_point() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        product = sad.linearize(sad.exp(x) * x[::-1], x)
        many = sad.map(product, sad.eye(3, dtype="float64"))
        one = product([0.0, 1.0, 0.0])
        scaled = product(2.0)
        matrix = sad.jacobian(sad.exp(x) * x[::-1], x)
    at = np.array([0.1, 0.2, -0.3])
    with sad.Session(graph) as session:
        found, column, twice, expected = session.run([many, one, scaled, matrix], {x: at})
    np.testing.assert_allclose(found, expected.T, rtol=1e-15)
    np.testing.assert_array_equal(column, found[1])
    np.testing.assert_allclose(twice, 2 * expected.sum(1), rtol=1e-14)


def test_curvature_products_are_those_of_their_matrices() -> None:
    with sad.Graph() as graph:
        w = weights()
        logits = network(X, w)
        loss = sad.nn.cross_entropy(logits, LABELS)
        each = -sad.nn.cross_entropy(logits, LABELS, reduction="none")
        products = [
            sad.hvp(loss, w, V),
            sad.gauss_newton_product(loss, logits, w, V),
            sad.fisher_product(each, w, V),
        ]
        second = sad.hessian(loss, flat(w))
        first = sad.jacobian(logits, flat(w))
        of_each = sad.jacobian(each, flat(w))
        outer = sad.hessian(loss, logits)
    with sad.Session(graph) as session:
        found, h, j, e, inner = session.run([products, second, first, of_each, outer], feeds(w))
    v = vector(flat(V))
    sizes = [a.size for a in flat(W)]
    hessian = np.block(
        [[b.reshape(n, m) for b, m in zip(r, sizes, strict=True)]
         for r, n in zip(h, sizes, strict=True)]
    )  # fmt: skip
    jacobian = np.concatenate([a.reshape(8, -1) for a in j], axis=1)
    scores = np.concatenate([a.reshape(4, -1) for a in e], axis=1)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-14)
    expected = [
        hessian @ v,
        jacobian.T @ inner.reshape(8, 8) @ jacobian @ v,
        scores.T @ scores @ v / 4,
    ]
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(vector(flat(got)), wanted, rtol=1e-10, atol=1e-13)


def test_the_gauss_newton_matrix_is_the_fisher_matrix_of_a_softmax() -> None:
    # Summed over all labels, each weighted by its probability.
    with sad.Graph() as graph:
        w = weights()
        logits = network(X[:1], w)[0]
        loss = sad.nn.cross_entropy(logits, 1)
        curved = flat(sad.gauss_newton_product(loss, logits, w, V))
        logs = sad.nn.log_softmax(logits)
        scores = [flat(sad.fisher_product(logs[k], w, V)) for k in range(2)]
        p = sad.exp(logs)
        mixed = [p[0] * a + p[1] * b for a, b in zip(*scores, strict=True)]
    with sad.Session(graph) as session:
        left, right = session.run([curved, mixed], feeds(w))
    np.testing.assert_allclose(vector(left), vector(right), rtol=1e-11, atol=1e-14)


def test_hvp_of_complex_numbers_is_that_of_their_parts() -> None:
    at, along = np.array([1 + 2j, -0.5j]), np.array([0.5 - 1j, 2 + 0j])
    with sad.Graph() as graph:
        z = sad.placeholder("complex128", (2,), name="z")
        parts = sad.placeholder("float64", (2, 2), name="parts")

        def energy(z: Any) -> Any:
            return sad.sum(sad.abs(z) ** 4) + sad.real(z[0] * z[1] ** 2)

        product = sad.hvp(energy(z), z, along)
        apart = sad.hvp(energy(sad.view_as_complex(parts)), parts, view(along))
    with sad.Session(graph) as session:
        found, expected = session.run([product, apart], {z: at, parts: view(at)})
    np.testing.assert_allclose(view(found), expected, rtol=1e-12)


def view(z: Any) -> Any:
    """Real and imaginary parts."""
    return np.stack([z.real, z.imag], axis=-1)


def deep(depth: int) -> tuple[sad.Graph, Any, Any]:
    """A graph, a chain of layers from 6 numbers to 5, and where it begins."""
    graph = sad.Graph()
    with graph:
        x = sad.placeholder("float64", (6,), name="x")
        h: Any = x
        for k in range(depth):
            width = 5 if k == depth - 1 else 6
            h = sad.tanh(h @ RNG.normal(size=(6, width)))
    return graph, h, x


@pytest.mark.parametrize("depth", [4, 16])
def test_products_cost_a_few_passes_whatever_the_sizes(depth: int) -> None:
    graph, y, x = deep(depth)
    with graph:
        (pushed,) = sad.jvp(y, x, [np.ones(6)])
        pulled = sad.vjp(y, x, np.ones(5))
        loss = sad.sum(y**2)
        (slope,) = sad.gradients(loss, x)
        product = sad.hvp(loss, x, np.ones(6))
    with sad.Session(graph, device="numpy") as session:
        forward = steps(session, [y])
        assert forward >= depth
        assert steps(session, [y, pushed]) <= 3 * forward
        assert steps(session, [y, pulled]) <= 3 * forward
        assert steps(session, [loss, slope, product]) <= 4 * steps(session, [loss, slope])


def test_products_run_in_the_executor_process(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        w = weights()
        logits = network(X, w)
        loss = sad.nn.cross_entropy(logits, LABELS)
        named = {
            "vjp": sad.vjp(logits, w)["in"],
            "hvp": sad.hvp(loss, w, V)["in"],
            "gauss": sad.gauss_newton_product(loss, logits, w, V)["out"][1],
            "rows": sad.jacobian(logits, w["in"]),
            "loop": sad.jacobian(logits, w["in"], one_by_one=True),
            "hessian": sad.hessian(loss, w["in"]),
            "grad": sad.grad(sad.logsumexp)(w["out"][1]),
        }
        for name, value in named.items():
            sad.identity(value, name=name)
    graph.save(tmp_path / "products.sad")
    command = [sys.executable, "-m", "staticad_executor", "run", "products.sad"]
    for tensor, array in feeds(w).items():
        np.save(tmp_path / f"{tensor.name}.npy", array)
        command += ["--feed", f"{tensor.name}={tensor.name}.npy"]
    for name in named:
        command += ["--fetch", name]
    subprocess.run(
        [*command, "--output", "found.npz"], cwd=tmp_path, check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": PATH},
    )  # fmt: skip
    with sad.Session(graph) as session:
        expected = session.run(named, feeds(w))
    with np.load(tmp_path / "found.npz") as found:
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)
    np.testing.assert_allclose(expected["rows"], expected["loop"], rtol=1e-12, atol=1e-15)


def test_what_is_no_scalar_or_nested_differently_is_refused() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        n = sad.placeholder("int64", (3,), name="n")
        with pytest.raises(sad.GradientError, match="no real scalar"):
            sad.hvp(x * 2, x, [1.0, 0.0, 0.0])
        with pytest.raises(sad.GradientError, match="not differentiable"):
            sad.vjp(x, n)
        with pytest.raises(sad.GradientError, match="not differentiable"):
            sad.linearize(x, n)
        with pytest.raises(sad.UsageError, match="the vector is nested in another way"):
            sad.hvp(sad.sum(x), {"x": x}, {"y": [1.0, 0.0, 0.0]})
        with pytest.raises(sad.GradientError, match="type of its tensor"):
            sad.hvp(sad.sum(x), x, [1.0, 0.0])
        with pytest.raises(sad.ShapeError, match="one for each example"):
            sad.fisher_product(sad.outer(x, x), x, [1.0, 0.0, 0.0])
        with pytest.raises(sad.GradientError, match="no tensor") as caught:
            sad.hvp(sad.sum(x), [x, 3], [[1.0, 0.0, 0.0], 1.0])
        assert caught.value.site is not None
        assert caught.value.site.file.endswith("test_products.py")
