"""Derivatives beyond one gradient: products, matrices, and functions of functions."""

from .functions import grad, jacfwd, jacrev, value_and_grad
from .implicit import fixed_point, minimize, root
from .jacobians import divergence, hessian, jacobian, laplacian
from .products import fisher_product, gauss_newton_product, hvp, linearize, vjp

__all__ = [
    "divergence",
    "fisher_product",
    "fixed_point",
    "gauss_newton_product",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "laplacian",
    "linearize",
    "minimize",
    "root",
    "value_and_grad",
    "vjp",
]
