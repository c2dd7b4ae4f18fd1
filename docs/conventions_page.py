"""The page of numerical conventions, from the table that the tests assert."""

from __future__ import annotations

import ast
import inspect
from itertools import groupby
from typing import Any

import numpy as np

from docs.markdown import NOTICE, table
from tests import conventions


def expressions() -> list[str]:
    """The text of the expressions of `conventions.CONVENTIONS`, in order."""
    source = inspect.getsource(conventions)
    found = []
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="CONVENTIONS")], value=ast.Tuple(elts=rows)):
                for row in rows:
                    assert isinstance(row, ast.Call)
                    function = row.args[1]
                    assert isinstance(function, ast.Lambda)
                    names = ", ".join(a.arg for a in function.args.args)
                    body = ast.get_source_segment(source, function.body) or ""
                    # On one line, which a row of a table is.
                    body = " ".join(body.split()).replace("( ", "(").replace(" )", ")")
                    found.append(f"{names}: {body}")
    assert len(found) == len(conventions.CONVENTIONS)
    return found


def shown(value: Any) -> str:
    """A number or array as it is written."""
    if isinstance(value, np.ndarray | np.generic):
        return f"{np.asarray(value).tolist()} ({value.dtype.name})"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def outcome(row: conventions.Row) -> str:
    """What the row asserts."""
    if row.error is not None:
        return f"raises {row.error.__name__}"
    if row.gradients is None:
        return f"value {shown(row.value)}"
    word = "gradient" if len(row.gradients) == 1 else "gradients"
    return f"{word} {', '.join(map(shown, row.gradients))}"


def conventions_page() -> str:
    """The conventions with the cases that the tests assert."""
    out = [
        NOTICE,
        "",
        "# Numerical conventions",
        "",
        "Where mathematics leaves a choice, or floating point makes one necessary, this is what"
        " staticad does. `tests/test_conventions.py` asserts every row; gradients are those of the"
        " expression's sum.",
        "",
    ]
    texts = iter(expressions())
    rows = []
    for point, group in groupby(conventions.CONVENTIONS, key=lambda row: row.point):
        for first, row in enumerate(group):
            names, _, body = next(texts).partition(": ")
            at = f"{names} = {', '.join(map(shown, row.inputs))}"
            rows.append([point if first == 0 else "", f"`{body}`", at, outcome(row)])
    out += table(["point", "expression", "at", "is"], rows)
    return "\n".join(out) + "\n"
