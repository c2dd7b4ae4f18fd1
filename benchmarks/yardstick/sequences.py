"""Networks of sequences: recurrence and attention."""

from __future__ import annotations

import math

import numpy as np

from ..definitions import (
    Adam,
    Arrays,
    Batch,
    Cost,
    Workload,
    bytes_of,
    normal,
    train_cost,
)

GPT = {"layers": 4, "d": 256, "heads": 4, "steps": 128, "vocab": 256}


def texts(rng: np.random.Generator, vocabulary: int, rows: int, steps: int) -> list[Batch]:
    """Random texts, and what follows each letter."""
    drawn = rng.integers(0, vocabulary, (4, rows, steps + 1)).astype(np.int32)
    return [{"x": text[:, :-1].copy(), "y": text[:, 1:].copy()} for text in drawn]


def lstm_train() -> Workload:
    """A character LSTM: embedding, one layer, dense logits, mean softmax cross-entropy.

    z = x Wx + b + h Wh has the gates in the order input, forget, cell, output;
    c ← σ(f) c + σ(i) tanh(g), h ← σ(o) tanh(c), both 0 at first.
    """
    rng = np.random.default_rng(7)
    vocabulary, embedding, hidden, steps, rows = 64, 64, 256, 64, 32
    params = {
        "emb": normal(rng, (vocabulary, embedding), 1.0),
        "Wx": normal(rng, (embedding, 4 * hidden), 1 / math.sqrt(embedding)),
        "Wh": normal(rng, (hidden, 4 * hidden), 1 / math.sqrt(hidden)),
        "b": np.zeros(4 * hidden, np.float32),
        "Wo": normal(rng, (hidden, vocabulary), 1 / math.sqrt(hidden)),
        "bo": np.zeros(vocabulary, np.float32),
    }
    batches = texts(rng, vocabulary, rows, steps)
    letters = rows * steps
    weights = 4 * hidden * (embedding + hidden) + hidden * vocabulary
    optimizer = Adam(lr=1e-3)
    return Workload(
        name="lstm_train",
        kind="train",
        summary="one Adam step of a character LSTM, hidden 256, 64 steps, batch 32",
        params=params,
        batches=batches,
        expected=(4.141121213333896,),
        cost=train_cost(
            params,
            batches[0],
            flops=3 * 2.0 * letters * weights,
            special=letters * (5 * hidden + vocabulary),
            # Of each step and unit: four gates, the cell and the hidden state.
            saved=letters * (6 * hidden + vocabulary),
            optimizer=optimizer,
        ),
        optimizer=optimizer,
        k=5,
        config={"hidden": hidden, "steps": steps},
    )


def gpt_parameters(rng: np.random.Generator) -> Arrays:
    """Embeddings tok and pos; of layer i l<i>_ and Wqkv, Wo, W1, W2, their biases, the gains g1,
    g2 and biases n1, n2 of its layer norms; gf, nf of the last one; head."""
    d, vocabulary = GPT["d"], GPT["vocab"]
    params = {
        "tok": normal(rng, (vocabulary, d), 0.5),
        "pos": normal(rng, (GPT["steps"], d), 0.1),
    }
    for i in range(GPT["layers"]):
        for name, shape in (
            ("Wqkv", (d, 3 * d)),
            ("Wo", (d, d)),
            ("W1", (d, 4 * d)),
            ("W2", (4 * d, d)),
        ):
            params[f"l{i}_{name}"] = normal(rng, shape, 1 / math.sqrt(shape[0]))
        zeros = {"bqkv": 3 * d, "bo": d, "b1": 4 * d, "b2": d, "n1": d, "n2": d}
        for name, size in zeros.items():
            params[f"l{i}_{name}"] = np.zeros(size, np.float32)
        for name in ("g1", "g2"):
            params[f"l{i}_{name}"] = np.ones(d, np.float32)
    params["gf"], params["nf"] = np.ones(d, np.float32), np.zeros(d, np.float32)
    params["head"] = normal(rng, (d, vocabulary), 1 / math.sqrt(d))
    return params


def gpt_forward(rows: int) -> tuple[float, float, float]:
    """(operations, special functions, floats that a backward pass needs) of the forward pass.

    Causal attention needs half of its scores.
    """
    d, steps, layers, vocabulary = GPT["d"], GPT["steps"], GPT["layers"], GPT["vocab"]
    letters, pairs = rows * steps, rows * GPT["heads"] * steps * (steps + 1) / 2
    products = 2.0 * letters * 12 * d * d + 2 * 2.0 * pairs * d / GPT["heads"]
    # Of a layer: two normalised inputs, queries, keys and values, what they mix to, the hidden
    # layer before GELU, two residual sums.
    return (
        layers * products + 2.0 * letters * d * vocabulary,
        layers * (letters * 4 * d + pairs) + letters * vocabulary,
        layers * letters * 12 * d + letters * (d + vocabulary),
    )


def gpt_train() -> Workload:
    """A decoder with learned positions and layer norm before attention and network.

    x = tok[tokens] + pos; each layer adds to x attention of layer_norm(x), causal, its heads in
    order, then W2 gelu(W1 layer_norm(x)), GELU in the form of tanh; logits are layer_norm(x) head.
    """
    rng = np.random.default_rng(8)
    rows = 8
    params, optimizer = gpt_parameters(rng), Adam(lr=3e-4)
    batches = texts(rng, GPT["vocab"], rows, GPT["steps"])
    flops, special, saved = gpt_forward(rows)
    return Workload(
        name="gpt_train",
        kind="train",
        summary="one Adam step of GPT, 4 layers, width 256, 4 heads, 128 steps, batch 8",
        params=params,
        batches=batches,
        expected=(5.353647539766813,),
        cost=train_cost(params, batches[0], 3 * flops, special, saved, optimizer),
        optimizer=optimizer,
        k=5,
        config=GPT,
    )


def gpt_infer() -> Workload:
    """The same network, batch 1."""
    rng = np.random.default_rng(9)
    params = gpt_parameters(rng)
    batches: list[Batch] = [
        {"x": rng.integers(0, GPT["vocab"], (1, GPT["steps"])).astype(np.int32)} for _ in range(4)
    ]
    flops, special, _ = gpt_forward(1)
    return Workload(
        name="gpt_infer",
        kind="infer",
        summary="logits of the same GPT, 128 steps, batch 1",
        params=params,
        batches=batches,
        expected=(183.37488581045307,),
        cost=Cost(flops, special, bytes_of(params) + 4 * GPT["steps"] * GPT["vocab"]),
        config=GPT,
    )
