"""JAX on the CPU: one compiled function a step, its state donated.

Convolutions are (batch, height, width, channels), which is what XLA's CPU back end runs natively.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import benchmarks.measure as measure
from benchmarks.definitions import Adam, Batch, Build, Program, Report, Step, Workload
from benchmarks.yardstick.chain import chain_value
from benchmarks.yardstick.dense import BURGERS_VISCOSITY
from benchmarks.yardstick.images import resnet_blocks

Arrays = Any
Loss = Callable[[Workload, Arrays, Arrays], Any]


def train(loss_of: Loss) -> Build:
    """Gradients and the workload's optimizer, compiled as one function."""

    def build(w: Workload) -> Step:
        rule = w.optimizer
        assert rule is not None

        def update(params: Arrays, state: Any, t: Any, batch: Arrays) -> Any:
            loss, g = jax.value_and_grad(lambda p: loss_of(w, p, batch))(params)
            if isinstance(rule, Adam):
                m, v = state
                m = jax.tree.map(lambda m, g: rule.b1 * m + (1 - rule.b1) * g, m, g)
                v = jax.tree.map(lambda v, g: rule.b2 * v + (1 - rule.b2) * g * g, v, g)
                c1, c2 = 1 - rule.b1**t, 1 - rule.b2**t
                params = jax.tree.map(
                    lambda p, m, v: p - rule.lr * (m / c1) / (jnp.sqrt(v / c2) + rule.eps),
                    params,
                    m,
                    v,
                )
                return loss, (params, (m, v), t + 1)
            v = jax.tree.map(lambda v, g: rule.mu * v + g, state, g)
            params = jax.tree.map(lambda p, v: p - rule.lr * v, params, v)
            return loss, (params, v, t + 1)

        compiled = jax.jit(update, donate_argnums=(0, 1, 2))
        params = {name: jnp.array(array) for name, array in w.params.items()}
        moments = [jax.tree.map(jnp.zeros_like, params) for _ in range(2)]
        state: Any = (
            params,
            tuple(moments) if isinstance(rule, Adam) else moments[0],
            jnp.float32(1),
        )

        def step(batch: Batch) -> float:
            nonlocal state
            loss, state = compiled(*state, batch)
            return float(loss)

        return step

    return build


def infer(logits_of: Callable[[Workload, Arrays, Any], Any]) -> Build:
    """Logits of a batch."""

    def build(w: Workload) -> Step:
        params = jax.device_put(w.params)
        compiled = jax.jit(lambda p, x: logits_of(w, p, x))
        return lambda batch: np.asarray(compiled(params, batch["x"]))

    return build


def value_and_gradients(value_of: Callable[[Arrays], Any]) -> Build:
    """Value and gradients in one compiled function, waited for."""

    def build(w: Workload) -> Step:
        params = jax.device_put(w.params)
        wrt = {name: params.pop(name) for name in w.wrt}
        compiled = jax.jit(jax.value_and_grad(lambda v, rest: value_of({**v, **rest})))

        def step(_: Batch) -> tuple[float, list[Any]]:
            value, gradients = jax.block_until_ready(compiled(wrt, params))
            return float(value), [gradients[name] for name in w.wrt]

        return step

    return build


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean of -log softmax at the labels."""
    log_probability = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(log_probability, labels[..., None], axis=-1))


def layers(params: Arrays, x: Any, activation: Callable[[Any], Any]) -> Any:
    """As many layers as there are pairs of parameters, the last one without activation."""
    count = len(params) // 2
    for layer in range(count):
        x = x @ params[f"W{layer}"] + params[f"b{layer}"]
        if layer < count - 1:
            x = activation(x)
    return x


def mlp_loss(_: Workload, params: Arrays, batch: Arrays) -> Any:
    """Cross-entropy of a ReLU network."""
    return cross_entropy(layers(params, batch["x"], jax.nn.relu), batch["y"])


def mlp_logits(_: Workload, params: Arrays, x: Any) -> Any:
    """The logits of the same network."""
    return layers(params, x, jax.nn.relu)


def hvp(w: Workload) -> Step:
    """Forward over reverse."""
    params, vector = jax.device_put(w.params), jax.device_put(w.config["vector"])
    batch = jax.device_put(w.batches[0])

    def both(params: Arrays, vector: Arrays, batch: Arrays) -> Any:
        def loss(p: Arrays) -> Any:
            return cross_entropy(layers(p, batch["x"], jnp.tanh), batch["y"])

        (value, _), (_, products) = jax.jvp(jax.value_and_grad(loss), (params,), (vector,))
        return value, products

    compiled = jax.jit(both)

    def step(_: Batch) -> tuple[float, list[Any]]:
        value, products = jax.block_until_ready(compiled(params, vector, batch))
        return float(value), [products[name] for name in w.wrt]

    return step


def pinn_loss(_: Workload, params: Arrays, batch: Arrays) -> Any:
    """Derivatives of the network by its inputs, forward."""

    def u_of(points: Any) -> Any:
        return layers(params, points, jnp.tanh)

    points = batch["tx"]
    along_t = jnp.broadcast_to(jnp.array([1.0, 0.0]), points.shape)
    along_x = jnp.broadcast_to(jnp.array([0.0, 1.0]), points.shape)
    u_t = jax.jvp(u_of, (points,), (along_t,))[1]

    def u_and_slope(points: Any) -> Any:
        return jax.jvp(u_of, (points,), (along_x,))

    (u, u_x), (_, u_xx) = jax.jvp(u_and_slope, (points,), (along_x,))
    residual = u_t + u * u_x - BURGERS_VISCOSITY * u_xx
    error = u_of(batch["tx_data"]) - batch["u_data"]
    return jnp.mean(residual**2) + jnp.mean(error**2)


def conv(x: Any, kernel: Any, stride: int = 1, padding: Any = "VALID") -> Any:
    """A convolution with the channels last."""
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def channels_last(w: Workload) -> Workload:
    """The same workload with its kernels (height, width, in, out)."""
    for name, array in w.params.items():
        if array.ndim == 4:
            w.params[name] = np.ascontiguousarray(array.transpose(2, 3, 1, 0))
    return w


def lenet_train(w: Workload) -> Step:
    """Two convolutions with pooling, three dense layers."""

    def pool(x: Any) -> Any:
        rows, height, width, channels = x.shape
        return x.reshape(rows, height // 2, 2, width // 2, 2, channels).max((2, 4))

    def loss(_: Workload, p: Arrays, batch: Arrays) -> Any:
        x = batch["x"].transpose(0, 2, 3, 1)
        x = pool(jax.nn.relu(conv(x, p["c1"]) + p["c1b"]))
        x = pool(jax.nn.relu(conv(x, p["c2"]) + p["c2b"]))
        x = x.transpose(0, 3, 1, 2).reshape(x.shape[0], -1)
        x = jax.nn.relu(x @ p["f1"] + p["f1b"])
        x = jax.nn.relu(x @ p["f2"] + p["f2b"])
        return cross_entropy(x @ p["f3"] + p["f3b"], batch["y"])

    return train(loss)(channels_last(w))


def normalized(x: Any, gain: Any, bias: Any, axes: tuple[int, ...]) -> Any:
    """x with mean 0 and variance 1 along the axes, times gain plus bias."""
    mean = x.mean(axes, keepdims=True)
    variance = jnp.square(x - mean).mean(axes, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + bias


def resnet20_train(w: Workload) -> Step:
    """Residual blocks."""

    def loss(_: Workload, p: Arrays, batch: Arrays) -> Any:
        def conv_norm(x: Any, name: str, stride: int = 1) -> Any:
            y = conv(x, p[name], stride, ((1, 1), (1, 1)))
            return normalized(y, p[f"{name}_g"], p[f"{name}_b"], (0, 1, 2))

        x = jax.nn.relu(conv_norm(batch["x"].transpose(0, 2, 3, 1), "stem"))
        for name, n_in, n_out, stride in resnet_blocks():
            y = conv_norm(jax.nn.relu(conv_norm(x, f"{name}c1", stride)), f"{name}c2")
            if n_in != n_out:
                side = (n_out - n_in) // 2
                x = jnp.pad(x[:, ::2, ::2], ((0, 0), (0, 0), (0, 0), (side, side)))
            x = jax.nn.relu(x + y)
        return cross_entropy(x.mean((1, 2)) @ p["fc"] + p["fcb"], batch["y"])

    return train(loss)(channels_last(w))


def lstm_loss(w: Workload, p: Arrays, batch: Arrays) -> Any:
    """A scan over the steps."""
    products = jnp.take(p["emb"], batch["x"].T, axis=0) @ p["Wx"] + p["b"]

    def cell(carry: Any, product: Any) -> Any:
        h, c = carry
        i, f, g, o = jnp.split(product + h @ p["Wh"], 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros((products.shape[1], w.config["hidden"]), products.dtype)
    _, outputs = jax.lax.scan(cell, (start, start), products)
    return cross_entropy(outputs @ p["Wo"] + p["bo"], batch["y"].T)


def gpt_logits(w: Workload, p: Arrays, tokens: Any) -> Any:
    """Layers of causal attention and dense networks."""
    rows, steps = tokens.shape
    width, heads = w.config["d"], w.config["heads"]
    causal = jnp.tril(jnp.ones((steps, steps), bool))
    x = jnp.take(p["tok"], tokens, axis=0) + p["pos"][:steps]
    for layer in range(w.config["layers"]):
        q = {name.removeprefix(f"l{layer}_"): a for name, a in p.items()}
        h = normalized(x, q["g1"], q["n1"], (-1,)) @ q["Wqkv"] + q["bqkv"]
        split = h.reshape(rows, steps, 3, heads, width // heads)
        query, key, value = jnp.moveaxis(split, 2, 0)
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / (width // heads) ** 0.5
        weights = jax.nn.softmax(jnp.where(causal, scores, -1e9))
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(rows, steps, width)
        x = x + mixed @ q["Wo"] + q["bo"]
        h = normalized(x, q["g2"], q["n2"], (-1,)) @ q["W1"] + q["b1"]
        x = x + jax.nn.gelu(h, approximate=True) @ q["W2"] + q["b2"]
    return normalized(x, p["gf"], p["nf"], (-1,)) @ p["head"]


def gpt_loss(w: Workload, params: Arrays, batch: Arrays) -> Any:
    """The loss of every next letter."""
    return cross_entropy(gpt_logits(w, params, batch["x"]), batch["y"])


def eltwise_value(p: Arrays) -> Any:
    """The definition of the workload, operation by operation."""
    x = p["x"]
    z = x * p["w"] + p["b"]
    r = jnp.tanh(z) * jnp.exp(-x * x) / (1.0 + jnp.abs(x))
    s = r + 0.5 * jnp.sin(z) * jnp.cos(x)
    q = jnp.sqrt(1.0 + s * s)
    return jnp.mean(jnp.log(q + 1.0) * (1.5 + s) + 0.1 * z * s)


def softmax_ln_value(p: Arrays) -> Any:
    """Softmax of a layer norm."""
    y = jax.nn.softmax(normalized(p["x"], p["gain"], p["bias"], (-1,)))
    return jnp.mean(jnp.sum(y * p["target"], axis=-1))


def small_ops(w: Workload) -> Step:
    """The whole chain and its derivative in one compiled function."""
    program = w.config["program"]
    compiled = jax.jit(jax.value_and_grad(lambda x: chain_value(jnp.sin, jnp.tanh, program, x)))

    def step(batch: Batch) -> tuple[float, list[float]]:
        value, slope = compiled(batch["x"])
        return float(value), [float(slope)]

    return step


def chain(program: Program, report: Report) -> None:
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
    "mlp_train": train(mlp_loss),
    "mlp_train_small": train(mlp_loss),
    "mlp_infer_b1": infer(mlp_logits),
    "hvp": hvp,
    "pinn": train(pinn_loss),
    "lenet_train": lenet_train,
    "resnet20_train": resnet20_train,
    "lstm_train": train(lstm_loss),
    "gpt_train": train(gpt_loss),
    "gpt_infer": infer(gpt_logits),
    "small_ops": small_ops,
    "eltwise_grad": value_and_gradients(eltwise_value),
    "softmax_ln": value_and_gradients(softmax_ln_value),
}

if __name__ == "__main__":
    measure.main("jax", BUILDERS, chain)
