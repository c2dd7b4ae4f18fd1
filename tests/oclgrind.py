"""A plugin of pytest for `make oclgrind`: a test fails where oclgrind finds anything.

It finds data races, memory that is read and was not written, accesses beyond buffers, barriers
that not all reach, and wrong calls of the API, and prints them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

# PyOpenCL asks devices for what only some know, and takes the error for an answer.
ASKED = re.compile(
    r"Oclgrind - OpenCL runtime error detected\s+Function: clGetDeviceInfo\s+"
    r"Error: +CL_INVALID_VALUE\s+For argument 'param_name'\s+"
)
WARNED = re.compile(r"^\d+ warnings? generated\.$", re.MULTILINE)


def found(printed: str) -> str:
    """What oclgrind has found, of what a process has printed."""
    return WARNED.sub("", ASKED.sub("", printed + "\n")).strip()


@pytest.fixture(autouse=True)
def silent(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Fails after a test of which oclgrind tells anything."""
    yield
    finding = found(capfd.readouterr().err)
    assert not finding, finding
