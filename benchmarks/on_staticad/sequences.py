"""Networks of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import staticad as sad
from benchmarks.definitions import Workload

from .running import Built, Grown, Params, infer, train


def lstm_train(w: Workload) -> Built:
    """An LSTM, step after step."""

    def outputs(cell: Cell, begin: Any, products: Any) -> Any:
        state, found = (begin, begin), []
        for product in sad.unstack(products, axis=1):
            state, h = cell(state, product)
            found.append(h)
        return sad.stack(found, axis=1)

    return _lstm(w, outputs)


def lstm_by_scan(w: Workload) -> Built:
    """The same by a loop in the graph."""

    def outputs(cell: Cell, begin: Any, products: Any) -> Any:
        steps = sad.permute_dims(products, (1, 0, 2))
        _, found = sad.scan(cell, (begin, begin), steps)
        return sad.permute_dims(found, (1, 0, 2))

    return _lstm(w, outputs)


Cell = Callable[[Any, Any], tuple[Any, Any]]


def _lstm(w: Workload, outputs: Callable[[Cell, Any, Any], Any]) -> Built:
    def loss(_w: Workload, p: Params, batch: Params, _grown: list[Grown]) -> Any:
        def cell(state: Any, product: Any) -> tuple[Any, Any]:
            h, c = state
            i, f, g, o = sad.split(product + h @ p["Wh"], 4, axis=1)
            c = sad.sigmoid(f) * c + sad.sigmoid(i) * sad.tanh(g)
            h = sad.sigmoid(o) * sad.tanh(c)
            return (h, c), h

        letters = batch["x"]
        products = sad.take(p["emb"], letters, axis=0) @ p["Wx"] + p["b"]
        begin = sad.zeros((letters.shape[0], w.config["hidden"]))
        logits = outputs(cell, begin, products) @ p["Wo"] + p["bo"]
        return sad.nn.cross_entropy(logits, batch["y"])

    return train(w, loss)


def gpt_logits(w: Workload, p: Params, tokens: Any) -> Any:
    """Layers of causal attention and dense networks."""
    heads, width = w.config["heads"], w.config["d"]
    steps, head = w.batches[0]["x"].shape[1], width // heads
    x = sad.take(p["tok"], tokens, axis=0) + p["pos"][:steps]
    for layer in range(w.config["layers"]):
        q = {name: p[f"l{layer}_{name}"] for name in NAMES}
        h = sad.nn.layer_norm(x, q["g1"], q["n1"]) @ q["Wqkv"] + q["bqkv"]
        split = sad.permute_dims(sad.reshape(h, (-1, steps, 3, heads, head)), (2, 0, 3, 1, 4))
        query, key, value = sad.unstack(split)
        mixed = sad.nn.scaled_dot_product_attention(query, key, value, causal=True)
        mixed = sad.reshape(sad.permute_dims(mixed, (0, 2, 1, 3)), (-1, steps, width))
        x = x + (mixed @ q["Wo"] + q["bo"])
        h = sad.nn.layer_norm(x, q["g2"], q["n2"]) @ q["W1"] + q["b1"]
        x = x + (sad.nn.gelu(h, approximate=True) @ q["W2"] + q["b2"])
    return sad.nn.layer_norm(x, p["gf"], p["nf"]) @ p["head"]


NAMES = ("g1", "n1", "Wqkv", "bqkv", "Wo", "bo", "g2", "n2", "W1", "b1", "W2", "b2")


def gpt_train(w: Workload) -> Built:
    """The loss of every next letter, Adam."""

    def loss(w: Workload, params: Params, batch: Params, _grown: list[Grown]) -> Any:
        return sad.nn.cross_entropy(gpt_logits(w, params, batch["x"]), batch["y"])

    return train(w, loss)


def gpt_infer(w: Workload) -> Built:
    """Logits."""
    return infer(w, gpt_logits)
