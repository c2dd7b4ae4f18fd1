"""Samples of the quantiles: shapes and probabilities of all sizes, ends of ranges."""

from __future__ import annotations

import numpy as np

from .samples import Table
from .samples_special import at, over_ranges

inf, nan = np.inf, np.nan


SAMPLES: Table = {
    "log_gamma_quantile": [
        *over_ranges((0.4, 4.0), (0.1, 0.9), wide=[(20.0, 60.0), (0.1, 0.9)]),
        at(
            [1.0, 1.0, 1.0, 0.0, inf, -1.0, 1.0, nan, 0.5, 1e-3],
            [0.0, 1.0, 0.75, 0.5, 0.5, 0.5, 1.5, 0.5, nan, 0.25],
            to=[
                -inf,
                inf,
                0.3266342599782809825,
                -inf,
                inf,
                nan,
                nan,
                nan,
                nan,
                -1386.8707547181739595,
            ],
        ),
    ],
    "ndtri_exp": [
        *over_ranges((-4.0, -0.5)),
        at(
            [0.0, -inf, 1.0, nan, -1000.0],
            to=[inf, -inf, nan, nan, -44.61574773196940302],
        ),
    ],
    "poisson_quantile": [
        *over_ranges((0.4, 9.0), (0.1, 0.9)),
        at(
            [2.0, 2.0, 2.0, 0.0, -1.0, inf, nan, 2.0, 4e6],
            [0.5, 0.0, 1.0, 0.5, 0.5, 0.5, 0.5, nan, 0.975],
            to=[2, 0, inf, 0, nan, nan, nan, nan, 4003920],
        ),
    ],
    "binomial_quantile": [
        *over_ranges((2.2, 6.8), (0.1, 0.9), (0.1, 0.9)),
        at(
            [10.0, 10.0, 10.0, 0.0, -1.0, 2.5, 5.0, 5.0, inf],
            [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 1.0, 0.5],
            [0.5, 0.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
            to=[5, 0, 10, 0, nan, 1, nan, 5, nan],
        ),
    ],
}
