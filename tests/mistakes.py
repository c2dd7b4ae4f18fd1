"""What tests of mistakes ask of an error: its parts, and the line of the mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import staticad as sad

ROOT = Path(__file__).parents[1]


def check_parts(error: BaseException, *functions: Callable[..., Any]) -> None:
    """It says what was asked, expected and found, at a line of one of the functions."""
    assert isinstance(error, sad.StaticadError)
    assert error.asked, str(error)
    assert error.expected, str(error)
    assert error.found, str(error)
    assert error.site is not None, str(error)
    assert f"at:       {error.site}" in str(error)
    lines = {place for function in functions for place in places_of(function.__code__)}
    assert (error.site.file, error.site.line) in lines, str(error)


def places_of(code: CodeType) -> Iterator[tuple[str, int | None]]:
    """File and line of all that a function, and the functions within it, consist of."""
    file = Path(code.co_filename).relative_to(ROOT).as_posix()
    yield from ((file, line) for _, _, line in code.co_lines())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from places_of(constant)
