"""Plain NumPy with gradients derived by hand: no framework, the floor of a NumPy back end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import benchmarks.measure as measure
from benchmarks.definitions import Adam, Array, Arrays, Batch, Build, Step, Workload

F32 = np.float32
ROWS_PER_BLOCK = 64  # of 1,024 float32: about ten temporaries stay in the second-level cache


class AdamState:
    """Moments and scratch of one parameter; updates it in place."""

    def __init__(self, rule: Adam, parameter: Array) -> None:
        self.rule = rule
        self.parameter = parameter
        self.m, self.v, self.s, self.d = (np.zeros_like(parameter) for _ in range(4))

    def update(self, g: Array, t: int) -> None:
        """Step `t`, counted from 1."""
        rule, m, v, s, d = self.rule, self.m, self.v, self.s, self.d
        m *= F32(rule.b1)
        np.multiply(g, F32(1 - rule.b1), out=s)
        m += s
        v *= F32(rule.b2)
        np.multiply(g, g, out=s)
        s *= F32(1 - rule.b2)
        v += s
        np.multiply(v, F32(1 / (1 - rule.b2**t)), out=s)
        np.sqrt(s, out=s)
        s += F32(rule.eps)
        np.multiply(m, F32(rule.lr / (1 - rule.b1**t)), out=d)
        d /= s
        self.parameter -= d


def cross_entropy(logits: Array, labels: Array) -> tuple[float, Array]:
    """The mean over rows of -log softmax at the label, and its gradient.  Overwrites `logits`."""
    rows = np.arange(len(labels))
    logits -= logits.max(axis=-1, keepdims=True)
    at_label = logits[rows, labels]
    np.exp(logits, out=logits)
    total = logits.sum(axis=-1, keepdims=True)
    loss = float(np.mean(np.log(total[:, 0]) - at_label))
    logits /= total
    logits[rows, labels] -= 1
    logits *= F32(1 / len(labels))
    return loss, logits


def mlp_train(w: Workload) -> Step:
    """One step of the network, forward and backward, and Adam."""
    assert isinstance(w.optimizer, Adam)
    params: Arrays = {name: array.copy() for name, array in w.params.items()}
    states = {name: AdamState(w.optimizer, array) for name, array in params.items()}
    layers = len(params) // 2
    t = 0

    def step(batch: Batch) -> float:
        nonlocal t
        t += 1
        inputs = [batch["x"]]
        for layer in range(layers):
            z = inputs[-1] @ params[f"W{layer}"]
            z += params[f"b{layer}"]
            if layer < layers - 1:
                np.maximum(z, 0, out=z)
            inputs.append(z)
        loss, d = cross_entropy(inputs[-1], batch["y"])
        gradients: Arrays = {}
        for layer in reversed(range(layers)):
            gradients[f"W{layer}"] = inputs[layer].T @ d
            gradients[f"b{layer}"] = d.sum(axis=0)
            if layer > 0:
                d = d @ params[f"W{layer}"].T
                d *= inputs[layer] > 0
        for name, g in gradients.items():
            states[name].update(g, t)
        return loss

    return step


def eltwise_grad(w: Workload) -> Step:
    """By blocks of rows, so that the temporaries stay in a cache."""
    x_all, weight, bias = w.params["x"], w.params["w"], w.params["b"]
    count = F32(x_all.size)
    dx_all = np.empty_like(x_all)

    def step(_: Batch) -> tuple[float, list[Array]]:
        total = 0.0
        dweight, dbias = np.zeros_like(weight), np.zeros_like(bias)
        for first in range(0, len(x_all), ROWS_PER_BLOCK):
            block = slice(first, first + ROWS_PER_BLOCK)
            x = x_all[block]
            z = x * weight + bias
            tanh, sin_z, cos_z = np.tanh(z), np.sin(z), np.cos(z)
            sin_x, cos_x = np.sin(x), np.cos(x)
            a = 1 + np.abs(x)
            bell = np.exp(-x * x) / a
            r = tanh * bell
            s = r + F32(0.5) * sin_z * cos_x
            q = np.sqrt(1 + s * s)
            log, u = np.log(q + 1), F32(1.5) + s
            total += float(np.sum(log * u + F32(0.1) * z * s, dtype=np.float64))
            ds = log + u * s / (q * (q + 1)) + F32(0.1) * z
            dz = F32(0.1) * s + ds * ((1 - tanh * tanh) * bell + F32(0.5) * cos_z * cos_x)
            dx = ds * (r * (F32(-2) * x - np.sign(x) / a) - F32(0.5) * sin_z * sin_x)
            dx += dz * weight
            np.divide(dx, count, out=dx_all[block])
            dweight += (dz * x).sum(axis=0)
            dbias += dz.sum(axis=0)
        return total / float(count), [dx_all, dweight / count, dbias / count]

    return step


def small_ops(w: Workload) -> Step:
    """Python floats and `math`: NumPy's scalars are several times slower."""
    program = w.config["program"]

    def step(batch: Batch) -> tuple[float, list[Any]]:
        x, slope = float(batch["x"]), 1.0
        for name, constant in program:
            if name == "add":
                x += constant
            elif name == "mul":
                x *= constant
                slope *= constant
            elif name == "sin":
                slope *= math.cos(x)
                x = math.sin(x)
            else:
                x = math.tanh(x)
                slope *= 1.0 - x * x
        return x, [slope]

    return step


BUILDERS: dict[str, Build] = {
    "mlp_train": mlp_train,
    "mlp_train_small": mlp_train,
    "small_ops": small_ops,
    "eltwise_grad": eltwise_grad,
}

if __name__ == "__main__":
    measure.main("numpy-by-hand", BUILDERS)
