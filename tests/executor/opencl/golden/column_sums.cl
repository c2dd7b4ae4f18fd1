
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

__kernel void region_0(const int n0, const int n1, const int n2, const __global float *operand0_, const ulong operand0_at, const int n5, __global float *scratch0_, const ulong scratch0_at) {
  const __global float *operand0 = operand0_ + operand0_at;
  __global float *scratch0 = scratch0_ + scratch0_at;
  const int unit = get_group_id(0);
  const int first = unit * n2;
  const int last = min(first + n2, n1);
  for (int row = first; row < last; ++row) {
    for (int c = 0; c < n0; c += 8) {
      const int count = min(n0 - c, (int)8);
      const float8 v1 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand0 + row * n5 + c))->v : pick_float32_8(operand0 + row * n5 + c, 1, count);
      const float8 v2 = (v1 * v1);
      float8 a3 = v2;
      if (row != first) {
        const float8 v4 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(scratch0 + unit * n0 + c))->v : pick_float32_8(scratch0 + unit * n0 + c, 1, count);
        a3 = (v4 + a3);
      }
      if (count >= 8) ((__global struct __attribute__((packed, aligned(4))) { float8 v; } *)(scratch0 + unit * n0 + c))->v = a3; else put_float32_8(scratch0 + unit * n0 + c, a3, count);
    }
  }
}

__kernel void region_rest_1(const int n0, const int n1, const int n2, const int n3, __global float *scratch0_, const ulong scratch0_at, const int n6, __global float *output0_, const ulong output0_at) {
  __global float *scratch0 = scratch0_ + scratch0_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_global_id(0);
  const int first = unit * n3;
  const int last = min(first + n3, n2);
  for (int row = first; row < last; ++row) {
    const int c = row * 8;
    const int count = min(n0 - c, (int)8);
    float8 a1 = (float8)(0.0f);
    for (int step = 0; step < n1; ++step) {
      const float8 v2 = count >= 8 ? ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(scratch0 + step * n6 + c))->v : pick_float32_8(scratch0 + step * n6 + c, 1, count);
      a1 = (a1 + v2);
    }
    {
      if (count >= 8) ((__global struct __attribute__((packed, aligned(4))) { float8 v; } *)(output0 + c))->v = a1; else put_float32_8(output0 + c, a1, count);
    }
  }
}
