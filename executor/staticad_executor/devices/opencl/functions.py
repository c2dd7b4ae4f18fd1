"""Functions in OpenCL C that kernels call; `@` stands for the number of lanes, nothing for one."""

from __future__ import annotations

from types import MappingProxyType

# Nearest even of the 11 bits of a half float.  Below its normal numbers the step is 2**-24, which
# is that of float32 around a half.
ROUND_HALF = """
float@ to_half@(const float@ x) {
  const uint@ bits = as_uint@(x);
  const float@ size = fabs(x);
  const uint@ up = (bits & 0x7fffffffU) + 0xfffU + ((bits >> 13) & 1U);
  float@ near = as_float@(up & ~0x1fffU);
  near = select(near, (float@)(INFINITY), near >= (float@)(65536.0f));
  near = select(near, (size + 0.5f) - 0.5f, size < (float@)(0x1p-14f));
  near = copysign(near, x);
  return select(near, x, x != x);
}
"""

# Towards 0, and the last bit set where that changes x: what this is rounded to, with at least two
# bits fewer, is what x is rounded to.
TO_ODD = """
float@ to_odd@(const double@ x) {
  const float@ near = convert_float@(x);
  const double@ back = convert_double@(near);
  uint@ bits = as_uint@(near);
  bits = select(bits, bits - 1U, convert_int@(fabs(back) > fabs(x)));
  return as_float@(select(bits, bits | 1U, convert_int@(back != x)));
}
"""

_NEXT = """
float@ next_NAME@(const float@ x, const float@ y) {
  const float@ zero = (float@)(0.0f), size = fabs(x);
  const uint@ bits = as_uint@(size);
  float@ more = as_float@(bits + STEPU), less = as_float@(bits - STEPU);
  EDGES
  const int@ outward = ((x > zero) & (y > x)) | ((x < zero) & (y < x));
  float@ near = copysign(select(less, more, outward), x);
  near = select(near, copysign((float@)(LEAST), y), x == zero);
  near = select(near, x, x == y);
  return select(near, x + y, (x != x) | (y != y));
}
"""
# Below its normal numbers the step of a half float is always the same, above them is infinity.
_HALF_EDGES = """more = select(more, size + 0x1p-24f, size < (float@)(0x1p-14f));
  more = select(more, (float@)(INFINITY), more > (float@)(65504.0f));
  less = select(less, size - 0x1p-24f, size <= (float@)(0x1p-14f));
  less = select(less, (float@)(65504.0f), size > (float@)(65504.0f));"""


def _next(name: str, step: str, least: str, edges: str) -> str:
    text = _NEXT.replace("NAME", name).replace("STEP", step).replace("LEAST", least)
    return text.replace("  EDGES\n", f"  {edges}\n" if edges else "")


# The neighbours of half floats, which registers hold as float32.
NEXT = MappingProxyType(
    {
        "float16": _next("float16", "0x2000", "0x1p-24f", _HALF_EDGES),
        "bfloat16": _next("bfloat16", "0x10000", "0x1p-133f", ""),
    }
)

# Nearest even of the 8 bits of a bfloat16; a NaN stays one.
ROUND_BFLOAT = """
float@ to_bfloat@(const float@ x) {
  const uint@ bits = as_uint@(x);
  const uint@ near = (bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U;
  return select(as_float@(near), x, x != x);
}
"""

# Half floats as they lie in memory: to float32 without arithmetic on what is not normal there, and
# back, to the nearest even.
HALF_VALUE = """
float@ half_value@(const uint@ bits) {
  const uint@ size = (bits & 0x7fffU) << 13;
  float@ x = as_float@(size + 0x38000000U);
  x = select(x, as_float@(size + 0x38800000U) - 0x1p-14f, size < (uint@)(0x800000U));
  x = select(x, as_float@(size | 0x7f800000U), size >= (uint@)(0xf800000U));
  return as_float@(as_uint@(x) | (bits & 0x8000U) << 16);
}
"""
HALF_BITS = """
ushort@ half_bits@(const float@ x) {
  const uint@ bits = as_uint@(x), size = bits & 0x7fffffffU;
  uint@ near = (size - 0x38000000U + 0xfffU + ((size >> 13) & 1U)) >> 13;
  const uint@ small = convert_uint@(rint(fmin(fabs(x), (float@)(1.0f)) * 0x1p24f));
  near = select(near, small, size < (uint@)(0x38800000U));
  near = select(near, (uint@)(0x7c00U), size >= (uint@)(0x47800000U));
  near = select(near, 0x7e00U | ((size >> 13) & 0x3ffU), x != x);
  return convert_ushort@(near | ((bits >> 16) & 0x8000U));
}
"""

BFLOAT_BITS = """
uint@ bfloat_bits@(const float@ x) {
  const uint@ bits = as_uint@(x);
  const uint@ near = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return select(near, ((bits >> 16) & 0x8000U) | 0x7fc0U, x != x);
}
"""

# Reduction by three parts of pi/2, of so few digits that products with the quadrant are exact;
# polynomials of the Cephes library.  Contraction is free here: no result of an op depends on it
# by more than these functions' own rounding.  The
# driver's own for what is far from 0, and for no other lanes: PoCL's are wrong for small numbers
# beside large ones.
_QUADRANT = """
#pragma OPENCL FP_CONTRACT ON
  const float@ n = rint(x * 0.636619772f);
  float@ r = x - n * 1.5703125f;
  r = r - n * 4.837512969970703125e-4f;
  r = r - n * 7.54978995489188216e-8f;
  const int@ k = convert_int@(n);
  const float@ z = r * r;
  float@ s = z * -1.9515295891e-4f + 8.3321608736e-3f;
  s = s * z - 1.6666654611e-1f;
  s = s * z * r + r;
  float@ c = z * 2.443315711809948e-5f - 1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  c = c * z * z + (1.0f - 0.5f * z);
"""
_FAR = """
  const int@ far = !(fabs(x) < (float@)(8192.0f));
  if (ANY(far)) y = select(y, %s(x), far);
  return y;
}
"""

SINE = MappingProxyType(
    {
        "sin": "\nfloat@ vector_sin@(const float@ x) {"
        + _QUADRANT
        + "  float@ y = select(s, c, (k & 1) != 0);\n"
        "  y = as_float@(as_int@(y) ^ ((k & 2) << 30));\n"
        # The sign of -0 would be lost to a sum.
        "  y = select(y, x, x == (float@)(0.0f));" + _FAR % "sin",
        "cos": "\nfloat@ vector_cos@(const float@ x) {"
        + _QUADRANT
        + "  float@ y = select(c, s, (k & 1) != 0);\n"
        "  y = as_float@(as_int@(y) ^ (((k + 1) & 2) << 30));" + _FAR % "cos",
        "tan": "\nfloat@ vector_tan@(const float@ x) {"
        + _QUADRANT
        + "  float@ y = select(s, -c, (k & 1) != 0) / select(c, s, (k & 1) != 0);\n"
        "  y = select(y, x, x == (float@)(0.0f));" + _FAR % "tan",
    }
)

# Powers of integers: they wrap, and those of negative exponents are rounded towards zero.
INTEGER_POWER = """
{kind} integer_power_{kind}(const {kind} x, const {kind} y) {{
  if (y < 0) return x == 1 ? 1 : x == ({kind})-1 ? ((y & 1) != 0 ? ({kind})-1 : 1) : 0;
  ulong power = 1, base = (ulong)x;
  for (ulong n = (ulong)y; n != 0; n >>= 1) {{
    if ((n & 1) != 0) power *= base;
    base *= base;
  }}
  return ({kind})power;
}}
"""
