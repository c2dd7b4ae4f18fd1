"""check_numerics names the first bad node, what went in, and the line."""

from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.lines import line_ahead

F32 = np.float32


def test_a_nan_is_born_where_it_is_made() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4,), name="x")
        where = line_ahead(1)
        root = sad.sqrt(x, name="root")
        y = sad.sum(root * 2)
    with sad.Session(graph, check_numerics=True) as session:
        assert session.run(y, {x: [0, 1, 4, 9]}) == 12
        with pytest.raises(sad.ExecutionError, match="NaN is born here") as info:
            session.run(y, {x: [1, -4, 9, -1]})
    text = str(info.value)
    assert "sqrt 'root'" in text
    assert where in text
    assert "2 NaN, 0 infinite of 4" in text
    assert "'x' float32[4]: 0 NaN, 0 infinite of 4, finite from -4 to 9, mean 1.25" in text


def test_a_fed_nan_is_carried_by_its_first_user() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        y = sad.exp(sad.multiply(x, 3.0, name="scaled"))
    with (
        sad.Session(graph, check_numerics=True) as session,
        pytest.raises(sad.ExecutionError, match="NaN is carried on here") as info,
    ):
        session.run(y, {x: [1, np.nan]})
    assert "'scaled'" in str(info.value)


def test_infinity_is_bad_where_it_is_born_and_data_where_it_is_given() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        mask = sad.constant(np.array([0, -np.inf], F32))
        masked = sad.exp(x + mask)
        log = sad.log(x, name="log")
    with sad.Session(graph, check_numerics=True) as session:
        assert session.run(masked, {x: [0, 5]}).tolist() == [1, 0]
        with pytest.raises(sad.ExecutionError, match="infinity is born here") as info:
            session.run([masked, log], {x: [0, 5]})
    assert "log 'log'" in str(info.value)


def test_J13_a_write_of_infinity_is_bad() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        v = sad.variable(F32(1), name="v")
        write = v.assign(x, name="write")
    with sad.Session(graph, check_numerics=True) as session:
        with pytest.raises(sad.ExecutionError, match="infinity is carried on here") as info:
            session.run(write, {x: np.inf})
        assert "assign 'write'" in str(info.value)
        assert session.variables["v"] == 1


def test_J13_a_float16_epsilon_that_vanished_is_found_in_the_update() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones(3, np.float16), name="v")
        second_moment = sad.zeros_like(v)
        epsilon = sad.cast(sad.constant(F32(1e-8)), "float16")
        where = line_ahead(1)
        update = v.assign_sub(sad.zeros_like(v) / (sad.sqrt(second_moment) + epsilon))
    with sad.Session(graph, check_numerics=True) as session:
        with pytest.raises(sad.ExecutionError, match="NaN is born here") as info:
            session.run(update)
        assert "divide" in str(info.value)
        assert where in str(info.value)
        assert (session.variables["v"] == 1).all()


def test_J13_initial_values_are_watched_too() -> None:
    with sad.Graph() as graph:
        start = sad.constant(np.array([1, -1], F32))
        v = sad.variable(sad.log(start, name="init"), name="v")
        held = sad.variable(np.array([np.nan], F32), name="held")
    with sad.Session(graph, check_numerics=True) as session:
        for use in (lambda: session.run(v), lambda: session.variables["v"], session.initialize):
            with pytest.raises(sad.ExecutionError, match="log 'init': NaN is born here"):
                use()
        # What is given is data.
        assert np.isnan(session.run(held))


def test_a_gradient_node_names_its_forward_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        where = line_ahead(1)
        root = sad.sqrt(x)
        (dx,) = sad.gradients(sad.sum(root), [x])
    with (
        sad.Session(graph, check_numerics=True) as session,
        pytest.raises(sad.ExecutionError, match="infinity is born here") as info,
    ):
        session.run(dx, {x: [0, 1]})
    forward = next(line for line in str(info.value).splitlines() if "forward:" in line)
    assert where in forward


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_every_inexact_dtype_is_watched(dtype: str) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (2,), name="x")
        y = x / x
    with sad.Session(graph, check_numerics=True) as session:
        session.run(y, {x: [1, 2]})
        with pytest.raises(sad.ExecutionError, match="born here"):
            session.run(y, {x: [1, 0]})


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [("float16", 0x7C01), ("bfloat16", 0x7F81), ("float32", 0x7F800001), ("complex64", 0x7F800001)],
)
def test_signalling_nans_are_nans(dtype: str, bits: int) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (2,), name="x")
        y = sad.abs(x)
    value = np.zeros(2, x.dtype)
    part = value.real if dtype == "complex64" else value
    part.view(f"u{part.dtype.itemsize}")[0] = bits
    with (
        sad.Session(graph, check_numerics=True) as session,
        pytest.raises(sad.ExecutionError, match="1 NaN, 0 infinite of 2"),
    ):
        session.run(y, {x: value})


def test_integers_and_empty_arrays_are_fine() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("int32", ("n",), name="x")
        y = sad.placeholder("float32", ("n",), name="y")
        z: Any = [x * 2, sad.log(y)]
    with sad.Session(graph, check_numerics=True) as session:
        assert [a.tolist() for a in session.run(z, {x: [], y: []})] == [[], []]
