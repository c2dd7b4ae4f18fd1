"""The documentation is current: generated pages, links, paths, and code that runs."""

from __future__ import annotations

import itertools
import operator
import os
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

import staticad as sad
from docs import functions_page
from staticad_schema.op import OPS

from .devices import opencl_label

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def python_blocks(page: Path) -> str:
    """The page's Python code as one program, with the page's line numbers."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


def run_python(*arguments: str) -> None:
    """Run a fresh interpreter that finds the packages, with warnings as errors."""
    path = os.pathsep.join(str(ROOT / folder) for folder in (".", "schema", "executor"))
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_generated_pages_are_current() -> None:
    # In a process of its own, where no test has registered an op.
    run_python(str(ROOT / "docs" / "generate.py"), "--check")


def test_every_op_is_documented() -> None:
    page = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    assert [name for name in OPS if f"`{name}(" not in page] == []


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    for namespace in (
        sad,
        sad.nn,
        sad.linalg,
        sad.optimizers,
        sad.optimizers.schedules,
        sad.random.logpdf,
        sad.random,
    ):
        prefix = namespace.__name__.replace("staticad", "sad", 1)
        for name in namespace.__all__:
            if callable(getattr(namespace, name)):
                assert re.search(rf"`{prefix}\.{name}[`(]", page), name


def test_what_instances_hold_is_there_and_documented() -> None:
    page = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    graph = sad.Graph()
    instances = {"graph": graph, "session": sad.Session(graph)}
    for name, attributes in functions_page.ATTRIBUTES.items():
        for attribute in attributes:
            assert hasattr(instances[name], attribute)
            assert f"| `{name}.{attribute}` |" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_pages_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\bsad\.([a-zA-Z_][\w.]*\w)", text):
        # cosm1 is what add-an-op.md adds.
        if name != "cosm1":
            operator.attrgetter(name)(sad)
    for name in re.findall(r"\bsession\.(?!py\b)(\w+)", text):
        assert hasattr(sad.Session, name) or name == "variables", name


def test_layout_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    paths = [word for word in re.findall(r"`([\w./-]+)`", text) if "/" in word]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def listed_modules(package: str) -> list[str]:
    """The modules that layout.md lists for a package, in its order."""
    text = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    _, _, section = text.partition(f"**{package}**")
    lines = itertools.takewhile(lambda line: not line.startswith(("**", "#")), section.split("\n"))
    graph = grimp.build_graph(package.partition(".")[0], cache_dir=None)
    found: list[str] = []
    folder = package
    for name in re.findall(r"`([^`]+)`", "\n".join(list(lines)[1:])):
        at = next(p for p in (package, folder) if f"{p}.{name}" in graph.modules)
        found.append(f"{at}.{name}")
        folder = found[-1] if graph.find_children(found[-1]) else folder
    return found


WHOLE = ("staticad_executor.devices.numpy", "staticad_executor.compile")
"""The packages of which every module is listed."""


@pytest.mark.parametrize("package", ["staticad_schema", "staticad_executor", "staticad", *WHOLE])
def test_layout_lists_modules_from_the_ground_up(package: str) -> None:
    graph = grimp.build_graph(package.partition(".")[0], cache_dir=None)
    listed = listed_modules(package)
    assert len(listed) > 10
    if package in WHOLE:
        assert set(listed) == graph.find_children(package)
    for later, earlier in itertools.combinations(reversed(listed), 2):
        if not later.startswith(earlier + "."):
            assert not graph.direct_import_exists(
                importer=earlier, imported=later, as_packages=True
            ), f"{earlier} is listed before {later}, which it imports"


def test_add_an_op_runs(tmp_path: Path) -> None:
    # In a process of its own: the registry has no way to forget an op.
    script = tmp_path / "add_an_op.py"
    script.write_text(python_blocks(ROOT / "docs" / "add-an-op.md"), encoding="utf-8")
    run_python(str(script))


def test_derivatives_page_runs(tmp_path: Path) -> None:
    script = tmp_path / "derivatives.py"
    script.write_text(python_blocks(ROOT / "docs" / "derivatives.md"), encoding="utf-8")
    run_python(str(script))


def test_opencl_page_runs(tmp_path: Path) -> None:
    opencl_label()
    script = tmp_path / "opencl.py"
    script.write_text(python_blocks(ROOT / "docs" / "opencl.md"), encoding="utf-8")
    run_python(str(script))


def test_linting_page_runs(tmp_path: Path) -> None:
    script = tmp_path / "linting.py"
    script.write_text(python_blocks(ROOT / "docs" / "linting.md"), encoding="utf-8")
    run_python(str(script))


def test_tutorial_runs(tmp_path: Path) -> None:
    script = tmp_path / "tutorial.py"
    script.write_text(python_blocks(ROOT / "docs" / "tutorial.md"), encoding="utf-8")
    run_python(str(script))
