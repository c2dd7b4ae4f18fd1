"""What a session asks of whatever runs its graph, in this process or in another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from staticad_schema.types import Array

from .engine import Prepared
from .fetches import Rebuild
from .memory import MemoryPrediction
from .profile import Profile
from .state import Snapshot
from .variables import Variables


class Runner(Protocol):
    """Runs a graph in terms of value ids and arrays; knows nothing of users' structures.

    An engine is whatever `execute` takes: it is made by `engine`, which may leave it to the first
    run to tell what is wrong, or by `checked`, which does not.
    """

    @property
    def variables(self) -> Variables: ...

    def engine(self, prepared: Prepared) -> Any: ...

    def checked(self, prepared: Prepared) -> Any: ...

    def execute(self, engine: Any, feeds: list[Array], step: object, rebuild: Rebuild) -> Any:
        """Run once: what `rebuild` makes of the fetched arrays, which are the caller's own."""
        ...

    def cancel(self) -> None: ...

    def explain(self, prepared: Prepared, sizes: Mapping[str, int] | None) -> str: ...

    def memory(self, prepared: Prepared, sizes: Mapping[str, int]) -> MemoryPrediction: ...

    def profile(
        self, prepared: Prepared, feeds: list[Array], step: object, repeat: int
    ) -> tuple[Profile, list[Array]]:
        """The measured steps of some runs, and what the last one fetched."""
        ...

    def initialize(self) -> None: ...

    def snapshot(self) -> Snapshot: ...

    def trim(self) -> int: ...

    def memory_in_use(self) -> int: ...

    def close(self) -> None: ...
