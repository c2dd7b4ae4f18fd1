"""What serving costs is measured on servers that answer."""

from __future__ import annotations

import pytest

from benchmarks import serving


def test_all_that_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    serving.main(rounds=10, requests=40)
    told = capsys.readouterr().out
    for words in ("run there", "100 MB of feed", "first answer", "alone:", "in batches:"):
        assert words in told
