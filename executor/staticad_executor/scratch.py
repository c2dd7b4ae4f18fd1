"""The scratch memory that a session's plans keep between runs, bounded over all of them.

A plan keeps the workspaces of its runs, because building one costs more than many runs do.
There is a plan for each set of sizes; together they would hold many times what any run needs.
"""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from .plan import Plan

# Less than this is kept whatever it is made of.
KEPT_BYTES = 1 << 28


class Scratch:
    """Which plans of a session ran last, and what they keep.

    Kept are `KEPT_BYTES`, or twice what the hungriest plan needs, so that two plans that take
    turns both keep theirs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # In the order of their last turns.
        self._plans: WeakKeyDictionary[Plan, None] = WeakKeyDictionary()

    def take_turn(self, plan: Plan) -> None:
        """The plan runs next, after another one: let those that ran long ago give back."""
        with self._lock:
            self._plans.pop(plan, None)
            self._plans[plan] = None
            plans = list(self._plans)
            limit = max(KEPT_BYTES, 2 * max(p.workspace_bytes for p in plans))
            kept = plan.workspace_bytes + sum(p.kept_bytes for p in plans if p is not plan)
            for other in plans[:-1]:
                if kept <= limit:
                    break
                kept -= other.kept_bytes
                other.trim()
                del self._plans[other]
