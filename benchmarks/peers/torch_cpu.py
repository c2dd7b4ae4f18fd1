"""PyTorch on the CPU with its fused optimizers; images are stored channels last.

Eager; with `--compile` losses and their gradients are compiled to C++ by Inductor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

import benchmarks
import benchmarks.measure as measure
from benchmarks.definitions import Adam, Array, Batch, Build, Program, Report, Step, Workload
from benchmarks.yardstick.chain import chain_value
from benchmarks.yardstick.dense import BURGERS_VISCOSITY
from benchmarks.yardstick.images import resnet_blocks

torch.set_num_threads(benchmarks.THREADS)

Tensors = dict[str, Any]
Loss = Callable[[Workload, Tensors, Tensors], Any]
COMPILES = "--compile" in sys.argv


def prepared(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, or compiled."""
    compiled: Callable[..., Any] = torch.compile(function) if COMPILES else function
    return compiled


def stored(array: Array) -> Any:
    """An array as a tensor, of the same memory where its layout allows; integers become int64."""
    tensor = torch.from_numpy(array)
    if tensor.ndim == 4:
        return tensor.contiguous(memory_format=torch.channels_last)
    return tensor if tensor.is_floating_point() else tensor.long()


def resident(w: Workload, grad: bool) -> Tensors:
    """The parameters."""
    return {name: stored(a.copy()).requires_grad_(grad) for name, a in w.params.items()}


def train(loss_of: Loss) -> Build:
    """A step of the workload's optimizer."""

    def build(w: Workload) -> Step:
        rule, params = w.optimizer, resident(w, grad=True)
        assert rule is not None
        optimizer: Any
        if isinstance(rule, Adam):
            optimizer = torch.optim.Adam(
                params.values(), lr=rule.lr, betas=(rule.b1, rule.b2), eps=rule.eps, fused=True
            )
        else:
            optimizer = torch.optim.SGD(params.values(), lr=rule.lr, momentum=rule.mu, fused=True)
        compiled = prepared(lambda params, batch: loss_of(w, params, batch))

        def step(batch: Batch) -> float:
            loss = compiled(params, {name: stored(a) for name, a in batch.items()})
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            return float(loss.item())

        return step

    return build


def infer(logits_of: Callable[[Workload, Tensors, Any], Any]) -> Build:
    """Logits without a tape."""

    def build(w: Workload) -> Step:
        params = resident(w, grad=False)
        compiled = prepared(lambda params, x: logits_of(w, params, x))

        def step(batch: Batch) -> Any:
            with torch.inference_mode():
                return compiled(params, stored(batch["x"])).numpy()

        return step

    return build


def value_and_gradients(value_of: Callable[[Tensors], Any]) -> Build:
    """A value of the parameters, and its gradients."""

    def build(w: Workload) -> Step:
        params = resident(w, grad=False)
        wrt = [params[name].requires_grad_() for name in w.wrt]
        compiled = prepared(value_of)

        def step(_: Batch) -> tuple[float, list[Any]]:
            value = compiled(params)
            gradients = torch.autograd.grad(value, wrt)
            return float(value.item()), list(gradients)

        return step

    return build


def layers(params: Tensors, x: Any, activation: Callable[[Any], Any]) -> Any:
    """As many layers as there are pairs of parameters, the last one without activation."""
    count = len(params) // 2
    for layer in range(count):
        x = torch.addmm(params[f"b{layer}"], x, params[f"W{layer}"])
        if layer < count - 1:
            x = activation(x)
    return x


def mlp_loss(_: Workload, params: Tensors, batch: Tensors) -> Any:
    """Cross-entropy of a ReLU network."""
    return functional.cross_entropy(layers(params, batch["x"], torch.relu), batch["y"])


def mlp_logits(_: Workload, params: Tensors, x: Any) -> Any:
    """The logits of the same network."""
    return layers(params, x, torch.relu)


def hvp(w: Workload) -> Step:
    """Reverse over reverse."""
    params = resident(w, grad=True)
    leaves = [params[name] for name in w.wrt]
    vector = [torch.from_numpy(w.config["vector"][name]) for name in w.wrt]
    batch = {name: stored(a) for name, a in w.batches[0].items()}

    def step(_: Batch) -> tuple[float, list[Any]]:
        value = functional.cross_entropy(layers(params, batch["x"], torch.tanh), batch["y"])
        first = torch.autograd.grad(value, leaves, create_graph=True)
        products = torch.autograd.grad(first, leaves, grad_outputs=vector)
        return float(value.item()), list(products)

    return step


def pinn_loss(_: Workload, params: Tensors, batch: Tensors) -> Any:
    """Derivatives of the network by its inputs, kept differentiable."""
    points = batch["tx"].requires_grad_()
    u = layers(params, points, torch.tanh)
    (du,) = torch.autograd.grad(u.sum(), points, create_graph=True)
    u_t, u_x = du[:, :1], du[:, 1:]
    (du_x,) = torch.autograd.grad(u_x.sum(), points, create_graph=True)
    residual = u_t + u * u_x - BURGERS_VISCOSITY * du_x[:, 1:]
    known = functional.mse_loss(layers(params, batch["tx_data"], torch.tanh), batch["u_data"])
    return residual.square().mean() + known


def lenet_loss(_: Workload, p: Tensors, batch: Tensors) -> Any:
    """Two convolutions with pooling, three dense layers."""
    x = functional.max_pool2d(torch.relu(functional.conv2d(batch["x"], p["c1"], p["c1b"])), 2)
    x = functional.max_pool2d(torch.relu(functional.conv2d(x, p["c2"], p["c2b"])), 2).flatten(1)
    x = torch.relu(torch.addmm(p["f1b"], x, p["f1"]))
    x = torch.relu(torch.addmm(p["f2b"], x, p["f2"]))
    return functional.cross_entropy(torch.addmm(p["f3b"], x, p["f3"]), batch["y"])


def resnet20_loss(_: Workload, p: Tensors, batch: Tensors) -> Any:
    """Residual blocks."""

    def conv_norm(x: Any, name: str, stride: int = 1) -> Any:
        y = functional.conv2d(x, p[name], stride=stride, padding=1)
        return functional.batch_norm(y, None, None, p[f"{name}_g"], p[f"{name}_b"], training=True)

    x = torch.relu(conv_norm(batch["x"], "stem"))
    for name, n_in, n_out, stride in resnet_blocks():
        y = conv_norm(torch.relu(conv_norm(x, f"{name}c1", stride)), f"{name}c2")
        if n_in != n_out:
            side = (n_out - n_in) // 2
            x = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, side, side))
        x = torch.relu(x + y)
    return functional.cross_entropy(torch.addmm(p["fcb"], x.mean((2, 3)), p["fc"]), batch["y"])


def lstm_train(w: Workload) -> Step:
    """The built-in LSTM, whose weights are (gates, inputs) and biases two."""
    hidden = w.config["hidden"]
    zeros = torch.zeros(4 * hidden)
    for name in ("Wx", "Wh"):
        w.params[name] = w.params[name].T.copy()

    def loss(_: Workload, p: Tensors, batch: Tensors) -> Any:
        x = functional.embedding(batch["x"], p["emb"])
        start = torch.zeros(1, len(x), hidden)
        weights = [p["Wx"], p["Wh"], p["b"], zeros]
        outputs = torch._VF.lstm(x, (start, start), weights, True, 1, 0.0, True, False, True)[0]
        logits = outputs @ p["Wo"] + p["bo"]
        return functional.cross_entropy(logits.flatten(0, 1), batch["y"].flatten())

    return train(loss)(w)


def gpt_logits(w: Workload, p: Tensors, tokens: Any) -> Any:
    """Layers of the built-in causal attention and dense networks."""
    rows, steps = tokens.shape
    width, heads = w.config["d"], w.config["heads"]
    x = functional.embedding(tokens, p["tok"]) + p["pos"][:steps]
    for layer in range(w.config["layers"]):
        q = {name.removeprefix(f"l{layer}_"): t for name, t in p.items()}
        h = functional.layer_norm(x, (width,), q["g1"], q["n1"])
        split = torch.addmm(q["bqkv"], h.view(-1, width), q["Wqkv"])
        split = split.view(rows, steps, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*split.unbind(0), is_causal=True)
        mixed = mixed.transpose(1, 2).reshape(-1, width)
        x = x + torch.addmm(q["bo"], mixed, q["Wo"]).view_as(x)
        h = functional.layer_norm(x, (width,), q["g2"], q["n2"])
        h = functional.gelu(torch.addmm(q["b1"], h.view(-1, width), q["W1"]), approximate="tanh")
        x = x + torch.addmm(q["b2"], h, q["W2"]).view_as(x)
    return functional.layer_norm(x, (width,), p["gf"], p["nf"]) @ p["head"]


def gpt_loss(w: Workload, params: Tensors, batch: Tensors) -> Any:
    """The loss of every next letter."""
    return functional.cross_entropy(
        gpt_logits(w, params, batch["x"]).flatten(0, 1), batch["y"].flatten()
    )


def eltwise_value(p: Tensors) -> Any:
    """The definition of the workload, operation by operation."""
    x = p["x"]
    z = x * p["w"] + p["b"]
    r = torch.tanh(z) * torch.exp(-x * x) / (1.0 + torch.abs(x))
    s = r + 0.5 * torch.sin(z) * torch.cos(x)
    q = torch.sqrt(1.0 + s * s)
    return torch.mean(torch.log(q + 1.0) * (1.5 + s) + 0.1 * z * s)


def softmax_ln_value(p: Tensors) -> Any:
    """Softmax of a layer norm."""
    normal = functional.layer_norm(p["x"], p["gain"].shape, p["gain"], p["bias"])
    return (torch.softmax(normal, -1) * p["target"]).sum(-1).mean()


def small_ops(w: Workload) -> Step:
    """The tape is made anew at every call: that is what eager means."""
    program = w.config["program"]

    def step(batch: Batch) -> tuple[float, list[float]]:
        x = torch.tensor(batch["x"], requires_grad=True)
        value = chain_value(torch.sin, torch.tanh, program, x)
        (slope,) = torch.autograd.grad(value, [x])
        return float(value.item()), [float(slope.item())]

    return step


def chain(program: Program, report: Report) -> None:
    """There is nothing to plan: a second run costs what the first does."""
    for phase in ("first run", "run"):
        x = torch.tensor(0.5, requires_grad=True)
        value = chain_value(torch.sin, torch.tanh, program, x)
        (slope,) = torch.autograd.grad(value, [x])
        report(phase, gradient=float(slope.item()))


BUILDERS: dict[str, Build] = {
    "mlp_train": train(mlp_loss),
    "mlp_train_small": train(mlp_loss),
    "mlp_infer_b1": infer(mlp_logits),
    "hvp": hvp,
    "pinn": train(pinn_loss),
    "lenet_train": train(lenet_loss),
    "resnet20_train": train(resnet20_loss),
    "lstm_train": lstm_train,
    "gpt_train": train(gpt_loss),
    "gpt_infer": infer(gpt_logits),
    "small_ops": small_ops,
    "eltwise_grad": value_and_gradients(eltwise_value),
    "softmax_ln": value_and_gradients(softmax_ln_value),
}

# What differentiates inside or is made of a thousand Python operations, Inductor does not take, or
# not within minutes.
EAGER_ONLY = ("hvp", "pinn", "small_ops", "lstm_train")

if __name__ == "__main__":
    if COMPILES:
        chosen = {name: build for name, build in BUILDERS.items() if name not in EAGER_ONLY}
        measure.main("torch-compile", chosen)
    else:
        measure.main("torch-eager", BUILDERS, chain)
