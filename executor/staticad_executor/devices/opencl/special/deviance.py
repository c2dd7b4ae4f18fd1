"""Logarithms of quotients and deviances, with their digits where two numbers are nearly equal."""

from __future__ import annotations

DEVIANCE = {
    # A quotient that leaves the range is a difference of logarithms.
    "special_log_ratio": """
double special_log_ratio(const double x, const double y) {
  const double ratio = x / y;
  if (fabs(ratio - 1.0) < 0.5) return log1p((x - y) / y);
  const int plain = ratio > 1e-300 && ratio < 1e300;
  return log(plain ? ratio : x) - (plain ? 0.0 : log(y));
}
""",
    # x log(x / mean) + mean - x.  C. Loader, "Fast and Accurate Computation of Binomial
    # Probabilities" (2000).
    "special_deviance": """
double special_deviance(const double x, const double mean) {
  const double apart = (x - mean) / (x + mean), square = apart * apart;
  if (fabs(apart) < 0.1) {
    double series = 0.0;
    for (int k = 9; k > 0; --k) series = (series + 1.0 / (2 * k + 1)) * square;
    return (x - mean) * apart + 2.0 * x * apart * series;
  }
  return x == 0.0 ? mean : x * special_log_ratio(x, mean) + (mean - x);
}
""",
}
