"""A private server: a child of this process that ends with it, however it ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

import staticad_schema
from staticad_schema.errors import ConnectionLostError

from ..address import UNIX
from .protocol import READY

START_SECONDS = 60.0


class Child:
    """A running server; `address` is where.  Raises ConnectionLostError.

    The two hold the ends of a pair of sockets: the child says on it that it is ready, and ends
    when it closes, which the system sees to where this process is killed.
    """

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="staticad-"))
        self.address = f"{UNIX}{folder / 'socket'}"
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-m", "staticad_executor", "serve",
                    "--listen", self.address, "--lifeline", str(theirs.fileno()),
                ],
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self.stop = weakref.finalize(self, _stop, self.process, ours, folder)
        ours.settimeout(START_SECONDS)
        try:
            said = ours.recv(len(READY))
        except OSError:
            said = b""
        if said != READY:
            self.stop()
            raise ConnectionLostError(
                "the process that was to run the graph has not started",
                expected="`python -m staticad_executor serve` to run",
                found=f"exit code {self.process.returncode}",
            )


def _environment() -> dict[str, str]:
    """This process's, with the folders of the packages that the child needs."""
    inside = (__file__, str(staticad_schema.__file__))
    folders = [str(Path(file).parents[depth]) for file, depth in zip(inside, (2, 1), strict=True)]
    known = os.environ.get("PYTHONPATH")
    path = [*dict.fromkeys(folders), *([known] if known else [])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def _stop(process: subprocess.Popen[bytes], ours: socket.socket, folder: Path) -> None:
    ours.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)
