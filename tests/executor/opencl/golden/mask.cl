
void philox(const uint low, const uint high, const uint path, const uint run, const ulong key,
             uint *w) {
  uint c0 = low, c1 = high, c2 = (uint)(path), c3 = (uint)(run);
  uint k0 = (uint)key, k1 = (uint)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint h0 = mul_hi(c0, (uint)(0xD2511F53U)), l0 = c0 * 0xD2511F53U;
    const uint h1 = mul_hi(c2, (uint)(0xCD9E8D57U)), l1 = c2 * 0xCD9E8D57U;
    c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0;
    k0 += 0x9E3779B9U; k1 += 0xBB67AE85U;
  }
  w[0] = c0; w[1] = c1; w[2] = c2; w[3] = c3;
}

__kernel void region_0(const int n0, const int n1, const __global ulong *operand0_, const ulong operand0_at, const ulong key2, const uint path2, const __global uint *operand1_, const ulong operand1_at, __global uchar *output0_, const ulong output0_at) {
  const __global ulong *operand0 = operand0_ + operand0_at;
  const __global uint *operand1 = operand1_ + operand1_at;
  __global uchar *output0 = output0_ + output0_at;
  const int unit = get_global_id(0);
  const int part = unit % n1;
  const int first = (unit / n1) * 1;
  const int last = min(first + 1, 1);
  const int start = part * 1;
  const int stop = min(start + 1, n0);
  for (int row = first; row < last; ++row) {
    for (int c = start; c < stop; c += 1) {
      const ulong v1 = (operand0)[0];
      const ulong block2 = (ulong)(c) / 4;
      uint w3[4];
      philox((uint)block2, (uint)(block2 >> 32), path2, (uint)v1, key2, w3);
      const uint v4 = w3[(int)((ulong)(c) % 4)];
      const uint v5 = (operand1)[0];
      const int v6 = (v4 < v5);
      (output0 + row * n0 + c)[0] = (uchar)v6;
    }
  }
}
