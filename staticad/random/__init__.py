"""Random tensors: other numbers in every run, the same in every process and on every device.

A node's numbers follow from the graph's seed, the node's explicit name with its scope (without
one: its scope and its ordinal among the scope's random nodes), and the number of the run.
"""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from . import logpdf
from .basic import bernoulli, bits, normal, randint, uniform
from .choices import categorical, choice, permutation
from .counts import binomial, geometric, poisson, rademacher
from .families import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    truncated_normal,
    weibull,
)
from .gammas import beta, chisquare, dirichlet, gamma, loggamma, student_t
from .vectors import multivariate_normal

__all__ = [
    "bernoulli", "bits", "normal", "randint", "uniform",
    # quantiles of uniform numbers
    "cauchy", "exponential", "gumbel", "laplace", "logistic", "lognormal", "truncated_normal",
    "weibull",
    # of gamma numbers
    "beta", "chisquare", "dirichlet", "gamma", "loggamma", "student_t",
    # log densities
    "logpdf",
    # vectors
    "multivariate_normal",
    # counts
    "binomial", "geometric", "poisson", "rademacher",
    # choices
    "categorical", "choice", "permutation",
]  # fmt: skip

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("random", name)
