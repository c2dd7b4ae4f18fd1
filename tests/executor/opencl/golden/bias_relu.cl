
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

__kernel void region_0(const int n0, const int n1, const int n2, const int n3, const __global float *operand0_, const ulong operand0_at, const int n6, const __global float *operand1_, const ulong operand1_at, __global float *output0_, const ulong output0_at) {
  const __global float *operand0 = operand0_ + operand0_at;
  const __global float *operand1 = operand1_ + operand1_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_global_id(0);
  const int part = 0;
  const int first = (unit) * n2;
  const int last = min(first + n2, n1);
  const int start = part * n3;
  const int stop = min(start + n3, n0);
  for (int row = first; row < last; ++row) {
    for (int c = start; c < stop; c += 8) {
      const int count = min(stop - c, (int)8);
      const float8 v1 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n6 + c))->v : pick_float32_8(operand0 + row * n6 + c, 1, count);
      const float8 v2 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand1 + c))->v : pick_float32_8(operand1 + c, 1, count);
      const float8 v3 = (v1 + v2);
      const float8 v4 = select(v3, (float8)(0.0f), (v3 <= (float8)(0.0f)));
      if (count >= 8) ((__global struct __attribute__((packed, aligned(4))) { float8 v; } *)(output0 + row * n0 + c))->v = v4; else put_float32_8(output0 + row * n0 + c, v4, count);
    }
  }
}
