"""Graphs for readers: as a tree, a picture, and in the language of Graphviz."""

from .methods import Views

__all__ = ["Views"]
