"""From a workload's graph to a step that can be timed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import benchmarks
import staticad as sad
from benchmarks.definitions import Batch, Step, Workload
from benchmarks.devices import given

Params = dict[str, Any]


@dataclass(frozen=True)
class Grown:
    """What one call of `gradients` did to a graph: the nodes before, and those it added."""

    before: int
    added: int


@dataclass(frozen=True)
class Built:
    """A workload as a graph: what a step is fed, named as in the batch, and what it fetches.

    answer: the step's result, from the fetched values.  grown: of each call of `gradients`.
    """

    graph: sad.Graph
    feeds: Sequence[Any]
    fetches: Sequence[Any]
    answer: Callable[[Any], Any]
    grown: list[Grown] = field(default_factory=list)


def device() -> str:
    """The device that the command line names; other options are somebody else's."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--device", default="auto")
    return str(parser.parse_known_args()[0].device)


def session(graph: sad.Graph) -> sad.Session:
    """A session on the device that the command line names."""
    return sad.Session(graph, device=given(device()), threads=benchmarks.THREADS)


def step_of(built: Built) -> Step:
    """What runs the graph once."""
    run = session(built.graph).callable(list(built.fetches), list(built.feeds))
    names = [x.name for x in built.feeds]

    def step(batch: Batch) -> Any:
        return built.answer(run(*[batch[name] for name in names]))

    return step


def fed(w: Workload) -> Params:
    """A placeholder for each array of the batch; those of as many rows have the same symbol."""
    return {
        name: sad.placeholder(a.dtype, (f"rows{len(a)}", *a.shape[1:]), name=name)
        for name, a in w.batches[0].items()
    }


def resident(w: Workload) -> Params:
    """A variable for each parameter."""
    return {name: sad.variable(array, name=name) for name, array in w.params.items()}


def differentiated(y: Any, xs: Sequence[Any], grown: list[Grown], seeds: Any = None) -> list[Any]:
    """The gradients of y, counted in `grown`."""
    graph = xs[0].graph
    before = len(graph.nodes)
    found: list[Any] = sad.gradients(y, list(xs), seeds)
    grown.append(Grown(before, len(graph.nodes) - before))
    return found


Loss = Callable[[Workload, Params, Params, list[Grown]], Any]


def train(w: Workload, loss_of: Loss) -> Built:
    """A loss and the workload's optimizer."""
    rule: Any = w.optimizer
    grown: list[Grown] = []
    with sad.Graph(seed=0) as graph:
        batch, params = fed(w), resident(w)
        loss = sad.identity(loss_of(w, params, batch, grown), name="loss")
        variables = list(params.values())
        # Told apart by their attributes: the workload may be of another module.
        optimizer = (
            sad.optimizers.Momentum(rule.lr, rule.mu)
            if hasattr(rule, "mu")
            else sad.optimizers.Adam(rule.lr, beta1=rule.b1, beta2=rule.b2, epsilon=rule.eps)
        )
        update = optimizer.apply(differentiated(loss, variables, grown), variables, name="train")
    return Built(
        graph, list(batch.values()), [loss, update], lambda result: float(result[0]), grown
    )


def infer(w: Workload, logits_of: Callable[[Workload, Params, Any], Any]) -> Built:
    """Logits of a batch."""
    with sad.Graph(seed=0) as graph:
        batch = fed(w)
        logits = logits_of(w, resident(w), batch["x"])
    return Built(graph, [batch["x"]], [logits], lambda result: result[0])


def value_and_gradients(w: Workload, value_of: Callable[[Params], Any]) -> Built:
    """A value of the parameters and its gradients; nothing is fed."""
    grown: list[Grown] = []
    with sad.Graph(seed=0) as graph:
        params = resident(w)
        value = value_of(params)
        gradients = differentiated(value, [params[name] for name in w.wrt], grown)
    return Built(graph, [], [value, *gradients], with_value, grown)


def with_value(result: Sequence[Any]) -> tuple[float, list[Any]]:
    """A value as a float, and the arrays after it."""
    value, *arrays = result
    return float(value), arrays
