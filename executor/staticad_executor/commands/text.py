"""`text FILE`: a saved graph as text, or text as a saved graph."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from staticad_schema.codec import load, save
from staticad_schema.errors import FormatError
from staticad_schema.files import replacing
from staticad_schema.graph import Graph
from staticad_schema.text import from_text, to_text

# How the text form begins; no saved file does.
START = b"staticad "


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "text",
        help="convert a graph to its text form, or back",
        description="Write a saved graph as text; given text, write the saved graph.",
    )
    parser.add_argument("file", type=Path, help="a .sad file, or the text of one")
    parser.add_argument("--output", type=Path, metavar="FILE", help="needed for the way back")
    parser.set_defaults(execute=execute, refuse=parser.error)


def execute(options: argparse.Namespace) -> None:
    """Convert.  Raises FormatError, OSError; SystemExit for a wrong command line."""
    with open(options.file, "rb") as file:
        is_text = file.read(len(START)) == START
    if is_text:
        if options.output is None:
            options.refuse("a saved graph is not printed: give --output FILE")
        _to_file(options.file, options.output)
        return
    graph: Graph = load(options.file)
    text = to_text(graph)
    if options.output is None:
        sys.stdout.write(text)
    else:
        with replacing(options.output) as file:
            file.write(text.encode())


def _to_file(source: Path, target: Path) -> None:
    try:
        text = source.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            "the text is not UTF-8", asked=source.name, expected="UTF-8", found=str(error)
        ) from None
    graph: Graph = from_text(text)
    save(graph, target)
