
__kernel void region_0(const int n0, const int n1, __local float *kept3, const __global float *operand0_, const ulong operand0_at, const int n5, __local float *shared0, __global float *output0_, const ulong output0_at) {
  const __global float *operand0 = operand0_ + operand0_at;
  __global float *output0 = output0_ + output0_at;
  const int unit = get_group_id(0);
  const int first = unit * 1;
  const int last = min(first + 1, n1);
  const int lid = get_local_id(0);
  const int group = get_local_size(0);
  for (int row = first; row < last; ++row) {
    float4 a1 = (float4)((-INFINITY));
    for (int c = 0 + lid * 4; c < n0; c += 4 * group) {
      const float4 v2 = ((const __global struct __attribute__((packed, aligned(4))) { float4 v; } *)(operand0 + row * n5 + c))->v;
      a1 = select(a1, v2, ((v2 > a1) | (v2 != v2)));
    }
    float2 a3 = select(a1.lo, a1.hi, ((a1.hi > a1.lo) | (a1.hi != a1.hi)));
    float a4 = (((a3.hi > a3.lo) | (a3.hi != a3.hi)) ? a3.hi : a3.lo);
    shared0[lid] = a4;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = group; width > 1; ) {
      const int rest = (width + 1) / 2;
      if (lid + rest < width) {
        shared0[lid] = (((shared0[lid + rest] > shared0[lid]) | (shared0[lid + rest] != shared0[lid + rest])) ? shared0[lid + rest] : shared0[lid]);
      }
      width = rest;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    a4 = shared0[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 a5 = (float4)(0.0f);
    for (int c = 0 + lid * 4; c < n0; c += 4 * group) {
      const float4 v6 = ((const __global struct __attribute__((packed, aligned(4))) { float4 v; } *)(operand0 + row * n5 + c))->v;
      const float4 v7 = (v6 - (float4)(a4));
      const float4 v8 = exp(v7);
      a5 = (a5 + v8);
      vstore4(v8, 0, kept3 + c);
    }
    float2 a9 = (a5.lo + a5.hi);
    float a10 = (a9.lo + a9.hi);
    shared0[lid] = a10;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = group; width > 1; ) {
      const int rest = (width + 1) / 2;
      if (lid + rest < width) {
        shared0[lid] = (shared0[lid] + shared0[lid + rest]);
      }
      width = rest;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    a10 = shared0[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int c = 0 + lid * 4; c < n0; c += 4 * group) {
      const float4 v11 = vload4(0, kept3 + c);
      const float4 v12 = (v11 / (float4)(a10));
      ((__global struct __attribute__((packed, aligned(4))) { float4 v; } *)(output0 + row * n0 + c))->v = v12;
    }
  }
}
