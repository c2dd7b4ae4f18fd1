"""`serve [FILE …]`: keep sessions for callers elsewhere, on graphs of theirs and of files."""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import sys
from pathlib import Path
from typing import Any

from ..address import check_token
from ..options import missing_package

# Of `Limits`: the argument's name, and what it says.
LIMITS = {
    "call_bytes": "of the tensors of a call",
    "graph_bytes": "of a graph",
    "graph_nodes": "of a graph",
    "sessions": "that are open",
    "shared_bytes": "of memory that is shared with clients",
    "concurrency": "runs at a time; by default as many as there are cores",
    "queue": "runs that wait",
    "run_seconds": "that a run may take; by default any",
}


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "serve",
        help="run graphs for other processes",
        description="Run graphs for other processes; needs `pip install staticad[serve]`.",
    )
    parser.add_argument(
        "files", type=Path, nargs="*", metavar="FILE", help="graphs to offer, by their stems"
    )
    parser.add_argument(
        "--listen",
        action="append",
        required=True,
        metavar="ADDRESS",
        help="unix:PATH or HOST:PORT (port 0: a free one); may be given again",
    )
    parser.add_argument(
        "--http", default="", metavar="HOST:PORT", help="answer inference over HTTP there"
    )
    parser.add_argument(
        "--max-batch",
        type=_count,
        default=1,
        metavar="N",
        help="rows of requests that come together are one run of up to N",
    )
    parser.add_argument(
        "--max-delay-ms",
        type=_seconds,
        default=2.0,
        metavar="MS",
        help="how long a request waits for others; 2 by default",
    )
    parser.add_argument("--models", type=Path, metavar="DIR", help="offer its .sad files, too")
    parser.add_argument("--device", default="auto", help='of sessions that ask for "auto"')
    parser.add_argument(
        "--checkpoints", type=Path, metavar="DIR", help="where named sessions are kept"
    )
    parser.add_argument(
        "--checkpoint-every",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how often, if they have changed; 60 by default",
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="what callers must show; STATICAD_TOKEN in the environment does the same",
    )
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="the server's, for TLS")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the certificate's")
    parser.add_argument(
        "--client-ca", type=Path, metavar="FILE", help="let in who shows a certificate of this"
    )
    parser.add_argument(
        "--log", choices=("text", "json"), default="text", help="how stderr is written"
    )
    for name, words in LIMITS.items():
        parser.add_argument(
            f"--max-{name.replace('_', '-')}",
            type=_seconds if name == "run_seconds" else _count,
            metavar="N",
            help=words,
        )
    parser.add_argument("--lifeline", type=int, help=argparse.SUPPRESS)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    """Serve until a signal.  Raises StaticadError, OSError."""
    try:
        # gRPC is imported when something is to be served.
        from ..inference.repository import Batching
        from ..serving.limits import Limits
        from ..serving.server import Settings, serve
    except ModuleNotFoundError as error:
        raise missing_package(error, "serve") from None

    given = {name: getattr(options, f"max_{name}") for name in LIMITS}
    limits = {name: value for name, value in given.items() if value is not None}
    token = os.environ.get("STATICAD_TOKEN", "")
    if options.token_file is not None:
        token = options.token_file.read_text(encoding="utf-8").strip()
        check_token(token, "serve --token-file")
    _log(options.log, quiet=options.lifeline is not None)
    serve(
        Settings(
            listen=tuple(options.listen),
            files=tuple(options.files),
            models=options.models,
            device=options.device,
            checkpoints=options.checkpoints,
            checkpoint_every=options.checkpoint_every,
            token=token,
            certificate=options.certificate,
            key=options.key,
            client_ca=options.client_ca,
            limits=Limits(**limits),
            http=options.http,
            batching=Batching(options.max_batch, options.max_delay_ms / 1000),
            lifeline=options.lifeline,
        )
    )


class JsonLines(logging.Formatter):
    """A record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said)


def _log(form: str, quiet: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLines() if form == "json" else text)
    logger = logging.getLogger("staticad.serving")
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    logger.propagate = False


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {text!r}")
    return number


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, found {text!r}")
    return number
