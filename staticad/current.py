"""What `with graph:`, `with scope(...)` and `with device(...)` say, for each thread and task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from staticad_schema.errors import ArgumentError, UsageError
from staticad_schema.sites import user_site

GRAPHS: ContextVar[tuple[Any, ...]] = ContextVar("graphs", default=())
SCOPE: ContextVar[str] = ContextVar("scope", default="")
DEVICE: ContextVar[str | None] = ContextVar("device", default=None)
# Names of ops to the rules that their derivatives are taken by.
OVERRIDES: ContextVar[Mapping[str, Any]] = ContextVar("overrides", default=MappingProxyType({}))


def surroundings() -> tuple[Any, ...]:
    """What nodes are built in beside their graph: a trace is good for another such only if this is
    equal."""
    return DEVICE.get(), frozenset(OVERRIDES.get().items())


def text(name: object, asked: str) -> str:
    """A name as a caller gave it, perhaps an empty one.  Raises UsageError for what is no text."""
    if not isinstance(name, str):
        raise UsageError(
            "a name is a text",
            asked=asked,
            expected="a str",
            found=f"{name!r:.80}, a {type(name).__name__}",
            site=user_site(),
        )
    return name


def named(name: object, asked: str) -> str:
    """A name that is not empty.  Raises UsageError, ArgumentError for an empty one."""
    given = text(name, asked)
    if not given:
        raise ArgumentError(
            "a name is empty", asked=asked, expected="a text", found="''", site=user_site()
        )
    return given


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Names given inside are prefixed by `name/`; scopes nest.

    >>> import staticad as sad
    >>> with sad.Graph() as graph, sad.scope("layer1"), sad.scope("inner"):
    ...     w = sad.variable(0.0, name="w")
    >>> w.name
    'layer1/inner/w'
    """
    named(name, "scope")
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
    if name is not None:
        named(name, "device")
    token = DEVICE.set(name)
    try:
        yield
    finally:
        DEVICE.reset(token)
