
float8 pick_float32_8(const __global float *p, long stride, int count) {
  float t[8];
  for (int k = 0; k < 8; ++k) t[k] = k < count ? p[k * stride] : (float)0;
  return ((const __private struct __attribute__((packed, aligned(4))) { float8 v; } *)(t))->v;
}

void put_float32_8(__global float *p, const float8 v, int count) {
  float t[8];
  ((__private struct __attribute__((packed, aligned(4))) { float8 v; } *)(t))->v = v;
  for (int k = 0; k < 8; ++k) if (k < count) p[k] = t[k];
}

__kernel void region_0(const int n0, const int n1, const int n2, __local float *kept3, const __global float *operand0_, const ulong operand0_at, const int n6, __global float *output0_, const ulong output0_at) {
  const __global float *operand0 = operand0_ + operand0_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_group_id(0);
  const int first = unit * n2;
  const int last = min(first + n2, n1);
  for (int row = first; row < last; ++row) {
    float8 a1 = (float8)((-INFINITY));
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v2 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n6 + c))->v : pick_float32_8(operand0 + row * n6 + c, 1, count);
      const float8 v3 = select((float8)((-INFINITY)), v2, ((int8)(0, 1, 2, 3, 4, 5, 6, 7) < (int8)(count)));
      const float8 v4 = count >= 8 ? v2 : v3;
      a1 = select(a1, v4, ((v4 > a1) | (v4 != v4)));
    }
    float4 a5 = select(a1.lo, a1.hi, ((a1.hi > a1.lo) | (a1.hi != a1.hi)));
    float2 a6 = select(a5.lo, a5.hi, ((a5.hi > a5.lo) | (a5.hi != a5.hi)));
    float a7 = (((a6.hi > a6.lo) | (a6.hi != a6.hi)) ? a6.hi : a6.lo);
    float8 a8 = (float8)(0.0f);
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v9 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n6 + c))->v : pick_float32_8(operand0 + row * n6 + c, 1, count);
      const float8 v10 = (v9 - (float8)(a7));
      const float8 v11 = exp(v10);
      const float8 v12 = select((float8)(0.0f), v11, ((int8)(0, 1, 2, 3, 4, 5, 6, 7) < (int8)(count)));
      const float8 v13 = count >= 8 ? v11 : v12;
      a8 = (a8 + v13);
      vstore8(v11, 0, kept3 + c);
    }
    float4 a14 = (a8.lo + a8.hi);
    float2 a15 = (a14.lo + a14.hi);
    float a16 = (a15.lo + a15.hi);
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v17 = vload8(0, kept3 + c);
      const float8 v18 = (v17 / (float8)(a16));
      if (count >= 8) ((__global struct __attribute__((packed, aligned(4))) { float8 v; } *)(output0 + row * n0 + c))->v = v18; else put_float32_8(output0 + row * n0 + c, v18, count);
    }
  }
}
