"""The golden cases' functions of neural networks: activations, normalisation, attention, losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import staticad as sad


def _batch_norm_infer(x: Any, gain: Any, bias: Any, mean: Any, variance: Any, eps: float) -> Any:
    return sad.nn.batch_norm_infer(x, mean, variance, gain, bias, epsilon=eps)


def _batch_norm_train(x: Any, gain: Any, bias: Any, eps: float) -> Any:
    return sad.nn.batch_norm(x, gain, bias, epsilon=eps)[0]


def _layer_norm(x: Any, gain: Any, bias: Any, axis: int, eps: float) -> Any:
    axes = tuple(range(axis % x.ndim, x.ndim))
    return sad.nn.layer_norm(x, gain, bias, axis=axes, epsilon=eps)


def _lstm(x: Any, wi: Any, wh: Any, bi: Any, bh: Any, h: Any, c: Any) -> Any:
    return sad.nn.lstm(x, (wi, wh, bi, bh), h, c)


def _gru(x: Any, wi: Any, wh: Any, bi: Any, bh: Any, h: Any) -> Any:
    return sad.nn.gru(x, (wi, wh, bi, bh), h)


def _rnn(x: Any, wi: Any, wh: Any, bi: Any, bh: Any, h: Any) -> Any:
    return sad.nn.rnn(x, (wi, wh, bi, bh), h)


NETWORKS: dict[str, Callable[..., Any]] = {
    "attention": lambda q, k, v, causal: sad.nn.scaled_dot_product_attention(
        q, k, v, causal=causal
    ),
    "batch_norm_infer": _batch_norm_infer,
    "batch_norm_train": _batch_norm_train,
    "bce": sad.nn.binary_cross_entropy,
    "bce_with_logits": sad.nn.binary_cross_entropy_with_logits,
    "celu": lambda x, alpha: sad.nn.celu(x, alpha=alpha),
    "cosine_similarity": lambda a, b, axis, eps: sad.nn.cosine_similarity(
        a, b, axis=axis, epsilon=eps
    ),
    "elu": lambda x, alpha: sad.nn.elu(x, alpha=alpha),
    "gelu": lambda x, approximate: sad.nn.gelu(x, approximate=approximate == "tanh"),
    "glu": lambda x, axis: sad.nn.glu(x, axis=axis),
    "group_norm": lambda x, s, b, groups, eps: sad.nn.group_norm(x, groups, s, b, epsilon=eps),
    "gru": _gru,
    "hard_sigmoid": sad.nn.hard_sigmoid,
    "hard_swish": sad.nn.hard_swish,
    "hinge_loss": sad.nn.hinge_loss,
    "huber_loss": sad.nn.huber_loss,
    "instance_norm": lambda x, s, b, eps: sad.nn.instance_norm(x, s, b, epsilon=eps),
    "kl_div": sad.nn.kl_div,
    "l1_loss": sad.nn.l1_loss,
    "layer_norm": _layer_norm,
    "leaky_relu": lambda x, alpha: sad.nn.leaky_relu(x, negative_slope=alpha),
    "log_softmax": lambda x, axis: sad.nn.log_softmax(x, axis=axis),
    "lp_normalize": lambda x, axis, p, eps: sad.nn.normalize(x, axis=axis, p=p, epsilon=eps),
    "lstm": _lstm,
    "mish": sad.nn.mish,
    "mse_loss": sad.nn.mse_loss,
    "nll_loss": lambda x, labels, **more: sad.nn.nll_loss(x, labels, axis=1, **more),
    "prelu": sad.nn.prelu,
    "relu": sad.nn.relu,
    "relu6": sad.nn.relu6,
    "rms_norm": lambda x, s, eps: sad.nn.rms_norm(x, s, epsilon=eps),
    "rnn_tanh": _rnn,
    "selu": sad.nn.selu,
    "shrink": lambda x, lambd, bias: sad.nn.shrink(x, threshold=lambd, bias=bias),
    "silu": sad.nn.silu,
    "smooth_l1_loss": sad.nn.smooth_l1_loss,
    "softmax": lambda x, axis: sad.nn.softmax(x, axis=axis),
    "softmax_cross_entropy": lambda x, labels, **more: sad.nn.cross_entropy(
        x, labels, axis=1, **more
    ),
    "softsign": sad.nn.softsign,
    "threshold": lambda x, threshold, value: sad.nn.threshold(x, threshold, value),
}
"""`NETWORKS[op](*inputs, **attributes)` gives the output or a list of outputs."""
