"""Bessel functions of integer order: J, and the modified I and K, plain and scaled.

Abramowitz and Stegun: power series 9.1.10, 9.6.10 and 9.6.13, Hankel's asymptotic expansions 9.2.5
and 9.7.1, the recurrences 9.1.27 (backwards after J. C. P. Miller, 9.12) and 9.6.26, and for scaled
ones the integrals 9.6.19 and 9.6.24 by the trapezoidal rule, which is exact for what is periodic
or rises above rounding.
"""

from __future__ import annotations

BESSEL = {
    # (x / 2)**n / n! times the sum of (sign x**2 / 4)**k n! / (k! (n + k)!).
    "special_bessel_series": """
double special_bessel_series(const double x, const int n, const double sign) {
  const double square = sign * (0.25 * x * x);
  double term = 1.0, total = 1.0, power = 1.0;
  for (int k = 1; k < 4000 && fabs(term) > 1e-18 * fabs(total); ++k) {
    term *= square / ((double)k * (n + k));
    total += term;
  }
  for (int k = 1; k <= n; ++k) power *= 0.5 * x / k;
  return power * total;
}
""",
    # The asymptotic sums of even and of odd powers of i / x (of -1 / x for turn = 0, in one).
    "special_hankel": """
double special_hankel(const double x, const int n, const int turn, double *odd) {
  double term = 1.0, even = 1.0;
  *odd = 0.0;
  for (int k = 1; k < 100 && fabs(term) > 1e-18; ++k) {
    term *= (4.0 * n * n - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * k * x);
    if (!turn) even += k % 2 ? -term : term;
    else if (k % 2) *odd += k % 4 == 1 ? term : -term;
    else even += k % 4 == 0 ? term : -term;
  }
  return even;
}
""",
    "special_jv": """
double special_jv(const double x, const int n) {
  const double a = fabs(x), flip = x < 0.0 && n % 2 ? -1.0 : 1.0;
  if (isinf(a)) return flip * 0.0;
  if (a * a < 4.0 * (n + 1.0)) return flip * special_bessel_series(a, n, -1.0);
  double before = 0.0, here = 0.0;
  if (a > 25.0 && a > n) {
    const double sine = sin(a), cosine = cos(a), scale = 0.5641895835477563 / sqrt(a);
    for (int k = 0; k < 2; ++k) {
      double odd;
      const double even = special_hankel(a, k, 1, &odd);
      const double sum = sine + cosine, rest = sine - cosine;
      before = here;
      here = (k ? even * rest + odd * sum : even * sum - odd * rest) * scale;
    }
    if (n == 0) return before;
    for (int k = 1; k < n; ++k) {
      const double next = 2.0 * k / a * here - before;
      before = here;
      here = next;
    }
    return flip * here;
  }
  // Backwards from where it is nearly 0, up to a factor, which the sum of all even ones tells.
  const double top = fmax(a, (double)n);
  double found = 0.0, total = 0.0;
  here = 1e-250;
  for (int k = 2 * (int)(0.5 * top + 12.0 + sqrt(10.0 * top)); k >= 0; --k) {
    if (k == n) found = here;
    if (k % 2 == 0) total += k ? 2.0 * here : here;
    const double next = 2.0 * k / a * here - before;
    before = here;
    here = next;
    if (fabs(here) > 1e250) {
      here *= 1e-250;
      before *= 1e-250;
      found *= 1e-250;
      total *= 1e-250;
    }
  }
  return a != a ? a : flip * (found / total);
}
""",
    "special_iv": """
double special_iv(const double x, const int n) {
  const double a = fabs(x);
  double value;
  if (isinf(a)) value = a;
  else if (a > 30.0 + 0.5 * n * n) {
    const double root = exp(0.5 * fmin(a, 2000.0));
    double odd;
    value = root * (root * (special_hankel(a, n, 0, &odd) / (2.5066282746310002 * sqrt(a))));
  } else value = special_bessel_series(a, n, 1.0);
  return n % 2 ? copysign(value, x) : value;
}
""",
    "special_ive": """
double special_ive(const double x, const int n, const int order) {
  const double a = fabs(x), side = x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
  const double flip = (n + order) % 2 ? side : 1.0;
  if (isinf(a)) return flip * 0.0;
  if (order == 0) {
    double odd;
    if (a > 30.0) return flip * (special_hankel(a, n, 0, &odd) / (2.5066282746310002 * sqrt(a)));
    return flip * (special_bessel_series(a, n, 1.0) * exp(-a));
  }
  const double reach = 45.0 / fmax(a, 1e-300);
  const double width = reach < 1.0 ? 2.0 * asin(sqrt(0.5 * reach)) : 3.141592653589793;
  double total = 0.0;
  for (int k = 0; k <= 64; ++k) {
    const double angle = width * (k / 64.0), sine = sin(0.5 * angle);
    const double fall = -2.0 * sine * sine;
    double value = exp(a * fall) * (n ? 1.0 + fall : 1.0);
    for (int j = 0; j < order; ++j) value *= fall;
    total += k % 64 ? value : 0.5 * value;
  }
  return flip * (total * (width / (64.0 * 3.141592653589793)));
}
""",
    # exp(x) times K of the orders 0 and 1, for positive x.
    "special_k_start": """
double special_k_start(const double x, double *one) {
  double zero = 0.0;
  *one = 0.0;
  if (x <= 1.0) {
    const double square = 0.25 * x * x;
    double term = 1.0, even = 0.0, odd = 0.0, harmonic = 0.0;
    for (int k = 0; k < 14; ++k) {
      even += term;
      odd += term / (k + 1);
      zero += term * harmonic;
      harmonic += 1.0 / (k + 1);
      term *= square / ((k + 1.0) * (k + 1.0));
    }
    zero += (0.11593151565841245 - log(x)) * even;
    *one = exp(x) * ((1.0 / x - 0.5 * x * odd * zero) / even);
    return exp(x) * zero;
  }
  if (isinf(x)) return 0.0;
  const double width = 2.0 * asinh(sqrt(22.5 / x));
  for (int k = 0; k <= 20; ++k) {
    const double grown = expm1(width * (k / 40.0)), sine = 0.5 * (grown + grown / (1.0 + grown));
    const double rise = 2.0 * sine * sine, value = (k ? 1.0 : 0.5) * exp(-x * rise);
    zero += value;
    *one += value * (1.0 + rise);
  }
  *one *= width / 20.0;
  return zero * (width / 20.0);
}
""",
    # The exponential in two factors where one would be less than the smallest normal number.
    "special_kv": """
double special_kv(const double x, const int n) {
  if (!(x > 0.0)) return x == 0.0 ? (double)INFINITY : (double)NAN;
  double here, before = special_k_start(x, &here);
  const double factor = exp(x > 700.0 ? -0.5 * x : -x);
  before *= factor;
  here *= factor;
  for (int k = 1; k < n; ++k) {
    const double next = before + 2.0 * k / x * here;
    before = here;
    here = next;
  }
  return (n ? here : before) * (x > 700.0 ? factor : 1.0);
}
""",
    # Near 0 by Leibniz' rule, of exp(x) K and sums of neighbours.
    "special_kve": """
double special_kve(const double x, const int n, const int order) {
  const double sign = order % 2 ? -1.0 : 1.0;
  if (!(x > 0.0)) return x == 0.0 ? sign * (double)INFINITY : (double)NAN;
  if (isinf(x)) return 0.0;
  double total = 0.0;
  if (order == 0 || x <= 1.0) {
    double near[22];
    near[0] = special_k_start(x, &near[1]);
    if (order == 0) return near[n];
    for (int k = 1; k < n + order; ++k) near[k + 1] = near[k - 1] + 2.0 * k / x * near[k];
    if (isinf(near[n + order])) return sign * (double)INFINITY;
    double outer = 1.0;
    for (int j = 0; j <= order; ++j) {
      double inner = outer;
      for (int i = 0; i <= j; ++i) {
        total += inner * near[abs(n - j + 2 * i)];
        inner = inner * (j - i) / (i + 1);
      }
      outer = outer * -0.5 * (order - j) / (j + 1);
    }
    return total;
  }
  const double width = 2.0 * asinh(sqrt(22.5 / x));
  for (int k = 0; k <= 64; ++k) {
    const double grown = expm1(width * (k / 128.0)), sine = 0.5 * (grown + grown / (1.0 + grown));
    const double rise = 2.0 * sine * sine;
    double value = exp(-x * rise) * (n ? 1.0 + rise : 1.0) * (k ? 1.0 : 0.5);
    for (int j = 0; j < order; ++j) value *= -rise;
    total += value;
  }
  return total * (width / 64.0);
}
""",
}
