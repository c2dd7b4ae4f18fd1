"""The tensor's operators, indexing and attributes, against NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.staticad.running import agrees, apply, run

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
I = np.array([[2, 0], [1, -1]])  # noqa: E741
J = np.array([3, 1])

INDICES: list[Any] = [
    0,
    -1,
    np.s_[1:],
    np.s_[::-1],
    np.s_[-1:-4:-2],
    np.s_[5:5:2],
    np.s_[:, 1],
    np.s_[..., -1],
    np.s_[:, None, 2, ::2],
    np.s_[None],
    np.s_[..., None],
    np.s_[1, 2, 3],
    np.s_[0:2, -3:-1, 4:0:-3],
    np.s_[:, 100:],
    I,
    np.s_[:, I],
    np.s_[I, 1],
    np.s_[I, :, 1],
    np.s_[1, :, I],
    np.s_[:, I, None, J],
    np.s_[:, J, J],
    np.s_[J % 3, :, J],
    np.s_[None, J % 3, J, ::-2],
    np.s_[::2, J, None, 1:3],
    [0, 2],
    np.s_[:, [], :],
]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_as_numpy(index: Any, symbolic: bool) -> None:
    expected = X[index]
    agrees(apply(lambda x: x[index], X, symbolic=symbolic), expected)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_setting_as_numpy(index: Any, symbolic: bool) -> None:
    expected = X.copy()
    values = -np.arange(X[index].size, dtype=np.float32).reshape(X[index].shape) - 1
    expected[index] = values
    unique = np.unique(np.arange(X.size).reshape(X.shape)[index]).size == X[index].size
    if unique:
        agrees(apply(lambda x: x.at[index].set(values), X, symbolic=symbolic), expected)
    added = X.copy()
    np.add.at(added, index, values)
    agrees(apply(lambda x: x.at[index].add(values), X, symbolic=symbolic), added)


def test_setting_broadcasts_and_takes_scalars() -> None:
    expected = X.copy()
    expected[:, 1] = 7
    agrees(apply(lambda x: x.at[:, 1].set(7), X), expected)
    expected[1:, :, [0, 2]] = np.arange(4, dtype=np.float32)[:, None]
    row = np.arange(4, dtype=np.float32)[:, None]
    agrees(apply(lambda x: x.at[:, 1].set(7).at[1:, :, [0, 2]].set(row), X), expected)


def test_an_integer_tensor_is_an_index() -> None:
    places = np.array([2, 0], np.int32)
    agrees(apply(lambda x, i: x[i, 1], X, places), X[places, 1])
    agrees(apply(lambda x, i: x[i], X, np.array(-2)), X[-2])


BINARY: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


@pytest.mark.parametrize("function", BINARY)
def test_operators_with_tensors_scalars_and_arrays(function: Callable[[Any, Any], Any]) -> None:
    a = np.array([1.5, 2.0, 3.25], np.float32)
    b = np.array([2.0, 2.0, 1.25], np.float32)
    expected = function(a, b)
    agrees(apply(function, a, b), expected, 1e-6)
    agrees(apply(lambda x: function(x, b), a), expected, 1e-6)
    agrees(apply(lambda x: function(a, x), b), expected, 1e-6)
    agrees(apply(lambda x: function(x, 2), a), function(a, np.float32(2)), 1e-6)
    agrees(apply(lambda x: function(2.0, x), a), function(np.float32(2), a), 1e-6)
    agrees(apply(lambda x: function(np.float32(2), x), a), function(np.float32(2), a), 1e-6)


@pytest.mark.parametrize(
    "function",
    [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift],
)
def test_operators_of_integers(function: Callable[[Any, Any], Any]) -> None:
    a, b = np.array([5, 6, 7], np.int32), np.array([1, 2, 3], np.int32)
    agrees(apply(function, a, b), function(a, b))
    agrees(apply(lambda x: function(x, 1), a), function(a, np.int32(1)))
    agrees(apply(lambda x: function(9, x), b), function(np.int32(9), b))
    agrees(apply(lambda x: function(a, x), b), function(a, b))


def test_quotient_and_remainder_of_an_array() -> None:
    a, b = np.array([5.0, -5.0]), np.array([3.0, 3.0])
    agrees(apply(lambda x: divmod(a, x)[0], b), np.divmod(a, b)[0])
    agrees(apply(lambda x: divmod(a, x)[1], b), np.divmod(a, b)[1])


def test_unary_operators() -> None:
    a = np.array([-1.5, 0.0, 2.0], np.float32)
    agrees(apply(operator.neg, a), -a)
    agrees(apply(operator.pos, a), a)
    agrees(apply(abs, a), abs(a))
    agrees(apply(operator.invert, np.array([1, -2])), ~np.array([1, -2]))


def test_matrix_product_from_either_side() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.arange(12, dtype=np.float32).reshape(3, 4)
    agrees(apply(operator.matmul, a, b), a @ b)
    agrees(apply(lambda x: a @ x, b), a @ b)
    agrees(apply(lambda x: x @ b, a), a @ b)


def test_division_of_integers_is_float32() -> None:
    a, b = np.array([1, 7], np.int32), np.array([2, 2], np.int32)
    agrees(apply(operator.truediv, a, b), np.array([0.5, 3.5], np.float32))
    agrees(apply(lambda x: 1 / x, b), np.array([0.5, 0.5], np.float32))
    agrees(apply(sad.divide, a, b), np.array([0.5, 3.5], np.float32))


def test_python_numbers_and_numpy_float64_are_weak() -> None:
    # N1: no scalar widens a tensor.
    with sad.Graph():
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            x = sad.placeholder(dtype, (2,))
            for y in (x + 1, x**2, x / np.float64(3), 2.5 * x, np.sqrt(7.0) - x, x % True):
                assert y.dtype == x.dtype
        i = sad.placeholder("int8", (2,))
        assert (i + 1).dtype == np.int8
        assert (i + 1.0).dtype == np.float32
        assert (i > 0).dtype == np.bool_
        m = sad.placeholder("bool", (2,))
        assert (m * 2).dtype == np.int64
        assert (m * 0.5).dtype == np.float32
        x = sad.placeholder("float32", (2,))
        # A strong array does widen.
        assert (x + np.zeros(2)).dtype == np.float64
        assert (x + np.float32(1)).dtype == np.float32
        # A list is as weak as its numbers.
        assert (x + [1, 2]).dtype == np.float32  # noqa: RUF005
        # An integer never widens a float.
        assert (x + sad.placeholder("int64", (2,))).dtype == np.float32


TOO_LARGE: dict[str, Callable[[Any], Any]] = {
    "number": lambda x: x + 300,
    "list": lambda x: x * [300, 1],
    "list in a function": lambda x: sad.add(x, [300, 1]),
    "list of two choices": lambda x: sad.where(x > 0, x, [1, -300]),
    "number set": lambda x: x.at[0].set(300),
    "list set": lambda x: x.at[:].set([300, 1]),
    "array set": lambda x: x.at[:].set(np.array([300, 1])),
    "list added": lambda x: x.at[:].add([1, -129]),
    "list assigned": lambda x: x.graph.variable(x).assign([300, 1]),
    "array assigned": lambda x: x.graph.variable(x).assign(np.array([300, 1])),
    "constant list": lambda x: x.graph.constant([300, 1], dtype="int8"),
    "constant array": lambda x: x.graph.constant(np.array([300, 1]), dtype="int8"),
    "constant scalar": lambda x: x.graph.constant(np.int64(300), dtype="int8"),
    "beyond int64": lambda x: x.graph.constant([2**63, 1]),
    "beyond any": lambda x: x.graph.constant([[1 << 70]]),
}


@pytest.mark.parametrize("how", TOO_LARGE)
def test_integers_that_do_not_fit_are_refused_however_they_come(how: str) -> None:
    with sad.Graph() as graph:
        x = graph.constant(np.zeros(2, np.int8))
        with pytest.raises(sad.ArgumentError, match=r"does not fit u?int"):
            TOO_LARGE[how](x)


def test_integers_of_64_bits_fit_in_lists() -> None:
    with sad.Graph() as graph:
        x = graph.constant(np.zeros(2, np.uint64))
        high = x | [2**63, 1]
        low = graph.constant([-(2**63), 2**63 - 1])
    assert high.dtype == np.uint64
    assert run(graph, high).tolist() == [2**63, 1]
    assert run(graph, low).tolist() == [-(2**63), 2**63 - 1]


def test_data_to_store_convert_as_an_assignment_to_an_array_does() -> None:
    with sad.Graph() as graph:
        x = graph.constant(np.zeros(2, np.float16))
        v = graph.variable(x)
        values: list[Any] = [
            np.float32(0.5),
            np.full(2, 0.5),
            np.array([1, 0], np.int8),
            [0.5, 1],
            2,
        ]
        made = [store(value) for store in (x.at[:].set, v.assign) for value in values]
        for wrong in (1j, np.full(2, 1j), x.astype("float32")):
            for store in (x.at[:].set, v.assign):
                with pytest.raises(sad.DTypeError, match="another dtype"):
                    store(wrong)
    for tensor, value in zip(made, [*values, *values], strict=True):
        assert tensor.dtype == np.float16
        np.testing.assert_array_equal(run(graph, tensor), np.broadcast_to(value, 2))


def test_unsigned_integers_wrap() -> None:
    # N5
    agrees(
        apply(operator.sub, np.array([5], np.uint8), np.array([7], np.uint8)),
        np.array([254], np.uint8),
    )


def test_attributes() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("batch", 3), name="x")
        assert x.dtype == np.dtype("float32")
        assert x.ndim == 2
        assert [str(d) for d in x.shape] == ["batch", "3"]
        assert x.name == "x"
        assert x.graph is graph
        assert str(x.size) == "3*batch"
        assert str(x.T.shape[1]) == "batch"
        assert sad.zeros((2, 3, 4)).mT.shape == (2, 4, 3)
        assert len(sad.zeros((2, 3))) == 2
        assert repr(x) == "<tensor 'x' float32[batch, 3]>"
        assert x.astype("float32") is x
        assert {x: 1}[x] == 1


def test_methods() -> None:
    for method in ("sum", "mean", "max", "min", "prod"):
        expected = getattr(X, method)(axis=(0, 2), keepdims=True)
        agrees(
            apply(lambda x, m=method: getattr(x, m)(axis=(0, 2), keepdims=True), X),
            expected,
            1e-6,
        )
    agrees(apply(lambda x: x.reshape(5, -1), X), X.reshape(5, 12))
    agrees(apply(lambda x: x.reshape((-1,)), X, symbolic=True), X.reshape(-1))


def test_variables_are_read_and_written() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones(2, np.float32), name="v")
        new = v.assign_add(1.0)
        later = v.read(after=new)
        assert v.trainable
        assert v.initial.shape == (2,)
        reset = v.assign([5.0, 6.0], after=later)
    before, after, read, last = run(graph, [v, new, later, reset])
    assert before.tolist() == [1, 1]
    assert after.tolist() == [2, 2]
    assert read.tolist() == [2, 2]
    assert last.tolist() == [5, 6]


def test_J3_a_read_after_a_write_sees_the_new_size() -> None:
    with sad.Graph() as graph:
        v = sad.variable(sad.zeros(1), name="v", shape=("n",))
        grown = v.assign(np.ones(3, np.float32))
        y = v.read(after=grown) + 2
    assert run(graph, y).tolist() == [3, 3, 3]


def test_a_tensor_has_a_value_in_a_session_of_its_graph() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        y = x * 2.0
        count = sad.variable(1.0, name="count")
        count.assign_add(1.0)
    with sad.Session(graph) as session:
        assert y.eval(session, {"x": 3.0}) == 6.0
        assert count.eval(session) == 1.0
    with pytest.raises(sad.UsageError, match="a Session of its graph"):
        y.eval(graph)
    with sad.Session(sad.Graph()) as other, pytest.raises(sad.StaticadError, match="another graph"):
        y.eval(other)
