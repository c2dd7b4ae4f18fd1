"""Small computations whose results are known, which drivers have been seen to get wrong.

Each check gives what is wrong, or nothing.  The kernels are written as the generated ones are:
any size of a group, guarded ends, exact arithmetic unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

import numpy as np
import pyopencl as cl

from staticad_schema.types import Array

from .launch import Argument, Launch, group_limit
from .runtime import Runtime

# Sizes about those of groups, and one of many groups that no power of two divides.
SIZES = (1, 63, 64, 65, 4095, 4096, 4097, 4098, 4099, 82369)
GROUP = 256
BINS = 16

SOURCE = """
kernel void larger(global const float *a, global const float *b, global float *out,
                   global int *facts)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    out[i] = (x > y || x != x) ? x : y;
    facts[i] = (isnan(x) ? 1 : 0) | (x < y ? 2 : 0) | (x == y ? 4 : 0) | (x != y ? 8 : 0)
             | (isinf(x) ? 16 : 0) | (signbit(x) ? 32 : 0);
}

kernel void arithmetic(global const float *a, global const float *b, global const float *c,
                       global float *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] * b[i] + c[i];
}

kernel void division(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] / b[i];
}

kernel void root(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = sqrt(a[i]);
}

kernel void casts(global const float *a, global int *truncated, global const int *b,
                  global float *rounded)
{
    size_t i = get_global_id(0);
    truncated[i] = (int)a[i];
    rounded[i] = (float)b[i];
}

kernel void integers(global const uint *a, global const uint *b, global uint *high,
                     global ulong *product, global long *quotient)
{
    size_t i = get_global_id(0);
    high[i] = mul_hi(a[i], b[i]);
    product[i] = ((ulong)a[i] << 17) * (ulong)b[i] ^ ((ulong)b[i] >> 5);
    quotient[i] = ((long)a[i] - 2147483648L) / (long)(b[i] | 1u);
}

kernel void vectors(global const float *a, global float *out, ulong n)
{
    ulong i = (ulong)get_global_id(0) * WIDTH;
    if (i + WIDTH <= n) {
        STORE(LOAD(a + 1 + i) * 2.0f, out + i);
    } else {
        for (; i < n; ++i) out[i] = a[1 + i] * 2.0f;
    }
}

kernel void total(global const int *x, global int *out, local int *part, ulong n)
{
    size_t item = get_local_id(0);
    int sum = 0;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
    part[item] = sum;
    for (size_t left = get_local_size(0); left > 1; left = (left + 1) / 2) {
        size_t above = (left + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + above < left) part[item] += part[item + above];
    }
    if (item == 0) out[get_group_id(0)] = part[0];
}

kernel void largest(global const float *x, global float *out, local float *part, ulong n)
{
    size_t item = get_local_id(0);
    float most = -INFINITY;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        float v = x[i];
        most = (most > v || most != most) ? most : v;
    }
    part[item] = most;
    for (size_t left = get_local_size(0); left > 1; left = (left + 1) / 2) {
        size_t above = (left + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + above < left) {
            float a = part[item], b = part[item + above];
            part[item] = (a > b || a != a) ? a : b;
        }
    }
    if (item == 0) out[get_group_id(0)] = part[0];
}

kernel void scan(global const int *x, global int *most, global int *sums, local int *a,
                 local int *b)
{
    size_t item = get_local_id(0), size = get_local_size(0);
    for (int which = 0; which < 2; ++which) {
        a[item] = x[item];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t step = 1; step < size; step *= 2) {
            int v = a[item];
            if (item >= step) v = which ? v + a[item - step] : max(v, a[item - step]);
            b[item] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            local int *swapped = a;
            a = b;
            b = swapped;
        }
        if (which) sums[item] = a[item]; else most[item] = a[item];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void exchange(global int *out, global int *shared, local int *t)
{
    size_t item = get_local_id(0), size = get_local_size(0), first = get_group_id(0) * size;
    int v = (int)item;
    for (int round = 1; round <= 8; ++round) {
        t[item] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = t[(item + round) % size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    shared[first + item] = v;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[first + item] = shared[first + size - 1 - item];
}

kernel void count(global const uint *x, global uint *bins, local uint *part, ulong n)
{
    size_t item = get_local_id(0), size = get_local_size(0);
    for (size_t i = item; i < BINS; i += size) part[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(part + x[i] % BINS);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = item; i < BINS; i += size) atomic_add(bins + i, part[i]);
}

kernel void together(global const int *x, global int *out, volatile global uint *sum, ulong n)
{
    ulong i = get_global_id(0);
    if (i >= n) return;
    atomic_add(out, x[i]);
    atomic_max(out + 1, x[i]);
    atomic_min(out + 2, x[i]);
    uint seen = atomic_add(sum, 0), before;
    do {
        before = seen;
        seen = atomic_cmpxchg(sum, before, as_uint(as_float(before) + 1.0f));
    } while (seen != before);
}

kernel void scatter(global int *x)
{
    size_t i = get_global_id(0);
    x[8 * i] = (int)(8 * i);
}

kernel void gather(global const int *x, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = x[8 * i];
}

kernel void halve(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] * 0.5f;
}

kernel void increment(global int *x, ulong first)
{
    x[first + get_global_id(0)] += 1;
}
"""

DOUBLES = """
kernel void doubles(global const double *a, global const double *b, global double *out)
{
    size_t i = get_global_id(0);
    out[4 * i] = a[i] * b[i] + 1.0;
    out[4 * i + 1] = a[i] / b[i];
    out[4 * i + 2] = sqrt(fabs(a[i]));
    out[4 * i + 3] = (a[i] > b[i] || a[i] != a[i]) ? a[i] : b[i];
}
"""

HALVES = """
kernel void halves(global const half *a, global const half *b, global half *out)
{
    size_t i = get_global_id(0);
    out[2 * i] = (half)((float)a[i] * (float)b[i]);
    out[2 * i + 1] = (a[i] > b[i] || a[i] != a[i]) ? a[i] : b[i];
}
"""


class Probe:
    """A runtime, and an easy way to run one kernel."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR

    def source(self) -> str:
        """The kernels, for the device's width of vectors."""
        width = self.runtime.limits.vector_width(np.dtype(np.float32))
        load = f"vload{width}(0, p)" if width > 1 else "*(p)"
        store = f"vstore{width}(v, 0, p)" if width > 1 else "(*(p) = (v))"
        return (
            f"#define WIDTH {width}\n#define BINS {BINS}\n"
            f"#define LOAD(p) {load}\n#define STORE(v, p) {store}\n{SOURCE}"
        )

    def program(self, source: str | None = None) -> cl.Program:
        """The source built, by default all kernels; what is asked once is not kept."""
        return self.runtime.program(source or self.source(), keep=False)

    def run(
        self,
        name: str,
        arguments: Sequence[Array | Argument],
        count: int,
        group: int | None = None,
        source: str | None = None,
    ) -> None:
        """Run it over `count` items; arrays among the arguments are read and written."""
        program = self.program(source)
        buffers = [
            (cl.Buffer(self.runtime.context, self.flags, hostbuf=a), a)
            for a in arguments
            if isinstance(a, np.ndarray)
        ]
        rest = iter(buffers)
        given = [next(rest)[0] if isinstance(a, np.ndarray) else a for a in arguments]
        local = None if group is None else (group,)
        Launch(self.runtime, program, name, given, (count,), local)()
        for buffer, array in buffers:
            cl.enqueue_copy(self.runtime.queue, array, buffer)
        self.runtime.finish()

    def group(self, name: str, local_bytes_per_item: int) -> int:
        """The largest group of a kernel, `GROUP` at most."""
        kernel = self.runtime.kernel(self.program(), name)
        return min(GROUP, group_limit(self.runtime, kernel, local_bytes_per_item))


def _differs(what: str, found: Array, expected: Array) -> str:
    """The first difference, or nothing; NaN equals NaN, and -0 does not equal 0."""
    same = found == expected
    if found.dtype.kind == "f":
        same = same & (np.signbit(found) == np.signbit(expected))
        same = same | (np.isnan(found) & np.isnan(expected))
    if same.all():
        return ""
    at = int(np.argmin(same.ravel()))
    return f"{what}: {found.ravel()[at]!r} instead of {expected.ravel()[at]!r} at {at}"


def _special_pairs(dtype: type[np.floating]) -> tuple[Array, Array]:
    values = np.array([np.nan, -np.inf, np.inf, -0.0, 0.0, 1.5, -2.25, 7.0], dtype)
    a, b = np.meshgrid(values, values)
    # 0 and -0 are equal, and which one is the larger is nobody's business.
    keep = ~((a == 0) & (b == 0))
    return a[keep].copy(), b[keep].copy()


def _maximum(probe: Probe) -> str:
    a, b = _special_pairs(np.float32)
    out, facts = np.zeros_like(a), np.zeros(a.shape, np.int32)
    probe.run("larger", (a, b, out, facts), a.size)
    known = [np.isnan(a), a < b, a == b, a != b, np.isinf(a), np.signbit(a)]
    # The sign of NaN is not told.
    mask = np.where(np.isnan(a), 31, 63)
    expected = sum(fact.astype(np.int32) << bit for bit, fact in enumerate(known))
    return _differs("max", out, np.maximum(a, b)) or _differs(
        "comparisons", facts & mask, expected & mask
    )


def _numbers(seed: int, count: int = 4096) -> Array:
    rng = np.random.Generator(np.random.Philox(seed))
    signs = rng.choice(np.array([-1, 1], np.float32), count)
    exponents = rng.integers(-30, 31, count)
    numbers: Array = np.ldexp((1 + rng.random(count, np.float32)) * signs, exponents)
    return numbers.astype(np.float32)


def _arithmetic(probe: Probe) -> str:
    a, b, c = (_numbers(seed) for seed in range(3))
    # Fused, these would leave what rounding the product loses.
    a[:2], b[:2], c[:2] = 1 + 2**-12, 1 - 2**-12, -1
    out = np.zeros_like(a)
    probe.run("arithmetic", (a, b, c, out), a.size)
    return _differs("a * b + c", out, a * b + c)


def _division(probe: Probe) -> str:
    a, b = _numbers(3), _numbers(4)
    out = np.zeros_like(a)
    probe.run("division", (a, b, out), a.size)
    return _differs("a / b", out, a / b)


def _sqrt(probe: Probe) -> str:
    a = np.abs(_numbers(5))
    out = np.zeros_like(a)
    probe.run("root", (a, out), a.size)
    return _differs("sqrt", out, np.sqrt(a))


def _casts(probe: Probe) -> str:
    a = np.array([2.7, -2.7, 0.5, -0.5, 2147483520, -2147483648, 16777216, -1], np.float32)
    b = np.array([16777217, -16777217, 16777219, 0, -1, 2**31 - 1, -(2**31), 33554434], np.int32)
    truncated, rounded = np.zeros_like(b), np.zeros_like(a)
    probe.run("casts", (a, truncated, b, rounded), a.size)
    return _differs("float to int", truncated, a.astype(np.int32)) or _differs(
        "int to float", rounded, b.astype(np.float32)
    )


def _integers(probe: Probe) -> str:
    rng = np.random.Generator(np.random.Philox(6))
    a, b = (rng.integers(0, 1 << 32, 1024, np.uint32) for _ in "ab")
    high = np.zeros_like(a)
    product, quotient = np.zeros(a.shape, np.uint64), np.zeros(a.shape, np.int64)
    probe.run("integers", (a, b, high, product, quotient), a.size)
    wide_a, wide_b = a.astype(np.uint64), b.astype(np.uint64)
    top = ((wide_a * wide_b) >> np.uint64(32)).astype(np.uint32)
    expected = ((wide_a << np.uint64(17)) * wide_b) ^ (wide_b >> np.uint64(5))
    dividend, divisor = a.astype(np.int64) - 2**31, (b | np.uint32(1)).astype(np.int64)
    truncated = np.sign(dividend) * (np.abs(dividend) // divisor)
    return (
        _differs("high half of a product", high, top)
        or _differs("64-bit product", product, expected)
        or _differs("64-bit quotient", quotient, truncated)
    )


def _vectors(probe: Probe) -> str:
    width = probe.runtime.limits.vector_width(np.dtype(np.float32))
    for n in SIZES[:6]:
        a = np.arange(n + 1, dtype=np.float32)
        out = np.full(n + 1, -1, np.float32)
        probe.run("vectors", (a, out, np.uint64(n)), -(-n // width))
        expected = np.append(a[1:] * 2, np.float32(-1)).astype(np.float32)
        if problem := _differs(f"{n} elements by vectors of {width}", out, expected):
            return problem
    return ""


def _two_stages(probe: Probe, name: str, x: Array) -> Array:
    """A reduction by groups, and of what they leave by one group."""
    group = probe.group(name, x.itemsize)
    groups = min(-(-x.size // group), 64)
    part = cl.LocalMemory(group * x.itemsize)
    partial, out = np.zeros(groups, x.dtype), np.zeros(1, x.dtype)
    probe.run(name, (x, partial, part, np.uint64(x.size)), groups * group, group)
    probe.run(name, (partial, out, part, np.uint64(groups)), group, group)
    return out


def _reduce(probe: Probe) -> str:
    for n in SIZES:
        x = (np.arange(n) * 7919 % 1009 - 500).astype(np.int32)
        expected = np.array([x.sum()], np.int32)
        if problem := _differs(f"sum of {n}", _two_stages(probe, "total", x), expected):
            return problem
        # All below 0: a maximum that starts from 0 is seen.
        y = x.astype(np.float32) - 1000
        for last in (y[-1], np.float32(np.nan)):
            y[-1] = last
            found = _two_stages(probe, "largest", y)
            if problem := _differs(f"max of {n}", found, np.array([y.max()], np.float32)):
                return problem
    return ""


def _scan(probe: Probe) -> str:
    group = probe.group("scan", 8)
    x = (np.arange(group) * 7919 % 1009 - 500).astype(np.int32)
    most, sums = np.zeros_like(x), np.zeros_like(x)
    a, b = (cl.LocalMemory(4 * group) for _ in "ab")
    probe.run("scan", (x, most, sums, a, b), group, group)
    return _differs(f"running max by {group} items", most, np.maximum.accumulate(x)) or _differs(
        f"running sum by {group} items", sums, np.cumsum(x, dtype=np.int32)
    )


def _barriers(probe: Probe) -> str:
    group = probe.group("exchange", 4)
    out, between = np.zeros(3 * group, np.int32), np.zeros(3 * group, np.int32)
    probe.run("exchange", (out, between, cl.LocalMemory(4 * group)), 3 * group, group)
    # Eight rounds move everything by 1 + 2 + … + 8.
    moved = (np.arange(group, dtype=np.int32) + 36) % group
    return _differs(f"exchange among {group} items", out, np.tile(moved[::-1], 3))


def _local_atomics(probe: Probe) -> str:
    group = probe.group("count", 4)
    x = (np.arange(4099) * 7919 % 1009).astype(np.uint32)
    bins = np.zeros(BINS, np.uint32)
    part = cl.LocalMemory(4 * BINS)
    probe.run("count", (x, bins, part, np.uint64(x.size)), 4 * group, group)
    counts = np.bincount(x % BINS, minlength=BINS).astype(np.uint32)
    return _differs("histogram", bins, counts)


def _global_atomics(probe: Probe) -> str:
    x = (np.arange(4099) * 7919 % 1009 - 500).astype(np.int32)
    out, total = np.zeros(3, np.int32), np.zeros(1, np.float32)
    probe.run("together", (x, out, total, np.uint64(x.size)), x.size)
    expected = np.array([x.sum(), x.max(), x.min()], np.int32)
    return _differs("sum, max and min", out, expected) or _differs(
        "float sum by compare and exchange", total, np.array([x.size], np.float32)
    )


def _scatter(probe: Probe) -> str:
    runtime = probe.runtime
    x, out = np.full(32, -1, np.int32), np.zeros(4, np.int32)
    buffers = [cl.Buffer(runtime.context, probe.flags, hostbuf=a) for a in (x, out)]
    program = probe.program()
    Launch(runtime, program, "scatter", buffers[:1], (4,))()
    Launch(runtime, program, "gather", buffers, (4,))()
    cl.enqueue_copy(runtime.queue, out, buffers[1])
    return _differs("scatter, then gather", out, np.array([0, 8, 16, 24], np.int32))


def _doubles(probe: Probe) -> str:
    a, b = _special_pairs(np.float64)
    more = (_numbers(7).astype(np.float64) / 3, _numbers(8).astype(np.float64) / 7)
    a, b = np.append(a, more[0]), np.append(b, more[1])
    out = np.zeros((a.size, 4))
    probe.run("doubles", (a, b, out), a.size, source=DOUBLES)
    with np.errstate(all="ignore"):
        results = [a * b + 1.0, a / b, np.sqrt(np.abs(a)), np.maximum(a, b)]
    return _differs("doubles", out, np.stack(results, 1))


def _halves(probe: Probe) -> str:
    a, b = _special_pairs(np.float16)
    more = (np.arange(-500, 500) / 16, np.arange(1000) * 0.37 + 1)
    a, b = (np.append(x, y).astype(np.float16) for x, y in zip((a, b), more, strict=True))
    out = np.zeros((a.size, 2), np.float16)
    probe.run("halves", (a, b, out), a.size, source=HALVES)
    with np.errstate(all="ignore"):
        product = (a.astype(np.float32) * b.astype(np.float32)).astype(np.float16)
    return _differs("halves", out, np.stack([product, np.maximum(a, b)], 1))


def denormals(probe: Probe) -> bool:
    """Whether 32-bit numbers below the normal ones are kept."""
    a = np.array([np.finfo(np.float32).tiny, np.finfo(np.float32).smallest_subnormal * 2])
    a = a.astype(np.float32)
    out = np.zeros_like(a)
    probe.run("halve", (a, out), a.size)
    return bool((out == a / 2).all())


CHECKS: MappingProxyType[str, Callable[[Probe], str]] = MappingProxyType(
    {
        "max": _maximum,
        "arithmetic": _arithmetic,
        "division": _division,
        "sqrt": _sqrt,
        "casts": _casts,
        "integers": _integers,
        "vectors": _vectors,
        "reduce": _reduce,
        "scan": _scan,
        "barriers": _barriers,
        "local atomics": _local_atomics,
        "global atomics": _global_atomics,
        "scatter": _scatter,
        "doubles": _doubles,
        "halves": _halves,
    }
)
