"""Tables of coefficients, and the two ways in which polynomials are summed."""

from __future__ import annotations

from collections.abc import Sequence


def table(name: str, numbers: Sequence[float]) -> str:
    """The declaration of an array of doubles."""
    return f"\n__constant double {name}[] = {{{', '.join(map(repr, map(float, numbers)))}}};\n"


POLYNOMIALS = {
    "special_horner": """
double special_horner(__constant double *c, const int n, const double x) {
  double y = 0.0;
  for (int k = n - 1; k >= 0; --k) y = y * x + c[k];
  return y;
}
""",
    "special_powers": """
#define special_powers(c, x) special_horner(c, (int)(sizeof(c) / sizeof(double)), x)
""",
    # C. W. Clenshaw, "A note on the summation of Chebyshev series" (1955).
    "special_chebyshev": """
double special_chebyshev(__constant double *c, const int n, const double t) {
  double y = 0.0, before = 0.0;
  for (int k = n - 1; k > 0; --k) {
    const double next = 2.0 * t * y - before + c[k];
    before = y;
    y = next;
  }
  return t * y - before + c[0];
}
""",
    "special_series": """
#define special_series(c, t) special_chebyshev(c, (int)(sizeof(c) / sizeof(double)), t)
""",
}
