"""Which ops are computed by functions of this folder, and what such a function needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .bessel import BESSEL
from .deviance import DEVIANCE
from .error_functions import ERROR_FUNCTIONS
from .exponential_integrals import EXPONENTIAL_INTEGRALS
from .gamma import GAMMA
from .incomplete_beta import INCOMPLETE_BETA
from .incomplete_gamma import INCOMPLETE_GAMMA
from .polygamma import POLYGAMMA
from .quantiles import QUANTILES
from .tables import POLYNOMIALS

LIBRARY: Mapping[str, str] = {
    **POLYNOMIALS,
    **ERROR_FUNCTIONS,
    **EXPONENTIAL_INTEGRALS,
    **DEVIANCE,
    **GAMMA,
    **POLYGAMMA,
    **INCOMPLETE_GAMMA,
    **INCOMPLETE_BETA,
    **BESSEL,
    **QUANTILES,
}
"""All functions and tables by name, each behind what it needs."""


class Special(NamedTuple):
    """How an op is computed.

    attributes: those that are further arguments of its function.  first: its function where all
    of them are 0 if that is another one, without them.  most: the largest value of an attribute.
    """

    function: str
    attributes: tuple[str, ...] = ()
    first: str = ""
    most: int = 1000


SPECIAL: Mapping[str, Special] = {
    "beta": Special("special_beta"),
    "beta_density": Special("special_beta_density", ("in_a", "in_b")),
    "betainc": Special("special_betainc_slope", ("in_a", "in_b"), "special_betainc"),
    "betaincc": Special("special_betaincc"),
    "betaln": Special("special_betaln"),
    "erfcinv": Special("special_erfcinv", ("order",)),
    "erfcx": Special("special_erfcx_slope", ("order",), "special_erfcx"),
    "erfinv": Special("special_erfinv"),
    "exp1": Special("special_exp1"),
    "expi": Special("special_power_over", ("order",), "special_expi"),
    "exprel": Special("special_exprel", ("order",)),
    "gamma": Special("special_gamma"),
    "gamma_density": Special("special_gamma_density", ("order",)),
    "gammainc": Special("special_gammainc_slope", ("order",), "special_gammainc"),
    "gammaincc": Special("special_gammaincc"),
    "gammaln": Special("special_gammaln"),
    "iv": Special("special_iv", ("n",)),
    "ive": Special("special_ive", ("n", "order")),
    "jv": Special("special_jv", ("n",)),
    "kv": Special("special_kv", ("n",)),
    "kve": Special("special_kve", ("n", "order")),
    "log_gamma_quantile": Special("special_log_gamma_quantile"),
    "log_ndtr": Special("special_log_ndtr"),
    "ndtri": Special("special_ndtri", ("order",)),
    "ndtri_exp": Special("special_ndtri_exp"),
    "normal_hazard": Special("special_normal_hazard"),
    "polygamma": Special("special_polygamma", ("order",), "special_digamma"),
    "polygamma_step": Special("special_polygamma_step", ("order",)),
    "riemann_zeta": Special("special_riemann_zeta", ("order",), most=0),
    "zeta": Special("special_zeta", ("order",), most=0),
}
"""The ops, which have no expression of their own."""

_NAME = re.compile(r"\bspecial_\w+")


def call(op: str, attributes: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    """The function of an op, and its arguments behind the operands."""
    special = SPECIAL[op]
    given = tuple(int(attributes[name]) for name in special.attributes)
    if not any(given) and (special.first or special.most == 0):
        return special.first or special.function, ()
    return special.function, given


def why_not_special(op: str, attributes: Mapping[str, Any]) -> str | None:
    """Why an op with these attributes has no function here; None if it has."""
    special = SPECIAL[op]
    for name in special.attributes:
        if attributes[name] > special.most:
            return f"it has no function in OpenCL C for {name}={attributes[name]}"
    return None


def needed(name: str) -> Iterator[tuple[str, str]]:
    """A function's name and text behind those that it calls, each once."""
    wanted = [name]
    for found in wanted:
        wanted += [n for n in _NAME.findall(LIBRARY[found]) if n not in wanted]
    return ((n, text) for n, text in LIBRARY.items() if n in wanted)
