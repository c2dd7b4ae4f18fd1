"""`check_gradients`: derivatives against finite differences of the values they belong to.

The tensors ys are contracted with random cotangents to one real number s; along a random
direction v of the xs, the reverse-mode product <ds/dx, v>, the forward-mode product and the
difference quotient of s must agree.  One random projection exposes an error in any entry
with probability one, and needs no knowledge of the op.  Order n repeats this with s replaced
by the product itself.

The quotient is the fourth-order central difference
(8 (s(h) - s(-h)) - (s(2h) - s(-2h))) / 12 h, whose error is O(h^4) + O(eps / h)
(Abramowitz and Stegun, 25.3.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from staticad_executor import Session
from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.sites import asking
from staticad_schema.types import REAL_OF, Array

from ..options import flag
from . import arguments
from .complex_step import complex_step as step_along
from .forward import jvp
from .report import Comparison, GradientReport
from .reverse import gradients

MODES = ("reverse", "forward")


def check_gradients(
    ys: Any,
    xs: Any,
    feeds: Mapping[Any, Any] | None = None,
    *,
    order: int = 1,
    modes: Sequence[str] = MODES,
    projections: int = 2,
    seed: int = 0,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    run: int | None = None,
    variables: Any = None,
    complex_step: bool = False,
) -> GradientReport:
    """Compare the derivatives of ys with respect to xs with finite differences.

    ys, xs: tensors of one graph, float64 or complex128 (float32 works, with few digits).
    feeds: the point, values of the placeholders; an x that is no placeholder is fed too, and
        a variable that is not given stands at its initial value.
    order: 1 checks gradients, 2 their gradients as well, and so on.
    modes: "reverse", "forward" or both.  projections: how many random directions.
    seed: of the directions.  step: the relative step of the difference (default: the fifth
        root of the machine epsilon).
    rtol, atol: of the comparison, relative to the sum of the moduli of the terms; by default
        from the dtype's epsilon.
    run: the run number at which random nodes draw; without it a graph that draws is refused,
        because its values would change between the two sides of a difference.
    variables: whose values to use (another session's `variables`).
    complex_step: compare with the imaginary part at x + i h v, to nearly all digits, where xs are
        real and all ops between are analytic and take complex numbers; elsewhere with differences.

    At a kink, such as relu at 0, the quotient from the left and from the right differ; the
    derivative is accepted if it lies between them.  At a jump there is no slope, and the check
    fails.  Where the chain rule meets 0 * inf this project's derivative is 0 by convention, and
    if the one-sided quotients say otherwise, as for sqrt(x)**2 at 0, the check fails and shows
    them.  Arrays in `feeds` are left as they are.

    Returns a GradientReport.  Raises GradientError naming the worst entry and its tensor.

    >>> import numpy as np, staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (3,), name="x")
    ...     y = sad.sin(x) * x
    >>> report = sad.check_gradients(y, x, {x: np.array([0.1, 0.2, 0.3])}, order=2)
    >>> len(report.comparisons), report.worst.agrees
    (8, True)
    """
    asked = "check_gradients"
    with asking(asked, keeps=True):
        flag("complex_step", complex_step)
        targets = arguments.handles(ys, "ys", asked)
        sources = arguments.handles(xs, "xs", asked)
        given = arguments.common_graph([*targets, *sources], asked)
        # The nodes of the check are made in a copy: the user's graph stays as it is.
        graph = given.copy()
        targets = [graph.handle(y.id) for y in targets]
        sources = [graph.handle(x.id) for x in sources]
        arguments.check_differentiable(graph, targets, "a y", asked)
        arguments.check_differentiable(graph, sources, "an x", asked)
        unknown = [m for m in modes if m not in MODES]
        if unknown or not modes or order < 1 or projections < 1:
            raise GradientError(
                "nothing to check",
                asked=asked,
                expected=f"modes of {MODES}, order and projections of at least 1",
                found=f"modes {tuple(modes)}, order {order}, projections {projections}",
            )
        arguments.refuse_randomness(graph, targets, run)
        with Session(graph, variables=variables) as session:
            point = _Point(graph, session, sources, dict(feeds or {}), run, step, rtol, atol)
            point.exact = complex_step
            rng = np.random.default_rng(seed)
            comparisons: list[Comparison] = []
            for _ in range(projections):
                scalar = _project(graph, targets, point, rng)
                for k in range(1, order + 1):
                    direction = point.direction(rng)
                    (products, scalar) = _products(graph, scalar, sources, direction, modes)
                    comparisons += point.compare(products, direction, k)
        return GradientReport(tuple(comparisons))


@dataclass(frozen=True)
class _Product:
    """A directional derivative as a tensor, of `of`, in one mode."""

    mode: str
    tensor: Any
    of: Any
    gradient: tuple[Any, ...]


def _products(
    graph: Graph,
    scalar: Any,
    sources: list[Any],
    direction: list[Array],
    modes: Sequence[str],
) -> tuple[list[_Product], Any]:
    """The product <ds/dx, v> in each mode, and the one of which the next order is asked."""
    constants = [graph.constant(v) for v in direction]
    products = []
    if "reverse" in modes:
        gs = gradients(scalar, sources, unconnected="zero")
        total = None
        for g, v in zip(gs, constants, strict=True):
            term = _inner(g, v)
            total = term if total is None else total + term
        products.append(_Product("reverse", total, scalar, tuple(gs)))
    if "forward" in modes:
        (t,) = jvp(scalar, sources, constants)
        products.append(_Product("forward", t, scalar, ()))
    return products, products[0].tensor


def _project(graph: Graph, targets: list[Any], point: _Point, rng: np.random.Generator) -> Any:
    """The sum of all targets, each contracted with a random cotangent; a lone number as it is."""
    total = None
    values = point.run(targets)
    alone = len(values) == 1 and values[0].size == 1 and values[0].dtype.kind != "c"
    for y, value in zip(targets, values, strict=True):
        weights = np.ones_like(value) if alone else _random_like(value, rng)
        term = _inner(graph.constant(weights), y)
        total = term if total is None else total.astype(term.type.dtype) + term
    return total


def _inner(a: Any, b: Any) -> Any:
    """Re sum(conj(a) b), a scalar."""
    if a.type.kind == "complex":
        product = OPS["real"](OPS["multiply"](OPS["conj"](a), b))
    else:
        # Not a plain product: where the cotangent is 0 an infinite entry must not give NaN.
        product = OPS["multiply_no_nan"](b, a)
    return OPS["sum"](product, axis=tuple(range(product.type.ndim)), keepdims=False)


def _random_like(value: Array, rng: np.random.Generator) -> Array:
    noise = rng.uniform(0.5, 1.5, value.shape) * rng.choice([-1.0, 1.0], value.shape)
    if value.dtype.kind == "c":
        noise = noise + 1j * rng.uniform(0.5, 1.5, value.shape)
    return np.asarray(noise).astype(value.dtype)


class _Point:
    """Where derivatives are compared: the fed values, and how the xs move from them."""

    def __init__(
        self,
        graph: Graph,
        session: Session,
        sources: list[Any],
        feeds: dict[Any, Any],
        run: int | None,
        step: float | None,
        rtol: float | None,
        atol: float | None,
    ) -> None:
        self.graph, self.session, self.sources, self.run_number = graph, session, sources, run
        by_id = {graph.value(k) if isinstance(k, str) else k.id: v for k, v in feeds.items()}
        missing = [x for x in sources if x.id not in by_id]
        self.feeds = {graph.handle(i): v for i, v in by_id.items()}
        known = session.run(missing, self.feeds, step=0) if missing else []
        given = {x.id: v for x, v in zip(missing, known, strict=True)}
        self.at: list[Array] = [
            np.array(by_id.get(x.id, given.get(x.id)), x.type.dtype) for x in sources
        ]
        moving = {x.id for x in sources}
        self.rest = {graph.handle(i): v for i, v in by_id.items() if i not in moving}
        real = min(
            (np.finfo(REAL_OF.get(x.type.dtype, x.type.dtype)) for x in sources),
            key=lambda f: -f.eps,
        )
        self.step = float(real.eps ** (1 / 5)) if step is None else step
        self.rtol = float(real.eps ** (3 / 5)) if rtol is None else rtol
        self.atol = float(real.eps ** (3 / 5)) if atol is None else atol
        # Whether the complex step is tried, and how many digits it leaves.
        self.exact = False
        self.digits = float(real.eps ** (4 / 5))

    def run(self, fetches: Sequence[Any], shift: Sequence[Array] | None = None) -> list[Array]:
        moved = self.at if shift is None else [a + s for a, s in zip(self.at, shift, strict=True)]
        # Copies, so that not even a faulty kernel could change the caller's arrays.
        feeds = {**self.rest, **{x: a.copy() for x, a in zip(self.sources, moved, strict=True)}}
        result: list[Array] = self.session.run(list(fetches), feeds, step=self.run_number)
        return result

    def direction(self, rng: np.random.Generator) -> list[Array]:
        """A random direction, each entry in proportion to its x, so that steps stay relative."""
        return [
            (_random_like(a, rng) * np.where(a == 0, 1.0, np.abs(a))).astype(a.dtype)
            for a in self.at
        ]

    def quotient(self, scalar: Any, direction: Sequence[Array]) -> float:
        h = self.step

        def at(t: float) -> float:
            return float(self.run([scalar], [t * v for v in direction])[0])

        with np.errstate(invalid="ignore"):
            return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)

    def sides(
        self, scalar: Any, direction: Sequence[Array], shrink: float = 1.0
    ) -> tuple[float, float]:
        """The one-sided quotients, from the left and from the right, of second order."""
        h = self.step * shrink
        here = float(self.run([scalar])[0])

        def side(t: float) -> float:
            near, far = (
                float(self.run([scalar], [k * t * v for v in direction])[0]) for k in (1, 2)
            )
            return (4 * near - far - 3 * here) / (2 * t)

        with np.errstate(invalid="ignore"):
            return side(-h), side(h)

    def compare(
        self, products: list[_Product], direction: list[Array], order: int
    ) -> list[Comparison]:
        """Each product with the complex step where that applies, else with differences."""
        exact = self._stepped(products, direction, order) if self.exact else None
        return exact if exact is not None else self._with_differences(products, direction, order)

    def _stepped(
        self, products: list[_Product], direction: list[Array], order: int
    ) -> list[Comparison] | None:
        """None where the step does not apply.  Where it contradicts differences so do these."""
        handles = [OPS["identity"](self.graph.constant(v)) for v in direction]
        of = products[0].of
        along = step_along(self.graph, of, self.sources, handles)
        if along is None:
            return None
        step, value, *derivatives = map(float, self.run([along, of, *(p.tensor for p in products)]))
        found = []
        for product, derivative in zip(products, derivatives, strict=True):
            moduli = self._moduli(product, direction)
            scale = self.digits * (1.0 + abs(value) + moduli)
            one = Comparison(product.mode, order, derivative, step, scale, "complex step")
            if not one.agrees:
                slack = self.atol * (1.0 + abs(value)) + self.rtol * moduli
                if abs(step - self.quotient(of, direction)) > slack:
                    return None

                def exactly(single: list[Array]) -> float:
                    self.rest.update(zip(handles, single, strict=True))
                    return float(self.run([along])[0])

                raise self._failure(one, product, direction, exactly)
            found.append(one)
        return found

    def _with_differences(
        self, products: list[_Product], direction: list[Array], order: int
    ) -> list[Comparison]:
        quotient = self.quotient(products[0].of, direction)
        value, *derivatives = map(float, self.run([products[0].of, *(p.tensor for p in products)]))
        comparisons = []
        for product, derivative in zip(products, derivatives, strict=True):
            scale = self.atol * (1.0 + abs(value)) + self.rtol * self._moduli(product, direction)
            found = Comparison(product.mode, order, derivative, quotient, scale)
            if not found.agrees and not self._explained(product, derivative, direction, scale):
                raise self._failure(found, product, direction)
            comparisons.append(found)
        return comparisons

    def _moduli(self, product: _Product, direction: list[Array]) -> float:
        if not product.gradient:
            return abs(float(self.run([product.tensor])[0]))
        gs = self.run(product.gradient)
        return sum(float(np.sum(np.abs(g) * np.abs(v))) for g, v in zip(gs, direction, strict=True))

    def _explained(
        self, product: _Product, derivative: float, direction: list[Array], scale: float
    ) -> bool:
        """Whether kinks explain the difference; entry by entry for the reverse mode, where each
        entry has to agree by itself or to lie at a kink of its own."""
        if not product.gradient or sum(v.size for v in direction) > 4096:
            return self._at_kink(product, derivative, direction, scale)
        return all(
            abs(contribution - self.quotient(product.of, single)) <= scale
            or self._at_kink(product, contribution, single, scale)
            for _, _, contribution, single in _entries(self.run(product.gradient), direction)
        )

    def _at_kink(
        self, product: _Product, derivative: float, direction: list[Array], scale: float
    ) -> bool:
        """Whether the slopes from the two sides exist, differ, and have the derivative between.

        One-sided quotients are of order h^2 where the central one is of order h^4: their
        digits are fewer by a factor of about 1/h.  At a jump they double as h is halved.
        """
        slack = scale / self.step
        left, right = self.sides(product.of, direction)
        near_left, near_right = self.sides(product.of, direction, shrink=0.5)
        exist = abs(left - near_left) <= slack and abs(right - near_right) <= slack
        between = min(left, right) - slack <= derivative <= max(left, right) + slack
        return bool(exist and abs(left - right) > 2 * slack and between)

    def _failure(
        self,
        found: Comparison,
        product: _Product,
        direction: list[Array],
        exactly: Callable[[list[Array]], float] | None = None,
    ) -> GradientError:
        """The error, of the worst entry.  exactly: the complex step along a direction."""
        method, digits = ("finite differences", 12) if exactly is None else ("the complex step", 17)
        where, expected = "", f"{found.quotient:.{digits}g}, by {method}"
        value = f"{found.derivative:.{digits}g}"
        blame = self.sources[0]
        if product.gradient and sum(v.size for v in direction) <= 4096:
            worst = -1.0
            for k, index, contribution, single in _entries(self.run(product.gradient), direction):
                of = product.of
                quotient = self.quotient(of, single) if exactly is None else exactly(single)
                gap = abs(contribution - quotient)
                gap = np.inf if np.isnan(gap) else gap
                if gap > worst:
                    worst, blame = gap, self.sources[k]
                    entry = single[k][index]
                    length = float(np.abs(entry)) if np.iscomplexobj(entry) else float(entry)
                    where = f", entry {index} of {blame.describe()}"
                    value = f"{contribution / length:.{digits}g}"
                    expected = f"{quotient / length:.{digits}g} by {method}"
                    if exactly is None:
                        expected += self._from_both_sides(of, single, length)
        return GradientError(
            f"the {found.mode}-mode derivative of order {found.order} disagrees with "
            f"{method}{where}",
            asked="check_gradients",
            expected=expected,
            found=value,
            site=blame.site,
        )

    def _from_both_sides(self, scalar: Any, single: list[Array], length: float) -> str:
        left, right = (side / length for side in self.sides(scalar, single))
        if length < 0:
            left, right = right, left
        return f" ({left:.6g} from the left, {right:.6g} from the right)"


def _entries(
    gs: Sequence[Array], direction: Sequence[Array]
) -> list[tuple[int, tuple[int, ...], float, list[Array]]]:
    """(x, index, contribution to the product, the direction along that entry alone)."""
    entries = []
    for k, (g, v) in enumerate(zip(gs, direction, strict=True)):
        for index in np.ndindex(v.shape):
            single = [np.zeros_like(d) for d in direction]
            single[k][index] = v[index]
            with np.errstate(invalid="ignore"):
                contribution = float((np.conj(g[index]) * v[index]).real)
            entries.append((k, index, contribution, single))
    return entries
