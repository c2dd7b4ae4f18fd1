"""TensorFlow as version 1 ran it: a graph, `Session.make_callable`, fused optimizers.

Images are channels last, which is what its CPU kernels run natively.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

import benchmarks
import benchmarks.measure as measure
from benchmarks.definitions import Adam, Batch, Build, Step, Workload
from benchmarks.yardstick.chain import chain_value
from benchmarks.yardstick.dense import BURGERS_VISCOSITY
from benchmarks.yardstick.images import resnet_blocks

tf.disable_v2_behavior()

Tensors = dict[str, Any]
Loss = Callable[[Workload, Tensors, Tensors], Any]


def variables(w: Workload) -> Tensors:
    """The parameters, in a new graph."""
    tf.reset_default_graph()
    return {n: tf.get_variable(n, initializer=a, use_resource=True) for n, a in w.params.items()}


def placeholders(batch: Batch) -> Tensors:
    """What a step is fed."""
    return {name: tf.placeholder(a.dtype, a.shape, name) for name, a in batch.items()}


def function(fetches: Any, feeds: Tensors) -> Callable[[Batch], Any]:
    """The fetches of a batch, from a session in which the variables are initialised."""
    session = tf.Session(
        config=tf.ConfigProto(
            intra_op_parallelism_threads=benchmarks.THREADS,
            inter_op_parallelism_threads=benchmarks.THREADS,
        )
    )
    session.run(tf.global_variables_initializer())
    run = session.make_callable(fetches, list(feeds.values()))
    names = list(feeds)
    return lambda batch: run(*[batch[name] for name in names])


def adam(rule: Adam, params: list[Any], gradients: list[Any]) -> Any:
    """The fused update, to whose epsilon the correction of bias is brought: by itself it adds
    epsilon to the root before that."""
    t = tf.get_variable("t", initializer=np.float32(1), use_resource=True)
    first, second = rule.b1**t, rule.b2**t
    updates = []
    for k, (p, g) in enumerate(zip(params, gradients, strict=True)):
        m, v = (
            tf.get_variable(
                f"{name}{k}", p.shape, initializer=tf.zeros_initializer, use_resource=True
            )
            for name in "mv"
        )
        updates.append(
            tf.raw_ops.ResourceApplyAdam(
                var=p.handle, m=m.handle, v=v.handle, beta1_power=first, beta2_power=second,
                lr=rule.lr, beta1=rule.b1, beta2=rule.b2,
                epsilon=rule.eps * tf.sqrt(1 - second), grad=g,
            )
        )  # fmt: skip
    with tf.control_dependencies(updates):
        return t.assign_add(1).op


def train(loss_of: Loss) -> Build:
    """A step of the workload's optimizer."""

    def build(w: Workload) -> Step:
        rule = w.optimizer
        assert rule is not None
        params, feeds = variables(w), placeholders(w.batches[0])
        loss = loss_of(w, params, feeds)
        leaves = list(params.values())
        # The loss of before the update, whichever of the two the session comes to first.
        with tf.control_dependencies([loss]):
            gradients = tf.gradients(loss, leaves)
            if isinstance(rule, Adam):
                update = adam(rule, leaves, gradients)
            else:
                momentum = tf.train.MomentumOptimizer(rule.lr, rule.mu)
                update = momentum.apply_gradients(zip(gradients, leaves, strict=True))
        run = function([loss, update], feeds)
        return lambda batch: float(run(batch)[0])

    return build


def infer(logits_of: Callable[[Workload, Tensors, Any], Any]) -> Build:
    """Logits of a batch."""

    def build(w: Workload) -> Step:
        params, feeds = variables(w), placeholders({"x": w.batches[0]["x"]})
        return function(logits_of(w, params, feeds["x"]), feeds)

    return build


def value_and_gradients(value_of: Callable[[Tensors], Any]) -> Build:
    """A value of the parameters, and its gradients."""

    def build(w: Workload) -> Step:
        params = variables(w)
        value = value_of(params)
        run = function([value, *tf.gradients(value, [params[name] for name in w.wrt])], {})

        def step(batch: Batch) -> tuple[float, list[Any]]:
            result, *gradients = run(batch)
            return float(result), gradients

        return step

    return build


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean of -log softmax at the labels."""
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def layers(params: Tensors, x: Any, activation: Callable[[Any], Any]) -> Any:
    """As many layers as there are pairs of parameters, the last one without activation."""
    count = len(params) // 2
    for layer in range(count):
        x = tf.nn.bias_add(x @ params[f"W{layer}"], params[f"b{layer}"])
        if layer < count - 1:
            x = activation(x)
    return x


def mlp_loss(_: Workload, params: Tensors, batch: Tensors) -> Any:
    """Cross-entropy of a ReLU network."""
    return cross_entropy(layers(params, batch["x"], tf.nn.relu), batch["y"])


def mlp_logits(_: Workload, params: Tensors, x: Any) -> Any:
    """The logits of the same network."""
    return layers(params, x, tf.nn.relu)


def hvp(w: Workload) -> Step:
    """Reverse over reverse: TensorFlow 1 has no forward mode."""
    params = variables(w)
    batch = {name: tf.constant(a) for name, a in w.batches[0].items()}
    value = cross_entropy(layers(params, batch["x"], tf.tanh), batch["y"])
    leaves = [params[name] for name in w.wrt]
    # Resident like the parameters: a constant would be folded into what is computed of it.
    vector = [
        tf.get_variable(f"v_{name}", initializer=w.config["vector"][name], use_resource=True)
        for name in w.wrt
    ]
    first = tf.gradients(value, leaves)
    run = function([value, *tf.gradients(first, leaves, grad_ys=vector)], {})

    def step(_: Batch) -> tuple[float, list[Any]]:
        result, *products = run({})
        return float(result), products

    return step


def pinn_loss(_: Workload, params: Tensors, batch: Tensors) -> Any:
    """Derivatives of the network by its inputs."""
    points = batch["tx"]
    u = layers(params, points, tf.tanh)
    (du,) = tf.gradients(u, points)
    u_t, u_x = du[:, :1], du[:, 1:]
    (du_x,) = tf.gradients(u_x, points)
    residual = u_t + u * u_x - BURGERS_VISCOSITY * du_x[:, 1:]
    error = layers(params, batch["tx_data"], tf.tanh) - batch["u_data"]
    return tf.reduce_mean(tf.square(residual)) + tf.reduce_mean(tf.square(error))


def channels_last(w: Workload) -> Workload:
    """The same workload with kernels (height, width, in, out)."""
    for name, array in w.params.items():
        if array.ndim == 4:
            w.params[name] = np.ascontiguousarray(array.transpose(2, 3, 1, 0))
    return w


def lenet_train(w: Workload) -> Step:
    """Two convolutions with pooling, three dense layers."""

    def loss(_: Workload, p: Tensors, batch: Tensors) -> Any:
        x = tf.transpose(batch["x"], (0, 2, 3, 1))
        for name in ("c1", "c2"):
            x = tf.nn.bias_add(tf.nn.conv2d(x, p[name], 1, "VALID"), p[f"{name}b"])
            x = tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "VALID")
        x = tf.reshape(tf.transpose(x, (0, 3, 1, 2)), (x.shape[0], -1))
        for name in ("f1", "f2"):
            x = tf.nn.relu(tf.nn.bias_add(x @ p[name], p[f"{name}b"]))
        return cross_entropy(tf.nn.bias_add(x @ p["f3"], p["f3b"]), batch["y"])

    return train(loss)(channels_last(w))


def resnet20_train(w: Workload) -> Step:
    """Residual blocks with the built-in batch norm."""

    def loss(_: Workload, p: Tensors, batch: Tensors) -> Any:
        def conv_norm(x: Any, name: str, stride: int = 1) -> Any:
            # Padded alike at both ends, which "SAME" is not at stride 2.
            padding = [[0, 0], [1, 1], [1, 1], [0, 0]]
            y = tf.nn.conv2d(x, p[name], stride, padding)
            gain, bias = p[f"{name}_g"], p[f"{name}_b"]
            return tf.nn.fused_batch_norm(y, gain, bias, epsilon=1e-5, is_training=True)[0]

        x = tf.nn.relu(conv_norm(tf.transpose(batch["x"], (0, 2, 3, 1)), "stem"))
        for name, n_in, n_out, stride in resnet_blocks():
            y = conv_norm(tf.nn.relu(conv_norm(x, f"{name}c1", stride)), f"{name}c2")
            if n_in != n_out:
                side = (n_out - n_in) // 2
                x = tf.pad(x[:, ::2, ::2], ((0, 0), (0, 0), (0, 0), (side, side)))
            x = tf.nn.relu(x + y)
        logits = tf.nn.bias_add(tf.reduce_mean(x, (1, 2)) @ p["fc"], p["fcb"])
        return cross_entropy(logits, batch["y"])

    return train(loss)(channels_last(w))


def lstm_loss(w: Workload, p: Tensors, batch: Tensors) -> Any:
    """Unrolled."""
    products = tf.tensordot(tf.gather(p["emb"], batch["x"]), p["Wx"], 1) + p["b"]
    h = c = tf.zeros((batch["x"].shape[0], w.config["hidden"]))
    outputs = []
    for product in tf.unstack(products, axis=1):
        i, f, g, o = tf.split(product + h @ p["Wh"], 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        outputs.append(h)
    logits = tf.tensordot(tf.stack(outputs, axis=1), p["Wo"], 1) + p["bo"]
    return cross_entropy(logits, batch["y"])


def gelu(x: Any) -> Any:
    """By tanh."""
    return 0.5 * x * (1.0 + tf.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x * x * x)))


def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
    """x with mean 0 and variance 1 along the last axis, times gain plus bias."""
    mean, variance = tf.nn.moments(x, (-1,), keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, bias, gain, 1e-5)


def gpt_logits(w: Workload, p: Tensors, tokens: Any) -> Any:
    """Layers of causal attention and dense networks; dense ones on matrices of all letters."""
    rows, steps = tokens.shape
    width, heads = w.config["d"], w.config["heads"]
    hidden = (1 - np.tril(np.ones((steps, steps), np.float32))) * np.float32(-1e9)
    x = tf.reshape(tf.gather(p["tok"], tokens) + p["pos"][:steps], (-1, width))
    for layer in range(w.config["layers"]):
        q = {name.removeprefix(f"l{layer}_"): t for name, t in p.items()}
        h = tf.nn.bias_add(layer_norm(x, q["g1"], q["n1"]) @ q["Wqkv"], q["bqkv"])
        split = tf.reshape(h, (rows, steps, 3, heads, width // heads))
        query, key, value = tf.unstack(tf.transpose(split, (2, 0, 3, 1, 4)))
        scores = tf.matmul(query, key, transpose_b=True) * (width // heads) ** -0.5
        mixed = tf.transpose(tf.nn.softmax(scores + hidden) @ value, (0, 2, 1, 3))
        x += tf.nn.bias_add(tf.reshape(mixed, (-1, width)) @ q["Wo"], q["bo"])
        h = tf.nn.bias_add(layer_norm(x, q["g2"], q["n2"]) @ q["W1"], q["b1"])
        x += tf.nn.bias_add(gelu(h) @ q["W2"], q["b2"])
    return tf.reshape(layer_norm(x, p["gf"], p["nf"]) @ p["head"], (rows, steps, -1))


def gpt_loss(w: Workload, params: Tensors, batch: Tensors) -> Any:
    """The loss of every next letter."""
    return cross_entropy(gpt_logits(w, params, batch["x"]), batch["y"])


def eltwise_value(p: Tensors) -> Any:
    """The definition of the workload, operation by operation."""
    x = p["x"]
    z = x * p["w"] + p["b"]
    r = tf.tanh(z) * tf.exp(-x * x) / (1.0 + tf.abs(x))
    s = r + 0.5 * tf.sin(z) * tf.cos(x)
    q = tf.sqrt(1.0 + s * s)
    return tf.reduce_mean(tf.log(q + 1.0) * (1.5 + s) + 0.1 * z * s)


def softmax_ln_value(p: Tensors) -> Any:
    """Softmax of a layer norm."""
    y = tf.nn.softmax(layer_norm(p["x"], p["gain"], p["bias"]))
    return tf.reduce_mean(tf.reduce_sum(y * p["target"], -1))


def small_ops(w: Workload) -> Step:
    """A thousand nodes and their gradient."""
    tf.reset_default_graph()
    feeds = placeholders({"x": w.batches[0]["x"]})
    value = chain_value(tf.sin, tf.tanh, w.config["program"], feeds["x"])
    run = function([value, *tf.gradients(value, [feeds["x"]])], feeds)

    def step(batch: Batch) -> tuple[float, list[float]]:
        result, slope = run(batch)
        return float(result), [float(slope)]

    return step


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
    measure.main("tf1", BUILDERS)
