"""What the page of coverage claims is so, and every name of its lists is on it."""

from __future__ import annotations

import operator
import re

import pytest

import staticad as sad
from docs.coverage_page import LIBRARIES, Library, exists, find
from staticad import elsewhere
from staticad.equivalents import ABSENT, EQUIVALENTS


def names(library: Library) -> list[str]:
    return [name for _, members in library.sections() for name in members]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.file)
def test_every_name_is_covered(library: Library) -> None:
    listed = names(library)
    assert len(set(listed)) == len(listed) > 100
    assert [name for name in listed if find(library, name) is None] == []


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.file)
def test_every_function_that_is_named_is_here(library: Library) -> None:
    for name in names(library):
        found = find(library, name)
        assert found is not None
        for path in re.findall(r"\bsad\.([\w.]*\w)", found.text):
            operator.attrgetter(path)(sad)


# The choice between branches is not the condition of a matrix.
HOMONYMS = {"linalg.cond"}


def test_no_name_that_is_here_is_said_to_be_elsewhere() -> None:
    for name in (*EQUIVALENTS, *ABSENT):
        within, _, base = name.rpartition(".")
        for namespace in (within,) if within else ("", "nn", "linalg"):
            if f"{namespace}.{base}" in HOMONYMS:
                continue
            assert not exists(f"{namespace}.{base}" if namespace else base), name
    assert EQUIVALENTS.keys().isdisjoint(ABSENT)


def test_the_array_api_lacks_only_what_has_a_reason() -> None:
    (standard,) = (library for library in LIBRARIES if library.file == "array_api.txt")
    absent = [n for n in names(standard) if (f := find(standard, n)) and f.kind == "absent"]
    # Extensions, which a library need not have, and what is about Python.
    assert {n for n in absent if "." not in n} == {"__array_namespace_info__"}


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("arctanh", "use sad.atanh"),
        ("gcd", "it is not here: divisors need loops of unknown length"),
        ("savez", "use np.savez(path, session.run(x))"),
    ],
)
def test_error_messages_say_the_same(name: str, advice: str) -> None:
    message = str(elsewhere.missing("", name))
    assert advice in message


def test_a_name_of_a_namespace_is_told_apart() -> None:
    assert "inverse" not in str(elsewhere.missing("", "power"))
    assert "** (1 / a)" in str(elsewhere.missing("random", "power"))
    assert "reshape" in str(elsewhere.missing("linalg", "tensorinv"))
