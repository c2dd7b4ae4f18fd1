"""Elementwise operations and reductions over large arrays."""

from __future__ import annotations

import numpy as np

from ..definitions import Cost, Workload, normal


def eltwise_grad() -> Workload:
    """Bound by memory unless elementwise operations are fused.

    z = x w + b, r = tanh(z) exp(-x²) / (1 + |x|), s = r + sin(z) cos(x) / 2, q = √(1 + s²);
    the value is the mean of log(q + 1) (1.5 + s) + 0.1 z s, where w and b broadcast over rows.
    """
    rng = np.random.default_rng(10)
    x = rng.standard_normal((1024, 1024)).astype(np.float32)
    w = (1.0 + 0.5 * rng.standard_normal(1024)).astype(np.float32)
    b = (rng.standard_normal(1024) * 0.5).astype(np.float32)
    return Workload(
        name="eltwise_grad",
        kind="grad",
        summary="some 20 elementwise ops on 2^20 elements, their mean, gradients for x, w, b",
        params={"x": x, "w": w, "b": b},
        batches=[{}],
        expected=(
            1.137097313669242,
            0.0007061241129209425,
            0.0023840890638847216,
            0.014704813847187208,
        ),
        # tanh, exp, log, and sin and cos of both z and x, which are each other's derivatives.
        cost=Cost(flops=0, special=7 * x.size, traffic=2 * x.nbytes),
        wrt=("x", "w", "b"),
    )


def softmax_ln() -> Workload:
    """Bound by memory unless passes over rows are few.

    y = softmax(layer_norm(x) gain + bias) along the rows (epsilon 1e-5); the value is the mean
    over rows of the sum of y target.
    """
    rng = np.random.default_rng(11)
    rows, columns = 4096, 512
    params = {
        "x": normal(rng, (rows, columns), 2.0),
        "gain": (1.0 + 0.2 * rng.standard_normal(columns)).astype(np.float32),
        "bias": normal(rng, (columns,), 0.2),
        "target": rng.random((rows, columns)).astype(np.float32),
    }
    size = rows * columns
    return Workload(
        name="softmax_ln",
        kind="grad",
        summary="softmax of layer norm on (4096, 512), gradients for x, gain, bias",
        params=params,
        batches=[{}],
        expected=(
            0.5005478958932211,
            0.00022580735182395513,
            0.0008552517327898965,
            0.00037136888738823783,
        ),
        cost=Cost(flops=0, special=size, traffic=4 * 3 * size),
        wrt=("x", "gain", "bias"),
    )
