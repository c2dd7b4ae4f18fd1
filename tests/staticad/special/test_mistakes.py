"""Mistakes in calls of special functions: each is told in four parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import staticad as sad
from tests.mistakes import check_parts

# What a type checker would refuse is a mistake all the same.
ANY: Any = b"?"

Build = Callable[[sad.Graph], Any]


def vector(graph: sad.Graph, dtype: str = "float32", size: int = 3) -> sad.Tensor:
    return graph.placeholder(dtype, (size,))


MISTAKES: dict[str, tuple[type[Exception], str, Build]] = {
    **{
        f"{name} of complex": (
            TypeError,
            "does not admit",
            lambda g, name=name: getattr(sad.special, name)(vector(g, "complex64")),  # type: ignore[misc]
        )
        for name in ("gammaln", "digamma", "erfcx", "ndtr", "i0", "k1e", "expi", "entr", "expit")
    },
    "betaln of other sizes": (
        ValueError,
        "broadcast",
        lambda g: sad.special.betaln(vector(g), vector(g, size=4)),
    ),
    "betainc of nothing known": (
        TypeError,
        "not an operand",
        lambda g: sad.special.betainc(vector(g), ANY, 0.5),
    ),
    "polygamma of half an order": (
        TypeError,
        "not an integer",
        lambda g: sad.special.polygamma(ANY, vector(g)),
    ),
    "polygamma of a negative order": (
        ValueError,
        "0 to 30",
        lambda g: sad.special.polygamma(-1, vector(g)),
    ),
    "jv of a fraction": (TypeError, "not an integer", lambda g: sad.special.jv(ANY, vector(g))),
    "kn of a large order": (ValueError, "0 to 1000", lambda g: sad.special.kn(5000, vector(g))),
    "softmax along a missing axis": (
        ValueError,
        "axis",
        lambda g: sad.special.softmax(vector(g), 1),
    ),
    "softmax along one axis twice": (
        ValueError,
        "ax",
        lambda g: sad.special.log_softmax(vector(g), (0, 0)),
    ),
    "logsumexp with complex weights": (
        TypeError,
        "does not admit",
        lambda g: sad.special.logsumexp(vector(g), b=vector(g, "complex64")),
    ),
    "orders without end": (
        ValueError,
        "order",
        lambda g: _derivative(sad.special.gammainc, vector(g), 12),
    ),
}


def _derivative(f: Any, a: Any, order: int) -> Any:
    y = f(a, 2.0)
    for _ in range(order):
        (y,) = sad.gradients(y, a)
    return y


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake: str) -> None:
    kind, part, make = MISTAKES[mistake]
    with sad.Graph() as graph, pytest.raises(kind) as caught:
        make(graph)
    assert part in str(caught.value)
    check_parts(caught.value, make, _derivative)


def test_names_of_other_libraries_lead_here() -> None:
    for name, here in (
        ("lgamma", "sad.special.gammaln"),
        ("psi", "sad.special.digamma"),
        ("i0", "sad.special.i0"),
        ("erfinv", "sad.special.erfinv"),
    ):
        with pytest.raises(AttributeError, match=here):
            getattr(sad, name)
    with pytest.raises(AttributeError, match="gammainc"):
        sad.special.gamainc  # type: ignore[attr-defined]  # noqa: B018
