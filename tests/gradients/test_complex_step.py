"""The complex step: where it applies derivatives are compared to nearly all digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

AT = np.array([0.7, 0.4, 1.3])
M = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.4], [0.0, 0.6, 1.1]])

ANALYTIC: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: sad.exp(x) * sad.sin(x) / (1 + x * x) + sad.tanh(x) ** 3,
    "powers": lambda x: sad.sqrt(x) + sad.log(x) + x**1.7 - 1 / x,
    "products": lambda x: (M @ x) @ x + sad.sum(sad.outer(x, sad.cos(x)), axis=0),
    "solve": lambda x: sad.linalg.solve(M + sad.outer(x, x), sad.ones(3, dtype="float64")),
    "indices": lambda x: sad.concat([x[::-1], x[[0, 0]]]) ** 2,
    "where": lambda x: sad.where(x > 0.5, x**2, sad.exp(x)),
    "means": lambda x: sad.mean(x**2) + sad.prod(x),
    "stopped": lambda x: x * sad.stop_gradient(x),
}


@pytest.mark.parametrize("name", ANALYTIC)
def test_analytic_functions_agree_to_nearly_all_digits(name: str) -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        y = ANALYTIC[name](x)
    # What stands behind stop_gradient is constant for the step, and not for a second one.
    order = 1 if name == "stopped" else 2
    report = sad.check_gradients(y, x, {x: AT}, order=order, complex_step=True)
    first = [c for c in report.comparisons if c.order == 1]
    assert {c.by for c in first} == {"complex step"}
    assert report.worst.agrees
    assert all(c.tolerance < 5e-11 for c in first)
    assert "with the complex step" in str(report)


@pytest.mark.parametrize(
    "function", [sad.abs, sad.nn.relu, sad.sort, sad.linalg.vector_norm, sad.nn.softplus]
)
def test_other_functions_are_compared_with_differences(function: Callable[[Any], Any]) -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        y = function(x)
    report = sad.check_gradients(y, x, {x: AT}, complex_step=True)
    assert {c.by for c in report.comparisons} == {"differences"}


def test_an_error_that_differences_do_not_see_is_found_with_its_entry_and_line() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")

        def rule(x: Any, y: Any, g: Any) -> Any:
            return g * sad.cos(x) * (1 + np.array([0.0, 1e-10, 0.0]))

        y = sad.custom_gradient(sad.sin)(rule)(x)
        plain = sad.sum(y) + sad.sum(x**2)
    sad.check_gradients(plain, x, {x: AT}, modes=["reverse"])
    report = sad.check_gradients(sad.sum(sad.sin(x)), x, {x: AT}, complex_step=True)
    assert report.worst.agrees
    with pytest.raises(sad.GradientError, match=r"the complex step, entry \(1,\) of 'x'") as caught:
        sad.check_gradients(plain, x, {x: AT}, modes=["reverse"], complex_step=True)
    assert caught.value.site is not None
    assert caught.value.site.file.endswith("test_complex_step.py")
