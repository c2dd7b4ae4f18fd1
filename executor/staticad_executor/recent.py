"""A cache of what was used most recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """At most `limit` values by key.  Usable from any thread; each value is made once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[K], V]) -> V:
        """The value of the key; made if it is not there, while other threads wait."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            value = self._values[key] = make(key)
            if len(self._values) > self._limit:
                self._values.popitem(last=False)
            return value

    def values(self) -> list[V]:
        """All values that are there."""
        with self._lock:
            return list(self._values.values())

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._values.clear()
