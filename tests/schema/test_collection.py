"""The collector is paused inside, and as it was before afterwards."""

from __future__ import annotations

import gc
import threading

import pytest

from staticad_schema.collection import collection_paused


def test_paused_inside_and_resumed_after_nesting_and_errors() -> None:
    assert gc.isenabled()
    with collection_paused():
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collection_paused():
        _ = 1 // 0
    assert gc.isenabled()


def test_stays_off_where_the_caller_switched_it_off() -> None:
    gc.disable()
    try:
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_thread_to_leave_resumes() -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collection_paused():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(10)
    with collection_paused():
        pass
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
