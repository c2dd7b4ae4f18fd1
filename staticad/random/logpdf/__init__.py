"""Log densities of the distributions that `random` draws from, and log probabilities of counts.

They have gradients in x and in all parameters, to any order that the functions in them have.
Outside of the support the value is -inf and its gradient 0.
"""

from typing import TYPE_CHECKING, NoReturn

from ...elsewhere import missing
from .continuous import (
    beta,
    cauchy,
    chisquare,
    exponential,
    gamma,
    gumbel,
    laplace,
    logistic,
    lognormal,
    normal,
    student_t,
    truncated_normal,
    uniform,
    weibull,
)
from .discrete import bernoulli, binomial, categorical, geometric, poisson
from .vectors import dirichlet, multivariate_normal

__all__ = [
    "beta", "cauchy", "chisquare", "exponential", "gamma", "gumbel", "laplace", "logistic",
    "lognormal", "normal", "student_t", "truncated_normal", "uniform", "weibull",
    "bernoulli", "binomial", "categorical", "geometric", "poisson",
    "dirichlet", "multivariate_normal",
]  # fmt: skip

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("random.logpdf", name)
