"""What graphs show of themselves."""

from __future__ import annotations

from typing import Any, cast

from staticad_schema.graph import Graph
from staticad_schema.sites import asking

from .chosen import Chosen, chosen
from .dot import dot
from .svg import svg
from .tree import tree

IN_NOTEBOOKS = 150
"""How many nodes the picture of a graph has that nobody asked for."""


class Views:
    """Methods of a graph that draw it."""

    def to_tree(self, of: Any = None, limit: int = 500) -> str:
        """The graph as an indented tree: each result above what it is computed from.

        of: a tensor or effect, or several, whose ancestors alone are shown; limit: how many nodes
        at most (the nearest to `of`, or the first of the graph); the text says what is left out.
        What computes initial values is shown if asked for: `of=variable.initial`.
        Raises UsageError or GraphError for what is none of this graph.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     x = sad.placeholder("float32", (), name="x")
        ...     y = sad.exp(x, name="y")
        >>> print("\\n".join(line.rpartition("  ")[0] for line in graph.to_tree().splitlines()))
        y  exp  float32[]
        └─ x  placeholder  float32[]
        """
        return tree(self._chosen("to_tree", of, limit))

    def to_dot(self, of: Any = None, limit: int = 500) -> str:
        """The graph in the language of Graphviz, with scopes and bodies as clusters.

        Forward nodes are blue, gradients orange, state green.  of, limit, errors: as `to_tree`.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     y = sad.exp(1.0, name="y")
        >>> graph.to_dot().splitlines()[0]
        'digraph {'
        """
        return dot(self._chosen("to_dot", of, limit))

    def to_svg(self, of: Any = None, limit: int = 500) -> str:
        """The graph as a picture: forward nodes run down, gradients up beside them.

        Nodes of one outermost scope stand in a rectangle.  of, limit, errors: as `to_tree`.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     y = sad.exp(1.0, name="y")
        >>> graph.to_svg().startswith("<svg")
        True
        """
        return svg(self._chosen("to_svg", of, limit))

    def _repr_svg_(self) -> str:
        """What notebooks show."""
        return svg(self._chosen("_repr_svg_", None, IN_NOTEBOOKS))

    def _chosen(self, asked: str, of: Any, limit: int) -> Chosen:
        with asking(asked):
            return chosen(cast("Graph", self), of, limit)
