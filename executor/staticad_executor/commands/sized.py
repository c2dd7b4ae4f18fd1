"""Sizes and counts on a command line."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare --size."""
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        type=_size,
        metavar="NAME=N",
        help="of a symbolic dimension",
    )


def given(options: argparse.Namespace) -> dict[str, int]:
    """The sizes by name."""
    return dict(options.size)


def positive(text: str) -> int:
    """An integer of at least 1.  Raises ArgumentTypeError."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, found {text!r}")
    return number


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name or not (number.isascii() and number.isdecimal() and len(number) < 20):
        raise argparse.ArgumentTypeError(f"expected NAME=N, found {text!r}")
    return name, int(number)
