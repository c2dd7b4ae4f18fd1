"""The examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import staticad
import staticad_executor
import staticad_schema


def examples() -> Iterator[doctest.DocTest]:
    """Every docstring of the three packages that has examples."""
    for package in (staticad, staticad_executor, staticad_schema):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith(("__main__", "_pb2")):
                continue
            module = importlib.import_module(found.name)
            for example in doctest.DocTestFinder(exclude_empty=True).find(module):
                if example.examples:
                    # A reader has nothing but what the example imports.
                    example.globs = {}
                    yield example


EXAMPLES = {example.name: example for example in examples()}


def test_what_needs_an_example_has_one() -> None:
    names = {name.rpartition(".")[2] for name in EXAMPLES}
    assert names >= {"Session", "callable", "gradients", "jvp", "explain_gradient"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(EXAMPLES[name], out=report.append, clear_globs=False)
    assert runner.failures == 0, "".join(report)
