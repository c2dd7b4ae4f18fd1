"""Fixtures of the executor's tests."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    """Ctrl-C after some seconds."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("there are no timers here")

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def ring_in(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)

    # Test tools watch the garbage collection, and what is raised while they do is swallowed.
    gc.disable()
    previous = signal.signal(signal.SIGALRM, interrupt)
    yield ring_in
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)
    gc.enable()
