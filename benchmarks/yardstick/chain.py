"""A chain of scalar operations, of any length."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..definitions import Cost, Program, Workload


def chain_program(n: int, seed: int = 12) -> Program:
    """`n` scalar operations (name, constant) that keep value and derivative near 1.

    Every `add` moves the value to a random point of (-0.5, 0.5), every `mul` brings the derivative
    so far back towards 1, so that a chain of any length neither saturates nor vanishes.
    """
    rng = np.random.default_rng(seed)
    value, slope = 0.5, 1.0
    program: Program = []
    for i in range(n):
        constant = 0.0
        match i % 4:
            case 0:
                name = "add"
                constant = float(np.float32(rng.uniform(-0.5, 0.5) - value))
                value += constant
            case 1:
                name = "sin"
                slope *= math.cos(value)
                value = math.sin(value)
            case 2:
                name = "mul"
                constant = float(np.float32(min(max(1.0 / slope, 0.5), 2.0)))
                value *= constant
                slope *= constant
            case _:
                name = "tanh"
                value = math.tanh(value)
                slope *= 1.0 - value * value
        program.append((name, constant))
    return program


def chain_value(
    sin: Callable[[Any], Any], tanh: Callable[[Any], Any], program: Program, x: Any
) -> Any:
    """The chain applied to `x`, a number or whatever a framework computes with."""
    for name, constant in program:
        match name:
            case "add":
                x = x + constant
            case "mul":
                x = x * constant
            case "sin":
                x = sin(x)
            case _:
                x = tanh(x)
    return x


def small_ops() -> Workload:
    """Bound by the cost of a call, a thousand times."""
    return Workload(
        name="small_ops",
        kind="grad",
        summary="a chain of 1000 scalar ops, value and derivative, fed at every call",
        params={},
        batches=[{"x": np.asarray(0.5, np.float32)}],
        expected=(-0.49368099983496966, 0.7562790774576145),
        cost=Cost(flops=0, special=750, traffic=8),
        wrt=("x",),
        config={"program": chain_program(1000)},
    )
