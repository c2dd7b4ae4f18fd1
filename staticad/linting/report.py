"""The rules by name, and what they find in a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.errors import ArgumentError, UsageError, near_miss
from staticad_schema.graph import Graph
from staticad_schema.sites import asking, user_site

from .finding import Finding, Linted, Rule
from .precision import float64_creep
from .randomness import unseeded_randomness
from .undefined import division_by_count, log_of_softmax, lost_digits, sqrt_at_zero, sum_of_exp
from .unused import dead_feed, unused_variable

RULES: dict[str, Rule] = {
    "unused-variable": unused_variable,
    "dead-feed": dead_feed,
    "float64-creep": float64_creep,
    "log-of-softmax": log_of_softmax,
    "sum-of-exp": sum_of_exp,
    "lost-digits": lost_digits,
    "sqrt-at-zero": sqrt_at_zero,
    "division-by-count": division_by_count,
    "unseeded-randomness": unseeded_randomness,
}


def lint(graph: Any, rules: Sequence[str] = ()) -> tuple[Finding, ...]:
    """What looks wrong in a graph and its bodies, in the order of its nodes.

    graph: a Graph, built or loaded; rules: names of those to apply, or "-name" for one to leave
    out; none are all.  Nodes of derivatives are not looked at.  Raises UsageError for what is no
    graph, ArgumentError for a rule that does not exist.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     x = sad.placeholder("float32", ("n",), name="x")
    ...     y = sad.log(sad.nn.softmax(x), name="y")
    >>> [(found.rule, found.node) for found in sad.lint(graph)]
    [('log-of-softmax', 'y')]
    """
    with asking("lint"):
        if not isinstance(graph, Graph):
            raise UsageError(
                "not a graph",
                expected="a Graph; for a file, sad.load(path)",
                found=f"{graph!r:.80}, a {type(graph).__name__}",
                site=user_site(),
            )
        chosen = chosen_rules(rules)
    linted = [Linted(graph, graph)]
    linted += [Linted(function.body, graph, name) for name, function in graph.functions.items()]
    found: dict[tuple[Any, ...], Finding] = {}
    for part in linted:
        here = [finding for name in chosen for finding in RULES[name](part)]
        for finding in sorted(here, key=lambda f: part.graph.find(f.node)):
            # A line that runs many times is one line.
            found.setdefault((finding.rule, finding.site or finding.node, finding.hint), finding)
    return tuple(found.values())


def chosen_rules(rules: Sequence[str]) -> list[str]:
    """The names of the rules that are meant.  Raises ArgumentError."""
    given = [rules] if isinstance(rules, str) else list(rules)
    for name in given:
        if str(name).removeprefix("-") not in RULES:
            raise ArgumentError(
                f"no rule {name!r}",
                expected=", ".join(RULES),
                found=repr(name),
                hint=near_miss(str(name).removeprefix("-"), RULES),
            )
    wanted = [name for name in given if not name.startswith("-")] or list(RULES)
    return [name for name in RULES if name in wanted and f"-{name}" not in given]
