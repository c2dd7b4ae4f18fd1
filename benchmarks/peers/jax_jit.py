"""JAX on the CPU: one compiled function a step, its state donated."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import benchmarks.measure as measure
from benchmarks.definitions import Batch, Build, Program, Step, Workload, chain_value


def mlp_train(w: Workload) -> Step:
    """One step of the network and Adam, compiled as one function."""
    assert w.optimizer is not None
    rule, layers = w.optimizer, len(w.params) // 2

    def loss_of(params: Any, x: Any, labels: Any) -> Any:
        for layer in range(layers):
            x = x @ params[f"W{layer}"] + params[f"b{layer}"]
            if layer < layers - 1:
                x = jax.nn.relu(x)
        log_probability = jax.nn.log_softmax(x)
        return -jnp.mean(jnp.take_along_axis(log_probability, labels[:, None], axis=1))

    def update(params: Any, m: Any, v: Any, t: Any, x: Any, labels: Any) -> Any:
        loss, g = jax.value_and_grad(loss_of)(params, x, labels)
        m = jax.tree.map(lambda m, g: rule.b1 * m + (1 - rule.b1) * g, m, g)
        v = jax.tree.map(lambda v, g: rule.b2 * v + (1 - rule.b2) * g * g, v, g)
        c1, c2 = 1 - rule.b1**t, 1 - rule.b2**t
        params = jax.tree.map(
            lambda p, m, v: p - rule.lr * (m / c1) / (jnp.sqrt(v / c2) + rule.eps), params, m, v
        )
        return loss, (params, m, v, t + 1)

    compiled = jax.jit(update, donate_argnums=(0, 1, 2, 3))
    params = {name: jnp.array(array) for name, array in w.params.items()}
    state: Any = (
        params,
        jax.tree.map(jnp.zeros_like, params),
        jax.tree.map(jnp.zeros_like, params),
        jnp.float32(1),
    )

    def step(batch: Batch) -> float:
        nonlocal state
        loss, state = compiled(*state, batch["x"], batch["y"])
        return float(loss)

    return step


def eltwise_value(x: Any, weight: Any, bias: Any) -> Any:
    """The definition of the workload, operation by operation."""
    z = x * weight + bias
    r = jnp.tanh(z) * jnp.exp(-x * x) / (1.0 + jnp.abs(x))
    s = r + 0.5 * jnp.sin(z) * jnp.cos(x)
    q = jnp.sqrt(1.0 + s * s)
    return jnp.mean(jnp.log(q + 1.0) * (1.5 + s) + 0.1 * z * s)


def eltwise_grad(w: Workload) -> Step:
    """Value and gradients in one compiled function, waited for."""
    arrays = [jnp.array(w.params[name]) for name in w.wrt]
    compiled = jax.jit(jax.value_and_grad(eltwise_value, argnums=(0, 1, 2)))

    def step(_: Batch) -> tuple[float, list[Any]]:
        value, gradients = jax.block_until_ready(compiled(*arrays))
        return float(value), list(gradients)

    return step


def small_ops(w: Workload) -> Step:
    """The whole chain and its derivative in one compiled function."""
    program = w.config["program"]
    compiled = jax.jit(jax.value_and_grad(lambda x: chain_value(jnp.sin, jnp.tanh, program, x)))

    def step(batch: Batch) -> tuple[float, list[float]]:
        value, slope = compiled(batch["x"])
        return float(value), [float(slope)]

    return step


def chain(program: Program, report: measure.Report) -> None:
    """Tracing differentiates as well."""
    function = jax.jit(jax.value_and_grad(lambda x: chain_value(jnp.sin, jnp.tanh, program, x)))
    x = np.float32(0.5)
    traced = function.trace(x)
    report("trace")
    compiled = traced.lower().compile()
    report("compile")
    for phase in ("first run", "run"):
        _, slope = compiled(x)
        report(phase, gradient=float(slope))


BUILDERS: dict[str, Build] = {
    "mlp_train": mlp_train,
    "mlp_train_small": mlp_train,
    "small_ops": small_ops,
    "eltwise_grad": eltwise_grad,
}

if __name__ == "__main__":
    measure.main("jax", BUILDERS, chain)
