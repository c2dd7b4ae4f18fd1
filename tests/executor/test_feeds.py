"""Feeds convert as an assignment to an array would, and are never written."""

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import staticad as sad


def passing(dtype: str, shape: tuple[Any, ...] = (None,)) -> tuple[sad.Session, Any, Any]:
    """A session, a placeholder x, and a value equal to it."""
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, shape, name="x")
        y = sad.identity(x)
    return sad.Session(graph), x, y


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ([1, 2], "float32", [1, 2]),
        ((1.5, 2), "float64", [1.5, 2]),
        ([True, False], "int32", [1, 0]),
        ([], "float32", []),
        ([1, 2], "uint8", [1, 2]),
        ([2**64 - 1, 0, 5], "uint64", [2**64 - 1, 0, 5]),
        ([1, 2], "bfloat16", [1, 2]),
        ([1j], "complex64", [1j]),
        (np.array([1.25, 2]), "float32", [1.25, 2]),
        (np.array([1, 2], np.int64), "int32", [1, 2]),
        (np.array([1, 2], np.int8), "float32", [1, 2]),
        (np.array([1.5], np.float32), "bfloat16", [1.5]),
        (np.array([1.5], ml_dtypes.bfloat16), "float32", [1.5]),
        (np.array([200], np.uint8), "int64", [200]),
        (range(3), "int64", [0, 1, 2]),
        (np.float32(3).reshape(1), "float16", [3]),
    ],
)
def test_what_converts(value: Any, dtype: str, expected: list[Any]) -> None:
    session, x, y = passing(dtype)
    result = session.run(y, {x: value})
    assert result.dtype == x.dtype
    assert result.tolist() == expected


@pytest.mark.parametrize(
    ("value", "dtype", "words"),
    [
        (np.array([1.0]), "int32", r"\.astype\('int32'\)"),
        (np.array([1j]), "float32", r"\.astype\('float32'\)"),
        (np.array([1], np.int64), "uint8", r"\.astype\('uint8'\)"),
        (np.array([1]), "bool", r"\.astype\('bool'\)"),
        ([1.5], "int32", "float values do not go into int32"),
        ([1], "bool", "int values do not go into bool"),
        ([2**70], "bool", "int values do not go into bool"),
        ([[1], [2, 3]], "float32", "not rectangular"),
        (["a"], "float32", "no numbers"),
        ("a", "float32", "no numbers"),
        (None, "float32", "None is fed"),
        (np.array([None]), "float32", "no numbers"),
        (np.ma.masked_array([1.0], [True]), "float32", "masked"),
        (object(), "float32", "no numbers"),
    ],
)
def test_what_does_not_convert(value: Any, dtype: str, words: str) -> None:
    session, x, y = passing(dtype)
    with pytest.raises(sad.FeedTypeError, match=words) as info:
        session.run(y, {x: value})
    text = str(info.value)
    assert "feed 'x'" in text
    assert f"{dtype}[" in text
    assert "test_feeds.py" in text


@pytest.mark.parametrize(
    ("value", "dtype", "culprit"),
    [
        ([300], "uint8", "300"),
        ([-1], "uint64", "-1"),
        ([2**70], "int64", str(2**70)),
        (np.array([1, 1 << 40]), "int32", str(1 << 40)),
        (np.array([200], np.uint8), "int8", "200"),
        ([2**63, -1], "int64", str(2**63)),
        ([2**63, -1], "uint64", "-1"),
        (10**400, "float64", "1329 bits does not fit float64"),
    ],
)
def test_integers_out_of_range_are_refused(value: Any, dtype: str, culprit: str) -> None:
    session, x, y = passing(dtype)
    with pytest.raises(sad.PlanError, match=culprit):
        session.run(y, {x: value})


def test_integers_too_long_to_print_are_refused() -> None:
    for dtype, words in (("int32", "too long to print"), ("bfloat16", "does not fit bfloat16")):
        session, x, y = passing(dtype)
        with pytest.raises(sad.PlanError, match=words):
            session.run(y, {x: [-(10**5000), 1]})


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "complex64"])
def test_large_integers_become_floats(dtype: str) -> None:
    session, x, y = passing(dtype)
    assert session.run(y, {x: [2**70, -1]}).tolist() == [2.0**70, -1]
    assert session.run(y, {x: [2**63, -1]}).tolist() == [2.0**63, -1]


def test_nan_and_overflow_are_data() -> None:
    session, x, y = passing("float32")
    result = session.run(y, {x: np.array([np.nan, -np.inf, 1e300])})
    np.testing.assert_array_equal(result, np.array([np.nan, -np.inf, np.inf], np.float32))


def test_L4_byte_swapped_arrays_are_read() -> None:
    session, x, y = passing("float32", (None, None))
    value = np.arange(6, dtype=">f4").reshape(2, 3)
    np.testing.assert_array_equal(session.run(y, {x: value}), value.astype("f4"))
    feed = session.callable(y, [x])
    np.testing.assert_array_equal(feed(value.T), value.T.astype("f4"))


def test_strided_unaligned_and_read_only_arrays_are_read() -> None:
    session, x, y = passing("float32", (None,))
    base = np.arange(20, dtype="f4")
    unaligned = np.zeros(41, np.uint8)[1:].view("f4")
    unaligned[:] = 3
    read_only = base.copy()
    read_only.flags.writeable = False
    for value in (base[::2], base[::-1], np.broadcast_to(base[3], (4,)), unaligned, read_only):
        np.testing.assert_array_equal(session.run(y, {x: value}), np.asarray(value))


def test_K2_feeds_are_not_written() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4,), name="x")
        v = sad.variable(np.zeros(4, np.float32), name="v")
        write = v.assign(x)
        y = -sad.exp(x + 1) * x
    value = np.arange(4, dtype="f4")
    kept = value.copy()
    with sad.Session(graph) as session:
        results = session.run([y, write, x], {x: value})
        np.testing.assert_array_equal(value, kept)
        for result in results:
            assert not np.shares_memory(result, value)
            result[...] = 7
        np.testing.assert_array_equal(value, kept)
        np.testing.assert_array_equal(session.variables["v"], kept)
        value[...] = 9
        np.testing.assert_array_equal(session.variables["v"], kept)


def test_feeds_are_not_kept() -> None:
    session, x, y = passing("float32", (None,))
    value = np.ones(1000, np.float32)
    count = sys.getrefcount(value)
    call = session.callable(y * 2, [x])
    for _ in range(3):
        call(value)
        session.run(y, {x: value})
    assert sys.getrefcount(value) == count


def test_feeds_are_not_kept_after_a_failure() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.exp(sad.sin(x) * 2 + 1)
        small = sad.assert_(sad.sum(y) < 1, "too large", y)  # noqa: PT009
    value = np.ones(1 << 18, np.float32)
    count = sys.getrefcount(value)
    with sad.Session(graph, threads=2) as session:
        for _ in range(3):
            with pytest.raises(sad.ExecutionError, match="too large"):
                session.run([y, small], {x: value})
            assert sys.getrefcount(value) == count


def test_K7_reading_a_big_endian_array_twice_gives_the_same() -> None:
    session, x, y = passing("int64", (None,))
    value = np.array([1, -2, 1 << 40], ">i8")
    kept = value.tobytes()
    for _ in range(2):
        assert session.run(y, {x: value}).tolist() == [1, -2, 1 << 40]
        assert value.tobytes() == kept


def test_feeds_that_are_not_needed_are_checked_and_left_alone() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.placeholder("float32", ("n",), name="y")
        z = x * 2
    session = sad.Session(graph)
    for feeds in ({x: [1, 2], y: [3, 4]}, {y: [3, 4], x: [1, 2]}):
        assert session.run(z, feeds).tolist() == [2, 4]
    with pytest.raises(sad.PlanError, match="two sizes"):
        session.run(z, {x: [1, 2], y: [3]})


def test_any_value_may_be_fed() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        v = sad.variable(np.float32(5), name="v")
        middle = x * v
        y = middle + 1
    session = sad.Session(graph)
    assert float(session.run(y, {middle: 10})) == 11
    assert float(session.run(y, {x: 2, v: 3})) == 7
    assert float(session.run(middle, {middle: 10})) == 10


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros((2, 3), "f4"), "rank"),
        (np.zeros((4, 2, 5), "f4"), "transposed"),
        (np.zeros((5, 2, 9), "f4"), "axis 2 has size 9, not 4"),
    ],
)
def test_shapes_that_do_not_fit(value: Any, words: str) -> None:
    session, x, y = passing("float32", ("n", 2, 4))
    with pytest.raises(sad.PlanError, match=words) as info:
        session.run(y, {x: value})
    assert "(n, 2, 4)" in str(info.value)
    assert "test_feeds.py" in str(info.value)


def test_one_symbol_has_one_size() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("batch", 2), name="x")
        y = sad.placeholder("float32", ("batch",), name="y")
        z = sad.sum(x) + sad.sum(y)
    session = sad.Session(graph)
    with pytest.raises(sad.PlanError, match="dimension 'batch' has two sizes") as info:
        session.run(z, {x: np.zeros((3, 2)), y: np.zeros(4)})
    assert "batch = 3, from feed 'x'" in str(info.value)
    assert "batch = 4" in str(info.value)


def test_missing_feeds_are_all_named() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        y = sad.placeholder("float32", (3,), name="y")
        z = x + y
    session = sad.Session(graph)
    with pytest.raises(sad.PlanError, match=r"'x' float32\[\].*'y' float32\[3\]") as info:
        session.run(z)
    assert str(info.value).count("test_feeds.py") >= 2
    with pytest.raises(sad.PlanError, match="a placeholder is not fed"):
        session.run(z, {x: 1})


def test_keys_that_are_no_values() -> None:
    session, x, y = passing("float32")
    with sad.Graph():
        other = sad.placeholder("float32", (None,), name="x")
    effect = sad.group(y, name="done")
    with pytest.raises(sad.PlanError, match="another graph"):
        session.run(y, {other: [1]})
    with pytest.raises(sad.UnknownFetchError, match="'xx'"):
        session.run(y, {"xx": [1]})
    with pytest.raises(sad.PlanError, match="fed twice"):
        session.run(y, {x: [1], "x": [2]})
    for key in (effect, "done", 3):
        with pytest.raises(sad.FeedTypeError, match="no value that could be fed"):
            session.run(y, {key: [1]})
    with pytest.raises(sad.FeedTypeError, match="feeds are no mapping"):
        session.run(y, [1])  # type: ignore[arg-type]
    with pytest.raises(sad.FeedTypeError, match="a tensor of the graph is fed"):
        session.run(y, {x: y})
