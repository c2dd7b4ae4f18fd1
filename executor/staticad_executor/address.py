"""Where a session's graph runs, in words: this says what is asked for, and connects to nothing."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field, replace
from typing import Self

from staticad_schema.errors import FeedTypeError, PlanError

PROCESS = "process"
UNIX = "unix:"
# Names of sessions are names of folders, too.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
EXPECTED = f"{PROCESS!r}, 'unix:PATH' or 'HOST:PORT'"


@dataclass(frozen=True)
class Target:
    """Where sessions run, and how to get there.

    address: "process", "unix:PATH" or "HOST:PORT".  session: the name of a session that outlives
    its client, and that a server with checkpoints takes up again after a restart.  token: what
    the server asks of callers, by default the environment's STATICAD_TOKEN.  ca: a file with the
    certificates that the server's is checked by, which means TLS; certificate, key: files of what
    this client shows for itself.

    >>> from staticad_executor import Target
    >>> Target("unix:/run/trainer", session="lenet").address
    'unix:/run/trainer'
    """

    address: str
    session: str = ""
    token: str | None = field(default=None, repr=False)
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        check_address(self.address, "Target")
        if self.session:
            check_name(self.session, "Target(session=…)")

    @classmethod
    def of(cls, target: object) -> Target:
        """The target that a user means.  Raises PlanError."""
        if isinstance(target, Target):
            return target
        if not isinstance(target, str):
            raise FeedTypeError(
                "this is no target",
                asked="Session(target=…)",
                expected=EXPECTED + ", or a Target",
                found=repr(target)[:200],
            )
        return cls(target)

    def named(self, session: str) -> Self:
        """The same for a session of that name."""
        return replace(self, session=session)

    @property
    def secret(self) -> str:
        """The token, "" if there is none.  Raises PlanError for what cannot be sent."""
        token = self.token or os.environ.get("STATICAD_TOKEN", "")
        if token:
            check_token(token, "Target(token=…)")
        return token


def check_address(address: str, asked: str) -> None:
    """Raises PlanError for what is no address."""
    if address == PROCESS or (address.startswith(UNIX) and len(address) > len(UNIX)):
        return
    host, _, port = address.rpartition(":")
    number = int(port) if port.isascii() and port.isdecimal() and len(port) < 6 else 1 << 16
    if not (HOST.fullmatch(host) and number < 1 << 16):
        raise PlanError(
            "this is no address", asked=asked, expected=EXPECTED, found=repr(address)[:200]
        )


def check_name(name: str, asked: str) -> None:
    """Raises PlanError for what cannot name a session."""
    if not NAME.fullmatch(name):
        raise PlanError(
            "no session can have this name",
            asked=asked,
            expected="up to 100 letters, digits, '.', '_' and '-', '.' and '-' not first",
            found=repr(name)[:200],
        )


def check_token(token: str, asked: str) -> None:
    """Raises PlanError for a token that cannot be sent; it is not shown."""
    if not (token.isascii() and token.isprintable() and token.strip() == token != ""):
        raise PlanError("this can be no token", asked=asked, expected="printable ASCII characters")


def split(address: str) -> tuple[str, str]:
    """Host and port of an address; an IPv6 host is in brackets."""
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), port


def is_private(address: str) -> bool:
    """Whether only this machine reaches the address."""
    if address.startswith(UNIX) or address == PROCESS:
        return True
    host, _ = split(address)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
