"""The executor's command line in a process in which `staticad` cannot be imported.

An isolated interpreter would not be enough: where staticad is installed, in whatever way, an
import finds it.  So the process refuses the name before anything looks for it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

REFUSED = ("staticad", "models")

_REFUSE = """\
import sys
from importlib.abc import MetaPathFinder

class Refuse(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
sys.path[:0] = {folders}
"""

_RUN = """\
from staticad_executor.__main__ import main
code = main()
assert not {{name.partition(".")[0] for name in sys.modules}}.intersection({refused})
sys.exit(code)
"""


class ExecutorError(Exception):
    """The other process failed; the text is what it wrote to its standard error."""


def _python(code: str, arguments: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    # Of a checkout that is not installed, only the folders of what runs graphs are passed on.
    folders = []
    for package in ("staticad_executor", "staticad_schema"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        folders.append(str(Path(spec.origin).parent.parent))
    program = code.format(refused=REFUSED, folders=folders)
    return subprocess.run(
        [sys.executable, "-I", "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def attempt(statement: str) -> str:
    """The last line of what Python says to the statement in such a process; empty if nothing."""
    done = _python(_REFUSE + statement.replace("{", "{{").replace("}", "}}"))
    return (done.stdout + done.stderr).strip().rpartition("\n")[2]


def staticad_executor(*arguments: str | Path) -> str:
    """What `staticad-executor ARGUMENTS…` prints.  Raises ExecutorError."""
    done = _python(_REFUSE + _RUN, [str(argument) for argument in arguments])
    if done.returncode != 0:
        raise ExecutorError(done.stderr.strip())
    return done.stdout
