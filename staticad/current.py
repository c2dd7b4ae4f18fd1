"""What `with graph:`, `with scope(...)` and `with device(...)` say, for each thread and task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from staticad_schema.errors import ArgumentError
from staticad_schema.sites import user_site

GRAPHS: ContextVar[tuple[Any, ...]] = ContextVar("graphs", default=())
SCOPE: ContextVar[str] = ContextVar("scope", default="")
DEVICE: ContextVar[str | None] = ContextVar("device", default=None)


def is_name(name: object) -> bool:
    """Whether it is a text that is not empty."""
    return isinstance(name, str) and name != ""


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Names given inside are prefixed by `name/`; scopes nest.

    >>> import staticad as sad
    >>> with sad.Graph() as graph, sad.scope("layer1"), sad.scope("inner"):
    ...     w = sad.variable(0.0, name="w")
    >>> w.name
    'layer1/inner/w'
    """
    if not is_name(name):
        raise ArgumentError(
            "a scope needs a name",
            asked="scope",
            expected="a non-empty text",
            found=repr(name),
            site=user_site(),
        )
    outer = SCOPE.get()
    token = SCOPE.set(f"{outer}/{name}" if outer else name)
    try:
        yield
    finally:
        SCOPE.reset(token)


@contextmanager
def device(name: str | None) -> Iterator[None]:
    """Nodes made inside prefer the device called `name`, such as "numpy"; None: any.

    A device that the session does not have is passed over.

    >>> import staticad as sad
    >>> with sad.Graph() as graph, sad.device("numpy"):
    ...     y = sad.exp(0.0)
    >>> y.node.device
    'numpy'
    """
    if name is not None and not is_name(name):
        raise ArgumentError(
            "a device is given by its name",
            asked="device",
            expected="a text such as 'numpy', or None",
            found=repr(name),
            site=user_site(),
        )
    token = DEVICE.set(name)
    try:
        yield
    finally:
        DEVICE.reset(token)
