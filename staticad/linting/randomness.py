"""Whether a graph draws the same numbers when it is built again."""

from __future__ import annotations

from collections.abc import Iterator

from .finding import Finding, Linted

CHOSEN_BITS = 32
"""Seeds that are drawn have 63 bits, so that one that looks like a chosen one is rare."""


def unseeded_randomness(linted: Linted) -> Iterator[Finding]:
    """Random nodes of a graph without a seed of the user's; said once, at the first."""
    seed = linted.whole.seed
    if linted.body or (seed is not None and seed.bit_length() <= CHOSEN_BITS):
        return
    for index, node in enumerate(linted.graph.nodes):
        if node.definition.effect == "random":
            yield linted.finding(
                "unseeded-randomness",
                index,
                "the graph has a seed that was drawn: built again, it draws other numbers",
                "write sad.Graph(seed=...)",
            )
            return
