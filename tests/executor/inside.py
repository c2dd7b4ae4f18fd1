"""What tests look at inside sessions."""

from __future__ import annotations

import staticad as sad
from staticad_executor.local import Local


def local(session: sad.Session) -> Local:
    """The runner of a session that runs in this process."""
    runner = session._runner
    assert isinstance(runner, Local)
    return runner
