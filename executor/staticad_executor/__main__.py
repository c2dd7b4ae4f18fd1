"""The command line: `staticad-executor COMMAND FILE …`, or `python -m staticad_executor`.

Errors go to stderr without a traceback.  Exit codes: 1 where graphs differ, 2 for a wrong command
line, 3 for a file, 4 for a run.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from staticad_schema.errors import FormatError, StaticadError

from .commands import bench, bisect, devices, diff, info, run, serve, strip, text, tune, verify

COMMANDS = (run, serve, info, bench, diff, strip, devices, tune, text, verify, bisect)
USAGE, FILE, RUN, INTERRUPTED = 2, 3, 4, 130
# No user's line is behind what this module calls: see staticad_schema/sites.py.
STATICAD_COMMAND_LINE = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="staticad-executor", description="Run and inspect saved graphs."
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names are any text, and the text form is UTF-8 whatever the terminal says.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code: int = options.execute(options) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; what is buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (FormatError, OSError) as error:
        return _complain(error, FILE)
    except (StaticadError, MemoryError) as error:
        return _complain(error, RUN)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        # A fault of this program; whoever runs it still gets one line and a code.
        return _complain(f"{type(error).__name__}: {error}", RUN)
    return code


def _complain(error: object, code: int) -> int:
    print(f"error: {str(error) or type(error).__name__}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
