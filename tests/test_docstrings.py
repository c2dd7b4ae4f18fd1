"""Every public name says what it is; the examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import staticad
import staticad_executor
import staticad_schema
from staticad import fft, linalg, nn, optimizers, random, special, testing
from staticad.optimizers import schedules
from staticad.random import logpdf

CLASSES = (
    staticad.Graph,
    staticad.Tensor,
    staticad.Variable,
    staticad.Session,
    staticad.Dim,
    staticad.Effect,
    optimizers.Optimizer,
    optimizers.Average,
)


def public() -> Iterator[tuple[str, Any]]:
    """The public functions and classes by name, then the classes' methods and properties."""
    for module in (
        staticad,
        fft,
        linalg,
        nn,
        optimizers,
        schedules,
        random,
        logpdf,
        special,
        testing,
    ):
        for name in module.__all__:
            thing = getattr(module, name)
            # Constants do not explain themselves.
            if not isinstance(thing, ModuleType | np.dtype | float | None):
                yield f"{module.__name__}.{name}", thing
    for kind in CLASSES:
        for name, member in inspect.getmembers(kind):
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                yield f"{kind.__name__}.{name}", member


def examples() -> Iterator[doctest.DocTest]:
    """Every docstring of the three packages that has examples."""
    for package in (staticad, staticad_executor, staticad_schema):
        names = [m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
        for name in (package.__name__, *names):
            if name.endswith(("__main__", "_pb2")):
                continue
            module = importlib.import_module(name)
            for example in doctest.DocTestFinder(exclude_empty=True).find(module):
                if example.examples:
                    # A reader has nothing but what the example imports.
                    example.globs = {}
                    yield example
    # Functions that follow from the registry are defined in no module.
    for name, thing in PUBLIC.items():
        if inspect.isfunction(thing) and thing.__module__ == "staticad":
            text = inspect.getdoc(thing) or ""
            yield doctest.DocTestParser().get_doctest(text, {}, name, None, None)


PUBLIC = dict(public())
EXAMPLES = {example.name: example for example in examples()}


@pytest.mark.parametrize("name", PUBLIC)
def test_it_says_what_it_is(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name])
    assert text
    assert text != inspect.getdoc(Exception)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, thing in PUBLIC.items()
        if inspect.isfunction(thing)
        and (name.startswith("staticad.") or name in ("Session.run", "Session.callable"))
    ],
)
def test_a_function_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(PUBLIC[name]) or "")


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(EXAMPLES[name], out=report.append, clear_globs=False)
    assert runner.failures == 0, "".join(report)
