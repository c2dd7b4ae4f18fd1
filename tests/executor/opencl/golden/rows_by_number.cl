
__kernel void region_0(const int n0, const int n1, const int n2, const int n3, const __global long *operand1_, const ulong operand1_at, const int n6, volatile __global uint *flag_, const ulong flag_at, const __global float *operand0_, const ulong operand0_at, const int n11, __global float *output0_, const ulong output0_at) {
  const __global long *operand1 = operand1_ + operand1_at;
  volatile __global uint *flag = flag_ + flag_at;
  const __global float *operand0 = operand0_ + operand0_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_global_id(0);
  const int part = 0;
  const int first = (unit) * n2;
  const int last = min(first + n2, n1);
  const int start = part * n3;
  const int stop = min(start + n3, n0);
  for (int row = first; row < last; ++row) {
    for (int c = start; c < stop; c += 1) {
      const long v1 = (operand1 + row)[0];
      const int i2 = (long)v1 >= -(long)n6 && (long)v1 < (long)n6;
      if (!i2) atomic_max(flag, 1U);
      const int i3 = (int)v1;
      const int i4 = i3 < 0 ? i3 + n6 : i3;
      float v5 = 0.0f;
      if (i2) {
        const float v6 = (operand0 + i4 * n11 + c)[0];
        v5 = v6;
      }
      (output0 + row * n0 + c)[0] = v5;
    }
  }
}
