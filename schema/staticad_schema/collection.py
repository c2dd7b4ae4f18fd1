"""Pausing the cyclic garbage collector where much is allocated and nothing can be cyclic.

Python looks for cycles after so many allocations, and looks at everything there is.  Reading a
file or compiling a plan makes millions of tuples and no cycle: the search costs a third of
the time there and finds nothing.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_depth = 0
_resume = False


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """No search for cyclic garbage inside, unless the caller had switched it off before.

    May be nested, and entered by several threads: the last to leave resumes it.
    """
    global _depth, _resume
    with _lock:
        if _depth == 0:
            _resume = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _resume:
                gc.enable()
