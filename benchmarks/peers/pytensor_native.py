"""PyTensor: a step compiled to one native function, by numba or with `--through-c` by C."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.special import log_softmax

import benchmarks.measure as measure
from benchmarks.definitions import Adam, Batch, Build, Step, Workload
from benchmarks.yardstick.chain import chain_value

pytensor.config.floatX = "float32"
pytensor.config.warn_float64 = "ignore"

F32 = np.float32
BY_C = "--through-c" in sys.argv


def compiled(inputs: list[Any], outputs: Any, updates: Any = None) -> Any:
    """A function that does not check its inputs again."""
    function = pytensor.function(inputs, outputs, updates=updates, mode="CVM" if BY_C else "NUMBA")
    function.trust_input = True
    return function


def shared(array: Any, name: str | None = None) -> Any:
    """Resident state of static shape."""
    return pytensor.shared(array, name=name, shape=array.shape)


def placeholders(batch: Batch) -> list[Any]:
    """Inputs for the arrays of a batch."""
    return [pt.tensor(k, dtype=a.dtype, shape=a.shape) for k, a in batch.items()]


def logits(params: dict[str, Any], x: Any) -> Any:
    """As many ReLU layers as there are pairs of parameters, the last one without."""
    layers = len(params) // 2
    for layer in range(layers):
        x = x @ params[f"W{layer}"] + params[f"b{layer}"]
        if layer < layers - 1:
            x = pt.maximum(x, F32(0))
    return x


def mlp_infer(w: Workload) -> Step:
    """The logits, parameters shared."""
    feeds = placeholders({"x": w.batches[0]["x"]})
    params = {name: shared(array, name) for name, array in w.params.items()}
    run = compiled(feeds, logits(params, feeds[0]))
    return lambda batch: run(batch["x"])


def mlp_train(w: Workload) -> Step:
    """One step of the network and Adam, all state shared and updated by the function."""
    assert isinstance(w.optimizer, Adam)
    rule = w.optimizer
    params = {name: shared(array, name) for name, array in w.params.items()}
    feeds = placeholders(w.batches[0])
    h, labels = logits(params, feeds[0]), feeds[1]
    loss = -log_softmax(h, axis=-1)[pt.arange(labels.shape[0]), labels].mean()

    t = shared(np.asarray(1, F32))
    c1, c2 = 1 - F32(rule.b1) ** t, 1 - F32(rule.b2) ** t
    updates = {t: t + F32(1)}
    leaves = list(params.values())
    for p, g in zip(leaves, pt.grad(loss, leaves), strict=True):
        m, v = (shared(np.zeros_like(p.get_value())) for _ in range(2))
        updates[m] = F32(rule.b1) * m + F32(1 - rule.b1) * g
        updates[v] = F32(rule.b2) * v + F32(1 - rule.b2) * g * g
        step_size = (updates[m] / c1) / (pt.sqrt(updates[v] / c2) + F32(rule.eps))
        updates[p] = p - F32(rule.lr) * step_size
    run = compiled(feeds, loss, updates)
    names = list(w.batches[0])
    return lambda batch: float(run(*[batch[name] for name in names]))


def eltwise_grad(w: Workload) -> Step:
    """The definition of the workload, operation by operation."""
    x, weight, bias = leaves = [shared(w.params[name], name) for name in w.wrt]
    z = x * weight + bias
    r = pt.tanh(z) * pt.exp(-x * x) / (F32(1) + pt.abs(x))
    s = r + F32(0.5) * pt.sin(z) * pt.cos(x)
    q = pt.sqrt(F32(1) + s * s)
    value = pt.mean(pt.log(q + F32(1)) * (F32(1.5) + s) + F32(0.1) * z * s)
    run = compiled([], [value, *pt.grad(value, leaves)])

    def step(_: Batch) -> tuple[float, list[Any]]:
        result, *gradients = run()
        return float(result), gradients

    return step


def deeply(function: Callable[[], Any]) -> Any:
    """The function's result, from a thread whose stack is large enough for deep recursion."""
    results: list[Any] = []
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    threading.stack_size(512 << 20)
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    threading.stack_size(0)
    sys.setrecursionlimit(before)
    return results[0]


def small_ops(w: Workload) -> Step:
    """Its gradient recurses over the depth of the graph."""
    program = [(name, F32(constant)) for name, constant in w.config["program"]]
    x = pt.fscalar("x")
    value: Any = chain_value(pt.sin, pt.tanh, program, x)  # type: ignore[arg-type]
    run = deeply(lambda: compiled([x], [value, pt.grad(value, x)]))

    def step(batch: Batch) -> tuple[float, list[float]]:
        result, slope = run(batch["x"])
        return float(result), [float(slope)]

    return step


BUILDERS: dict[str, Build] = {
    "mlp_train": mlp_train,
    "mlp_train_small": mlp_train,
    "mlp_infer_b1": mlp_infer,
    "small_ops": small_ops,
    "eltwise_grad": eltwise_grad,
}

if __name__ == "__main__":
    measure.main("pytensor-c" if BY_C else "pytensor-numba", BUILDERS)
