"""Quantiles, which samplers are made of."""

from __future__ import annotations

QUANTILES = {
    # log x of gammainc(a, x) = u by Newton's iteration in logarithms of both, from E. B. Wilson and
    # M. M. Hilferty's cube (1931), within brackets: x**a / gamma(a + 1) exceeds the distribution.
    "special_log_gamma_quantile": """
double special_log_gamma_quantile(const double a, const double u) {
  if (!(a >= 0.0 && u >= 0.0 && u <= 1.0)) return (double)NAN;
  if (a == 0.0 && u < 1.0) return -(double)INFINITY;
  if (u == 1.0 || (isinf(a) && u > 0.0)) return (double)INFINITY;
  // Of these all numbers are the same.
  if (a > 1e31 && u > 0.0) return log(a);
  const double few = (log(u) + special_gammaln(a + 1.0)) / a;
  if (u == 0.0 || few < -40.0) return u == 0.0 ? -(double)INFINITY : few;
  const int upper = u > 0.5;
  const double wanted = upper ? 1.0 - u : u, sign = upper ? -1.0 : 1.0;
  double low = few, high = log(a + 60.0 + 12.0 * sqrt(a));
  const double cube = 1.0 - 1.0 / (9.0 * a) + special_ndtri(u, 0) / (3.0 * sqrt(a));
  double y = cube > 0.1 ? log(a) + 3.0 * log(cube) : few;
  for (int k = 0; k < 100; ++k) {
    if (!(y >= low && y <= high)) y = 0.5 * (low + high);
    const double x = exp(y), value = special_gamma_part(a, x, upper);
    const double apart = log(value / wanted);
    if (sign * apart > 0.0) high = y;
    else low = y;
    const double step = sign * apart * value / (a * special_poisson(a, x));
    // What is left behind Newton's step is a multiple of its square.
    y -= step;
    if (fabs(step) < 1e-9 * (1.0 + fabs(y)) || high - low < 1e-15 * fabs(low)) break;
  }
  return y;
}
""",
}
