"""Every elementwise op as a function, under its array-API name.

Generated from the registry, so that a new op appears here by itself.  `make docs` writes what
their docstrings add to the ops' own (elementwise_docs.py), and what type checkers read
(elementwise.pyi).
"""

from .functions import elementwise_ops, function

__all__ = [definition.name for definition in elementwise_ops()]

globals().update({definition.name: function(definition) for definition in elementwise_ops()})
