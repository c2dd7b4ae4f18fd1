"""Attention, and the positions that it does not know by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.shapes import product, same_shape, shape_text
from staticad_schema.sites import asking
from staticad_schema.types import BOOL, FLOAT32, FLOAT64, FLOATING, as_dtype

from .. import dimensions, methods
from ..building import build, renamed
from ..finding import expected
from ..operands import Operand, graph_of, result, tensor
from ..ops.ranges import arange
from ..options import flag, number
from ..tensor import Tensor
from .dropout import dropout
from .floats import computed, float_tensor, floats, widened
from .training import switch

__all__ = ["multi_head_attention", "rotary_embedding", "scaled_dot_product_attention"]
__all__ += ["sinusoidal_positions"]


def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    mask: Operand | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    dropout_rate: float = 0.0,
    training: Any = True,
    name: str | None = None,
) -> Tensor:
    """softmax(scale query key^T) value over leading axes that broadcast (Vaswani et al. 2017).

    query: floats [..., queries, features].  key: [..., keys, features].  value: [..., keys,
    outputs].  Returns [..., queries, outputs].  scale: 1 / sqrt(features) unless given.
    mask: what broadcasts to [..., queries, keys]: bools that are true for a key that takes part,
    or floats that are added to the scaled products, of which -inf leaves a key out.
    causal: query i sees the keys 0 to i.
    A key that is left out has no part in the result or in any gradient, even if it, or its value,
    is infinite or NaN; of a query without any key the result is 0, and so are its gradients.
    Where key and value have fewer heads (the axis before the last two) than query, by a divisor,
    neighbouring heads of query share one of theirs.
    dropout_rate: of the weights, while training (see dropout).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     q, k, v = sad.zeros((2, 4)), sad.zeros((3, 4)), [[1.0], [2.0], [6.0]]
    ...     y = sad.nn.scaled_dot_product_attention(q, k, v)
    ...     z = sad.nn.scaled_dot_product_attention(q, k, v, [[True, True, False], [False] * 3])
    >>> sad.Session(graph).run(y)
    array([[3.],
           [3.]], dtype=float32)
    >>> sad.Session(graph).run(z)
    array([[1.5],
           [0. ]], dtype=float32)
    """
    asked = "scaled_dot_product_attention"
    with asking(asked, name):
        rate = number("dropout_rate", dropout_rate, least=0, below=1)
        graph = graph_of(asked, query, key, value, mask)
        on = switch(asked, training, graph)
        q, k, v = floats(asked, query, key, value)
        for operand in (q, k, v):
            if operand.ndim < 2:
                raise ShapeError(
                    "there are no positions and features",
                    expected="tensors of rank 2 or more",
                    found=", ".join(o.describe() for o in (q, k, v)),
                )
        bias = _bias(asked, mask, q, graph)
        queries, keys = q.shape[-2], k.shape[-2]
        for size, wanted in zip(reversed(bias.shape), (keys, queries), strict=False):
            if size != 1 and dims.same_size(size, wanted) is False:
                raise ShapeError(
                    "the mask does not fit",
                    expected=f"what broadcasts to (…, {queries}, {keys}): queries, keys",
                    found=bias.describe() if mask is None else tensor(asked, mask).describe(),
                )
        sharing = _sharing(q, k, v)
        q, factor = _scaled(scale, q)
        if sharing is not None:
            q, k, v, bias = _regrouped(q, k, v, bias, *sharing)
        attributes = {"causal": flag("causal", causal), "scale": factor}
        if rate:
            y = _dropped(q, k, v, bias, attributes, rate, on)
        else:
            y = build("attention", (q, k, v, bias), attributes)
        if sharing is not None:
            *lead, heads, group, rows, columns = y.type.shape
            y = build("reshape", (y,), {"shape": (*lead, heads * group, rows, columns)})
        return result(renamed(y, name))


def _scaled(scale: float | None, query: Tensor) -> tuple[Any, float]:
    """(query, the factor of the products): a factor that each run finds is one of the query."""
    if scale is not None:
        return query, number("scale", scale)
    features = query.shape[-1]
    if isinstance(features, int):
        return query, 1 / math.sqrt(features) if features else 1.0
    (wide,) = widened(query)
    size = methods.count(wide, (query.ndim - 1,), wide.dtype)
    return (wide * build("rsqrt", (size,))).astype(query.dtype), 1.0


def _bias(asked: str, mask: Any, query: Tensor, graph: Any) -> Any:
    """What is added to the products: 0 or -inf for bools."""
    zero = query.coerce(0.0)
    if mask is None:
        return zero
    given = tensor(asked, mask, graph)
    if given.dtype == BOOL:
        return build("where", (given, zero, query.coerce(-math.inf)))
    if given.type.kind not in FLOATING:
        raise DTypeError(
            "a mask is neither of bools nor of floats",
            expected=f"bool, or {query.dtype.name}",
            found=given.describe(),
            hint="compare it: mask != 0",
        )
    return given.astype(query.dtype)


def _sharing(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, int] | None:
    """(heads of key and value, heads of query that share each), if they share."""
    if min(query.ndim, key.ndim, value.ndim) < 3:
        return None
    many, few = query.shape[-3], key.shape[-3]
    if many == few or 1 in (many, few) or not isinstance(many, int) or not isinstance(few, int):
        return None
    if few == 0 or many % few or value.shape[-3] not in (1, few):
        raise ShapeError(
            "heads cannot be shared",
            expected=f"a number of heads of key and value that divides {many}",
            found=f"{few} and {value.shape[-3]}",
        )
    return few, many // few


def _regrouped(
    query: Any, key: Any, value: Any, bias: Any, heads: int, group: int
) -> tuple[Any, ...]:
    """The axis of query's heads in two, of which key and value have the first."""

    def split(x: Any) -> Any:
        if x.type.ndim < 3 or x.type.shape[-3] == 1:
            shape = x.type.shape if x.type.ndim < 3 else (*x.type.shape[:-3], 1, *x.type.shape[-3:])
        else:
            shape = (*x.type.shape[:-3], heads, group, *x.type.shape[-2:])
        return build("reshape", (x,), {"shape": shape})

    def alone(x: Any) -> Any:
        shape = (*x.type.shape[:-2], 1, *x.type.shape[-2:])
        return build("reshape", (x,), {"shape": shape})

    return split(query), alone(key), alone(value), split(bias)


def _dropped(
    query: Any, key: Any, value: Any, bias: Any, attributes: Any, rate: float, training: Any
) -> Any:
    """Attention whose weights are dropped: those of an identity, since the op keeps its own."""
    keys = key.type.shape[-2]
    row = arange(keys)
    eye = build("equal", (build("reshape", (row,), {"shape": (keys, 1)}), row))
    weights = build("attention", (query, key, eye.astype(query.type.dtype), bias), attributes)
    return build("matmul_no_nan", (dropout(weights, rate, training), value), {"value": True})


def multi_head_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    weights: Any,
    heads: int,
    mask: Operand | None = None,
    *,
    causal: bool = False,
    dropout_rate: float = 0.0,
    training: Any = True,
    name: str | None = None,
) -> Tensor:
    """Attention in several projections at once, joined by another (Vaswani et al. 2017).

    query: floats [..., queries, features]; key, value: [..., keys, features].
    weights: (wq, wk, wv, wo), or with biases (wq, wk, wv, wo, bq, bk, bv, bo): x @ w + b projects
    the last axis; wq, wk, wv give `heads` equal parts of it each, which are attended by
    themselves, and wo projects their results, side by side.
    mask: what broadcasts to [..., heads, queries, keys].  causal, dropout_rate, training: as in
    scaled_dot_product_attention.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.ones((2, 3, 4))
    ...     y = sad.nn.multi_head_attention(x, x, x, (sad.eye(4),) * 4, heads=2)
    >>> y.shape
    (2, 3, 4)
    """
    asked = "multi_head_attention"
    with asking(asked, name):
        if not isinstance(weights, tuple | list) or len(weights) not in (4, 8):
            raise ArgumentError(
                "not the weights of four projections",
                expected="(wq, wk, wv, wo), perhaps with (bq, bk, bv, bo) behind them",
                found=f"{weights!r:.80}",
            )
        count = dimensions.integer(heads)
        flag("causal", causal)
        q, k, v, *rest = floats(asked, query, key, value, *weights)
        biases: Any = rest[4:] or (None,) * 4
        parts = [
            _heads(_projected(x, w, b), count)
            for x, w, b in zip((q, k, v), rest[:3], biases[:3], strict=True)
        ]
        y: Any = scaled_dot_product_attention(
            parts[0],
            parts[1],
            parts[2],
            mask,
            causal=causal,
            dropout_rate=dropout_rate,
            training=training,
        )
        n = y.ndim
        y = build("permute_dims", (y,), {"axes": (*range(n - 3), n - 2, n - 3, n - 1)})
        shape = (*y.type.shape[:-2], product(y.type.shape[-2:]))
        joined = build("reshape", (y,), {"shape": shape})
        return result(renamed(_projected(joined, rest[3], biases[3]), name))


def _projected(x: Any, w: Any, b: Any) -> Any:
    if w.type.ndim < 2:
        raise ShapeError("the weights are no matrix", expected="rank 2 or more", found=w.describe())
    y = build("matmul", (x, w))
    return y if b is None else y + b


def _heads(x: Any, heads: int) -> Any:
    """[..., positions, features] as [..., heads, positions, features of one head]."""
    features = x.type.shape[-1]
    size = dims.divide_exactly(features, heads) if heads > 0 else None
    if size is None or x.type.ndim < 2:
        raise ShapeError(
            "the projection does not divide into heads",
            expected=f"a last axis that {heads} divides",
            found=x.describe(),
        )
    split = build("reshape", (x,), {"shape": (*x.type.shape[:-1], heads, size)})
    n = split.type.ndim
    return build("permute_dims", (split,), {"axes": (*range(n - 3), n - 2, n - 3, n - 1)})


# ------------------------------------------------------------------ positions


def sinusoidal_positions(
    length: Any,
    features: int,
    *,
    base: float = 10000.0,
    dtype: Any = FLOAT32,
    name: str | None = None,
) -> Tensor:
    """[length, features]: sines, then cosines, of the positions at falling frequencies.

    Feature k of each half is that of position / base^(2 k / features) (Vaswani et al. 2017).
    length: an int, a name or a Dim.  features: an even int.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     p = sad.nn.sinusoidal_positions(2, 4)
    >>> sad.Session(graph).run(p).round(2)
    array([[0.  , 0.  , 1.  , 1.  ],
           [0.84, 0.01, 0.54, 1.  ]], dtype=float32)
    """
    with asking("sinusoidal_positions", name):
        angles = _angles(arange(dimensions.size(length), dtype=FLOAT64), features, base)
        both = build("concat", (build("sin", (angles,)), build("cos", (angles,))), {"axis": 1})
        return result(methods.cast(both, as_dtype(dtype), name))


def _angles(positions: Any, features: int, base: float) -> Any:
    """[..., positions, features / 2], of float64: a position in the thousands leaves an angle in
    float32 few digits behind its turns."""
    count = dimensions.integer(features)
    if count < 0 or count % 2:
        raise ArgumentError(
            "not pairs of features", expected="an even number of features", found=str(features)
        )
    slowest = number("base", base, above=0)
    exponents = np.arange(dimensions.listed(count // 2)) * (-2.0 / max(count, 1))
    with np.errstate(all="ignore"):
        rates = slowest**exponents
    column = build("reshape", (positions,), {"shape": (*positions.type.shape, 1)})
    return column * positions.graph.constant(rates)


def rotary_embedding(
    x: Operand,
    /,
    positions: Operand | None = None,
    *,
    base: float = 10000.0,
    name: str | None = None,
) -> Tensor:
    """x with pairs of features turned by their position (Su et al. 2021).

    x: floats [..., positions, features], of an even known number of features, of which k and
    k + half are a pair, turned by position times base^(-2 k / features).
    positions: numbers that broadcast to [..., positions]; 0, 1, … unless given.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.rotary_embedding([[1.0, 0.0], [1.0, 0.0]])
    >>> sad.Session(graph).run(y).round(2)
    array([[1.  , 0.  ],
           [0.54, 0.84]], dtype=float32)
    """
    asked = "rotary_embedding"
    with asking(asked, name):
        value = float_tensor(asked, x)
        if value.ndim < 2 or not isinstance(value.shape[-1], int):
            raise ShapeError(
                "there are no positions and features",
                expected="a tensor of rank 2 or more, its last axis of a known size",
                found=value.describe(),
            )
        with graph_of(asked, value):
            steps = arange(value.shape[-2]) if positions is None else tensor(asked, positions)
            angles = _angles(steps.astype(FLOAT64), value.shape[-1], base)
        half = value.shape[-1] // 2
        cos, sin = build("cos", (angles,)), build("sin", (angles,))

        def turned(v: Any) -> Any:
            last = v.type.ndim - 1
            first = methods.slice_along(v, last, None, half)
            second = methods.slice_along(v, last, half, None)
            c, s = cos.astype(v.type.dtype), sin.astype(v.type.dtype)
            pair = (first * c - second * s, second * c + first * s)
            return build("concat", pair, {"axis": last})

        y = computed(turned, value, label=None)
        if same_shape(y.shape, value.shape) is False:
            raise ShapeError(
                "there are more positions than x has",
                expected=f"a shape that broadcasts to {shape_text(value.shape[:-1])}",
                found=steps.describe(),
            )
        return result(renamed(expected(y, value.shape), name))
