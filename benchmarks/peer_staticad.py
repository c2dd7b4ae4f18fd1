"""staticad on the workloads.

`BUILDERS` maps a workload's name to `build(w) -> step`, where `w` is anything with those attributes
of `benchmarks.definitions.Workload` that are used here.  As a script it is a runner like the
peers': under a module `harness` if one is on the path, else under `benchmarks.measure`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import benchmarks
import staticad as sad

if TYPE_CHECKING:
    from benchmarks.definitions import Array, Batch, Build, Program, Step, Workload
    from benchmarks.measure import Report


def device() -> str:
    """The device that the command line names; other options are somebody else's."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--device", default="auto")
    return str(parser.parse_known_args()[0].device)


def session(graph: sad.Graph) -> sad.Session:
    """A session on the device that the command line names."""
    return sad.Session(graph, device=device(), threads=benchmarks.THREADS)


def mlp_train(w: Workload) -> Step:
    """A dense network of as many layers as there are pairs of parameters, and Adam."""
    assert w.optimizer is not None
    rule, layers = w.optimizer, len(w.params) // 2
    with sad.Graph(seed=0) as graph:
        feeds = [
            sad.placeholder(array.dtype, ("batch", *array.shape[1:]), name=name)
            for name, array in w.batches[0].items()
        ]
        h, labels = feeds
        params = {name: sad.variable(array, name=name) for name, array in w.params.items()}
        for layer in range(layers):
            h = h @ params[f"W{layer}"] + params[f"b{layer}"]
            if layer < layers - 1:
                h = sad.nn.relu(h)
        loss = sad.nn.cross_entropy(h, labels, name="loss")
        optimizer = sad.optimizers.Adam(rule.lr, beta1=rule.b1, beta2=rule.b2, epsilon=rule.eps)
        train = optimizer.minimize(loss)
    run = session(graph).callable([loss, train], feeds)
    names = list(w.batches[0])

    def step(batch: Batch) -> float:
        value, _ = run(*[batch[name] for name in names])
        return float(value)

    return step


def eltwise_grad(w: Workload) -> Step:
    """The arrays are variables: resident, and not fed."""
    with sad.Graph(seed=0) as graph:
        x, weight, bias = variables = [sad.variable(w.params[name], name=name) for name in w.wrt]
        z = x * weight + bias
        r = sad.tanh(z) * sad.exp(-x * x) / (1.0 + abs(x))
        s = r + 0.5 * sad.sin(z) * sad.cos(x)
        q = sad.sqrt(1.0 + s * s)
        value = sad.mean(sad.log(q + 1.0) * (1.5 + s) + 0.1 * z * s, name="value")
        gradients = sad.gradients(value, variables)
    run = session(graph).callable([value, *gradients], [])

    def step(_: Batch) -> tuple[float, list[Array]]:
        result, *arrays = run()
        return float(result), arrays

    return step


def chain_value(program: Program, x: sad.Tensor) -> sad.Tensor:
    """The chain of scalar operations as nodes."""
    unary: dict[str, Callable[[Any], sad.Tensor]] = {"sin": sad.sin, "tanh": sad.tanh}
    for name, constant in program:
        if name == "add":
            x = x + constant
        elif name == "mul":
            x = x * constant
        else:
            x = unary[name](x)
    return x


def small_ops(w: Workload) -> Step:
    """A thousand nodes and their gradient."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        value = chain_value(w.config["program"], x)
        gradients = sad.gradients(value, [x])
    run = session(graph).callable([value, *gradients], [x])

    def step(batch: Batch) -> tuple[float, list[float]]:
        result, slope = run(batch["x"])
        return float(result), [float(slope)]

    return step


def chain(program: Program, report: Report) -> None:
    """graph_scale: the life of a deep graph, phase by phase, from building to a run of its file."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        value = chain_value(program, x)
        report("build", nodes=len(graph.nodes))
        (slope,) = sad.gradients(value, [x])
        graph.signature("slope", inputs={"x": x}, outputs={"value": value, "slope": slope})
        report("gradients", nodes=len(graph.nodes))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.sad"
        graph.save(path)
        report("save", megabytes=path.stat().st_size / 2**20)
        loaded = sad.load(path)
        report("load")
    with session(loaded) as running:
        fetches = [loaded[value.name], loaded[slope.name]]
        run = running.callable(fetches, [loaded["x"]])
        at = 0.5
        run(at)
        report("plan")
        _, result = run(at)
        report("run", gradient=float(result))


BUILDERS: dict[str, Build] = {
    "mlp_train": mlp_train,
    "mlp_train_small": mlp_train,
    "small_ops": small_ops,
    "eltwise_grad": eltwise_grad,
}

if __name__ == "__main__":
    outside = importlib.util.find_spec("harness") is not None
    runner = importlib.import_module("harness" if outside else "benchmarks.measure")
    runner.main("staticad", BUILDERS, chain)
