"""Real servers for tests, in processes of their own."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

# A bare checkout is on this process's path, and must be on its children's.
ENVIRONMENT = {
    **{k: v for k, v in os.environ.items() if k != "STATICAD_TOKEN"},
    "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    "OPENBLAS_NUM_THREADS": "1",
}
PATIENCE = 60.0


class Server:
    """`staticad-executor serve` with these arguments, killed at the end; `address` is where it
    listens, the first if at several."""

    def __init__(self, *arguments: str | Path, prefix: Sequence[str] = ()) -> None:
        command = [sys.executable, "-m", "staticad_executor", "serve", *map(str, arguments)]
        self.process = subprocess.Popen(
            [*prefix, *command], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []
        self._said: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        found = self.said(r"listening on (\S+)")
        self.address = found[1]

    def said(self, pattern: str) -> re.Match[str]:
        """The next line of its log that matches."""
        while True:
            line = self._said.get(timeout=PATIENCE)
            assert line is not None, f"the server has ended: {self.lines}"
            if found := re.search(pattern, line):
                return found

    def kill(self) -> None:
        """As kill -9 does."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As a service manager does; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self.lines.append(line)
                self._said.put(line)
        self._said.put(None)


def failing(*arguments: str | Path) -> tuple[int, str]:
    """The exit code and the complaint of a server that does not start."""
    done = subprocess.run(
        [sys.executable, "-m", "staticad_executor", "serve", *map(str, arguments)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr
