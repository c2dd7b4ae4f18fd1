"""Special functions and their derivatives have their digits, all over their domains."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.special_accuracy import PAGE, here, measure, points
from benchmarks.special_functions import FUNCTIONS
from staticad_schema.op import OPS

DEAR = {name for name in FUNCTIONS if name.startswith(("betainc by", "k0e'", "k1e'"))}
"""Functions of which a hundred exact values take more than a second."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_within_what_is_allowed(name: str) -> None:
    own, _ = measure(name, 12 if name in DEAR else 48, seed=1, peers=False)
    assert own.share <= 1, own


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_of_many_points_are_within_what_is_allowed(name: str) -> None:
    own, _ = measure(name, 10_000, seed=2, peers=False)
    assert own.share <= 1, own


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_has_its_digits(name: str) -> None:
    function = FUNCTIONS[name]
    columns = [np.clip(c, -3e38, 3e38).astype(np.float32) for c in points(function, 500, seed=3)]
    found = here(function, columns)
    exact = here(function, [c.astype(np.float64) for c in columns])
    assert found.dtype == np.float32
    if function.op not in OPS or OPS[function.op].elementwise:
        return  # Composed in float32: test_accuracy.py.
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, exact.astype(np.float32))


def test_the_page_has_a_row_for_every_function() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert rows == list(FUNCTIONS)
