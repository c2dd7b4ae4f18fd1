"""Exponential integrals, and the relative exponential with its derivatives.

Abramowitz and Stegun: series 5.1.10 and 5.1.11, the continued fraction 5.1.22 contracted, the
asymptotic series 5.1.51; 13.1.2 and 13.1.27 for the relative exponential.
"""

from __future__ import annotations

EXPONENTIAL_INTEGRALS = {
    # The power may overflow where the quotient does not.
    "special_power_over": """
double special_power_over(const double x) {
  const double far = fmin(x, 2000.0), root = exp(0.5 * far);
  return x > 700.0 ? root * (root / far) : exp(x) / x;
}
""",
    "special_exp1": """
double special_exp1(const double x) {
  if (x < 0.0) return (double)NAN;
  if (x > 1.0) {
    int k = 8 + (int)(86.0 / x);
    double fraction = x + (2 * k + 1);
    for (; k > 0; --k) fraction = x + (2 * k - 1) - (double)k * k / fraction;
    return exp(-x) / fraction;
  }
  double term = -1.0, total = 0.0;
  for (int k = 1; k < 20; ++k) {
    term *= -x / k;
    total += term / k;
  }
  return total - 0.5772156649015329 - log(x);
}
""",
    "special_expi": """
double special_expi(const double x) {
  if (x < 0.0) return -special_exp1(-x);
  double term = 1.0, total = 0.0;
  if (x > 40.0) {
    for (int k = 1; k < 40 && term > 1e-18; ++k) {
      total += term;
      term *= k / x;
    }
    return special_power_over(x) * total;
  }
  for (int k = 1; k < 140 && (k < x || term > 1e-18 * total); ++k) {
    term *= x / k;
    total += term / k;
  }
  return total + (0.5772156649015329 + log(x));
}
""",
    # The integral of t**order exp(x t) over t from 0 to 1.
    "special_exprel": """
double special_exprel(const double x, const int order) {
  if (x != x) return x;
  if (order == 0) {
    if (x > 700.0) return special_power_over(x);
    return x == 0.0 ? 1.0 : expm1(x) / x;
  }
  const double reach = 10.0 + order;
  double term = 1.0, total = 0.0;
  if (fabs(x) <= reach) {
    // All terms are positive; left of 0 those of exp(-x) times it.
    for (int k = 0; k < 160 && term > 1e-19 * total; ++k) {
      total += x > 0.0 ? term / (order + 1 + k) : term;
      term *= x > 0.0 ? x / (k + 1) : -x / (order + 2 + k);
    }
    return x > 0.0 ? total : exp(x) * total / (order + 1);
  }
  if (isinf(x)) return fmax(x, 0.0);
  // By parts, of a positive x over its power, which may be infinite.
  const double power = x > 0.0 ? 1.0 : exp(x), root = exp(0.5 * fmax(x, 0.0));
  total = (x > 0.0 ? -1.0 : 1.0) * expm1(-fabs(x)) / x;
  for (int k = 1; k <= order; ++k) total = (power - k * total) / x;
  return root * (root * total);
}
""",
}
