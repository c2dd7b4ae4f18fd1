"""Patterns that overflow, lose digits or become NaN where a function beside them does not."""

from __future__ import annotations

from collections.abc import Iterator

from staticad_schema.node import Node

from .finding import Finding, Linted

# What hands elements on as they are, or several times.
SHAPING = ("reshape", "broadcast_to", "permute_dims")


def log_of_softmax(linted: Linted) -> Iterator[Finding]:
    """log(softmax(x)) is -inf where softmax underflows, and its derivative NaN or infinite."""
    instead = {"softmax": "sad.nn.log_softmax(x)", "sigmoid": "sad.nn.log_sigmoid(x)"}
    for index, node in linted.own:
        if node.op == "log":
            source = linted.behind(node.inputs[0], *SHAPING)
            if source.op in instead:
                yield linted.finding(
                    "log-of-softmax",
                    index,
                    f"the logarithm of a {source.op}, which may be 0",
                    f"use {instead[source.op]}, or a loss that takes logits",
                )


def sum_of_exp(linted: Linted) -> Iterator[Finding]:
    """log(sum(exp(x))) and exp(x) / sum(exp(x)) overflow for large x."""
    for index, node in linted.own:
        if node.op == "log" and _sum_of(linted, node.inputs[0], "exp"):
            yield linted.finding(
                "sum-of-exp", index, "a logarithm of a sum of exp overflows", "use sad.logsumexp(x)"
            )
        divides = node.op == "divide" and linted.producer(node.inputs[0]).op == "exp"
        if divides and _sum_of(linted, node.inputs[1], "exp"):
            yield linted.finding(
                "sum-of-exp", index, "exp over a sum of exp overflows", "use sad.nn.softmax(x)"
            )


def lost_digits(linted: Linted) -> Iterator[Finding]:
    """log(1 + x) and exp(x) - 1 lose the digits of a small x."""
    for index, node in linted.own:
        if node.op == "log":
            source = linted.producer(node.inputs[0])
            if source.op == "add":
                others = [v for v in source.inputs if not linted.is_number(v, 1)]
                if len(others) == 1:
                    inner = linted.producer(others[0]).op
                    use = "sad.nn.softplus(x)" if inner == "exp" else "sad.log1p(x)"
                    what = "log(1 + exp(x)) overflows" if inner == "exp" else "log(1 + x) rounds x"
                    yield linted.finding("lost-digits", index, what, f"use {use}")
        subtracts = node.op == "subtract" and linted.is_number(node.inputs[1], 1)
        if subtracts and linted.producer(node.inputs[0]).op == "exp":
            yield linted.finding("lost-digits", index, "exp(x) - 1 rounds x", "use sad.expm1(x)")


def sqrt_at_zero(linted: Linted) -> Iterator[Finding]:
    """The derivative of sqrt is infinite at 0, where sums of squares may well be."""
    for index, node in linted.own:
        is_root = node.op == "sqrt" or (node.op == "pow" and linted.is_number(node.inputs[1], 0.5))
        if is_root and _sum_of_squares(linted, node.inputs[0]):
            yield linted.finding(
                "sqrt-at-zero",
                index,
                "the root of a sum of squares has no finite derivative where all are 0",
                "use sad.linalg.norm(x) or sad.std(x), whose derivative is 0 there, or add an "
                "epsilon within",
            )


def division_by_count(linted: Linted) -> Iterator[Finding]:
    """How many elements satisfy a condition may be 0: then 0 / 0 is NaN."""
    for index, node in linted.own:
        if node.op not in ("divide", "floor_divide", "remainder"):
            continue
        source = linted.behind(node.inputs[1], "cast", *SHAPING)
        if source.op == "sum":
            counted = linted.producer(source.inputs[0])
            if counted.op == "cast" and _dtype(linted, counted) == "bool":
                yield linted.finding(
                    "division-by-count",
                    index,
                    "the divisor is a count that may be 0",
                    "divide by sad.maximum(count, 1)",
                )


def _sum_of(linted: Linted, value: int, op: str) -> bool:
    source = linted.behind(value, *SHAPING)
    return source.op == "sum" and linted.producer(source.inputs[0]).op == op


def _sum_of_squares(linted: Linted, value: int) -> bool:
    source = linted.behind(value, *SHAPING)
    if source.op == "divide":
        # A mean.
        source = linted.behind(source.inputs[0], *SHAPING)
    return source.op == "sum" and _is_square(linted, linted.producer(source.inputs[0]))


def _is_square(linted: Linted, node: Node) -> bool:
    if node.op == "multiply":
        return node.inputs[0] == node.inputs[1]
    return node.op == "square" or (node.op == "pow" and linted.is_number(node.inputs[1], 2))


def _dtype(linted: Linted, cast: Node) -> str:
    return linted.graph.types[cast.inputs[0]].dtype.name
