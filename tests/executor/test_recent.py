"""The cache of what was used most recently."""

import threading
import time

from staticad_executor.recent import Recent


def test_the_least_recently_used_is_forgotten() -> None:
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    cache: Recent[str, str] = Recent(2)
    assert [cache.get(key, make) for key in "aabac"] == ["A", "A", "B", "A", "C"]
    assert made == ["a", "b", "c"]
    assert cache.values() == ["A", "C"]
    cache.get("b", make)
    assert made == ["a", "b", "c", "b"]
    cache.clear()
    assert cache.values() == []


def test_a_value_is_made_once_for_all_threads() -> None:
    made: list[int] = []

    def make(key: int) -> int:
        time.sleep(0.01)
        made.append(key)
        return key

    cache: Recent[int, int] = Recent(8)
    threads = [threading.Thread(target=cache.get, args=(k % 2, make)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [0, 1]
