"""The functions of the array API standard 2024.12 are called as the standard calls them."""

from __future__ import annotations

import inspect
from operator import attrgetter
from pathlib import Path

import pytest

import staticad as sad

NAMES = Path(__file__).parents[2] / "docs" / "names" / "array_api.txt"

# What follows the parameters that go by position only, each a "_": names with their defaults.
# device= is left out: where nodes run is said by `with sad.device(...)`, or by the Session.
SIGNATURES = {
    **dict.fromkeys(
        ("all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min"),
        "_, axis=None, keepdims=False",
    ),
    **dict.fromkeys(("prod", "sum"), "_, axis=None, dtype=None, keepdims=False"),
    **dict.fromkeys(("std", "var"), "_, axis=None, correction=0.0, keepdims=False"),
    **dict.fromkeys(
        ("cumulative_prod", "cumulative_sum"), "_, axis=None, dtype=None, include_initial=False"
    ),
    **dict.fromkeys(("argsort", "sort"), "_, axis=-1, descending=False, stable=True"),
    **dict.fromkeys(("empty", "ones", "zeros"), "shape, dtype=None"),
    **dict.fromkeys(("empty_like", "ones_like", "zeros_like"), "_, dtype=None"),
    **dict.fromkeys(("tril", "triu"), "_, k=0"),
    **dict.fromkeys(("concat", "stack", "unstack"), "_, axis=0"),
    **dict.fromkeys(("finfo", "iinfo"), "_"),
    **dict.fromkeys(("tensordot", "linalg.tensordot"), "_, _, axes=2"),
    **dict.fromkeys(("vecdot", "linalg.vecdot", "linalg.cross"), "_, _, axis=-1"),
    **dict.fromkeys(("matmul", "linalg.matmul", "linalg.outer", "can_cast"), "_, _"),
    **dict.fromkeys(("matrix_transpose", "linalg.matrix_transpose", "nonzero"), "_"),
    **dict.fromkeys(
        ("unique_all", "unique_counts", "unique_inverse", "unique_values"),
        "_",
    ),
    "arange": "_, stop=None, step=1, dtype=None",
    "asarray": "_, dtype=None, copy=None",
    "astype": "_, _, copy=True",
    "broadcast_arrays": "*",
    "broadcast_to": "_, shape",
    "clip": "_, min=None, max=None",
    "diff": "_, axis=-1, n=1, prepend=None, append=None",
    "expand_dims": "_, axis",
    "eye": "_, _=None, k=0, dtype=None",
    "flip": "_, axis=None",
    "from_dlpack": "_, copy=None",
    "full": "shape, fill_value, dtype=None",
    "full_like": "_, fill_value, dtype=None",
    "isdtype": "dtype, kind",
    "linspace": "_, _, num, dtype=None, endpoint=True",
    "meshgrid": "*, indexing='xy'",
    "moveaxis": "_, _, _",
    "permute_dims": "_, axes",
    "repeat": "_, _, axis=None",
    "reshape": "_, shape, copy=None",
    "result_type": "*",
    "roll": "_, shift, axis=None",
    "searchsorted": "_, _, side='left', sorter=None",
    "squeeze": "_, axis",
    "take": "_, _, axis=None",
    "take_along_axis": "_, _, axis=-1",
    "tile": "_, _",
    "where": "_, _, _",
    "linalg.diagonal": "_, offset=0",
    "linalg.matrix_norm": "_, keepdims=False, ord='fro'",
    "linalg.cholesky": "_, upper=False",
    **dict.fromkeys(("linalg.det", "linalg.inv", "linalg.slogdet"), "_"),
    "linalg.solve": "_, _",
    "linalg.eigh": "_",
    "linalg.eigvalsh": "_",
    "linalg.matrix_power": "_, _",
    "linalg.matrix_rank": "_, rtol=None",
    "linalg.pinv": "_, rtol=None",
    "linalg.qr": "_, mode='reduced'",
    "linalg.svd": "_, full_matrices=True",
    "linalg.svdvals": "_",
    "linalg.trace": "_, offset=0, dtype=None",
    "linalg.vector_norm": "_, axis=None, keepdims=False, ord=2",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_it_is_called_as_the_standard_says(name: str) -> None:
    signature = inspect.signature(attrgetter(name)(sad))
    given: list[object] = []
    named: dict[str, object] = {}
    for part in SIGNATURES[name].split(", "):
        parameter, _, default = part.partition("=")
        if parameter in ("_", "*"):
            given += [None] if parameter == "_" else [None, None, None]
        else:
            named[parameter] = None
            if default:
                assert repr(signature.parameters[parameter].default) == default
    if "name" in signature.parameters:
        named["name"] = None
    signature.bind(*given, **named)


def test_every_function_of_the_standard_is_called_so() -> None:
    sections = NAMES.read_text(encoding="utf-8").split("\n[")[1:]
    listed = {section.partition("]")[0]: section.split("\n")[1:] for section in sections}
    # Elementwise functions take tensors only; the last two belong to other extensions.
    skipped = ("Constants", "Data types", "Elementwise functions", "Inspection")
    for section, names in listed.items():
        for name in names:
            here = name.rpartition(".")[0] in ("", "linalg")
            if section in skipped or not name or not here or not _exists(name):
                continue
            assert name in SIGNATURES, name


def _exists(name: str) -> bool:
    namespace, _, base = name.rpartition(".")
    return base in (attrgetter(namespace)(sad) if namespace else sad).__all__
