"""Getting to a server of graphs; gRPC is imported when that is first asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from staticad_schema.errors import PlanError

from .address import PROCESS, Target
from .options import missing_package

if TYPE_CHECKING:
    from .serving.connection import Connection


def connect(address: str | Target, token: str | None = None) -> Connection:
    """The server at an address: "unix:PATH" or "HOST:PORT", of `staticad-executor serve`.

    It gives the graphs that are served there, and sessions that train them there; that needs
    nothing of the code that built them.  token: what the server asks of callers.
    Raises PlanError, AccessError, ConnectionLostError.

    >>> import staticad_executor
    >>> staticad_executor.connect("nowhere")
    Traceback (most recent call last):
        ...
    staticad_schema.errors.PlanError: Target: this is no address
      expected: 'process', 'unix:PATH' or 'HOST:PORT'
      found:    'nowhere'
    """
    # A wrong address is told before gRPC is imported.
    target = Target.of(address)
    if target.address == PROCESS:
        raise PlanError(
            "a private process is a session's, and nobody else's",
            asked="connect",
            expected="the address of a server",
            found=repr(PROCESS),
            hint=f"use Session(graph, target={PROCESS!r})",
        )
    try:
        from .serving.connection import Connection
    except ModuleNotFoundError as error:
        raise missing_package(error, "connect") from None

    return Connection(target if token is None else replace(target, token=token))
