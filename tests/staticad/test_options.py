"""Numbers, switches and words beside tensors: each function refuses others, and says which."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.options import choice, flag, number

IMAGE = np.ones((1, 2, 4, 4), np.float32)
VECTOR = np.ones(4, np.float32)
SQUARE = np.eye(2, dtype=np.float32)

OPERANDS: dict[str, tuple[Any, ...]] = {
    "scan": (lambda carry, x: (carry, x), 1.0, np.ones(3, np.float32)),
    "affine_grid": (np.ones((1, 2, 3), np.float32), (1, 1, 2, 2)),
    "astype": (VECTOR, "float32"),
    "cho_factor": (SQUARE,),
    "cholesky": (SQUARE,),
    "conv": (IMAGE, 2, 3),
    "corrcoef": (np.ones((2, 4), np.float32),),
    "cov": (np.ones((2, 4), np.float32),),
    "ctc_loss": (np.zeros((3, 1, 2), np.float32), [[1]], [3], [1]),
    "dense": (VECTOR, 3),
    "gaussian_nll_loss": (VECTOR, VECTOR, VECTOR),
    "grid_sample": (IMAGE, np.zeros((1, 3, 3, 2), np.float32)),
    "interpolate": (IMAGE, 8),
    "linspace": (0.0, 1.0, 5),
    "multi_head_attention": (*(np.ones((3, 4), np.float32),) * 3, (np.eye(4, dtype="f4"),) * 4, 2),
    "percentile": (VECTOR, 50.0),
    "nanpercentile": (VECTOR, 50.0),
    "quantile": (VECTOR, 0.5),
    "nanquantile": (VECTOR, 0.5),
    "solve_triangular": (SQUARE, SQUARE),
    "scaled_dot_product_attention": (np.ones((3, 4), np.float32),) * 3,
    "top_k": (VECTOR, 2),
    "triplet_margin_loss": (VECTOR, VECTOR, VECTOR),
    "variable": (VECTOR,),
    "vander": (VECTOR,),
}
"""Operands of the functions for which matrices do not do."""


def square() -> tuple[Any, ...]:
    """A scalar of a graph, and what it is a function of."""
    x = sad.constant(np.ones(3))
    return sad.sum(x * x), x


def vector() -> tuple[Any, ...]:
    """A vector of a graph, and what it is a function of."""
    x = sad.constant(np.ones(3))
    return x * x, x


TENSORS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "check_gradients": square,
    "divergence": vector,
    "hessian": square,
    "jacobian": vector,
    "laplacian": square,
}
"""Those of functions of tensors that a graph has."""

TRANSFORMS = {"grad", "jacfwd", "jacrev", "value_and_grad"}

SEVERAL = {
    "pool1d": (IMAGE[0], 2),
    "pool2d": (IMAGE, 2),
    "pool3d": (IMAGE[None], 2),
    "pool_with_indices": (IMAGE, 2),
}
UNROLLED = np.ones((3, 2, 1), np.float32)
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
PLAIN = {"cumulative_sum", "cumulative_prod", "logcumsumexp", "cummax", "cummin", "digitize"}
MODES = {"interpolate": {"mode": "linear"}}


def operands(name: str) -> tuple[Any, ...]:
    """What the function can be called with."""
    if name in TENSORS:
        return TENSORS[name]()
    if name in TRANSFORMS:
        return (lambda x: x,)
    if name in OPERANDS:
        return OPERANDS[name]
    if name in GATES:
        return UNROLLED, (np.ones((GATES[name], 1), np.float32),) * 2
    for kind, given in SEVERAL.items():
        if name.endswith(kind):
            return (given[0], 2, 2) if name.startswith("lp") else given
    value = VECTOR if name in PLAIN else np.ones((2, 4), np.float32)
    parameters = inspect.signature(function_of(name)).parameters.values()
    return (value,) * sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters)


def function_of(name: str) -> Callable[..., Any]:
    namespace = next(n for n in (sad, sad.nn, sad.linalg) if name in n.__all__)
    found: Callable[..., Any] = getattr(namespace, name)
    return found


def switches() -> Iterator[tuple[str, str]]:
    """(function, parameter) of all public functions with a parameter that is a bool."""
    for namespace in (sad, sad.nn, sad.linalg):
        for name in namespace.__all__:
            function = getattr(namespace, name)
            if inspect.isfunction(function):
                for p in inspect.signature(function).parameters.values():
                    if p.annotation == "bool":
                        yield name, p.name


@pytest.mark.parametrize(("name", "parameter"), sorted(set(switches())))
def test_a_switch_is_a_bool(name: str, parameter: str) -> None:
    function = function_of(name)
    with sad.Graph():
        for wrong in ("no", 1, None):
            with pytest.raises(sad.UsageError, match=f"{parameter} is no bool") as caught:
                function(*operands(name), **MODES.get(name, {}), **{parameter: wrong})
            assert caught.value.asked == name
        function(*operands(name), **MODES.get(name, {}), **{parameter: np.True_})


def test_numbers_in_a_range() -> None:
    assert number("rate", np.float32(0.5), least=0, below=1) == 0.5
    for wrong in (1, -0.1, float("nan")):
        with pytest.raises(sad.ArgumentError, match="rate is out of range"):
            number("rate", wrong, least=0, below=1)
    with pytest.raises(sad.UsageError, match="rate is no number"):
        number("rate", True)
    assert number("p", float("inf"), least=1, finite=False) == float("inf")


def test_one_of_some_words() -> None:
    assert choice("mode", "edge", ("edge", "wrap")) == "edge"
    with pytest.raises(sad.ArgumentError, match="did you mean 'edge'"):
        choice("mode", "edges", ("edge", "wrap"))
    with pytest.raises(sad.ArgumentError, match="it is called 'wrap' here"):
        choice("mode", "circular", ("edge", "wrap"), {"circular": "it is called 'wrap' here"})
    with pytest.raises(sad.ArgumentError, match="not an order"):
        choice("order", VECTOR, ("edge", "wrap"))


def test_a_flag_of_numpy() -> None:
    assert flag("keepdims", np.False_) is False
