"""Every elementwise op as a function, under its array-API name.

Generated from the registry, so that a new op appears here by itself; elementwise.pyi, which
is generated too, says the same to type checkers.
"""

from .functions import elementwise_ops, function

__all__ = [definition.name for definition in elementwise_ops()]

globals().update({definition.name: function(definition) for definition in elementwise_ops()})
