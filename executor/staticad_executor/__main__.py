"""The command line: `staticad-executor COMMAND FILE …`, or `python -m staticad_executor`.

Errors go to stderr without a traceback.  Exit codes: 2 for a wrong command line, 3 for a
file, 4 for a run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from staticad_schema.errors import FormatError, StaticadError

from .commands import info, run, text, verify

COMMANDS = (run, info, text, verify)
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
    try:
        options.execute(options)
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
    return 0


def _complain(error: BaseException, code: int) -> int:
    print(f"error: {str(error) or type(error).__name__}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
