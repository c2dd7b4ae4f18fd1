"""What kernels on CPUs take for granted of vectors: their length, how many there are at hand, and
how products of them are added up."""

from __future__ import annotations

from staticad_schema.types import KINDS, DType

from .code import Var
from .scalars import computed, register_type
from .target import Target
from .typed import arithmetic

CONTRACT = "#pragma OPENCL FP_CONTRACT ON"
"""First in a block of products.  PoCL's fma is a call on some processors, its contraction not."""


def registers(target: Target) -> int:
    """Vectors that a processor has at hand, for accumulators: behind AVX2 there are 32."""
    return 24 if target.explicit_bytes >= 64 else 12


def lanes_of(count: int, dtype: DType, target: Target) -> int:
    """Lanes along an axis of so many results: those that leave the fewest unused, where vectors of
    less than 32 bytes take as long as such."""
    size = max(4, computed(dtype).itemsize)
    options = [n for n in (16, 8, 4, 2, 1) if n <= target.explicit_bytes // size]
    return min(options, key=lambda n: (-(-count // n) * max(n, 32 // size), -n))


def multiplied(x: Var, y: Var, total: Var) -> str:
    """total + x * y, rounded once behind `CONTRACT` where the device does that fast."""
    lanes = total.lanes
    if KINDS[total.dtype] != "float":
        product = arithmetic("*", x, y)
        return arithmetic("+", total, product).text
    texts = [
        v.text if v.lanes == lanes else f"({register_type(v.dtype, lanes)})({v.text})"
        for v in (x, y)
    ]
    return f"{total.text} + {texts[0]} * {texts[1]}"
