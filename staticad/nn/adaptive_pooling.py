"""Pooling whose windows follow from how many there are to be, down to one over everything."""

from __future__ import annotations

from staticad_schema.shapes import product
from staticad_schema.sites import asking

from .. import methods
from ..building import build
from ..operands import Operand, result, tensor
from ..tensor import Tensor
from .spatial import any_image


def global_avg_pool(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The mean over all spatial axes, which stay with size 1.

    x: (batch, channels, *sizes), of any number of spatial axes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.global_avg_pool([[[[1.0, 2.0], [3.0, 6.0]]]])
    >>> sad.Session(graph).run(y)
    array([[[[3.]]]], dtype=float32)
    """
    with asking("global_avg_pool", name):
        image = any_image(tensor("global_avg_pool", x))
        return result(methods.mean(image, tuple(range(2, image.ndim)), True, name))


def global_max_pool(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The largest element over all spatial axes, which stay with size 1.

    x: (batch, channels, *sizes), of any number of spatial axes.  Of equal elements the first
    gets all of the gradient, as in pooling elsewhere; `sad.max` shares it.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.global_max_pool([[[[1.0, 2.0], [3.0, 6.0]]]])
    >>> sad.Session(graph).run(y)
    array([[[[6.]]]], dtype=float32)
    """
    with asking("global_max_pool", name):
        image = any_image(tensor("global_max_pool", x))
        flat = methods.reshape(image, (*image.shape[:2], product(image.shape[2:])))
        place = build("argmax", (flat,), {"axis": 2, "keepdims": True})
        found = build("take_along_axis", (flat, place), {"axis": 2})
        return result(methods.reshape(found, (*image.shape[:2], *(1,) * (image.ndim - 2)), name))
