"""Rules after which a result may only be nearer to the true one."""

from __future__ import annotations

from staticad_schema.node import Node
from staticad_schema.types import FLOATING, KINDS

from ..rules import Rewriting, rule, settled
from .numbers import is_scalar, uniform


def _is_float(r: Rewriting, node: Node) -> bool:
    return KINDS[node.types[0].dtype] in FLOATING


@rule("stable", "log")
def log_one_plus(r: Rewriting, node: Node) -> int | None:
    """log(1 + x) → log1p(x)"""
    inner = r.producer(node.inputs[0])
    if inner.op != "add" or not _is_float(r, node) or not settled(r, inner):
        return None
    x, y = inner.inputs
    if is_scalar(uniform(r, x), 1):
        x, y = y, x
    if not is_scalar(uniform(r, y), 1) or r.type(x) != node.types[0]:
        return None
    return r.add("log1p", (x,), node)


@rule("stable", "subtract")
def exp_minus_one(r: Rewriting, node: Node) -> int | None:
    """exp(x) - 1 → expm1(x)"""
    x, y = node.inputs
    inner = r.producer(x)
    if inner.op == "exp" and is_scalar(uniform(r, y), 1) and _is_float(r, node):
        return r.add("expm1", inner.inputs, node)
    return None


@rule("stable", "log")
def log_sum_exp(r: Rewriting, node: Node) -> int | None:
    """log(sum(exp(x))) → logsumexp(x)"""
    total = r.producer(node.inputs[0])
    if total.op != "sum" or not _is_float(r, node):
        return None
    terms = r.producer(total.inputs[0])
    if terms.op != "exp":
        return None
    # A shifted sum (logsumexp written out, softmax) is stable as it is, and cheaper.
    if r.producer(terms.inputs[0]).op == "subtract":
        return None
    return r.add("logsumexp", terms.inputs, node, **total.attributes)


@rule("stable", "log")
def log_softmax(r: Rewriting, node: Node) -> int | None:
    """log(exp(x) / sum(exp(x))) along one axis → log_softmax(x); x - logsumexp(x) would round what
    is large beside the result"""
    ratio = r.producer(node.inputs[0])
    if ratio.op != "divide" or not _is_float(r, node):
        return None
    terms, total = (r.producer(v) for v in ratio.inputs)
    if terms.op != "exp" or total.op != "sum" or total.inputs[0] != ratio.inputs[0]:
        return None
    axes = total.attributes["axis"]
    if not total.attributes["keepdims"] or r.type(terms.inputs[0]) != node.types[0]:
        return None
    return r.add("log_softmax", terms.inputs, node, axis=axes[0]) if len(axes) == 1 else None


@rule("stable", "pow")
def square_as_product(r: Rewriting, node: Node) -> int | None:
    """x ** 2 → x * x, which is correctly rounded"""
    x, p = node.inputs
    if is_scalar(uniform(r, p), 2) and _is_float(r, node) and r.type(x) == node.types[0]:
        return r.add("multiply", (x, x), node)
    return None


@rule("stable", "log")
def log_of_share(r: Rewriting, node: Node) -> int | None:
    """log(softmax(x)) → log_softmax(x), log(sigmoid(x)) → log_sigmoid(x)"""
    inner = r.producer(node.inputs[0])
    if inner.op == "softmax":
        return r.add("log_softmax", inner.inputs, node, **inner.attributes)
    return r.add("log_sigmoid", inner.inputs, node) if inner.op == "sigmoid" else None


@rule("stable", "log1p")
def log_one_plus_exp(r: Rewriting, node: Node) -> int | None:
    """log1p(exp(x)) → softplus(x)"""
    inner = r.producer(node.inputs[0])
    if inner.op != "exp" or not _is_float(r, node):
        return None
    return r.add("softplus", inner.inputs, node)


@rule("stable", "log")
def log_of_sum(r: Rewriting, node: Node) -> int | None:
    """log(exp(x) + exp(y)) → logaddexp(x, y)"""
    inner = r.producer(node.inputs[0])
    if inner.op != "add" or not _is_float(r, node) or not settled(r, inner):
        return None
    x, y = (r.producer(v) for v in inner.inputs)
    if x.op != "exp" or y.op != "exp":
        return None
    return r.add("logaddexp", (x.inputs[0], y.inputs[0]), node)


@rule("stable", "subtract")
def one_minus_sigmoid(r: Rewriting, node: Node) -> int | None:
    """1 - sigmoid(x) → sigmoid(-x), which keeps its digits where the sigmoid is near 1"""
    one, share = node.inputs
    inner = r.producer(share)
    if inner.op != "sigmoid" or not is_scalar(uniform(r, one), 1) or not _is_float(r, node):
        return None
    if r.type(share) != node.types[0]:
        return None
    return r.add("sigmoid", (r.add("negative", inner.inputs, node),), node)


@rule("stable", "divide", "reciprocal")
def logistic(r: Rewriting, node: Node) -> int | None:
    """1 / (1 + exp(-x)) → sigmoid(x)"""
    if node.op == "divide" and not is_scalar(uniform(r, node.inputs[0]), 1):
        return None
    total = r.producer(node.inputs[-1])
    if total.op != "add" or not _is_float(r, node) or not settled(r, total):
        return None
    one, power = total.inputs
    if not is_scalar(uniform(r, one), 1):
        one, power = power, one
    terms = r.producer(power)
    if not is_scalar(uniform(r, one), 1) or terms.op != "exp" or r.type(power) != node.types[0]:
        return None
    inner = r.producer(terms.inputs[0])
    x = inner.inputs[0] if inner.op == "negative" else r.add("negative", terms.inputs, node)
    return r.add("sigmoid", (x,), node)
