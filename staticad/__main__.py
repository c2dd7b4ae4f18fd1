"""The builder's command line: `python -m staticad lint FILE`.

Exit codes: 0 where nothing is found, 1 where something is, 2 for a wrong command line, 3 for a
file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from staticad_schema.errors import ArgumentError, FormatError

from .graph import load
from .linting import RULES, Finding, lint
from .linting.report import chosen_rules

FOUND, FILE = 1, 3
# No user's line is behind what this module calls: see staticad_schema/sites.py.
STATICAD_COMMAND_LINE = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    parser = argparse.ArgumentParser(prog="staticad", description="Look at saved graphs.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "lint",
        help="say what looks wrong in graphs",
        description="Say what is unused, wider than meant, or may become NaN in saved graphs.",
        epilog=f"Rules: {', '.join(RULES)}.",
    )
    command.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a .sad file")
    command.add_argument("--json", action="store_true", help="for programs")
    command.add_argument(
        "--rules",
        default="",
        metavar="NAMES",
        help='the rules to apply, separated by commas, or "-NAME" to leave one out '
        "(write --rules=-NAME)",
    )
    options = parser.parse_args(arguments)
    try:
        rules = chosen_rules([name for name in options.rules.split(",") if name])
        found = {str(file): lint(load(file), rules) for file in options.files}
    except ArgumentError as error:
        command.error(str(error))
    except (FormatError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return FILE
    if options.json:
        print(
            json.dumps({file: list(map(_data, these)) for file, these in found.items()}, indent=2)
        )
    else:
        for file, these in found.items():
            for finding in these:
                print(f"{file}: {finding}" if len(found) > 1 else str(finding))
    return FOUND if any(found.values()) else 0


def _data(finding: Finding) -> dict[str, object]:
    site = finding.site
    return {
        "rule": finding.rule,
        "node": finding.node,
        "body": finding.body,
        "file": site.file if site else None,
        "line": site.line if site else None,
        "message": finding.message,
        "hint": finding.hint,
    }


if __name__ == "__main__":
    sys.exit(main())
