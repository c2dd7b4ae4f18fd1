"""digamma, its derivatives and their differences, and the zeta functions of Hurwitz and Riemann.

Abramowitz and Stegun, 6.3 and 6.4; the zeta function by the formula of Euler and Maclaurin,
23.2.3, from where its terms fall off.
"""

from __future__ import annotations

from .tables import table

# B_2k / (2 k) and B_2k / (2 k)!.
_DIGAMMA = (
    0.08333333333333333, -0.008333333333333333, 0.003968253968253968, -0.004166666666666667,
    0.007575757575757576, -0.021092796092796094, 0.08333333333333333, -0.4432598039215686,
    3.0539543302701198,
)  # fmt: skip
_EULER = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
    2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11,
    -3.3896802963225827e-13, 8.586062056277845e-15, -2.174868698558062e-16,
    5.5090028283602295e-18, -1.3954464685812522e-19,
)  # fmt: skip

# zeta(1 + x) - 1 / x: NIST Digital Library of Mathematical Functions, 25.2.4.
_LAURENT = (
    0.5772156649015329, 0.07281584548367673, -0.00484518159643616, -0.00034230573671722433,
    9.689041939447084e-05, -6.6110318108421895e-06, -3.316240908752772e-07,
    1.0462094584479188e-07, -8.733218100273798e-09, 9.47827778276236e-11, 5.658421927608708e-11,
    -6.768689863513697e-12, 3.4921159366720317e-13, 4.4104247417577536e-15,
    -2.3997862217709992e-15, 2.1677312200726828e-16, -9.544466076366965e-18,
    -7.387676660538637e-20, 4.800850782488065e-20, -4.139956737713306e-21,
)  # fmt: skip

POLYGAMMA = {
    "special_digamma_c": table("special_digamma_c", _DIGAMMA),
    "special_euler_c": table("special_euler_c", _EULER),
    "special_laurent_c": table("special_laurent_c", _LAURENT),
    "special_digamma": """
double special_digamma(const double x) {
  const double y = x < -0.5 ? -x : x;
  double top = 0.0, bottom = 1.0, a = y;
  // The sum of the reciprocals from y on, as one quotient.
  for (; a < 10.0; a += 1.0) {
    top = top * a + bottom;
    bottom *= a;
  }
  const double inverse = 1.0 / (a * a);
  double found = log(a) - 0.5 / a - inverse * special_powers(special_digamma_c, inverse);
  found -= top / bottom;
  if (!(x < -0.5)) return found;
  const double offset = y - rint(y), size = fabs(offset);
  // cot near a half integer by the distance from it, which is exact.
  const double t = tan(3.141592653589793 * (size > 0.25 ? 0.5 - size : size));
  if (offset == 0.0) return (double)NAN;
  return found + 1.0 / y + 3.141592653589793 * copysign(size > 0.25 ? t : 1.0 / t, offset);
}
""",
    # factor times the sum of (q + k)**-s for q > 0 and s > 1; powers are taken by halves, so
    # that a factor keeps them in range.
    "special_hurwitz": """
double special_hurwitz(const double s, const double q, const double factor) {
  const double enough = 10.0 + 0.5 * fmin(s, 1e3);
  double total = 0.0, a = q, root = pow(a, -0.5 * s);
  while (a < enough) {
    const double term = root * factor * root;
    total += term;
    if (!(term > 1e-18 * total)) return total;
    a += 1.0;
    root = pow(a, -0.5 * s);
  }
  const double inverse = 1.0 / (a * a);
  double sum = 1.0 / (s - 1.0) + 0.5 / a, product = s * inverse;
  for (int k = 0; k < 12; ++k) {
    sum += special_euler_c[k] * product;
    product *= (s + (2 * k + 1)) * (s + (2 * k + 2)) * inverse;
  }
  return root == 0.0 ? total : total + root * (a * sum) * factor * root;
}
""",
    # The same for an integer s and any q but integers below 1: the terms of negative numbers are
    # a part of another such sum.  Near half integers those of both sides cancel, first of all.
    "special_hurwitz_line": """
double special_hurwitz_line(const double s, const double q, const double factor) {
  const double rest = -q - floor(-q), sign = fmod(s, 2.0) == 0.0 ? 1.0 : -1.0;
  double total = 0.0;
  for (int k = 0; k < (q > 0.0 ? 1 : 3); ++k) {
    const double part = q > 0.0 ? q : k == 0 ? 1.0 - rest : k == 1 ? rest : 1.0 - q;
    const double one = special_hurwitz(s, part, factor);
    total += k == 0 ? one : k == 1 ? sign * one : -sign * one;
  }
  return total;
}
""",
    "special_polygamma": """
double special_polygamma(const double x, const int order) {
  const double sign = order % 2 == 0 ? -1.0 : 1.0;
  if (x <= 0.0 && (x == floor(x) || isinf(x))) return sign * (double)INFINITY;
  double factor = 1.0;
  for (int k = 2; k <= order; ++k) factor *= k;
  return sign * special_hurwitz_line(order + 1.0, x, factor);
}
""",
    "special_zeta": """
double special_zeta(const double s, const double q) {
  if (s == 1.0) return (double)INFINITY;
  if (s < 1.0) return (double)NAN;
  if (q <= 0.0 && q == floor(q)) return (double)INFINITY;
  if (q <= 0.0 && s != floor(s)) return (double)NAN;
  return special_hurwitz_line(q < 0.0 && s > 1e10 ? 1e10 : s, q, 1.0);
}
""",
    # The reflection 25.4.1 by the duplication formula, as gamma(1 - s) overflows first.
    "special_riemann_zeta": """
double special_riemann_zeta(const double s) {
  if (s > 2.0) return special_hurwitz(s, 1.0, 1.0);
  if (s >= -0.5) return special_powers(special_laurent_c, s - 1.0) + 1.0 / (s - 1.0 + 0.0);
  const double t = 1.0 - s, turns = rint(0.5 * s);
  const double wave = sin(1.5707963267948966 * (s - 2.0 * turns));
  if (wave == 0.0) return 0.0;
  const double sign = fmod(turns, 2.0) == 0.0 ? 1.0 : -1.0;
  const double found = sign * wave * special_hurwitz(t, 1.0, 1.0);
  const double near = fmin(t, 300.0), other = 0.5 * near + 0.5;
  // pi is not the nearest float; what 1 - s and the half more lost.
  double lost = (1.0 - (t + s)) * log(t * 0.15915494309189535) - 3.8981718325193755e-17 * near;
  lost += (0.5 - (other - 0.5 * near)) * log(other);
  double scale = pow(3.141592653589793, -near) * (1.0 + lost) * 0.5641895835477563;
  for (int k = 0; k < 2; ++k) scale *= special_gamma(k == 0 ? 0.5 * near : other);
  return found * (t > near ? (double)INFINITY : scale);
}
""",
    # For positive x and x + h by the difference of each term of the recurrence and of the
    # asymptotic series.
    "special_step_right": """
double special_step_right(const double x, const double h, const int order) {
  double total = 0.0, a = x, factor = 1.0, power = order + 1.0;
  for (int k = 2; k <= order; ++k) factor *= k;
  for (int k = 0; k < 23 + order; ++k) {
    // k counts terms of the recurrence, then the integral, the half term and the series.
    const int late = k - 12 - order;
    double times = factor;
    if (late == 0) {
      power = order;
      times = order ? factor / order : -1.0;
    } else if (late == 1) {
      power = order + 1;
      times = 0.5 * factor;
    } else if (late > 1) {
      power = order + 2 * late - 2;
      factor *= late == 2 ? power - 1.0 : (power - 2.0) * (power - 1.0);
      times = factor * special_euler_c[late - 2];
    }
    const double rate = log1p(h / a);
    total += times * (late == 0 && order == 0 ? rate : pow(a, -power) * expm1(-power * rate));
    if (late < 0) a += 1.0;
  }
  return order % 2 == 0 ? 0.0 - total : total + 0.0;
}
""",
    "special_polygamma_step": """
double special_polygamma_step(const double x, const double h, const int order) {
  if (x > 0.0 && x + h > 0.0 && x + h < (double)INFINITY) return special_step_right(x, h, order);
  if (x == (double)INFINITY && fabs(h) < x) return 0.0;
  double total = 0.0;
  for (int k = 0; k < 2; ++k) {
    const double place = k == 0 ? x + h : x;
    const double one = order ? special_polygamma(place, order) : special_digamma(place);
    total += k == 0 ? one : -one;
  }
  return total;
}
""",
}
