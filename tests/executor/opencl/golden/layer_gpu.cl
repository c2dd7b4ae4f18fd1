
__kernel void region_0(const int n0, const int n1, const int n2, const int n3, __local float *tile_left, __local float4 *tile_right, const int n6, const __global float *operand0_, const ulong operand0_at, const int n9, const __global float *operand1_, const ulong operand1_at, const __global float *operand2_, const ulong operand2_at, __global float *output0_, const ulong output0_at) {
  const __global float *operand0 = operand0_ + operand0_at;
  const __global float *operand1 = operand1_ + operand1_at;
  const __global float *operand2 = operand2_ + operand2_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_group_id(0);
  const int across = unit % n3;
  const int i1 = unit / n3;
  const int down = i1;
  const int matrix = 0;
  const int part = 0;
  const int lid = get_local_id(0);
  const int tx = lid % 8, ty = lid / 8;
  const int row0 = down * 8, col0 = across * 32;
  float4 total[1];
  for (int x = 0; x < 1; ++x) total[x] = (float4)(0.0f);
  for (int k0 = 0; k0 < n2; k0 += 16) {
    for (int x = lid; x < 128; x += 64) {
      const int k = x % 16, r = x / 16;
      const int line = row0 + r, term = k0 + k;
      float value = 0.0f;
      if (line < n0 && term < n2) {
        const float v2 = (operand0 + line * n6 + term)[0];
        value = v2;
      }
      tile_left[k * 9 + r] = value;
    }
    for (int x = lid; x < 512; x += 64) {
      const int k = x / 32, r = x % 32;
      const int line = col0 + r, term = k0 + k;
      float value = 0.0f;
      if (line < n1 && term < n2) {
        const float v3 = (operand1 + line + term * n9)[0];
        value = v3;
      }
      ((__local float *)tile_right)[k * 32 + r] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    {
#pragma OPENCL FP_CONTRACT ON
      for (int k = 0; k < 16; ++k) {
        const float4 v4 = tile_right[k * 8 + 0 + tx];
        const float v5 = tile_left[k * 9 + ty * 1 + 0];
        total[0] = (((float4)(v5) * v4) + total[0]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (int i = 0; i < 1; ++i) {
    const int row = row0 + ty * 1 + i;
    const int place = (row) * n1;
#pragma unroll
    for (int j = 0; j < 1; ++j) {
      const int first = col0 + (j * 8 + tx) * 4;
      const int c = first;
      if (row < n0 && c < n1) {
        const float4 v6 = ((const __global struct __attribute__((packed, aligned(4))) { float4 v; } *)(operand2 + c))->v;
        const float4 v7 = (total[i * 1 + j] + v6);
        const float4 v8 = select(v7, (float4)(0.0f), (v7 <= (float4)(0.0f)));
        ((__global struct __attribute__((packed, aligned(4))) { float4 v; } *)(output0 + place + c))->v = v8;
      }
    }
  }
}
