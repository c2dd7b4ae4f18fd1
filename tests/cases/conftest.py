"""Cases of what ops compute run on OpenCL, too."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from staticad_executor.chosen import devices_for
from staticad_schema.types import NAMES

from ..devices import opencl

# Elementwise edges, reductions, broadcasting, indexing, einsum, convolution, linear algebra,
# kernels, dtypes.
COMPUTED = re.compile(r"_[A-GMN]\d+(?=_|$)")


# Whatever else has a dtype for a parameter runs there with the slow tests.
QUICK = frozenset({"float32", "int64"})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = getattr(item, "callspec", None)
        if parameters is None or parameters.params.get("by_default") != "opencl":
            continue
        dtypes = {v for v in parameters.params.values() if isinstance(v, str) and v in NAMES}
        if dtypes - QUICK:
            item.add_marker(pytest.mark.slow)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "by_default" in metafunc.fixturenames and COMPUTED.search(metafunc.function.__name__):
        metafunc.parametrize("by_default", ["numpy", "opencl"], indirect=True)


@pytest.fixture(autouse=True)
def by_default(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device of sessions that ask for none."""
    if getattr(request, "param", "numpy") == "opencl":
        device = opencl()

        def chosen(asked: Any, *more: Any) -> Any:
            return devices_for(device if asked == "auto" else asked, *more)

        monkeypatch.setattr(sys.modules["staticad_executor.session"], "devices_for", chosen)
