"""The algebra of sizes against integers."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staticad_schema import FormatError, PlanError, ShapeError, UsageError, dims, symbol
from staticad_schema.binding import bind, substitute
from staticad_schema.dim_parser import parse
from staticad_schema.dims import MAX_DEPTH, Dim, Size

NAMES = ("a", "b", "two words", "min")
SIZES = st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES})

DIVISORS = st.integers(-4, 4).filter(bool)
ATOMS = st.integers(-4, 9) | st.sampled_from(NAMES).map(symbol)


def combined(sizes: st.SearchStrategy[Size]) -> st.SearchStrategy[Size]:
    pairs = st.tuples(sizes, sizes)
    return (
        pairs.map(lambda p: p[0] + p[1])
        | pairs.map(lambda p: p[0] - p[1])
        | pairs.map(lambda p: p[0] * p[1])
        | pairs.map(lambda p: dims.minimum(*p))
        | pairs.map(lambda p: dims.maximum(*p))
        | st.tuples(sizes, DIVISORS).map(lambda p: dims.floordiv(*p))
        | st.tuples(sizes, DIVISORS).map(lambda p: dims.modulo(*p))
    )


EXPRESSIONS = st.recursive(ATOMS, combined, max_leaves=6)

OPERATIONS: dict[str, tuple[Callable[[Size, Size], Size], Callable[[int, int], int]]] = {
    "+": (lambda a, b: a + b, lambda a, b: a + b),
    "-": (lambda a, b: a - b, lambda a, b: a - b),
    "*": (lambda a, b: a * b, lambda a, b: a * b),
    "min": (dims.minimum, min),
    "max": (dims.maximum, max),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@given(a=EXPRESSIONS, b=EXPRESSIONS, sizes=SIZES)
def test_arithmetic_is_that_of_the_integers(
    operation: str, a: Size, b: Size, sizes: dict[str, int]
) -> None:
    symbolic, plain = OPERATIONS[operation]
    bound = bind(symbolic(a, b), sizes)
    assert bound == plain(bind(a, sizes), bind(b, sizes))


@given(a=EXPRESSIONS, b=EXPRESSIONS, sizes=SIZES)
def test_division_is_that_of_the_integers(a: Size, b: Size, sizes: dict[str, int]) -> None:
    x, y = bind(a, sizes), bind(b, sizes)
    if y == 0:
        return
    try:
        quotient, remainder, up = dims.floordiv(a, b), dims.modulo(a, b), dims.ceildiv(a, b)
    except ShapeError:
        assert b == 0
        return
    assert bind(quotient, sizes) == x // y
    assert bind(remainder, sizes) == x % y
    assert bind(up, sizes) == -(-x // y)


@given(a=EXPRESSIONS, b=EXPRESSIONS)
def test_a_product_divides_exactly(a: Size, b: Size) -> None:
    if b != 0:
        assert dims.divide_exactly(a * b, b) == a


@given(a=EXPRESSIONS, b=EXPRESSIONS, sizes=SIZES)
def test_what_divides_is_the_quotient(a: Size, b: Size, sizes: dict[str, int]) -> None:
    quotient = dims.divide_exactly(a, b)
    if quotient is not None:
        assert bind(quotient, sizes) * bind(b, sizes) == bind(a, sizes)


@given(EXPRESSIONS)
def test_text_reads_back(a: Size) -> None:
    assert parse(str(a)) == a
    assert hash(parse(str(a))) == hash(a)


@given(st.text(min_size=1))
def test_any_text_is_a_symbol(name: str) -> None:
    dim = symbol(name)
    assert parse(str(dim)) == dim
    assert parse(str(2 * dim + 1)) == 2 * dim + 1
    assert dim.symbol() == name
    assert "\n" not in str(dim)


@given(st.text())
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        parse(text)
    except (FormatError, ShapeError):
        return


@given(EXPRESSIONS, SIZES)
def test_nonnegative_never_lies(a: Size, sizes: dict[str, int]) -> None:
    if dims.nonnegative(a):
        assert bind(a, sizes) >= 0


def test_a_remainder_has_the_sign_of_its_divisor() -> None:
    n = symbol("n")
    assert dims.nonnegative(dims.modulo(-n, 3))
    assert not dims.nonnegative(dims.modulo(n, -3))
    assert bind(dims.maximum(dims.modulo(n, -3), 0), {"n": 1}) == 0


@given(a=EXPRESSIONS, b=EXPRESSIONS, sizes=SIZES)
def test_same_size_never_lies(a: Size, b: Size, sizes: dict[str, int]) -> None:
    answer = dims.same_size(a, b)
    if answer is not None:
        assert answer == (bind(a, sizes) == bind(b, sizes))


@given(a=EXPRESSIONS, sizes=SIZES, c=EXPRESSIONS)
def test_substitution_is_binding_in_two_steps(a: Size, c: Size, sizes: dict[str, int]) -> None:
    values = {**sizes, "a": bind(c, sizes)}
    assert bind(substitute(a, {"a": c}), sizes) == bind(a, values)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (3, 3, 3),
        (1, 5, 5),
        (5, 1, 5),
        (0, 1, 0),
        (symbol("n"), 1, symbol("n")),
        (1, symbol("n"), symbol("n")),
        (symbol("n"), symbol("n"), symbol("n")),
        (symbol("n"), 4, 4),
        (4, symbol("n"), 4),
    ],
)
def test_broadcast(a: Size, b: Size, expected: Size) -> None:
    assert dims.broadcast(a, b) == expected


def test_broadcast_of_symbols_waits() -> None:
    dim = dims.broadcast(symbol("n"), symbol("m"))
    assert dim == dims.broadcast(symbol("m"), symbol("n"))
    assert bind(dim, {"n": 1, "m": 7}) == 7
    assert bind(dim, {"n": 7, "m": 7}) == 7
    with pytest.raises(ShapeError, match="broadcast"):
        bind(dim, {"n": 6, "m": 7})
    with pytest.raises(ShapeError):
        dims.broadcast(2, 3)
    with pytest.raises(ShapeError):
        dims.broadcast(symbol("n") + 5, 2)


def test_a_missing_size_is_named() -> None:
    with pytest.raises(PlanError, match="'batch' is not known"):
        bind(symbol("batch"), {"time": 2})


def test_constants_are_ints() -> None:
    n = symbol("n")
    for constant in (n - n, (n + 1) - n, n // n, n % n, 0 * n):
        assert isinstance(constant, int)


def test_a_dimension_is_no_number() -> None:
    for use in (bool, int, range, lambda n: [1, 2][n]):
        with pytest.raises(ShapeError):
            use(symbol("n"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "a +",
        "a b",
        "2 3",
        "min(a)",
        "min(a, b",
        "a**",
        "a**999",
        "9" * 30,
        '"',
        '""',
        "a$",
    ],
)
def test_what_is_no_dimension_is_refused(text: str) -> None:
    with pytest.raises((FormatError, ShapeError)):
        parse(text)


def test_hostile_polynomials_end_soon() -> None:
    long = "*".join(f"floordiv(a + b + c{k} + d, 1)**90" for k in range(20))
    with pytest.raises(ShapeError, match="too many terms"):
        parse(long)
    with pytest.raises(FormatError, match="deeply"):
        parse("min(" * 100 + "a" + ", 2)" * 100)
    endless = "floordiv(" + "*".join(["x**99"] * 100) + ", x + y + z)"
    assert isinstance(parse(endless), Dim)
    nested = "a"
    for _ in range(5):
        # Each level has 45 terms, and the level before in most of them.
        nested = f"floordiv(max({nested} + b + c, 0)**8, 7)"
    start = time.process_time()
    with pytest.raises(ShapeError, match="too many terms"):
        parse(nested)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "text", ["9**99", "9**99*a", "min(9**99, a)", "9" * 19 + "**99" + "*a" * 400]
)
def test_numbers_beyond_every_size_are_refused(text: str) -> None:
    with pytest.raises(FormatError, match="too large"):
        parse(text)


@given(st.lists(EXPRESSIONS, max_size=5))
def test_a_total_is_the_sum(sizes: list[Size]) -> None:
    assert dims.total(sizes) == sum(sizes)


def test_a_dimension_survives_another_process() -> None:
    """Its hash follows from hashes of texts, which each process has of its own."""
    code = (
        "import pickle, sys, staticad_schema\n"
        "sys.stdout.buffer.write(pickle.dumps(staticad_schema.symbol('n') + 1))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
    )
    copy = pickle.loads(other.stdout)  # noqa: S301
    assert {copy: True}[symbol("n") + 1]


def test_chains_of_slices_do_not_nest() -> None:
    n = symbol("n")
    left: Size = n
    for _ in range(200):
        left = dims.maximum(left - 1, 0)
    assert left == dims.maximum(n - 200, 0)
    for limit in (9, 7, 8):
        left = dims.minimum(left, limit)
    assert left == dims.minimum(dims.maximum(n - 200, 0), 7)


def test_a_dimension_nested_deeper_than_files_hold_is_refused_when_it_is_made() -> None:
    size: Size = symbol("n")
    for _ in range(MAX_DEPTH):
        size = dims.floordiv(size, 2)
        assert parse(str(size)) == size
    with pytest.raises(ShapeError, match="nested too deeply"):
        dims.floordiv(size, 2)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "half of it": lambda n: 0.5 * n,
    "times a float": lambda n: n * 0.5,
    "a float more": lambda n: n + 1.5,
    "a float less": lambda n: n - 1.5,
    "of a float": lambda n: 1.5 - n,
    "a quotient": lambda n: n / 2,
    "one over it": lambda n: 2.0 / n,
    "of two sizes": lambda n: n / n,
    "its root": lambda n: n**0.5,
    "as a power": lambda n: 2**n,
    "half of it, rounded": lambda n: n // 0.5,
    "modulo a float": lambda n: n % 0.5,
    "imaginary": lambda n: n * 1j,
    "times a NumPy float": lambda n: np.float64(2) * n,
    "times a small NumPy float": lambda n: n * np.float32(2),
    "times an array": lambda n: np.arange(3) * n,
    "an array over it": lambda n: np.ones(3) / n,
    "whether it is small": lambda n: n < 3,
    "whether it is large": lambda n: 2.5 <= n,  # noqa: SIM300 - the other operand's turn
    "whether it is larger": lambda n: n > n + 1,
    "the larger one": lambda n: max(n, 3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_size_is_no_number(name: str) -> None:
    with pytest.raises(UsageError, match="no value when the graph is built") as caught:
        REFUSED[name](symbol("n"))
    message = str(caught.value)
    assert "use of a size as a number" in message
    assert "test_dims.py" in message
    assert "sad.constant(size" in message


@pytest.mark.parametrize("mistake", [lambda n: n + "3", lambda n: n / None, lambda n: n < "3"])
def test_what_is_no_number_is_pythons_to_refuse(mistake: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"unsupported|not supported"):
        mistake(symbol("n"))
