"""What a device can do at best.

A device on the processor is held to what NumPy reaches there; others to kernels that do nothing
else: chains of fma in registers, of exp, copies.
"""

from __future__ import annotations

import time

import numpy as np

import benchmarks
from staticad_executor import machine
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_executor.devices.opencl.launch import Launch
from staticad_executor.machine import LAST_LEVEL_CACHE, Limits

SOURCE = """
kernel void products(global float* out, uint rounds) {
    const float x = 0.9f, y = (float)get_global_id(0);
    float4 a = y, b = y + 1, c = y + 2, d = y + 3;
    for (uint i = 0; i < rounds; i++) {
        a = fma(a, x, b); b = fma(b, x, c); c = fma(c, x, d); d = fma(d, x, a);
    }
    const float4 sum = a + b + c + d;
    out[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;
}
kernel void special(global float* out, uint rounds) {
    float4 a = (float)get_global_id(0), b = a + 1;
    for (uint i = 0; i < rounds; i++) {
        a = exp(-a); b = exp(-b);
    }
    const float4 sum = a + b;
    out[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;
}
kernel void copied(global float4* out, global const float4* in) {
    out[get_global_id(0)] = in[get_global_id(0)];
}
"""
ITEMS = 1 << 20
TRIES = 5


def limits_of(device: OpenCLDevice) -> Limits:
    """Of the processor, or of the device where that is another one."""
    if device.limits.kind == "cpu":
        return machine.limits(benchmarks.THREADS)
    memory = min(256 << 20, device.allocation_bytes)
    flops = 4 * 4 * 2
    return Limits(
        product_flops=flops * _per_second(device, "products", 512),
        special=2 * 4 * _per_second(device, "special", 64),
        cache_bytes=_copied_bytes(device, LAST_LEVEL_CACHE // 2, 100),
        memory_bytes=_copied_bytes(device, memory, 5),
    )


def _per_second(device: OpenCLDevice, name: str, rounds: int) -> float:
    """Rounds of all work-items a second."""
    runtime = device.runtime
    out = device.buffers.lend(4 * ITEMS).memory
    program = runtime.program(SOURCE, keep=False)
    launch = Launch(runtime, program, name, (out.buffer, np.uint32(rounds)), (ITEMS,))
    return ITEMS * rounds / _shortest(device, [launch])


def _copied_bytes(device: OpenCLDevice, nbytes: int, repeats: int) -> float:
    """Bytes read and written a second by copies of so many."""
    runtime = device.runtime
    target, source = (device.buffers.lend(nbytes).memory for _ in "ab")
    program = runtime.program(SOURCE, keep=False)
    buffers = (target.buffer, source.buffer)
    launch = Launch(runtime, program, "copied", buffers, (nbytes // 16,))
    return 2 * nbytes * repeats / _shortest(device, [launch] * repeats)


def _shortest(device: OpenCLDevice, launches: list[Launch]) -> float:
    times = []
    for _ in range(1 + TRIES):
        began = time.perf_counter()
        for launch in launches:
            launch()
        device.runtime.finish()
        times.append(time.perf_counter() - began)
    return min(times[1:])
