"""Random bits: Philox 4x32-10 (Salmon et al., SC 2011), the same words as the op's meaning.

A vector that begins at a whole block computes each block once; else each element computes the
block that it lies in.
"""

from __future__ import annotations

import numpy as np

from staticad_schema.types import UINT32

from .body import LANE, PLACED, Body, Index
from .code import Var
from .places import linear
from .region import Step, shape_of
from .scalars import register_type
from .typed import with_lanes

PHILOX = """
void philox@(const uint@ low, const uint@ high, const uint path, const uint run, const ulong key,
             uint@ *w) {
  uint@ c0 = low, c1 = high, c2 = (uint@)(path), c3 = (uint@)(run);
  uint k0 = (uint)key, k1 = (uint)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint@ h0 = mul_hi(c0, (uint@)(0xD2511F53U)), l0 = c0 * 0xD2511F53U;
    const uint@ h1 = mul_hi(c2, (uint@)(0xCD9E8D57U)), l1 = c2 * 0xCD9E8D57U;
    c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0;
    k0 += 0x9E3779B9U; k1 += 0xBB67AE85U;
  }
  w[0] = c0; w[1] = c1; w[2] = c2; w[3] = c3;
}
"""


def whole_blocks(step: Step, lanes: int) -> bool:
    """Whether vectors along the last axis begin at whole blocks."""
    words = 1 if step.types[0].dtype == UINT32 else 2
    inner = shape_of(step.types[0])[-1:] or (1,)
    return lanes * words >= 4 and inner[0] * words % 4 == 0


def _random_bits(body: Body, number: int, step: Step, index: Index) -> Var:
    code, dtype = body.code, step.types[0].dtype
    words = 1 if dtype == UINT32 else 2
    run = body.value(step.inputs[0], body.projected(step.inputs[0], index))
    key = body.signature.word(f"key{number}", "ulong", np.uint64(step.attributes["key"]))
    path = body.signature.word(f"path{number}", "uint", np.uint32(step.attributes["path"]))
    lanes = body.lanes if index and index[-1] == LANE else 1
    place = linear(body, index, shape_of(step.types[0]), number)
    per_block = 4 // words
    blocks = lanes // per_block if lanes >= per_block else 1
    first = code.fresh("block")
    code.line(f"const ulong {first} = (ulong)({place}) / {per_block};")
    w, width = code.fresh("w"), str(blocks) if blocks > 1 else ""
    name = with_lanes(code, "philox", PHILOX, blocks)
    code.line(f"uint{width} {w}[4];")
    if blocks > 1:
        steps = ", ".join(f"{first} + {k}" for k in range(blocks))
        whole = f"(ulong{blocks})({steps})"
        low, high = f"convert_uint{blocks}({whole})", f"convert_uint{blocks}({whole} >> 32)"
    else:
        low, high = f"(uint){first}", f"(uint)({first} >> 32)"
    code.line(f"{name}({low}, {high}, {path}, (uint){run.text}, {key}, {w});")
    if lanes == 1:
        at = f"(int)((ulong)({place}) % {per_block})"
        both = f"((ulong){w}[2 * {at}] | (ulong){w}[2 * {at} + 1] << 32)"
        return code.named(f"{w}[{at}]" if words == 1 else both, dtype)
    parts = []
    for k in range(lanes):
        block = f".s{k // per_block:x}" if blocks > 1 else ""
        j = k % per_block
        if words == 1:
            parts.append(f"{w}[{j}]{block}")
        else:
            parts.append(f"(ulong){w}[{2 * j}]{block} | (ulong){w}[{2 * j + 1}]{block} << 32")
    kind = register_type(dtype, lanes)
    return code.named(f"({kind})({', '.join(parts)})", dtype, lanes)


PLACED["random_bits"] = _random_bits
