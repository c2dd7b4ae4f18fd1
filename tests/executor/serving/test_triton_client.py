"""The unmodified tritonclient, in an environment of its own: `make clients` creates it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .inference_clients import Both, network
from .servers import PATIENCE
from .test_connection import ROOT

PYTHON = Path(os.environ.get("STATICAD_CLIENTS", ROOT / ".venv-clients")) / "bin" / "python"


@pytest.mark.skipif(not PYTHON.exists(), reason="`make clients` installs tritonclient")
def test_tritonclient(tmp_path: Path) -> None:
    network().save(tmp_path / "net.sad")
    with Both(tmp_path / "net.sad") as server:
        script = Path(__file__).with_name("triton_client.py")
        done = subprocess.run(
            [PYTHON, script, server.http.address, server.address],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "all well\n"), done.stderr
