"""Every case from the field is a test with its id in the name, or waits for what it is about."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import staticad as sad
from staticad_executor.options import DEVICES
from staticad_schema.op import OPS

TESTS = Path(__file__).parents[1]

# The ids by family: A elementwise edges, B reductions and scans, C broadcasting, D indexing and
# sorting, E einsum, F convolution, pooling, padding, G linear algebra, FFT, complex, H semantics
# of differentiation and control flow, I rewrites, J scheduling, state, randomness, K memory and
# aliasing, L files and names, M OpenCL and kernels, N dtypes.
CASES = {
    "A": (
        1, 3, 5, 6, 8, 10, 11, 13, 15, 16, 18, 20, 21, 23, 25, 26, 28, 30, 31, 33, 35, 36, 38, 40,
        41, 43, 45, 46, 48, 50,
    ),
    "B": (1, 3, 5, 6, 8, 10, 11, 13),
    "C": (2, 3, 5, 7, 8),
    "D": (2, 4, 5, 7, 9, 10, 12, 14),
    "E": (1, 3, 5),
    "F": (1, 3, 5, 6, 10, 11, 13, 15, 16, 18),
    "G": (1, 2, 4, 6, 7, 9, 12, 14, 16, 17),
    "H": (2, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19, 20, 22, 24, 25),
    "I": (2, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19, 20),
    "J": (1, 3, 4, 6, 8, 9, 11, 13, 14, 16),
    "K": (2, 3, 5, 7, 8),
    "L": (1, 3, 4, 6, 8, 9, 11, 13, 14),
    "M": (2, 4, 5, 7, 9, 10, 12, 14),
    "N": (1, 3, 5),
}  # fmt: skip

# Cases whose subject does not exist: a pattern of the public names that would make it exist.
WAITING: dict[str, str] = {}

# Cases that are tested as far as their subject exists: what would bring the rest.
PARTLY: dict[str, str] = {}

IDS = {f"{family}{number}" for family, numbers in CASES.items() for number in numbers}


def ids_in_tests() -> set[str]:
    """The ids in the names of all tests."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.update(re.findall(r"(?<=_)[A-N]\d+(?=_|$)", node.name))
    return found


def public_names() -> set[str]:
    """Whatever a user or a file can name: functions, ops, attributes of pad, devices."""
    # Names in linalg, special, ... are others: the condition of a matrix is no choice of branches.
    return (
        {name for name in dir(sad) if not name.startswith("_")}
        | set(OPS)
        | set(DEVICES)
        | set(re.findall(r"\w+", sad.pad.__doc__ or ""))
    )


def test_every_case_is_tested_or_waits() -> None:
    assert ids_in_tests() == IDS - set(WAITING)
    assert set(WAITING) <= IDS
    assert set(PARTLY) <= IDS - set(WAITING)


@pytest.mark.parametrize("case", [*WAITING, *PARTLY])
def test_what_a_case_waits_for_does_not_exist(case: str) -> None:
    pattern = (WAITING | PARTLY)[case]
    existing = {name for name in public_names() if re.fullmatch(pattern, name)}
    assert not existing, f"{existing} exist: {case} is to be a test"
