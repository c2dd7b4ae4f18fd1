"""Forward mode agrees with reverse mode and with closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import staticad as sad


def test_jvp_of_several_ys_in_one_pass() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        b = sad.placeholder("float64", (), name="b")
        ys = [sad.sin(x) * b, sad.sum(x * x), sad.concat([x, x]), x @ x]
        v = np.array([1.0, -2.0, 0.5])
        tangents = sad.jvp(ys, [x, b], [v, 3.0])
    at, by = np.array([0.1, 0.7, -1.0]), 2.0
    with sad.Session(graph) as session:
        got = session.run(tangents, {x: at, b: by})
    np.testing.assert_allclose(got[0], np.cos(at) * v * by + np.sin(at) * 3.0, rtol=1e-14)
    np.testing.assert_allclose(got[1], 2 * at @ v, rtol=1e-14)
    np.testing.assert_allclose(got[2], np.concatenate([v, v]))
    np.testing.assert_allclose(got[3], 2 * at @ v, rtol=1e-14)


def test_broadcast_tangents_have_the_type_of_y() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 3), name="x")
        b = sad.placeholder("float32", (3,), name="b")
        (t,) = sad.jvp(x + b, b)
    assert t.type == (x + b).type
    with sad.Session(graph) as session:
        got = session.run(t, {x: np.zeros((2, 3)), b: np.zeros(3)})
    np.testing.assert_array_equal(got, np.ones((2, 3)))


def test_independent_y_has_a_zero_tangent() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        y = sad.placeholder("float32", (2,), name="y")
        (t,) = sad.jvp(y * 2.0, x)
    with sad.Session(graph) as session:
        np.testing.assert_array_equal(session.run(t, {x: [1, 2], y: [1, 2]}), [0.0, 0.0])


def test_a_given_tangent_adds_to_the_one_that_arrives() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        h = x * x
        (t,) = sad.jvp(h, [x, h], [1.0, 10.0])
    with sad.Session(graph) as session:
        assert float(session.run(t, {x: 3.0})) == 16.0


def test_forward_over_reverse_is_the_hessian_vector_product() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        y = sad.sum(sad.exp(x) * x)
        (g,) = sad.gradients(y, x)
        v = np.array([1.0, 2.0, 3.0])
        (forward,) = sad.jvp(g, x, [v])
        (reverse,) = sad.gradients(sad.sum(g * v), x)
    at = np.array([0.1, -0.4, 0.9])
    with sad.Session(graph) as session:
        f, r = session.run([forward, reverse], {x: at})
    np.testing.assert_allclose(f, np.exp(at) * (at + 2) * v, rtol=1e-14)
    np.testing.assert_allclose(r, f, rtol=1e-14)


def test_A20_abs_at_zero_is_zero_in_both_modes() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        (t,) = sad.jvp(sad.abs(x), x)
        (g,) = sad.gradients(sad.abs(x), x)
    with sad.Session(graph) as session:
        for got in session.run([t, g], {x: [0.0, -0.0]}):
            np.testing.assert_array_equal(got, [0.0, 0.0])


def test_complex_forward_mode_is_the_holomorphic_derivative() -> None:
    with sad.Graph() as graph:
        z = sad.placeholder("complex128", (2,), name="z")
        v = np.array([1.0 + 1.0j, -2.0j])
        square, modulus, real = sad.jvp([z * z, sad.abs(z), sad.real(z)], z, [v])
    at = np.array([3.0 + 4.0j, 1.0 - 1.0j])
    with sad.Session(graph) as session:
        got = session.run([square, modulus, real], {z: at})
    np.testing.assert_allclose(got[0], 2 * at * v, rtol=1e-14)
    np.testing.assert_allclose(got[1], (np.conj(at) * v).real / np.abs(at), rtol=1e-14)
    np.testing.assert_allclose(got[2], v.real)


def test_integers_are_refused() -> None:
    with sad.Graph():
        i = sad.placeholder("int32", (), name="i")
        with pytest.raises(sad.GradientError, match="int32"):
            sad.jvp(i * 2.0, i)
