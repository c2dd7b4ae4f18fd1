"""Rules that keep every bit of every result, also of NaN, infinities and negative zeros."""

from __future__ import annotations

import numpy as np

from staticad_schema.dims import Shape, same_size
from staticad_schema.errors import ShapeError
from staticad_schema.node import Node
from staticad_schema.shapes import broadcast_shapes, product
from staticad_schema.types import FLOAT16, INTEGER, KINDS

from ..rules import ELEMENTWISE, Rewriting, fits, rule
from .numbers import is_complex, is_integer, is_scalar, keeps_values, uniform


@rule("exact", "identity", "stop_gradient", "positive")
def drop_identity(r: Rewriting, node: Node) -> int | None:
    """identity(x), stop_gradient(x), +x → x"""
    return node.inputs[0]


@rule("exact", "after")
def drop_after(r: Rewriting, node: Node) -> int | None:
    """after(x) → x where nothing is left to wait for"""
    return None if node.after else node.inputs[0]


@rule("exact", "multiply")
def multiply_by_one(r: Rewriting, node: Node) -> int | None:
    """x * 1 → x"""
    x, y = node.inputs
    if is_scalar(uniform(r, y), 1) and not is_complex(r, x):
        return x
    if is_scalar(uniform(r, x), 1) and not is_complex(r, x):
        return y
    return None


@rule("exact", "divide")
def divide_by_one(r: Rewriting, node: Node) -> int | None:
    """x / 1 → x"""
    x, y = node.inputs
    real = not is_complex(r, x)
    return x if real and is_scalar(uniform(r, y), 1) else None


@rule("exact", "add")
def add_nothing(r: Rewriting, node: Node) -> int | None:
    """x + (-0.0) → x, and x + 0 → x for integers; x + 0.0 is not x at -0.0"""
    x, y = node.inputs
    if is_complex(r, x):
        return None
    negative = not is_integer(r, x)
    if is_scalar(uniform(r, y), 0, negative):
        return x
    return y if is_scalar(uniform(r, x), 0, negative) else None


@rule("exact", "subtract")
def subtract_nothing(r: Rewriting, node: Node) -> int | None:
    """x - 0 → x, also at -0.0"""
    x, y = node.inputs
    real = not is_complex(r, x)
    return x if real and is_scalar(uniform(r, y), 0) else None


@rule("exact", "negative", "logical_not", "bitwise_invert", "conj")
def double_negation(r: Rewriting, node: Node) -> int | None:
    """-(-x), not not x, ~~x, conj(conj(x)) → x"""
    inner = r.producer(node.inputs[0])
    return inner.inputs[0] if inner.op == node.op else None


@rule("exact", "maximum", "minimum", "logical_and", "logical_or", "bitwise_and", "bitwise_or")
def idempotent(r: Rewriting, node: Node) -> int | None:
    """maximum(x, x) → x, and the like"""
    x, y = node.inputs
    return x if x == y else None


@rule("exact", "where")
def where_same(r: Rewriting, node: Node) -> int | None:
    """where(c, x, x) → x"""
    _, x, y = node.inputs
    return x if x == y else None


@rule("exact", "cast")
def cast_nothing(r: Rewriting, node: Node) -> int | None:
    """cast(x) to its own dtype → x; a cast that loses nothing and back → x, but of floats, as NaN
    may get other bits"""
    x = node.inputs[0]
    dtype = node.attributes["dtype"]
    if r.type(x).dtype == dtype:
        return x
    inner = r.producer(x)
    if inner.op == "cast":
        start = r.type(inner.inputs[0]).dtype
        whole = KINDS[start] in ("bool", *INTEGER)
        if start == dtype and whole and keeps_values(start, r.type(x).dtype):
            return inner.inputs[0]
    return None


@rule("exact", "reshape")
def reshape_chain(r: Rewriting, node: Node) -> int | None:
    """reshape(reshape(x)) → reshape(x); to its own shape → x"""
    x = node.inputs[0]
    if r.type(x).shape == node.types[0].shape:
        return x
    inner = r.producer(x)
    if inner.op == "reshape" and _same_count(inner, node):
        return r.add("reshape", inner.inputs, node, shape=node.attributes["shape"])
    return None


def _same_count(a: Node, b: Node) -> bool:
    """Whether two results are certain to have as many elements: else the run has to find out."""
    return bool(same_size(product(a.types[0].shape), product(b.types[0].shape)))


@rule("exact", "permute_dims")
def permute_chain(r: Rewriting, node: Node) -> int | None:
    """Two permutations → one; none → x"""
    x, axes = node.inputs[0], node.attributes["axes"]
    if axes == tuple(range(len(axes))):
        return x
    inner = r.producer(x)
    if inner.op == "permute_dims":
        combined = tuple([inner.attributes["axes"][a] for a in axes])
        return r.add("permute_dims", inner.inputs, node, axes=combined)
    return None


@rule("exact", "broadcast_to")
def broadcast_chain(r: Rewriting, node: Node) -> int | None:
    """broadcast_to(broadcast_to(x)) → broadcast_to(x); to its own shape → x"""
    x = node.inputs[0]
    if r.type(x).shape == node.types[0].shape:
        return x
    inner = r.producer(x)
    if inner.op == "broadcast_to" and fits(inner.types[0].shape, node.types[0].shape):
        return r.add("broadcast_to", inner.inputs, node, shape=node.attributes["shape"])
    return None


@rule("exact", "reshape")
def reshape_of_scalar(r: Rewriting, node: Node) -> int | None:
    """reshape(broadcast_to(x)) → broadcast_to(x) where x is a 0-d value"""
    inner = r.producer(node.inputs[0])
    scalar = inner.op == "broadcast_to" and r.type(inner.inputs[0]).shape == ()
    if scalar and _same_count(inner, node):
        return r.add("broadcast_to", inner.inputs, node, shape=node.types[0].shape)
    return None


@rule("exact", "permute_dims", "flip")
def reorder_of_scalar(r: Rewriting, node: Node) -> int | None:
    """permute_dims or flip of a broadcast 0-d value → the value broadcast"""
    inner = r.producer(node.inputs[0])
    if inner.op == "broadcast_to" and r.type(inner.inputs[0]).shape == ():
        return r.add("broadcast_to", inner.inputs, node, shape=node.types[0].shape)
    return None


@rule("exact", "sum_to")
def sum_to_nothing(r: Rewriting, node: Node) -> int | None:
    """sum_to(x) to its own shape → x"""
    x = node.inputs[0]
    return x if r.type(x).shape == node.types[0].shape else None


@rule("exact", "sum", "prod", "max", "min")
def reduce_nothing(r: Rewriting, node: Node) -> int | None:
    """A reduction over no axes → x"""
    return None if node.attributes["axis"] else node.inputs[0]


@rule("exact", "flip")
def flip_nothing(r: Rewriting, node: Node) -> int | None:
    """flip over no axes → x"""
    return None if node.attributes["axis"] else node.inputs[0]


@rule("exact", "slice")
def slice_everything(r: Rewriting, node: Node) -> int | None:
    """A slice that takes all of x → x"""
    x = node.inputs[0]
    for (start, stop, step), size in zip(node.attributes["slices"], r.type(x).shape, strict=True):
        if step != 1 or start not in (None, 0) or not (stop is None or stop == size):
            return None
    return x


@rule("exact", "concat")
def concat_of_one(r: Rewriting, node: Node) -> int | None:
    """concat(x) → x"""
    return node.inputs[0] if len(node.inputs) == 1 else None


@rule("exact", "multiply_no_nan")
def multiply_finite(r: Rewriting, node: Node) -> int | None:
    """multiply_no_nan(d, g) → d * g where d is certain to be finite, or g not to be zero"""
    d, g = node.inputs
    element = uniform(r, g)
    if is_finite(r, d) or (element is not None and element != 0):
        return r.add("multiply", node.inputs, node)
    return None


@rule("exact", "multiply_zero")
def multiply_both_finite(r: Rewriting, node: Node) -> int | None:
    """multiply_zero(x, y) → x * y where both are certain to be finite, or one is a number that is,
    and not zero"""
    known = [uniform(r, v) for v in node.inputs]
    certain = any(e is not None and e != 0 and np.isfinite(e) for e in known)
    if certain or all(is_finite(r, v) for v in node.inputs):
        return r.add("multiply", node.inputs, node)
    return None


# Integers, however large, are less than the largest float32 and bfloat16.
_INTEGERS = frozenset({"iota", "size_of"})
_KEEPS_FINITE = frozenset(
    {"negative", "abs", "broadcast_to", "reshape", "permute_dims", "slice", "flip", "identity"}
)


def is_finite(r: Rewriting, value: int, depth: int = 4) -> bool:
    """Whether a value holds neither NaN nor an infinity, whatever the sources hold."""
    kind = KINDS[r.type(value).dtype]
    if kind not in ("float", "complex"):
        return True
    array = r.constant(value)
    if array is not None:
        return bool(np.isfinite(array).all())
    node = r.producer(value)
    wide = r.type(value).dtype != FLOAT16
    if node.op == "one_hot" or (wide and node.op in _INTEGERS):
        return True
    source = KINDS[r.type(node.inputs[0]).dtype] if node.inputs else ""
    if node.op == "cast":
        return source == "bool" or (wide and source in ("int", "uint"))
    # The absolute value of a complex number may be too large for its parts' dtype.
    if depth and node.op in _KEEPS_FINITE and (node.op != "abs" or source == "float"):
        return is_finite(r, node.inputs[0], depth - 1)
    if depth and node.op == "where":
        return all(is_finite(r, v, depth - 1) for v in node.inputs[1:])
    return False


@rule("exact", ELEMENTWISE)
def unbroadcast(r: Rewriting, node: Node) -> int | None:
    """f(broadcast_to(x), y) → f(x, y) where y has the shape of the result; and
    f(broadcast_to(x)) → broadcast_to(f(x)), so that less is computed"""
    # Tried on every elementwise node: a loop is a third of the time of any().
    for v in node.inputs:
        if r.producer(v).op == "broadcast_to":
            break
    else:
        return None
    small = [p.inputs[0] if (p := r.producer(v)).op == "broadcast_to" else v for v in node.inputs]
    shape = node.types[0].shape
    shapes = [r.type(v).shape for v in small]
    if shape in shapes:
        return r.add(node.op, tuple(small), node, **node.attributes)
    if _single(shapes):
        inner = r.add(node.op, tuple(small), node, **node.attributes)
        return r.add("broadcast_to", (inner,), node, shape=shape)
    # Broadcast operands that, one by one, the others make up for.
    inputs = list(node.inputs)
    for k, value in enumerate(small):
        trial = [*inputs[:k], value, *inputs[k + 1 :]]
        try:
            found = broadcast_shapes([r.type(v).shape for v in trial])
        except ShapeError:
            return None
        if found == shape and value != inputs[k]:
            inputs = trial
    if tuple(inputs) != node.inputs:
        return r.add(node.op, tuple(inputs), node, **node.attributes)
    return None


def _single(shapes: list[Shape]) -> bool:
    return all(shape == () for shape in shapes)
