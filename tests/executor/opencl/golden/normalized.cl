
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

__kernel void region_0(const int n0, const int n1, const int n2, const __global float *operand0_, const ulong operand0_at, const int n5, const uint known4, __global float *output0_, const ulong output0_at) {
  const __global float *operand0 = operand0_ + operand0_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_group_id(0);
  const int first = unit * n2;
  const int last = min(first + n2, n1);
  for (int row = first; row < last; ++row) {
    float8 a1 = (float8)((-INFINITY));
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v2 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n5 + c))->v : pick_float32_8(operand0 + row * n5 + c, 1, count);
      const float8 v3 = select(((float8)(0.0f) - v2), v2, (v2 > (float8)(0.0f)));
      const float8 v4 = select((float8)((-INFINITY)), v3, ((int8)(0, 1, 2, 3, 4, 5, 6, 7) < (int8)(count)));
      const float8 v5 = count >= 8 ? v3 : v4;
      a1 = select(a1, v5, ((v5 > a1) | (v5 != v5)));
    }
    float4 a6 = select(a1.lo, a1.hi, ((a1.hi > a1.lo) | (a1.hi != a1.hi)));
    float2 a7 = select(a6.lo, a6.hi, ((a6.hi > a6.lo) | (a6.hi != a6.hi)));
    float a8 = (((a7.hi > a7.lo) | (a7.hi != a7.hi)) ? a7.hi : a7.lo);
    float8 a9 = (float8)(0.0f);
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v10 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n5 + c))->v : pick_float32_8(operand0 + row * n5 + c, 1, count);
      const float v11 = ((a8 > 1.7592185e+13f) & ((a8 < INFINITY) & (a8 > 0.0f))) ? as_float(((int)(254) - clamp((as_int(a8) >> 23), (int)1, (int)253)) << 23) : 1.0f;
      const float8 v12 = (v10 * (float8)(v11));
      const float8 v13 = select((float8)(0.0f), v12, ((int8)(0, 1, 2, 3, 4, 5, 6, 7) < (int8)(count)));
      const float8 v14 = count >= 8 ? v12 : v13;
      a9 = (a9 + v14);
    }
    float4 a15 = (a9.lo + a9.hi);
    float2 a16 = (a15.lo + a15.hi);
    float a17 = (a16.lo + a16.hi);
    float8 a18 = (float8)(0.0f);
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v19 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n5 + c))->v : pick_float32_8(operand0 + row * n5 + c, 1, count);
      const float v20 = ((a8 > 1.7592185e+13f) & ((a8 < INFINITY) & (a8 > 0.0f))) ? as_float(((int)(254) - clamp((as_int(a8) >> 23), (int)1, (int)253)) << 23) : 1.0f;
      const float8 v21 = (v19 * (float8)(v20));
      const float v22 = (a17 / as_float(known4));
      const float8 v23 = (v21 - (float8)(v22));
      const float8 v24 = (v23 * v23);
      const float8 v25 = select((float8)(0.0f), v24, ((int8)(0, 1, 2, 3, 4, 5, 6, 7) < (int8)(count)));
      const float8 v26 = count >= 8 ? v24 : v25;
      a18 = (a18 + v26);
    }
    float4 a27 = (a18.lo + a18.hi);
    float2 a28 = (a27.lo + a27.hi);
    float a29 = (a28.lo + a28.hi);
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v30 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n5 + c))->v : pick_float32_8(operand0 + row * n5 + c, 1, count);
      const float v31 = ((a8 > 1.7592185e+13f) & ((a8 < INFINITY) & (a8 > 0.0f))) ? as_float(((int)(254) - clamp((as_int(a8) >> 23), (int)1, (int)253)) << 23) : 1.0f;
      const float8 v32 = (v30 * (float8)(v31));
      const float v33 = (a17 / as_float(known4));
      const float8 v34 = (v32 - (float8)(v33));
      const float v35 = (a29 / as_float(known4));
      const float v36 = (1e-05f * v31);
      const float v37 = (v36 * v31);
      const float v38 = (v35 + v37);
      const float v39 = sqrt(v38);
      const float v40 = (1.0f / v39);
      const float8 v41 = (v34 * (float8)(v40));
      if (count >= 8) ((__global struct __attribute__((packed, aligned(4))) { float8 v; } *)(output0 + row * n0 + c))->v = v41; else put_float32_8(output0 + row * n0 + c, v41, count);
    }
  }
}
