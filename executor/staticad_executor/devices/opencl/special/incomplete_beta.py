"""The regularised incomplete beta function, with derivatives in its shapes.

By the continued fraction (9) of A. R. DiDonato and A. H. Morris, "Algorithm 708: Significant digit
computation of the incomplete beta function ratios" (1992), as W. Lentz sums it, from the side of
the mean on which x is; for large shapes, and for derivatives, by the double exponential rule over
what the op's meaning integrates, see `incomplete_gamma`.

Derivatives of order i in one shape and j in the other are at 7 i + j in arrays.
"""

from __future__ import annotations

INCOMPLETE_BETA = {
    # log(beta) of positive numbers.
    "special_betaln_right": """
double special_betaln_right(const double a, const double b) {
  if (fmax(a, b) >= 10.0) return special_betaln_far(fmin(a, b), fmax(a, b));
  double total = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double one = special_gammaln(k == 0 ? a : k == 1 ? b : a + b);
    total += k == 2 ? -one : one;
  }
  return total;
}
""",
    # log(x), where y = 1 - x may be the more exact of the two.
    "special_log_of": """
double special_log_of(const double x, const double y) {
  return x > 0.5 ? log1p(-y) : log(x);
}
""",
    # x**a y**b gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1)).
    "special_binomial": """
double special_binomial(const double a, const double b, const double x, const double y) {
  const double n = a + b;
  double rest = 0.0;
  if (a < 10.0 || b < 10.0) {
    for (int k = 0; k < 2; ++k) {
      const double power = k ? b : a;
      if (power != 0.0) rest += power * special_log_of(k ? y : x, k ? x : y);
    }
    return exp(rest - special_betaln_right(a + 1.0, b + 1.0)) / (n + 1.0);
  }
  rest = special_stirling(n) - special_stirling(a) - special_stirling(b) - 0.9189385332046727;
  for (int k = 0; k < 2; ++k) rest -= special_deviance(k ? b : a, n * (k ? y : x));
  return exp(rest) * sqrt(n / a / b);
}
""",
    # For what u the integrand over t = x exp(-u) has decayed.
    "special_beta_scale": """
double special_beta_scale(const double a, const double b, const double x, const double y) {
  const double bend = fmax(b - 1.0, 0.0) * (x / y), slope = a + 1.0 - bend;
  return 2.0 / (slope + sqrt(slope * slope + 2.0 * bend / y));
}
""",
    # What the integral from 0 to x, less than the mean, is of special_binomial.
    "special_beta_fraction": """
double special_beta_fraction(const double a, const double b, const double x, const double y) {
  double total = 0.0;
  // Of these the fraction needs many terms.
  if (a + b > 1e4 || b < 0.5) {
    const double scale = special_beta_scale(a, b, x, y);
    for (int k = 0; k < 148; ++k) {
      double times;
      const double u = special_node(k, scale, &times);
      const double rise = log1p(-x / y * expm1(-u));
      total += times * exp((b - 1.0) * rise - (a + 1.0) * u);
    }
    return x / y * b * total + b / (a + b);
  }
  double upper = a * (a * y - b * x + 1.0) / (a + 1.0), lower = 0.0, factor = 0.0;
  total = upper;
  for (int m = 1; m < 1000 && fabs(factor - 1.0) > 1e-16; ++m) {
    const double place = a + 2 * m, part = m * (b - m) * x / (place - 1.0);
    const double above = part * (a + (m - 1)) * (a + b + (m - 1)) * x / (place - 1.0);
    const double rest = (a + m) * (a * y - b * x + 1.0 + m * (1.0 + y)) / (place + 1.0);
    const double below = m + part + rest;
    lower = 1.0 / (below + above * lower);
    upper = below + above / upper;
    factor = upper * lower;
    total *= factor;
  }
  return a * b / (a + b) / total;
}
""",
    # 1 - I_x where that is small: of a small a and where b x is small, too.  By the power
    # series 8.17.7, whose first factor is near 1; of log(a beta(a, b)) by the integral of
    # digamma from 0 to a, for three points of Gauss.
    "special_beta_rest": """
double special_beta_rest(const double a, const double b, const double x) {
  double term = 1.0, total = 0.0, logarithm = log(x);
  for (int k = 1; k < 100 && fabs(term) > 1e-18; ++k) {
    term *= (k - b) * x / k;
    total += term / (a + k);
  }
  for (int k = 0; k < 6; ++k) {
    const double place = a * (0.5 + (k % 3 - 1) * 0.3872983346207417);
    const double one = special_digamma(1.0 + (k < 3 ? place : b + place));
    logarithm -= (k < 3 ? one : -one) * (k % 3 == 1 ? 4.0 / 9.0 : 5.0 / 18.0);
  }
  return -expm1(a * logarithm - log1p(a / b) + log1p(a * total));
}
""",
    # I_x for upper = 0, its complement for upper = 1.
    "special_beta_part": """
double special_beta_part(const double a, const double b, const double x, const int upper) {
  if (!(a >= 0.0 && b >= 0.0 && x >= 0.0 && x <= 1.0)) return (double)NAN;
  const int low = a == 0.0 || isinf(b), high = b == 0.0 || isinf(a);
  if (low && high) return (double)NAN;
  // All that there is lies at one end.
  if (x == 0.0 || x == 1.0) return (x == 1.0) != upper ? 1.0 : 0.0;
  if (low || high) return low != upper ? 1.0 : 0.0;
  const double y = 1.0 - x;
  const int mirrored = x * (a + b) > a;
  const double p = mirrored ? b : a, q = mirrored ? a : b;
  const double s = mirrored ? y : x, t = mirrored ? x : y;
  double part = fmin(special_binomial(p, q, s, t) * special_beta_fraction(p, q, s, t), 1.0);
  // Near the end at which a small shape has nearly all.
  const int end = q < 0.01 && fmax(p, 1.0) * t < 0.5;
  if (end || (mirrored != upper && p < 0.01 && part > 0.5)) {
    const double rest = special_beta_rest(end ? q : p, end ? p : q, end ? t : s);
    if (!end) return rest;
    part = rest;
  }
  return mirrored == upper ? part : 1.0 - part;
}
""",
    "special_betainc": """
double special_betainc(const double a, const double b, const double x) {
  return special_beta_part(a, b, x, 0);
}
""",
    "special_betaincc": """
double special_betaincc(const double a, const double b, const double x) {
  return special_beta_part(a, b, x, 1);
}
""",
    # Derivatives of log(x**a y**b gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1))).
    "special_beta_cumulants": """
void special_beta_cumulants(const double a, const double b, const double x, const double y,
                            double *c, const int m, const int n) {
  for (int i = 0; i <= m; ++i)
    for (int j = 0; j <= n; ++j) {
      if (i + j == 0) continue;
      if (i > 0 && j > 0) {
        c[7 * i + j] = special_polygamma(a + b + 1.0, i + j - 1);
        continue;
      }
      double one = special_step_right((i > 0 ? a : b) + 1.0, i > 0 ? b : a, i + j - 1);
      if (i + j == 1) one += special_log_of(i > 0 ? x : y, i > 0 ? y : x);
      c[7 * i + j] = one;
    }
}
""",
    # Derivatives of exp(f) over itself: one derivative gives the first factor, the others are
    # those of a product.
    "special_beta_powers": """
void special_beta_powers(const double *c, double *p, const int m, const int n) {
  p[0] = 1.0;
  for (int i = 0; i <= m; ++i)
    for (int j = i == 0 ? 1 : 0; j <= n; ++j) {
      const int u = i > 0 ? i - 1 : 0, v = i > 0 ? j : j - 1, step = i > 0 ? 7 : 1;
      double total = 0.0, times = 1.0;
      for (int s = 0; s <= u; ++s) {
        double choices = times;
        for (int t = 0; t <= v; ++t) {
          total += choices * c[7 * s + t + step] * p[7 * (u - s) + v - t];
          choices = choices * (v - t) / (t + 1);
        }
        times = times * (u - s) / (s + 1);
      }
      p[7 * i + j] = total;
    }
}
""",
    # The derivative of 1 / n.
    "special_inverse_slope": """
double special_inverse_slope(const double n, const int k) {
  double value = k < 0 ? 0.0 : 1.0 / n;
  for (int i = 1; i <= k; ++i) value *= -i / n;
  return value;
}
""",
    # The derivative of b / (a + b), or of a b / (a + b), times exp(f), over it.
    "special_beta_product": """
double special_beta_product(const double a, const double b, const double *p, const int m,
                            const int n, const int harmonic) {
  double total = 0.0, times = 1.0;
  for (int i = 0; i <= m; ++i) {
    double choices = times;
    for (int j = 0; j <= n; ++j) {
      const double one = special_inverse_slope(a + b, i + j);
      const double before = special_inverse_slope(a + b, i + j - 1);
      double value = b * one + j * before;
      if (harmonic) {
        value = a * b * one + (i * b + j * a) * before;
        value += i * j * special_inverse_slope(a + b, i + j - 2);
      } else if (j > 0 && (i == 0 || a < b)) {
        // The same of 1 - a / (a + b).
        value = -a * one - i * before;
      }
      total += choices * value * p[7 * (m - i) + n - j];
      choices = choices * (n - j) / (j + 1);
    }
    times = times * (m - i) / (i + 1);
  }
  return total;
}
""",
    # The derivative of I_x of order m in a and n in b, not both 0.
    "special_betainc_slope": """
double special_betainc_slope(double a, double b, double x, int m, int n) {
  if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0)) return (double)NAN;
  if (x == 0.0 || x == 1.0) return 0.0;
  if (isinf(a) || isinf(b)) return (double)NAN;
  double y = 1.0 - x, total = 0.0, c[49], p[49];
  special_beta_cumulants(a, b, x, y, c, m, n);
  // The side where the first derivative's integrand has one sign.
  const int mirrored = m >= n ? c[7] >= 0.0 : c[1] < 0.0;
  if (mirrored) {
    double other = a;
    a = b;
    b = other;
    other = x;
    x = y;
    y = other;
    for (int k = 0; k < 49; ++k) p[k] = c[k];
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 7; ++j) c[7 * i + j] = p[7 * j + i];
    const int order = m;
    m = n;
    n = order;
  }
  const double scale = special_beta_scale(a, b, x, y), in_a = c[7], in_b = c[1];
  for (int k = 0; k < 148; ++k) {
    double times;
    const double u = special_node(k, scale, &times);
    const double rise = log1p(-x / y * expm1(-u)), phase = exp((b - 1.0) * rise - (a + 1.0) * u);
    c[7] = in_a - u;
    c[1] = in_b + rise;
    special_beta_powers(c, p, m, n);
    const double factor = b * p[7 * m + n] + (n > 0 ? n * p[7 * m + n - 1] : 0.0);
    if (phase > 0.0) total += times * phase * factor;
  }
  c[7] = in_a;
  c[1] = in_b;
  special_beta_powers(c, p, m, n);
  total = x / y * total + special_beta_product(a, b, p, m, n, 0);
  return (mirrored ? -1.0 : 1.0) * special_binomial(a, b, x, y) * total;
}
""",
    # The derivative of the density at x = 0, of order m in a and n in b.
    "special_beta_edge": """
double special_beta_edge(const double a, const double b, const int m, const int n) {
  const double end = (m + n) % 2 == 0 ? (double)INFINITY : -(double)INFINITY;
  if (!(a <= 1.0)) return a > 1.0 ? 0.0 : a;
  if (a == 1.0) return m > 0 ? (m % 2 == 0 ? (double)INFINITY : -(double)INFINITY)
                             : n == 0 ? b : n == 1 ? 1.0 : 0.0;
  if (a == 0.0) return m == 0 ? 0.0 : m % 2 == 0 ? -(double)INFINITY : (double)INFINITY;
  if (m > 0) return m % 2 == 0 ? (double)INFINITY : -(double)INFINITY;
  return n == 0 ? (double)INFINITY : -end;
}
""",
    # x**(a - 1) (1 - x)**(b - 1) / beta(a, b), or its derivative of order m in a and n in b.
    "special_beta_density": """
double special_beta_density(const double a, const double b, const double x, const int m,
                            const int n) {
  if (!(a >= 0.0 && b >= 0.0)) return (double)NAN;
  if (x == 0.0) return special_beta_edge(a, b, m, n);
  if (x == 1.0) return special_beta_edge(b, a, n, m);
  if (!(a > 0.0 && b > 0.0 && x > 0.0 && x < 1.0) || isinf(a) || isinf(b)) return (double)NAN;
  const double y = 1.0 - x, weight = special_binomial(a, b, x, y) / x / y;
  double c[49], p[49];
  special_beta_cumulants(a, b, x, y, c, m, n);
  special_beta_powers(c, p, m, n);
  return weight * special_beta_product(a, b, p, m, n, 1);
}
""",
}
