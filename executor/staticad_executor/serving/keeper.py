"""Writes checkpoints of named sessions, at intervals and when asked."""

from __future__ import annotations

import threading
from pathlib import Path

from staticad_schema.errors import ExecutionError, StaticadError

from ..state import Snapshot
from .checkpoints import LOG, Folder
from .sessions import Served, Sessions


class Keeper:
    """Keeps the named sessions of a server in its folder of checkpoints."""

    def __init__(self, folder: Folder, sessions: Sessions) -> None:
        self.folder = folder
        self._sessions = sessions
        self._writing = threading.Lock()
        self._stop = threading.Event()

    def start(self, seconds: float) -> None:
        """Write what has changed every so many seconds, in a thread."""
        threading.Thread(target=self._keep, args=(seconds,), daemon=True).start()

    def stop(self) -> None:
        """Write what has changed a last time."""
        self._stop.set()
        self.keep_all()

    def keep_all(self) -> None:
        """Write what has changed; what fails is told, and tried again the next time."""
        for session in self._sessions.named():
            self.keep(session)

    def keep(self, session: Served) -> None:
        """Write the session, if it has changed; a failure is noted."""
        now = session.store.snapshot
        if now is session.kept or not (now.step or now.run_number or now.arrays):
            return
        try:
            self.write(session)
        except (StaticadError, OSError, MemoryError) as error:
            LOG.error("no checkpoint of session %s: %s", session.name, error)

    def write(self, session: Served) -> tuple[Path, int]:
        """Write the session now: the file, and the step.

        Raises ExecutionError where there is no room or no right to write.
        """
        local = session.newest
        if local is None:
            raise ExecutionError("the session has no graph yet", asked="checkpoint")
        with self._writing:
            try:
                # Snapshots do not change, so that runs go on while this one is written.
                held = local.variables.ready(tuple(local.graph.variable_specs))
                arrays = {name: held.arrays[name] for name in local.graph.variable_specs}
                counters = Snapshot(run_number=held.run_number, step=held.step)
                snapshot = counters.with_arrays(arrays)
                path = self.folder.write(session.name, snapshot)
            except OSError as error:
                session.checkpoint_error = str(error)
                raise ExecutionError(
                    f"the checkpoint cannot be written: {error}",
                    asked=f"checkpoint of session {session.name!r}",
                    expected="room, and the right to write, in the server's folder",
                    hint="the checkpoints before it are whole, and the session goes on",
                ) from error
        session.kept = held
        session.checkpoint_step, session.checkpoint_error = snapshot.step, ""
        LOG.info("session %s is kept as %s, step %d", session.name, path, snapshot.step)
        return path, snapshot.step

    def _keep(self, seconds: float) -> None:
        while not self._stop.wait(seconds):
            self.keep_all()
