"""Special functions under the names of `scipy.special`, with gradients in all real parameters."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from ..ops.arithmetic import sinc
from .bessel import i0, i0e, i1, i1e, iv, j0, j1, jv, k0, k0e, k1, k1e, kn
from .entropies import (
    entr,
    kl_div,
    log_softmax,
    logsumexp,
    rel_entr,
    softmax,
    xlog1py,
    xlogy,
)
from .exponentials import exp1, expi, expit, exprel, log_expit, logit
from .gamma import (
    beta,
    betainc,
    betaincc,
    betaln,
    digamma,
    gamma,
    gammainc,
    gammaincc,
    gammaln,
    polygamma,
    zeta,
)
from .normal import erf, erfc, erfcinv, erfcx, erfinv, log_ndtr, ndtr, ndtri

__all__ = [
    # gamma, beta, zeta
    "beta", "betainc", "betaincc", "betaln", "digamma", "gamma", "gammainc", "gammaincc",
    "gammaln", "polygamma", "zeta",
    # error functions, the normal distribution
    "erf", "erfc", "erfcinv", "erfcx", "erfinv", "log_ndtr", "ndtr", "ndtri",
    # Bessel functions
    "i0", "i0e", "i1", "i1e", "iv", "j0", "j1", "jv", "k0", "k0e", "k1", "k1e", "kn",
    # exponentials
    "exp1", "expi", "expit", "exprel", "log_expit", "logit", "sinc",
    # entropies
    "entr", "kl_div", "log_softmax", "logsumexp", "rel_entr", "softmax", "xlog1py", "xlogy",
]  # fmt: skip

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("special", name)
