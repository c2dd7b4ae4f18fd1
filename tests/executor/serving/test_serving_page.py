"""docs/serving.md is a session at a terminal: all its commands and programs run, in order."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .servers import ENVIRONMENT
from .test_connection import ROOT

PAGE = ROOT / "docs" / "serving.md"


@pytest.mark.skipif(
    shutil.which("bash") is None or shutil.which("curl") is None, reason="the page is for a shell"
)
def test_every_command_on_the_page_runs(tmp_path: Path) -> None:
    python = shlex.quote(sys.executable)
    script = [
        "set -e",
        # As an interactive shell does, so that %1 is the server.
        "set -m",
        f'python() {{ {python} "$@"; }}',
        f'staticad-executor() {{ exec {python} -m staticad_executor "$@"; }}',
    ]
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```", PAGE.read_text(), flags=re.M | re.S)
    assert len(blocks) > 6
    for language, code in blocks:
        if language == "sh":
            script.append(code)
        else:
            script.append(f"{python} -W error - <<'END_OF_PROGRAM'\n{code}END_OF_PROGRAM")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "('classifier',)" in done.stdout
    assert "resumed_from='kept/first/00000000000000000005.safetensors'" in done.stdout


def test_every_option_of_the_page_is_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "staticad_executor", "serve", "--help"],
        env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE.read_text())) - {"--silent", "--fail", "--data"}
    known = set(re.findall(r"--[a-z][a-z-]+", done.stdout)) - {"--help"}
    assert named == known
