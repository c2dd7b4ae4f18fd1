"""The page of all rewrites, from the rules and what can be chosen beside them."""

from __future__ import annotations

import inspect

from docs.markdown import NOTICE, table
from staticad_executor.compile.rewrite import DEFAULT, FAMILIES
from staticad_executor.compile.rules import RULES, SWITCHES
from staticad_executor.options import KINDS, Kind

MEANT: dict[Kind, str] = {
    "exact": "Every bit stays, also of NaN, infinities and -0.",
    "stable": "A result may only be nearer to the true one, or as near by the same bound.",
    "fast": "Roundings and special values may differ.",
}
KEPT = ", ".join(f'"{name}"' for name in DEFAULT)


def rewrites_page() -> str:
    """Every rewrite, by class: first what is no rule of one node, then rules by subject."""
    out = [
        NOTICE,
        "",
        "# Rewrites",
        "",
        "What a session may replace before it runs a graph."
        f" `sad.Session(graph, rewrites=({KEPT}))` is the default:"
        " classes, single rewrites by name, and names with a - before them, which are left out:"
        ' `("exact", "stable", "log_of_share")`, `("exact", "-merge")`.'
        " `session.explain(fetches)` counts those that applied;"
        " `staticad-executor bisect` finds one that is wrong.",
        "",
        "A rule looks at what a node is computed from, never at what is fetched.",
    ]
    for kind in KINDS:
        rows = [[f"`{name}`", s.text] for name, s in SWITCHES.items() if s.kind == kind]
        for family in FAMILIES:
            rows += [
                [f"`{rule.name}`", " ".join((inspect.getdoc(rule.apply) or "").split())]
                for rule in RULES.values()
                if rule.kind == kind and rule.apply.__module__ == family.__name__
            ]
        out += ["", f"## {kind}", "", MEANT[kind], "", *table(["name", "replaces"], rows)]
    return "\n".join(out) + "\n"
