"""Files of tiles: what is read, what is refused, and what they change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from staticad_executor.__main__ import main
from staticad_executor.commands import tune
from staticad_executor.devices.opencl import trials
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.region import Region
from staticad_executor.devices.opencl.target import Target
from staticad_executor.devices.opencl.tuning import (
    VARIABLE,
    LocalTile,
    Tile,
    read_tiling,
    tuned,
)
from staticad_schema.errors import PlanError

from .generated import Building, run, target_here

CPU = Target(vector_bytes=32, many_items=False)


def _product(m: int = 33, k: int = 70, n: int = 40) -> tuple[Region, list[Any]]:
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=s).astype(np.float32) for s in ((m, k), (k, n))]
    building = Building(*arrays)
    return building.region(building.add("matmul", 0, 1)), arrays


def _file(path: Path, content: object) -> str:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def test_tiles_are_used_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of rows change no bit; the text says which file they are from."""
    region, arrays = _product()
    target = target_here()._replace(vector_bytes=32)
    (usual,), _ = run(region, [generate(region, target)], arrays)
    path = _file(tmp_path / "t.json", {"format": 1, "rows": {"float32": [3, 1, 4, 2, 2]}})
    monkeypatch.setenv(VARIABLE, path)
    recipe = generate(region, target)
    assert "3 by 4" in recipe.algorithm
    assert path in recipe.algorithm
    (found,), _ = run(region, [recipe], arrays)
    np.testing.assert_array_equal(found, usual)
    monkeypatch.setenv(VARIABLE, "")
    assert "3 by 4" not in generate(region, target).algorithm


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
@pytest.mark.parametrize("vectors", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 3, 20, 40])
def test_any_tile_that_may_be_named_fits_any_size(
    size: int, vectors: int, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of one row or vector among them, of which no smaller one is looked for."""
    tile = [rows, vectors, 8, 2, 2]
    kinds = {"rows": {"float32": tile}, "dots": {"float32": tile}}
    path = _file(tmp_path / "t.json", {"format": 1, **kinds})
    monkeypatch.setenv(VARIABLE, path)
    for m, n in ((size, 40), (40, size)):
        assert path in generate(_product(m=m, n=n)[0], CPU).algorithm


def test_local_tiles_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    region, arrays = _product()
    target = target_here()._replace(many_items=True, vector_bytes=16, units=1)
    path = _file(tmp_path / "t.json", {"format": 1, "local": {"float32": [4, 2, 2, 1, 4, 8]}})
    (usual,), _ = run(region, [generate(region, target)], arrays)
    monkeypatch.setenv(VARIABLE, path)
    recipe = generate(region, target)
    assert "tiles of 8 by 8 in local memory" in recipe.algorithm
    (found,), _ = run(region, [recipe], arrays)
    np.testing.assert_array_equal(found, usual)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = _file(tmp_path / "t.json", {"format": 1, "device": "d", "dots": {"float64": [1] * 5}})
    tiling = read_tiling(path)
    assert tiling.dots == {"float64": Tile(1, 1, 1, 1, 1)}
    again = read_tiling(_file(tmp_path / "u.json", tiling.text()))
    assert again._replace(source="") == tiling._replace(source="")


@pytest.mark.parametrize(
    "content",
    [
        "", "[" * 100_000, "{}", "[]", "null", "\x00", '{"format": 1',
        {"format": 2}, {"format": True, "rows": []}, {"format": 1, "more": 1},
        {"format": 1, "device": 3}, {"format": 1, "rows": []},
        {"format": 1, "rows": {"float16": [6, 2, 8, 8, 4]}},
        {"format": 1, "rows": {"float32": [6, 2, 8, 8]}},
        {"format": 1, "rows": {"float32": [6, 2, 8, 8, 4.0]}},
        {"format": 1, "rows": {"float32": [6, 2, 8, 8, True]}},
        {"format": 1, "rows": {"float32": [6, 2, 3, 8, 4]}},
        {"format": 1, "rows": {"float32": [6, 2, 32, 8, 4]}},
        {"format": 1, "rows": {"float32": [0, 2, 8, 8, 4]}},
        {"format": 1, "rows": {"float32": [60, 60, 8, 8, 4]}},
        {"format": 1, "rows": {"float32": [6, 2, 8, 60, 60]}},
        {"format": 1, "rows": {"float32": [6, 2, 16, 8, 4]}},
        {"format": 1, "dots": {"float64": [6, 2, 8, 8, 4]}},
        {"format": 1, "local": {"float32": [3, 2, 2, 1, 4, 8]}},
        {"format": 1, "local": {"float32": [4, 2, 64, 64, 4, 8]}},
        {"format": 1, "local": {"float32": "x"}},
        {"format": 1, "device": "x" * 70_000},
    ],
)  # fmt: skip
def test_other_files_are_refused(
    content: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, _file(tmp_path / "t.json", content))
    with pytest.raises(PlanError, match="cannot be used") as caught:
        tuned(CPU)
    assert VARIABLE in str(caught.value)


def test_a_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.json"))
    with pytest.raises(PlanError, match="can be read"):
        generate(_product()[0], CPU)


def test_tiles_are_timed_and_written(
    device: OpenCLDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """On a smaller product, and a few tiles."""
    monkeypatch.setattr(trials, "_SIZE", 40)
    monkeypatch.setattr(trials, "_ROWS", ((4, 1), (2, 2)))
    monkeypatch.setattr(trials, "_DOTS", ((2, 2),))
    monkeypatch.setattr(trials, "_BLOCKS", ((2, 2),))
    monkeypatch.setattr(trials, "LOCAL_TILES", (LocalTile(4, 4, 2, 1, 4, 8),))
    path = tmp_path / "t.json"
    assert main(["tune", "--device", device.name, "--output", str(path)]) == 0
    assert "GFLOP/s" in capsys.readouterr().out
    tiling = read_tiling(str(path))
    assert tiling.device == device.runtime.found.name
    monkeypatch.setenv(VARIABLE, str(path))
    assert tuned(device.target) == tiling
    assert str(path) in generate(_product()[0], device.target).algorithm


def test_the_command_is_declared() -> None:
    assert tune.add_parser.__doc__
    with pytest.raises(SystemExit):
        main(["tune"])
