"""Cases of what ops compute run on OpenCL, too."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from staticad_executor.devices.chosen import devices_for

from ..devices import opencl

# Elementwise edges, reductions, broadcasting, indexing, einsum, convolution, linear algebra,
# kernels, dtypes.
COMPUTED = re.compile(r"_[A-GMN]\d+(?=_|$)")


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
