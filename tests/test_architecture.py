"""The arrows of the design, as far as import-linter does not check them (see pyproject.toml)."""

import ast
import graphlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "staticad": ROOT,
    "staticad_executor": ROOT / "executor",
    "staticad_schema": ROOT / "schema",
}
PACKAGES = sorted(FOLDERS)

# What may be imported inside a function, because importing it is slow, optional, or a device's
# own business. Anything else at that place hides an arrow or breaks a cycle the wrong way.
LAZY_IMPORTS = (
    "scipy",
    "pyopencl",
    "grpc",
    "fcntl",
    "matplotlib",
    "mlxtend",
    "tqdm",
    "staticad_executor.devices",
    "staticad_executor.serving",
    "staticad_executor.inference",
)


@cache
def import_graph(package: str) -> grimp.ImportGraph:
    """Imports among the modules of one package, those in functions and type-checking blocks too."""
    return grimp.build_graph(package, cache_dir=None)


def sources(package: str) -> Iterator[Path]:
    """The package's files, without generated ones."""
    for path in sorted((FOLDERS[package] / package).rglob("*.py")):
        if not path.stem.endswith(("_pb2", "_pb2_grpc")):
            yield path


def run_python(code: str, folders: list[Path], cwd: Path) -> str:
    """What a fresh interpreter, which looks into these folders first, prints."""
    path = os.pathsep.join(str(folder) for folder in folders)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_cycles(package: str) -> None:
    graph = import_graph(package)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        pytest.fail("import cycle: " + " <- ".join(error.args[1]))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_named_utils(package: str) -> None:
    # A helper lives with the noun it helps.
    names = {name for name in import_graph(package).modules if name.split(".")[-1] == "utils"}
    assert names == set()


def imports_in_functions(path: Path, package_parts: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line and absolute module name of every import inside a function."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                kept = package_parts[: len(package_parts) - node.level + 1] if node.level else ()
                base = [*kept, *([node.module] if node.module else [])]
                # `from a import b` may name a module a.b, so both are candidates for LAZY_IMPORTS.
                yield from ((node.lineno, ".".join([*base, alias.name])) for alias in node.names)


def is_lazy(name: str) -> bool:
    return any(name == allowed or name.startswith(allowed + ".") for allowed in LAZY_IMPORTS)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_imports_hidden_in_functions(package: str) -> None:
    hidden = set()
    for path in sources(package):
        parts = path.relative_to(FOLDERS[package]).parent.parts
        for line, name in imports_in_functions(path, parts):
            if not is_lazy(name):
                hidden.add(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert hidden == set()


def test_only_the_codec_knows_the_saved_messages() -> None:
    # In memory a graph is Node objects; protobuf is one way to write it down.
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    importers = graph.find_modules_that_directly_import("staticad_schema.graph_pb2")
    assert importers == {
        f"staticad_schema.{module}" for module in ("codec", "encoder", "decoder", "migrate")
    }


def test_only_what_serves_knows_the_messages_of_the_service() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    importers = graph.find_modules_that_directly_import("staticad_schema.run_pb2")
    assert importers
    assert all(name.startswith("staticad_executor.serving.") for name in importers)


@pytest.mark.parametrize(
    ("package", "unwanted"),
    [
        ("staticad_schema", ["staticad", "staticad_executor", "pyopencl", "scipy", "grpc"]),
        ("staticad_executor", ["staticad", "pyopencl", "scipy", "grpc"]),
        ("staticad", ["pyopencl", "scipy", "grpc", "matplotlib"]),
    ],
)
def test_importing_a_package_leaves_out(package: str, unwanted: list[str], tmp_path: Path) -> None:
    # The unwanted packages can be found there; they are just not loaded.
    code = f"import sys, {package}; print(*sorted(set({unwanted}) & set(sys.modules)))"
    assert run_python(code, list(FOLDERS.values()), tmp_path).split() == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree; without isolation, so that no network is needed."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


def test_wheel_holds_exactly_the_three_packages(wheel: Path) -> None:
    names = [Path(name) for name in zipfile.ZipFile(wheel).namelist()]
    tops = {name.parts[0] for name in names}
    (dist_info,) = tops - set(PACKAGES)
    assert tops - {dist_info} == set(PACKAGES)
    assert dist_info.startswith("staticad-")
    assert dist_info.endswith(".dist-info")

    expected = {
        path.relative_to(FOLDERS[package])
        for package in PACKAGES
        for path in (FOLDERS[package] / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.parts[0] != dist_info} == expected


def test_wheel_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = f"import {', '.join(PACKAGES)}\n" + "".join(
        f"print({name}.__file__)\n" for name in PACKAGES
    )
    files = run_python(code, [site], tmp_path).split()
    assert [Path(file).parent for file in files] == [site / name for name in PACKAGES]
