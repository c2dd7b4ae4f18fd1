"""Functions and layers of neural networks."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from .activations import gelu, log_softmax, relu, relu6, sigmoid, softmax, tanh
from .layers import dense, dropout, layer_norm
from .losses import cross_entropy

__all__ = [
    "cross_entropy",
    "dense",
    "dropout",
    "gelu",
    "layer_norm",
    "log_softmax",
    "relu",
    "relu6",
    "sigmoid",
    "softmax",
    "tanh",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("nn", name)
