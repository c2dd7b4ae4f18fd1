"""erfcx, the inverse of erf in both tails, and the normal distribution by them.

J. L. Schonfelder, "Chebyshev expansions for the error and related functions" (1978): a series of
(1 + 2 x) erfcx(x) in (x - 3.75) / (x + 3.75), after M. M. Shepherd and J. G. Laframboise (1981).
The series here were computed with 40 digits, and end where double precision does.
"""

from __future__ import annotations

from .tables import table

_ERFCX = (
    1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189,
    -0.026658668435305753, 0.009074997670705265, -0.002413163540417608, 0.0004907758365258086,
    -6.916973302501207e-05, 4.13902798607301e-06, 7.74038306619849e-07, -2.1886401049234397e-07,
    1.076499946567091e-08, 4.521959811218287e-09, -7.754400208831351e-10,
    -6.318088340886684e-11, 2.86879501093067e-11, 1.9455868545777347e-13, -9.65469674843344e-13,
    3.25254814814874e-14, 3.3478119482868056e-14, -1.864562880419313e-15,
    -1.2507950530688648e-15, 7.418235256624044e-17, 5.068148904796111e-17,
    -2.2370566594359995e-18,
)  # fmt: skip
# erfinv(x) / x in 8 x**2 - 1, for abs(x) <= 1 / 2.
_NEAR = (
    0.9187256117350144, 0.03375857560006542, 0.0013206742781165998, 6.404076996787596e-05,
    3.441212150449627e-06, 1.9639319431763806e-07, 1.1660992270753084e-08,
    7.120387036722737e-10, 4.4393783156625655e-11, 2.8127938621948305e-12,
    1.8051946908097276e-13, 1.1707093852711806e-14, 7.658493022440133e-16,
    5.046812059932414e-17, 3.3466401083134628e-18,
)  # fmt: skip
# erfcinv(p) / w of w = sqrt(-log p), which is between 0.83 and 27.4, in a fraction of w.
_FAR = (
    0.871746107251343, 0.18619726008761112, -0.08046660827232564, 0.025413085770030323,
    -0.006640727543783396, 0.001298070193325822, -9.957681235182114e-05, -6.800800976060619e-05,
    4.686417224600504e-05, -1.9367006241967158e-05, 6.093116676661405e-06,
    -1.4414567296170194e-06, 1.7374700764076062e-07, 5.6284364714702426e-08,
    -5.248813375709067e-08, 2.4563172089201243e-08, -8.622532931986367e-09,
    2.311600121540379e-09, -3.890555659797032e-10, -3.654371045564217e-11,
    6.713446278238586e-11, -3.6372969429334856e-11, 1.4011777931451175e-11,
    -4.196827337439163e-12, 8.700316756614029e-13, -2.994614799892919e-14, -8.7647060219528e-14,
    5.673438800169378e-14, -2.430777610829354e-14, 7.942531556974056e-15, -1.94422647209482e-15,
    2.1429249998593517e-16, 1.0175155738780429e-16, -9.074772815136276e-17,
    4.278882149829493e-17, -1.552035895657557e-17,
)  # fmt: skip

ERROR_FUNCTIONS = {
    "special_erfcx_c": table("special_erfcx_c", _ERFCX),
    "special_erfcx": """
double special_erfcx(const double x) {
  if (x < -26.7) return (double)INFINITY;
  const double a = fabs(x), square = x * x;
  const double t = 1.0 - 7.5 / (a + 3.75);
  const double y = 0.5 * special_series(special_erfcx_c, t) / (0.5 + a);
  // What the square lost is a factor.
  return x < 0.0 ? 2.0 * exp(square) * (1.0 + fma(x, x, -square)) - y : y;
}
""",
    # Right of 1 by ratios of one order to the order before it, from a distant one down; the
    # recurrence loses digits there (Abramowitz and Stegun, 7.2.5).
    "special_erfcx_slope": """
double special_erfcx_slope(const double x, const int order) {
  double here = special_erfcx(x), before = here;
  if (x > 1.0) {
    const int n = 10 + order + (int)(220.0 / (x * x));
    double ratio = 1.0 / (x + sqrt(x * x + 2.0 * n));
    for (int k = n - 1; k > 0; --k) {
      ratio = 0.5 / (x + (k + 1) * ratio);
      if (k <= order) here *= -2.0 * k * ratio;
    }
    return here;
  }
  here = 2.0 * x * here - 1.1283791670955126;
  for (int k = 1; k < order; ++k) {
    const double next = 2.0 * x * here + 2.0 * k * before;
    before = here;
    here = next;
  }
  return here;
}
""",
    "special_near_c": table("special_near_c", _NEAR),
    "special_far_c": table("special_far_c", _FAR),
    # erfcinv(exp(-w**2)) for w of at least 0.83.
    "special_erfc_far": """
double special_erfc_far(const double w) {
  const double t = 1.3635679337598796 - 11.416033120060218 / (w + 4.0);
  return w * special_series(special_far_c, t);
}
""",
    # The y with erf(y) = x; low is the smaller one of 1 - x and 1 + x, which may be more exact.
    "special_erf_root": """
double special_erf_root(const double low, const double x) {
  if (low > 0.5) return x * special_series(special_near_c, 8.0 * x * x - 1.0);
  return copysign(special_erfc_far(sqrt(-log(low))), x);
}
""",
    "special_erfinv": """
double special_erfinv(const double x) { return special_erf_root(1.0 - fabs(x), x); }
""",
    "special_erfcinv": """
double special_erfcinv(const double x, const int order) {
  const double y = special_erf_root(x < 1.0 ? x : 2.0 - x, -(x - 1.0));
  if (order == 0) return y;
  return x == 0.0 ? -(double)INFINITY : -0.8862269254527580 * special_erfcx(y) / x;
}
""",
    "special_normal_hazard": """
double special_normal_hazard(const double x) {
  return 0.7978845608028654 / special_erfcx(x * -0.7071067811865476);
}
""",
    "special_ndtri": """
double special_ndtri(const double x, const int order) {
  const double low = 2.0 * (x < 0.5 ? x : 1.0 - x);
  const double y = 1.4142135623730951 * special_erf_root(low, 2.0 * x - 1.0);
  if (order == 0) return y;
  return x == 0.0 ? (double)INFINITY : 1.0 / (special_normal_hazard(y) * x);
}
""",
    "special_log_ndtr": """
double special_log_ndtr(const double x) {
  const double scaled = 0.5 * special_erfcx(fabs(x) * 0.7071067811865476), root = 0.5 * x * x;
  return x < 0.0 ? log(scaled) - root : log1p(-scaled * exp(-root));
}
""",
    # What lies farther out than floats of a probability do: x**2 = v + log erfcx(x), whose right
    # side hardly changes.
    "special_ndtri_exp": """
double special_ndtri_exp(const double y) {
  const double v = -0.6931471805599453 - y;
  if (v < 740.0) {
    const double p = exp(y), q = -expm1(y);
    return 1.4142135623730951 * special_erf_root(2.0 * fmin(p, q), p - q);
  }
  double x = sqrt(v);
  for (int k = 0; k < 5 && v < (double)INFINITY; ++k) x = sqrt(v + log(special_erfcx(x)));
  return y != y ? y : -1.4142135623730951 * x;
}
""",
}
