"""PyTorch on the CPU, eager, with its fused Adam."""

from __future__ import annotations

from typing import Any

import torch

import benchmarks
import benchmarks.measure as measure
from benchmarks.definitions import Batch, Build, Program, Step, Workload, chain_value

torch.set_num_threads(benchmarks.THREADS)


def mlp_train(w: Workload) -> Step:
    """One step of the network; integers become int64, which is what cross_entropy takes."""
    assert w.optimizer is not None
    params = {name: torch.tensor(a, requires_grad=True) for name, a in w.params.items()}
    layers = len(params) // 2
    rule = w.optimizer
    optimizer = torch.optim.Adam(
        params.values(), lr=rule.lr, betas=(rule.b1, rule.b2), eps=rule.eps, fused=True
    )

    def step(batch: Batch) -> float:
        x = torch.from_numpy(batch["x"])
        for layer in range(layers):
            x = torch.addmm(params[f"b{layer}"], x, params[f"W{layer}"])
            if layer < layers - 1:
                x = torch.relu(x)
        loss = torch.nn.functional.cross_entropy(x, torch.from_numpy(batch["y"]).long())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def eltwise_grad(w: Workload) -> Step:
    """The definition of the workload, operation by operation."""
    x, weight, bias = (torch.tensor(w.params[name], requires_grad=True) for name in w.wrt)

    def step(_: Batch) -> tuple[float, list[Any]]:
        z = x * weight + bias
        r = torch.tanh(z) * torch.exp(-x * x) / (1.0 + torch.abs(x))
        s = r + 0.5 * torch.sin(z) * torch.cos(x)
        q = torch.sqrt(1.0 + s * s)
        value = torch.mean(torch.log(q + 1.0) * (1.5 + s) + 0.1 * z * s)
        gradients = torch.autograd.grad(value, [x, weight, bias])
        return float(value.item()), list(gradients)

    return step


def small_ops(w: Workload) -> Step:
    """The tape is made anew at every call: that is what eager means."""
    program = w.config["program"]

    def step(batch: Batch) -> tuple[float, list[float]]:
        x = torch.tensor(batch["x"], requires_grad=True)
        value = chain_value(torch.sin, torch.tanh, program, x)
        (slope,) = torch.autograd.grad(value, [x])
        return float(value.item()), [float(slope.item())]

    return step


def chain(program: Program, report: measure.Report) -> None:
    """There is nothing to plan: a second run costs what the first does."""
    for phase in ("first run", "run"):
        x = torch.tensor(0.5, requires_grad=True)
        value = chain_value(torch.sin, torch.tanh, program, x)
        (slope,) = torch.autograd.grad(value, [x])
        report(phase, gradient=float(slope.item()))


BUILDERS: dict[str, Build] = {
    "mlp_train": mlp_train,
    "mlp_train_small": mlp_train,
    "small_ops": small_ops,
    "eltwise_grad": eltwise_grad,
}

if __name__ == "__main__":
    measure.main("torch-eager", BUILDERS, chain)
