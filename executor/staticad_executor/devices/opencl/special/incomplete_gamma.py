"""The regularised incomplete gamma functions, with derivatives in the shape.

By the series 6.5.29 of Abramowitz and Stegun, the continued fraction 6.5.31 contracted, and for
large shapes near x, of which both need many terms, by the double exponential rule: H. Takahasi and
M. Mori, "Double Exponential Formulas for Numerical Integration" (1974).  Derivatives are integrals
by the same rule, of what the op's meaning integrates: the density times the polynomials of log t
less its mean that derivatives of exp(f) are of those of f (complete Bell polynomials).
"""

from __future__ import annotations

import math

from .tables import table

INCOMPLETE_GAMMA = {
    "special_factorials_c": table(
        "special_factorials_c", [1 / math.factorial(k) for k in range(2, 17)]
    ),
    # exp(u) - 1 - u.
    "special_expm1_rest": """
double special_expm1_rest(const double u) {
  return fabs(u) < 0.5 ? u * u * special_powers(special_factorials_c, u) : expm1(u) - u;
}
""",
    # The nodes of the integral of a function of u from 0 to infinity that decays by scale, and
    # their weights.
    "special_node": """
double special_node(const int k, const double scale, double *weight) {
  const double place = k / 18.0 - 3.8, far = exp(-place), u = scale * exp(place - far);
  *weight = u * (1.0 + far) / 18.0;
  return u;
}
""",
    # exp(-x) x**a / gamma(a + 1); the power in halves, as it may overflow where the exponential
    # vanishes.
    "special_poisson": """
double special_poisson(const double a, const double x) {
  if (a >= 10.0)
    return exp(-special_stirling(a) - special_deviance(a, x) - 0.9189385332046727) / sqrt(a);
  const double part = pow(fmin(x, 1e4), 0.5 * a) * exp(-0.5 * x);
  return part * part / special_gamma(a + 1.0);
}
""",
    # The integral over t = x exp(v) of the density over that at x, by u = abs(v), on one side.
    "special_gamma_scale": """
double special_gamma_scale(const double a, const double x, const int left) {
  const double slope = left ? a + 1.0 - x : x - a;
  return 2.0 / (slope + sqrt(slope * slope + 2.0 * x));
}
""",
    # What the density at t is of that at x.
    "special_gamma_phase": """
double special_gamma_phase(const double a, const double x, const double v, const int left) {
  return exp((a - x + left) * v - x * special_expm1_rest(v));
}
""",
    # P for upper = 0, Q for upper = 1.
    "special_gamma_part": """
double special_gamma_part(const double a, const double x, const int upper) {
  if (!(a >= 0.0 && x >= 0.0)) return (double)NAN;
  if (a == 0.0 || isinf(a)) {
    if (a == x) return (double)NAN;
    return (a == 0.0) == upper ? 0.0 : 1.0;
  }
  if (x == 0.0 || isinf(x)) return (x == 0.0) == upper ? 1.0 : 0.0;
  const double weight = special_poisson(a, x);
  double total = 0.0, term = 1.0;
  // The side that is found.
  int right = x > 1.1 && x > a;
  if (a > 2000.0 && fabs(x - a) < 0.3 * a) {
    const double scale = special_gamma_scale(a, x, !right);
    for (int k = 0; k < 148; ++k) {
      double times;
      const double u = special_node(k, scale, &times);
      total += times * special_gamma_phase(a, x, right ? u : -u, !right);
    }
    total = weight * (right ? a * total : 1.0 + x * total);
  } else if (right) {
    // From its start: as many steps as its convergence asks for.
    int k = 10 + (int)fmin(400.0, 200.0 / x + 9.0 * sqrt(a));
    double fraction = x - a + (2 * k + 1);
    for (; k > 0; --k) fraction = x - a + (2 * k - 1) - k * (k - a) / fraction;
    total = weight * a / fraction;
  } else if (upper && x <= 1.1 && x > 0.7 * a) {
    // What 1 - P would cancel, by 6.5.29 for small x.
    for (int k = 1; k < 20; ++k) {
      term *= -x / k;
      total += term / (a + k);
    }
    double up, down;
    double rest = a * log(x) - special_gamma_near(a < 0.5 ? a : a + 1.0, &up, &down);
    rest += a < 0.5 ? log1p(a) : -log(up);
    total = -expm1(rest) - exp(rest) * a * total;
    right = 1;
  } else {
    for (int k = 1; k < 2000 && term > 1e-17 * total; ++k) {
      total += term;
      term *= x / (a + k);
    }
    total *= weight;
  }
  total = fmin(total, 1.0);
  return right == upper ? total : 1.0 - total;
}
""",
    "special_gammainc": """
double special_gammainc(const double a, const double x) { return special_gamma_part(a, x, 0); }
""",
    "special_gammaincc": """
double special_gammaincc(const double a, const double x) { return special_gamma_part(a, x, 1); }
""",
    # log(x) - digamma(a + 1).
    "special_log_excess": """
double special_log_excess(const double x, const double a) {
  if (a < 10.0) return log(x) - special_digamma(a + 1.0);
  const double inverse = 1.0 / (a * a);
  return special_log_ratio(x, a) - 0.5 / a + inverse * special_powers(special_digamma_c, inverse);
}
""",
    # y[k]: the derivative of exp(f) of order k over exp(f), of c[k], that of f of order k + 1.
    "special_bell": """
void special_bell(const double *c, double *y, const int order) {
  y[0] = 1.0;
  for (int n = 0; n < order; ++n) {
    double choices = 1.0, total = 0.0;
    for (int k = 0; k <= n; ++k) {
      total += choices * y[n - k] * c[k];
      choices = choices * (n - k) / (k + 1);
    }
    y[n + 1] = total;
  }
}
""",
    "special_gamma_cumulants": """
void special_gamma_cumulants(const double a, const double x, double *c, const int order) {
  c[0] = special_log_excess(x, a);
  for (int k = 1; k < order; ++k) c[k] = -special_polygamma(a + 1.0, k);
}
""",
    # The derivative of P in a, of an order of at least 1.
    "special_gammainc_slope": """
double special_gammainc_slope(const double a, const double x, const int order) {
  if (!(a >= 0.0 && x >= 0.0) || (isinf(a) && isinf(x)) || (x == 0.0 && a == 0.0))
    return (double)NAN;
  if (x == 0.0 || isinf(x) || isinf(a)) return 0.0;
  double c[8], y[9], total = 0.0;
  special_gamma_cumulants(a, x, c, order);
  const double start = c[0], weight = special_poisson(a, x);
  const int left = start < 0.0;
  const double scale = special_gamma_scale(a, x, left);
  for (int k = 0; k < 148; ++k) {
    double times;
    const double u = special_node(k, scale, &times), v = left ? -u : u;
    const double phase = special_gamma_phase(a, x, v, left);
    c[0] = start + v;
    special_bell(c, y, order);
    const double factor = left ? y[order] : a * y[order] + order * y[order - 1];
    if (phase > 0.0) total += times * phase * factor;
  }
  c[0] = start;
  special_bell(c, y, order);
  if (left) return weight * (x * total + y[order]);
  return weight == 0.0 ? 0.0 : -weight * total;
}
""",
    # x**(a - 1) exp(-x) / gamma(a), or its derivative in a.
    "special_gamma_density": """
double special_gamma_density(const double a, const double x, const int order) {
  if (!(a >= 0.0 && x >= 0.0) || (isinf(a) && isinf(x))) return (double)NAN;
  if (isinf(x) || isinf(a) || (x == 0.0 && a > 1.0)) return 0.0;
  const double weight = special_poisson(a, x);
  if (order == 0) {
    if (a == 0.0) return 0.0;
    if (a >= 10.0 || x > 500.0 || a < 1e-300) return weight == 0.0 ? 0.0 : weight * (a / fabs(x));
    // Without the factor a: below 1 the power is large where the function is.
    return pow(x, a - 1.0) * exp(-x) / special_gamma(a);
  }
  if (x == 0.0) return ((order % 2 == 0) == (a == 0.0) ? -1.0 : 1.0) * (double)INFINITY;
  double c[8], y[9];
  special_gamma_cumulants(a, x, c, order);
  special_bell(c, y, order);
  return weight / x * (a * y[order] + order * y[order - 1]);
}
""",
}
