"""`run FILE`: feed arrays, run some steps, print or save what is fetched."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from staticad_schema.codec import load
from staticad_schema.declarations import Signature
from staticad_schema.errors import FormatError, PlanError, UnknownFetchError, near_miss, shown
from staticad_schema.graph import Graph
from staticad_schema.types import Array

from ..feeds import fed_value
from ..fetches import find
from ..session import Session
from . import arrays


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "run",
        help="run a graph on arrays from files",
        description="Run a graph. Without --output, prints name, dtype, shape and value.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    parser.add_argument(
        "--feed",
        action="append",
        default=[],
        type=_feed,
        metavar="NAME=FILE",
        help="a .npy file, a .npz file (its entry NAME, or FILE:ENTRY); "
        "or FILE.npz alone for all its entries",
    )
    parser.add_argument(
        "--fetch",
        action="append",
        default=[],
        metavar="NAME",
        help="what to compute, also an effect; by default the signature's outputs",
    )
    parser.add_argument(
        "--signature", metavar="NAME", help="names are its keys; its effects are run"
    )
    parser.add_argument(
        "--steps",
        type=_positive,
        metavar="N",
        help="run N times; an array one rank above what it is fed for is consumed along its "
        "first axis, item k modulo its length at step k; fetched values are stacked",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR|FILE.npz",
        help="where fetched values go: NAME.npy in a folder, or entries of one file",
    )
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="restored first")
    parser.add_argument("--save-checkpoint", type=Path, metavar="FILE", help="written at the end")
    parser.add_argument("--device", default="auto", help='"auto", the default, or "numpy"')
    parser.set_defaults(execute=execute, refuse=parser.error)


def execute(options: argparse.Namespace) -> None:
    """Run the graph.  Raises StaticadError, OSError; SystemExit for a wrong command line."""
    graph: Graph = load(options.file)
    signature = _signature(graph, options.signature)
    feeds = _feeds(graph, signature, options)
    names = options.fetch or (list(signature.outputs) if signature is not None else [])
    effects = list(signature.effects) if signature is not None else []
    if not names and not effects:
        known = ", ".join(graph.signatures)
        options.refuse(
            "nothing is fetched: give --fetch NAME, or --signature NAME"
            + (f" (signatures: {known})" if known else "")
        )
    handles = {name: _fetch(graph, signature, name) for name in names}
    with Session(graph, device=options.device) as session:
        if options.checkpoint is not None:
            session.restore(options.checkpoint)
        fetches = [list(handles.values()), [graph.effect(index) for index in effects]]
        results = _steps(session, graph, fetches, feeds, options.steps)
        fetched = {
            name: value for name, value in zip(handles, results, strict=True) if value is not None
        }
        if options.output is not None:
            arrays.save(options.output, fetched)
        else:
            for name, value in fetched.items():
                print(f"{shown(name)} {value.dtype.name} {value.shape}\n{value}")
        if options.save_checkpoint is not None:
            session.save(options.save_checkpoint)


def _steps(
    session: Session,
    graph: Graph,
    fetches: list[list[Any]],
    feeds: Mapping[int, Array],
    steps: int | None,
) -> list[Array | None]:
    """What is fetched; stacked over the steps, if their number is given."""
    step = session.callable(fetches, [graph.handle(value) for value in feeds])
    if steps is None:
        results: list[Array | None] = step(*feeds.values())[0]
        return results
    kept: list[list[Array | None]] = [[] for _ in fetches[0]]
    for k in range(steps):
        values = [
            a[k % len(a)] if a.ndim == graph.types[v].ndim + 1 and len(a) else a
            for v, a in feeds.items()
        ]
        for rows, value in zip(kept, step(*values)[0], strict=True):
            rows.append(value)
    return [_stacked(rows) for rows in kept]


def _stacked(rows: list[Array | None]) -> Array | None:
    arrays = [row for row in rows if row is not None]
    if len(arrays) < len(rows):
        return None
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise PlanError(
            "a fetched value has another shape at another step, so that steps do not stack",
            asked="run --steps",
            expected="one shape",
            found=" and ".join(map(str, sorted(shapes)[:3])),
        )
    return np.stack(arrays)


def _signature(graph: Graph, name: str | None) -> Signature | None:
    if name is None:
        return None
    found = graph.signatures.get(name)
    if found is None:
        raise UnknownFetchError(
            f"no signature {name!r}",
            asked="run --signature",
            expected=", ".join(map(repr, graph.signatures)) or "none: the graph has no signature",
            found=repr(name),
            hint=near_miss(name, graph.signatures),
        )
    return found


def _fetch(graph: Graph, signature: Signature | None, name: str) -> Any:
    """The handle or effect of a name: the signature's key, or the graph's."""
    if signature is not None and name in signature.outputs:
        return graph.handle(signature.outputs[name])
    with _keys("an output", signature.outputs if signature is not None else {}, name):
        value, index = find(graph, name, "--fetch")
    return graph.effect(index) if value is None else graph.handle(value)


def _fed(graph: Graph, signature: Signature | None, name: str) -> int:
    if signature is not None and name in signature.inputs:
        return signature.inputs[name]
    with _keys("an input", signature.inputs if signature is not None else {}, name):
        return fed_value(graph, name)


@contextmanager
def _keys(side: str, known: Mapping[str, int], name: str) -> Iterator[None]:
    """While this is open, an unknown name is compared with a signature's keys too."""
    try:
        yield
    except UnknownFetchError as error:
        if known:
            keys = ", ".join(map(repr, known))
            error.expected = f"{side} of the signature ({keys}), or a name in the graph"
            error.hint = near_miss(name, known) or error.hint
        raise


def _feeds(
    graph: Graph, signature: Signature | None, options: argparse.Namespace
) -> dict[int, Array]:
    """The arrays to feed, by value id."""
    feeds: dict[int, Array] = {}
    for text in options.feed:
        for name, array in _named_arrays(graph, signature, text).items():
            value = _fed(graph, signature, name)
            if value in feeds:
                options.refuse(f"argument --feed: {name!r} is fed twice, by {text!r} again")
            feeds[value] = arrays.as_declared(array, graph.types[value].dtype)
    return feeds


def _named_arrays(graph: Graph, signature: Signature | None, text: str) -> dict[str, Array]:
    """What one --feed means."""
    if "=" not in text:
        return arrays.load_npz(Path(text))
    name, file = _split(graph, signature, text)
    path = Path(file)
    entry = name
    if path.suffix != ".npz" and ".npz:" in file and not path.exists():
        head, _, entry = file.rpartition(":")
        path = Path(head)
    if path.suffix != ".npz":
        return {name: arrays.load_npy(path)}
    entries = arrays.load_npz(path)
    if entry == name and entry not in entries and len(entries) == 1:
        return {name: next(iter(entries.values()))}
    if entry not in entries:
        raise FormatError(
            f"no entry {entry!r}",
            asked=path.name,
            expected=", ".join(map(repr, entries)) or "some entry",
            found=repr(entry),
            hint=near_miss(entry, entries),
        )
    return {name: entries[entry]}


def _split(graph: Graph, signature: Signature | None, text: str) -> tuple[str, str]:
    """Name and file: both may contain "=", so the first place where the name is known."""
    at = text.index("=")
    first = at
    while at >= 0:
        name = text[:at]
        if graph.has_name(name) or (signature is not None and name in signature.inputs):
            return name, text[at + 1 :]
        at = text.find("=", at + 1)
    return text[:first], text[first + 1 :]


def _feed(text: str) -> str:
    if "=" not in text and Path(text).suffix != ".npz":
        raise argparse.ArgumentTypeError(
            f"a feed without a name: expected NAME=FILE, or FILE.npz, found {text!r}"
        )
    return text


def _positive(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, found {text!r}")
    return number
