
__kernel void region_0(const int n0, const int n1, const int n2, const __global float *operand0_, const ulong operand0_at, const __global float *operand1_, const ulong operand1_at, const int n7, const int n8, const int n9, const int n10, const int n11, const int n12, const __global float *operand2_, const ulong operand2_at, __global float *output0_, const ulong output0_at) {
  const __global float *operand0 = operand0_ + operand0_at;
  const __global float *operand1 = operand1_ + operand1_at;
  const __global float *operand2 = operand2_ + operand2_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_global_id(0);
  const int down = unit;
  const int across = 0;
  const int matrix = 0;
  const int part = 0;
  const __global float *left = operand0;
  const __global float *right = operand1;
  const int down0 = down * n7;
  const int downn = (int)min((int)n7, n8 - down0);
  const int across0 = across * n9;
  const int acrossn = (int)min((int)n9, n10 - across0);
  float8 total[13];
  for (int j = 0; j < acrossn; ++j) {
    const int col = (across0 + j) * 16;
    const int start = min(col, (int)(n1 - 16));
    for (int i = 0; i < downn; ++i) {
      const int row = (down0 + i) * 6;
      float8 *here = total;
      const int first = 0;
      float8 c0_0 = (float8)(0.0f), c0_1 = (float8)(0.0f);
      float8 c1_0 = (float8)(0.0f), c1_1 = (float8)(0.0f);
      float8 c2_0 = (float8)(0.0f), c2_1 = (float8)(0.0f);
      float8 c3_0 = (float8)(0.0f), c3_1 = (float8)(0.0f);
      float8 c4_0 = (float8)(0.0f), c4_1 = (float8)(0.0f);
      float8 c5_0 = (float8)(0.0f), c5_1 = (float8)(0.0f);
      const __global float *left0 = left + row * n11 + first;
      const __global float *left1 = left + min(row + 1, n0 - 1) * n11 + first;
      const __global float *left2 = left + min(row + 2, n0 - 1) * n11 + first;
      const __global float *left3 = left + min(row + 3, n0 - 1) * n11 + first;
      const __global float *left4 = left + min(row + 4, n0 - 1) * n11 + first;
      const __global float *left5 = left + min(row + 5, n0 - 1) * n11 + first;
      const __global float *right_ = right + start + first * n12;
      {
#pragma OPENCL FP_CONTRACT ON
        for (int k = 0; k < (int)(n2); ++k) {
          const float8 v1 = ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(right_ + k * n12))->v;
          const float8 v2 = ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(right_ + k * n12 + 8))->v;
          const float v3 = (left0 + k)[0];
          c0_0 = (((float8)(v3) * v1) + c0_0);
          c0_1 = (((float8)(v3) * v2) + c0_1);
          const float v4 = (left1 + k)[0];
          c1_0 = (((float8)(v4) * v1) + c1_0);
          c1_1 = (((float8)(v4) * v2) + c1_1);
          const float v5 = (left2 + k)[0];
          c2_0 = (((float8)(v5) * v1) + c2_0);
          c2_1 = (((float8)(v5) * v2) + c2_1);
          const float v6 = (left3 + k)[0];
          c3_0 = (((float8)(v6) * v1) + c3_0);
          c3_1 = (((float8)(v6) * v2) + c3_1);
          const float v7 = (left4 + k)[0];
          c4_0 = (((float8)(v7) * v1) + c4_0);
          c4_1 = (((float8)(v7) * v2) + c4_1);
          const float v8 = (left5 + k)[0];
          c5_0 = (((float8)(v8) * v1) + c5_0);
          c5_1 = (((float8)(v8) * v2) + c5_1);
        }
      }
      here[0] = c0_0;
      here[1] = c0_1;
      here[2] = c1_0;
      here[3] = c1_1;
      here[4] = c2_0;
      here[5] = c2_1;
      here[6] = c3_0;
      here[7] = c3_1;
      here[8] = c4_0;
      here[9] = c4_1;
      here[10] = c5_0;
      here[11] = c5_1;
      for (int r = 0; r < (int)min((int)6, n0 - row); ++r) {
        const int y = row + r;
        const float *line = (const float *)here + r * 16;
        const int place = (y) * n1;
        const int stop = min(col + 16, n1);
        for (int c = col; c < stop; c += 8) {
          const float8 v9 = ((const __private struct __attribute__((packed, aligned(4))) { float8 v; } *)(line + (c - start)))->v;
          const float8 v10 = ((const __global struct __attribute__((packed, aligned(4))) { float8 v; } *)(operand2 + c))->v;
          const float8 v11 = (v9 + v10);
          const float8 v12 = select(v11, (float8)(0.0f), (v11 <= (float8)(0.0f)));
          ((__global struct __attribute__((packed, aligned(4))) { float8 v; } *)(output0 + place + c))->v = v12;
        }
      }
    }
  }
}
