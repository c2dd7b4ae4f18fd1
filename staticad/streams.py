"""Which numbers the random nodes of a graph draw."""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import Any

from staticad_schema.op import OPS

from .current import SCOPE


class Streams:
    """What a graph remembers of its random nodes, so that each draws numbers of its own."""

    def __init__(self, within: bool = False) -> None:
        """within: of a body that is traced in the graph, beside nodes that are not its own."""
        self._within = within
        self._drawn: dict[str, int] | None = {} if within else None
        self._run_number: int | None = None

    def run_number(self, graph: Any) -> int:
        """The value id of the number of the run, which all random nodes share."""
        if self._run_number is None:
            nodes = () if self._within else graph.nodes
            known = [node for node in nodes if node.op == "run_number"]
            node = known[0] if known else graph.append(OPS["run_number"])
            self._run_number = node.start
        return self._run_number

    def key(self, graph: Any, name: str | None) -> int:
        """The 64-bit key of a random node: of the seed, and of its name or place in its scope.

        Nodes that are not random, and random ones elsewhere, do not change it.
        """
        if graph.seed is None:
            # The module `secrets` takes a hundredth of the time of all imports.
            graph.seed = int.from_bytes(os.urandom(8), "little") >> 1
        scope = SCOPE.get()
        if name is None:
            ordinal = self._ordinal(graph, scope)
            place = f"ordinal\0{scope}\0{ordinal}"
        else:
            place = f"name\0{name}"
        text = f"{graph.seed}\0{graph.body_name}\0{place}".encode()
        return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")

    def _ordinal(self, graph: Any, scope: str) -> int:
        """How many unnamed random nodes the scope has already."""
        if self._drawn is None:
            self._drawn = {}
            for node in graph.nodes:
                if node.op == "random_bits" and node.name is None:
                    self._drawn[node.scope] = self._drawn.get(node.scope, 0) + 1
        ordinal = self._drawn.get(scope, 0)
        self._drawn[scope] = ordinal + 1
        return ordinal
