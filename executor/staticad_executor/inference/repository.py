"""The models of a server: loaded from its files, and again when that is asked for."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import NamedTuple

from staticad_schema.codec import load
from staticad_schema.errors import (
    PlanError,
    StaticadError,
    UnknownFetchError,
    near_miss,
)

from .. import checkpoint
from ..compile.rewrite import DEFAULT
from ..local import Local
from ..serving.limits import Gate, Limits
from ..serving.models import Models
from ..state import Store
from .batching import Batcher
from .model import VERSION, Answer, Model

LOG = logging.getLogger("staticad.serving")
SERVE = "serve"
READY, UNAVAILABLE = "READY", "UNAVAILABLE"


@dataclass(frozen=True)
class Batching:
    """rows: of a batch at most, 1 for none.  delay: seconds that a request waits for others."""

    rows: int = 1
    delay: float = 0.0


class State(NamedTuple):
    """What the index says of a name."""

    name: str
    state: str
    reason: str


class Loaded(NamedTuple):
    """A model, and what answers its requests."""

    model: Model
    answer: Answer
    batcher: Batcher | None


class Repository:
    """Models by name.  A file's signature `serve` has the file's stem as its name, other
    signatures are "stem:signature"; a checkpoint "stem.safetensors" beside it gives the values
    of its variables."""

    def __init__(
        self, models: Models, device: str, gate: Gate, limits: Limits, batching: Batching
    ) -> None:
        self._models = models
        self._device = device
        self._gate = gate
        self._limits = limits
        self._batching = batching
        self._files: dict[str, dict[str, Loaded]] = {}
        self._failed: dict[str, str] = {}
        self._lock = threading.RLock()
        for name in models.names():
            try:
                self.load(name)
            except (StaticadError, OSError) as error:
                LOG.warning("model %s is not served: %s", name, error)

    def get(self, name: str, version: str = "") -> Loaded:
        """What serves a name.  Raises UnknownFetchError."""
        found = self._files.get(name.partition(":")[0], {}).get(name)
        if found is None:
            names = [model.name for model in self.models()]
            raise UnknownFetchError(
                f"no model {name[:100]!r}",
                asked="a model",
                expected=", ".join(map(repr, names)) or "none is loaded",
                found=repr(name[:100]),
                hint=near_miss(name[:100], names),
            )
        if version not in ("", VERSION):
            raise UnknownFetchError(
                f"model {name!r} has no version {version[:20]!r}",
                asked="a model",
                expected=repr(VERSION),
                found=repr(version[:20]),
            )
        return found

    def has(self, name: str, version: str) -> bool:
        """Whether something serves a name."""
        loaded = self._files.get(name.partition(":")[0], {})
        return name in loaded and version in ("", VERSION)

    def models(self) -> list[Model]:
        """All that are loaded."""
        with self._lock:
            return [loaded.model for models in self._files.values() for loaded in models.values()]

    def index(self) -> list[State]:
        """All that there are, loaded or not."""
        with self._lock:
            found = [State(model.name, READY, "") for model in self.models()]
            for stem in self._models.names():
                if not self._files.get(stem):
                    found.append(State(stem, UNAVAILABLE, self._failed.get(stem, "unloaded")))
            return sorted(found)

    def load(self, name: str) -> None:
        """Load a file, anew if it is loaded: what runs on the old one ends there.

        Raises UnknownFetchError, FormatError, PlanError, OSError.
        """
        stem = name.partition(":")[0]
        path = self._models.path(stem)
        try:
            graph = load(path)
            if not graph.signatures:
                raise PlanError(
                    "the graph has no signature",
                    asked=f"model {stem!r}",
                    expected="graph.signature('serve', inputs={…}, outputs={…})",
                    found="none",
                )
            local = Local(graph, Store(), self._device, rewrites=DEFAULT)
            held = path.with_suffix(".safetensors")
            if held.exists():
                snapshot = checkpoint.load(held)
                checkpoint.require_match(graph, snapshot)
                local.variables.publish(snapshot.arrays, snapshot)
            made = {}
            for key, signature in graph.signatures.items():
                called = stem if key == SERVE else f"{stem}:{key}"
                made[called] = self._loaded(Model(called, signature, local, self._gate))
        except (StaticadError, OSError) as error:
            with self._lock:
                self._failed[stem] = str(error)
            raise
        with self._lock:
            self._stop(stem)
            self._files[stem] = made
            self._failed.pop(stem, None)
        LOG.info("model %s is loaded from %s: %s", stem, path, ", ".join(made))

    def unload(self, name: str) -> None:
        """Serve a file no more.  Raises UnknownFetchError."""
        stem = name.partition(":")[0]
        self._models.path(stem)
        with self._lock:
            self._stop(stem)

    def _loaded(self, model: Model) -> Loaded:
        if not (model.batches and self._batching.rows > 1):
            return Loaded(model, model.run, None)
        batcher = Batcher(model, self._batching.rows, self._batching.delay, self._limits)
        return Loaded(model, batcher.run, batcher)

    def _stop(self, stem: str) -> None:
        for loaded in self._files.pop(stem, {}).values():
            if loaded.batcher is not None:
                loaded.batcher.stop()
