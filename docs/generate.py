"""Write the pages that follow from the code; with --check, only say whether they are current.

python docs/generate.py [--check]
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from docs.conventions_page import conventions_page
from docs.coverage_page import coverage_page
from docs.elementwise import docs_module, stub
from docs.functions_page import functions_page
from docs.graph_picture import example
from docs.ops_page import ops_page
from docs.rewrites_page import rewrites_page

ROOT = Path(__file__).parent.parent

PAGES: dict[str, Callable[[], str]] = {
    "docs/functions.md": functions_page,
    "docs/ops.md": ops_page,
    "docs/rewrites.md": rewrites_page,
    "docs/conventions.md": conventions_page,
    "docs/coverage.md": coverage_page,
    "docs/graph.svg": lambda: example().to_svg(),
    # What users and type checkers read of the functions that are made from the registry.
    "staticad/ops/elementwise_docs.py": docs_module,
    "staticad/ops/elementwise.pyi": stub,
}


def outdated() -> Iterator[tuple[str, str]]:
    """Path and difference of every page that is not what the code says."""
    for name, page in PAGES.items():
        path = ROOT / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        new = page()
        if new != old:
            changes = difflib.unified_diff(
                old.splitlines(), new.splitlines(), name, name, "", "", 0
            )
            yield name, "\n".join(changes)


def main() -> int:
    """Write all pages, or with --check compare them; returns the exit status."""
    parser = argparse.ArgumentParser(description="Generate the pages that follow from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one is old")
    if not parser.parse_args().check:
        for name, page in PAGES.items():
            (ROOT / name).write_text(page(), encoding="utf-8")
        return 0
    old = list(outdated())
    for name, difference in old:
        print(f"{name} is not current: run make docs\n{difference}", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
