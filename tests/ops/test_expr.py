"""The C expressions of the elementwise ops, compiled, against their meanings."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from staticad_schema.op import OPS, Op
from staticad_schema.types import KINDS, Array, DType

from .running import inferred, meaning, types_of
from .samples import every_sample

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="this machine has no C compiler")

C_TYPES = {
    "bool": "_Bool",
    **{f"int{w}": f"int{w}_t" for w in (8, 16, 32, 64)},
    **{f"uint{w}": f"uint{w}_t" for w in (8, 16, 32, 64)},
    "float32": "float",
    "float64": "double",
}
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.25, 40.0, np.inf, -np.inf, np.nan, 1e-40, 3e38)

# C's and NumPy's libraries round the last bits of these differently.
TRANSCENDENTAL = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "direction",
    "entr", "erf", "erfc", "exp", "exp2", "expm1", "hypot", "log", "log10", "log1p", "log2",
    "log_sigmoid", "logaddexp", "logaddexp2", "logit", "pow", "sigmoid", "sin", "sinh", "softplus",
    "tan", "tanh", "xlog1py", "xlogy",
}  # fmt: skip
ULPS = 8
# erfc is exp of a square in the tail: an error of the argument's last bit grows with the square.
ULPS_OF = {"erfc": 200, "logaddexp": 16, "logaddexp2": 16, "sinh": 16, "cosh": 16}

Case = tuple[tuple[Array, ...], dict[str, DType]]


def cases(name: str) -> Iterator[Case]:
    """Operands of one shape: the samples, and special values of float ops in all pairs."""
    seen = set()
    for sample in every_sample()[name]:
        if all(a.dtype.name in C_TYPES for a in sample.arrays):
            seen.add(tuple(a.dtype for a in sample.arrays))
            arrays = np.broadcast_arrays(*sample.arrays)
            yield tuple(np.ascontiguousarray(a.reshape(-1)) for a in arrays), sample.attributes
    for dtypes in seen:
        if len(set(dtypes)) == 1 and KINDS[dtypes[0]] == "float" and name != "cast":
            columns = zip(*itertools.product(SPECIAL, repeat=len(dtypes)), strict=True)
            with np.errstate(over="ignore"):
                yield tuple(np.array(c).astype(dtypes[0]) for c in columns), {}


def signature(definition: Op, case: Case) -> tuple[tuple[str, ...], str] | None:
    """The C types of operands and result, or None where C does not have them."""
    arrays, attributes = case
    (out,) = inferred(definition, types_of(arrays), attributes)
    names = [a.dtype.name for a in arrays]
    if out.dtype.name not in C_TYPES:
        return None
    return tuple(C_TYPES[n] for n in names), C_TYPES[out.dtype.name]


def source(definition: Op, number: int, operands: tuple[str, ...], result: str, kind: str) -> str:
    """A C function that maps arrays through the op's expression."""
    expression = definition.expression(kind)
    assert expression is not None
    given = definition.inputs
    parameters = ", ".join(f"const {t} *{n}_" for t, n in zip(operands, given, strict=True))
    loads = " ".join(f"{t} {n} = {n}_[i];" for t, n in zip(operands, given, strict=True))
    body = expression.format(**{n: n for n in given})
    return (
        f"void {definition.name}_{number}(long count, {parameters}, {result} *out) {{\n"
        f"  for (long i = 0; i < count; ++i) {{ {loads} out[i] = {body}; }}\n}}\n"
    )


ELEMENTWISE = sorted(
    name for name, d in OPS.items() if d.elementwise and d.expr and name in every_sample()
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All functions, compiled once."""
    folder: Path = tmp_path_factory.mktemp("expr")
    text = "#include <stdint.h>\n#include <tgmath.h>\n"
    for name in ELEMENTWISE:
        for number, (key, kind) in enumerate(kinds(name)):
            text += source(OPS[name], number, *key, kind)
    (folder / "expr.c").write_text(text)
    command = [
        str(COMPILER), "-std=c11", "-O1", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC",
        "-o", str(folder / "expr.so"), str(folder / "expr.c"), "-lm",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(folder / "expr.so"))


def kinds(name: str) -> list[tuple[tuple[tuple[str, ...], str], str]]:
    """The distinct C signatures of an op's cases for which it has an expression."""
    definition = OPS[name]
    found = {}
    for case in cases(name):
        key = signature(definition, case)
        kind = KINDS[case[0][-1].dtype]
        if key is not None and definition.expression(kind) is not None:
            found[key] = kind
    return list(found.items())


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_expression_is_the_meaning(name: str, library: ctypes.CDLL) -> None:
    definition = OPS[name]
    numbers = {key: number for number, (key, _) in enumerate(kinds(name))}
    assert numbers
    for case in cases(name):
        key = signature(definition, case)
        if key not in numbers:
            continue
        arrays, attributes = case
        (expected,) = meaning(definition, arrays, attributes)
        found = np.empty_like(expected)
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, found)]
        function = getattr(library, f"{name}_{numbers[key]}")
        function(ctypes.c_long(found.size), *pointers)
        check(name, arrays, found, expected)


def check(name: str, arrays: tuple[Array, ...], found: Array, expected: Array) -> None:
    if KINDS[expected.dtype] != "float":
        keep = [np.isfinite(a) for a in arrays if KINDS[a.dtype] == "float" and name == "cast"]
        same = found == expected
        # What NaN and infinity become as integers depends on the machine.
        assert (same | ~np.all(keep, axis=0) if keep else same).all(), (name, arrays)
        return
    unit = np.finfo(expected.dtype).eps * (ULPS_OF.get(name, ULPS) if name in TRANSCENDENTAL else 0)
    tiny = np.finfo(expected.dtype).tiny
    with np.errstate(all="ignore"):
        close = np.abs(found - expected) <= unit * np.maximum(np.abs(expected), tiny)
    close |= (found == expected) | (np.isnan(found) & np.isnan(expected))
    zero = (found == 0) & (expected == 0)
    close &= ~zero | (np.signbit(found) == np.signbit(expected))
    wrong = np.flatnonzero(~close)
    assert not wrong.size, (
        name, [a[wrong] for a in arrays], found[wrong], expected[wrong],
    )  # fmt: skip
