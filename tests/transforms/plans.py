"""The sizes of plans."""

from __future__ import annotations

from typing import Any

import staticad as sad


def steps(session: sad.Session, fetches: Any) -> int:
    """How many steps the plan for these fetches has."""
    lines = session.explain(fetches).splitlines()
    return sum(line[:2].strip().isdecimal() and " @numpy " in line for line in lines)
