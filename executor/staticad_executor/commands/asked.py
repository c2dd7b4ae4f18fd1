"""What a command is asked for by name: feeds, fetches, signatures."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from staticad_schema.declarations import Signature
from staticad_schema.errors import UnknownFetchError, near_miss
from staticad_schema.graph import Graph
from staticad_schema.types import Array

from ..feeds import fed_value
from ..fetches import find
from . import arrays
from .batches import Entry, files_in


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare --feed, --fetch and --signature."""
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


class Asked:
    """The names on a command line, as a graph knows them.

    handles: what is fetched by name.  effects: node indices.  feeds: arrays by value id.
    folders: files by value id, one for each run.
    """

    def __init__(self, graph: Graph, options: argparse.Namespace) -> None:
        """Raises StaticadError, OSError; SystemExit for a wrong command line."""
        signature = _signature(graph, options)
        self.feeds, self.folders = _feeds(graph, signature, options)
        names = options.fetch or (list(signature.outputs) if signature is not None else [])
        self.effects = list(signature.effects) if signature is not None else []
        if not names and not self.effects:
            known = ", ".join(graph.signatures)
            options.refuse(
                "nothing is fetched: give --fetch NAME, or --signature NAME"
                + (f" (signatures: {known})" if known else "")
            )
        self.handles = {name: _fetch(graph, signature, name) for name in names}


def _signature(graph: Graph, options: argparse.Namespace) -> Signature | None:
    name = options.signature
    if name is None:
        return None
    found = graph.signatures.get(name)
    if found is None:
        raise UnknownFetchError(
            f"no signature {name!r}",
            asked=f"{options.command} --signature",
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
) -> tuple[dict[int, Array], dict[int, list[Entry]]]:
    """The arrays to feed, and those in folders, by value id."""
    feeds: dict[int, Array] = {}
    folders: dict[int, list[Entry]] = {}
    for text in options.feed:
        for name, given in _named_arrays(graph, signature, text).items():
            value = _fed(graph, signature, name)
            if value in feeds or value in folders:
                options.refuse(f"argument --feed: {name!r} is fed twice, by {text!r} again")
            if isinstance(given, list):
                folders[value] = given
            else:
                feeds[value] = arrays.as_declared(given, graph.types[value].dtype)
    if folders and options.command != "run":
        options.refuse("argument --feed: a folder is many runs, as only `run` makes them")
    return feeds, folders


def _named_arrays(
    graph: Graph, signature: Signature | None, text: str
) -> Mapping[str, Array | list[Entry]]:
    """What one --feed means."""
    if "=" not in text:
        whole = Path(text)
        if not os.path.isdir(whole):
            return arrays.load_npz(whole)
        files = files_in(whole, (".npz",))
        return {name: [Entry(file, name) for file in files] for name in arrays.load_npz(files[0])}
    name, file = _split(graph, signature, text)
    path = Path(file)
    if os.path.isdir(path):
        return {name: [Entry(file, name) for file in files_in(path)]}
    entry = name
    if path.suffix != ".npz" and ".npz:" in file and not path.exists():
        head, _, entry = file.rpartition(":")
        path = Path(head)
    if path.suffix == ".npz" and entry == name:
        entries = arrays.load_npz(path)
        if entry not in entries and len(entries) == 1:
            return {name: next(iter(entries.values()))}
    return {name: Entry(path, entry).load()}


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
    if "=" not in text and Path(text).suffix != ".npz" and not os.path.isdir(text):
        raise argparse.ArgumentTypeError(
            f"a feed without a name: expected NAME=FILE, or FILE.npz, found {text!r}"
        )
    return text
