"""The gamma and beta functions and their logarithms.

Between 1.5 and 2.5 by the logarithm's Chebyshev series over its two zeros, which others are
shifted to; far from 0 by Stirling's series (Abramowitz and Stegun, 6.1.37 and 6.1.41), left of it
by reflection, 6.1.17.  The series was computed with 40 digits, and ends where double precision
does.
"""

from __future__ import annotations

from .tables import table

# log(gamma(2 + z)) / (z (1 + z)) in 2 z.
_LOG = (
    0.42702679007974553, -0.05136266063271509, 0.004283865121771959, -0.00040868943087787814,
    4.189889214014742e-05, -4.4884162278409e-06, 4.950359592304836e-07, -5.572882261152328e-08,
    6.369038926367588e-09, -7.363280290999341e-10, 8.590324630704468e-11,
    -1.0095630921452502e-11, 1.1936859013748236e-12, -1.4186121794476558e-13,
    1.693301639270074e-14, -2.0288519799922935e-15, 2.43899034401661e-16,
    -2.940688354710887e-17, 3.554929051822112e-18,
)  # fmt: skip
# Of log(gamma) in odd powers of 1 / x.
_STIRLING = (
    0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
    0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242,
    0.17964437236883057,
)  # fmt: skip
# Of gamma in powers of 1 / x.
_GAMMA = (
    1.0, 0.08333333333333333, 0.003472222222222222, -0.0026813271604938273,
    -0.00022947209362139917, 0.0007840392217200666, 6.972813758365857e-05,
    -0.0005921664373536939, -5.171790908260592e-05, 0.0008394987206720873, 7.204895416020011e-05,
)  # fmt: skip

GAMMA = {
    "special_log_c": table("special_log_c", _LOG),
    "special_stirling_c": table("special_stirling_c", _STIRLING),
    "special_gamma_c": table("special_gamma_c", _GAMMA),
    # The logarithm of gamma(y) * down / up, for y >= -0.5 that is not large.
    "special_gamma_near": """
double special_gamma_near(const double y, double *up, double *down) {
  double z = y - 2.0;
  *up = 1.0;
  *down = 1.0;
  if (y < 0.5) {
    z = y;
    *down = y * (y + 1.0);
  } else if (y < 1.5) {
    z = y - 1.0;
    *down = y;
  }
  while (z > 0.5) {
    z -= 1.0;
    *up *= z + 2.0;
  }
  return z * (1.0 + z) * special_series(special_log_c, 2.0 * z);
}
""",
    # What is left of log(gamma(a)) by Stirling's formula, for a >= 10.
    "special_stirling": """
double special_stirling(const double a) {
  return special_powers(special_stirling_c, 1.0 / (a * a)) / a;
}
""",
    "special_gammaln": """
double special_gammaln(const double x) {
  if (isinf(x)) return (double)INFINITY;
  const double y = x < -0.5 ? -x : x;
  double found;
  if (y < 10.0) {
    double up, down;
    found = special_gamma_near(y, &up, &down);
    found += up > 1.0 ? log(up) : -log(fabs(down));
  } else {
    found = (y - 0.5) * (log(y) - 1.0) + 0.4189385332046727 + special_stirling(y);
  }
  if (!(x < -0.5)) return found;
  const double sine = fabs(sin(3.141592653589793 * (y - rint(y))));
  return sine == 0.0 ? (double)INFINITY : log(3.141592653589793 / (y * sine)) - found;
}
""",
    "special_gamma": """
double special_gamma(const double x) {
  const double y = x < -0.5 ? -x : x;
  double found = (double)INFINITY;
  if (y < 20.0) {
    double up, down;
    const double near = special_gamma_near(y, &up, &down);
    found = exp(near) * up / down;
  } else if (!(y > 180.0)) {
    // The power may overflow before its product does.
    const double root = pow(y, 0.5 * y - 0.25);
    const double series = special_powers(special_gamma_c, 1.0 / y);
    found = root * (exp(-y) * (2.5066282746310002 * series)) * root;
  }
  if (!(x < -0.5)) return found;
  const double whole = rint(y);
  const double sine = sin(3.141592653589793 * (y - whole));
  if (sine == 0.0) return (double)NAN;
  return (fmod(whole, 2.0) == 0.0 ? -3.141592653589793 : 3.141592653589793) / (sine * y) / found;
}
""",
    # For positive numbers of which the larger one is at least 10, without what cancels.
    "special_betaln_far": """
double special_betaln_far(const double p, const double q) {
  const double both = p + q;
  const double rest = special_stirling(q) - special_stirling(both);
  if (p >= 10.0)
    return 0.9189385332046727 - 0.5 * log(q) + (special_stirling(p) + rest)
           - (p - 0.5) * log1p(q / p) - q * log1p(p / q);
  return special_gammaln(p) + rest + p - p * log(both) - (q - 0.5) * log1p(p / q);
}
""",
    # At a pole a limit is left where the other number is an integer too.  sign: that of beta; 0 if
    # a and b, which are changed, are to be taken as they are.
    "special_beta_pole": """
int special_beta_pole(double *a, double *b) {
  int sign = 1;
  for (int k = 0; k < 3; ++k) {
    const double p = *a, q = *b;
    const int first = p <= 0.0 && p == floor(p);
    if (!first && !(q <= 0.0 && q == floor(q))) return sign;
    const double pole = first ? p : q, other = first ? q : p;
    if (pole < -0x1p31 || fabs(other) >= 0x1p31) break;
    if (other != floor(other) || !(1.0 - p - q > 0.0)) break;
    if (fmod(other, 2.0) != 0.0) sign = -sign;
    *a = 1.0 - p - q;
    *b = other;
  }
  *a = sign * (double)INFINITY;
  return 0;
}
""",
    # log(abs(beta)); sign is that of beta.
    "special_betaln_sign": """
double special_betaln_sign(double a, double b, int *sign) {
  *sign = special_beta_pole(&a, &b);
  if (*sign == 0) return a;
  const double p = fabs(a) < fabs(b) ? a : b, q = fabs(a) < fabs(b) ? b : a;
  if (p > 0.0 && q >= 10.0 && q < (double)INFINITY) return special_betaln_far(p, q);
  double total = 0.0;
  const int far = q > 1e6 * fmax(fabs(p), 1.0);
  for (int k = 0; k < (far ? 1 : 3); ++k) {
    const double x = k == 0 ? p : k == 1 ? q : p + q, one = special_gammaln(x);
    total += k == 2 ? -one : one;
    if (x != floor(x) && fmod(floor(x), 2.0) == -1.0) *sign = -*sign;
  }
  return far ? total - p * log(q) + p * (1.0 - p) / (2.0 * q) : total;
}
""",
    "special_betaln": """
double special_betaln(const double a, const double b) {
  int sign;
  const double found = special_betaln_sign(a, b, &sign);
  return sign == 0 ? (double)INFINITY : found;
}
""",
    "special_beta": """
double special_beta(const double a, const double b) {
  const double low = fmin(fabs(a), fabs(b)), high = fmax(fabs(a), fabs(b));
  if (high > 20.0 || low < 1e-300 || (high >= 10.0 && a > 0.0 && b > 0.0)) {
    int sign;
    const double found = special_betaln_sign(a, b, &sign);
    return sign == 0 ? found : sign * exp(found);
  }
  double p = a, q = b, found = special_beta_pole(&p, &q);
  if (found == 0.0) return p;
  for (int k = 0; k < 3; ++k) {
    const double x = k == 0 ? fmin(p, q) : k == 1 ? p + q : fmax(p, q);
    const double one = special_gamma(x);
    found = k != 1 ? found * one : x <= 0.0 && x == floor(x) ? 0.0 * found : found / one;
  }
  return found;
}
""",
}
