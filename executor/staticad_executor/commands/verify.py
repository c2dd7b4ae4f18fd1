"""`verify FILE`: load a file with all its checks: checksums, inference, bodies, names."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from staticad_schema.codec import verify


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "verify",
        help="check a file",
        description="Load a file, infer all types again and recompute checksums.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    """Check the file.  Raises FormatError, OSError."""
    found = verify(options.file)
    print(
        f"{options.file.name}: format {found.format}, {found.nodes} nodes, "
        f"{found.functions} functions, {found.variables} variables, "
        f"{found.signatures} signatures, {found.size:,} bytes"
        + (f", and {found.sidecar.size:,} in {found.sidecar.file}" if found.sidecar else "")
        + ": ok"
    )
