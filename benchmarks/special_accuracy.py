"""How exact the special functions and their derivatives are, against 40 digits of mpmath.

python -m benchmarks.special_accuracy [--points N] [NAME ...]

It writes docs/special-accuracy.md; with names, only the rows of these.  An error is counted in
units in the last place, and by the condition number: the sum over the operands of
abs(x f'(x) / f(x)), which is what the rounding of the operands alone makes of their last place.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np

import staticad as sad
from benchmarks.special_functions import COMPOSED, FUNCTIONS, Function
from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.types import Array, TensorType

PAGE = Path(__file__).parent.parent / "docs" / "special-accuracy.md"
EPS = 2.0**-52
ULPS = 32.0
PER_CONDITION = 1e-13 / EPS
DIGITS = 40


class Measured(NamedTuple):
    """The worst of some points: the error in units in the last place; of errors beyond 32 of
    them, the share of what the condition number allows (1 is the bound), and where that was."""

    ulps: float
    share: float
    at: tuple[float, ...]


def points(function: Function, count: int, seed: int = 0) -> list[Array]:
    """Operands spread over the function's domain."""
    rng = np.random.default_rng(seed)
    columns: list[list[Array]] = []
    per_box = -(-count // len(function.boxes))
    for box in function.boxes:
        columns.append([spread(rng, *range_, per_box) for range_ in box])
    return [np.concatenate(c)[:count] for c in zip(*columns, strict=True)]


def spread(rng: np.random.Generator, low: float, high: float, count: int) -> Array:
    """Numbers between two others, in logarithms if they are of one sign and far apart."""
    if low * high > 0 and max(low / high, high / low) > 30:
        sign = np.sign(low)
        ends = np.log(np.abs([low, high]))
        values: Array = sign * np.exp(rng.uniform(ends.min(), ends.max(), count))
        return values
    return rng.uniform(low, high, count)


def here(function: Function, columns: list[Array]) -> Array:
    """The op's meaning of the operands; what is no op is run."""
    if function.op not in OPS:
        with sad.Graph() as graph:
            xs = [sad.placeholder(c.dtype, c.shape) for c in columns]
            y = COMPOSED[function.op](*xs)
        with sad.Session(graph) as session:
            value: Array = session.run(y, dict(zip(xs, columns, strict=True)))
            return value
    definition = OPS[function.op]
    complete = definition.attributes(function.attributes)
    types = definition.output_types([TensorType(c.dtype, c.shape) for c in columns], complete)
    return evaluate(definition, columns, complete, types)[0]


def truth(function: Function, columns: list[Array]) -> list[Any]:
    """The exact results; None where they are beyond normal numbers of float64."""
    with mp.workdps(DIGITS):
        exact = [mp.mpf(function.exact(*map(mp.mpf, p)).real) for p in zip(*columns, strict=True)]
        return [y if 1e-290 < abs(y) < 1e307 else None for y in exact]


def judge(function: Function, columns: list[Array], exact: list[Any], found: Array) -> Measured:
    """The worst of these results."""
    worst = Measured(0.0, 0.0, ())
    with mp.workdps(DIGITS):
        for i, y in enumerate(exact):
            if y is None:
                continue
            point = tuple(float(c[i]) for c in columns)
            ulps = float(abs(mp.mpf(float(found[i])) - y) / abs(y) / EPS)
            if math.isnan(ulps):
                ulps = math.inf
            share = 0.0
            # A condition number is dear, and only asked for where it matters.
            if ulps > ULPS and ulps / ULPS > worst.share:
                share = ulps / max(ULPS, PER_CONDITION * condition(function, point, y))
            if share > worst.share:
                worst = worst._replace(share=share, at=point)
            worst = worst._replace(ulps=max(ulps, worst.ulps))
    return worst


def condition(function: Function, point: tuple[float, ...], exact: Any) -> float:
    """The condition number, by differences in 40 digits."""
    total = mp.mpf(0)
    for k, x in enumerate(point):
        moved = [mp.mpf(p) for p in point]
        moved[k] = x * (1 + mp.mpf(10) ** -18)
        change = (function.exact(*moved).real - exact) / exact
        total += abs(change) * mp.mpf(10) ** 18
    return float(total)


def measure(
    name: str, count: int, seed: int = 0, peers: bool = True
) -> tuple[Measured, Measured | None]:
    """The worst of staticad, and of SciPy where it has the function and peers are asked."""
    function = FUNCTIONS[name]
    columns = points(function, count, seed)
    exact = truth(function, columns)
    own = judge(function, columns, exact, here(function, columns))
    if function.scipy is None or not peers:
        return own, None
    with np.errstate(all="ignore"):
        theirs: Callable[..., Any] = function.scipy
        return own, judge(function, columns, exact, np.asarray(theirs(*columns)))


def page(count: int, rows: list[str]) -> str:
    """docs/special-accuracy.md, of such rows."""
    lines = [
        "<!-- Written by `python -m benchmarks.special_accuracy`. -->",
        "",
        "# Accuracy of special functions",
        "",
        f"The worst of {count:,} points of each domain in float64, against {DIGITS} digits of"
        " mpmath, in units in the last place (ulp). Allowed are 32 ulp or 1e-13 times the condition"
        " number, whichever is more: of errors beyond 32 ulp, the share is the largest over what is"
        " allowed there. Domains are boxes, spread over logarithms where they span more than a"
        " factor of 30. SciPy is measured at the same points; where it does not keep within what is"
        " allowed, the last column says so.",
        "",
        "| function | domain | ulp | share | SciPy's ulp | its share | |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    return "\n".join([*lines, *rows]) + "\n"


def row(name: str, count: int) -> str:
    """A function's row."""
    own, theirs = measure(name, count)
    domain = "; ".join(
        " × ".join(f"{low:g} … {high:g}" for low, high in box) for box in FUNCTIONS[name].boxes
    )
    cells = [f"`{name}`", domain, *numbers(own), *(numbers(theirs) if theirs else ("", ""))]
    cells.append("SciPy is worse" if theirs and theirs.share > max(1.0, own.share) else "")
    return "| " + " | ".join(cells) + " |"


def written() -> dict[str, str]:
    """The rows of the page by their names."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


def numbers(measured: Measured) -> tuple[str, str]:
    """Error and share to two digits."""
    share = f"{measured.share:.2g}" if measured.share else ""
    return f"{measured.ulps:.1e}" if measured.ulps >= 1e4 else f"{measured.ulps:.2g}", share


def main() -> None:
    """Measure functions and write the page."""
    parser = argparse.ArgumentParser(description="Measure the errors of special functions.")
    parser.add_argument("names", nargs="*", choices=[[], *FUNCTIONS], metavar="NAME")
    parser.add_argument("--points", type=int, default=10_000)
    options = parser.parse_args()
    names = options.names or list(FUNCTIONS)
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(row, names, [options.points] * len(names)))
    rows = {**written(), **dict(zip(names, found, strict=True))}
    kept = [rows[name] for name in FUNCTIONS if name in rows]
    PAGE.write_text(page(options.points, kept), encoding="utf-8")


if __name__ == "__main__":
    main()
