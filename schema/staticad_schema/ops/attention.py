"""Scaled dot-product attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..op import Operand, meaning, op
from ..shapes import broadcast_shapes
from ..types import FLOATING, Array, TensorType
from . import elementwise as e
from .arithmetic import constant_scalar
from .checks import agree, check_broadcast, check_kind, same_dtype
from .contract import matmul, matmul_into, matmul_no_nan, multiplied, swapped
from .index import along
from .pointwise import wide
from .shape import aligned
from .softmax import masked_change, masked_softmax, softmax, softmax_change


def _matrices(operands: Sequence[Operand], what: str) -> None:
    for operand in operands:
        if operand.ndim < 2:
            raise ShapeError(
                "an operand has no two axes",
                expected=f"{what} of rank 2 or more",
                found=", ".join(map(str, operands)),
            )


def _causal(scores: Any) -> Any:
    """Which key each query may see: those up to its own position."""
    queries, keys = scores.type.shape[-2:]
    return e.greater_equal(along(scores, queries, 0, 2), along(scores, keys, 1, 2))


def _weights(query: Any, key: Any, bias: Any, causal: bool, scale: float) -> tuple[Any, Any | None]:
    """What each query takes of each value, and which it may take at all (None: any)."""
    products = matmul_no_nan(query, swapped(key), value=False)
    scores = e.multiply(products, query.coerce(scale))
    keep = _causal(scores) if causal else None
    if constant_scalar(bias) != 0:
        allowed = e.greater(bias, bias.coerce(float("-inf")))
        # NaN is no mask: it is to be seen.
        allowed = e.logical_or(allowed, e.isnan(bias))
        keep = allowed if keep is None else e.logical_and(keep, allowed)
        scores = e.add(scores, bias)
    if keep is None:
        return softmax(scores, axis=scores.type.ndim - 1), None
    return masked_softmax(scores, keep, axis=scores.type.ndim - 1), keep


def _attention_expansion(
    query: Any, key: Any, value: Any, bias: Any, *, causal: bool, scale: float
) -> Any:
    weights, keep = _weights(query, key, bias, causal, scale)
    return matmul(weights, value) if keep is None else matmul_no_nan(weights, value, value=True)


def _attention(
    query: Array, key: Array, value: Array, bias: Array, *, causal: bool, scale: float
) -> Array:
    scores = matmul_into(query, np.swapaxes(key, -1, -2), None) * query.dtype.type(scale)
    keep = ~np.isneginf(bias)
    if causal:
        keep = keep & np.tri(*scores.shape[-2:], dtype=np.bool_)
    scores = scores + bias
    axis = scores.ndim - 1
    if keep.all():
        return matmul_into(meaning("softmax")(scores, axis=axis), value, None)
    weights = meaning("masked_softmax")(scores, keep, axis=axis)
    return multiplied(weights, value, value=True)


def _changed_weights(weights: Any, keep: Any, change: Any) -> Any:
    """What a tangent or cotangent of the scores is to that of the weights, or the reverse."""
    axis = weights.type.ndim - 1
    if keep is None:
        return softmax_change(weights, change, axis)
    return masked_change(keep, weights, change, axis)


def _grad_attention(
    query: Any, key: Any, value: Any, bias: Any, out: Any, g: Any, *, causal: bool, scale: float
) -> tuple[Any, ...]:
    dtype = query.type.dtype
    query, key, value, bias, g = map(wide, (query, key, value, bias, g))
    weights, keep = _weights(query, key, bias, causal, scale)
    d_value = swapped(matmul_no_nan(swapped(g), weights, value=True))
    d_scores = _changed_weights(weights, keep, matmul_no_nan(g, swapped(value), value=False))
    scaled = e.multiply(d_scores, query.coerce(scale))
    # A score that was masked out has no part in either, whatever key or query it was of.
    d_query = matmul_no_nan(scaled, key, value=True)
    d_key = matmul_no_nan(swapped(scaled), query, value=True)
    found = (d_query, d_key, d_value, d_scores)
    return tuple(d.astype(dtype) for d in found)


def _jvp_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    out: Any,
    tangents: Sequence[Any],
    *,
    causal: bool,
    scale: float,
) -> Any:
    dtype = query.type.dtype
    query, key, value, bias = map(wide, (query, key, value, bias))
    t_query, t_key, t_value, t_bias = map(wide, tangents)
    weights, keep = _weights(query, key, bias, causal, scale)
    parts = []
    if t_query is not None:
        parts.append(e.multiply(matmul(t_query, swapped(key)), query.coerce(scale)))
    if t_key is not None:
        parts.append(e.multiply(matmul(query, swapped(t_key)), query.coerce(scale)))
    if t_bias is not None:
        parts.append(t_bias)
    result: Any = None if t_value is None else matmul_no_nan(weights, t_value, value=True)
    if parts:
        change = parts[0]
        for part in parts[1:]:
            change = e.add(change, part)
        moved = matmul_no_nan(_changed_weights(weights, keep, change), value, value=True)
        result = moved if result is None else e.add(result, moved)
    return result.astype(dtype)


def _batch_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    batched: Sequence[bool],
    *,
    causal: bool,
    scale: float,
) -> Any:
    operands = aligned((query, key, value, bias), batched)
    return attention(*operands, causal=causal, scale=scale)


@op(
    numpy=_attention,
    expand=_attention_expansion,
    grad=_grad_attention,
    jvp=_jvp_attention,
    batch=_batch_attention,
    widen=True,
)
def attention(
    query: Operand, key: Operand, value: Operand, bias: Operand, *, causal: bool, scale: float
) -> TensorType:
    """softmax(scale query key^T + bias) value (Vaswani et al. 2017), over leading axes.

    query: [..., queries, features], key: [..., keys, features], value: [..., keys, outputs],
    bias: broadcasts to [..., queries, keys].  Where it is -inf, and behind the query's own
    position if causal, a key has no part in it, whatever it holds: a query with none left gets 0.
    """
    check_kind(FLOATING, query, key, value, bias)
    same_dtype((query, key, value, bias))
    _matrices((query, key, value), "query, key and value")
    agree(query.shape[-1], key.shape[-1], "the features of query and key")
    keys = agree(key.shape[-2], value.shape[-2], "the positions of key and value")
    lead = broadcast_shapes((query.shape[:-2], key.shape[:-2]))
    queries = query.shape[-2]
    if bias.ndim > 2:
        lead = broadcast_shapes((lead, bias.shape[:-2]))
    check_broadcast(bias.shape[-2:], (queries, keys))
    lead = broadcast_shapes((lead, value.shape[:-2]))
    return query.with_shape((*lead, queries, value.shape[-1]))
