"""Work in several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run work(0) … work(count - 1) at once; raise what one of them raised."""
    errors: list[BaseException] = []
    together = threading.Barrier(count)

    def guarded(i: int) -> None:
        try:
            together.wait()
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
