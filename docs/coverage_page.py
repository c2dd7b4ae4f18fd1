"""The page that says, name by name, where the functions of other libraries are.

The names are data in `docs/names/`; how they are written here stands in `staticad.equivalents`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import staticad as sad
from docs.markdown import NOTICE, table
from staticad.equivalents import ABSENT, EQUIVALENTS

FOLDER = Path(__file__).parent / "names"


@dataclass(frozen=True)
class Library:
    """A list of names, and the namespaces of `sad` to look in, in order.

    otherwise: names that mean something else here.
    """

    title: str
    file: str
    namespaces: tuple[str, ...]
    otherwise: dict[str, str]

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Heading and names of each section of the list."""
        lines = (FOLDER / self.file).read_text(encoding="utf-8").splitlines()
        heading, names = "", list[str]()
        for line in lines:
            if line.startswith("["):
                if names:
                    yield heading, names
                heading, names = line.strip("[]"), []
            elif line and not line.startswith("#"):
                names.append(line)
        yield heading, names


LIBRARIES = (
    Library(
        "The Python array API standard 2024.12",
        "array_api.txt",
        ("", "linalg", "fft"),
        {},
    ),
    Library(
        "NumPy 2.4",
        "numpy.txt",
        ("", "linalg", "fft", "special"),
        {"identity": "sad.eye", "load": "sad.constant(np.load(path))"},
    ),
    Library(
        "torch.nn.functional 2.13",
        "torch_nn_functional.txt",
        ("nn", ""),
        {},
    ),
)


@dataclass(frozen=True)
class Found:
    """How a name is written here; `kind`: "same", "otherwise" or "absent"; None if unknown."""

    kind: str
    text: str


def find(library: Library, name: str) -> Found | None:
    """Where a function of a library is."""
    within, _, base = name.rpartition(".")
    if name not in library.otherwise:
        for namespace in (within,) if within == "random" else library.namespaces:
            path = f"{namespace}.{base}" if namespace else base
            if exists(path):
                return Found("same", f"`sad.{path}`")
    for key in (name, base) if within != "random" else (name,):
        advice = library.otherwise.get(key) or EQUIVALENTS.get(key)
        if advice:
            return Found("otherwise", advice if advice.startswith(PROSE) else f"`{advice}`")
        if key in ABSENT:
            return Found("absent", f"no: {ABSENT[key]}")
    return None


PROSE = ("the ", "nothing", "Horner")


def exists(path: str) -> bool:
    """Whether `sad.path` is public."""
    namespace, _, name = path.rpartition(".")
    try:
        holder: Any = operator.attrgetter(namespace)(sad) if namespace else sad
    except AttributeError:
        return False
    return name in holder.__all__


def coverage_page() -> str:
    """Every library, section by section."""
    out = [
        NOTICE,
        "",
        "# Coverage",
        "",
        "Where the functions of the Python array API standard, of NumPy and of torch.nn.functional"
        " are: under which name, how else to write them, or why they are not here. Writing a name"
        " of this page that does not exist gives the same advice as an error message.",
    ]
    for library in LIBRARIES:
        sections = list(library.sections())
        found = {n: find(library, n) for _, names in sections for n in names}
        missing = [n for n, f in found.items() if f is None]
        if missing:
            raise LookupError(f"{library.title}: nothing is said of {', '.join(missing)}")
        kinds = [f.kind for f in found.values() if f is not None]
        out += [
            "",
            f"## {library.title}",
            "",
            f"Of {len(kinds)} names, {kinds.count('same')} are functions here,"
            f" {kinds.count('otherwise')} are written otherwise,"
            f" and {kinds.count('absent')} are not here.",
        ]
        for heading, names in sections:
            rows = [[f"`{n}`", f.text] for n in names if (f := found[n])]
            out += ["", f"### {heading}", "", *table(["name", "here"], rows)]
    return "\n".join(out) + "\n"
